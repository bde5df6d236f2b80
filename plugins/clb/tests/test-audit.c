/* The inventory at start and the second look, call by call. */
#include "world.h"

#include "clb/controller.h"
#include "lbc/instance.h"
#include "lbc/service/hash.h"

#include <stdio.h>
#include <string.h>

#define LOOK                                                                                       \
    "DescribeLoadBalancers DescribeLoadBalancerListeners DescribeVServerGroups "                   \
    "DescribeVServerGroupAttribute DescribeVServerGroupAttribute"

static const struct fake_enqueue *last_enqueue(struct world *world)
{
    const size_t count = fake_host_enqueue_count(world->fake);

    return count == 0 ? NULL : fake_host_enqueued(world->fake, count - 1);
}

static void run(struct world *world)
{
    assert_int_equal(world_run(world), 0);
}

/* --- the second look --- */

static void test_interval(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.lbc.audit.interval_ms = 100000;
    world_steady(&world);
    const struct fake_enqueue *next = last_enqueue(&world);

    assert_non_null(next);
    assert_int_equal(next->lane, CCM_LANE_BULK);
    assert_in_range(next->delay_ms, 80000, 120000);
    fake_host_advance(world.fake, 79000);
    run(&world);
    assert_string_equal(mini_log(), "");
    fake_host_advance(world.fake, 42000);
    run(&world);
    assert_string_equal(mini_log(), LOOK);
    assert_null(world_event(&world));
    assert_in_range(last_enqueue(&world)->delay_ms, 80000, 120000);
    mini_reset_log();
    run(&world); /* not again */
    assert_string_equal(mini_log(), "");
    world_end(&world);
}

static void test_interval_made_shorter(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.lbc.audit.interval_ms = 86400000;
    world_steady(&world);
    world.lbc.audit.interval_ms = 100000;
    run(&world);
    assert_in_range(last_enqueue(&world)->delay_ms, 80000, 120000);
    fake_host_advance(world.fake, 121000);
    run(&world);
    assert_string_equal(mini_log(), LOOK);
    world_end(&world);
}

static void test_off(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    fake_host_advance(world.fake, 1000000000);
    run(&world);
    assert_string_equal(mini_log(), "");
    assert_int_equal(fake_host_enqueue_count(world.fake), 0);
    world_end(&world);
}

static void test_repair(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.lbc.audit.interval_ms = 1000;
    world_steady(&world);
    mini_delete_listener(443);
    mini_set_weight("i-1", 7);
    run(&world); /* not due, so not seen */
    assert_string_equal(mini_log(), "");
    fake_host_advance(world.fake, 1300);
    run(&world);
    const char *event = world_event(&world);

    assert_non_null(event);
    assert_non_null(strstr(event, "DriftRepaired: Load balancer [" LB_ID "] had been changed by "
                                  "somebody else and was repaired: "));
    assert_non_null(strstr(event, "set weights 80/tcp"));
    assert_non_null(strstr(event, "create listener 443/tcp"));
    world_end(&world);
}

/* "configuring" does not say whether the listener runs: it is read again, and then started. */
static void test_listener_in_between(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.lbc.audit.interval_ms = 1000;
    world_steady(&world);
    fake_host_advance(world.fake, 1300);
    mini_set_listener_status(443, "configuring");
    run(&world);
    assert_int_equal(world.requeue_ms, 5000);
    mini_stop_listener(443);
    fake_host_advance(world.fake, 5000);
    run(&world);
    assert_non_null(strstr(mini_log(), "StartLoadBalancerListener"));
    assert_int_equal(world.requeue_ms, 0);
    world_end(&world);
}

/* One that stays so is read less and less often, and hides no failure. */
static void test_listener_stays_in_between(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    world_restart(&world);
    mini_set_listener_status(443, "configuring");
    for (uint64_t ms = 5000; ms <= 40000; ms *= 2) {
        run(&world);
        assert_int_equal(world.requeue_ms, ms);
        fake_host_advance(world.fake, (int64_t)ms);
    }
    obj_annotate(&world.service->meta, LBC_ANNO_PREFIX "persistence-timeout", "many");
    world_put(&world);
    assert_true(world_run(&world) < 0);
    const char *event = world_event(&world);

    assert_non_null(event);
    assert_non_null(strstr(event, "persistence-timeout"));
    world_end(&world);
}

/* Not beyond the number of looks at once, and not when the pass had something to do itself. */
static void test_put_off(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.lbc.audit.interval_ms = 1000;
    world_steady(&world);
    fake_host_advance(world.fake, 1300);
    atomic_store(&world.lbc.audit.running, 2);
    run(&world);
    assert_string_equal(mini_log(), "");
    assert_int_equal(atomic_load(&world.lbc.audit.running), 2);
    assert_int_equal(last_enqueue(&world)->delay_ms, 1000);
    atomic_store(&world.lbc.audit.running, 0);
    world_add_node(&world, "n3", "cn-hangzhou.i-3");
    run(&world);
    assert_string_equal(mini_log(), "AddVServerGroupBackendServers AddVServerGroupBackendServers");
    mini_reset_log();
    run(&world);
    assert_string_equal(mini_log(), LOOK);
    assert_int_equal(atomic_load(&world.lbc.audit.running), 0);
    world_end(&world);
}

/* A failed look changes nothing and gives its place back. */
static void test_failed_look(void **state)
{
    const struct mini_fault fault = { .action = "DescribeVServerGroups",
                                      .kind = CCM_ERROR_TRANSIENT,
                                      .code = "InternalError" };
    struct world world;

    (void)state;
    world_begin(&world);
    world.lbc.audit.interval_ms = 1000;
    world_steady(&world);
    fake_host_advance(world.fake, 1300);
    mini_fail(&fault);
    assert_true(world_run(&world) < 0);
    assert_int_equal(atomic_load(&world.lbc.audit.running), 0);
    mini_reset_log();
    run(&world);
    assert_string_equal(mini_log(), LOOK);
    world_end(&world);
}

/* A confirmation that an audit displaced and then had to wait was asked for again and again. */
static void test_confirmation_before_audit(void **state)
{
    const struct mini_fault fault = { .action = "DescribeLoadBalancers", .put_off_ms = 5000 };
    struct world world;

    (void)state;
    world_begin(&world);
    world.lbc.audit.interval_ms = 1000;
    world_steady(&world);
    fake_host_advance(world.fake, 60000);
    obj_label(&world.service->meta, LBC_HASH_LABEL, "v2-of-another");
    world_put(&world);
    mini_fail(&fault);
    run(&world); /* nothing to do: it wants to be sure */

    const size_t enqueued = fake_host_enqueue_count(world.fake);

    mini_fail(&fault);
    run(&world);
    assert_int_equal(world.flags, CCM_RESULT_WAITS);
    assert_int_equal(world.requeue_ms, 5000);
    assert_int_equal(fake_host_enqueue_count(world.fake), enqueued);
    run(&world);
    assert_int_equal(world.flags, 0);
    world_end(&world);
}

/* A look whose calls have to wait for their turn is still due, and the mirror is as before. */
static void test_waiting_look(void **state)
{
    const struct mini_fault fault = { .action = "DescribeVServerGroups", .put_off_ms = 5000 };
    struct world world;

    (void)state;
    world_begin(&world);
    world.lbc.audit.interval_ms = 1000;
    world_steady(&world);
    fake_host_advance(world.fake, 1300);
    mini_fail(&fault);
    (void)fake_host_metrics(world.fake);
    run(&world);
    assert_int_equal(world.flags, CCM_RESULT_WAITS);
    assert_int_equal(world.requeue_ms, 5000);
    assert_int_equal(atomic_load(&world.lbc.audit.running), 0);
    assert_null(strstr(fake_host_metrics(world.fake), "ccmd_audits_total{"));
    world_add_node(&world, "n3", "cn-hangzhou.i-3");
    mini_reset_log();
    run(&world);
    assert_string_equal(mini_log(), "AddVServerGroupBackendServers AddVServerGroupBackendServers");
    mini_reset_log();
    run(&world);
    assert_string_equal(mini_log(), LOOK);
    assert_int_equal(world.flags, 0);
    assert_non_null(strstr(fake_host_metrics(world.fake), "clean"));
    assert_non_null(strstr(world_event(&world), "EnsuredLoadBalancer")); /* because of the node */
    assert_null(world_event(&world));
    world_end(&world);
}

/* What a look has found is repaired, counted and told when it is its turn. */
static void test_waiting_repair(void **state)
{
    const struct mini_fault fault = { .action = "CreateLoadBalancerTCPListener",
                                      .put_off_ms = 5000 };
    struct world world;

    (void)state;
    world_begin(&world);
    world.lbc.audit.interval_ms = 100000;
    world_steady(&world);
    mini_delete_listener(443);
    fake_host_advance(world.fake, 121000);
    mini_fail(&fault);
    (void)fake_host_metrics(world.fake);
    run(&world);
    assert_int_equal(world.flags, CCM_RESULT_WAITS);
    assert_null(strstr(fake_host_metrics(world.fake), "ccmd_audits_total{"));
    assert_null(world_event(&world));
    mini_reset_log();
    run(&world);
    assert_string_equal(mini_writes(), "CreateLoadBalancerTCPListener StartLoadBalancerListener");
    assert_non_null(strstr(fake_host_metrics(world.fake), "repaired"));

    const char *event = world_event(&world);

    assert_non_null(event);
    assert_non_null(strstr(event, "DriftRepaired"));
    mini_reset_log();
    run(&world);
    assert_string_equal(mini_log(), "");
    world_end(&world);
}

/* A lasting failure keeps its kind beside a call that waits, which comes at its own turn. */
static void test_failure_beside_a_wait(void **state)
{
    const struct mini_fault fault = { .action = "AddVServerGroupBackendServers",
                                      .put_off_ms = 5000 };
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    obj_annotate(&world.service->meta, LBC_ANNO_PREFIX "scheduler", "nonsense");
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.flags, 0);
    world_add_node(&world, "n3", "cn-hangzhou.i-3");
    mini_fail(&fault);
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_TERMINAL);
    assert_int_equal(world.flags, CCM_RESULT_WAITS);
    assert_int_equal(world.requeue_ms, 5000);
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_TERMINAL);
    assert_int_equal(world.flags, 0);
    world_end(&world);
}

/* Whoever has to wait for its load balancer is neither well nor failed. */
static void test_claim_waits(void **state)
{
    struct lbc_entry *entry = NULL;
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    assert_int_equal(lbc_mirrors_acquire(world.lbc.mirrors, "default/web", world.service->meta.uid,
                                         "", CCM_LANE_SPEC, &entry),
                     0);
    run(&world);
    assert_int_equal(world.flags, CCM_RESULT_WAITS);
    assert_int_equal(world.requeue_ms, 0);
    lbc_mirrors_release(world.lbc.mirrors, entry);
    assert_string_equal(last_enqueue(&world)->key, "default/web");
    run(&world);
    assert_int_equal(world.flags, 0);
    world_end(&world);
}

/* Only the backoff decides when a Service that fails is tried again, though it is long due. */
static void test_failure_is_not_hurried(void **state)
{
    static const char *const kinds[][2] = { { "scheduler", "nonsense" }, { NULL, NULL } };
    const struct mini_fault fault = { .action = "DescribeVServerGroups",
                                      .kind = CCM_ERROR_TRANSIENT,
                                      .code = "InternalError" };

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct world world;

        world_begin(&world);
        world.lbc.audit.interval_ms = 1000;
        world_steady(&world);
        const size_t before = fake_host_enqueue_count(world.fake);

        if (kinds[i][0] != NULL) {
            obj_annotate(&world.service->meta, LBC_ANNO_PREFIX "scheduler", kinds[i][1]);
            world_put(&world);
        }
        for (int pass = 0; pass < 5; pass++) {
            fake_host_advance(world.fake, 1300);
            mini_fail(&fault);
            assert_true(world_run(&world) < 0);
        }
        assert_int_equal(fake_host_enqueue_count(world.fake), before);
        world_end(&world);
    }
}

/* A Service that has something to do in every pass comes back more and more slowly. */
static void test_never_idle(void **state)
{
    static const uint64_t pauses[] = { 1000, 2000, 4000, 8000, 10000, 10000 };
    struct world world;

    (void)state;
    world_begin(&world);
    world.lbc.audit.interval_ms = 10000;
    world_steady(&world);
    fake_host_advance(world.fake, 12001);
    for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
        char name[8];

        (void)snprintf(name, sizeof(name), "n%zu", i + 3);
        char id[24];

        (void)snprintf(id, sizeof(id), "cn-hangzhou.i-%zu", i + 3);
        world_add_node(&world, name, id);
        assert_int_equal(world_run(&world), 0);
        assert_int_equal(last_enqueue(&world)->delay_ms, pauses[i]);
    }
    run(&world);
    assert_in_range(last_enqueue(&world)->delay_ms, 8000, 12000);
    world_end(&world);
}

/* Who waits for whom when the governor holds calls back. */
static void test_priority(void **state)
{
    static const struct {
        uint64_t lane;
        bool audit;
        enum lbc_priority asked;
        enum ali_priority given;
        uint32_t failures;
        bool releases;
    } cases[] = {
        { CCM_LANE_SPEC, false, LBC_PRIO_SPEC, ALI_PRIO_SPEC, 0, false },
        { CCM_LANE_BACKENDS, false, LBC_PRIO_SPEC, ALI_PRIO_SPEC, 0, false },
        { CCM_LANE_BULK, false, LBC_PRIO_SPEC, ALI_PRIO_BULK, 0, false },
        { CCM_LANE_BULK, false, LBC_PRIO_REMOVE, ALI_PRIO_REMOVE, 0, false },
        { CCM_LANE_BULK, false, LBC_PRIO_NEW, ALI_PRIO_NEW, 0, false },
        { CCM_LANE_BULK, true, LBC_PRIO_SPEC, ALI_PRIO_AUDIT, 0, false },
        { CCM_LANE_SPEC, true, LBC_PRIO_SPEC, ALI_PRIO_AUDIT, 0, false },
        { CCM_LANE_REMOVE, false, LBC_PRIO_SPEC, ALI_PRIO_REMOVE, 0, true },
        /* It failed, and failed again: only backends that go are in a hurry. */
        { CCM_LANE_BULK, false, LBC_PRIO_NEW, ALI_PRIO_NEW, 1, false },
        { CCM_LANE_BULK, false, LBC_PRIO_NEW, ALI_PRIO_RETRY, 2, false },
        { CCM_LANE_BULK, false, LBC_PRIO_SPEC, ALI_PRIO_RETRY, 9, false },
        { CCM_LANE_BULK, false, LBC_PRIO_REMOVE, ALI_PRIO_REMOVE, 9, false },
        { CCM_LANE_BULK, false, LBC_PRIO_REMOVE, ALI_PRIO_RETRY, 9, true },
        { CCM_LANE_SPEC, false, LBC_PRIO_SPEC, ALI_PRIO_SPEC, 9, false }, /* somebody edits it */
        { CCM_LANE_BACKENDS, false, LBC_PRIO_SPEC, ALI_PRIO_SPEC, 9, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct ccm_request req = { .struct_size = sizeof(req), .lane = cases[i].lane };
        const struct ccm_service service = { .meta = { .key = "default/web" } };
        struct lbc_entry entry = { .failure.count = cases[i].failures };
        const struct lbc_pass pass = { .req = &req,
                                       .service = &service,
                                       .entry = &entry,
                                       .audit = cases[i].audit,
                                       .releases = cases[i].releases };

        assert_int_equal(alilb_priority(lbc_pass_priority(&pass, cases[i].asked)), cases[i].given);
    }
}

/* --- a refusal that stands --- */

/* The mirror may be old: once, and then from time to time, but not in every second pass. */
static void test_standing_refusal(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    obj_annotate(&world.service->meta, LBC_ANNO_PREFIX "address-type", "intranet");
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_string_equal(mini_log(), LOOK); /* somebody has edited it */
    mini_reset_log();
    for (int round = 0; round < 2; round++) {
        assert_true(world_run(&world) < 0);
        assert_string_equal(mini_log(), "");
        assert_true(world_run(&world) < 0);
        assert_string_equal(mini_log(), LOOK);
        mini_reset_log();
        for (int i = 0; i < 4; i++) {
            assert_true(world_run(&world) < 0);
        }
        assert_string_equal(mini_log(), "");
        fake_host_advance(world.fake, 300000);
    }
    world_end(&world);
}

/* --- the inventory --- */

/* A second finished Service, so that it is worth it. */
static void add_service(struct world *world, bool finished)
{
    struct ccm_service *other = obj_service_copy(world->service);

    other->meta.key = "default/other";
    other->meta.name = "other";
    other->meta.uid = "00000000-0000-0000-0000-000000000001";
    if (!finished) {
        obj_label(&other->meta, LBC_HASH_LABEL, NULL);
    }
    fake_host_put(world->fake, &other->meta);
}

static void begin_again(struct world *world, bool finished)
{
    world_begin(world);
    world_steady(world);
    add_service(world, finished);
    world_restart(world);
    world->lbc.inventory = lbc_inventory_new();
    assert_non_null(world->lbc.inventory);
    mini_reset_log();
}

static void test_inventory(void **state)
{
    struct world world;

    (void)state;
    begin_again(&world, true);
    run(&world);
    assert_string_equal(mini_log(), LOOK);
    assert_string_equal(mini_last("DescribeLoadBalancers", "Tag.1.Key"), "ack.aliyun.com");
    assert_string_equal(mini_last("DescribeLoadBalancers", "Tag.1.Value"), MINI_CLUSTER);
    assert_string_equal(mini_last("DescribeLoadBalancers", "PageSize"), "100");
    mini_reset_log();
    run(&world);
    assert_string_equal(mini_log(), "");
    world_end(&world);
}

/* Somebody deletes the load balancer and clears the status after the inventory was read, before the
 * first pass: the address of what is gone must not come back. */
static void test_edit_after_the_inventory(void **state)
{
    const char *const keys[] = { "default/other" };
    const struct ccm_request req = { .struct_size = sizeof(req), .keys = keys, .key_count = 1 };
    const struct ccm_service *before = NULL;
    struct world world;

    (void)state;
    begin_again(&world, true);
    assert_false(lbc_inventory_prepare(&world.lbc, &req, world.service));
    mini_delete_lb();
    before = obj_service_copy(world.service);
    world.service->ingress_count = 0;
    world_put(&world);

    const struct ccm_change change = { .struct_size = sizeof(change),
                                       .type = CCM_CHANGE_UPDATED,
                                       .before = &before->meta,
                                       .after = &world.service->meta };

    lbc_watches[0]->map(&world.lbc, &change);
    mini_reset_log();
    run(&world);
    assert_non_null(strstr(mini_log(), "CreateLoadBalancer"));
    world_end(&world);
}

/* For one Service alone its own look costs the same, and nobody else has to wait. */
static void test_not_worth_it(void **state)
{
    struct world world;

    (void)state;
    begin_again(&world, false);
    run(&world);
    assert_string_equal(mini_log(), LOOK);
    assert_string_equal(mini_last("DescribeLoadBalancers", "PageSize"), "");
    world_end(&world);
}

/* Any call of the inventory fails: the Service looks for itself, and nothing is written. */
static void test_failed_inventory(void **state)
{
    static const char *const actions[] = { "DescribeLoadBalancers",
                                           "DescribeLoadBalancerListeners" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct mini_fault fault = { .action = actions[i],
                                          .kind = CCM_ERROR_TRANSIENT,
                                          .code = "InternalError" };
        struct world world;

        begin_again(&world, true);
        mini_fail(&fault);
        run(&world);
        assert_int_equal(mini_calls(), 6);
        assert_null(strstr(mini_log(), "Create"));
        assert_non_null(strstr(fake_host_log_text(world.fake), "inventory"));
        world_end(&world);
    }
}

/* A load balancer that the inventory does not know is looked for by its own tag, then its name. */
static void test_unknown_is_looked_up(void **state)
{
    struct world world;

    (void)state;
    begin_again(&world, true);
    mini_untag();
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_null(strstr(mini_log(), "CreateLoadBalancer"));
    assert_ptr_equal(strstr(mini_log(), "DescribeLoadBalancers DescribeLoadBalancers "
                                        "DescribeLoadBalancers "),
                     mini_log());
    world_end(&world);
}

/* What nobody took in time is old. */
static void test_old(void **state)
{
    const char *const keys[] = { "default/web" };
    const struct ccm_request req = { .struct_size = sizeof(req), .keys = keys, .key_count = 1 };
    struct clb_state found = { .lbc.groups_known = false };
    struct world world;

    (void)state;
    begin_again(&world, true);
    assert_false(lbc_inventory_prepare(&world.lbc, &req, world.service));
    fake_host_advance(world.fake, 120000);
    assert_false(lbc_inventory_take(&world.lbc, world.service, &found.lbc));
    mini_reset_log();
    run(&world);
    assert_string_equal(mini_log(), LOOK);
    assert_string_equal(mini_last("DescribeLoadBalancers", "PageSize"), "");
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_interval_made_shorter),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_repair),
        cmocka_unit_test(test_listener_in_between),
        cmocka_unit_test(test_listener_stays_in_between),
        cmocka_unit_test(test_put_off),
        cmocka_unit_test(test_confirmation_before_audit),
        cmocka_unit_test(test_failed_look),
        cmocka_unit_test(test_waiting_look),
        cmocka_unit_test(test_waiting_repair),
        cmocka_unit_test(test_failure_beside_a_wait),
        cmocka_unit_test(test_claim_waits),
        cmocka_unit_test(test_failure_is_not_hurried),
        cmocka_unit_test(test_never_idle),
        cmocka_unit_test(test_priority),
        cmocka_unit_test(test_standing_refusal),
        cmocka_unit_test(test_inventory),
        cmocka_unit_test(test_edit_after_the_inventory),
        cmocka_unit_test(test_not_worth_it),
        cmocka_unit_test(test_failed_inventory),
        cmocka_unit_test(test_unknown_is_looked_up),
        cmocka_unit_test(test_old),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
