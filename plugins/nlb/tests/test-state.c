/* States: lists, look-ups, copies. */
#include "notation.h"

#include "lbc/tests/objects.h"
#include "util/cleanup.h"

#include <string.h>

#define OURS "k8s.80.TCP.web.default.c1"

static void test_zones(void **state)
{
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { .lbc.id = NULL };

    (void)state;
    assert_int_equal(nlb_lb_put_zone(&lb, "b", "vsw-2", NULL, NULL), 0);
    assert_int_equal(nlb_lb_put_zone(&lb, "a", "vsw-1", "10.0.0.1", "eip-1"), 0);
    assert_int_equal(nlb_lb_put_zone(&lb, "c", "vsw-3", NULL, NULL), 0);
    assert_int_equal(nlb_lb_put_zone(&lb, "b", "vsw-4", NULL, "eip-4"), 0);
    assert_int_equal(lb.zone_count, 3);
    assert_string_equal(lb.zones[0].zone_id, "a");
    assert_string_equal(lb.zones[0].address, "10.0.0.1");
    assert_string_equal(lb.zones[1].vswitch_id, "vsw-4");
    assert_string_equal(lb.zones[1].eip, "eip-4");
    assert_string_equal(lb.zones[2].zone_id, "c");
    nlb_lb_clear_zones(&lb);
    assert_int_equal(lb.zone_count, 0);
}

static void test_fields(void **state)
{
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { .lbc.id = NULL };

    (void)state;
    assert_int_equal(nlb_lb_set(&lb, NLB_LB_PACKAGE, ""), 0);
    assert_string_equal(lb.lbc.texts[NLB_LB_PACKAGE], "");
    assert_int_equal(nlb_lb_set(&lb, NLB_LB_PACKAGE, "cbwp-1"), 0);
    assert_string_equal(lb.lbc.texts[NLB_LB_PACKAGE], "cbwp-1");
    assert_int_equal(nlb_lb_set(&lb, NLB_LB_PACKAGE, NULL), 0);
    assert_null(lb.lbc.texts[NLB_LB_PACKAGE]);
}

/* Which present group serves: what cannot be changed in place has to agree. */
static void test_group_for(void **state)
{
    static const struct {
        const char *want;
        const char *have;
        const char *id; /* NULL: none */
    } cases[] = {
        { "group - 80/TCP", "group g-1 80/TCP type=Instance family=ipv4", "g-1" },
        { "group - 80/TCP type=Instance", "group g-1 80/TCP", "g-1" },
        { "group - 80/TCP", "group g-1 81/TCP", NULL },
        { "group - 80/TCP", "group g-1 80/UDP", NULL },
        { "group - 80/TCP", "group g-1 80/TCP type=Ip", NULL },
        { "group - 80/TCP type=ip", "group g-1 80/TCP type=Ip", "g-1" },
        { "group - 80/TCP family=dualstack", "group g-1 80/TCP", NULL },
        { "group - 80/TCP family=dualstack", "group g-1 80/TCP family=DualStack", "g-1" },
        { "group - 80/TCP any", "group g-1 80/TCP", NULL },
        { "group - 80/TCP type=Ip", "group g-1 80/TCP\ngroup g-2 80/TCP type=Ip", "g-2" },
        { "group - 80/TCP", "group g-1 80/TCP\ngroup g-2 80/TCP", "g-1" },
        { "group - 80/TCP", "group g-1 80/TCP\ngroup g-2 80/TCP\nlistener l TCP 80 g-2", "g-2" },
        { "group g-3 80/TCP type=Ip", "group g-1 80/TCP\ngroup g-3 9/TCP name=mine", "g-3" },
        { "group g-4 80/TCP", "group g-1 80/TCP", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CCM_CLEANUP(nlb_state_fini) struct nlb_state want = { .lb = { .lbc.id = NULL } };
        CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lb = { .lbc.id = NULL } };
        const struct nlb_group *found = NULL;

        read_state(&want, cases[i].want);
        read_state(&have, cases[i].have);
        found = nlb_state_group_for(&have, nlb_group_at(&want, 0));
        if ((found == NULL) != (cases[i].id == NULL) ||
            (found != NULL && strcmp(found->lbc.id, cases[i].id) != 0)) {
            fail_msg("%s: %s", cases[i].have, found == NULL ? "none" : found->lbc.id);
        }
    }
}

static void test_rules(void **state)
{
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lb = { .lbc.id = NULL } };

    (void)state;
    read_state(&have, "guard sg-1\nrule r-1 accept 10.0.0.0/8 1\nrule r-2 drop 0.0.0.0/0 100\n");
    nlb_security_group_drop_rule(&have.security_group, 0);
    assert_int_equal(have.security_group.rule_count, 1);
    assert_string_equal(have.security_group.rules[0].id, "r-2");
}

/* A copy says what the original says, and shares nothing with it. */
static void test_copies(void **state)
{
    CCM_CLEANUP(nlb_state_fini) struct nlb_state from = { .lb = { .lbc.id = NULL } };
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { .lbc.id = NULL };
    CCM_CLEANUP(nlb_group_fini) struct nlb_group group = { .lbc.id = NULL };
    CCM_CLEANUP(nlb_listener_fini) struct nlb_listener listener = { .lbc.id = NULL };
    CCM_CLEANUP(nlb_security_group_fini) struct nlb_security_group security_group = { .id = NULL };

    (void)state;
    read_state(&from, "lb nlb-1 +cross=false vpc=vpc-1 untagged\nzone a vsw-1 10.0.0.1 eip-1\n"
                      "sg sg-1\ntag k=v\n"
                      "group g-1 80/TCP type=Ip family=dualstack any unread +Scheduler=rr owner=a\n"
                      "server i-1:80=7 !hand\n"
                      "listener l-1 TCPSSL 100-200 g-1 +Cps=5\ncerts c-1 c-2\n"
                      "guard sg-2\nrule r-1 drop 0.0.0.0/0 100\n");
    assert_int_equal(nlb_lb_copy(&lb, &from.lb), 0);
    assert_int_equal(nlb_group_copy_identity(&group, nlb_group_at(&from, 0)), 0);
    assert_int_equal(lbc_listener_copy(&listener.lbc, from.lbc.listeners[0]), 0);
    assert_int_equal(
        nlb_rule_copy(nlb_security_group_new_rule(&security_group), &from.security_group.rules[0]),
        0);
    nlb_state_fini(&from);

    assert_string_equal(lb.lbc.id, "nlb-1");
    assert_string_equal(lb.lbc.vpc_id, "vpc-1");
    assert_string_equal(lb.lbc.texts[NLB_LB_CROSS_ZONE], "false");
    assert_int_equal(lb.lbc.explicit, 1U << NLB_LB_CROSS_ZONE);
    assert_true(lb.lbc.untagged);
    assert_string_equal(lb.zones[0].eip, "eip-1");
    assert_true(lbc_texts_has(&lb.security_groups, "sg-1"));
    assert_string_equal(lbc_tags_get(&lb.lbc.tags, "k"), "v");
    assert_string_equal(group.lbc.name, OURS);
    assert_string_equal(group.family, "dualstack");
    assert_true(group.any_port);
    assert_int_equal(listener.lbc.port, 100);
    assert_int_equal(listener.lbc.last_port, 200);
    assert_true(listener.lbc.is_range);
    assert_string_equal(listener.lbc.group_id, "g-1");
    assert_int_equal(listener.lbc.attrs.len, 1);
    assert_string_equal(security_group.rules[0].cidr, "0.0.0.0/0");
    assert_true(security_group.rules[0].drop);
    assert_int_equal(security_group.rules[0].priority, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zones),
        cmocka_unit_test(test_fields),
        cmocka_unit_test_teardown(test_group_for, obj_end),
        cmocka_unit_test_teardown(test_rules, obj_end),
        cmocka_unit_test_teardown(test_copies, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
