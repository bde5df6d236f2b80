/* The JSON writer: commas, nesting, escapes, failures that stick. */
#include "util/cleanup.h"
#include "util/jsonw.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_nesting_and_commas(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };
    struct ccm_jsonw w = { .buf = &buf };

    (void)state;
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_open(&w, "empty", '[');
    ccm_jsonw_close(&w, ']');
    ccm_jsonw_open(&w, "list", '[');
    ccm_jsonw_i64(&w, NULL, INT64_MIN);
    ccm_jsonw_bool(&w, NULL, true);
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_bool(&w, "a", false);
    ccm_jsonw_raw(&w, "b", "[1,2]");
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_close(&w, ']');
    ccm_jsonw_str(&w, "null", NULL);
    ccm_jsonw_close(&w, '}');
    assert_string_equal(ccm_buf_str(&buf),
                        "{\"empty\":[],\"list\":[-9223372036854775808,true,{\"a\":false,"
                        "\"b\":[1,2]}],\"null\":null}");
}

static void test_escapes(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };
    struct ccm_jsonw w = { .buf = &buf };

    (void)state;
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "a\"b", "line\nfeed \\ \xC3\xA9");
    ccm_jsonw_close(&w, '}');
    assert_string_equal(ccm_buf_str(&buf), "{\"a\\\"b\":\"line\\nfeed \\\\ \xC3\xA9\"}");
}

static void test_limit_sticks(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 8 };
    struct ccm_jsonw w = { .buf = &buf };

    (void)state;
    ccm_jsonw_open(&w, NULL, '[');
    ccm_jsonw_str(&w, NULL, "much too long");
    ccm_jsonw_i64(&w, NULL, 1);
    ccm_jsonw_close(&w, ']');
    assert_int_equal(ccm_buf_error(&buf), -EMSGSIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting_and_commas),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_limit_sticks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
