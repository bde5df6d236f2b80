/* The sliding window: what counts, for how long, and how much memory that takes. */
#include "alicloud/quota/window.h"

#include "util/attr.h"

#include "check.h"

#define SPAN 60000

#define SLOTS 64

static void test_counts_for_a_span(void **state)
{
    struct ali_window_slot slots[SLOTS];
    struct ali_window window;

    (void)state;
    ali_window_init(&window, slots, SLOTS);
    assert_int_equal(ali_window_count(&window, 0, SPAN), 0);
    ali_window_add(&window, 500100, SPAN);
    ali_window_add(&window, 502000, SPAN);
    assert_int_equal(ali_window_count(&window, 502000, SPAN), 2);
    assert_int_equal(ali_window_when_free(&window, 1, SPAN), 560100);
    assert_int_equal(ali_window_when_free(&window, 2, SPAN), 562000);
    assert_int_equal(ali_window_count(&window, 560099, SPAN), 2);
    assert_int_equal(ali_window_count(&window, 560100, SPAN), 1);
    assert_int_equal(ali_window_count(&window, 562000, SPAN), 0);
}

/* Those that come together share a slot, and count as long as its last. */
static void test_slots_are_never_early(void **state)
{
    static const struct {
        int64_t ends[4];
        size_t slots;
        int64_t free[4]; /* when so many of them do not count any more */
    } rows[] = {
        { { 0, 0, 0, 0 }, 1, { 60000, 60000, 60000, 60000 } },
        { { 0, 951, 952, 953 }, 2, { 60952, 60952, 60952, 60953 } },
        { { 0, 953, 1906, 2859 }, 4, { 60000, 60953, 61906, 62859 } },
        { { 0, 700, 1400, 2100 }, 2, { 60700, 60700, 62100, 62100 } },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct ali_window_slot slots[SLOTS];
        struct ali_window window;

        ali_window_init(&window, slots, SLOTS);
        for (size_t n = 0; n < 4; n++) {
            ali_window_add(&window, rows[i].ends[n], SPAN);
        }
        assert_int_equal(window.len, rows[i].slots);
        for (size_t n = 0; n < 4; n++) {
            assert_int_equal(ali_window_when_free(&window, (int64_t)n + 1, SPAN), rows[i].free[n]);
        }
    }
}

/* Each call counts for a span and at most a 63rd part of it longer, also after silence and when
 * nothing asks what is used. */
static void test_counts_a_slot_too_long_at_most(void **state)
{
    static const int64_t steps[] = { 1, 7, 250, 951, 952, 953, 30000, 61000 };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(steps); i++) {
        struct ali_window_slot slots[SLOTS];
        struct ali_window window;
        const int64_t calls = 5 * SPAN / steps[i] + 3;
        const int64_t last = (calls - 1) * steps[i];
        const int64_t least =
            last / steps[i] < (SPAN - 1) / steps[i] ? calls : 1 + (SPAN - 1) / steps[i];

        ali_window_init(&window, slots, SLOTS);
        for (int64_t n = 0; n < calls; n++) {
            ali_window_add(&window, n * steps[i], SPAN);
        }
        assert_in_range(ali_window_count(&window, last, SPAN), least,
                        least + 1 + SPAN / (SLOTS - 1) / steps[i]);
        assert_in_range(window.len, 1, SLOTS);
        assert_true(ali_window_count(&window, last + SPAN - 1, SPAN) > 0);
        assert_int_equal(ali_window_count(&window, last + SPAN, SPAN), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_for_a_span),
        cmocka_unit_test(test_slots_are_never_early),
        cmocka_unit_test(test_counts_a_slot_too_long_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
