/* Parameters: decoding, escaping, order, limits. */
#include "common/params.h"
#include "util/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_parse(void **state)
{
    static const struct {
        const char *text;
        const char *name;
        const char *value; /* NULL = not there */
        size_t len;
    } rows[] = {
        { "", "a", NULL, 0 },
        { "a=1", "a", "1", 1 },
        { "a=1&b=2", "b", "2", 2 },
        { "a", "a", "", 1 },
        { "a=", "a", "", 1 },
        { "&&a=1&", "a", "1", 1 },
        { "a=b=c", "a", "b=c", 1 },
        { "a=x+y", "a", "x y", 1 },
        { "a=x%20y", "a", "x y", 1 },
        { "a=%2B%2b", "a", "++", 1 },
        { "Tag.1.Key=%E5%9B%A2", "Tag.1.Key", "\xE5\x9B\xA2", 1 },
        { "%41=1", "A", "1", 1 },
        { "a=~*-._", "a", "~*-._", 1 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params params = { 0 };

        assert_int_equal(ccm_sim_params_parse(&params, rows[i].text, strlen(rows[i].text)), 0);
        ccm_sim_params_sort(&params);
        assert_int_equal(params.len, rows[i].len);

        const char *value = ccm_sim_params_get(&params, rows[i].name);

        if (rows[i].value == NULL) {
            assert_null(value);
        } else {
            assert_non_null(value);
            assert_string_equal(value, rows[i].value);
        }
    }
}

static void test_parse_refuses(void **state)
{
    static const char *const rows[] = {
        "a=%", "a=%4", "a=%zz", "a=%4z", "%=1", "a=%00", "a=1&b=%0"
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params params = { 0 };

        assert_int_equal(ccm_sim_params_parse(&params, rows[i], strlen(rows[i])), -EBADMSG);
    }
}

static void test_parse_has_a_limit(void **state)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params params = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };

    (void)state;
    for (int i = 0; i < CCM_SIM_PARAMS_MAX + 1; i++) {
        ccm_buf_adds(&text, "a&");
    }
    assert_int_equal(ccm_sim_params_parse(&params, ccm_buf_str(&text), text.len), -E2BIG);
    assert_int_equal(params.len, CCM_SIM_PARAMS_MAX);
}

/* By byte: capitals first, "Tag.10" before "Tag.2". */
static void test_sort(void **state)
{
    static const char text[] = "healthCheckInterval=1&Tag.2.Key=b&VServerGroupId=x&Tag.10.Key=a";
    static const char *const sorted[] = { "Tag.10.Key", "Tag.2.Key", "VServerGroupId",
                                          "healthCheckInterval" };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params params = { 0 };

    (void)state;
    assert_int_equal(ccm_sim_params_parse(&params, text, strlen(text)), 0);
    ccm_sim_params_sort(&params);
    assert_int_equal(params.len, CCM_ARRAY_LEN(sorted));
    for (size_t i = 0; i < CCM_ARRAY_LEN(sorted); i++) {
        assert_string_equal(params.items[i].name, sorted[i]);
    }
}

static void test_set_and_del(void **state)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params params = { 0 };
    static const char *const names[] = { "m", "a", "z", "k", "b" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        assert_int_equal(ccm_sim_params_set(&params, names[i], "1"), 0);
    }
    assert_int_equal(ccm_sim_params_set(&params, "k", "2"), 0);
    assert_int_equal(params.len, CCM_ARRAY_LEN(names));
    assert_string_equal(ccm_sim_params_text(&params, "k"), "2");
    assert_string_equal(params.items[0].name, "a");
    assert_string_equal(params.items[4].name, "z");
    ccm_sim_params_del(&params, "a");
    ccm_sim_params_del(&params, "absent");
    assert_null(ccm_sim_params_get(&params, "a"));
    assert_string_equal(params.items[0].name, "b");
    assert_int_equal(params.len, CCM_ARRAY_LEN(names) - 1);
}

static void test_escape_round_trip(void **state)
{
    static const struct {
        const char *text;
        const char *escaped;
    } rows[] = {
        { "", "" },
        { "AZaz09-_.~", "AZaz09-_.~" },
        { "a b", "a%20b" },
        { "+*/&=%", "%2B%2A%2F%26%3D%25" },
        { "\xC3\xA9", "%C3%A9" },
        { "[\"i-1\"]", "%5B%22i-1%22%5D" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };
        CCM_CLEANUP(ccm_freep) char *back = NULL;

        ccm_sim_escape(&buf, rows[i].text);
        assert_string_equal(ccm_buf_str(&buf), rows[i].escaped);
        assert_int_equal(ccm_sim_unescape(ccm_buf_str(&buf), buf.len, true, &back), 0);
        assert_string_equal(back, rows[i].text);
    }
}

static void test_plus_in_a_path(void **state)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;

    (void)state;
    assert_int_equal(ccm_sim_unescape("a+b%2B", 6, false, &text), 0);
    assert_string_equal(text, "a+b+");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_refuses),
        cmocka_unit_test(test_parse_has_a_limit),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_set_and_del),
        cmocka_unit_test(test_escape_round_trip),
        cmocka_unit_test(test_plus_in_a_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
