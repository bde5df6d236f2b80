#include "util/parse.h"

#include <errno.h>
#include <string.h>

#include "util/attr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_i64(void **state)
{
    static const struct {
        const char *text;
        int64_t min, max;
        int result;
        int64_t value;
    } table[] = {
        { "0", 0, 10, 0, 0 },
        { "-1", -5, 5, 0, -1 },
        { "10", 0, 10, 0, 10 },
        { "11", 0, 10, -ERANGE, 0 },
        { "-1", 0, 10, -ERANGE, 0 },
        { "9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX },
        { "99999999999999999999", 0, 100, -ERANGE, 0 },
        { "9223372036854775808", INT64_MIN, INT64_MAX, -ERANGE, 0 },
        { "-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN },
        { "-9223372036854775809", INT64_MIN, INT64_MAX, -ERANGE, 0 },
        { "-0", INT64_MIN, INT64_MAX, 0, 0 },
        { "007", 0, 10, 0, 7 },
        { "", 0, 10, -EINVAL, 0 },
        { "-", -5, 10, -EINVAL, 0 },
        { "+1", 0, 10, -EINVAL, 0 },
        { " 1", 0, 10, -EINVAL, 0 },
        { "1 ", 0, 10, -EINVAL, 0 },
        { "1x", 0, 10, -EINVAL, 0 },
        { "0x1", 0, 10, -EINVAL, 0 },
        { "1e3", 0, 10000, -EINVAL, 0 },
        { "99999999999999999999x", 0, 100, -EINVAL, 0 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        int64_t value = 4711;
        const int r = ccm_parse_i64(table[i].text, table[i].min, table[i].max, &value);

        assert_int_equal(r, table[i].result);
        assert_int_equal(value, r == 0 ? table[i].value : 4711);
    }
}

static void test_bool(void **state)
{
    bool value = true;

    (void)state;
    assert_int_equal(ccm_parse_bool("false", &value), 0);
    assert_false(value);
    assert_int_equal(ccm_parse_bool("true", &value), 0);
    assert_true(value);
    assert_int_equal(ccm_parse_bool("True", &value), -EINVAL);
    assert_int_equal(ccm_parse_bool("", &value), -EINVAL);
}

static void test_rfc3339(void **state)
{
    static const struct {
        const char *text;
        int result;
        int64_t seconds;
    } table[] = {
        { "1970-01-01T00:00:00Z", 0, 0 },
        { "2026-01-02T03:04:05Z", 0, 1767323045 },
        { "2026-01-02T05:04:05+02:00", 0, 1767323045 },
        { "2026-01-01T22:04:05-05:00", 0, 1767323045 },
        { "2024-02-29T12:00:00.123456Z", 0, 1709208000 },
        { "2026-13-02T03:04:05Z", -ERANGE, 0 },
        { "2026-01-02T24:04:05Z", -ERANGE, 0 },
        { "2026-01-02", -EINVAL, 0 },
        { "2026-01-02T03:04:05", -EINVAL, 0 },
        { "2026-01-02T03:04:05+2", -EINVAL, 0 },
        { "", -EINVAL, 0 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        int64_t ms = -1;

        assert_int_equal(ccm_parse_rfc3339(table[i].text, &ms), table[i].result);
        assert_int_equal(ms, table[i].result == 0 ? table[i].seconds * 1000 : -1);
    }
}

static void check_pieces(const char *text, const char *const *expected, size_t count)
{
    const char *cursor = text;
    const char *start;
    size_t len;
    size_t n = 0;

    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        assert_true(n < count);
        assert_int_equal(len, strlen(expected[n]));
        assert_memory_equal(start, expected[n], len);
        n++;
    }
    assert_int_equal(n, count);
}

static void test_pieces(void **state)
{
    static const char *const plain[] = { "a", "b c", "" };
    static const char *const one[] = { "" };

    (void)state;
    check_pieces("a, b c ,", plain, 3);
    check_pieces("", one, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_i64),
        cmocka_unit_test(test_bool),
        cmocka_unit_test(test_rfc3339),
        cmocka_unit_test(test_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
