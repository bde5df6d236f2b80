/* The sliding window: what counts, for how long, and how much memory that takes. */
#include "alicloud/window.h"

#include "util/cleanup.h"

#include "check.h"

#define SPAN 60000

static void window_call(struct ali_window *window, int64_t now)
{
    ali_window_begin(window);
    ali_window_end(window, now, SPAN);
}

static void test_counts_from_begin_until_a_span_after_the_end(void **state)
{
    CCM_CLEANUP(ali_window_fini) struct ali_window window;

    (void)state;
    assert_int_equal(ali_window_init(&window), 0);
    assert_int_equal(ali_window_used(&window, 0, SPAN), 0);
    ali_window_begin(&window);
    ali_window_begin(&window);
    ali_window_begin(&window);
    assert_int_equal(ali_window_used(&window, 500000, SPAN), 3); /* however long they take */
    ali_window_cancel(&window);
    ali_window_end(&window, 500100, SPAN);
    ali_window_end(&window, 500300, SPAN);
    assert_int_equal(ali_window_used(&window, 500300, SPAN), 2);
    assert_int_equal(ali_window_when_free(&window, 1, SPAN), 560100);
    assert_int_equal(ali_window_when_free(&window, 2, SPAN), 560300);
    assert_int_equal(ali_window_used(&window, 560099, SPAN), 2);
    assert_int_equal(ali_window_used(&window, 560100, SPAN), 1);
    assert_int_equal(ali_window_used(&window, 560300, SPAN), 0);
}

/* Those that end together are one group, and count as long as its last. */
static void test_groups_are_never_early(void **state)
{
    static const struct {
        int64_t ends[4];
        size_t groups;
        int64_t free[4]; /* when so many of them do not count any more */
    } rows[] = {
        { { 0, 0, 0, 0 }, 1, { 60000, 60000, 60000, 60000 } },
        { { 0, 58, 59, 60 }, 2, { 60058, 60058, 60060, 60060 } },
        { { 0, 59, 118, 177 }, 4, { 60000, 60059, 60118, 60177 } },
        { { 0, 40, 80, 120 }, 2, { 60040, 60040, 60120, 60120 } },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(ali_window_fini) struct ali_window window;

        assert_int_equal(ali_window_init(&window), 0);
        for (size_t n = 0; n < 4; n++) {
            window_call(&window, rows[i].ends[n]);
        }
        assert_int_equal(window.len, rows[i].groups);
        for (size_t n = 0; n < 4; n++) {
            assert_int_equal(ali_window_when_free(&window, (int64_t)n + 1, SPAN), rows[i].free[n]);
        }
    }
}

static void test_memory_is_bounded(void **state)
{
    CCM_CLEANUP(ali_window_fini) struct ali_window window;

    (void)state;
    assert_int_equal(ali_window_init(&window), 0);
    for (int64_t n = 0; n < 1000000; n++) {
        window_call(&window, n / 4);                 /* four a ms */
        (void)ali_window_used(&window, n / 4, SPAN); /* what it answers is told below */
    }
    assert_in_range(ali_window_used(&window, 249999, SPAN), 4 * SPAN, 4 * SPAN + 4 * 59);
    assert_in_range(window.len, 1, 1025);
    assert_in_range(window.cap * sizeof(*window.groups), 1, 48 * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_from_begin_until_a_span_after_the_end),
        cmocka_unit_test(test_groups_are_never_early),
        cmocka_unit_test(test_memory_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
