/* Verdicts about work that waits for its turn. */
#include "sched/controller.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "group_watchdog.h"

#include "util/clock.h"

#define PATIENCE_MS 20000

/* The second try comes at once, the third one does not. */
static const struct sched_backoff_policy policy = {
    .rules = { [CCM_ERROR_CONFLICT] = { .base_ms = 3600000, .max_ms = 3600000, .first_ms = 1 } }
};

/* What the calls of a test share. */
struct mixed {
    struct sched_controller *controller;
    atomic_int calls;
    atomic_int settled;
    atomic_uint_fast64_t lane; /* of the last call */
    atomic_int ended;          /* calls that were the last of their key: a bit each */
};

static void count_settled(void *arg, const char *key, const struct ccm_error *err, int64_t next_ms)
{
    struct mixed *mixed = arg;

    (void)key;
    (void)next_ms;
    atomic_fetch_add(&mixed->settled, err == NULL ? 100 : 1);
}

static void record_ended(void *arg, const char *key, bool last)
{
    struct mixed *mixed = arg;

    (void)key;
    atomic_fetch_or(&mixed->ended, last ? 1 << atomic_load(&mixed->calls) : 0);
}

/* So many calls of one worker about one key. */
static struct sched_controller_stats mixed_run(struct mixed *mixed, sched_reconcile_fn reconcile,
                                               uint64_t calls)
{
    const int64_t end = ccm_clock_now_ms() + PATIENCE_MS;
    struct sched_controller_stats stats;
    struct ccm_error err = CCM_ERROR_INIT;

    assert_int_equal(
        sched_controller_new(&(struct sched_controller_options){ .name = "mixed",
                                                                 .workers = 1,
                                                                 .watchdog = watchdog,
                                                                 .backoff = &policy,
                                                                 .reconcile = reconcile,
                                                                 .arg = mixed,
                                                                 .settled = count_settled,
                                                                 .settled_arg = mixed,
                                                                 .ended = record_ended,
                                                                 .ended_arg = mixed },
                             &mixed->controller, &err),
        0);
    assert_int_equal(sched_controller_start(mixed->controller, &err), 0);
    sched_controller_enqueue(mixed->controller, "default/web", CCM_LANE_SPEC, 0);
    do {
        assert_true(ccm_clock_now_ms() < end);
        sched_controller_get_stats(mixed->controller, &stats);
    } while (stats.calls < calls || stats.queue.processing > 0);
    sched_controller_stop(mixed->controller);
    assert_int_equal(sched_controller_join(mixed->controller, ccm_clock_now_ms() + PATIENCE_MS), 0);
    sched_controller_free(mixed->controller);
    return stats;
}

/* Fails, waits for its turn, fails again. */
static int waiting_reconcile(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                             struct ccm_error *err)
{
    struct mixed *mixed = arg;

    (void)req;
    if (atomic_fetch_add(&mixed->calls, 1) == 1) {
        ret->requeue_after_ms = 1;
        ret->flags = CCM_RESULT_WAITS;
        return 0;
    }
    return ccm_error_set(err, -EIO, CCM_ERROR_CONFLICT, "it broke");
}

/* To wait is no success: the failures before it stay counted, and shown. */
static void test_waiting_forgets_no_failure(void **state)
{
    struct mixed mixed = { .calls = 0 };
    /* The fourth, after a second failure, is an hour away. */
    const struct sched_controller_stats stats = mixed_run(&mixed, waiting_reconcile, 3);

    (void)state;
    assert_int_equal(stats.requeued, 1);
    assert_int_equal(stats.failed[CCM_ERROR_CONFLICT], 2);
    assert_int_equal(stats.queue.delayed, 1);
    assert_int_equal(atomic_load(&mixed.settled), 2);
}

/* Fails; waits until it is enqueued; fails, while something else waits for its turn. */
static int mixed_reconcile(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                           struct ccm_error *err)
{
    struct mixed *mixed = arg;
    const int call = atomic_fetch_add(&mixed->calls, 1);

    atomic_store(&mixed->lane, req->lane);
    if (call == 1) {
        ret->flags = CCM_RESULT_WAITS;
        sched_controller_enqueue(mixed->controller, req->keys[0], CCM_LANE_SPEC, 0);
        return 0;
    }
    ret->requeue_after_ms = call == 2 ? 1 : 0;
    ret->flags = call == 2 ? CCM_RESULT_WAITS : 0;
    return ccm_error_set(err, -EIO, CCM_ERROR_CONFLICT, "it broke");
}

/* A failure keeps its backoff beside what waits for its turn, and that comes in its own lane. */
static void test_failure_beside_a_wait(void **state)
{
    struct mixed mixed = { .calls = 0 };
    /* The fourth, an hour away by itself, comes for what waits. */
    const struct sched_controller_stats stats = mixed_run(&mixed, mixed_reconcile, 4);

    (void)state;
    assert_int_equal(atomic_load(&mixed.lane), CCM_LANE_SPEC);
    assert_int_equal(stats.failed[CCM_ERROR_CONFLICT], 3);
    assert_int_equal(stats.queue.delayed, 1);
    assert_true(stats.queue.due_in_ms > 1000000);
    assert_int_equal(atomic_load(&mixed.settled), 3); /* to wait to be enqueued is no success */
}

/* Waits to be enqueued, then is done. */
static int turn_reconcile(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                          struct ccm_error *err)
{
    struct mixed *mixed = arg;

    (void)req;
    (void)err;
    ret->flags = atomic_fetch_add(&mixed->calls, 1) == 0 ? CCM_RESULT_WAITS : 0;
    return 0;
}

/* A key that waits for the plugin is in no queue, and nothing of it may be forgotten. */
static void test_what_waits_is_not_the_last(void **state)
{
    struct mixed mixed = { .calls = 0 };

    (void)state;
    (void)mixed_run(&mixed, turn_reconcile, 1);
    assert_int_equal(atomic_load(&mixed.ended), 0);
    (void)mixed_run(&mixed, turn_reconcile, 1);
    assert_int_equal(atomic_load(&mixed.ended), 1 << 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting_forgets_no_failure),
        cmocka_unit_test(test_failure_beside_a_wait),
        cmocka_unit_test(test_what_waits_is_not_the_last),
    };

    return cmocka_run_group_tests(tests, start_watchdog, end_watchdog);
}
