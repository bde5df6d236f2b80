/* A Service of which more is asked than can be read: it is told, stays as it is, and can go. */
#include "world.h"

#include <errno.h>
#include <string.h>

/* As the caches show it: without what there is too much of. */
static void make_large(struct world *world)
{
    world->service->meta.too_large = "ports: more than 1000 elements";
    world->service->port_count = 0;
    world_put(world);
}

static void test_told_and_left_alone(void **state)
{
    (void)state;
    for (int restart = 0; restart < 2; restart++) {
        struct world world;

        world_begin(&world);
        world_steady(&world);
        make_large(&world);
        if (restart == 1) {
            world_restart(&world);
        }
        assert_int_equal(world_run(&world), -EMSGSIZE);
        assert_int_equal(world.err.kind, CCM_ERROR_TERMINAL);
        assert_non_null(strstr(world_event(&world),
                               "SyncLoadBalancerFailed: Error syncing load balancer [" LB_ID
                               "]: the "
                               "Service is too large (ports: more than 1000 elements): its load "
                               "balancer stays as it is"));
        assert_string_equal(mini_log(), "");
        assert_non_null(strstr(mini_dump(), "tcp 80 running"));
        assert_non_null(strstr(mini_dump(), "tcp 443 running"));
        world_end(&world);
    }
}

/* Deleted, or of another type; by the process that made it, or by another one. */
static void test_goes(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        struct world world;

        world_begin(&world);
        world_steady(&world);
        make_large(&world);
        if (n % 2 == 1) {
            world_restart(&world);
        }
        if (n / 2 == 0) {
            world.service->meta.deleted_ms = 1;
        } else {
            world.service->type = "ClusterIP";
        }
        world_put(&world);
        assert_int_equal(world_run(&world), 0);
        assert_string_equal(mini_dump(), "");
        world_end(&world);
    }
}

/* One that was never made: nothing is written, not even a finalizer. */
static void test_new_one(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    make_large(&world);
    assert_int_equal(world_run(&world), -EMSGSIZE);
    assert_string_equal(mini_log(), "");
    assert_int_equal(fake_host_patch_count(world.fake), 0);
    world_end(&world);
}

/* Smaller again: it goes on. */
static void test_small_again(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    make_large(&world);
    assert_true(world_run(&world) < 0);
    world.service->meta.too_large = NULL;
    world.service->port_count = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "tcp 80 running"));
    assert_null(strstr(mini_dump(), "tcp 443"));
    world_end(&world);
}

/* A slice that is too large reads as empty, which is not what it is. */
static void test_large_slice(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.service->external_traffic_policy = "Local";
    world_put(&world);
    world_steady(&world);
    world.slice->meta.too_large = "endpoints: more than 10000 elements";
    world.slice->endpoint_count = 0;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "");
    assert_string_equal(world_event(&world),
                        "SkipSyncBackends: An EndpointSlice is too large to be read: the present "
                        "backends are kept");
    world_restart(&world);
    assert_int_equal(world_run(&world), 0);
    assert_null(strstr(mini_log(), "Remove"));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_and_left_alone),
        cmocka_unit_test(test_goes),
        cmocka_unit_test(test_new_one),
        cmocka_unit_test(test_small_again),
        cmocka_unit_test(test_large_slice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
