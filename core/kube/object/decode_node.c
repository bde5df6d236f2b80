/* Decoder of Nodes. */
#include "kube/object/decode_priv.h"

#include <string.h>

static uint64_t condition_value(const char *status)
{
    if (strcmp(status, "True") == 0) {
        return CCM_CONDITION_TRUE;
    }
    return strcmp(status, "False") == 0 ? CCM_CONDITION_FALSE : CCM_CONDITION_UNKNOWN;
}

static int node_decode_conditions(const cJSON *status, struct ccm_node *node, struct ccm_error *err)
{
    const cJSON *item = NULL;
    size_t count = 0;
    const int r = kube_decode_list(ccm_json_get(status, "conditions"), cJSON_Object,
                                   KUBE_DECODE_MAX_LIST, &item, &count, err);

    if (r < 0) {
        return r;
    }
    for (; item != NULL; item = item->next) {
        const char *type = ccm_json_text(item, "type");
        const uint64_t value = condition_value(ccm_json_text(item, "status"));

        if (strcmp(type, "Ready") == 0) {
            node->ready = value;
        } else if (strcmp(type, "NetworkUnavailable") == 0) {
            node->network_unavailable = value;
        }
    }
    node->has_conditions = count > 0;
    return 0;
}

static int decode_taints(struct kube_builder *b, const cJSON *spec, struct ccm_node *node,
                         struct ccm_error *err)
{
    const cJSON *item = NULL;
    size_t count = 0;
    const int r = kube_decode_list(ccm_json_get(spec, "taints"), cJSON_Object, KUBE_DECODE_MAX_LIST,
                                   &item, &count, err);

    if (r < 0) {
        return r;
    }

    void *list = kube_builder_list(b, count);

    for (size_t i = 0; i < count; i++, item = item->next) {
        const struct ccm_taint taint = {
            .key = kube_builder_text(b, ccm_json_text(item, "key")),
            .value = kube_builder_text(b, ccm_json_text(item, "value")),
            .effect = kube_builder_text(b, ccm_json_text(item, "effect")),
        };

        kube_builder_put(b, list, i, &taint, sizeof(taint));
    }
    node->taints = list;
    node->taint_count = count;
    return 0;
}

static int decode_addresses(struct kube_builder *b, const cJSON *status, struct ccm_node *node,
                            struct ccm_error *err)
{
    const cJSON *item = NULL;
    size_t count = 0;
    const int r = kube_decode_list(ccm_json_get(status, "addresses"), cJSON_Object,
                                   KUBE_DECODE_MAX_LIST, &item, &count, err);

    if (r < 0) {
        return r;
    }

    void *list = kube_builder_list(b, count);

    for (size_t i = 0; i < count; i++, item = item->next) {
        const struct ccm_node_address address = {
            .type = kube_builder_text(b, ccm_json_text(item, "type")),
            .address = kube_builder_text(b, ccm_json_text(item, "address")),
        };

        kube_builder_put(b, list, i, &address, sizeof(address));
    }
    node->addresses = list;
    node->address_count = count;
    return 0;
}

/* podCIDRs; where only the older podCIDR is set, that one. */
static int decode_cidrs(struct kube_builder *b, const cJSON *spec, struct ccm_node *node,
                        struct ccm_error *err)
{
    const int r = kube_decode_texts(b, ccm_json_get(spec, "podCIDRs"), KUBE_DECODE_MAX_LIST,
                                    &node->pod_cidrs, &node->pod_cidr_count, err);
    const char *single = ccm_json_text(spec, "podCIDR");

    if (r == 0 && node->pod_cidr_count == 0 && single[0] != '\0') {
        void *list = kube_builder_list(b, 1);

        kube_builder_put_text(b, list, 0, single);
        node->pod_cidrs = list;
        node->pod_cidr_count = 1;
    }
    return r;
}

/* Of annotations of Nodes, which are long and many, only this much is kept. */
static uint64_t node_find_traits(const cJSON *json)
{
    const cJSON *annotations = ccm_json_path(json, "metadata", "annotations", NULL);
    const char *addresses = ccm_json_text(annotations, "k8s.aliyun.com/max-available-ip");

    return addresses[0] == '\0' || strcmp(addresses, "0") == 0 ? 0 : CCM_NODE_VPC_PODS;
}

static const struct ccm_node_info *node_put_info(struct kube_builder *b,
                                                 const struct kube_decode_source *source)
{
    const struct kube_decode_map *maps = source->node_info;
    const struct ccm_node_info info = {
        .struct_size = sizeof(info),
        .capacity = kube_decode_pairs(b, maps[0].members, maps[0].count),
        .capacity_count = maps[0].count,
        .allocatable = kube_decode_pairs(b, maps[1].members, maps[1].count),
        .allocatable_count = maps[1].count,
        .system = kube_decode_pairs(b, maps[2].members, maps[2].count),
        .system_count = maps[2].count,
    };
    const void **place = kube_builder_list(b, 1);

    kube_builder_put(b, place, 0, &info, sizeof(info));
    return place == NULL ? NULL : place[0]; /* NULL while it is measured */
}

int kube_decode_node(struct kube_builder *b, const void *arg, struct ccm_error *err)
{
    const struct kube_decode_source *source = arg;
    struct ccm_node node = { 0 };
    const cJSON *spec = NULL;
    const cJSON *status = NULL;
    int r = kube_decode_meta(b, source, sizeof(node), &node.meta, err);

    if (r == 0) {
        r = kube_decode_object(source->json, "spec", &spec, err);
    }
    if (r == 0) {
        r = kube_decode_object(source->json, "status", &status, err);
    }
    if (r < 0) {
        return r;
    }
    node.meta.traits = node_find_traits(source->json);
    node.provider_id = kube_builder_text(b, ccm_json_text(spec, "providerID"));
    node.unschedulable = ccm_json_bool(spec, "unschedulable", false);
    r = decode_cidrs(b, spec, &node, err);
    if (r == 0) {
        r = decode_taints(b, spec, &node, err);
    }
    if (r == 0) {
        r = node_decode_conditions(status, &node, err);
    }
    if (r == 0) {
        r = decode_addresses(b, status, &node, err);
    }
    if (r < 0) {
        return r;
    }
    if (source->kind->node_info) {
        node.info = node_put_info(b, source);
    }
    kube_builder_root(b, &node, sizeof(node));
    return 0;
}
