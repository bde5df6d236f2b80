/* Networks: parsing, texts, and how one lies to another (rows T3 to T9 of the specification). */
#include "build.h"
#include "check.h"

#include <errno.h>
#include <string.h>

static enum route_relation relation(const char *outer, const char *inner)
{
    const struct ccm_cidr out = build_net(outer);
    const struct ccm_cidr in = build_net(inner);

    return route_net_relation(&out, &in);
}

static void test_t3_inside(void **state)
{
    (void)state;
    assert_int_equal(relation("192.168.0.0/16", "192.168.1.0/24"), ROUTE_NET_INSIDE);
}

static void test_t4_apart(void **state)
{
    (void)state;
    assert_int_equal(relation("172.16.0.0/12", "192.168.1.0/24"), ROUTE_NET_APART);
    /* Also: wider than the other, and another family. */
    assert_int_equal(relation("192.168.1.0/24", "192.168.0.0/16"), ROUTE_NET_APART);
    assert_int_equal(relation("::/0", "192.168.0.0/16"), ROUTE_NET_APART);
    assert_int_equal(relation("0.0.0.0/0", "fe80::/16"), ROUTE_NET_APART);
    assert_int_equal(relation("10.0.0.0/9", "10.128.0.0/10"), ROUTE_NET_APART);
}

static void test_t5_equal(void **state)
{
    (void)state;
    assert_int_equal(relation("172.16.0.0/12", "172.16.0.0/12"), ROUTE_NET_EQUAL);
    assert_int_equal(relation("172.16.0.0/12", "172.16.5.1/12"), ROUTE_NET_EQUAL);
}

static void test_t6_in_everything(void **state)
{
    const struct ccm_cidr net = build_net("192.168.1.0/24");

    (void)state;
    assert_int_equal(route_net_relation(NULL, &net), ROUTE_NET_INSIDE);
}

static void test_t7_unparsable(void **state)
{
    static const char *const bad[] = { "192.168.1/24", "192.168.1.0",    "192.168.1.0/33", "/24",
                                       "fe80::/129",   "192.168.1.0/-1", "192.168.1.0/",   "" };
    struct ccm_cidr net;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(route_net_parse(bad[i], &net), -EINVAL);
    }
}

static void test_t8_ipv6_inside(void **state)
{
    (void)state;
    assert_int_equal(relation("fe80::/16", "fe80:af01::1/32"), ROUTE_NET_INSIDE);
}

static void test_t9_ipv6_not_canonical(void **state)
{
    (void)state;
    assert_int_equal(relation("fe80::/16", "fe80::0/16"), ROUTE_NET_EQUAL);
}

static void test_canonical_text(void **state)
{
    static const char *const pairs[][2] = {
        { "10.96.1.5/24", "10.96.1.0/24" }, { "10.96.1.5/32", "10.96.1.5/32" },
        { "10.96.1.5/0", "0.0.0.0/0" },     { "10.97.1.5/12", "10.96.0.0/12" },
        { "FD00:0:0::5/64", "fd00::/64" },  { "fd00::ffff/113", "fd00::8000/113" },
    };
    char text[ROUTE_NET_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const struct ccm_cidr net = build_net(pairs[i][0]);

        route_net_format(&net, text);
        assert_string_equal(text, pairs[i][1]);
    }
}

static void test_list(void **state)
{
    struct route_nets nets = { 0 };
    char bad[64] = "";
    struct ccm_cidr net = build_net("10.1.2.0/24");

    (void)state;
    assert_int_equal(route_nets_parse(" 10.0.0.0/16,, 10.1.0.0/16 ,fd00::/48", &nets, bad), 0);
    assert_int_equal(nets.len, 3);
    assert_true(route_nets_contain(&nets, &net));
    net = build_net("10.0.0.0/15");
    assert_false(route_nets_contain(&nets, &net));
    route_nets_fini(&nets);
    assert_int_equal(route_nets_parse("10.0.0.0/16,10.1.0.0", &nets, bad), -EINVAL);
    assert_string_equal(bad, "10.1.0.0");
    assert_int_equal(route_nets_parse("", &nets, bad), 0);
    assert_int_equal(nets.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t3_inside),
        cmocka_unit_test(test_t4_apart),
        cmocka_unit_test(test_t5_equal),
        cmocka_unit_test(test_t6_in_everything),
        cmocka_unit_test(test_t7_unparsable),
        cmocka_unit_test(test_t8_ipv6_inside),
        cmocka_unit_test(test_t9_ipv6_not_canonical),
        cmocka_unit_test(test_canonical_text),
        cmocka_unit_test(test_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
