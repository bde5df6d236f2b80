#include "util/pause.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int64_t now = 5000;
static int64_t until;

static int64_t host_now_ms(const struct ccm_host *host)
{
    (void)host;
    return now;
}

static void host_throttle(const struct ccm_host *host, const char *name, int64_t until_ms)
{
    (void)host;
    assert_string_equal(name, "cloud");
    until = until_ms;
}

static int64_t host_paused_until(const struct ccm_host *host, const char *name)
{
    (void)host;
    assert_string_equal(name, "cloud");
    return until;
}

static const struct ccm_host host = { .struct_size = sizeof(host),
                                      .now_ms = host_now_ms,
                                      .throttle = host_throttle,
                                      .paused_until = host_paused_until };

static struct ccm_error error_of(uint64_t kind, uint64_t retry_after_ms)
{
    struct ccm_error err = CCM_ERROR_INIT;

    err.kind = kind;
    err.retry_after_ms = retry_after_ms;
    return err;
}

static void test_pause(void **state)
{
    const struct ccm_error throttled = error_of(CCM_ERROR_THROTTLED, 2000);
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    until = 0;
    assert_int_equal(ccm_pause_check(&host, "cloud", &err), 0);
    ccm_pause_begin(&host, "cloud", &throttled);
    assert_int_equal(until, 7000);
    now += 500;
    assert_int_equal(ccm_pause_check(&host, "cloud", &err), -EAGAIN);
    assert_int_equal(err.kind, CCM_ERROR_THROTTLED);
    assert_int_equal(err.retry_after_ms, 1500);
    assert_string_equal(err.message, "cloud has asked for a pause");
    now += 1500;
    assert_int_equal(ccm_pause_check(&host, "cloud", &err), 0);
}

/* What asks for none begins none, and a host of ABI 1.0 knows of none. */
static void test_no_pause(void **state)
{
    const struct ccm_error unknown = error_of(CCM_ERROR_THROTTLED, 0);
    const struct ccm_error other = error_of(CCM_ERROR_TRANSIENT, 2000);
    const struct ccm_error throttled = error_of(CCM_ERROR_THROTTLED, 2000);
    struct ccm_error err = CCM_ERROR_INIT;
    struct ccm_host older = host;

    (void)state;
    older.struct_size = offsetof(struct ccm_host, throttle);
    until = 0;
    ccm_pause_begin(&host, "cloud", &unknown);
    ccm_pause_begin(&host, "cloud", &other);
    ccm_pause_begin(&older, "cloud", &throttled);
    assert_int_equal(until, 0);
    until = now + 1000;
    assert_int_equal(ccm_pause_check(&older, "cloud", &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_no_pause),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
