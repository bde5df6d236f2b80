/* Look-up, validation and hints. */
#include "check.h"
#include "lbc/model/annotation.h"
#include "lbc/rules/attrs.h"
#include "objects.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

#define LEGACY "service.beta.kubernetes.io/alicloud-loadbalancer-"

static const struct lbc_anno rows[] = {
    { .name = "text", .type = LBC_ANNO_TEXT },
    { .name = "count", .type = LBC_ANNO_INT, .min = 1, .max = 60 },
    { .name = "seconds",
      .type = LBC_ANNO_INT,
      .max = 60,
      .says = LBC_ANNO_SAYS_INTEGER,
      .label = "IdleTimeout" },
    { .name = "default-weight",
      .type = LBC_ANNO_INT,
      .max = 100,
      .says = LBC_ANNO_SAYS_RANGE,
      .label = "default weight" },
    { .name = "kind", .type = LBC_ANNO_ENUM, .values = "one|two" },
    { .name = "any-case", .type = LBC_ANNO_ENUM, .values = "one|two", .flags = LBC_ANNO_NO_CASE },
    { .name = "switch", .type = LBC_ANNO_SWITCH },
    { .name = "bool", .type = LBC_ANNO_BOOL },
    { .name = "flag", .type = LBC_ANNO_SWITCH, .says = LBC_ANNO_SAYS_FLAG, .label = "the flag" },
    { .name = "spaced", .type = LBC_ANNO_INT, .max = 9, .says = LBC_ANNO_SAYS_SPACED },
    { .name = "behind",
      .type = LBC_ANNO_INT,
      .max = 9,
      .says = LBC_ANNO_SAYS_BEHIND,
      .label = "Behind" },
    { .name = "before",
      .type = LBC_ANNO_INT,
      .max = 9,
      .says = LBC_ANNO_SAYS_BEFORE,
      .label = "Before" },
    { .name = "example.com/whole-key", .type = LBC_ANNO_TEXT },
};
static const struct lbc_anno_table table = {
    .rows = rows, .count = CCM_ARRAY_LEN(rows), .kind = "TEST", .foreign = "elsewhere|far"
};

static void test_lookup(void **state)
{
    struct ccm_service *service = obj_service();

    (void)state;
    assert_string_equal(lbc_anno_get(&service->meta, "text"), "");
    obj_annotate(&service->meta, LEGACY "text", "old");
    assert_string_equal(lbc_anno_get(&service->meta, "text"), "old");
    obj_annotate(&service->meta, P "text", "new");
    assert_string_equal(lbc_anno_get(&service->meta, "text"), "new");
    obj_annotate(&service->meta, P "text", "");
    assert_string_equal(lbc_anno_get(&service->meta, "text"), "");
    obj_annotate(&service->meta, "example.com/whole-key", "v");
    assert_string_equal(lbc_anno_value(&service->meta, &rows[CCM_ARRAY_LEN(rows) - 1]), "v");
}

struct check_case {
    const char *name;
    const char *value;
    const char *message; /* NULL: good */
};

static void test_check(void **state)
{
    static const struct check_case cases[] = {
        { "text", "anything at all", NULL },
        { "text", "", NULL },
        { "count", "60", NULL },
        { "count", "", NULL },
        { "count", "61",
          "count must be integer, got [61], error: value out of range (annotation " P
          "count must be an integer from 1 to 60)" },
        { "count", "1x",
          "count must be integer, got [1x], error: invalid syntax (annotation " P
          "count must be an integer from 1 to 60)" },
        { "count", " 1",
          "count must be integer, got [ 1], error: invalid syntax (annotation " P
          "count must be an integer from 1 to 60)" },
        { "seconds", "abc",
          "Annotation IdleTimeout must be integer, but got [abc]. message=[invalid syntax] "
          "(annotation " P "seconds must be an integer from 0 to 60)" },
        { "default-weight", "0", NULL },
        { "default-weight", "abc",
          "default weight must be integer in range [0,100] , got [abc] (annotation " P
          "default-weight must be an integer from 0 to 100)" },
        { "default-weight", "150",
          "default weight must be integer in range [0,100] , got [150] (annotation " P
          "default-weight must be an integer from 0 to 100)" },
        { "default-weight", "-1",
          "default weight must be integer in range [0,100] , got [-1] (annotation " P
          "default-weight must be an integer from 0 to 100)" },
        { "kind", "two", NULL },
        { "kind", "Two", "annotation " P "kind must be one of [one|two], got [Two]" },
        { "kind", "on", "annotation " P "kind must be one of [one|two], got [on]" },
        { "any-case", "TWO", NULL },
        { "switch", "on", NULL },
        { "switch", "true", "annotation " P "switch must be one of [on|off], got [true]" },
        { "bool", "ON", NULL },
        { "bool", "False", NULL },
        { "bool", "yes", "annotation " P "bool must be one of [on|off|true|false], got [yes]" },
        { "flag", "off", NULL },
        { "flag", "true",
          "ParameterInvalid, the flag error: invalid flag \"true\", should be \"on\" or \"off\" "
          "(annotation " P "flag must be on or off)" },
        { "spaced", "10",
          "spaced must be integer in range [0, 9], got [10] (annotation " P
          "spaced must be an integer from 0 to 9)" },
        { "spaced", "x",
          "spaced must be integer in range [0, 9], got [x] (annotation " P
          "spaced must be an integer from 0 to 9)" },
        { "behind", "10",
          "Behind must be integer in range [0,9] , got [10] (annotation " P
          "behind must be an integer from 0 to 9)" },
        { "behind", "x",
          "Behind parse error: [x] invalid syntax (annotation " P
          "behind must be an integer from 0 to 9)" },
        { "before", "10",
          "parse Before error: [10] value out of range, range is [0,9] (annotation " P
          "before must be an integer from 0 to 9)" },
        { "before", "x",
          "parse Before error: [x] invalid syntax, range is [0,9] (annotation " P
          "before must be an integer from 0 to 9)" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();
        struct ccm_error err = CCM_ERROR_INIT;
        char key[128];

        ccm_text_printf(key, sizeof(key), P "%s", cases[i].name);
        obj_annotate(&service->meta, key, cases[i].value);

        const int r = lbc_anno_check(lbc_anno_find(&table, cases[i].name), &service->meta, &err);

        if ((r == 0) != (cases[i].message == NULL)) {
            fail_msg("%s=%s: %d %s", cases[i].name, cases[i].value, r, err.message);
        }
        if (cases[i].message != NULL) {
            assert_string_equal(err.message, cases[i].message);
            assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
        }
    }
}

/* However it is to be read: nobody looks through a quarter of a megabyte again and again. */
static void test_long_value(void **state)
{
    static char value[LBC_ANNO_VALUE_MAX + 2];

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct ccm_service *service = obj_service();
        struct ccm_error err = CCM_ERROR_INIT;
        char key[LBC_ANNO_KEY_MAX];

        memset(value, 'a', sizeof(value) - 1);
        obj_annotate(&service->meta, lbc_anno_key(&service->meta, &rows[i], key), value);
        assert_int_equal(lbc_anno_check(&rows[i], &service->meta, &err), -EINVAL);
        assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
        assert_non_null(strstr(err.message, key));
        assert_non_null(strstr(err.message, "must be at most 16384 bytes long"));
        value[LBC_ANNO_VALUE_MAX] = '\0';
        obj_annotate(&service->meta, key, value);
        ccm_error_clear(&err);
        assert_true((lbc_anno_check(&rows[i], &service->meta, &err) == 0) ==
                    (rows[i].type == LBC_ANNO_TEXT));
    }
}

static void test_unknown(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 4096 };
    struct ccm_service *service = obj_service();

    (void)state;
    obj_annotate(&service->meta, "somebody.else/text", "x");
    obj_annotate(&service->meta, P "text", "x");
    obj_annotate(&service->meta, "example.com/whole-key", "x");
    lbc_anno_unknown(&table, &service->meta, &text);
    assert_string_equal(ccm_buf_str(&text), "");
    obj_annotate(&service->meta, P "default-wieght", "x");
    lbc_anno_unknown(&table, &service->meta, &text);
    assert_string_equal(ccm_buf_str(&text), "annotation " P "default-wieght is unknown and has no "
                                            "effect, did you mean " P "default-weight?");
    ccm_buf_reset(&text);
    obj_annotate(&service->meta, P "default-wieght", NULL);
    obj_annotate(&service->meta, LEGACY "zzzzzz", "x");
    lbc_anno_unknown(&table, &service->meta, &text);
    assert_string_equal(ccm_buf_str(&text),
                        "annotation " LEGACY "zzzzzz is unknown and has no effect");
}

/* What only the other kind of load balancer knows is no slip of the pen. */
static void test_foreign(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 4096 };
    struct ccm_service *service = obj_service();

    (void)state;
    obj_annotate(&service->meta, LEGACY "far", "x");
    lbc_anno_unknown(&table, &service->meta, &text);
    assert_string_equal(ccm_buf_str(&text),
                        "annotation " LEGACY "far has no effect: TEST load balancers do not have "
                        "it, take it away");
}

/* Set is not the same as not empty; one spelling for words in any case. */
static void test_words(void **state)
{
    struct ccm_service *service = obj_service();
    char text[8] = "x";

    (void)state;
    assert_false(lbc_anno_is_set(&service->meta, "text"));
    obj_annotate(&service->meta, LEGACY "text", "");
    assert_true(lbc_anno_is_set(&service->meta, "text"));
    assert_true(lbc_anno_is_on("True") && lbc_anno_is_on("on"));
    assert_false(lbc_anno_is_on("off") || lbc_anno_is_on("") || lbc_anno_is_on("yes"));
    lbc_anno_spell("One|Two", "tWO", text, sizeof(text));
    assert_string_equal(text, "Two");
    lbc_anno_spell("One|Two", "Three", text, sizeof(text));
    assert_string_equal(text, "");
}

static void test_long_unknown(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 4096 };
    struct ccm_service *service = obj_service();
    char key[300] = P;

    (void)state;
    memset(key + strlen(key), 'x', 200);
    obj_annotate(&service->meta, key, "v");
    lbc_anno_unknown(&table, &service->meta, &text);
    assert_non_null(strstr(ccm_buf_str(&text), "xxx is unknown and has no effect"));
    assert_null(strstr(ccm_buf_str(&text), "did you mean"));
}

struct heard {
    struct ccm_buf text;
};

static void hear(void *arg, const char *key, bool warning, const char *message)
{
    ccm_buf_addf(&((struct heard *)arg)->text, "%s %s: %s\n", warning ? "warning" : "error", key,
                 message);
}

static void test_lint(void **state)
{
    static const struct lbc_anno lint_rows[] = {
        { .name = "known", .type = LBC_ANNO_SWITCH },
        { .name = "example.com/full", .type = LBC_ANNO_SWITCH },
    };
    static const struct lbc_anno_table lint_table = { .rows = lint_rows,
                                                      .count = CCM_ARRAY_LEN(lint_rows) };
    static const struct {
        const char *key;
        const char *value;
        const char *says;
    } cases[] = {
        { LBC_ANNO_PREFIX "known", "on", "" },
        { LBC_ANNO_PREFIX "known", "", "" },
        { "example.com/other", "x", "" },
        { LBC_ANNO_PREFIX "known", "yes",
          "error " LBC_ANNO_PREFIX "known: annotation " LBC_ANNO_PREFIX
          "known must be one of [on|off], got [yes]\n" },
        { LBC_ANNO_LEGACY_PREFIX "known", "yes",
          "error " LBC_ANNO_LEGACY_PREFIX "known: annotation " LBC_ANNO_PREFIX
          "known must be one of [on|off], got [yes]\n" },
        { "example.com/full", "yes",
          "error example.com/full: annotation example.com/full must be one of [on|off], got "
          "[yes]\n" },
        { LBC_ANNO_PREFIX "knwon", "on",
          "warning " LBC_ANNO_PREFIX "knwon: annotation " LBC_ANNO_PREFIX
          "knwon is unknown and has no effect, did you mean " LBC_ANNO_PREFIX "known?\n" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        const struct ccm_pair pair = { cases[i].key, cases[i].value };
        const struct ccm_pair *const pairs[] = { &pair };
        const struct ccm_object object = { .annotations = pairs, .annotation_count = 1 };
        struct heard heard = { .text = { .max = 4096 } };

        lbc_anno_lint(&lint_table, &object, hear, &heard);
        assert_string_equal(ccm_buf_str(&heard.text), cases[i].says);
        ccm_buf_fini(&heard.text);
    }
}

/* An annotation under both prefixes: the one that does not count is named. */
static void test_lint_hidden(void **state)
{
    static const struct lbc_anno lint_rows[] = { { .name = "known", .type = LBC_ANNO_SWITCH } };
    static const struct lbc_anno_table lint_table = { .rows = lint_rows, .count = 1 };
    static const struct ccm_pair present = { LBC_ANNO_PREFIX "known", "" };
    static const struct ccm_pair legacy = { LBC_ANNO_LEGACY_PREFIX "known", "bad" };
    static const struct ccm_pair *const pairs[] = { &present, &legacy };
    static const struct ccm_object object = { .annotations = pairs, .annotation_count = 2 };
    struct heard heard = { .text = { .max = 4096 } };

    (void)state;
    lbc_anno_lint(&lint_table, &object, hear, &heard);
    assert_string_equal(ccm_buf_str(&heard.text),
                        "warning " LBC_ANNO_LEGACY_PREFIX
                        "known: annotation " LBC_ANNO_LEGACY_PREFIX
                        "known has no effect beside " LBC_ANNO_PREFIX "known\n");
    ccm_buf_fini(&heard.text);
}

/* Attributes are listed by their place, those of one place as they stand, the mute ones last. */
static void test_order(void **state)
{
    static const struct lbc_anno attributes[] = {
        { .name = "a", .group = LBC_ANNO_LISTENER, .field = "A", .place = 15 },
        { .name = "b", .group = LBC_ANNO_LISTENER, .field = "B", .place = 2 },
        { .name = "c", .group = LBC_ANNO_SERVERS, .field = "C", .place = 1 },
        { .name = "d", .group = LBC_ANNO_LISTENER, .place = 1 },
        { .name = "e", .group = LBC_ANNO_LISTENER, .field = "E", .cloud = LBC_ATTR_OWN },
        { .name = "f", .group = LBC_ANNO_LISTENER, .field = "F" },
        { .name = "g", .group = LBC_ANNO_LISTENER, .field = "G", .place = 2 },
    };
    static const struct lbc_anno mute[] = {
        { .group = LBC_ANNO_LISTENER, .field = "X" },
        { .group = LBC_ANNO_LISTENER, .field = "Y", .place = 2 },
    };
    static const struct lbc_anno_table ordered = { .rows = attributes,
                                                   .count = CCM_ARRAY_LEN(attributes),
                                                   .mute = mute,
                                                   .mute_count = CCM_ARRAY_LEN(mute) };
    struct lbc_attr_rows listed;
    char fields[16] = "";

    (void)state;
    lbc_attr_rows_list(&ordered, LBC_ANNO_LISTENER, &listed);
    for (size_t i = 0; i < listed.len; i++) {
        fields[i] = listed.items[i]->field[0];
    }
    assert_string_equal(fields, "FXBGYA");
    lbc_attr_rows_list(&ordered, LBC_ANNO_SERVERS, &listed);
    assert_int_equal(listed.len, 1);
    assert_ptr_equal(listed.items[0], &attributes[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_lookup, obj_end),
        cmocka_unit_test_teardown(test_check, obj_end),
        cmocka_unit_test_teardown(test_long_value, obj_end),
        cmocka_unit_test_teardown(test_unknown, obj_end),
        cmocka_unit_test_teardown(test_long_unknown, obj_end),
        cmocka_unit_test_teardown(test_foreign, obj_end),
        cmocka_unit_test_teardown(test_words, obj_end),
        cmocka_unit_test(test_lint),
        cmocka_unit_test(test_lint_hidden),
        cmocka_unit_test(test_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
