/* A load balancer that is gone: when it is looked for, and when another one is made. */
#include "world.h"

#include "lbc/instance.h"

#include <string.h>

#define PERIOD_MS 60000

static void world_begin_lost(struct world *world, const char *recreate)
{
    world_begin(world);
    fake_host_option(world->fake, NULL, "recreate_deleted", recreate);
    world_steady(world);
}

/* A pass that reads all; its result. */
static int world_look_for_lost(struct world *world)
{
    lbc_mirrors_ask(world->lbc.mirrors, "default/web");
    mini_reset_log();
    return world_run(world);
}

/* The look for all that are lost; when it comes again. */
static uint64_t look_for_all(struct world *world)
{
    const struct ccm_request req = { .struct_size = sizeof(req),
                                     .deadline_ms = fake_host_now(world->fake) + 60000 };
    struct ccm_result result = { .struct_size = sizeof(result) };

    mini_reset_log();
    assert_int_equal(lbc_lost_look(&world->lbc, &req, &result, &world->err), 0);
    return result.requeue_after_ms;
}

static const struct fake_enqueue *last_enqueue(struct world *world)
{
    return fake_host_enqueued(world->fake, fake_host_enqueue_count(world->fake) - 1);
}

/* A single answer is not believed: it has to be missing for a whole period. */
static void test_made_again(void **state)
{
    struct world world;

    (void)state;
    world_begin_lost(&world, "true");
    mini_delete_lb();
    assert_true(world_look_for_lost(&world) < 0);
    assert_non_null(strstr(world.err.message, "should it be missing still"));
    assert_null(strstr(mini_log(), "Create"));
    assert_string_equal(last_enqueue(&world)->key, LBC_LOST_KEY);
    assert_int_equal(last_enqueue(&world)->delay_ms, PERIOD_MS);
    fake_host_advance(world.fake, PERIOD_MS - 1);
    assert_true(world_look_for_lost(&world) < 0);
    assert_null(strstr(mini_log(), "Create"));
    fake_host_advance(world.fake, 1);
    assert_int_equal(look_for_all(&world), PERIOD_MS);
    assert_string_equal(mini_log(), "DescribeLoadBalancers");
    assert_string_equal(last_enqueue(&world)->key, "default/web");
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_log(), "CreateLoadBalancer"));
    assert_int_equal(look_for_all(&world), 0);
    assert_string_equal(mini_log(), "");
    world_end(&world);
}

static void test_not_without_the_option(void **state)
{
    struct world world;

    (void)state;
    world_begin_lost(&world, "false");
    mini_delete_lb();
    assert_true(world_look_for_lost(&world) < 0);

    for (int i = 0; i < 10; i++) {
        const size_t enqueued = fake_host_enqueue_count(world.fake);

        fake_host_advance(world.fake, PERIOD_MS);
        assert_int_equal(look_for_all(&world), PERIOD_MS);
        assert_string_equal(mini_log(), "DescribeLoadBalancers");
        assert_int_equal(fake_host_enqueue_count(world.fake), enqueued);
    }
    assert_true(world_look_for_lost(&world) < 0);
    assert_null(strstr(mini_log(), "Create"));
    world_end(&world);
}

/* It is there, so nobody makes another one. */
static void test_tag_comes_back(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    fake_host_option(world.fake, NULL, "recreate_deleted", "true");
    obj_annotate(&world.service->meta, P "name", "mine");
    world_steady(&world);
    mini_tag("kubernetes.do.not.delete", NULL);
    assert_true(world_look_for_lost(&world) < 0);
    assert_non_null(strstr(world.err.message, "has lost its tag"));
    for (int i = 0; i < 3; i++) {
        fake_host_advance(world.fake, PERIOD_MS);
        assert_int_equal(look_for_all(&world), PERIOD_MS);
        assert_true(world_look_for_lost(&world) < 0);
        assert_null(strstr(mini_log(), "Create"));
    }
    mini_tag("kubernetes.do.not.delete", LB_NAME);
    assert_int_equal(look_for_all(&world), 0);
    assert_string_equal(last_enqueue(&world)->key, "default/web");
    assert_int_equal(world_look_for_lost(&world), 0);
    assert_string_equal(mini_writes(), "");
    world_end(&world);
}

/* What is not allowed to be made is not made again either. */
static void test_no_public_one(void **state)
{
    struct world world;

    (void)state;
    world_begin_lost(&world, "true");
    world.lbc.disable_public = true;
    mini_delete_lb();
    assert_true(world_look_for_lost(&world) < 0);
    fake_host_advance(world.fake, PERIOD_MS);
    assert_int_equal(look_for_all(&world), PERIOD_MS);
    assert_true(world_run(&world) < 0);
    assert_non_null(strstr(world.err.message, "create public address slb is not allowed"));
    assert_null(strstr(mini_log(), "Create"));
    world_end(&world);
}

/* An answer that never came proves nothing. */
static void test_not_known(void **state)
{
    const struct mini_fault fault = { .action = "DescribeLoadBalancerAttribute",
                                      .times = 2,
                                      .code = "ServiceUnavailable",
                                      .kind = CCM_ERROR_TRANSIENT,
                                      .http = 503 };
    struct world world;

    (void)state;
    world_begin_lost(&world, "true");
    mini_delete_lb();
    mini_fail(&fault);
    assert_true(world_look_for_lost(&world) < 0);
    fake_host_advance(world.fake, PERIOD_MS);
    assert_true(world_look_for_lost(&world) < 0);
    assert_null(strstr(mini_log(), "Create"));
    assert_non_null(strstr(world.err.message, "find loadbalancer by id error"));
    assert_int_equal(world.err.kind, CCM_ERROR_TRANSIENT);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_again),     cmocka_unit_test(test_not_without_the_option),
        cmocka_unit_test(test_tag_comes_back), cmocka_unit_test(test_no_public_one),
        cmocka_unit_test(test_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
