#include "sched/queue.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "util/attr.h"
#include "util/clock.h"

/* A clock that only moves when told; a queue with it never waits. */
struct fixture {
    int64_t now_ms;
    struct sched_queue *queue;
};

static int64_t fake_now(void *arg)
{
    return ((struct fixture *)arg)->now_ms;
}

static int set_up(void **state)
{
    static struct fixture fixture;

    fixture = (struct fixture){ .now_ms = 1000 };
    fixture.queue = sched_queue_new(
        &(struct sched_queue_options){ .now_ms = fake_now, .arg = &fixture, .seed = 7 });
    *state = &fixture;
    return fixture.queue == NULL ? -1 : 0;
}

static int tear_down(void **state)
{
    sched_queue_free(((struct fixture *)*state)->queue);
    return 0;
}

static void add(struct fixture *f, const char *key, uint64_t lane)
{
    assert_int_equal(sched_queue_add(f->queue, key, lane), 0);
}

static void add_after(struct fixture *f, const char *key, uint64_t lane, int64_t delay_ms)
{
    assert_int_equal(sched_queue_add_after(f->queue, key, lane, delay_ms), 0);
}

/* The next key is `key` (NULL: none is ready). It stays with the caller. */
static void expect_get(struct fixture *f, const char *key)
{
    struct sched_queue_item item = { 0 };
    const int r = sched_queue_get(f->queue, 0, &item);

    if (key == NULL) {
        assert_int_equal(r, -ETIMEDOUT);
    } else {
        assert_int_equal(r, 0);
        assert_string_equal(item.key, key);
    }
}

static void expect_run(struct fixture *f, const char *key)
{
    expect_get(f, key);
    sched_queue_done(f->queue, key);
}

static struct sched_queue_stats stats_of(struct fixture *f)
{
    struct sched_queue_stats stats;

    sched_queue_get_stats(f->queue, &stats);
    return stats;
}

static struct ccm_error error_of(uint64_t kind)
{
    struct ccm_error err = CCM_ERROR_INIT;

    err.kind = kind;
    return err;
}

/* --- sets ----------------------------------------------------------------------------------- */

static void test_duplicates_collapse(void **state)
{
    struct fixture *f = *state;

    add(f, "a", CCM_LANE_SPEC);
    add(f, "b", CCM_LANE_SPEC);
    add(f, "a", CCM_LANE_SPEC);
    assert_int_equal(stats_of(f).depth[CCM_LANE_SPEC], 2);
    assert_int_equal(stats_of(f).adds, 2);
    f->now_ms += 15;
    assert_int_equal(stats_of(f).oldest_ms, 15);
    expect_run(f, "a");
    expect_run(f, "b");
    assert_int_equal(stats_of(f).oldest_ms, 0);
    expect_get(f, NULL);
}

static void test_dirty_while_processing(void **state)
{
    struct fixture *f = *state;

    add(f, "a", CCM_LANE_BULK);
    expect_get(f, "a");
    add(f, "a", CCM_LANE_BULK);
    add(f, "a", CCM_LANE_URGENT);
    assert_int_equal(stats_of(f).processing, 1);
    expect_get(f, NULL); /* never with two workers */
    add(f, "b", CCM_LANE_SPEC);
    sched_queue_done(f->queue, "a");

    struct sched_queue_item item;

    assert_int_equal(sched_queue_get(f->queue, 0, &item), 0);
    assert_string_equal(item.key, "a"); /* the most urgent lane of what came meanwhile */
    assert_int_equal(item.lane, CCM_LANE_URGENT);
    sched_queue_done(f->queue, item.key); /* the borrowed pointer is fine here */
    expect_run(f, "b");
    expect_get(f, NULL);
    sched_queue_done(f->queue, "a"); /* not processed: ignored */
    assert_int_equal(stats_of(f).processing, 0);
}

static void test_bad_keys(void **state)
{
    struct fixture *f = *state;
    char longest[SCHED_QUEUE_KEY_MAX + 2];

    memset(longest, 'k', sizeof(longest));
    longest[SCHED_QUEUE_KEY_MAX + 1] = '\0';
    assert_int_equal(sched_queue_add(f->queue, longest, CCM_LANE_SPEC), -EINVAL);
    longest[SCHED_QUEUE_KEY_MAX] = '\0';
    assert_int_equal(sched_queue_add(f->queue, longest, CCM_LANE_SPEC), 0);
    assert_int_equal(sched_queue_add(f->queue, "", CCM_LANE_SPEC), -EINVAL);
    assert_int_equal(sched_queue_add(f->queue, "x", 99), 0);
    assert_int_equal(stats_of(f).depth[CCM_LANE_BULK], 1);
}

/* --- lanes ---------------------------------------------------------------------------------- */

static void test_moves_up_never_down(void **state)
{
    struct fixture *f = *state;

    add(f, "a", CCM_LANE_BULK);
    add(f, "b", CCM_LANE_URGENT);
    add(f, "c", CCM_LANE_BULK);
    add(f, "c", CCM_LANE_URGENT);
    add(f, "b", CCM_LANE_BULK);
    assert_int_equal(stats_of(f).depth[CCM_LANE_URGENT], 2);
    assert_int_equal(stats_of(f).depth[CCM_LANE_BULK], 1);
    expect_run(f, "b");
    expect_run(f, "c");
    expect_run(f, "a");
    expect_get(f, NULL);
}

/* How often each lane is served in `gets` takes, when each lane of `busy` never runs dry. */
static void test_lane_shares(void **state)
{
    static const struct {
        bool busy[SCHED_QUEUE_LANES];
        int gets;
        int served[SCHED_QUEUE_LANES];
    } table[] = {
        { { true, true, true, true }, 15, { 8, 4, 2, 1 } },
        { { true, true, true, true }, 150, { 80, 40, 20, 10 } },
        { { true, true, true, true, true }, 230, { 80, 40, 20, 10, 80 } },
        { { false, false, false, true, true }, 9, { 0, 0, 0, 1, 8 } },
        { { true, false, false, true }, 90, { 80, 0, 0, 10 } },
        { { false, true, true, false }, 60, { 0, 40, 20, 0 } },
        { { false, false, false, true }, 5, { 0, 0, 0, 5 } },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        void *own = NULL;
        int served[SCHED_QUEUE_LANES] = { 0 };

        assert_int_equal(set_up(&own), 0);

        struct fixture *f = own;
        char key[32];

        for (int n = 0; n < table[i].gets; n++) {
            for (uint64_t lane = 0; lane < SCHED_QUEUE_LANES; lane++) {
                if (table[i].busy[lane]) {
                    (void)snprintf(key, sizeof(key), "%d-%d", (int)lane, n);
                    add(f, key, lane);
                }
            }

            struct sched_queue_item item;

            assert_int_equal(sched_queue_get(f->queue, 0, &item), 0);
            served[item.lane]++;
            sched_queue_done(f->queue, item.key);
        }
        assert_memory_equal(served, table[i].served, sizeof(served));
        (void)tear_down(&own);
    }
}

/* Namespaces take turns in each lane; one that has taken its turn goes behind the others. */
static void test_namespaces_take_turns(void **state)
{
    struct fixture *f = *state;
    char key[32];

    for (int i = 0; i < 400; i++) {
        (void)snprintf(key, sizeof(key), "many/%d", i);
        add(f, key, CCM_LANE_URGENT);
    }
    add(f, "few/0", CCM_LANE_URGENT);
    add(f, "other/0", CCM_LANE_URGENT);
    add(f, "few/1", CCM_LANE_URGENT);
    add(f, "node", CCM_LANE_URGENT); /* of no namespace */
    expect_run(f, "many/0");
    expect_run(f, "few/0");
    expect_run(f, "other/0");
    expect_run(f, "node");
    expect_run(f, "many/1");
    expect_run(f, "few/1");
    expect_run(f, "many/2");
    expect_run(f, "many/3");
    add(f, "few/2", CCM_LANE_BULK); /* its turn in one lane is none in another */
    add(f, "few/2", CCM_LANE_URGENT);
    expect_run(f, "many/4");
    expect_run(f, "few/2");
    assert_int_equal(stats_of(f).depth[CCM_LANE_URGENT], 395);
}

/* Long work of other lanes never takes all workers. */
static void test_kept_lanes(void **state)
{
    struct fixture own = { .now_ms = 1000 };
    struct fixture *f = &own;

    (void)state;
    own.queue = sched_queue_new(&(struct sched_queue_options){
        .now_ms = fake_now, .arg = &own, .seed = 7, .common_max = 2 });
    assert_non_null(own.queue);
    add(f, "a/1", CCM_LANE_URGENT);
    add(f, "a/2", CCM_LANE_SPEC);
    add(f, "a/3", CCM_LANE_BULK);
    expect_get(f, "a/1");
    expect_get(f, "a/2");
    expect_get(f, NULL); /* that worker is kept */
    add(f, "b/1", CCM_LANE_BACKENDS);
    add(f, "b/2", CCM_LANE_REMOVE);
    expect_get(f, "b/2");
    expect_get(f, "b/1");
    expect_get(f, NULL);
    sched_queue_done(f->queue, "b/1");
    expect_get(f, NULL);
    add(f, "a/3", CCM_LANE_BACKENDS); /* it moves up, and so out of the crowd */
    expect_run(f, "a/3");
    add(f, "a/4", CCM_LANE_SPEC);
    sched_queue_done(f->queue, "a/1");
    expect_get(f, "a/4");
    sched_queue_done(f->queue, "a/4");
    sched_queue_done(f->queue, "a/2");
    sched_queue_done(f->queue, "b/2");
    assert_int_equal(stats_of(f).processing, 0);
    sched_queue_free(own.queue);
}

/* A removal of a backend comes no later because the Service was edited as well. */
static void test_edited_key_keeps_its_worker(void **state)
{
    static const struct {
        uint64_t first;
        uint64_t second;
        int64_t delay_ms;
        uint64_t told; /* the lane it is handed out with */
        uint64_t counted;
        bool kept;
    } rows[] = {
        { CCM_LANE_BACKENDS, CCM_LANE_SPEC, 0, CCM_LANE_BACKENDS, CCM_LANE_SPEC, true },
        { CCM_LANE_SPEC, CCM_LANE_BACKENDS, 0, CCM_LANE_BACKENDS, CCM_LANE_SPEC, true },
        { CCM_LANE_BACKENDS, CCM_LANE_URGENT, 0, CCM_LANE_BACKENDS, CCM_LANE_URGENT, true },
        { CCM_LANE_BULK, CCM_LANE_BACKENDS, 0, CCM_LANE_BACKENDS, CCM_LANE_BACKENDS, true },
        { CCM_LANE_BACKENDS, CCM_LANE_BULK, 0, CCM_LANE_BACKENDS, CCM_LANE_BACKENDS, true },
        { CCM_LANE_REMOVE, CCM_LANE_BACKENDS, 0, CCM_LANE_REMOVE, CCM_LANE_REMOVE, true },
        { CCM_LANE_SPEC, CCM_LANE_REMOVE, 0, CCM_LANE_REMOVE, CCM_LANE_REMOVE, true },
        { CCM_LANE_SPEC, CCM_LANE_BACKENDS, 50, CCM_LANE_BACKENDS, CCM_LANE_SPEC, true },
        { CCM_LANE_BACKENDS, CCM_LANE_SPEC, 50, CCM_LANE_BACKENDS, CCM_LANE_SPEC, true },
        { CCM_LANE_SPEC, CCM_LANE_URGENT, 0, CCM_LANE_URGENT, CCM_LANE_URGENT, false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct fixture own = { .now_ms = 1000 };
        struct fixture *f = &own;
        struct sched_queue_item item;

        own.queue = sched_queue_new(&(struct sched_queue_options){
            .now_ms = fake_now, .arg = &own, .seed = 7, .common_max = 1 });
        assert_non_null(own.queue);
        add(f, "a/long", CCM_LANE_SPEC);
        expect_get(f, "a/long");
        add_after(f, "a/edited", rows[i].first, rows[i].delay_ms);
        add_after(f, "a/edited", rows[i].second, rows[i].delay_ms);
        f->now_ms += rows[i].delay_ms;
        assert_int_equal(sched_queue_get(f->queue, 0, &item), rows[i].kept ? 0 : -ETIMEDOUT);
        if (rows[i].kept) {
            assert_string_equal(item.key, "a/edited");
            assert_int_equal(item.lane, rows[i].told);
            add(f, "a/edited", rows[i].first); /* while it is processed */
            add(f, "a/edited", rows[i].second);
            sched_queue_done(f->queue, "a/edited");
        }
        for (uint64_t lane = 0; lane < SCHED_QUEUE_LANES; lane++) {
            assert_int_equal(stats_of(f).depth[lane], lane == rows[i].counted ? 1 : 0);
        }
        if (rows[i].kept) {
            expect_run(f, "a/edited"); /* once, though it waited in two lanes */
        }
        expect_get(f, NULL);
        sched_queue_done(f->queue, "a/long");
        sched_queue_free(own.queue);
    }
}

/* Its place in either lane is the one that it came to first. */
static void test_edited_key_keeps_its_place(void **state)
{
    struct fixture own = { .now_ms = 1000 };
    struct fixture *f = &own;

    (void)state;
    own.queue = sched_queue_new(&(struct sched_queue_options){
        .now_ms = fake_now, .arg = &own, .seed = 7, .common_max = 1 });
    assert_non_null(own.queue);
    add(f, "a/edited", CCM_LANE_BACKENDS);
    add(f, "a/next", CCM_LANE_BACKENDS);
    add(f, "a/spec", CCM_LANE_SPEC);
    add(f, "a/edited", CCM_LANE_SPEC);
    expect_get(f, "a/spec");
    expect_run(f, "a/edited");
    expect_run(f, "a/next");
    sched_queue_done(f->queue, "a/spec");
    add(f, "a/edited", CCM_LANE_SPEC);
    add(f, "a/other", CCM_LANE_SPEC);
    add(f, "a/edited", CCM_LANE_BACKENDS);
    expect_run(f, "a/edited"); /* as an edit, before the other one */
    expect_run(f, "a/other");
    expect_get(f, NULL);
    sched_queue_free(own.queue);
}

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

    add(f, "a", CCM_LANE_SPEC);
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

    add(f, "a", CCM_LANE_SPEC);
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
    add(f, "a", CCM_LANE_SPEC);
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

    add(f, "a", CCM_LANE_URGENT);
    expect_get(f, "a");
    for (size_t i = 0; i < CCM_ARRAY_LEN(lanes); i++) {
        f->now_ms += sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_URGENT, &err, 0);
        sched_queue_done(f->queue, "a");
        assert_int_equal(sched_queue_get(f->queue, 0, &item), 0);
        assert_int_equal(item.lane, lanes[i]);
    }
    (void)sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_URGENT, &err, 0);
    add(f, "a", CCM_LANE_SPEC);
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

    add(f, "failed", CCM_LANE_SPEC);
    expect_get(f, "failed");
    assert_true(sched_queue_add_rate_limited(f->queue, "failed", CCM_LANE_SPEC, &err, 0) >= 300000);
    sched_queue_done(f->queue, "failed");
    add(f, "well", CCM_LANE_SPEC);
    expect_get(f, "well");
    sched_queue_requeue_after(f->queue, "well", CCM_LANE_BULK, 60000);
    sched_queue_done(f->queue, "well");
    assert_int_equal(stats_of(f).delayed, 2);
    add_after(f, "later", CCM_LANE_SPEC, 60000);
    add(f, "runs", CCM_LANE_SPEC);
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
    /* It fails again: not as if it were the first time. */
    assert_true(sched_queue_add_rate_limited(f->queue, "failed", CCM_LANE_SPEC, &err, 0) >= 600000);
    assert_int_equal(sched_queue_num_requeues(f->queue, "failed"), 2);
    sched_queue_done(f->queue, "failed");
    expect_get(f, NULL);
    assert_int_equal(stats_of(f).delayed, 2); /* "failed", "later" */
    f->now_ms += 60000;
    expect_get(f, "later");
    expect_get(f, NULL);
    sched_queue_shut_down(f->queue);
    assert_int_equal(sched_queue_retry_now(f->queue), 0);
}

/* Also when somebody has asked for a later run beside the verdict, before or after it. */
static void test_hurry_of_two_delays(void **state)
{
    struct fixture *f = *state;

    for (int asked_first = 0; asked_first < 2; asked_first++) {
        add(f, "both", CCM_LANE_SPEC);
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

    add(f, "a", CCM_LANE_SPEC);
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

    add(f, "a", CCM_LANE_SPEC);
    expect_get(f, "a");
    assert_true(sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0) >= 300000);
    sched_queue_done(f->queue, "a");
    f->now_ms += 1000;
    expect_get(f, NULL);
    add(f, "a", CCM_LANE_SPEC);
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

    add(f, "a", CCM_LANE_SPEC);
    expect_get(f, "a");
    add_after(f, "a", CCM_LANE_BULK, 3000);
    assert_true(sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0) <= 100);
    sched_queue_done(f->queue, "a");
    add(f, "a", CCM_LANE_SPEC);
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

/* --- batches -------------------------------------------------------------------------------- */

/* What failed together comes back together; what failed alone does not wait for the same time. */
static void test_batch_shares_the_jitter(void **state)
{
    struct fixture *f = *state;
    const struct ccm_error err = error_of(CCM_ERROR_AUTH);
    struct sched_queue_item items[3];
    int64_t waits[2] = { 0, 0 };
    size_t count = 0;

    for (size_t round = 0; round < 2; round++) {
        add(f, "a", CCM_LANE_SPEC);
        add(f, "b", CCM_LANE_BULK);
        add(f, "c", CCM_LANE_SPEC);
        assert_int_equal(sched_queue_get_batch(f->queue, 3, 0, 0, items, &count), 0);
        assert_int_equal(count, 3);
        waits[round] = sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0);
        assert_in_range(waits[round], round == 0 ? 15000 : 30000, round == 0 ? 30000 : 60000);
        for (size_t i = 1; i < count; i++) {
            assert_int_equal(
                sched_queue_add_rate_limited(f->queue, items[i].key, CCM_LANE_SPEC, &err, 0),
                waits[round]);
        }
        for (size_t i = count; i > 0; i--) {
            sched_queue_done(f->queue, items[i - 1].key);
        }
    }
    assert_true(waits[1] != 2 * waits[0]);
}

static void test_batch(void **state)
{
    struct fixture *f = *state;
    struct sched_queue_item items[4];
    size_t count = 0;
    char key[8];

    for (int i = 0; i < 6; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        add(f, key, i == 5 ? CCM_LANE_URGENT : CCM_LANE_BULK);
    }
    assert_int_equal(sched_queue_get_batch(f->queue, 4, 0, 0, items, &count), 0);
    assert_int_equal(count, 4);
    assert_string_equal(items[0].key, "k5");
    assert_string_equal(items[1].key, "k0");
    add(f, "k0", CCM_LANE_BULK); /* with a worker: not in the next batch */
    assert_int_equal(sched_queue_get_batch(f->queue, 4, 0, 0, &items[0], &count), 0);
    assert_int_equal(count, 2);
    assert_string_equal(items[0].key, "k3");
    assert_string_equal(items[1].key, "k4");
    assert_int_equal(sched_queue_get_batch(f->queue, 4, 0, 0, items, &count), -ETIMEDOUT);
    sched_queue_done(f->queue, "k0");
    assert_int_equal(sched_queue_get_batch(f->queue, 4, 0, 0, items, &count), 0);
    assert_int_equal(count, 1);
}

/* A batch that is not full waits from its first key on, and no longer. */
static void test_batch_waits_to_be_filled(void **state)
{
    struct fixture *f = *state;
    struct sched_queue_item items[3];
    size_t count = 0;
    static const struct {
        const char *add;    /* a key, or NULL */
        int64_t advance_ms; /* then the clock goes on */
        int result;
        size_t count;
    } table[] = {
        { "a", 99, -ETIMEDOUT, 0 }, /* 99 ms after the first key */
        { "b", 0, -ETIMEDOUT, 0 },  /* another one does not prolong it */
        { NULL, 1, 0, 2 },          /* 100 ms: what is there */
        { NULL, 500, -ETIMEDOUT, 0 },
        { "c", 0, -ETIMEDOUT, 0 }, /* an idle queue begins anew */
        { "d", 0, -ETIMEDOUT, 0 },
        { "e", 0, 0, 3 }, /* full: at once */
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        if (table[i].add != NULL) {
            add(f, table[i].add, CCM_LANE_SPEC);
        }
        f->now_ms += table[i].advance_ms;
        assert_int_equal(sched_queue_get_batch(f->queue, 3, 100, 0, items, &count),
                         table[i].result);
        assert_int_equal(table[i].result == 0 ? count : 0, table[i].count);
    }
}

/* What a full batch leaves waits for the next one to be filled, as if it had just come. */
static void test_what_a_batch_leaves_waits_anew(void **state)
{
    struct fixture *f = *state;
    struct sched_queue_item items[4];
    size_t count = 0;
    char key[8];

    for (int i = 0; i < 5; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        add(f, key, CCM_LANE_BULK);
    }
    f->now_ms += 90;
    assert_int_equal(sched_queue_get_batch(f->queue, 4, 100, 0, items, &count), 0);
    assert_int_equal(count, 4);
    f->now_ms += 90;
    assert_int_equal(sched_queue_get_batch(f->queue, 4, 100, 0, items, &count), -ETIMEDOUT);
    f->now_ms += 10;
    assert_int_equal(sched_queue_get_batch(f->queue, 4, 100, 0, items, &count), 0);
    assert_int_equal(count, 1);
    assert_string_equal(items[0].key, "k4");
}

/* --- calm ----------------------------------------------------------------------------------- */

static void *work_off(void *arg)
{
    struct sched_queue *queue = arg;
    struct sched_queue_item item;

    while (sched_queue_get(queue, ccm_clock_now_ms() + 10000, &item) == 0) {
        if (strcmp(item.key, "again") == 0 && sched_queue_num_requeues(queue, "again") < 2) {
            const struct ccm_error err = { .kind = CCM_ERROR_CONFLICT };

            (void)sched_queue_add_rate_limited(queue, item.key, item.lane, &err, 0);
        }
        sched_queue_done(queue, item.key);
    }
    return NULL;
}

static bool is_a(void *arg, const char *key)
{
    (void)arg;
    return strcmp(key, "a") == 0;
}

static void copy_key(void *arg, const char *key)
{
    (void)snprintf(arg, 8, "%s", key); /* short */
}

/* The real clock: what is ready and what comes soon is waited for, what comes late is not. */
static void test_wait_calm(void **state)
{
    static const struct sched_backoff_policy quick = {
        .rules = { [CCM_ERROR_CONFLICT] = { .base_ms = 20, .max_ms = 20 } },
    };
    const struct sched_queue_calm soon = { .horizon_ms = 1000 };
    const struct sched_queue_calm but_a = { .horizon_ms = 1000, .is_through = is_a };
    struct sched_queue *queue = sched_queue_new(&(struct sched_queue_options){ .backoff = &quick });
    struct sched_queue_stats stats;
    pthread_t thread;
    char left[8] = "";

    (void)state;
    assert_int_equal(sched_queue_wait_calm(queue, &soon, ccm_clock_now_ms()), 0);
    assert_int_equal(sched_queue_add(queue, "a", CCM_LANE_SPEC), 0);
    assert_int_equal(sched_queue_wait_calm(queue, &soon, ccm_clock_now_ms() + 20), -ETIMEDOUT);
    sched_queue_list_left(queue, &soon, copy_key, left);
    assert_string_equal(left, "a");
    assert_int_equal(sched_queue_wait_calm(queue, &but_a, ccm_clock_now_ms() + 20), 0);
    assert_int_equal(sched_queue_add(queue, "again", CCM_LANE_SPEC), 0);
    assert_int_equal(sched_queue_add_after(queue, "soon", CCM_LANE_SPEC, 30), 0);
    assert_int_equal(sched_queue_add_after(queue, "late", CCM_LANE_SPEC, 3600000), 0);
    assert_int_equal(pthread_create(&thread, NULL, work_off, queue), 0);
    assert_int_equal(sched_queue_wait_calm(queue, &soon, ccm_clock_now_ms() + 20000), 0);
    sched_queue_get_stats(queue, &stats);
    assert_int_equal(stats.delayed, 1); /* late */
    assert_int_equal(stats.adds, 5);    /* a, soon, again three times */
    sched_queue_shut_down(queue);
    assert_int_equal(sched_queue_wait_calm(queue, &soon, ccm_clock_now_ms()), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    sched_queue_free(queue);
}

/* --- ending --------------------------------------------------------------------------------- */

static void test_shut_down(void **state)
{
    struct fixture *f = *state;
    const struct ccm_error err = error_of(CCM_ERROR_TRANSIENT);
    struct sched_queue_item item;

    add(f, "a", CCM_LANE_SPEC);
    add(f, "b", CCM_LANE_SPEC);
    add_after(f, "c", CCM_LANE_SPEC, 10);
    expect_get(f, "a");
    add(f, "a", CCM_LANE_SPEC);
    sched_queue_shut_down(f->queue);
    sched_queue_shut_down(f->queue);
    assert_int_equal(sched_queue_get(f->queue, 0, &item), -ESHUTDOWN);
    assert_int_equal(sched_queue_add(f->queue, "d", CCM_LANE_SPEC), 0);
    assert_true(sched_queue_add_rate_limited(f->queue, "a", CCM_LANE_SPEC, &err, 0) > 0);
    sched_queue_done(f->queue, "a");
    f->now_ms += 1000000;
    assert_int_equal(sched_queue_get(f->queue, 0, &item), -ESHUTDOWN);
    assert_int_equal(stats_of(f).delayed, 0);
    assert_int_equal(stats_of(f).processing, 0);
}

static void test_drain_gives_up(void **state)
{
    struct fixture *f = *state;
    struct sched_queue_item item;

    add(f, "a", CCM_LANE_SPEC);
    assert_int_equal(sched_queue_drain(f->queue, ccm_clock_now_ms() + 5), -ETIMEDOUT);
    assert_int_equal(sched_queue_get(f->queue, 0, &item), -ESHUTDOWN);
    assert_int_equal(sched_queue_drain(f->queue, 0), 0);
}

/* --- threads, real clock -------------------------------------------------------------------- */

#define PATIENCE_MS 20000

static void *get_until_shutdown(void *arg)
{
    struct sched_queue *queue = arg;
    struct sched_queue_item item;
    uintptr_t taken = 0;

    while (sched_queue_get(queue, ccm_clock_now_ms() + PATIENCE_MS, &item) == 0) {
        taken++;
        sched_queue_done(queue, item.key);
    }
    return (void *)taken;
}

static void test_drain_waits_for_the_rest(void **state)
{
    struct sched_queue *queue = sched_queue_new(NULL);
    pthread_t threads[4];
    uintptr_t total = 0;
    char key[16];

    (void)state;
    assert_non_null(queue);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(sched_queue_add(queue, key, (uint64_t)i % 4), 0);
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, get_until_shutdown, queue), 0);
    }
    assert_int_equal(sched_queue_drain(queue, ccm_clock_now_ms() + PATIENCE_MS), 0);
    for (size_t i = 0; i < CCM_ARRAY_LEN(threads); i++) {
        void *taken;

        assert_int_equal(pthread_join(threads[i], &taken), 0);
        total += (uintptr_t)taken;
    }
    assert_int_equal(total, 1000);
    sched_queue_free(queue);
}

/* Waiting workers are woken by a new key, by a delay that is over, and by the shutdown. */
static void test_waiters_wake_up(void **state)
{
    struct sched_queue *queue = sched_queue_new(NULL);
    pthread_t threads[8];
    uintptr_t total = 0;
    struct sched_queue_stats stats;
    const int64_t begin = ccm_clock_now_ms();
    char key[16];

    (void)state;
    assert_non_null(queue);
    for (size_t i = 0; i < CCM_ARRAY_LEN(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, get_until_shutdown, queue), 0);
    }
    for (int i = 0; i < 64; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(sched_queue_add_after(queue, key, CCM_LANE_SPEC, (64 - i) / 2), 0);
    }
    do {
        sched_queue_get_stats(queue, &stats);
        assert_true(ccm_clock_now_ms() < begin + PATIENCE_MS / 2);
    } while (stats.delayed > 0 || stats.processing > 0 || stats.depth[CCM_LANE_SPEC] > 0);
    sched_queue_shut_down(queue);
    for (size_t i = 0; i < CCM_ARRAY_LEN(threads); i++) {
        void *taken;

        assert_int_equal(pthread_join(threads[i], &taken), 0);
        total += (uintptr_t)taken;
    }
    assert_int_equal(total, 64);
    assert_true(ccm_clock_now_ms() < begin + PATIENCE_MS / 2); /* nobody slept to its deadline */
    sched_queue_free(queue);
}

#define QUEUE_TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

static void test_held(void **state)
{
    struct ccm_gate gate = { 0 };
    struct sched_queue *queue = sched_queue_new(&(struct sched_queue_options){ .gate = &gate });
    struct sched_queue_item item;

    (void)state;
    ccm_gate_set_held(&gate, true);
    assert_int_equal(sched_queue_add(queue, "a", CCM_LANE_SPEC), 0);
    assert_int_equal(sched_queue_get(queue, ccm_clock_now_ms() + 20, &item), -ETIMEDOUT);
    ccm_gate_set_held(&gate, false);
    assert_int_equal(sched_queue_get(queue, ccm_clock_now_ms() + 10000, &item), 0);
    assert_string_equal(item.key, "a");
    sched_queue_done(queue, "a");
    ccm_gate_set_held(&gate, true);
    sched_queue_shut_down(queue); /* nobody waits for the gate then */
    assert_int_equal(sched_queue_get(queue, ccm_clock_now_ms() + 10000, &item), -ESHUTDOWN);
    sched_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held),
        QUEUE_TEST(test_duplicates_collapse),
        QUEUE_TEST(test_dirty_while_processing),
        QUEUE_TEST(test_bad_keys),
        QUEUE_TEST(test_moves_up_never_down),
        cmocka_unit_test(test_lane_shares),
        QUEUE_TEST(test_namespaces_take_turns),
        cmocka_unit_test(test_kept_lanes),
        cmocka_unit_test(test_edited_key_keeps_its_worker),
        cmocka_unit_test(test_edited_key_keeps_its_place),
        QUEUE_TEST(test_delays),
        QUEUE_TEST(test_earliest_delay_wins),
        QUEUE_TEST(test_many_delays_come_in_order),
        QUEUE_TEST(test_delay_of_processed_key),
        QUEUE_TEST(test_backoff_grows_and_forgets),
        QUEUE_TEST(test_failures_wait_in_the_last_lane),
        QUEUE_TEST(test_hurry),
        QUEUE_TEST(test_hurry_of_two_delays),
        QUEUE_TEST(test_cancelled_comes_back_at_once),
        QUEUE_TEST(test_change_replaces_retry),
        QUEUE_TEST(test_asked_delay_survives),
        QUEUE_TEST(test_verdict_needs_processing),
        QUEUE_TEST(test_wait_calm),
        QUEUE_TEST(test_batch),
        QUEUE_TEST(test_batch_shares_the_jitter),
        QUEUE_TEST(test_batch_waits_to_be_filled),
        QUEUE_TEST(test_what_a_batch_leaves_waits_anew),
        QUEUE_TEST(test_shut_down),
        QUEUE_TEST(test_drain_gives_up),
        cmocka_unit_test(test_drain_waits_for_the_rest),
        cmocka_unit_test(test_waiters_wake_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
