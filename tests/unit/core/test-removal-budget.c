#include "util/removal_budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/attr.h"

#define WINDOW 300000
#define START  1000000 /* a monotonic clock that runs for a while */

static struct ccm_removal_rule rule_of(uint32_t share)
{
    return (struct ccm_removal_rule){ .window_ms = WINDOW, .share_percent = share };
}

/* What may go of something that lost nothing so far. */
static void test_share_of_what_is_there(void **state)
{
    static const struct {
        uint32_t share;
        size_t size;
        size_t want;
    } rows[] = {
        { 50, 0, 0 },        { 50, 1, 1 },
        { 50, 2, 1 },        { 50, 3, 1 },
        { 50, 4, 2 },        { 50, 5, 2 },
        { 50, 6, 3 },        { 50, 50, 25 },
        { 50, 49, 24 },      { 10, 5, 1 },
        { 10, 9, 1 },        { 10, 10, 1 },
        { 10, 20, 2 },       { 99, 3, 1 },
        { 99, 4, 3 },        { 99, 1000, 990 },
        { 100, 1, 1 },       { 100, 3, 3 },
        { 100, 1000, 1000 }, { 0, 1, 0 },
        { 0, 1000, 0 },      { 50, SIZE_MAX, SIZE_MAX / 100 * 50 + SIZE_MAX % 100 * 50 / 100 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct ccm_removal_rule rule = rule_of(rows[i].share);
        struct ccm_removal_budget budget = { .len = 0 };
        const size_t got = ccm_removal_allowed(&budget, &rule, rows[i].size, START);

        if (rows[i].size < UINT32_MAX) {
            assert_int_equal(got, rows[i].want);
        } else {
            assert_true(got <= rows[i].want);
        }
        assert_int_equal(ccm_removal_next_ms(&budget, &rule, rows[i].size, START),
                         rows[i].want > 0 ? START : CCM_REMOVAL_NEVER);
    }
}

/* What is there at some time, how many are asked to go, how many may. */
struct round {
    int64_t at_ms;
    size_t size;
    size_t wanted;
    size_t allowed;
    int64_t next_ms; /* after what was allowed has gone; relative to START */
};

static void run_rounds(uint32_t share, const struct round *rounds, size_t count)
{
    const struct ccm_removal_rule rule = rule_of(share);
    struct ccm_removal_budget budget = { .len = 0 };

    for (size_t i = 0; i < count; i++) {
        const struct round *round = &rounds[i];
        const int64_t now = START + round->at_ms;
        const size_t allowed = ccm_removal_allowed(&budget, &rule, round->size, now);
        const size_t gone = allowed < round->wanted ? allowed : round->wanted;

        assert_int_equal(allowed, round->allowed);
        if (gone > 0) {
            ccm_removal_record(&budget, &rule, round->size, gone, now);
        }

        const int64_t next = ccm_removal_next_ms(&budget, &rule, round->size - gone, now);

        assert_int_equal(next, round->next_ms == CCM_REMOVAL_NEVER ? CCM_REMOVAL_NEVER
                                                                   : START + round->next_ms);
    }
}

static void test_all_at_once(void **state)
{
    static const struct round rounds[] = {
        { 0, 50, 49, 25, WINDOW },
        { 1000, 25, 24, 0, WINDOW },
        { WINDOW - 1, 25, 24, 0, WINDOW },
        { WINDOW, 25, 24, 12, WINDOW + WINDOW },
        { 2 * WINDOW, 13, 12, 6, 3 * WINDOW },
    };

    (void)state;
    run_rounds(50, rounds, CCM_ARRAY_LEN(rounds));
}

/* One after the other: the window adds them up, and each of them lets one more go when it leaves.
 */
static void test_one_after_the_other(void **state)
{
    static const struct round rounds[] = {
        { 0, 6, 1, 3, 0 },
        { 60000, 5, 1, 2, 60000 },
        { 120000, 4, 1, 1, WINDOW + 60000 },
        { 180000, 3, 1, 0, WINDOW + 60000 },
        { WINDOW, 3, 1, 0, WINDOW + 60000 },
    };

    (void)state;
    /* At WINDOW: 3 are there, 2 went, so the base is 5: its share is 2, and 2 went. */
    run_rounds(50, rounds, CCM_ARRAY_LEN(rounds));
}

static void test_small_ones_go_one_per_window(void **state)
{
    static const struct round rounds[] = {
        { 0, 3, 3, 1, WINDOW },
        { 100, 2, 2, 0, WINDOW },
        { WINDOW, 2, 2, 1, 2 * WINDOW },
        { 2 * WINDOW, 1, 1, 1, CCM_REMOVAL_NEVER },
        { 2 * WINDOW + 1, 0, 0, 0, CCM_REMOVAL_NEVER },
    };

    (void)state;
    run_rounds(50, rounds, CCM_ARRAY_LEN(rounds));
}

/* What other reasons took away gives no right to more, and what comes back none either. */
static void test_the_base_is_the_smaller_one(void **state)
{
    static const struct round fewer[] = {
        { 0, 100, 0, 50, 0 },
        { 1000, 10, 9, 5, WINDOW + 1000 },
    };
    static const struct round back[] = {
        { 0, 100, 50, 50, WINDOW },
        { 20000, 100, 50, 0, WINDOW },
    };
    static const struct round grown[] = {
        { 0, 4, 2, 2, WINDOW },
        { 20000, 40, 40, 18, WINDOW },
    };

    (void)state;
    run_rounds(50, fewer, CCM_ARRAY_LEN(fewer));
    run_rounds(50, back, CCM_ARRAY_LEN(back));
    run_rounds(50, grown, CCM_ARRAY_LEN(grown));
}

/* Looking often neither fills the notes nor keeps a removal from leaving the window. */
static void test_looks_do_not_prolong(void **state)
{
    const struct ccm_removal_rule rule = rule_of(50);
    struct ccm_removal_budget budget = { .len = 0 };

    (void)state;
    assert_int_equal(ccm_removal_allowed(&budget, &rule, 3, START), 1);
    ccm_removal_record(&budget, &rule, 3, 1, START);
    for (int64_t ms = 0; ms < WINDOW; ms += 100) {
        assert_int_equal(ccm_removal_allowed(&budget, &rule, 2, START + ms), 0);
        assert_true(budget.len <= CCM_REMOVAL_MOMENTS);
        assert_int_equal(ccm_removal_next_ms(&budget, &rule, 2, START + ms), START + WINDOW);
    }
    assert_int_equal(ccm_removal_allowed(&budget, &rule, 2, START + WINDOW), 1);
}

/* Whatever is asked at whatever time: never more than the share in any window. */
static void test_no_window_loses_more(void **state)
{
    const struct ccm_removal_rule rule = rule_of(50);
    enum { ROUNDS = 400, STEP = 7000, SIZE = 40 };
    struct ccm_removal_budget budget = { .len = 0 };
    size_t gone[ROUNDS] = { 0 };

    (void)state;
    for (size_t i = 0; i < ROUNDS; i++) {
        const int64_t now = START + (int64_t)i * STEP;
        const size_t left = ccm_removal_allowed(&budget, &rule, SIZE, now);
        size_t sum = 0;

        gone[i] = left < 1 + i % 3 ? left : 1 + i % 3; /* others come in their place */
        ccm_removal_record(&budget, &rule, SIZE, gone[i], now);
        for (size_t k = i + 1; k > 0 && (int64_t)(i + 1 - k) * STEP < WINDOW; k--) {
            sum += gone[k - 1];
        }
        assert_true(sum <= SIZE / 2);
        assert_true(budget.len <= CCM_REMOVAL_MOMENTS);
    }
}

static void test_released_for_one_window(void **state)
{
    struct ccm_removal_rule rule = rule_of(50);
    struct ccm_removal_budget budget = { .len = 0 };

    (void)state;
    assert_int_equal(ccm_removal_allowed(&budget, &rule, 10, START), 5);
    ccm_removal_record(&budget, &rule, 10, 5, START);
    assert_int_equal(ccm_removal_allowed(&budget, &rule, 5, START + 1), 0);
    ccm_removal_release(&rule, START + 1);
    assert_int_equal(ccm_removal_allowed(&budget, &rule, 5, START + 1), 5);
    ccm_removal_record(&budget, &rule, 5, 3, START + 1);
    assert_int_equal(ccm_removal_allowed(&budget, &rule, 2, START + WINDOW), 2);
    /* Then they count as all others do: 2 are there, 3 went since, the base is 5. */
    assert_int_equal(ccm_removal_allowed(&budget, &rule, 2, START + WINDOW + 1), 1);
}

static void test_share_of_nothing_is_released_too(void **state)
{
    struct ccm_removal_rule rule = rule_of(0);
    struct ccm_removal_budget budget = { .len = 0 };

    (void)state;
    assert_int_equal(ccm_removal_allowed(&budget, &rule, 10, START), 0);
    ccm_removal_release(&rule, START);
    assert_int_equal(ccm_removal_allowed(&budget, &rule, 10, START), 10);
}

static void test_idle(void **state)
{
    const struct ccm_removal_rule rule = rule_of(50);
    struct ccm_removal_budget budget = { .len = 0 };

    (void)state;
    assert_true(ccm_removal_is_idle(&budget, &rule, START));
    ccm_removal_record(&budget, &rule, 3, 1, START);
    assert_false(ccm_removal_is_idle(&budget, &rule, START + WINDOW - 1));
    assert_true(ccm_removal_is_idle(&budget, &rule, START + WINDOW));
}

/* A window that was made longer finds notes that lie close together. */
static void test_another_window(void **state)
{
    struct ccm_removal_rule rule = { .window_ms = 1600, .share_percent = 50 };
    struct ccm_removal_budget budget = { .len = 0 };
    int64_t now = START;

    (void)state;
    for (int i = 0; i < 16; i++, now += 100) {
        ccm_removal_record(&budget, &rule, 100, 1, now);
    }
    rule.window_ms = WINDOW;
    for (int i = 0; i < 16; i++, now += 20000) {
        ccm_removal_record(&budget, &rule, 100, 1, now);
        assert_true(budget.len <= CCM_REMOVAL_MOMENTS);
    }
    assert_true(ccm_removal_allowed(&budget, &rule, 68, now) <= 34);
}

static void test_due(void **state)
{
    static const struct {
        int64_t missing;
        int64_t server;
        int64_t want;
    } rows[] = {
        { START, 1, START + 5000 },
        { START, START + 2000, START + 7000 },
        { START, 0, CCM_REMOVAL_NEVER },
    };
    const struct ccm_removal_rule rule = { .missing_wait_ms = 5000 };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        assert_int_equal(ccm_removal_due_ms(&rule, rows[i].missing, rows[i].server), rows[i].want);
    }
}

static int64_t since_seven(const struct ccm_host *host CCM_UNUSED)
{
    return 7;
}

static void test_older_hosts(void **state)
{
    const struct ccm_host old = { .struct_size = offsetof(struct ccm_host, server_since_ms) };
    const struct ccm_host now = { .struct_size = sizeof(now), .server_since_ms = since_seven };

    (void)state;
    assert_int_equal(ccm_removal_server_since(&old), 1);
    assert_int_equal(ccm_removal_server_since(&now), 7);
    ccm_removal_record_held(&old, "table", 3, "nodes are missing"); /* nobody to tell */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share_of_what_is_there),
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_small_ones_go_one_per_window),
        cmocka_unit_test(test_the_base_is_the_smaller_one),
        cmocka_unit_test(test_looks_do_not_prolong),
        cmocka_unit_test(test_no_window_loses_more),
        cmocka_unit_test(test_released_for_one_window),
        cmocka_unit_test(test_share_of_nothing_is_released_too),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_another_window),
        cmocka_unit_test(test_due),
        cmocka_unit_test(test_older_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
