/* The label that remembers which additional tags are ours. */
#include "check.h"

#include "lbc/service/marks.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define UID "7e0e6d8b-6f0e-4d8c-9a44-0a4be4b0a001"

static void fill(struct lbc_tags *tags, int from, int count)
{
    for (int i = from; i < from + count; i++) {
        char key[16];

        ccm_text_printf(key, sizeof(key), "key-%02d", i);
        assert_int_equal(lbc_tags_put(tags, key, "v"), 0);
    }
}

/* The same in every process and for ever: labels outlive versions. */
static void test_value(void **state)
{
    struct lbc_tags tags = { 0 };
    char first[LBC_MARKS_TEXT];
    char again[LBC_MARKS_TEXT];

    (void)state;
    assert_int_equal(lbc_marks_format(UID, &tags, NULL, first), 0);
    assert_string_equal(first, "");
    assert_int_equal(lbc_tags_put(&tags, "team", "shop"), 0);
    assert_int_equal(lbc_marks_format(UID, &tags, NULL, first), 0);
    assert_string_equal(first, "OClr");
    assert_int_equal(lbc_marks_format(UID, &tags, &tags, again), 0);
    assert_string_equal(first, again);
    lbc_tags_fini(&tags);
}

struct row {
    const char *what;
    const char *uid;
    const char *key;
    const char *value;
    bool expect;
};

static const struct row rows[] = {
    { "the tag", UID, "team", "shop", true },
    { "the other one", UID, "empty", "", true },
    { "another value", UID, "team", "shop2", false },
    { "another key", UID, "teams", "shop", false },
    { "the same letters, cut elsewhere", UID, "teams", "hop", false },
    { "the label of another Service", "u-2", "team", "shop", false },
};

static void test_rows(void **state)
{
    struct lbc_tags tags = { 0 };
    char marks[LBC_MARKS_TEXT];

    (void)state;
    assert_int_equal(lbc_tags_put(&tags, "team", "shop"), 0);
    assert_int_equal(lbc_tags_put(&tags, "empty", ""), 0);
    assert_int_equal(lbc_marks_format(UID, &tags, NULL, marks), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char key[16];
        char value[16];
        const struct lbc_tag tag = { .key = key, .value = value };

        ccm_text_printf(key, sizeof(key), "%s", rows[i].key);
        ccm_text_printf(value, sizeof(value), "%s", rows[i].value);
        if (lbc_marks_has(marks, rows[i].uid, &tag) != rows[i].expect) {
            fail_msg("%s", rows[i].what);
        }
    }
    /* What somebody else made of it has nothing. */
    assert_false(lbc_marks_has(NULL, UID, &tags.items[0]));
    assert_false(lbc_marks_has("", UID, &tags.items[0]));
    marks[1] = '\0';
    assert_false(lbc_marks_has(marks, UID, &tags.items[0]));
    lbc_tags_fini(&tags);
}

/* As many as a label holds; it begins and ends as the API server wants it. */
static void test_many(void **state)
{
    struct lbc_tags tags = { 0 };
    struct lbc_tags more = { 0 };
    char marks[LBC_MARKS_TEXT];

    (void)state;
    fill(&tags, 0, 10);
    fill(&more, 5, 10);
    assert_int_equal(lbc_marks_format(UID, &tags, &more, marks), 0);
    assert_int_equal(strlen(marks), 60);
    for (size_t i = 0; marks[i] != '\0'; i++) {
        assert_true(isalnum((unsigned char)marks[i]));
    }
    for (size_t i = 0; i < more.len; i++) {
        assert_true(lbc_marks_has(marks, UID, &more.items[i]));
    }
    fill(&more, 15, 1);
    assert_int_equal(lbc_marks_format(UID, &tags, &more, marks), -E2BIG);
    assert_string_equal(marks, "");
    lbc_tags_fini(&tags);
    lbc_tags_fini(&more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
