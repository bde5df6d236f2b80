/* Dry runs: the same reads, no write, and lines that say what would be done. */
#include "world.h"

#include "lbc/service/hash.h"

#include <string.h>

/* One pass that must not change anything; what it would do. */
static const char *plan_of(struct world *world)
{
    const size_t before = fake_host_plan_count(world->fake);
    const size_t patches = fake_host_patch_count(world->fake);

    fake_host_dry_run(world->fake, true);
    world_restart(world);
    mini_reset_log();
    assert_int_equal(world_run(world), 0);
    assert_int_equal(fake_host_plan_count(world->fake), before + 1);
    assert_int_equal(fake_host_patch_count(world->fake), patches);
    for (const char *word = mini_log(); word[0] != '\0'; word += strcspn(word, " ")) {
        word += strspn(word, " ");
        assert_true(strncmp(word, "Describe", 8) == 0);
    }
    assert_int_equal(world->requeue_ms, 0);
    /* One more pass, because something else was enqueued meanwhile, says the same. */
    assert_int_equal(world_run(world), 0);
    assert_string_equal(fake_host_plan(world->fake, before + 1)->steps,
                        fake_host_plan(world->fake, before)->steps);
    return fake_host_plan(world->fake, before)->steps;
}

static void expect(const char *plan, const char *line)
{
    if (strstr(plan, line) == NULL) {
        fail_msg("no line [%s] in:\n%s", line, plan);
    }
}

static void test_new(void **state)
{
    struct world world;
    const char *plan;

    (void)state;
    world_begin(&world);
    plan = plan_of(&world);
    expect(plan, "add finalizer " CLB_FINALIZER " to the Service\n");
    expect(plan, "create load balancer: LoadBalancerName " LB_NAME ", AddressType internet");
    expect(plan, "create server group");
    expect(plan, "[i-1:30080=100 i-2:30080=100]\n");
    expect(plan, "create listener 443/tcp");
    expect(plan, "set labels and status of the Service\n");
    assert_string_equal(mini_dump(), "");
    world_end(&world);
}

static void test_nothing(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    assert_string_equal(plan_of(&world), "");
    world_end(&world);
}

static void test_change(void **state)
{
    struct world world;
    const char *plan;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    obj_annotate(&world.service->meta, LBC_ANNO_PREFIX "scheduler", "wrr");
    obj_annotate(&world.service->meta, LBC_ANNO_PREFIX "name", "shop");
    obj_annotate(&world.service->meta, LBC_ANNO_PREFIX "default-weight", "50");
    world_put(&world);
    plan = plan_of(&world);
    expect(plan, "update listener 80/tcp");
    expect(plan, ": Scheduler rr -> wrr\n");
    expect(plan, "rename load balancer " LB_NAME " -> shop\n");
    expect(plan, "[i-1:30080=100->50 i-2:30080=100->50]\n");
    expect(plan, "set label " LBC_HASH_LABEL ": ");
    assert_null(strstr(plan, "set status"));
    world_end(&world);
}

static void test_deletion(void **state)
{
    struct world world;
    const char *plan;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    plan = plan_of(&world);
    expect(plan, "delete load balancer\n");
    expect(plan, "set status: " LB_IP " -> none\n");
    expect(plan, "remove finalizer " CLB_FINALIZER " from the Service\n");
    assert_string_not_equal(mini_dump(), "");
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_change),
        cmocka_unit_test(test_deletion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
