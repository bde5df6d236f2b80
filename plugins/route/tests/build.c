#include "build.h"

#include "check.h"

#include <string.h>

void build_node(struct built_node *ret, const char *name, const char *provider, const char *a,
                const char *b)
{
    memset(ret, 0, sizeof(*ret));
    ret->node.meta = (struct ccm_object){ .struct_size = sizeof(ret->node),
                                          .kind = CCM_KIND_NODE,
                                          .key = name,
                                          .namespace_ = "",
                                          .name = name,
                                          .uid = name,
                                          .resource_version = "1" };
    ret->node.provider_id = provider;
    ret->node.ready = CCM_CONDITION_TRUE;
    ret->cidrs[0] = a;
    ret->cidrs[1] = b;
    ret->node.pod_cidrs = ret->cidrs;
    ret->node.pod_cidr_count = a == NULL ? 0 : b == NULL ? 1 : 2;
}

void build_label(struct built_node *node, const char *key)
{
    node->label = (struct ccm_pair){ key, "" };
    node->labels[0] = &node->label;
    node->node.meta.labels = node->labels;
    node->node.meta.label_count = 1;
}

struct ccm_cidr build_net(const char *text)
{
    struct ccm_cidr net;

    assert_int_equal(route_net_parse(text, &net), 0);
    return net;
}

void build_entry(struct route_table *table, const char *net, const char *hop,
                 enum route_status status)
{
    const struct ccm_cidr parsed = build_net(net);

    assert_int_equal(route_table_add(table, &parsed, hop, true, status), 0);
    route_table_sort(table);
}
