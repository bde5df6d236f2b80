#include "sched/backoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/attr.h"

/* The longest wait of the n-th failure (random at its top), and the shortest. */
static void check(uint64_t kind, uint64_t hint, unsigned nth, int64_t low, int64_t high)
{
    struct ccm_error err = CCM_ERROR_INIT;
    struct sched_backoff a = { 0 };
    struct sched_backoff b = { 0 };
    int64_t least = -1;
    int64_t most = -1;

    err.kind = kind;
    err.retry_after_ms = hint;
    for (unsigned i = 0; i < nth; i++) {
        least = sched_backoff_next_ms(&a, &sched_backoff_default, &err, 0);
        most = sched_backoff_next_ms(&b, &sched_backoff_default, &err, UINT32_MAX);
    }
    assert_int_equal(least, low);
    assert_int_equal(most, high);
}

static void test_table(void **state)
{
    static const struct {
        uint64_t kind;
        uint64_t hint;
        unsigned nth;
        int64_t low, high;
    } table[] = {
        { CCM_ERROR_TRANSIENT, 0, 1, 750, 1500 },
        { CCM_ERROR_TRANSIENT, 0, 2, 1500, 3000 },
        { CCM_ERROR_TRANSIENT, 0, 8, 96000, 192000 },
        { CCM_ERROR_TRANSIENT, 0, 10, 468000, 768000 },
        { CCM_ERROR_TRANSIENT, 0, 300, 900000, 1200000 }, /* the counter saturates */
        { CCM_ERROR_NOT_FOUND, 0, 2, 1500, 3000 },
        { CCM_ERROR_NONE, 0, 1, 750, 1500 }, /* a plugin that forgot to set it */
        { 4711, 0, 1, 750, 1500 },           /* a kind of a later version */
        { CCM_ERROR_THROTTLED, 0, 1, 2000, 4000 },
        { CCM_ERROR_THROTTLED, 0, 20, 60000, 120000 },
        { CCM_ERROR_THROTTLED, 700, 1, 700, 1050 },
        { CCM_ERROR_THROTTLED, 700, 9, 700, 1050 },
        { CCM_ERROR_THROTTLED, UINT64_MAX, 1, 600000, 900000 }, /* not believed for ever */
        { CCM_ERROR_CONFLICT, 0, 1, 50, 100 },
        { CCM_ERROR_CONFLICT, 0, 2, 2000, 4000 },
        { CCM_ERROR_CONFLICT, 0, 5, 16000, 32000 },
        { CCM_ERROR_CONFLICT, 0, 20, 900000, 1200000 },
        { CCM_ERROR_AUTH, 0, 1, 15000, 30000 },
        { CCM_ERROR_AUTH, 0, 9, 900000, 1200000 },
        { CCM_ERROR_TERMINAL, 0, 1, 300000, 600000 },
        { CCM_ERROR_TERMINAL, 0, 5, 3300000, 3600000 },
        { CCM_ERROR_BUG, 0, 1, 300000, 600000 },
        { CCM_ERROR_CANCELLED, 0, 1, 0, 0 },
        { CCM_ERROR_CANCELLED, 5000, 9, 0, 0 },
        { CCM_ERROR_TRANSIENT, 20000, 1, 20000, 30000 }, /* a hint is never undercut */
        { CCM_ERROR_CONFLICT, UINT64_MAX, 1, 600000, 900000 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        check(table[i].kind, table[i].hint, table[i].nth, table[i].low, table[i].high);
    }
}

/* Whatever fails, and however often: never more than three tries in five seconds. */
static void test_no_busy_loop(void **state)
{
    (void)state;
    for (uint64_t kind = CCM_ERROR_NONE; kind < SCHED_BACKOFF_KINDS; kind++) {
        struct sched_backoff backoff = { 0 };
        int64_t at[32] = { 0 }; /* of the tries, when all waits are as short as can be */

        for (size_t i = 1; kind != CCM_ERROR_CANCELLED && i < CCM_ARRAY_LEN(at); i++) {
            struct ccm_error err = CCM_ERROR_INIT;

            err.kind = kind;
            at[i] = at[i - 1] + sched_backoff_next_ms(&backoff, &sched_backoff_default, &err, 0);
            assert_true(i < 3 || at[i] - at[i - 3] > 5000);
        }
    }
}

/* The most tries in any hour of three, from an hour after the first try on, when each wait is as
 * short as it can be and the failure is of these kinds in turn. */
static size_t most_tries_of_an_hour(const uint64_t *kinds, size_t count)
{
    static const int64_t hour_ms = 3600 * 1000;
    struct sched_backoff backoff = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    int64_t at[256];
    size_t tries = 0;
    size_t first = 0;
    size_t most = 0;

    for (int64_t now = 0; now < 4 * hour_ms; tries++) {
        assert_true(tries < CCM_ARRAY_LEN(at));
        at[tries] = now;
        while (at[first] <= now - hour_ms || (at[first] < hour_ms && first < tries)) {
            first++;
        }
        most = at[first] >= hour_ms && tries + 1 - first > most ? tries + 1 - first : most;
        err.kind = kinds[tries % count];
        now += sched_backoff_next_ms(&backoff, &sched_backoff_default, &err, 0);
    }
    return most;
}

/* A pass over a Service of two ports that fails makes at most seven calls: that is 30 an hour. */
static void test_lasting_failures_leave_the_quota_alone(void **state)
{
    static const struct {
        uint64_t kinds[3];
        size_t count;
    } rows[] = {
        { { CCM_ERROR_TRANSIENT }, 1 },
        { { CCM_ERROR_CONFLICT }, 1 },
        { { CCM_ERROR_NOT_FOUND }, 1 },
        { { CCM_ERROR_AUTH }, 1 },
        { { CCM_ERROR_TERMINAL }, 1 },
        { { CCM_ERROR_BUG }, 1 },
        { { CCM_ERROR_TRANSIENT, CCM_ERROR_CONFLICT }, 2 },
        { { CCM_ERROR_TRANSIENT, CCM_ERROR_CONFLICT, CCM_ERROR_NOT_FOUND }, 3 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const size_t most = most_tries_of_an_hour(rows[i].kinds, rows[i].count);

        if (most > 4) {
            fail_msg("row %zu: %zu tries", i, most);
        }
    }
}

static void test_kinds_count_apart(void **state)
{
    struct ccm_error transient = CCM_ERROR_INIT;
    struct ccm_error terminal = CCM_ERROR_INIT;
    struct ccm_error cancelled = CCM_ERROR_INIT;
    struct sched_backoff backoff = { 0 };

    (void)state;
    transient.kind = CCM_ERROR_TRANSIENT;
    terminal.kind = CCM_ERROR_TERMINAL;
    cancelled.kind = CCM_ERROR_CANCELLED;
    for (int i = 0; i < 3; i++) {
        assert_true(sched_backoff_next_ms(&backoff, &sched_backoff_default, &transient, 0) > 0);
        assert_int_equal(sched_backoff_next_ms(&backoff, &sched_backoff_default, &cancelled, 0), 0);
    }
    assert_int_equal(sched_backoff_failures(&backoff), 3);
    assert_int_equal(sched_backoff_next_ms(&backoff, &sched_backoff_default, &terminal, UINT32_MAX),
                     600000);
    assert_int_equal(
        sched_backoff_next_ms(&backoff, &sched_backoff_default, &transient, UINT32_MAX), 12000);
    sched_backoff_forget(&backoff);
    assert_int_equal(sched_backoff_failures(&backoff), 0);
    assert_int_equal(
        sched_backoff_next_ms(&backoff, &sched_backoff_default, &transient, UINT32_MAX), 1500);
}

/* An early try that fails waits as long as the one before, and the next one is not lengthened. */
static void test_early_tries_do_not_double(void **state)
{
    struct ccm_error err = CCM_ERROR_INIT;
    struct sched_backoff backoff = { 0 };
    const int64_t expected[] = { 1500, 3000, 6000 };

    (void)state;
    err.kind = CCM_ERROR_TRANSIENT;
    for (size_t i = 0; i < CCM_ARRAY_LEN(expected); i++) {
        assert_int_equal(sched_backoff_next_ms(&backoff, &sched_backoff_default, &err, UINT32_MAX),
                         expected[i]);
        for (int early = 0; early < 10; early++) {
            backoff.early = true;
            assert_int_equal(
                sched_backoff_next_ms(&backoff, &sched_backoff_default, &err, UINT32_MAX),
                expected[i]);
        }
        assert_int_equal(sched_backoff_failures(&backoff), i + 1);
    }
    sched_backoff_forget(&backoff);
    backoff.early = true; /* the wait was no failure's */
    assert_int_equal(sched_backoff_next_ms(&backoff, &sched_backoff_default, &err, UINT32_MAX),
                     1500);
    assert_int_equal(sched_backoff_failures(&backoff), 1);
}

static void test_policy_is_configurable(void **state)
{
    const struct sched_backoff_policy policy = {
        .rules = { [CCM_ERROR_TRANSIENT] = { .base_ms = 3, .max_ms = 7 } },
    };
    struct ccm_error err = CCM_ERROR_INIT;
    struct sched_backoff backoff = { 0 };
    static const int64_t expected[] = { 3, 6, 7, 7 };

    (void)state;
    err.kind = CCM_ERROR_TRANSIENT;
    for (size_t i = 0; i < CCM_ARRAY_LEN(expected); i++) {
        assert_int_equal(sched_backoff_next_ms(&backoff, &policy, &err, UINT32_MAX), expected[i]);
    }
}

/* Jitter uses the whole range: a thousand keys that fail together do not come back together. */
static void test_jitter_spreads(void **state)
{
    struct ccm_error err = CCM_ERROR_INIT;
    unsigned tenths[10] = { 0 };
    uint64_t seed = 42;

    (void)state;
    err.kind = CCM_ERROR_TRANSIENT;
    for (int i = 0; i < 1000; i++) {
        struct sched_backoff backoff = { 0 };
        const int64_t wait = sched_backoff_next_ms(&backoff, &sched_backoff_default, &err,
                                                   sched_backoff_random(&seed));

        assert_in_range(wait, 750, 1500);
        tenths[(wait - 750) * 10 / 751]++;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(tenths); i++) {
        assert_in_range(tenths[i], 50, 150);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_no_busy_loop),
        cmocka_unit_test(test_lasting_failures_leave_the_quota_alone),
        cmocka_unit_test(test_kinds_count_apart),
        cmocka_unit_test(test_early_tries_do_not_double),
        cmocka_unit_test(test_policy_is_configurable),
        cmocka_unit_test(test_jitter_spreads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
