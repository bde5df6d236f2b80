#include "util/header.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_get(void **state)
{
    const char *const headers[] = { "content-type: text/plain", "retry-after:5", "retry-after: 6",
                                    "retry: 7", NULL };

    (void)state;
    assert_string_equal(ccm_header_get(headers, "content-type"), "text/plain");
    assert_string_equal(ccm_header_get(headers, "retry-after"), "5");
    assert_string_equal(ccm_header_get(headers, "retry"), "7");
    assert_null(ccm_header_get(headers, "content"));
    assert_null(ccm_header_get(NULL, "retry"));
}

static void test_retry_after(void **state)
{
    static const struct row {
        const char *header;
        uint64_t ms;
    } rows[] = {
        { "retry-after: 0", 0 },          { "retry-after: 2", 2000 },
        { "retry-after: 3600", 3600000 }, { "retry-after: 99999999999", 3600000 },
        { "retry-after: -1", 0 },         { "retry-after: Wed, 21 Oct 2026 07:28:00 GMT", 0 },
        { "retry-after: ", 0 },           { "x: 2", 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *const headers[] = { rows[i].header, NULL };

        assert_int_equal(ccm_header_retry_after_ms(headers), rows[i].ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_retry_after),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
