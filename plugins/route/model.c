#include "model.h"

#include "ccm/error.h"
#include "util/buf.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

int route_node_nets(const struct ccm_node *node, bool ipv6, struct ccm_cidr nets[ROUTE_FAMILIES],
                    size_t *ret_count, const char **ret_bad)
{
    bool found[ROUTE_FAMILIES] = { false, !ipv6 };
    struct ccm_cidr first[ROUTE_FAMILIES];

    for (uint64_t i = 0; i < node->pod_cidr_count && !(found[0] && found[1]); i++) {
        const char *text = node->pod_cidrs[i];
        struct ccm_cidr net;

        if (text[0] == '\0') {
            continue;
        }
        if (route_net_parse(text, &net) < 0) {
            *ret_bad = text;
            return -EINVAL;
        }

        const size_t family = route_net_is_v4(&net) ? 0 : 1;

        if (!found[family]) {
            found[family] = true;
            first[family] = net;
        }
    }
    *ret_count = 0;
    if (found[0]) {
        nets[(*ret_count)++] = first[0];
    }
    if (ipv6 && found[1]) {
        nets[(*ret_count)++] = first[1];
    }
    return 0;
}

static enum route_class class_of(struct route_node *ret, const char *region, bool ipv6)
{
    const struct ccm_node *node = ret->object;
    char theirs[ROUTE_ID_SIZE];
    const int parsed = ali_provider_parse(node->provider_id, theirs, ret->instance);
    const int nets = route_node_nets(node, ipv6, ret->nets, &ret->net_count, &ret->bad);

    if (ali_node_is_excluded(node)) {
        return ROUTE_NODE_EXCLUDED;
    }
    if (ccm_text_empty(node->provider_id)) {
        return ROUTE_NODE_UNNAMED;
    }
    if (parsed < 0 || strcmp(theirs, region) != 0) {
        return ROUTE_NODE_FOREIGN;
    }
    if (node->ready == CCM_CONDITION_UNKNOWN || node->meta.deleted_ms != 0) {
        return ROUTE_NODE_FROZEN;
    }
    if (nets < 0) {
        return ROUTE_NODE_INVALID;
    }
    return ret->net_count == 0 ? ROUTE_NODE_BARE : ROUTE_NODE_SERVED;
}

void route_node_init(struct route_node *ret, const struct ccm_node *node, const char *region,
                     bool ipv6)
{
    memset(ret, 0, sizeof(*ret));
    ret->object = node;
    ret->class_ = class_of(ret, region, ipv6);
}

static bool same_nets(const struct ccm_node *a, const struct ccm_node *b)
{
    if (a->pod_cidr_count != b->pod_cidr_count) {
        return false;
    }
    for (uint64_t i = 0; i < a->pod_cidr_count; i++) {
        if (strcmp(a->pod_cidrs[i], b->pod_cidrs[i]) != 0) {
            return false;
        }
    }
    return true;
}

bool route_node_differs(const struct ccm_node *before, const struct ccm_node *after)
{
    return strcmp(before->meta.uid, after->meta.uid) != 0 || !same_nets(before, after) ||
           strcmp(before->provider_id, after->provider_id) != 0 ||
           (before->ready == CCM_CONDITION_UNKNOWN) != (after->ready == CCM_CONDITION_UNKNOWN) ||
           (before->meta.deleted_ms != 0) != (after->meta.deleted_ms != 0) ||
           ali_node_is_excluded(before) != ali_node_is_excluded(after) ||
           (before->network_unavailable != after->network_unavailable &&
            after->network_unavailable != CCM_CONDITION_FALSE &&
            /* The first word about a new node, ours or that of whoever initialises it. */
            !(before->network_unavailable == CCM_CONDITION_ABSENT &&
              after->network_unavailable == CCM_CONDITION_TRUE));
}

static void name_tables(struct ccm_buf *to, const struct route_found_table *tables, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ccm_buf_addf(to, "%s%s (%s%s)", i == 0 ? "" : ", ", tables[i].id, tables[i].type,
                     tables[i].vswitches == 0 ? ", no vSwitch" : "");
    }
}

int route_tables_choose(const struct route_found_table *tables, size_t count, const char *vpc,
                        size_t *ret, struct ccm_error *err)
{
    struct ccm_buf names = { .max = 700 };

    if (count == 1) {
        *ret = 0;
        return 0;
    }
    if (count == 0) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_TERMINAL,
                             "no route tables found by vpc id[%s]: check alicloud.vpc_id", vpc);
    }
    name_tables(&names, tables, count);
    (void)ccm_error_set(err, 0, CCM_ERROR_TERMINAL,
                        "multiple route tables found by vpc id[%s], length(tables)=%zu: name those "
                        "that lead to the nodes in option table_ids; there are %s",
                        vpc, count, ccm_buf_str(&names)); /* the result is given below */
    ccm_buf_fini(&names);
    return -EINVAL;
}
