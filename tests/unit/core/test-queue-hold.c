/* Keys that are held because the other side is throttled, and pauses of a whole queue. */
#include "sched/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct fixture {
    struct sched_queue *queue;
    int64_t now_ms;
};

static int64_t fake_now(void *arg)
{
    return ((struct fixture *)arg)->now_ms;
}

static void queue_add_key(struct fixture *f, const char *key, uint64_t lane)
{
    assert_int_equal(sched_queue_add(f->queue, key, lane), 0);
}

/* Whether it can be had now; it stays with the caller. */
static bool get_key(struct fixture *f, const char *key)
{
    struct sched_queue_item item = { 0 };
    const int r = sched_queue_get(f->queue, 0, &item);

    if (r == 0) {
        assert_string_equal(item.key, key);
    }
    return r == 0;
}

static void run_key(struct fixture *f, const char *key)
{
    assert_true(get_key(f, key));
    sched_queue_done(f->queue, key);
}

static void test_throttled_is_held(void **state)
{
    struct fixture own = { .now_ms = 1000 };
    struct fixture *f = &own;
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    f->queue =
        sched_queue_new(&(struct sched_queue_options){ .now_ms = fake_now, .arg = f, .seed = 7 });
    assert_non_null(f->queue);
    err.kind = CCM_ERROR_THROTTLED;
    err.retry_after_ms = 20000;
    queue_add_key(f, "a", CCM_LANE_SPEC);
    assert_true(get_key(f, "a"));
    queue_add_key(f, "a", CCM_LANE_URGENT); /* before the verdict */
    (void)sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0);
    sched_queue_done(f->queue, "a");
    assert_false(get_key(f, "a"));
    queue_add_key(f, "a", CCM_LANE_REMOVE);
    assert_false(get_key(f, "a"));
    f->now_ms += 19999;
    assert_false(get_key(f, "a"));
    f->now_ms += 1;
    run_key(f, "a");
    queue_add_key(f, "a", CCM_LANE_SPEC); /* it is over */
    assert_true(sched_queue_pause(f->queue, f->now_ms + 1000));
    assert_false(sched_queue_pause(f->queue, f->now_ms + 500));
    assert_false(get_key(f, "a"));
    f->now_ms += 1000;
    run_key(f, "a");
    sched_queue_free(f->queue);
}

static void test_withdraw_and_last(void **state)
{
    struct fixture own = { .now_ms = 1000 };
    struct fixture *f = &own;
    struct ccm_error err = CCM_ERROR_INIT;
    struct sched_queue_stats stats;

    (void)state;
    err.kind = CCM_ERROR_TRANSIENT;
    f->queue =
        sched_queue_new(&(struct sched_queue_options){ .now_ms = fake_now, .arg = f, .seed = 7 });
    assert_non_null(f->queue);
    assert_int_equal(sched_queue_add_after(f->queue, "a", CCM_LANE_SPEC, 5000), 0);
    sched_queue_withdraw(f->queue, "a");
    sched_queue_withdraw(f->queue, "unknown");
    sched_queue_get_stats(f->queue, &stats);
    assert_int_equal(stats.delayed, 0);
    queue_add_key(f, "a", CCM_LANE_SPEC);
    assert_true(get_key(f, "a"));
    assert_true(sched_queue_is_last(f->queue, "a"));
    (void)sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0);
    assert_false(sched_queue_is_last(f->queue, "a"));
    sched_queue_done(f->queue, "a");
    sched_queue_withdraw(f->queue, "a"); /* a retry stays */
    sched_queue_get_stats(f->queue, &stats);
    assert_int_equal(stats.delayed, 1);
    sched_queue_free(f->queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_throttled_is_held),
        cmocka_unit_test(test_withdraw_and_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
