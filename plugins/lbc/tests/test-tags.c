/* Tags, lists of texts, attributes. */
#include "check.h"
#include "lbc/model/tags.h"
#include "lbc/rules/attrs.h"
#include "util/cleanup.h"

#include <string.h>

static void test_tags(void **state)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags copy = { 0 };

    (void)state;
    assert_int_equal(lbc_tags_put(&tags, "b", "2"), 0);
    assert_int_equal(lbc_tags_put(&tags, "a", "1"), 0);
    assert_int_equal(lbc_tags_put(&tags, "b", ""), 0);
    assert_int_equal(tags.len, 2);
    assert_string_equal(tags.items[0].key, "a");
    assert_string_equal(lbc_tags_get(&tags, "b"), "");
    assert_null(lbc_tags_get(&tags, "c"));
    assert_int_equal(lbc_tags_put(&copy, "old", "x"), 0);
    assert_int_equal(lbc_tags_copy(&copy, &tags), 0);
    assert_int_equal(copy.len, 2);
    assert_null(lbc_tags_get(&copy, "old"));
    lbc_tags_remove(&tags, "a");
    lbc_tags_remove(&tags, "a");
    assert_int_equal(tags.len, 1);
    assert_string_equal(lbc_tags_get(&copy, "a"), "1");
}

static void test_texts(void **state)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts texts = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts copy = { 0 };

    (void)state;
    assert_int_equal(lbc_texts_split(&texts, " sg-2, ,sg-1,sg-2,"), 0);
    assert_int_equal(texts.len, 2);
    assert_string_equal(texts.items[0], "sg-1");
    assert_string_equal(texts.items[1], "sg-2");
    assert_int_equal(lbc_texts_put(&texts, "sg-0"), 0);
    assert_string_equal(texts.items[0], "sg-0");
    assert_true(lbc_texts_has(&texts, "sg-2"));
    assert_false(lbc_texts_has(&texts, "sg-3"));
    assert_false(lbc_texts_equal(&texts, &copy));
    assert_int_equal(lbc_texts_put(&copy, "gone"), 0);
    assert_int_equal(lbc_texts_copy(&copy, &texts), 0);
    assert_true(lbc_texts_equal(&texts, &copy));
    lbc_texts_remove(&copy, "sg-1");
    lbc_texts_remove(&copy, "sg-1");
    assert_int_equal(copy.len, 2);
    assert_false(lbc_texts_equal(&texts, &copy));
    assert_int_equal(lbc_texts_put(&copy, "sg-9"), 0);
    assert_false(lbc_texts_equal(&texts, &copy)); /* as many, but others */
    assert_int_equal(lbc_texts_split(&copy, ""), 0);
    assert_int_equal(copy.len, 3);
}

static void test_text(void **state)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;

    (void)state;
    assert_int_equal(lbc_text_set(&text, "a"), 0);
    assert_int_equal(lbc_text_set(&text, text), 0);
    assert_string_equal(text, "a");
    assert_int_equal(lbc_text_set(&text, ""), 0);
    assert_null(text);
    assert_int_equal(lbc_text_set(&text, NULL), 0);
}

static void test_attrs(void **state)
{
    static const struct lbc_anno one = { .name = "One" };
    static const struct lbc_anno two = { .name = "Two" };
    static const struct lbc_anno kept = { .name = "Kept" };
    CCM_CLEANUP(lbc_attrs_fini) struct lbc_attrs attrs = { 0 };
    CCM_CLEANUP(lbc_attrs_fini) struct lbc_attrs copy = { 0 };

    (void)state;
    assert_int_equal(lbc_attrs_set(&attrs, &one, "1", false), 0);
    assert_int_equal(lbc_attrs_set(&attrs, &one, "2", true), 0);
    assert_int_equal(attrs.len, 1);
    assert_true(attrs.items[0].explicit);
    assert_string_equal(lbc_attrs_get(&attrs, &one), "2");
    assert_null(lbc_attrs_get(&attrs, &two));
    assert_int_equal(lbc_attrs_set(&copy, &two, "x", true), 0);
    assert_int_equal(lbc_attrs_set(&copy, &one, "y", false), 0);
    assert_int_equal(lbc_attrs_keep(&attrs, &kept), 0);
    assert_int_equal(lbc_attrs_copy(&copy, &attrs), 0);
    assert_int_equal(copy.len, 2); /* what is kept has no value that one could record */
    assert_string_equal(lbc_attrs_get(&copy, &one), "2");
    assert_string_equal(lbc_attrs_get(&copy, &two), "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_attrs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
