/* When a Service is told that its pods could be backends where nodes are. */
#include "check.h"
#include "objects.h"

#include "lbc/keys.h"
#include "lbc/rules/direct.h"
#include "util/cleanup.h"

#define READY CCM_ENDPOINT_READY

struct direct_case {
    const char *title;
    const char *type;  /* annotation backend-type; NULL = none */
    const char *label; /* annotation backend-label */
    bool by_default;   /* option default_backend_type is eni */
    bool stranger;     /* the endpoints are no pods */
    struct {
        const char *address;
        const char *node;
        uint64_t flags;
    } endpoints[2];
    bool open;
    bool fits;
};

static const struct direct_case cases[] = {
    { .title = "Terway",
      .endpoints = { { "10.1.1.1", "terway", READY }, { "10.1.1.2", "terway-2", READY } },
      .open = true,
      .fits = true },
    { .title = "empty value",
      .type = "",
      .endpoints = { { "10.1.1.1", "terway", READY } },
      .open = true,
      .fits = true },
    { .title = "nodes by name",
      .type = "ecs",
      .endpoints = { { "10.1.1.1", "terway", READY } },
      .fits = true },
    { .title = "pods by name",
      .type = "eni",
      .endpoints = { { "10.1.1.1", "terway", READY } },
      .fits = true },
    { .title = "pods by option",
      .by_default = true,
      .endpoints = { { "10.1.1.1", "terway", READY } },
      .fits = true },
    { .title = "nodes by label",
      .label = "pool=a",
      .endpoints = { { "10.1.1.1", "terway", READY } },
      .fits = true },
    { .title = "no endpoint", .open = true },
    { .title = "none ready", .endpoints = { { "10.1.1.1", "terway", 0 } }, .open = true },
    { .title = "the other is not ready",
      .endpoints = { { "10.1.1.1", "terway", READY }, { "172.20.0.1", "plain", 0 } },
      .open = true,
      .fits = true },
    { .title = "another network plugin",
      .endpoints = { { "172.20.0.1", "plain", READY } },
      .open = true },
    { .title = "both",
      .endpoints = { { "10.1.1.1", "terway", READY }, { "172.20.0.1", "plain", READY } },
      .open = true },
    { .title = "virtual node as well",
      .endpoints = { { "10.1.1.1", "terway", READY }, { "10.1.1.9", "virtual", READY } },
      .open = true,
      .fits = true },
    { .title = "virtual node alone",
      .endpoints = { { "10.1.1.9", "virtual", READY } },
      .open = true },
    { .title = "hostNetwork", .endpoints = { { "10.0.0.1", "terway", READY } }, .open = true },
    { .title = "no node", .endpoints = { { "10.1.1.1", "", READY } }, .open = true },
    { .title = "unknown node", .endpoints = { { "10.1.1.1", "ghost", READY } }, .open = true },
    { .title = "no pods",
      .stranger = true,
      .endpoints = { { "10.1.1.1", "terway", READY } },
      .open = true },
};

static struct ccm_node *node_of(const char *name, const char *provider_id, uint64_t traits)
{
    static const struct ccm_node_address address = { "InternalIP", "10.0.0.1" };
    static const struct ccm_node_address *const addresses[] = { &address };
    struct ccm_node *node = obj_node(name, provider_id);

    node->meta.traits = traits;
    node->addresses = addresses;
    node->address_count = 1;
    return node;
}

static struct ccm_endpoint_slice *slice_of(const struct direct_case *one)
{
    struct ccm_endpoint_slice *slice = obj_slice("web-a");

    for (size_t i = 0; i < CCM_ARRAY_LEN(one->endpoints); i++) {
        if (one->endpoints[i].address != NULL) {
            obj_endpoint(slice, one->endpoints[i].address, one->endpoints[i].node,
                         one->endpoints[i].flags);
            ((struct ccm_endpoint *)(uintptr_t)slice->endpoints[slice->endpoint_count - 1])
                ->pod_name = one->stranger ? "" : "web-1";
        }
    }
    return slice;
}

static void test_cases(void **state)
{
    static const struct lbc_node_rules rules = { .labels = "" };
    struct ccm_node *virtual_ = node_of("virtual", "cn.i-4", 0);
    const struct ccm_object *nodes[] = {
        &node_of("terway", "cn.i-1", CCM_NODE_VPC_PODS)->meta,
        &node_of("terway-2", "cn.i-2", CCM_NODE_VPC_PODS)->meta,
        &node_of("plain", "cn.i-3", 0)->meta,
        &virtual_->meta,
    };
    CCM_CLEANUP(lbc_node_table_fini) struct lbc_node_table table = { 0 };

    (void)state;
    obj_label(&virtual_->meta, "type", "virtual-kubelet");
    assert_int_equal(lbc_node_table_init(&table, nodes, CCM_ARRAY_LEN(nodes), &rules), 0);
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        const struct direct_case *one = &cases[i];
        struct ccm_service *service = obj_service();
        const struct ccm_object *slices[] = { &slice_of(one)->meta };
        const struct lbc_direct in = { service, one->by_default, &table, slices, 1 };

        obj_annotate(&service->meta, LBC_BACKEND_TYPE_KEY, one->type);
        obj_annotate(&service->meta, P "backend-label", one->label);
        if (lbc_direct_is_open(&in) != one->open || lbc_direct_fits(&in) != one->fits) {
            fail_msg("%s: open %d, fits %d", one->title, lbc_direct_is_open(&in),
                     lbc_direct_fits(&in));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_teardown(test_cases, obj_end) };

    return cmocka_run_group_tests_name("direct", tests, NULL, NULL);
}
