/* spec.loadBalancerSourceRanges through an access list, passes as a whole. */
#include "world.h"

#include "clb/model_listeners.h"

#include <stdio.h>
#include <string.h>

#define TCP    "CreateLoadBalancerTCPListener"
#define LISTEN "CreateVServerGroup " TCP " StartLoadBalancerListener"
#define FIND   "DescribeAccessControlLists"
#define SET    "SetLoadBalancerTCPListenerAttribute"

static void begin(struct world *world)
{
    world_begin(world);
    world->lbc.extras = CLB_EXTRA_RANGES;
    fake_host_option(world->fake, NULL, "source_ranges", "true");
    obj_range(world->service, "10.0.0.0/8");
    world_put(world);
}

static bool holds(const char *text)
{
    return strstr(mini_dump(), text) != NULL;
}

static void test_life(void **state)
{
    struct world world;

    (void)state;
    begin(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(),
                        "DescribeLoadBalancers " FIND " CreateLoadBalancer CreateAccessControlList "
                        "AddAccessControlListEntry " LISTEN " " LISTEN);
    assert_true(holds("acl " LB_NAME " 10.0.0.0/8\n"));
    world_settle(&world);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "");

    obj_range(world.service, "192.168.0.0/16");
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_writes(), "AddAccessControlListEntry");
    assert_true(holds("acl " LB_NAME " 10.0.0.0/8 192.168.0.0/16\n"));

    world_settle(&world);
    world_restart(&world);
    world.lbc.extras = CLB_EXTRA_RANGES;
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_null(strstr(mini_log(), "Set"));
    assert_null(strstr(mini_log(), "Create"));
    assert_non_null(strstr(mini_log(), FIND " DescribeAccessControlListAttribute"));

    mini_reset_log();
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "DescribeLoadBalancers "
                                    "SetLoadBalancerDeleteProtection DeleteLoadBalancer " FIND
                                    " DescribeAccessControlListAttribute DeleteAccessControlList");
    assert_string_equal(mini_dump(), "");
    world_end(&world);
}

/* Nobody asks any more: unbound first, then deleted, also by a process that has just started. */
static void test_removed(void **state)
{
    (void)state;
    for (int restart = 0; restart < 2; restart++) {
        struct world world;

        begin(&world);
        world_steady(&world);
        world.service->source_range_count = 0;
        world_put(&world);
        if (restart == 1) {
            world_restart(&world);
            world.lbc.extras = CLB_EXTRA_RANGES;
        }
        assert_int_equal(world_run(&world), 0);
        assert_non_null(strstr(mini_log(), SET " " SET " DeleteAccessControlList"));
        assert_false(holds("acl "));
        world_settle(&world);
        mini_reset_log();
        assert_int_equal(world_run(&world), 0);
        assert_string_equal(mini_log(), "");
        world_end(&world);
    }
}

/* Without its list no port is opened, whatever fails and however. */
static void test_fails_closed(void **state)
{
    static const char *const actions[] = { FIND, "CreateAccessControlList",
                                           "AddAccessControlListEntry" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(actions); i++) {
        for (int executed = 0; executed < 2; executed++) {
            const struct mini_fault fault = { .action = actions[i],
                                              .executed = executed == 1,
                                              .uncertain = true,
                                              .code = "",
                                              .kind = CCM_ERROR_TRANSIENT };
            struct world world;

            begin(&world);
            mini_fail(&fault);
            assert_true(world_run(&world) < 0);
            assert_false(holds("tcp 80"));
            assert_false(holds("tcp 443"));
            world_converge(&world);
            assert_true(holds("tcp 80 running"));
            assert_true(holds("acl " LB_NAME " 10.0.0.0/8\n"));
            /* one list, not two */
            assert_null(strstr(strstr(mini_dump(), "acl ") + 1, "acl "));
            world_end(&world);
        }
    }
}

/* Somebody took the entry out before us: nothing is left to do. */
static void test_entry_is_gone(void **state)
{
    const struct mini_fault fault = { .action = "RemoveAccessControlListEntry",
                                      .executed = true,
                                      .code = "AclEntryEmpty",
                                      .kind = CCM_ERROR_NOT_FOUND,
                                      .http = 400 };
    struct world world;

    (void)state;
    begin(&world);
    obj_range(world.service, "192.168.0.0/16");
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    world_settle(&world);
    mini_fail(&fault);
    world.service->source_range_count = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_log(), "RemoveAccessControlListEntry"));
    assert_true(holds("acl " LB_NAME " 10.0.0.0/8\n"));
    world_end(&world);
}

static void test_bad_range(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.lbc.extras = CLB_EXTRA_RANGES;
    fake_host_option(world.fake, NULL, "source_ranges", "true");
    obj_range(world.service, "2001:db8::/32");
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_non_null(strstr(world_event(&world),
                           "spec.loadBalancerSourceRanges: [2001:db8::/32] is no IPv4 block"));
    assert_string_equal(mini_log(), "");
    world_end(&world);
}

/* Ranges that are asked for and not served: nothing open is made for them. What is there stays, and
 * a Warning with it. */
static void test_option_off(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    obj_range(world.service, "10.0.0.0/8");
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_TERMINAL);
    assert_non_null(strstr(world.err.message, "option source_ranges of plugin clb is off"));
    assert_null(strstr(mini_log(), "Create"));
    assert_string_equal(mini_dump(), "");
    world.service->source_range_count = 0;
    world_put(&world);
    world_steady(&world);
    while (world_event(&world) != NULL) { /* all that was told so far */
    }
    world.service->source_range_count = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_false(holds("acl "));
    assert_true(holds("tcp 80 running"));
    assert_non_null(strstr(world_event(&world), "UnsupportedField: spec.loadBalancerSourceRanges"));
    (void)world_event(&world); /* EnsuredLoadBalancer */
    assert_int_equal(world_run(&world), 0);
    assert_null(world_event(&world));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),         cmocka_unit_test(test_removed),
        cmocka_unit_test(test_fails_closed), cmocka_unit_test(test_entry_is_gone),
        cmocka_unit_test(test_bad_range),    cmocka_unit_test(test_option_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
