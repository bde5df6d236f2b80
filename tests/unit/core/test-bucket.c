/* A budget: its burst, its interval, and what is used beyond it. */
#include "util/bucket.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct ccm_bucket_size size = { .burst = 3, .interval_ms = 100 };

static void test_burst_then_one_per_interval(void **state)
{
    struct ccm_bucket bucket = { 0 };

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ccm_bucket_wait_ms(&bucket, &size, 1000), 0);
        ccm_bucket_take(&bucket, &size, 1000);
    }
    assert_int_equal(ccm_bucket_wait_ms(&bucket, &size, 1000), 100);
    assert_int_equal(ccm_bucket_wait_ms(&bucket, &size, 1100), 0);
    ccm_bucket_take(&bucket, &size, 1100);
    assert_int_equal(ccm_bucket_wait_ms(&bucket, &size, 1150), 50);
    assert_int_equal(ccm_bucket_wait_ms(&bucket, &size, 5000), 0);
}

/* What does not have to ask never makes the others wait for longer than one interval. */
static void test_debt_is_bounded(void **state)
{
    struct ccm_bucket bucket = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++) {
        ccm_bucket_take(&bucket, &size, 1000);
    }
    assert_int_equal(ccm_bucket_wait_ms(&bucket, &size, 1000), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_burst_then_one_per_interval),
        cmocka_unit_test(test_debt_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
