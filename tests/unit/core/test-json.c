#include "util/json.h"

#include "util/attr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_parse_whole_text_only(void **state)
{
    static const struct {
        const char *text;
        int result;
    } table[] = {
        { "{}", 0 },           { " [1,2] \n", 0 }, { "\"x\"", 0 },           { "{", -EBADMSG },
        { "{} {}", -EBADMSG }, { "", -EBADMSG },   { "{\"a\":}", -EBADMSG }, { "nul", -EBADMSG },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        cJSON *json = NULL;

        assert_int_equal(ccm_json_parse(table[i].text, strlen(table[i].text), &json),
                         table[i].result);
        assert_int_equal(json != NULL, table[i].result == 0);
        cJSON_Delete(json);
    }
}

static void test_nesting_is_limited(void **state)
{
    char text[4001];
    cJSON *json = NULL;

    (void)state;
    memset(text, '[', 2000);
    memset(text + 2000, ']', 2000);
    text[4000] = '\0';
    assert_int_equal(ccm_json_parse(text, 4000, &json), -EBADMSG);
}

static void test_getters_are_lenient(void **state)
{
    static const char text[] =
        "{\"n\":7,\"s\":\"8\",\"t\":\"x\",\"b\":\"true\",\"f\":false,\"z\":null,"
        "\"o\":{\"p\":{\"q\":\"deep\"}},\"l\":[1,2],\"big\":1e300,\"frac\":2.9,"
        "\"least\":\"-9223372036854775808\",\"most\":\"9223372036854775807\"}";
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    (void)state;
    assert_int_equal(ccm_json_parse(text, strlen(text), &json), 0);
    assert_int_equal(ccm_json_i64(json, "n", -1), 7);
    assert_int_equal(ccm_json_i64(json, "s", -1), 8);
    assert_int_equal(ccm_json_i64(json, "t", -1), -1);
    assert_int_equal(ccm_json_i64(json, "big", -1), INT64_C(9007199254740992));
    assert_int_equal(ccm_json_i64(json, "most", -1), INT64_C(9007199254740992));
    assert_int_equal(ccm_json_i64(json, "least", -1), -INT64_C(9007199254740992));
    assert_int_equal(ccm_json_i64(json, "frac", -1), 2);
    assert_int_equal(ccm_json_i64(json, "absent", -1), -1);
    assert_true(ccm_json_bool(json, "b", false));
    assert_false(ccm_json_bool(json, "f", true));
    assert_true(ccm_json_bool(json, "t", true));
    assert_null(ccm_json_get(json, "z"));
    assert_null(ccm_json_str(json, "n"));
    assert_string_equal(ccm_json_text(json, "absent"), "");
    assert_string_equal(ccm_json_str(ccm_json_path(json, "o", "p", NULL), "q"), "deep");
    assert_null(ccm_json_path(json, "o", "nope", "q", NULL));
    assert_int_equal(ccm_json_items(json, "l")->valueint, 1);
    assert_null(ccm_json_items(json, "o"));
}

/* What is walked over is of the type that it is taken for: elements have no name. */
static void test_walks_go_by_the_type(void **state)
{
    static const char text[] = "{\"a\":[\"x\",2],\"o\":{\"k\":1},\"t\":\"x\",\"n\":1,\"z\":null}";
    static const struct {
        const char *name;
        bool elements;
        const char *member; /* name of the first; NULL = none */
    } table[] = { { "a", true, NULL },  { "o", false, "k" },  { "t", false, NULL },
                  { "n", false, NULL }, { "z", false, NULL }, { "absent", false, NULL } };
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    (void)state;
    assert_int_equal(ccm_json_parse(text, strlen(text), &json), 0);
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        const cJSON *one = cJSON_GetObjectItemCaseSensitive(json, table[i].name);
        const cJSON *member = ccm_json_members(one);

        assert_int_equal(ccm_json_elements(one) != NULL, table[i].elements);
        assert_int_equal(ccm_json_items(json, table[i].name) != NULL, table[i].elements);
        assert_int_equal(member != NULL, table[i].member != NULL);
        if (member != NULL) {
            assert_string_equal(member->string, table[i].member);
        }
    }
}

static void test_quote(void **state)
{
    static const struct {
        const char *text;
        const char *quoted;
    } table[] = {
        { "plain", "\"plain\"" },
        { NULL, "null" },
        { "a\"b\\c/d", "\"a\\\"b\\\\c/d\"" },
        { "\n\t\r\b\f\x01", "\"\\n\\t\\r\\b\\f\\u0001\"" },
        { "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"" },
        { "\xC3", "\"\xEF\xBF\xBD\"" },
        { "x\xED\xA0\x80y", "\"x\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDy\"" },
        { "\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 100 };

        ccm_json_quote(&buf, table[i].text);
        assert_string_equal(ccm_buf_str(&buf), table[i].quoted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_whole_text_only),
        cmocka_unit_test(test_nesting_is_limited),
        cmocka_unit_test(test_getters_are_lenient),
        cmocka_unit_test(test_walks_go_by_the_type),
        cmocka_unit_test(test_quote),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
