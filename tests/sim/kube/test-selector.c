#include "selector.h"
#include "util/attr.h"
#include "util/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct ccm_ks_selectable fields[] = {
    { .label = "metadata.name", .path = "metadata.name" },
    { .label = "spec.unschedulable", .path = "spec.unschedulable", .absent = "false" },
    { .label = "source", .path = "source.component", .or_path = "reporter" },
    { .label = NULL },
};

static const char *const object_text =
    "{\"metadata\":{\"name\":\"web\",\"labels\":{\"app\":\"web\",\"n\":\"5\",\"x/y\":\"\"}},"
    "\"spec\":{\"unschedulable\":true},\"reporter\":\"ccmd\"}";

struct row {
    bool by_field;
    const char *text;
    int result;
    bool matches;
    const char *message;
};

static void check(const struct row *row, const cJSON *object)
{
    CCM_CLEANUP(ccm_ks_selector_freep) struct ccm_ks_selector *selector = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { 0 };
    const int r = row->by_field ? ccm_ks_selector_fields(row->text, fields, &selector, &message)
                                : ccm_ks_selector_labels(row->text, &selector, &message);

    if (r != row->result) {
        fail_msg("'%s': %d %s", row->text, r, ccm_buf_str(&message));
    }
    if (r < 0) {
        assert_string_equal(ccm_buf_str(&message), row->message);
    } else if (ccm_ks_selector_match(selector, object) != row->matches) {
        fail_msg("'%s' matches: %d", row->text, !row->matches);
    }
}

static void test_table(void **state)
{
    static const struct row rows[] = {
        { false, "", 0, true, NULL },
        { false, "app=web", 0, true, NULL },
        { false, "app==web", 0, true, NULL },
        { false, "app=db", 0, false, NULL },
        { false, "app!=db", 0, true, NULL },
        { false, "nope!=db", 0, true, NULL },
        { false, "app", 0, true, NULL },
        { false, "nope", 0, false, NULL },
        { false, "!nope", 0, true, NULL },
        { false, "! app", 0, false, NULL },
        { false, "app in (db, web)", 0, true, NULL },
        { false, "app notin (db,web)", 0, false, NULL },
        { false, "nope notin (db)", 0, true, NULL },
        { false, "x/y=", 0, true, NULL },
        { false, "x/y in ()", 0, true, NULL },
        { false, "n>4,n<6", 0, true, NULL },
        { false, "n gt 5", 0, false, NULL },
        { false, " app = web , n , !z ", 0, true, NULL },
        { false, "app=web,n=6", 0, false, NULL },
        { false, "a===b", -EINVAL, false,
          "unable to parse requirement: found '=', expected: identifier" },
        { false, "a near b", -EINVAL, false,
          "unable to parse requirement: found 'near', expected: in, notin, =, ==, !=, gt, lt" },
        { false, "a in b", -EINVAL, false,
          "unable to parse requirement: found 'b', expected: '('" },
        { false, "a in (b", -EINVAL, false,
          "unable to parse requirement: found '', expected: ',' or ')'" },
        { false, "a=b,", -EINVAL, false,
          "unable to parse requirement: found '', expected: identifier after ','" },
        { false, ",", -EINVAL, false,
          "unable to parse requirement: found ',', expected: identifier" },
        { true, "", 0, true, NULL },
        { true, "metadata.name=web", 0, true, NULL },
        { true, "metadata.name==web", 0, true, NULL },
        { true, "metadata.name!=web", 0, false, NULL },
        { true, "metadata.name=we\\,b", 0, false, NULL },
        { true, "spec.unschedulable=true,metadata.name=web", 0, true, NULL },
        { true, "spec.unschedulable=false", 0, false, NULL },
        { true, "source=ccmd", 0, true, NULL },
        { true, "metadata.name", -EINVAL, false,
          "invalid selector: 'metadata.name'; can't understand 'metadata.name'" },
        { true, "spec.foo=bar", -EINVAL, false, "field label not supported: spec.foo" },
    };
    CCM_CLEANUP(ccm_json_freep) cJSON *object = NULL;

    (void)state;
    assert_int_equal(ccm_json_parse(object_text, strlen(object_text), &object), 0);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        check(&rows[i], object);
    }
}

static void test_absent_values(void **state)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *object = cJSON_CreateObject();
    static const struct row rows[] = {
        { true, "spec.unschedulable=false", 0, true, NULL },
        { true, "metadata.name=", 0, true, NULL },
        { false, "a=", 0, false, NULL },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        check(&rows[i], object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_absent_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
