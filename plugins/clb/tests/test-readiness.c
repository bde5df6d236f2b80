/* Pods whose readiness waits for us. */
#include "world.h"

#include "lbc/model/candidate.h"
#include "lbc/service/readiness.h"

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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
