/* What a node wants, and which tables are used (rows T1, T2, T13 to T15 of the specification). */
#include "build.h"
#include "ccm/error.h"
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REGION "cn-hangzhou"

/* That configured tables need no look at the VPC is shown by the scenario of T1. Here: what the VPC
 * has would not do. */
static void test_t1_configured_tables(void **state)
{
    struct ccm_error err = CCM_ERROR_INIT;
    size_t chosen = 7;

    (void)state;
    assert_true(route_tables_choose(NULL, 0, "vpc-1", &chosen, &err) < 0);
    assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
    assert_int_equal(chosen, 7);
}

static void test_t2_tables_of_a_vpc(void **state)
{
    static const struct route_found_table tables[] = { { "vtb-1", "System", 2 },
                                                       { "vtb-2", "Custom", 0 } };
    struct ccm_error err = CCM_ERROR_INIT;
    size_t chosen = 7;

    (void)state;
    assert_true(route_tables_choose(tables, 0, "vpc-1", &chosen, &err) < 0);
    assert_non_null(strstr(err.message, "no route tables found by vpc id[vpc-1]"));
    assert_int_equal(route_tables_choose(tables, 1, "vpc-1", &chosen, &err), 0);
    assert_int_equal(chosen, 0);
    assert_true(route_tables_choose(tables, 2, "vpc-1", &chosen, &err) < 0);
    assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
    assert_non_null(strstr(err.message, "length(tables)=2"));
    assert_non_null(strstr(err.message, "vtb-1 (System), vtb-2 (Custom, no vSwitch)"));
}

static void check_nets(const char *a, const char *b, bool ipv6, const char *wanted)
{
    struct built_node built;
    struct ccm_cidr nets[ROUTE_FAMILIES];
    const char *bad = NULL;
    char all[2 * ROUTE_NET_TEXT] = "";
    size_t count = 7;
    int r;

    build_node(&built, "n", REGION ".i-1", a, b);
    r = route_node_nets(&built.node, ipv6, nets, &count, &bad);
    if (wanted == NULL) {
        assert_int_equal(r, -EINVAL);
        assert_non_null(bad);
        return;
    }
    assert_int_equal(r, 0);
    for (size_t i = 0; i < count; i++) {
        char text[ROUTE_NET_TEXT];
        const size_t used = strlen(all);

        route_net_format(&nets[i], text);
        (void)snprintf(all + used, sizeof(all) - used, "%s%s", i == 0 ? "" : " ", text);
    }
    assert_string_equal(all, wanted);
}

/* podCIDR alone reaches us as the only one of podCIDRs. */
static void test_t13_ipv4_network(void **state)
{
    (void)state;
    check_nets("192.168.0.0/24", "fe80::1/96", false, "192.168.0.0/24");
    check_nets("fe80::1/96", "192.168.0.0/24", false, "192.168.0.0/24");
    check_nets("192.168.0.0/24", NULL, false, "192.168.0.0/24");
    check_nets("10.96.1.5/24", NULL, false, "10.96.1.0/24");
    check_nets("fe80::1/96", "192.168.0.0/24", true, "192.168.0.0/24 fe80::/96");
    /* Without an IPv4 network there is nothing to do, unless IPv6 is on. */
    check_nets("fe80::1/96", NULL, false, "");
    check_nets("fe80::1/96", NULL, true, "fe80::/96");
}

static void test_t14_no_network(void **state)
{
    (void)state;
    check_nets(NULL, NULL, false, "");
    check_nets("", NULL, false, "");
}

static void test_t15_invalid_network(void **state)
{
    struct built_node built;
    struct route_node node;

    (void)state;
    check_nets("192.168.111.11111/24", NULL, false, NULL);
    check_nets("192.168.111.11111/24", "10.0.0.0/24", false, NULL);
    build_node(&built, "n", REGION ".i-1", "192.168.111.11111/24", NULL);
    route_node_init(&node, &built.node, REGION, false);
    assert_int_equal(node.class_, ROUTE_NODE_INVALID);
    assert_string_equal(node.bad, "192.168.111.11111/24");
}

static void test_provider_ids(void **state)
{
    static const struct {
        const char *id;
        const char *region; /* NULL: it names no instance */
        const char *instance;
    } rows[] = {
        { "cn-hangzhou.i-1", "cn-hangzhou", "i-1" },
        { "alicloud://cn-hangzhou.i-1", "cn-hangzhou", "i-1" },
        { "cn-hangzhou.i-1.more.parts", "cn-hangzhou", "i-1" },
        { "i-1", NULL, NULL },
        { "", NULL, NULL },
        { "cn-hangzhou.", NULL, NULL },
        { ".i-1", NULL, NULL },
        { "aws:///zone/i.1", NULL, NULL },
    };
    char region[ROUTE_ID_SIZE];
    char instance[ROUTE_ID_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const int r = ali_provider_parse(rows[i].id, region, instance);

        assert_int_equal(r, rows[i].region == NULL ? -EINVAL : 0);
        if (rows[i].region != NULL) {
            assert_string_equal(region, rows[i].region);
            assert_string_equal(instance, rows[i].instance);
        }
    }
}

static enum route_class class_of(struct built_node *built)
{
    struct route_node node;

    route_node_init(&node, &built->node, REGION, false);
    return node.class_;
}

static void test_classes(void **state)
{
    struct built_node built;

    (void)state;
    build_node(&built, "n", REGION ".i-1", "10.0.0.0/24", NULL);
    assert_int_equal(class_of(&built), ROUTE_NODE_SERVED);
    built.node.ready = CCM_CONDITION_FALSE;
    assert_int_equal(class_of(&built), ROUTE_NODE_SERVED);
    built.node.ready = CCM_CONDITION_ABSENT;
    assert_int_equal(class_of(&built), ROUTE_NODE_SERVED);
    built.node.ready = CCM_CONDITION_UNKNOWN;
    assert_int_equal(class_of(&built), ROUTE_NODE_FROZEN);
    built.node.ready = CCM_CONDITION_TRUE;
    built.node.meta.deleted_ms = 1;
    assert_int_equal(class_of(&built), ROUTE_NODE_FROZEN);
    build_label(&built, "service.beta.kubernetes.io/exclude-node");
    assert_int_equal(class_of(&built), ROUTE_NODE_EXCLUDED);
    build_node(&built, "n", "ack-hybrid://cn-hangzhou.i-1", "10.0.0.0/24", NULL);
    assert_int_equal(class_of(&built), ROUTE_NODE_EXCLUDED);
    build_node(&built, "n", "", "10.0.0.0/24", NULL);
    assert_int_equal(class_of(&built), ROUTE_NODE_UNNAMED);
    build_node(&built, "n", "lingjun-7", "10.0.0.0/24", NULL);
    assert_int_equal(class_of(&built), ROUTE_NODE_FOREIGN);
    build_node(&built, "n", "cn-beijing.i-1", "10.0.0.0/24", NULL);
    assert_int_equal(class_of(&built), ROUTE_NODE_FOREIGN);
    build_node(&built, "n", REGION ".i-1", NULL, NULL);
    assert_int_equal(class_of(&built), ROUTE_NODE_BARE);
}

/* Every input of the classes counts; nothing else does, our own word least of all. */
static void test_differs(void **state)
{
    struct built_node a;
    struct built_node b;

    (void)state;
    build_node(&a, "n", REGION ".i-1", "10.0.0.0/24", NULL);
    b = a;
    b.node.pod_cidrs = b.cidrs;
    b.node.unschedulable = 1;
    b.node.ready = CCM_CONDITION_FALSE;
    b.node.network_unavailable = CCM_CONDITION_FALSE;
    assert_false(route_node_differs(&a.node, &b.node));
    b.node.network_unavailable = CCM_CONDITION_TRUE;
    assert_false(route_node_differs(&a.node, &b.node));
    a.node.network_unavailable = CCM_CONDITION_FALSE;
    assert_true(route_node_differs(&a.node, &b.node));
    b.node.network_unavailable = CCM_CONDITION_ABSENT;
    assert_true(route_node_differs(&a.node, &b.node));
    a.node.network_unavailable = CCM_CONDITION_ABSENT;
    b.node.ready = CCM_CONDITION_UNKNOWN;
    assert_true(route_node_differs(&a.node, &b.node));
    b.node.ready = CCM_CONDITION_TRUE;
    b.node.meta.deleted_ms = 1;
    assert_true(route_node_differs(&a.node, &b.node));
    b.node.meta.deleted_ms = 0;
    b.node.meta.uid = "other";
    assert_true(route_node_differs(&a.node, &b.node));
    b.node.meta.uid = a.node.meta.uid;
    b.node.provider_id = REGION ".i-2";
    assert_true(route_node_differs(&a.node, &b.node));
    b.node.provider_id = a.node.provider_id;
    b.cidrs[0] = "10.0.1.0/24";
    assert_true(route_node_differs(&a.node, &b.node));
    b.cidrs[0] = a.cidrs[0];
    build_label(&b, "service.alibabacloud.com/exclude-node");
    assert_true(route_node_differs(&a.node, &b.node));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t1_configured_tables),
        cmocka_unit_test(test_t2_tables_of_a_vpc),
        cmocka_unit_test(test_t13_ipv4_network),
        cmocka_unit_test(test_t14_no_network),
        cmocka_unit_test(test_t15_invalid_network),
        cmocka_unit_test(test_provider_ids),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_differs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
