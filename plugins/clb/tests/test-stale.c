/* Passes that go by a snapshot which is older than what we have just written to the Service. */
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

static void test_added_once(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(patches(&world, ADDS), 1);
    assert_in_range(world.requeue_ms, 1, LATER);
    /* Somebody has taken it away. */
    world_settle(&world);
    world.service->meta.finalizer_count = 0;
    world_put(&world);
    fake_host_advance(world.fake, LATER);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(patches(&world, ADDS), 2);
    world_end(&world);
}

/* Ours again before the cache shows that the finalizer is gone: without it the load balancer would
 * outlive the Service. */
static void test_type_there_and_back(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);

    const size_t added = patches(&world, ADDS);

    turn(&world, "ClusterIP");
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(patches(&world, REMOVES), 1);
    turn(&world, "LoadBalancer");
    (void)world_run(&world); /* the status of the snapshot may make it refuse to create */
    assert_int_equal(patches(&world, ADDS), added + 1);
    world_end(&world);
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

/* While it is being deleted nothing is written twice, unless it does not go away. */
static void test_released_once(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);

    const size_t count = fake_host_patch_count(world.fake);

    assert_int_equal(world_run(&world), 0);
    assert_int_equal(fake_host_patch_count(world.fake), count);
    assert_in_range(world.requeue_ms, 1, LATER);
    fake_host_advance(world.fake, LATER);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(patches(&world, REMOVES), 2);
    world_end(&world);
}

/* What the type before it had written is not what the next one finds. */
static void test_status_of_a_late_write(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    assert_int_equal(world_run(&world), 0);
    /* Changed before our status was written, which the cache does not show yet. */
    obj_finalizer(&world.service->meta, CLB_FINALIZER);
    turn(&world, "ClusterIP");
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(patches(&world, "\"ingress\":null"), 1);
    assert_int_equal(patches(&world, LBC_LIFE_LB_LABEL "\":null"), 1);
    world_end(&world);
}

static void change(struct world *world, const char *hostname, const char *interval)
{
    obj_annotate(&world->service->meta, P "hostname", hostname);
    obj_annotate(&world->service->meta, P "health-check-interval", interval);
    world_put(world);
    assert_int_equal(world_run(world), 0);
}

/* What is amiss in a snapshot from before our last write is not all that is amiss. */
static void test_state_of_an_older_snapshot(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);

    const size_t ips = patches(&world, "\"ingress\":[{\"ip\"");

    change(&world, "web.example.com", "5"); /* the snapshot keeps label and status as they were */
    assert_int_equal(patches(&world, "\"hostname\":\"web.example.com\""), 1);
    change(&world, NULL, "6");
    assert_int_equal(patches(&world, "\"ingress\":[{\"ip\""), ips + 1);
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

/* A success right after a failure goes by a snapshot from before the failure was told. */
static void test_condition_turns_back(void **state)
{
    struct world world;
    const struct ccm_condition ready = { LBC_LIFE_CONDITION, "True", "Ready",
                                         "Load balancer [lb-1] is as wanted", 0 };
    const struct ccm_condition *const all[] = { &ready };

    (void)state;
    world_begin(&world);
    atomic_store(&world.lbc.conditions, true);
    world_steady(&world);
    world.service->conditions = all;
    world.service->condition_count = 1;
    obj_port(world.service, "bad", "SCTP", 90, "9090", 30090);
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_int_equal(patches(&world, "\"status\":\"False\""), 1);

    const size_t good = patches(&world, "\"status\":\"True\"");

    world.service->port_count--;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(patches(&world, "\"status\":\"True\""), good + 1);
    assert_non_null(strstr(fake_host_patch(world.fake, fake_host_patch_count(world.fake) - 1)->body,
                           "\"lastTransitionTime\""));
    world.service->conditions = NULL;
    world.service->condition_count = 0;
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
        cmocka_unit_test(test_added_once),
        cmocka_unit_test(test_type_there_and_back),
        cmocka_unit_test(test_deleted_after_all),
        cmocka_unit_test(test_deleted_after_failure),
        cmocka_unit_test(test_released_once),
        cmocka_unit_test(test_status_of_a_late_write),
        cmocka_unit_test(test_state_of_an_older_snapshot),
        cmocka_unit_test(test_hash_comes_and_goes),
        cmocka_unit_test(test_condition_turns_back),
        cmocka_unit_test(test_made_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
