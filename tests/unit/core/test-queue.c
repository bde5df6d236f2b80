/* The sets of a queue: what is handed out once, in batches, and at the end. */
#include "queue_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/attr.h"
#include "util/clock.h"

/* --- sets ----------------------------------------------------------------------------------- */

static void test_duplicates_collapse(void **state)
{
    struct fixture *f = *state;

    add_key(f, "a", CCM_LANE_SPEC);
    add_key(f, "b", CCM_LANE_SPEC);
    add_key(f, "a", CCM_LANE_SPEC);
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

    add_key(f, "a", CCM_LANE_BULK);
    expect_get(f, "a");
    add_key(f, "a", CCM_LANE_BULK);
    add_key(f, "a", CCM_LANE_URGENT);
    assert_int_equal(stats_of(f).processing, 1);
    expect_get(f, NULL); /* never with two workers */
    add_key(f, "b", CCM_LANE_SPEC);
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
        add_key(f, "a", CCM_LANE_SPEC);
        add_key(f, "b", CCM_LANE_BULK);
        add_key(f, "c", CCM_LANE_SPEC);
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
        f->now_ms += waits[round];
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
        add_key(f, key, i == 5 ? CCM_LANE_URGENT : CCM_LANE_BULK);
    }
    assert_int_equal(sched_queue_get_batch(f->queue, 4, 0, 0, items, &count), 0);
    assert_int_equal(count, 4);
    assert_string_equal(items[0].key, "k5");
    assert_string_equal(items[1].key, "k0");
    add_key(f, "k0", CCM_LANE_BULK); /* with a worker: not in the next batch */
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
            add_key(f, table[i].add, CCM_LANE_SPEC);
        }
        f->now_ms += table[i].advance_ms;
        assert_int_equal(sched_queue_get_batch(f->queue, 3, 100, 0, items, &count),
                         table[i].result);
        assert_int_equal(table[i].result == 0 ? count : 0, table[i].count);
    }
}

/* A key that moves to another lane does not begin the wait anew. */
static void test_batch_of_a_moved_key(void **state)
{
    struct fixture *f = *state;
    struct sched_queue_item items[3];
    size_t count = 0;

    add_key(f, "a", CCM_LANE_BULK);
    f->now_ms += 60;
    add_key(f, "a", CCM_LANE_URGENT);
    f->now_ms += 39;
    assert_int_equal(sched_queue_get_batch(f->queue, 3, 100, 0, items, &count), -ETIMEDOUT);
    f->now_ms += 1;
    assert_int_equal(sched_queue_get_batch(f->queue, 3, 100, 0, items, &count), 0);
    assert_int_equal(count, 1);
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
        add_key(f, key, CCM_LANE_BULK);
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

    add_key(f, "a", CCM_LANE_SPEC);
    add_key(f, "b", CCM_LANE_SPEC);
    add_after(f, "c", CCM_LANE_SPEC, 10);
    expect_get(f, "a");
    add_key(f, "a", CCM_LANE_SPEC);
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

    add_key(f, "a", CCM_LANE_SPEC);
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
        QUEUE_TEST(test_duplicates_collapse),
        QUEUE_TEST(test_dirty_while_processing),
        QUEUE_TEST(test_bad_keys),
        QUEUE_TEST(test_batch_shares_the_jitter),
        QUEUE_TEST(test_batch),
        QUEUE_TEST(test_batch_waits_to_be_filled),
        QUEUE_TEST(test_batch_of_a_moved_key),
        QUEUE_TEST(test_what_a_batch_leaves_waits_anew),
        QUEUE_TEST(test_wait_calm),
        QUEUE_TEST(test_shut_down),
        QUEUE_TEST(test_drain_gives_up),
        cmocka_unit_test(test_drain_waits_for_the_rest),
        cmocka_unit_test(test_waiters_wake_up),
        cmocka_unit_test(test_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
