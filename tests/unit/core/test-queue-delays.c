/* When a key of a queue comes: delays, verdicts, keys that are held, pauses of a whole queue. */
#include "queue_fixture.h"

#include <stdio.h>

#include "util/attr.h"

/* --- delays --------------------------------------------------------------------------------- */

static void test_delays(void **state)
{
    struct fixture *f = *state;

    add_after(f, "late", CCM_LANE_SPEC, 500);
    add_after(f, "soon", CCM_LANE_SPEC, 100);
    add_after(f, "now", CCM_LANE_SPEC, -5);
    assert_int_equal(stats_of(f).delayed, 2);
    expect_run(f, "now");
    expect_get(f, NULL);
    f->now_ms += 99;
    expect_get(f, NULL);
    f->now_ms += 1;
    expect_run(f, "soon");
    f->now_ms += 400;
    expect_run(f, "late");
    expect_get(f, NULL);
}

static void test_earliest_delay_wins(void **state)
{
    struct fixture *f = *state;

    add_after(f, "a", CCM_LANE_BULK, 500);
    add_after(f, "a", CCM_LANE_URGENT, 200);
    add_after(f, "a", CCM_LANE_SPEC, 900);
    assert_int_equal(stats_of(f).delayed, 1);
    f->now_ms += 200;

    struct sched_queue_item item;

    assert_int_equal(sched_queue_get(f->queue, 0, &item), 0);
    assert_int_equal(item.lane, CCM_LANE_URGENT);
    sched_queue_done(f->queue, "a");
    f->now_ms += 100000;
    expect_get(f, NULL);
}

static void test_many_delays_come_in_order(void **state)
{
    struct fixture *f = *state;
    char key[16];

    for (int i = 0; i < 500; i++) {
        const int due = (i * 263) % 500; /* 263 and 500 have no common factor: a permutation */

        (void)snprintf(key, sizeof(key), "%d", due);
        add_after(f, key, CCM_LANE_SPEC, due + 1);
    }
    for (int i = 0; i < 500; i++) {
        f->now_ms += 1;
        (void)snprintf(key, sizeof(key), "%d", i);
        expect_run(f, key);
        expect_get(f, NULL);
    }
}

static void test_delay_of_processed_key(void **state)
{
    struct fixture *f = *state;

    add_key(f, "a", CCM_LANE_SPEC);
    expect_get(f, "a");
    add_after(f, "a", CCM_LANE_SPEC, 10);
    f->now_ms += 10;
    expect_get(f, NULL); /* due, but with a worker */
    sched_queue_done(f->queue, "a");
    expect_run(f, "a");
    expect_get(f, NULL);
}

/* --- verdicts ------------------------------------------------------------------------------- */

static void test_backoff_grows_and_forgets(void **state)
{
    struct fixture *f = *state;
    const struct ccm_error err = error_of(CCM_ERROR_TRANSIENT);
    int64_t high = 1500;

    add_key(f, "a", CCM_LANE_SPEC);
    for (uint32_t i = 1; i <= 5; i++) {
        expect_get(f, "a");

        const int64_t wait = sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0);

        assert_in_range(wait, high / 2, high);
        sched_queue_done(f->queue, "a");
        assert_int_equal(sched_queue_num_requeues(f->queue, "a"), i);
        f->now_ms += wait - 1;
        expect_get(f, NULL);
        f->now_ms += 1;
        high *= 2;
    }
    expect_get(f, "a");
    sched_queue_forget(f->queue, "a");
    sched_queue_done(f->queue, "a");
    assert_int_equal(sched_queue_num_requeues(f->queue, "a"), 0);
    assert_int_equal(stats_of(f).retries, 5);
    add_key(f, "a", CCM_LANE_SPEC);
    expect_get(f, "a");
    assert_in_range(sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0), 750, 1500);
}

/* Who fails again and again comes behind everybody else, but for new reasons. */
static void test_failures_wait_in_the_last_lane(void **state)
{
    static const uint64_t lanes[] = { CCM_LANE_URGENT, CCM_LANE_BULK, CCM_LANE_BULK };
    struct fixture *f = *state;
    const struct ccm_error err = error_of(CCM_ERROR_TRANSIENT);
    struct sched_queue_item item;

    add_key(f, "a", CCM_LANE_URGENT);
    expect_get(f, "a");
    for (size_t i = 0; i < CCM_ARRAY_LEN(lanes); i++) {
        f->now_ms += sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_URGENT, &err, 0);
        sched_queue_done(f->queue, "a");
        assert_int_equal(sched_queue_get(f->queue, 0, &item), 0);
        assert_int_equal(item.lane, lanes[i]);
    }
    (void)sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_URGENT, &err, 0);
    add_key(f, "a", CCM_LANE_SPEC);
    sched_queue_done(f->queue, "a");
    assert_int_equal(sched_queue_get(f->queue, 0, &item), 0);
    assert_int_equal(item.lane, CCM_LANE_SPEC);
    sched_queue_forget(f->queue, "a");
    f->now_ms += sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_URGENT, &err, 0);
    sched_queue_done(f->queue, "a");
    assert_int_equal(sched_queue_get(f->queue, 0, &item), 0);
    assert_int_equal(item.lane, CCM_LANE_URGENT);
    sched_queue_done(f->queue, "a");
}

/* What waits because of a verdict is ready at once, and what runs comes once more; other delays and
 * the counts stay. */
static void test_hurry(void **state)
{
    struct fixture *f = *state;
    const struct ccm_error err = error_of(CCM_ERROR_TERMINAL);

    add_key(f, "failed", CCM_LANE_SPEC);
    expect_get(f, "failed");
    assert_true(sched_queue_add_rate_limited(f->queue, "failed", CCM_LANE_SPEC, &err, 0) >= 300000);
    sched_queue_done(f->queue, "failed");
    add_key(f, "well", CCM_LANE_SPEC);
    expect_get(f, "well");
    sched_queue_requeue_after(f->queue, "well", CCM_LANE_BULK, 60000);
    sched_queue_done(f->queue, "well");
    assert_int_equal(stats_of(f).delayed, 2);
    add_after(f, "later", CCM_LANE_SPEC, 60000);
    add_key(f, "runs", CCM_LANE_SPEC);
    expect_get(f, "runs");

    assert_int_equal(sched_queue_retry_now(f->queue), 1);
    assert_int_equal(sched_queue_retry_now(f->queue), 0); /* it is ready already */
    expect_get(f, "failed");
    expect_get(f, "well");
    sched_queue_done(f->queue, "well");
    expect_get(f, NULL);
    /* The run that began before fails now, for a reason that is gone. */
    assert_true(sched_queue_add_rate_limited(f->queue, "runs", CCM_LANE_SPEC, &err, 0) >= 300000);
    sched_queue_done(f->queue, "runs");
    expect_get(f, "runs");
    sched_queue_forget(f->queue, "runs");
    sched_queue_done(f->queue, "runs");
    /* It fails again, before its time: it waits as long as before. */
    assert_true(sched_queue_add_rate_limited(f->queue, "failed", CCM_LANE_SPEC, &err, 0) >= 300000);
    assert_int_equal(sched_queue_num_requeues(f->queue, "failed"), 1);
    sched_queue_done(f->queue, "failed");
    expect_get(f, NULL);
    assert_int_equal(stats_of(f).delayed, 2); /* "failed", "later" */
    f->now_ms += 60000;
    expect_get(f, "later");
    expect_get(f, NULL);
    sched_queue_shut_down(f->queue);
    assert_int_equal(sched_queue_retry_now(f->queue), 0);
}

/* Edits and changes of nodes during an outage: each is tried at once or a little later, and the
 * next retry is as near as before. */
static void test_changes_do_not_lengthen_the_wait(void **state)
{
    struct fixture *f = *state;
    const struct ccm_error err = error_of(CCM_ERROR_TRANSIENT);
    int64_t wait = 0;

    for (int i = 0; i < 20; i++) {
        add_after(f, "a", CCM_LANE_SPEC, i % 2 == 0 ? 0 : 50);
        f->now_ms += 50;
        expect_get(f, "a");
        wait = sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0);
        assert_in_range(wait, 750, 1500);
        sched_queue_done(f->queue, "a");
        f->now_ms += 50;
    }
    f->now_ms += wait - 50;
    expect_get(f, "a"); /* the retry itself: from here on the wait grows */
    assert_in_range(sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0), 1500,
                    3000);
}

/* Also when somebody has asked for a later run beside the verdict, before or after it. */
static void test_hurry_of_two_delays(void **state)
{
    struct fixture *f = *state;

    for (int asked_first = 0; asked_first < 2; asked_first++) {
        add_key(f, "both", CCM_LANE_SPEC);
        expect_get(f, "both");
        if (asked_first != 0) {
            add_after(f, "both", CCM_LANE_SPEC, 60000);
        }
        sched_queue_requeue_after(f->queue, "both", CCM_LANE_SPEC, 50000);
        if (asked_first == 0) {
            add_after(f, "both", CCM_LANE_SPEC, 60000);
        }
        sched_queue_done(f->queue, "both");
        expect_get(f, NULL);
        assert_int_equal(sched_queue_retry_now(f->queue), 0); /* it did not fail */
        expect_run(f, "both");
        assert_int_equal(sched_queue_retry_now(f->queue), 0);
        expect_get(f, NULL); /* what is left of its delay waits for nothing that has changed */
        f->now_ms += 60000;
        expect_run(f, "both");
        expect_get(f, NULL);
    }
}

static void test_cancelled_comes_back_at_once(void **state)
{
    struct fixture *f = *state;
    const struct ccm_error err = error_of(CCM_ERROR_CANCELLED);

    add_key(f, "a", CCM_LANE_SPEC);
    expect_get(f, "a");
    assert_int_equal(sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0), 0);
    expect_get(f, NULL);
    sched_queue_done(f->queue, "a");
    assert_int_equal(sched_queue_num_requeues(f->queue, "a"), 0);
    expect_run(f, "a");
}

/* A change of the object ends the wait of a terminal error, and no second run follows later. */
static void test_change_replaces_retry(void **state)
{
    struct fixture *f = *state;
    const struct ccm_error err = error_of(CCM_ERROR_TERMINAL);

    add_key(f, "a", CCM_LANE_SPEC);
    expect_get(f, "a");
    assert_true(sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0) >= 300000);
    sched_queue_done(f->queue, "a");
    f->now_ms += 1000;
    expect_get(f, NULL);
    add_key(f, "a", CCM_LANE_SPEC);
    expect_get(f, "a");
    sched_queue_forget(f->queue, "a");
    sched_queue_requeue_after(f->queue, "a", CCM_LANE_BULK, 5000);
    sched_queue_done(f->queue, "a");
    assert_int_equal(stats_of(f).delayed, 1);
    f->now_ms += 5000;
    expect_run(f, "a");
    f->now_ms += 10000000;
    expect_get(f, NULL);
}

/* What somebody else asked for is kept, whatever the verdict was. */
static void test_asked_delay_survives(void **state)
{
    struct fixture *f = *state;
    const struct ccm_error err = error_of(CCM_ERROR_CONFLICT);

    add_key(f, "a", CCM_LANE_SPEC);
    expect_get(f, "a");
    add_after(f, "a", CCM_LANE_BULK, 3000);
    assert_true(sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0) <= 100);
    sched_queue_done(f->queue, "a");
    add_key(f, "a", CCM_LANE_SPEC);
    expect_get(f, "a"); /* before the delay: it stays, at the earlier time */
    assert_int_equal(stats_of(f).delayed, 1);
    sched_queue_forget(f->queue, "a");
    sched_queue_done(f->queue, "a");
    f->now_ms += 100;
    expect_run(f, "a");
    expect_get(f, NULL);
}

static void test_verdict_needs_processing(void **state)
{
    struct fixture *f = *state;
    const struct ccm_error err = error_of(CCM_ERROR_TRANSIENT);

    assert_int_equal(sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0), 0);
    sched_queue_requeue_after(f->queue, "a", CCM_LANE_SPEC, 5);
    sched_queue_forget(f->queue, "a");
    assert_int_equal(stats_of(f).delayed, 0);
    assert_int_equal(stats_of(f).retries, 0);
}

static void test_throttled_is_held(void **state)
{
    struct fixture *f = *state;
    struct ccm_error err = CCM_ERROR_INIT;

    err.kind = CCM_ERROR_THROTTLED;
    err.retry_after_ms = 20000;
    add_key(f, "a", CCM_LANE_SPEC);
    expect_get(f, "a");
    add_key(f, "a", CCM_LANE_URGENT); /* before the verdict */
    (void)sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0);
    sched_queue_done(f->queue, "a");
    expect_get(f, NULL);
    add_key(f, "a", CCM_LANE_REMOVE);
    expect_get(f, NULL);
    f->now_ms += 19999;
    expect_get(f, NULL);
    f->now_ms += 1;
    expect_run(f, "a");
    add_key(f, "a", CCM_LANE_SPEC); /* it is over */
    assert_true(sched_queue_pause(f->queue, f->now_ms + 1000));
    assert_false(sched_queue_pause(f->queue, f->now_ms + 500));
    expect_get(f, NULL);
    f->now_ms += 1000;
    expect_run(f, "a");
}

static void test_withdraw_and_last(void **state)
{
    struct fixture *f = *state;
    struct ccm_error err = CCM_ERROR_INIT;
    struct sched_queue_stats stats;

    err.kind = CCM_ERROR_TRANSIENT;
    assert_int_equal(sched_queue_add_after(f->queue, "a", CCM_LANE_SPEC, 5000), 0);
    sched_queue_withdraw(f->queue, "a");
    sched_queue_withdraw(f->queue, "unknown");
    sched_queue_get_stats(f->queue, &stats);
    assert_int_equal(stats.delayed, 0);
    add_key(f, "a", CCM_LANE_SPEC);
    expect_get(f, "a");
    assert_true(sched_queue_is_last(f->queue, "a"));
    (void)sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0);
    assert_false(sched_queue_is_last(f->queue, "a"));
    sched_queue_done(f->queue, "a");
    sched_queue_withdraw(f->queue, "a"); /* a retry stays */
    sched_queue_get_stats(f->queue, &stats);
    assert_int_equal(stats.delayed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUEUE_TEST(test_delays),
        QUEUE_TEST(test_earliest_delay_wins),
        QUEUE_TEST(test_many_delays_come_in_order),
        QUEUE_TEST(test_delay_of_processed_key),
        QUEUE_TEST(test_backoff_grows_and_forgets),
        QUEUE_TEST(test_failures_wait_in_the_last_lane),
        QUEUE_TEST(test_hurry),
        QUEUE_TEST(test_changes_do_not_lengthen_the_wait),
        QUEUE_TEST(test_hurry_of_two_delays),
        QUEUE_TEST(test_cancelled_comes_back_at_once),
        QUEUE_TEST(test_change_replaces_retry),
        QUEUE_TEST(test_asked_delay_survives),
        QUEUE_TEST(test_verdict_needs_processing),
        QUEUE_TEST(test_throttled_is_held),
        QUEUE_TEST(test_withdraw_and_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
