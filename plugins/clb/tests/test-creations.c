/* Whole passes over load balancers that come late, do not become ready, or vanish. */
#include "world.h"

#include "clb/apply.h"
#include "lbc/instance.h"

#include <string.h>

#define HOUR_MS   3600000
#define MINUTE_MS 60000

/* The product as a cloud without ClientTokens would have it, and how far its load balancers are. */
static struct {
    struct lbc_ops ops;
    struct lbc_change_ops change;
    struct lbc_product product;
    struct alilb_apply_ops steps;
    enum lbc_lb_ready ready;
} cloud;

static enum lbc_lb_ready lb_ready(const struct lbc_state *have, uint64_t *again_ms,
                                  struct ccm_error *err)
{
    (void)have;
    (void)again_ms;
    (void)err;
    return cloud.ready;
}

static void use_cloud(struct world *world, bool once)
{
    cloud.ready = LBC_LB_READY;
    cloud.steps = clb_apply_ops;
    cloud.steps.lbc.lb_ready = lb_ready;
    cloud.change = *clb_ops.change;
    cloud.change.steps = &cloud.steps.lbc;
    cloud.ops = clb_ops;
    cloud.product = *clb_ops.product;
    cloud.product.traits =
        once ? cloud.product.traits : cloud.product.traits & ~(unsigned)LBC_CREATES_ONCE;
    cloud.ops.change = &cloud.change;
    cloud.ops.product = &cloud.product;
    world->lbc.ops = &cloud.ops;
    atomic_store(&world->lbc.conditions, true);
}

static void world_begin_cloud(struct world *world, bool once)
{
    world_begin(world);
    use_cloud(world, once);
}

static size_t log_count_creations(void)
{
    static const char action[] = "CreateLoadBalancer";
    size_t found = 0;

    for (const char *at = strstr(mini_log(), action); at != NULL; at = strstr(at + 1, action)) {
        const char end = at[sizeof(action) - 1];

        found += end == ' ' || end == '\0' ? 1 : 0;
    }
    return found;
}

/* The answer to the creation is lost, and no list shows what it created. */
static void world_lose_creation(struct world *world)
{
    mini_lag(HOUR_MS);
    mini_fail(&(const struct mini_fault){ .action = "CreateLoadBalancer",
                                          .times = 1,
                                          .executed = true,
                                          .uncertain = true,
                                          .code = "ServiceUnavailable",
                                          .kind = CCM_ERROR_TRANSIENT,
                                          .http = 503 });
    assert_true(world_run(world) < 0);
    mini_set_attr("LoadBalancerName", "other");
    obj_finalizer(&world->service->meta, CLB_FINALIZER);
}

/* Neither tag nor name leads to it for the better part of a minute. */
static void test_lost_answer(void **state)
{
    struct world world;

    (void)state;
    world_begin_cloud(&world, false);
    world_lose_creation(&world);
    world_put(&world);
    for (uint64_t passed = 0; passed < MINUTE_MS;) {
        assert_int_equal(world_run(&world), 0);
        assert_true(world.requeue_ms >= 1000 && passed + world.requeue_ms <= MINUTE_MS);
        passed += world.requeue_ms;
        fake_host_advance(world.fake,
                          (int64_t)(passed < MINUTE_MS ? world.requeue_ms : world.requeue_ms - 1));
    }
    mini_lag(0);
    world_converge(&world);
    assert_int_equal(log_count_creations(), 1);
    assert_non_null(mini_lb_id());
    world_end(&world);
}

/* The Service is deleted meanwhile: what was created is deleted with it. */
static void test_lost_and_deleted(void **state)
{
    struct world world;

    (void)state;
    world_begin_cloud(&world, false);
    world_lose_creation(&world);
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_true(world.requeue_ms >= 1000);
    assert_null(strstr(mini_log(), "Delete"));
    mini_lag(0);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), "");
    world_end(&world);
}

/* After a restart a load balancer is looked for during a minute, unless the Service shows one or a
 * token makes another creation safe. */
static void test_after_a_restart(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        struct world world;

        world_begin_cloud(&world, once != 0);
        obj_finalizer(&world.service->meta, CLB_FINALIZER);
        world_put(&world);
        assert_int_equal(world_run(&world), 0);
        assert_int_equal(log_count_creations(), (size_t)once);
        if (once == 0) {
            assert_int_equal(world.requeue_ms, 1000);
            fake_host_advance(world.fake, MINUTE_MS);
            assert_int_equal(world_run(&world), 0);
        }
        assert_int_equal(log_count_creations(), 1);
        world_end(&world);
    }
}

static void end_of_three(struct world *world)
{
    assert_true(world_run(world) < 0);
    assert_int_equal(world->err.kind, CCM_ERROR_TERMINAL);
    assert_non_null(strstr(world->err.message, " load balancers were created, and none of them"));
}

/* The first answer to a token that was used is what is gone: then there is another token. */
static void create_in_vain(struct world *world)
{
    for (int i = 0; i < 2 && mini_dump()[0] == '\0'; i++) {
        assert_true(world_run(world) < 0);
        assert_int_not_equal(world->err.kind, CCM_ERROR_TERMINAL);
    }
    mini_delete_lb();
}

/* Each of them vanishes before it serves. */
static void test_three_are_enough(void **state)
{
    struct world world;

    (void)state;
    world_begin_cloud(&world, true);
    mini_fail(&(const struct mini_fault){ .action = "CreateLoadBalancerTCPListener",
                                          .times = 1000,
                                          .code = "ServiceUnavailable",
                                          .kind = CCM_ERROR_TRANSIENT,
                                          .http = 503 });
    for (size_t i = 0; i < 3; i++) {
        create_in_vain(&world);
    }
    end_of_three(&world);
    fake_host_advance(world.fake, 9 * MINUTE_MS);
    end_of_three(&world);
    assert_string_equal(mini_dump(), "");
    fake_host_advance(world.fake, MINUTE_MS);
    create_in_vain(&world); /* the long pause is over */
    end_of_three(&world);
    obj_annotate(&world.service->meta, P "scheduler", "wrr");
    world_put(&world);
    create_in_vain(&world); /* the Service has changed */
    world_end(&world);
}

/* Lost each time, and never seen. */
static void test_three_in_doubt(void **state)
{
    struct world world;

    (void)state;
    world_begin_cloud(&world, false);
    obj_annotate(&world.service->meta, P "name", "mine");
    world_put(&world);
    mini_lag(HOUR_MS);
    mini_fail(&(const struct mini_fault){ .action = "CreateLoadBalancer",
                                          .times = 100,
                                          .uncertain = true,
                                          .code = "ServiceUnavailable",
                                          .kind = CCM_ERROR_TRANSIENT,
                                          .http = 503 });
    for (size_t i = 0; i < 3; i++) {
        assert_true(world_run(&world) < 0);
        assert_int_equal(log_count_creations(), i + 1);
        assert_int_equal(world_run(&world), 0); /* it is looked for */
        fake_host_advance(world.fake, MINUTE_MS);
    }
    end_of_three(&world);
    lbc_mirrors_ask(world.lbc.mirrors, "default/web");
    assert_true(world_run(&world) < 0); /* an operator asks for it */
    assert_int_equal(log_count_creations(), 4);
    world_end(&world);
}

static bool world_has_patched(struct world *world, const char *text)
{
    const size_t patches = fake_host_patch_count(world->fake);

    return patches > 0 && strstr(fake_host_patch(world->fake, patches - 1)->body, text) != NULL;
}

/* One that does not become ready is waited for without a word, for ten minutes. */
static void test_not_ready(void **state)
{
    struct world world;
    const char *event;

    (void)state;
    world_begin_cloud(&world, true);
    cloud.ready = LBC_LB_MAKING;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(world_run(&world), 0);
        assert_int_equal(world.requeue_ms, 1000);
        fake_host_advance(world.fake, MINUTE_MS - 1);
    }
    while ((event = world_event(&world)) != NULL) {
        assert_null(strstr(event, "Failed"));
    }
    fake_host_advance(world.fake, 10 + MINUTE_MS);
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_TRANSIENT);
    event = world_event(&world);
    assert_non_null(event);
    assert_non_null(strstr(event,
                           "SyncLoadBalancerFailed: Error syncing load balancer [" LB_ID
                           "]: load balancer " LB_ID " has not become ready for 10 minutes"));
    assert_true(world_has_patched(&world, "\"False\""));
    cloud.ready = LBC_LB_READY;
    world_converge(&world);
    assert_int_equal(log_count_creations(), 1);
    world_end(&world);
}

/* Neither does a broken one wait, nor its deletion. */
static void test_broken(void **state)
{
    struct world world;
    const char *event;

    (void)state;
    world_begin_cloud(&world, true);
    cloud.ready = LBC_LB_BROKEN;
    assert_true(world_run(&world) < 0);
    event = world_event(&world);
    assert_non_null(event);
    assert_non_null(strstr(event, "load balancer " LB_ID " is broken, says the cloud"));
    assert_true(world_has_patched(&world, "\"False\""));
    assert_true(world_run(&world) < 0);
    assert_int_equal(log_count_creations(), 1);
    world_end(&world);
}

static void test_deletion(void **state)
{
    static const struct {
        enum lbc_lb_ready ready;
        int64_t after_ms; /* since it was first seen so */
        bool deleted;
    } rows[] = {
        { LBC_LB_MAKING, 0, false },
        { LBC_LB_MAKING, 9 * MINUTE_MS, false },
        { LBC_LB_MAKING, 10 * MINUTE_MS, true },
        { LBC_LB_BROKEN, 0, true },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct world world;

        world_begin_cloud(&world, true);
        world_steady(&world);
        cloud.ready = rows[i].ready;
        world.service->meta.deleted_ms = 1;
        world_put(&world);
        for (int64_t passed = 0; passed < rows[i].after_ms; passed += MINUTE_MS) {
            assert_int_equal(world_run(&world), 0);
            assert_true(world.requeue_ms > 0);
            fake_host_advance(world.fake, MINUTE_MS);
        }
        assert_int_equal(world_run(&world), 0);
        assert_int_equal(mini_dump()[0] == '\0', rows[i].deleted);
        world_end(&world);
    }
}

/* CLB itself: overdue payments. Its deletion is tried, and the cloud says what is in its way. */
static void test_locked(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    mini_set_attr("LoadBalancerStatus", "locked");
    lbc_mirrors_ask(world.lbc.mirrors, "default/web");
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_AUTH);
    assert_non_null(strstr(world.err.message, "load balancer " LB_ID " is locked by the cloud"));
    assert_string_equal(mini_writes(), "");
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_non_null(strstr(world.err.message, "ActionNotAllowed"));
    mini_set_attr("LoadBalancerStatus", "active");
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), "");
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_answer),     cmocka_unit_test(test_lost_and_deleted),
        cmocka_unit_test(test_after_a_restart), cmocka_unit_test(test_three_are_enough),
        cmocka_unit_test(test_three_in_doubt),  cmocka_unit_test(test_not_ready),
        cmocka_unit_test(test_broken),          cmocka_unit_test(test_deletion),
        cmocka_unit_test(test_locked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
