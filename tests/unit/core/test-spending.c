/* What a key that goes on failing may cost, through the queue with a clock of its own. */
#include "sched/spending.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ccm/plugin.h"
#include "sched/queue.h"
#include "util/attr.h"

#define HOUR_MS   INT64_C(3600000)
#define TRIES_MAX 20000

struct try_ {
    int64_t at_ms;
    uint32_t calls;
};

struct world {
    int64_t now_ms;
    struct try_ tries[TRIES_MAX];
    size_t len;
};

static struct world world;

static int64_t world_now(void *arg)
{
    (void)arg;
    return world.now_ms;
}

/* How one key fails, over and over. */
struct row {
    uint64_t kinds[4];
    size_t kind_count;
    uint32_t calls[4];
    size_t call_count;
    uint64_t hint_ms;
    int64_t latest_ms; /* another call of it waits for a turn that comes so often */
    uint32_t waits;    /* passes that only wait, and cost one call, before each failure */
    uint32_t most;     /* calls in any hour */
};

static void world_add_try(uint32_t calls)
{
    assert_true(world.len < TRIES_MAX);
    world.tries[world.len++] = (struct try_){ world.now_ms, calls };
}

static void queue_take(struct sched_queue *queue)
{
    struct sched_queue_stats stats;
    struct sched_queue_item item;

    sched_queue_get_stats(queue, &stats);
    world.now_ms += stats.due_in_ms > 0 ? stats.due_in_ms : 0;
    assert_int_equal(sched_queue_get(queue, 0, &item), 0);
}

static void queue_wait_once(struct sched_queue *queue)
{
    queue_take(queue);
    sched_queue_spend(queue, "a/b", 1);
    world_add_try(1);
    sched_queue_requeue_after(queue, "a/b", CCM_LANE_SPEC, 1000);
    sched_queue_done(queue, "a/b");
}

static void queue_fail_once(struct sched_queue *queue, const struct row *row, size_t number)
{
    struct ccm_error err = { .kind = row->kinds[number % row->kind_count],
                             .retry_after_ms = row->hint_ms };
    const uint32_t calls = row->calls[number % row->call_count];
    int64_t most_ms = 0;

    for (uint32_t i = 0; i < row->waits; i++) {
        queue_wait_once(queue);
    }
    queue_take(queue);
    sched_queue_spend(queue, "a/b", calls);
    world_add_try(calls);

    const int64_t peeked = sched_queue_peek_rate_limited(queue, "a/b", &err, &most_ms);
    const int64_t delay =
        sched_queue_add_rate_limited(queue, "a/b", CCM_LANE_SPEC, &err, row->latest_ms);

    assert_true(delay <= peeked && peeked <= most_ms);
    sched_queue_done(queue, "a/b");
}

/* The most calls of any hour that begins an hour after the first failure or later. */
static uint32_t world_most_calls(void)
{
    const int64_t begin = world.tries[0].at_ms + HOUR_MS;
    uint32_t most = 0;

    for (size_t i = 0; i < world.len; i++) {
        uint32_t sum = 0;

        for (size_t k = i; k < world.len && world.tries[i].at_ms >= begin &&
                           world.tries[k].at_ms < world.tries[i].at_ms + HOUR_MS;
             k++) {
            sum += world.tries[k].calls;
        }
        most = sum > most ? sum : most;
    }
    return most;
}

static struct sched_queue *world_begin(uint64_t seed)
{
    struct sched_queue *queue = sched_queue_new(
        &(struct sched_queue_options){ .now_ms = world_now, .arg = &world, .seed = seed });

    world.now_ms = 1000;
    world.len = 0;
    assert_non_null(queue);
    assert_int_equal(sched_queue_add(queue, "a/b", CCM_LANE_SPEC), 0);
    return queue;
}

static void row_check(size_t number, const struct row *row, uint64_t seed)
{
    struct sched_queue *queue = world_begin(seed);

    for (size_t i = 0; world.now_ms < 12 * HOUR_MS; i++) {
        queue_fail_once(queue, row, i);
    }
    if (world_most_calls() > row->most) {
        fail_msg("row %zu, seed %" PRIu64 ": %" PRIu32 " calls in an hour", number, seed,
                 world_most_calls());
    }
    sched_queue_free(queue);
}

#define KIND(name) CCM_ERROR_##name

static void test_an_hour(void **state)
{
    static const struct row rows[] = {
        { { KIND(TERMINAL) }, 1, { 7 }, 1, 0, 0, 0, 30 },
        { { KIND(TRANSIENT) }, 1, { 7 }, 1, 0, 0, 0, 30 },
        { { KIND(TRANSIENT) }, 1, { 1 }, 1, 0, 0, 0, 6 },
        { { KIND(AUTH) }, 1, { 12 }, 1, 0, 0, 0, 30 },
        { { KIND(NOT_FOUND) }, 1, { 30 }, 1, 0, 0, 0, 30 },
        { { KIND(CONFLICT) }, 1, { 16 }, 1, 0, 0, 0, 30 },
        /* kinds that take turns, and with them what a pass costs */
        { { KIND(TRANSIENT), KIND(CONFLICT), KIND(NOT_FOUND), KIND(AUTH) },
          4,
          { 7 },
          1,
          0,
          0,
          0,
          30 },
        { { KIND(TRANSIENT), KIND(TERMINAL), KIND(BUG), KIND(AUTH) },
          4,
          { 2, 9, 4 },
          3,
          0,
          0,
          0,
          30 },
        { { KIND(TERMINAL), KIND(AUTH) }, 2, { 1, 15 }, 2, 0, 0, 0, 30 },
        /* throttled, with and without a hint of the cloud */
        { { KIND(THROTTLED) }, 1, { 10 }, 1, 0, 0, 0, 30 },
        { { KIND(THROTTLED) }, 1, { 10 }, 1, 1000, 0, 0, 30 },
        { { KIND(THROTTLED), KIND(TRANSIENT) }, 2, { 3 }, 1, 1000, 0, 0, 30 },
        /* beside a call whose turn comes each second */
        { { KIND(TERMINAL) }, 1, { 5 }, 1, 0, 1000, 0, 30 },
        /* three passes that wait before each that fails */
        { { KIND(TERMINAL), KIND(TRANSIENT) }, 2, { 4 }, 1, 0, 0, 3, 30 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        for (uint64_t seed = 1; seed <= 20; seed++) {
            row_check(i, &rows[i], seed);
        }
    }
}

/* What costs more than that at once is true of the mean: 50 ports that are refused one by one. */
static void test_dear_ones(void **state)
{
    static const struct row row = { { CCM_ERROR_TERMINAL }, 1, { 55 }, 1, 0, 0, 0, 55 };
    uint32_t sum = 0;

    (void)state;
    row_check(0, &row, 3);
    for (size_t i = 0; i < world.len; i++) {
        sum += world.tries[i].at_ms >= HOUR_MS ? world.tries[i].calls : 0;
    }
    assert_true(sum <= (uint32_t)((world.tries[world.len - 1].at_ms / HOUR_MS + 1) * 30));
}

/* The first hour, and all that succeeded meanwhile, is as the backoff has it. */
static void test_success_forgets(void **state)
{
    static const struct row row = { { CCM_ERROR_TRANSIENT }, 1, { 29 }, 1, 0, 0, 0, 0 };
    const struct ccm_error err = { .kind = CCM_ERROR_TRANSIENT };
    struct sched_queue *queue = world_begin(5);

    (void)state;
    for (size_t i = 0; world.now_ms < 3 * HOUR_MS; i++) {
        queue_fail_once(queue, &row, i);
    }
    queue_take(queue);
    sched_queue_forget(queue, "a/b");
    assert_true(sched_queue_add_rate_limited(queue, "a/b", CCM_LANE_SPEC, &err, 0) <= 1500);
    sched_queue_done(queue, "a/b");
    sched_queue_free(queue);
}

/* How long the key waits that fails now, while something of it waits for a turn in a second. */
static int64_t queue_fail_beside_turn(struct sched_queue *queue)
{
    const struct ccm_error err = { .kind = CCM_ERROR_TERMINAL };

    queue_take(queue);
    sched_queue_spend(queue, "a/b", 5);

    const int64_t delay = sched_queue_add_rate_limited(queue, "a/b", CCM_LANE_SPEC, &err, 1000);

    sched_queue_done(queue, "a/b");
    return delay;
}

/* One port has failed for days. What a change asks for at the others has to wait for turns, and has
 * them; what has so many of them is no change any more. */
static void test_a_change_has_its_turns(void **state)
{
    static const struct row row = { { CCM_ERROR_TERMINAL }, 1, { 7 }, 1, 0, 0, 0, 30 };
    struct sched_queue *queue = world_begin(7);

    (void)state;
    for (size_t i = 0; world.now_ms < 12 * HOUR_MS; i++) {
        queue_fail_once(queue, &row, i);
    }
    for (int change = 0; change < 3; change++) {
        int64_t delay = 0;
        int turns = -1;

        world.now_ms += 1000;
        assert_int_equal(sched_queue_add(queue, "a/b", CCM_LANE_BACKENDS), 0);
        for (delay = 1000; delay == 1000; turns++) {
            delay = queue_fail_beside_turn(queue);
        }
        assert_int_equal(turns, 30);
        assert_true(delay > 600000);
    }
    sched_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_hour),
        cmocka_unit_test(test_dear_ones),
        cmocka_unit_test(test_success_forgets),
        cmocka_unit_test(test_a_change_has_its_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
