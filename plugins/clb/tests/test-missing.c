/* Whole passes when nodes are missing or not ready: who stays, who is asked, when it goes on. */
#include "world.h"

#include "lbc/freeze_pass.h"

#include <errno.h>
#include <string.h>

#define G80    "k8s/30080/web/default/" MINI_CLUSTER
#define ADD    "AddVServerGroupBackendServers"
#define REMOVE "RemoveVServerGroupBackendServers"
#define ASK    "DescribeInstances"
#define WINDOW 300000

/* Of one port, with four nodes. */
static void four_nodes(struct world *world)
{
    world_begin(world);
    world->service->port_count = 1;
    world_add_node(world, "n3", "cn-hangzhou.i-3");
    world_add_node(world, "n4", "cn-hangzhou.i-4");
    world_put(world);
    world_steady(world);
}

static void turn(struct world *world, const char *name, const char *id, bool ready)
{
    struct ccm_node *node = obj_node(name, id);

    node->ready = ready ? CCM_CONDITION_TRUE : CCM_CONDITION_UNKNOWN;
    fake_host_put(world->fake, &node->meta);
}

static void run(struct world *world, const char *log)
{
    mini_reset_log();
    assert_int_equal(world_run(world), 0);
    assert_string_equal(mini_log(), log);
}

static bool is_enqueued(const struct world *world, size_t from, uint64_t least, uint64_t most)
{
    for (size_t i = from; i < fake_host_enqueue_count(world->fake); i++) {
        const struct fake_enqueue *one = fake_host_enqueued(world->fake, i);

        if (strcmp(one->key, "default/web") == 0 && one->delay_ms >= least &&
            one->delay_ms <= most) {
            return true;
        }
    }
    return false;
}

/* Beyond the share the cloud is asked, once; whom it does not have goes. */
static void test_deleted_in_number(void **state)
{
    struct world world;
    size_t queued = 0;

    (void)state;
    four_nodes(&world);
    mini_instance_gone("i-4");
    for (int i = 2; i <= 4; i++) {
        const char name[] = { 'n', (char)('0' + i), '\0' };

        world_delete_node(&world, name);
    }
    queued = fake_host_enqueue_count(world.fake);
    run(&world, ASK " " REMOVE);
    assert_non_null(strstr(mini_dump(), "group " G80 " i-1:30080=100\n"));
    assert_null(strstr(mini_dump(), "i-4"));
    assert_null(fake_host_held(world.fake, "default/web"));
    assert_false(is_enqueued(&world, queued, 1, UINT64_MAX));
    world_end(&world);
}

/* One that cannot be asked about stays, and comes again by itself. */
static void test_not_asked(void **state)
{
    struct world world;
    size_t queued = 0;

    (void)state;
    four_nodes(&world);
    mini_instances_fail(-EIO);
    world_delete_node(&world, "n2");
    world_delete_node(&world, "n3");
    world_delete_node(&world, "n4");
    queued = fake_host_enqueue_count(world.fake);
    run(&world, ASK " " REMOVE);
    assert_non_null(strstr(mini_dump(), "group " G80 " i-1:30080=100 i-4:30080=100\n"));
    assert_non_null(strstr(fake_host_held(world.fake, "default/web"), "1: nodes missing: n4"));
    assert_true(is_enqueued(&world, queued, 1, 30000));
    fake_host_advance(world.fake, WINDOW);
    run(&world, REMOVE);
    assert_null(fake_host_held(world.fake, "default/web"));
    world_end(&world);
}

/* Somebody else is asking, or has asked in vain: it comes again soon, or as late as that one. */
static void test_others_ask(void **state)
{
    static const struct {
        int r;
        uint64_t least;
        uint64_t most;
    } rows[] = { { -EAGAIN, 1000, 1000 }, { -EBUSY, 30000, 30000 } };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct world world;
        size_t queued = 0;

        four_nodes(&world);
        mini_instances_fail(rows[i].r);
        world_delete_node(&world, "n2");
        world_delete_node(&world, "n3");
        world_delete_node(&world, "n4");
        queued = fake_host_enqueue_count(world.fake);
        run(&world, ASK " " REMOVE);
        assert_non_null(fake_host_held(world.fake, "default/web"));
        assert_true(is_enqueued(&world, queued, rows[i].least, rows[i].most));
        assert_null(strstr(fake_host_log_text(world.fake), "is not known"));
        world_end(&world);
    }
}

/* Missing after a list: a second look later, on a server that is the same all the while. */
static void test_missing(void **state)
{
    struct world world;
    size_t queued = 0;

    (void)state;
    four_nodes(&world);
    world_lose_node(&world, "n4");
    queued = fake_host_enqueue_count(world.fake);
    run(&world, "");
    assert_true(is_enqueued(&world, queued, WINDOW, WINDOW));
    assert_non_null(strstr(world_event(&world), "BackendsFrozen: 1 backend(s) are kept as they are "
                                                "(nodes missing: n4); next look at 2026-"));
    fake_host_advance(world.fake, WINDOW - 1000);
    fake_host_server_since(world.fake, fake_host_now(world.fake));
    fake_host_advance(world.fake, 1000);
    queued = fake_host_enqueue_count(world.fake);
    run(&world, "");
    assert_true(is_enqueued(&world, queued, WINDOW - 1000, WINDOW - 1000));
    assert_null(world_event(&world));
    fake_host_advance(world.fake, WINDOW);
    run(&world, REMOVE);
    assert_non_null(strstr(world_event(&world), "BackendsReleased"));
    world_end(&world);
}

/* A person says that they may go. */
static void test_allow_removals(void **state)
{
    struct world world;
    size_t queued = 0;

    (void)state;
    four_nodes(&world);
    turn(&world, "n1", "cn-hangzhou.i-1", false);
    turn(&world, "n2", "cn-hangzhou.i-2", false);
    turn(&world, "n3", "cn-hangzhou.i-3", false);
    world_lose_node(&world, "n4");
    run(&world, "");
    assert_non_null(strstr(world_event(&world),
                           "4 backend(s) are kept as they are (nodes NotReady: n1, n2, n3; nodes "
                           "missing: n4); "));
    queued = fake_host_enqueue_count(world.fake);
    assert_int_equal(lbc_freeze_release(&world.lbc), WINDOW);
    assert_true(is_enqueued(&world, queued, 0, 0));
    run(&world, REMOVE);
    assert_null(strstr(mini_dump(), "i-"));
    /* For one window. */
    fake_host_advance(world.fake, WINDOW);
    turn(&world, "n1", "cn-hangzhou.i-1", true);
    run(&world, ADD);
    turn(&world, "n1", "cn-hangzhou.i-1", false);
    run(&world, "");
    world_end(&world);
}

/* A removal that the cloud refused has taken nothing away: it is not the floor that keeps it. */
static void test_refused_removal(void **state)
{
    const struct mini_fault fault = {
        .action = REMOVE, .code = "InternalError", .kind = CCM_ERROR_TRANSIENT, .http = 500
    };
    struct world world;

    (void)state;
    four_nodes(&world);
    mini_fail(&fault);
    turn(&world, "n3", "cn-hangzhou.i-3", false);
    turn(&world, "n4", "cn-hangzhou.i-4", false);
    assert_true(world_run(&world) < 0);
    world_converge(&world);
    assert_non_null(strstr(mini_dump(), "group " G80 " i-1:30080=100 i-2:30080=100\n"));
    assert_null(fake_host_held(world.fake, "default/web"));
    world_end(&world);
}

/* What is frozen is neither weighed nor described anew, and what somebody took away not put back.
 */
static void test_left_alone(void **state)
{
    struct world world;

    (void)state;
    four_nodes(&world);
    mini_set_weight("i-4", 7);
    world_lose_node(&world, "n4");
    world_restart(&world);
    world_add_node(&world, "n5", "cn-hangzhou.i-5");
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "i-4:30080=7 i-5:30080=100"));
    assert_null(strstr(mini_log(), "SetVServerGroupAttribute"));
    world_end(&world);
}

/* A Service that goes holds nothing any more. */
static void test_service_goes(void **state)
{
    struct world world;

    (void)state;
    four_nodes(&world);
    world_lose_node(&world, "n4");
    run(&world, "");
    assert_non_null(fake_host_held(world.fake, "default/web"));
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_null(fake_host_held(world.fake, "default/web"));
    world_end(&world);
}

/* Nor does one that has taken its place, unseen: somebody took its finalizer away. */
static void test_another_service(void **state)
{
    struct world world;

    (void)state;
    four_nodes(&world);
    world_lose_node(&world, "n4");
    run(&world, "");
    assert_non_null(fake_host_held(world.fake, "default/web"));
    world.service->meta.uid = "b5e4dbfc-9c2a-4e64-b033-5607860aef6b";
    world.service->meta.finalizer_count = 0;
    world.service->meta.label_count = 0;
    world.service->ingress_count = 0;
    world_put(&world);
    world_converge(&world);
    assert_null(fake_host_held(world.fake, "default/web"));
    world_end(&world);
}

/* A dry run changes nothing and holds nothing; the backend that stays is no step of its plan. */
static void test_dry_run(void **state)
{
    struct world world;

    (void)state;
    four_nodes(&world);
    world_lose_node(&world, "n4");
    fake_host_dry_run(world.fake, true);
    world_restart(&world);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_null(strstr(mini_log(), REMOVE));
    assert_string_equal(fake_host_plan(world.fake, 0)->steps, "");
    assert_null(fake_host_held(world.fake, "default/web"));
    world_end(&world);
}

/* A pod that a slice names stays a backend while its interface is not known; what no slice names
 * goes, unless most are not known. */
static void test_lost_eni(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    obj_annotate(&world.service->meta, LBC_BACKEND_TYPE_KEY, "eni");
    obj_endpoint(world.slice, "10.1.0.9", "n2", READY);
    world_steady(&world);
    mini_eni_missing("10.1.0.2");
    obj_endpoint(world.slice, "10.1.0.7", "n2", READY);
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_string_equal(mini_log(), ADD " " ADD);
    assert_non_null(strstr(mini_dump(), "10.1.0.2"));
    mini_eni_missing("10.1.0.1");
    world.slice->endpoint_count = 1;
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_string_equal(mini_log(), ADD " " ADD);
    assert_non_null(strstr(mini_dump(), "10.1.0.9"));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_eni),        cmocka_unit_test(test_deleted_in_number),
        cmocka_unit_test(test_not_asked),       cmocka_unit_test(test_others_ask),
        cmocka_unit_test(test_missing),         cmocka_unit_test(test_allow_removals),
        cmocka_unit_test(test_refused_removal), cmocka_unit_test(test_left_alone),
        cmocka_unit_test(test_service_goes),    cmocka_unit_test(test_another_service),
        cmocka_unit_test(test_dry_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
