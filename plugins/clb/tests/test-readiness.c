/* Pods whose readiness waits for us. */
#include "world.h"

#include "lbc/model/candidate.h"
#include "lbc/service/readiness.h"
#include "util/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define GATE LBC_READINESS_PREFIX "web"

static const char *const gates[] = { GATE };
static struct ccm_condition containers = { .type = "ContainersReady", .status = "False" };
static struct ccm_condition ours = { .type = GATE, .status = "True" };
static const struct ccm_condition *const conditions[] = { &containers, &ours };
static struct ccm_pod pod;

/* Service in ENI mode with one ready pod, and pod p3 at 10.1.0.3, which is not ready. */
static void fixture_begin(struct world *world, bool gated)
{
    containers.status = "False";
    ours.reason = "ServerRegistered";
    pod = (struct ccm_pod){
        .meta = { .struct_size = sizeof(pod),
                  .kind = CCM_KIND_POD,
                  .key = "default/p3",
                  .namespace_ = "default",
                  .name = "p3",
                  .uid = "u3",
                  .resource_version = "1" },
        .readiness_gates = gates,
        .readiness_gate_count = gated ? 1 : 0,
        .conditions = conditions,
        .condition_count = 1,
    };
    world_begin(world);
    world->service->port_count = 1;
    world->slice->endpoint_count = 1;
    obj_endpoint(world->slice, "10.1.0.3", "n2", 0);
    ((struct ccm_endpoint *)(uintptr_t)world->slice->endpoints[1])->pod_name = "p3";
    obj_annotate(&world->service->meta, LBC_BACKEND_TYPE_KEY, "eni");
    fake_host_put(world->fake, &pod.meta);
    world_put(world);
}

static void test_gate(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, true);
    assert_int_equal(world_run(&world), 0);
    assert_null(strstr(mini_dump(), "10.1.0.3"));
    assert_int_equal(world.requeue_ms, 10000);
    world_settle(&world);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(world.requeue_ms, 20000);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(world_run(&world), 0);
    }
    assert_int_equal(world.requeue_ms, 320000);
    world_settle(&world);
    containers.status = "True";

    const size_t patches = fake_host_patch_count(world.fake);

    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "eni-10.1.0.3/10.1.0.3:8080=100"));
    assert_int_equal(world.requeue_ms, 0);
    assert_int_equal(fake_host_patch_count(world.fake), patches + 1);

    const struct fake_patch *patch = fake_host_patch(world.fake, patches);

    assert_int_equal(patch->type, CCM_PATCH_STRATEGIC);
    assert_string_equal(patch->subresource, "status");
    assert_non_null(strstr(patch->body, "\"uid\":\"u3\""));
    assert_non_null(strstr(patch->body, "\"type\":\"" GATE "\",\"status\":\"True\",\"reason\":"
                                        "\"ServerRegistered\""));
    /* Said once. */
    pod.condition_count = 2;
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(fake_host_patch_count(world.fake), patches + 1);
    world_end(&world);
}

/* The state of a listener in the cloud holds no pod up, and its next read comes as soon. */
static void test_listener_in_between(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, true);
    world_steady(&world);
    world_restart(&world);
    mini_set_listener_status(80, "configuring");
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(world.requeue_ms, 5000);
    containers.status = "True";

    const size_t patches = fake_host_patch_count(world.fake);

    assert_int_equal(world_run(&world), 0);
    assert_int_equal(fake_host_patch_count(world.fake), patches + 1);
    assert_non_null(strstr(fake_host_patch(world.fake, patches)->body, "\"uid\":\"u3\""));
    world_end(&world);
}

static void test_without_interface(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, true);
    containers.status = "True";
    mini_eni_missing("10.1.0.3");
    assert_true(world_run(&world) < 0);

    bool found = false;

    for (size_t i = 0; i < fake_host_patch_count(world.fake); i++) {
        const char *body = fake_host_patch(world.fake, i)->body;

        found = found || strstr(body, "\"status\":\"False\",\"reason\":\"ServerInvalidServer\"");
    }
    assert_true(found);
    world_end(&world);
}

/* A pod that does not name us is asked for once, and ignored. */
static void test_no_gate(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, false);
    containers.status = "True";
    assert_int_equal(world_run(&world), 0);
    world_settle(&world);
    assert_int_equal(world_run(&world), 0);
    assert_null(strstr(mini_dump(), "10.1.0.3"));
    assert_int_equal(world.requeue_ms, 0);
    assert_int_equal(fake_host_fetch_count(world.fake), 1);
    world_end(&world);
}

/* One that does not exist is asked for again when its slice changes, and not before: a slice that
 * somebody wrote by hand may name any. */
static void test_no_such_pod(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, true);
    fake_host_remove(world.fake, CCM_KIND_POD, "default/p3");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(world_run(&world), 0);
        assert_int_equal(fake_host_fetch_count(world.fake), 1);
        assert_int_equal(world.requeue_ms, 0);
        world_settle(&world);
    }
    world.slice->meta.resource_version = "another";
    fake_host_put(world.fake, &pod.meta);
    containers.status = "True";
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(fake_host_fetch_count(world.fake), 2);
    assert_non_null(strstr(mini_dump(), "10.1.0.3"));
    world_end(&world);
}

static void test_told_failure(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, true);
    assert_int_equal(world_run(&world), 0);
    world_settle(&world);
    containers.status = "True";
    world.events = fake_host_event_count(world.fake); /* those of the creation */
    fake_host_patch_result(world.fake, -EIO, CCM_ERROR_TRANSIENT);
    assert_true(world_run(&world) < 0);
    assert_non_null(strstr(world_event(&world), "FailedUpdateReadinessGate: Error updating pod"));
    world_end(&world);
}

/* The slice calls it ready. */
static void begin_ready(struct world *world, bool gated)
{
    fixture_begin(world, gated);
    ((struct ccm_endpoint *)(uintptr_t)world->slice->endpoints[1])->flags = CCM_ENDPOINT_READY;
    world_put(world);
}

/* How often the pod was told this. */
static size_t count_events(const struct world *world, const char *reason)
{
    size_t count = 0;

    for (size_t i = 0; i < fake_host_patch_count(world->fake); i++) {
        const char *body = fake_host_patch(world->fake, i)->body;

        count += strstr(body, "\"uid\":\"u3\"") != NULL && strstr(body, reason) != NULL;
    }
    return count;
}

/* By definition it knows already. */
static void test_ready(void **state)
{
    struct world world;

    (void)state;
    begin_ready(&world, true);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(fake_host_fetch_count(world.fake), 0);
    assert_int_equal(count_events(&world, "ServerRegistered"), 0);
    world_end(&world);
}

/* ... unless the Service says that everything is to be called ready. */
static void test_published_not_ready(void **state)
{
    static const bool cases[] = { true, false };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world world;

        begin_ready(&world, cases[i]);
        world.service->publish_not_ready_addresses = 1;
        world_put(&world);
        for (int n = 0; n < 3; n++) {
            assert_int_equal(world_run(&world), 0);
        }
        assert_int_equal(fake_host_fetch_count(world.fake), 1);
        assert_int_equal(count_events(&world, "ServerRegistered"), cases[i] ? 1 : 0);
        world_end(&world);
    }
}

/* Nor is a pod that does not exist asked for again before its slice changes. */
static void test_published_without_pod(void **state)
{
    struct world world;

    (void)state;
    begin_ready(&world, true);
    fake_host_remove(world.fake, CCM_KIND_POD, "default/p3");
    world.service->publish_not_ready_addresses = 1;
    world_put(&world);
    for (int n = 0; n < 3; n++) {
        assert_int_equal(world_run(&world), 0);
        assert_int_equal(fake_host_fetch_count(world.fake), 1);
    }
    fake_host_put(world.fake, &pod.meta);
    world.slice->meta.resource_version = "another";
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(count_events(&world, "ServerRegistered"), 1);
    world_end(&world);
}

/* It loses its interface, and has it again. */
static void test_ready_without_interface(void **state)
{
    struct world world;

    (void)state;
    begin_ready(&world, true);
    world.service->publish_not_ready_addresses = 1;
    world_put(&world);
    mini_eni_missing("10.1.0.3");
    assert_true(world_run(&world) < 0);
    assert_true(world_run(&world) < 0);
    assert_int_equal(fake_host_fetch_count(world.fake), 1);
    assert_int_equal(count_events(&world, "ServerInvalidServer"), 1);
    mini_eni_missing("");
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(count_events(&world, "ServerRegistered"), 1);
    world_end(&world);
}

/* --- more pods than one pass looks at --- */

#define MANY 120

static char many_names[MANY][8];
static char many_keys[MANY][16];
static struct ccm_pod many_pods[MANY];

/* MANY endpoints in front of p3 whose pods do not exist; gated: they do, and wait. */
static void begin_many(struct world *world, uint64_t flags, bool gated)
{
    fixture_begin(world, true);

    const struct ccm_endpoint **endpoints;
    const struct ccm_endpoint *p3 = world->slice->endpoints[1];

    for (int i = 0; i < MANY; i++) {
        char text[32];

        ccm_text_printf(many_names[i], sizeof(many_names[i]), "q%d", i);
        ccm_text_printf(text, sizeof(text), "10.2.0.%d", i);
        obj_endpoint(world->slice, text, "n2", flags);
        endpoints = (const struct ccm_endpoint **)(uintptr_t)world->slice->endpoints;
        ((struct ccm_endpoint *)(uintptr_t)endpoints[i + 2])->pod_name = many_names[i];
        endpoints[i + 1] = endpoints[i + 2];
        endpoints[i + 2] = p3;
        if (gated) {
            ccm_text_printf(many_keys[i], sizeof(many_keys[i]), "default/%s", many_names[i]);
            many_pods[i] = pod;
            many_pods[i].meta.key = many_keys[i];
            many_pods[i].meta.name = many_names[i];
            many_pods[i].meta.uid = many_names[i];
            fake_host_put(world->fake, &many_pods[i].meta);
        }
    }
    world_put(world);
}

/* Passes until one is not put off; how many there were. Each looks at 50 pods at most. */
static size_t run_turns(struct world *world)
{
    size_t passes = 0;

    do {
        const size_t before = fake_host_fetch_count(world->fake);

        assert_int_equal(world_run(world), 0);
        assert_true(fake_host_fetch_count(world->fake) - before <= 50);
        assert_true(++passes < 10);
    } while (world->flags != 0);
    return passes;
}

/* Nothing is changed before all were looked at: not in the cloud, and no pod is told. */
static void test_turns(void **state)
{
    struct world world;

    (void)state;
    begin_many(&world, 0, false);
    containers.status = "True";
    assert_int_equal(run_turns(&world), 3);
    assert_int_equal(fake_host_fetch_count(world.fake), MANY + 1);
    assert_non_null(strstr(mini_dump(), "eni-10.1.0.3/10.1.0.3:8080=100"));
    assert_int_equal(count_events(&world, "ServerRegistered"), 1);
    world_settle(&world);
    pod.condition_count = 2;
    assert_int_equal(run_turns(&world), 1); /* those that do not exist are known */
    assert_int_equal(fake_host_fetch_count(world.fake), MANY + 2);

    const size_t patches = fake_host_patch_count(world.fake);

    world_restart(&world);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(world.flags, CCM_RESULT_WAITS);
    assert_int_equal(world.requeue_ms, 1);
    assert_string_equal(mini_log(), "");
    assert_int_equal(run_turns(&world), 2);
    assert_string_equal(mini_writes(), "");
    assert_non_null(strstr(mini_dump(), "10.1.0.3"));
    assert_int_equal(fake_host_patch_count(world.fake), patches);
    world_end(&world);
}

/* What was seen for a pass that came to nothing is not believed later. */
static void test_turns_broken_off(void **state)
{
    struct world world;

    (void)state;
    begin_many(&world, 0, true);
    containers.status = "True";
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(world.flags, CCM_RESULT_WAITS);
    world.service->meta.too_large = "2 MiB";
    world_put(&world);
    assert_true(world_run(&world) < 0);
    world.service->meta.too_large = NULL;
    containers.status = "False";
    world_put(&world);
    assert_int_equal(run_turns(&world), 3);
    assert_null(strstr(mini_dump(), "10.2.0."));
    assert_int_equal(count_events(&world, "ServerRegistered"), 0);
    world_end(&world);
}

/* An audit uses what the pass before it has seen, so it comes to its end. */
static void test_turns_audit(void **state)
{
    struct world world;

    (void)state;
    begin_many(&world, 0, true);
    world.lbc.audit.interval_ms = 1000;
    assert_int_equal(run_turns(&world), 3);
    world_settle(&world);
    assert_int_equal(run_turns(&world), 3);
    fake_host_advance(world.fake, 2000);
    mini_reset_log();

    const size_t before = fake_host_fetch_count(world.fake);

    assert_int_equal(run_turns(&world), 3);
    assert_non_null(strstr(mini_log(), "DescribeLoadBalancers"));
    assert_int_equal(fake_host_fetch_count(world.fake) - before, MANY + 1);
    world_end(&world);
}

/* So it is with those that the slice calls ready and that are told all the same. */
static void test_turns_published(void **state)
{
    struct world world;
    size_t told = 0;

    (void)state;
    begin_many(&world, CCM_ENDPOINT_READY, true);
    world.service->publish_not_ready_addresses = 1;
    world_put(&world);
    for (int i = 0; i < 4; i++) {
        const size_t asked = fake_host_fetch_count(world.fake);
        const size_t queued = fake_host_enqueue_count(world.fake);

        assert_int_equal(world_run(&world), 0);
        assert_true(fake_host_fetch_count(world.fake) - asked <= 50);
        if (i < 2) {
            assert_int_equal(fake_host_enqueued(world.fake, queued)->lane, CCM_LANE_BACKENDS);
            assert_int_equal(fake_host_enqueued(world.fake, queued)->delay_ms, 0);
        }
    }
    for (size_t i = 0; i < fake_host_patch_count(world.fake); i++) {
        told += strstr(fake_host_patch(world.fake, i)->body, "\"uid\":\"q") != NULL;
    }
    assert_int_equal(told, MANY);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gate),
        cmocka_unit_test(test_listener_in_between),
        cmocka_unit_test(test_without_interface),
        cmocka_unit_test(test_no_gate),
        cmocka_unit_test(test_no_such_pod),
        cmocka_unit_test(test_told_failure),
        cmocka_unit_test(test_ready),
        cmocka_unit_test(test_published_not_ready),
        cmocka_unit_test(test_published_without_pod),
        cmocka_unit_test(test_ready_without_interface),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_turns_broken_off),
        cmocka_unit_test(test_turns_audit),
        cmocka_unit_test(test_turns_published),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
