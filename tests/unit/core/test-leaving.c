/* Who of those that leave may go: tables, and properties of random ones. */
#include "util/leaving.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/attr.h"

#define WINDOW 300000
#define NOW    1000000
#define NEVER  CCM_REMOVAL_NEVER

static const struct ccm_removal_rule rule = { .window_ms = WINDOW, .share_percent = 50 };

/* A digit is its rank, and it is due; P is proven; A is of rank 0 and the cloud can confirm it; W
 * waits for a minute; N for a change. */
static struct ccm_leaving case_of(char letter)
{
    struct ccm_leaving one = { .due_ms = NOW };

    if (letter >= '0' && letter <= '9') {
        one.rank = (unsigned)(letter - '0');
    }
    one.proven = letter == 'P';
    one.provable = letter == 'A' || letter == 'P';
    one.due_ms = letter == 'W' ? NOW + 60000 : letter == 'N' ? NEVER : NOW;
    one.again_ms = one.due_ms;
    return one;
}

static void test_who_goes(void **state)
{
    static const struct {
        const char *what;
        size_t size;
        const char *cases;
        const char *verdict; /* - goes, ? stays unless the cloud confirms it, + stays */
        int64_t again_ms;
    } rows[] = {
        { "nothing leaves", 4, "", "", NEVER },
        { "half", 4, "00", "--", NEVER },
        { "more than half", 4, "000", "--+", NOW + WINDOW },
        { "of a small one", 3, "00", "-+", NOW + WINDOW },
        { "the lowest rank first", 4, "3210", "++--", NOW + WINDOW },
        { "the cloud can be asked", 4, "0A0A", "--+?", NOW + WINDOW },
        { "the cloud has confirmed it: nothing of the budget", 4, "PPP0", "----", NEVER },
        { "what waits takes nothing", 4, "WW00", "++--", NOW + 60000 },
        { "what waits for a change", 4, "N", "+", NEVER },
        { "the sooner of two", 2, "00W", "-++", NOW + 60000 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct ccm_removal_budget budget = { .len = 0 };
        const size_t count = strlen(rows[i].cases);
        struct ccm_leaving cases[8] = { { 0 } };
        char verdict[8] = "";

        for (size_t k = 0; k < count; k++) {
            cases[k] = case_of(rows[i].cases[k]);
        }

        const int64_t again_ms =
            ccm_leaving_decide(&rule, &budget, rows[i].size, NOW, cases, count);

        for (size_t k = 0; k < count; k++) {
            verdict[k] = cases[k].goes ? '-' : cases[k].asks ? '?' : '+';
        }
        if (strcmp(verdict, rows[i].verdict) != 0 || again_ms != rows[i].again_ms) {
            fail_msg("%s: %s, again %lld", rows[i].what, verdict, (long long)again_ms);
        }
    }
}

static unsigned random_below(unsigned limit)
{
    static uint64_t seed = UINT64_C(88172645463325252);

    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % limit);
}

static struct ccm_leaving random_case(void)
{
    const int64_t due_ms = random_below(4) == 0 ? NEVER : NOW - 500 + random_below(1000);

    return (struct ccm_leaving){ .rank = random_below(CCM_LEAVING_RANKS),
                                 .provable = random_below(2) == 0,
                                 .proven = random_below(8) == 0,
                                 .goes = random_below(2) == 0,
                                 .asks = random_below(2) == 0,
                                 .due_ms = due_ms,
                                 .again_ms = due_ms };
}

static bool goes_by_budget(const struct ccm_leaving *one)
{
    return one->goes && !one->proven;
}

/* What holds of one of them, when `gone` went and `left` could. */
static void check_case(const struct ccm_leaving *cases, size_t count, size_t i, size_t gone,
                       size_t left, int64_t again_ms)
{
    const struct ccm_leaving *one = &cases[i];
    const bool due = one->due_ms <= NOW;

    assert_true(one->goes || !one->proven);
    assert_true(!goes_by_budget(one) || due);
    assert_int_equal(one->asks, !one->goes && due && one->provable);
    assert_true(one->goes || again_ms <= one->again_ms);
    assert_true(one->goes || !due || gone == left);
    for (size_t k = 0; k < count; k++) { /* a better one never stays for it */
        assert_false(goes_by_budget(one) && !cases[k].goes && cases[k].due_ms <= NOW &&
                     cases[k].rank < one->rank);
    }
}

static void test_random_ones(void **state)
{
    (void)state;
    for (int round = 0; round < 100000; round++) {
        const struct ccm_removal_rule any = { .window_ms = 1 + random_below(1000),
                                              .share_percent = random_below(101),
                                              .released_until_ms =
                                                  random_below(12) == 0 ? NOW + 1 : 0 };
        struct ccm_removal_budget budget = { .len = 0 };
        struct ccm_leaving cases[16];
        const size_t size = random_below(15);
        const size_t count = size == 0 ? 0 : random_below((unsigned)size + 1);
        size_t gone = 0;

        ccm_removal_record(&budget, &any, random_below(20), random_below(4),
                           NOW - random_below(1000));
        for (size_t i = 0; i < count; i++) {
            cases[i] = random_case();
        }

        struct ccm_removal_budget copy = budget;
        const size_t left = ccm_removal_allowed(&copy, &any, size, NOW);
        const int64_t again_ms = ccm_leaving_decide(&any, &budget, size, NOW, cases, count);

        for (size_t i = 0; i < count; i++) {
            gone += goes_by_budget(&cases[i]) ? 1 : 0;
            assert_true(any.released_until_ms == 0 || cases[i].goes);
        }
        for (size_t i = 0; any.released_until_ms == 0 && i < count; i++) {
            assert_true(gone <= left);
            check_case(cases, count, i, gone, left, again_ms);
        }
    }
}

static void test_when_it_may_go(void **state)
{
    const struct ccm_removal_rule waits = { .missing_wait_ms = 5000 };

    (void)state;
    assert_int_equal(ccm_leaving_due_ms(&waits, true, 1, 0, NOW), NOW);
    assert_int_equal(ccm_leaving_due_ms(&waits, false, NOW, 1, NOW), NOW + 5000);
    assert_int_equal(ccm_leaving_due_ms(&waits, false, NOW, 0, NOW), NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_goes),
        cmocka_unit_test(test_random_ones),
        cmocka_unit_test(test_when_it_may_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
