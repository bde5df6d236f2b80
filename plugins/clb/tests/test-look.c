/* What an edit by a person costs, and what it brings back; machines go on by the mirror. */
#include "world.h"

#include "lbc/instance.h"
#include "lbc/look.h"
#include "lbc/service/hash.h"

#include <string.h>

#define LOOK                                                                                       \
    "DescribeLoadBalancers DescribeLoadBalancerListeners DescribeVServerGroups "                   \
    "DescribeVServerGroupAttribute DescribeVServerGroupAttribute"

static void run(struct world *world)
{
    mini_reset_log();
    assert_int_equal(world_run(world), 0);
}

/* The Service as it is replaces `before` in the cache. */
static void see_change(struct world *world, const struct ccm_service *before)
{
    const struct ccm_change change = { .struct_size = sizeof(change),
                                       .type = CCM_CHANGE_UPDATED,
                                       .before = &before->meta,
                                       .after = &world->service->meta };

    world_put(world);
    lbc_watches[0]->map(&world->lbc, &change);
}

static void annotate(struct world *world, const char *key, const char *value)
{
    const struct ccm_service *before = obj_service_copy(world->service);

    obj_annotate(&world->service->meta, key, value);
    see_change(world, before);
}

/* As the watch shows what the pass before has written. */
static void see_own_writes(struct world *world)
{
    const struct ccm_service *before = obj_service_copy(world->service);

    world_settle(world);
    see_change(world, before);
}

static const struct fake_enqueue *last_enqueue(struct world *world)
{
    const size_t count = fake_host_enqueue_count(world->fake);

    return fake_host_enqueued(world->fake, count - 1);
}

static const char *find_event(struct world *world, const char *reason)
{
    for (;;) {
        const char *event = world_event(world);

        if (event == NULL || strncmp(event, reason, strlen(reason)) == 0) {
            return event;
        }
    }
}

static void test_own_writes_are_no_edits(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_put(&world);
    run(&world);
    assert_string_equal(strchr(mini_log(), ' ') + 1,
                        "CreateLoadBalancer CreateVServerGroup CreateLoadBalancerTCPListener "
                        "StartLoadBalancerListener CreateVServerGroup "
                        "CreateLoadBalancerTCPListener StartLoadBalancerListener");
    see_own_writes(&world);
    run(&world);
    assert_string_equal(mini_log(), "");
    /* Nor those of a pass that changes the label that is there. */
    fake_host_advance(world.fake, 60000);
    annotate(&world, "example.com/note", "a");
    run(&world);
    assert_string_equal(mini_log(), LOOK);
    see_own_writes(&world);
    fake_host_advance(world.fake, 60000);
    run(&world);
    assert_string_equal(mini_log(), "");
    world_end(&world);
}

static void test_machines_read_nothing(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    mini_delete_listener(80);
    world_add_node(&world, "n3", "cn-hangzhou.i-3");
    run(&world);
    assert_string_equal(mini_log(), "AddVServerGroupBackendServers AddVServerGroupBackendServers");
    world_end(&world);
}

static void test_once_in_ten_seconds(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    annotate(&world, "example.com/note", "a");
    run(&world);
    assert_string_equal(mini_log(), LOOK);
    see_own_writes(&world);
    fake_host_advance(world.fake, 4000);
    mini_delete_listener(80);
    annotate(&world, "example.com/note", "b");
    run(&world);
    assert_string_equal(mini_log(), "");
    assert_in_range(last_enqueue(&world)->delay_ms, 5900, 6000);
    see_own_writes(&world);
    fake_host_advance(world.fake, 5000);
    run(&world); /* of a machine */
    assert_string_equal(mini_log(), "");
    assert_in_range(last_enqueue(&world)->delay_ms, 900, 1000);
    fake_host_advance(world.fake, 1000);
    run(&world);
    assert_non_null(strstr(mini_log(), "DescribeLoadBalancerListeners"));
    assert_non_null(strstr(mini_dump(), "tcp 80 running"));
    assert_string_equal(find_event(&world, "DriftRepaired"),
                        "DriftRepaired: Load balancer [" LB_ID
                        "] had been changed by somebody else and "
                        "was repaired: create listener 80/tcp, start listener 80/tcp");
    fake_host_advance(world.fake, 60000);
    run(&world);
    assert_string_equal(mini_log(), "");
    world_end(&world);
}

/* What the person asked for is no repair, what somebody else did in the same place is one. */
static void test_only_repairs_are_told(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    annotate(&world, P "name", "front");
    run(&world);
    assert_string_equal(mini_writes(), "SetLoadBalancerName");
    assert_null(find_event(&world, "DriftRepaired"));
    see_own_writes(&world);
    fake_host_advance(world.fake, 60000);
    mini_set_weight("i-1", 7);
    annotate(&world, P "scheduler", "wrr");
    run(&world);
    assert_non_null(strstr(mini_dump(), "i-1:30080=100"));
    assert_string_equal(find_event(&world, "DriftRepaired"),
                        "DriftRepaired: Load balancer [" LB_ID
                        "] had been changed by somebody else and "
                        "was repaired: set weights 80/tcp, set weights 443/tcp");
    world_end(&world);
}

/* A value that is only remembered may be old: it is not sent again. */
static void test_nothing_old_is_sent(void **state)
{
    static const char update[] = "SetLoadBalancerTCPListenerAttribute";
    struct world world;

    (void)state;
    world_begin(&world);
    obj_annotate(&world.service->meta, P "established-timeout", "600");
    world_steady(&world);
    annotate(&world, P "health-check-interval", "9");
    run(&world);
    assert_non_null(strstr(mini_log(), update));
    assert_string_equal(mini_last(update, "Scheduler"), "rr"); /* as it was read */
    see_own_writes(&world);
    annotate(&world, P "health-check-interval", "8");
    run(&world);
    assert_non_null(strstr(mini_log(), update));
    assert_null(strstr(mini_log(), "Describe"));
    assert_string_equal(mini_last(update, "Scheduler"), "");
    assert_string_equal(mini_last(update, "EstablishedTimeout"), "600");
    assert_string_equal(mini_last(update, "HealthCheckInterval"), "8");
    world_end(&world);
}

static void clear_status(struct world *world)
{
    const struct ccm_service *before = obj_service_copy(world->service);

    world->service->ingress_count = 0;
    see_change(world, before);
}

static void lose_finalizer(struct world *world)
{
    const struct ccm_service *before = obj_service_copy(world->service);

    world->service->meta.finalizer_count = 0;
    see_change(world, before);
}

static void lose_hash(struct world *world)
{
    const struct ccm_service *before = obj_service_copy(world->service);

    obj_label(&world->service->meta, LBC_HASH_LABEL, NULL);
    see_change(world, before);
}

static void set_foreign_label(struct world *world)
{
    const struct ccm_service *before = obj_service_copy(world->service);

    obj_label(&world->service->meta, LBC_LIFE_LB_LABEL, "lb-other");
    see_change(world, before);
}

static void show_foreign_status(struct world *world)
{
    const struct ccm_service *before = obj_service_copy(world->service);

    world->service->ingress_count = 0;
    obj_ingress(world->service, "1.2.3.4", "");
    see_change(world, before);
}

static void test_what_is_ours_on_the_service(void **state)
{
    static void (*const edits[])(struct world * world) = {
        clear_status, lose_finalizer, lose_hash, set_foreign_label, show_foreign_status,
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(edits); i++) {
        struct world world;

        world_begin(&world);
        world_steady(&world);
        run(&world);
        fake_host_advance(world.fake, 1000);

        const size_t enqueued = fake_host_enqueue_count(world.fake);
        const size_t patched = fake_host_patch_count(world.fake);

        edits[i](&world);
        assert_int_equal(fake_host_enqueue_count(world.fake), enqueued + 1);
        run(&world);
        assert_string_equal(mini_log(), LOOK);
        assert_true(fake_host_patch_count(world.fake) > patched);
        world_end(&world);
    }
}

static void test_cleared_status_of_a_lost_load_balancer(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    mini_delete_lb();
    annotate(&world, "example.com/note", "a");
    mini_reset_log();
    assert_true(world_run(&world) < 0);
    assert_non_null(strstr(world.err.message, "can not find loadbalancer, but it's defined in"));
    assert_null(find_event(&world, "EnsuredLoadBalancer"));
    clear_status(&world); /* not ten seconds later */
    run(&world);
    assert_non_null(strstr(mini_log(), "CreateLoadBalancer"));
    assert_non_null(find_event(&world, "EnsuredLoadBalancer"));
    world_end(&world);
}

/* Before a look nothing is written to a Service that somebody has cleared. */
static void test_cleared_status_in_between(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    annotate(&world, "example.com/note", "a");
    run(&world);
    see_own_writes(&world);
    run(&world);
    mini_delete_lb();
    clear_status(&world);

    const size_t patched = fake_host_patch_count(world.fake);

    run(&world);
    assert_string_equal(mini_log(), "");
    assert_int_equal(fake_host_patch_count(world.fake), patched);
    fake_host_advance(world.fake, LBC_LOOK_PAUSE_MS);
    run(&world);
    assert_non_null(strstr(mini_log(), "CreateLoadBalancer"));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_writes_are_no_edits),
        cmocka_unit_test(test_machines_read_nothing),
        cmocka_unit_test(test_once_in_ten_seconds),
        cmocka_unit_test(test_only_repairs_are_told),
        cmocka_unit_test(test_nothing_old_is_sent),
        cmocka_unit_test(test_what_is_ours_on_the_service),
        cmocka_unit_test(test_cleared_status_of_a_lost_load_balancer),
        cmocka_unit_test(test_cleared_status_in_between),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
