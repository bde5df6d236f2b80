#include "util/spread.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/attr.h"

static uint32_t next_random;
static int random_result;

static int random_bytes(const struct ccm_host *host CCM_UNUSED, void *bytes, size_t len)
{
    assert_int_equal(len, sizeof(next_random));
    memcpy(bytes, &next_random, len);
    return random_result;
}

static void test_table(void **state)
{
    static const struct {
        int64_t ms;
        int64_t parts;
        uint32_t random;
        int result;
        int64_t want;
    } rows[] = {
        { 1000, 10, 0, 0, 900 },
        { 1000, 10, UINT32_MAX, 0, 1100 },
        { 1000, 10, UINT32_MAX / 2, 0, 999 }, /* rounded down */
        { 1000, 10, UINT32_MAX / 4, 0, 949 },
        { 1000, 5, 0, 0, 800 },
        { 1000, 1, UINT32_MAX, 0, 2000 },
        { 1000, 10, UINT32_MAX, -EIO, 1000 }, /* no random bytes */
        { 0, 10, UINT32_MAX, 0, 0 },
        { 9, 10, UINT32_MAX, 0, 9 },
        { INT64_C(1) << 30, 10, UINT32_MAX, 0, (INT64_C(1) << 30) + (INT64_C(1) << 30) / 10 },
    };
    const struct ccm_host host = { .random = random_bytes };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        next_random = rows[i].random;
        random_result = rows[i].result;
        assert_int_equal(ccm_spread(&host, rows[i].ms, rows[i].parts), rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_table) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
