/* Passes of a Service that changes hands, type and finalizer again and again. */
#include "world.h"

#include "lbc/service/conditions.h"

#include <errno.h>
#include <string.h>

#define ADDS    "\"finalizers\":[\""
#define REMOVES "$deleteFromPrimitiveList/finalizers"
#define LATER   1000 /* ms; no cache lags behind so long */

/* Patches with that text. */
static size_t patches(const struct world *world, const char *text)
{
    size_t count = 0;

    for (size_t i = 0; i < fake_host_patch_count(world->fake); i++) {
        count += strstr(fake_host_patch(world->fake, i)->body, text) != NULL;
    }
    return count;
}

static void turn(struct world *world, const char *type)
{
    world->service->type = type;
    world_put(world);
}

/* The finalizer came back after we were done with the Service, and only then it was deleted. */
static void test_deleted_after_all(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    turn(&world, "ClusterIP");
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(patches(&world, REMOVES), 1);
    fake_host_advance(world.fake, LATER);
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(patches(&world, REMOVES), 2);
    world_end(&world);
}

/* A pass that took on the Service again and failed early: its deletion finds nothing in the cloud,
 * but the finalizer is there. */
static void test_deleted_after_failure(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    turn(&world, "ClusterIP");
    assert_int_equal(world_run(&world), 0);
    world_settle(&world);
    fake_host_advance(world.fake, LATER);
    fake_host_patch_result(world.fake, -EIO, CCM_ERROR_TRANSIENT); /* made, and the answer lost */
    turn(&world, "LoadBalancer");
    assert_true(world_run(&world) < 0);
    fake_host_patch_result(world.fake, 0, CCM_ERROR_NONE);
    obj_finalizer(&world.service->meta, CLB_FINALIZER);
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(patches(&world, REMOVES), 2);
    world_end(&world);
}

/* The cache of a new leader is older than a change back: what serves again is not deleted. */
static void test_wanted_again(void **state)
{
    struct ccm_service now;
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    turn(&world, "ClusterIP");
    now = *world.service;
    now.type = "LoadBalancer";
    now.meta.resource_version = "later";
    fake_host_put_live(world.fake, &now.meta);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_writes(), "");
    assert_int_equal(world.requeue_ms, 1000);
    assert_null(world_event(&world));
    fake_host_put_live(world.fake, &world.service->meta); /* it was not changed back */
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_writes(), "DeleteLoadBalancer"));
    world_end(&world);
}

/* A first conflict is repeated at once: it is no verdict on the Service. */
static void test_first_conflict_is_no_failure(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    atomic_store(&world.lbc.conditions, true);
    obj_annotate(&world.service->meta, P "name", "front");
    world_put(&world);
    fake_host_patch_result(world.fake, -EBUSY, CCM_ERROR_CONFLICT);
    assert_true(world_run(&world) < 0);
    assert_int_equal(patches(&world, "\"status\":\"False\""), 0);
    assert_null(world_event(&world));
    fake_host_patch_result(world.fake, 0, CCM_ERROR_NONE);
    assert_int_equal(world_run(&world), 0);
    world_end(&world);
}

/* The API server's conflict and the cloud's have nothing to do with each other: the first one of
 * each is repeated, and no event tells of it. */
static void test_first_conflict_of_each(void **state)
{
    const struct mini_fault busy = { .action = "CreateVServerGroup",
                                     .code = "BackendServer.configuring",
                                     .kind = CCM_ERROR_CONFLICT,
                                     .http = 409 };
    struct world world;
    const char *event;

    (void)state;
    world_begin(&world);
    obj_finalizer(&world.service->meta, CLB_FINALIZER);
    world_put(&world);
    fake_host_patch_result(world.fake, -EBUSY, CCM_ERROR_CONFLICT);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_writes(), "");
    fake_host_patch_result(world.fake, 0, CCM_ERROR_NONE);
    mini_fail(&busy);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(world_run(&world), 0);
    while ((event = world_event(&world)) != NULL) {
        assert_null(strstr(event, "Failed"));
    }
    assert_non_null(strstr(mini_dump(), "i-1:30080"));
    world_end(&world);
}

/* A port that works and does not in turn is no reason to write the addresses again and again. */
static void test_hash_comes_and_goes(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);

    const size_t count = fake_host_patch_count(world.fake);

    for (int i = 0; i < 3; i++) {
        obj_port(world.service, "bad", "SCTP", 90, "9090", 30090);
        world_put(&world);
        assert_true(world_run(&world) < 0);
        world.service->port_count--;
        world_put(&world);
        assert_int_equal(world_run(&world), 0);
    }
    assert_int_equal(fake_host_patch_count(world.fake), count);
    world_end(&world);
}

static void edit_name(struct world *world, const char *name)
{
    obj_annotate(&world->service->meta, P "name", name);
    world_put(world);
    mini_reset_log();
    assert_int_equal(world_run(world), 0);
}

/* One that never rests waits between its passes, and what it wants last is done. Its end does not
 * wait. */
static void test_never_rests(void **state)
{
    struct world world;
    size_t written = 0;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    for (int i = 0; i < 30; i++) {
        edit_name(&world, i % 2 == 0 ? "front" : "back");
        written += strstr(mini_writes(), "SetLoadBalancerName") != NULL;
    }
    assert_int_equal(written, 9); /* and the creation */
    assert_true(world.flags == CCM_RESULT_WAITS);
    assert_in_range(world.requeue_ms, 1, 3000);
    fake_host_advance(world.fake, (int64_t)world.requeue_ms);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_writes(), "SetLoadBalancerName"));
    assert_string_equal(mini_last("SetLoadBalancerName", "LoadBalancerName"), "back");
    edit_name(&world, "front");
    assert_null(strstr(mini_writes(), "SetLoadBalancerName"));
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_writes(), "DeleteLoadBalancer"));
    world_end(&world);
}

/* Another Service of the same name has nothing to do with what was written to the one before. */
static void test_made_anew(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    assert_int_equal(world_run(&world), 0);
    world.service->meta.uid = "another";
    world_put(&world);
    (void)world_run(&world); /* whatever the cloud says about the old load balancer */
    assert_int_equal(patches(&world, ADDS), 2);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deleted_after_all),
        cmocka_unit_test(test_deleted_after_failure),
        cmocka_unit_test(test_wanted_again),
        cmocka_unit_test(test_first_conflict_is_no_failure),
        cmocka_unit_test(test_first_conflict_of_each),
        cmocka_unit_test(test_hash_comes_and_goes),
        cmocka_unit_test(test_never_rests),
        cmocka_unit_test(test_made_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
