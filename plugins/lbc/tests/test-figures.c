/* What metrics tell of all Services together: sums, the first end, times of waiting. */
#include "check.h"

#include "lbc/report/figures.h"
#include "support/fake_host.h"

#include <string.h>

struct fixture {
    struct fake_host *fake;
    struct lbc_figures *figures;
};

static void fixture_begin(struct fixture *fixture, bool works)
{
    fixture->fake = fake_host_new();
    fake_host_advance(fixture->fake, 1000);
    fixture->figures = lbc_figures_new(fake_host_table(fixture->fake), "TestType");
    assert_non_null(fixture->figures);
    if (works) {
        lbc_figures_start(fixture->figures);
    }
}

static void fixture_end(struct fixture *fixture)
{
    lbc_figures_free(fixture->figures);
    fake_host_free(fixture->fake);
}

static bool fixture_shows(const struct fixture *fixture, const char *line)
{
    return strstr(fake_host_metrics(fixture->fake), line) != NULL;
}

#define ASSERT_SHOWS(f, name, rest)                                                                \
    assert_true(fixture_shows((f), "\n" name "{type=\"TestType\"} " rest "\n"))
#define BACKENDS "ccmd_unhealthy_backends"
#define EXPIRY   "ccmd_certificate_expiry_timestamp_seconds"
#define CREATION "ccmd_creation_duration_seconds"

static void test_all_are_added_up(void **state)
{
    struct fixture f;

    (void)state;
    fixture_begin(&f, true);
    ASSERT_SHOWS(&f, BACKENDS, "0");
    lbc_figures_set_unhealthy(f.figures, "a/one", 3);
    lbc_figures_set_unhealthy(f.figures, "a/two", 2);
    ASSERT_SHOWS(&f, BACKENDS, "5");
    lbc_figures_set_unhealthy(f.figures, "a/one", 1);
    ASSERT_SHOWS(&f, BACKENDS, "3");
    lbc_figures_forget(f.figures, "a/two");
    lbc_figures_forget(f.figures, "a/three");
    ASSERT_SHOWS(&f, BACKENDS, "1");
    lbc_figures_set_unhealthy(f.figures, "a/one", 0);
    ASSERT_SHOWS(&f, BACKENDS, "0");
    fixture_end(&f);
}

static void test_the_first_that_ends_counts(void **state)
{
    struct fixture f;

    (void)state;
    fixture_begin(&f, true);
    ASSERT_SHOWS(&f, EXPIRY, "0");
    lbc_figures_set_certificate(f.figures, "a/one", 9000);
    ASSERT_SHOWS(&f, EXPIRY, "9");
    lbc_figures_set_certificate(f.figures, "a/two", 7000);
    lbc_figures_set_certificate(f.figures, "a/three", 8000);
    ASSERT_SHOWS(&f, EXPIRY, "7");
    lbc_figures_set_certificate(f.figures, "a/two", 0); /* no listener has one any more */
    ASSERT_SHOWS(&f, EXPIRY, "8");
    lbc_figures_forget(f.figures, "a/three");
    ASSERT_SHOWS(&f, EXPIRY, "9");
    lbc_figures_forget(f.figures, "a/one");
    ASSERT_SHOWS(&f, EXPIRY, "0");
    fixture_end(&f);
}

static void test_it_is_waited_from_the_first_wish_on(void **state)
{
    struct fixture f;

    (void)state;
    fixture_begin(&f, true);
    lbc_figures_begin_wish(f.figures, "a/one");
    fake_host_advance(f.fake, 2000);
    lbc_figures_begin_wish(f.figures, "a/one");
    fake_host_advance(f.fake, 2000);
    lbc_figures_meet_wish(f.figures, "a/one"); /* its address was seen before the pass had ended */
    lbc_figures_end_wish(f.figures, "a/one", true);
    ASSERT_SHOWS(&f, CREATION "_sum", "4");
    ASSERT_SHOWS(&f, CREATION "_count", "1");
    lbc_figures_end_wish(f.figures, "a/one", true); /* nobody has wished for it */
    lbc_figures_begin_wish(f.figures, "a/one");
    lbc_figures_end_wish(f.figures, "a/one", false);
    lbc_figures_end_wish(f.figures, "a/one", true);
    lbc_figures_begin_wish(f.figures, "a/two");
    lbc_figures_forget(f.figures, "a/two");
    lbc_figures_end_wish(f.figures, "a/two", true);
    ASSERT_SHOWS(&f, CREATION "_count", "1");
    fixture_end(&f);
}

/* One that takes over has seen the wish; those that another instance has met are none of its. */
static void test_a_standby_counts_what_is_left(void **state)
{
    struct fixture f;

    (void)state;
    fixture_begin(&f, false);
    lbc_figures_begin_wish(f.figures, "a/met");
    lbc_figures_begin_wish(f.figures, "a/left");
    lbc_figures_meet_wish(f.figures, "a/met");
    fake_host_advance(f.fake, 3000);
    lbc_figures_start(f.figures);
    lbc_figures_end_wish(f.figures, "a/met", true);
    assert_false(fixture_shows(&f, CREATION "_count"));
    lbc_figures_end_wish(f.figures, "a/left", true);
    ASSERT_SHOWS(&f, CREATION "_sum", "3");
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_added_up),
        cmocka_unit_test(test_the_first_that_ends_counts),
        cmocka_unit_test(test_it_is_waited_from_the_first_wish_on),
        cmocka_unit_test(test_a_standby_counts_what_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
