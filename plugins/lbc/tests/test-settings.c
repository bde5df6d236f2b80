/* Annotations that all controllers read in the same way; more of it is in the tests of each. */
#include "check.h"
#include "lbc/model/annotation.h"
#include "lbc/rules/check.h"
#include "objects.h"
#include "util/attr.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

static const struct lbc_check check_tags = { .suffix = "additional-resource-tags",
                                             .run = lbc_check_tags };

/* Without a row the annotation is nobody's wish. */
static void test_reuse_is_what_a_row_offers(void **state)
{
    static const struct lbc_anno rows[] = { { .name = "id" } };
    static const struct lbc_anno_table with = { .rows = rows, .count = 1 };
    static const struct lbc_anno_table without = { .count = 0 };
    struct ccm_service *service = obj_service();

    (void)state;
    assert_string_equal(lbc_setting_reused_id(&with, service), "");
    assert_true(lbc_setting_has_listeners(&with, service));
    obj_annotate(&service->meta, P "id", "lb-7");
    assert_string_equal(lbc_setting_reused_id(&with, service), "lb-7");
    assert_string_equal(lbc_setting_reused_id(&without, service), "");
    assert_false(lbc_setting_has_listeners(&with, service));
    assert_true(lbc_setting_has_listeners(&without, service));
    obj_annotate(&service->meta, P "force-override-listeners", "true");
    assert_true(lbc_setting_has_listeners(&with, service));
}

static void test_pairs(void **state)
{
    static const struct {
        const char *entry;
        const char *left; /* NULL: no pair */
        const char *right;
    } expected[] = {
        { "a:1", "a", "1" },  { "b : 2", "b", "2" }, { "c", NULL, NULL },     { ":3", NULL, NULL },
        { "d:", NULL, NULL }, { "", NULL, NULL },    { "e:4:5", NULL, NULL },
    };
    const char *cursor = "a:1, b : 2 ,c,:3,d:,,e:4:5,";
    struct lbc_setting_pair pair;

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(expected); i++) {
        assert_true(lbc_setting_next_pair(&cursor, &pair));
        assert_string_equal(pair.entry, expected[i].entry);
        assert_true(pair.good == (expected[i].left != NULL));
        assert_string_equal(pair.left, expected[i].left == NULL ? "" : expected[i].left);
        assert_string_equal(pair.right, expected[i].right == NULL ? "" : expected[i].right);
    }
    assert_false(lbc_setting_next_pair(&cursor, &pair));
    cursor = "";
    assert_false(lbc_setting_next_pair(&cursor, &pair));
}

static void test_long_pair(void **state)
{
    char text[3 * LBC_PAIR_MAX];
    const char *cursor = text;
    struct lbc_setting_pair pair;

    (void)state;
    memset(text, 'a', sizeof(text));
    text[LBC_PAIR_MAX] = ':';
    text[2 * LBC_PAIR_MAX] = '\0';
    assert_true(lbc_setting_next_pair(&cursor, &pair));
    assert_false(pair.good);
    assert_int_equal(strlen(pair.entry), LBC_PAIR_MAX - 1);
    assert_false(lbc_setting_next_pair(&cursor, &pair));
}

/* One entry says it all: nothing walks through the rest. */
static void test_long_list(void **state)
{
    static char text[LBC_PAIRS_MAX + 2];
    const char *cursor = text;
    struct ccm_error err = CCM_ERROR_INIT;
    struct ccm_service *service = obj_service();
    struct lbc_setting_pair pair;
    char word[LBC_PAIR_MAX];
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i + 6 <= LBC_PAIRS_MAX; i += 6) {
        memcpy(text + i, "tcp:1,", 6);
    }
    while (lbc_setting_next_pair(&cursor, &pair)) {
        assert_true(pair.good);
        count++;
    }
    assert_int_equal(count, LBC_PAIRS_MAX / 6);
    memset(text, ',', sizeof(text) - 1);
    memcpy(text, "udp:80", 6);
    cursor = text;
    assert_true(lbc_setting_next_pair(&cursor, &pair));
    assert_false(pair.good);
    assert_string_equal(pair.entry, "a list of more than 4096 bytes");
    assert_false(lbc_setting_next_pair(&cursor, &pair));
    obj_annotate(&service->meta, LBC_ANNO_PREFIX "protocol-port", text);
    obj_port(service, "http", "TCP", 80, "80", 30080);
    assert_int_equal(lbc_setting_protocol_word(service, service->ports[0], NULL, word, &err),
                     -EINVAL);
    lbc_setting_for_port(service, "protocol-port", 80, word);
    assert_string_equal(word, "");
}

struct range {
    char text[LBC_RANGE_TEXT];
    bool ipv6;
};

static int copy_range(void *arg, const char *block, bool ipv6)
{
    struct range *range = arg;

    ccm_text_copy(range->text, sizeof(range->text), block);
    range->ipv6 = ipv6;
    return 0;
}

static void test_range(void **state)
{
    static const struct {
        const char *text;
        const char *expected; /* NULL: refused */
        bool ipv6;
    } cases[] = {
        { "10.0.0.0/8", "10.0.0.0/8", false },
        { " 1.2.3.4/32\t", "1.2.3.4/32", false },
        { "1.2.3.4", "1.2.3.4/32", false },
        { "0.0.0.0/0", "0.0.0.0/0", false },
        { "2001:DB8:0::/32", "2001:db8::/32", true },
        { "::/0", "::/0", true },
        { "10.0.0.0/33", NULL, false },
        { "::ffff:10.0.0.0/64", NULL, false },
        { "", NULL, false },
        { "everybody", NULL, false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();
        struct ccm_error err = CCM_ERROR_INIT;
        struct range range = { .text = "" };

        obj_range(service, cases[i].text);
        const int r = lbc_setting_ranges(service, LBC_DUAL_STACK, copy_range, &range, &err);

        if (cases[i].expected == NULL) {
            assert_int_equal(r, -EINVAL);
            assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
        } else if (r < 0 || strcmp(range.text, cases[i].expected) != 0 ||
                   range.ipv6 != cases[i].ipv6) {
            fail_msg("%s: %d %s", cases[i].text, r, range.text);
        }
    }
}

static void test_who_is_kept_out(void **state)
{
    static const struct {
        const char *ranges[3];
        bool limits;
    } cases[] = {
        { { NULL }, false },
        { { "10.0.0.0/8" }, true },
        { { "0.0.0.0/0" }, false },
        { { "::/0" }, false },
        { { " 0.0.0.0/0 " }, false },
        { { "1.2.3.4/0" }, false },
        { { "10.0.0.0/8", "0.0.0.0/0" }, false },
        { { "0.0.0.0/0", "::/0" }, false },
        { { "2408::/32", "0.0.0.0/0", "10.0.0.0/8" }, false },
        { { "0.0.0.0/1" }, true },
        { { "0.0.0.0/1", "10.0.0.0/8" }, true },
        { { "0.0.0.0/1", "128.0.0.0/1" }, false },
        { { "200.0.0.0/1", "100.0.0.0/1" }, false },
        { { "0.0.0.0/1", "8000::/1" }, true },
        { { "::/1", "8000::/1" }, false },
        { { "everybody" }, true },
        { { "0.0.0.0" }, true },
        { { "::ffff:0.0.0.0/0" }, true },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();

        for (size_t k = 0; k < 3 && cases[i].ranges[k] != NULL; k++) {
            obj_range(service, cases[i].ranges[k]);
        }
        if (lbc_setting_limits_sources(service) != cases[i].limits) {
            fail_msg("case %zu", i);
        }
    }
}

static void test_preserve(void **state)
{
    static const char *const no[] = { "", "false", "OFF", "no", "0" };
    struct ccm_service *service = obj_service();

    (void)state;
    assert_false(lbc_setting_preserve(service));
    for (size_t i = 0; i < CCM_ARRAY_LEN(no); i++) {
        obj_annotate(&service->meta, P "preserve-lb-on-delete", no[i]);
        assert_false(lbc_setting_preserve(service));
    }
    obj_annotate(&service->meta, P "preserve-lb-on-delete", "anything");
    assert_true(lbc_setting_preserve(service));
}

/* "key=value": as many characters of each, in the number of tags; the id of somebody else's. */
static void test_tags(void **state)
{
    static const struct {
        size_t key;
        size_t value;
        size_t count;
        const char *id;
        const char *error; /* NULL: good */
    } cases[] = {
        { 64, 128, 1, NULL, NULL },
        { 65, 1, 1, NULL,
          "tags with keys of at most 64 and values of at most 128 characters, got [" },
        { 1, 129, 1, NULL, "values of at most 128 characters, got [" },
        { 1, 600, 1, NULL, "values of at most 128 characters" },
        { 600, 1, 1, NULL, "keys of at most 64" },
        { 2, 0, 18, NULL, NULL },
        { 2, 0, 19, NULL, "at most 18 tags beside the two" },
        { 2, 0, 20, "lb-1", NULL },
        { 2, 0, 21, "lb-1", "at most 20 tags, got [" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 65536 };
        CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
        struct ccm_service *service = obj_service();
        struct ccm_error err = CCM_ERROR_INIT;
        int r;

        for (size_t n = 0; n < cases[i].count; n++) {
            for (size_t k = 0; k < cases[i].key; k++) { /* two bytes, one character */
                ccm_buf_addf(&text, "%s", n == 0 ? "\xc3\xa4" : k == 0 ? "k" : k == 1 ? "" : "x");
            }
            ccm_buf_addf(&text, n == 0 ? "=" : "%zu=", n);
            for (size_t k = 0; k < cases[i].value; k++) {
                ccm_buf_adds(&text, "\xc3\xb6");
            }
            ccm_buf_adds(&text, ",");
        }
        obj_annotate(&service->meta, P "additional-resource-tags", ccm_buf_str(&text));
        if (cases[i].id != NULL) {
            obj_annotate(&service->meta, P "id", cases[i].id);
        }
        r = lbc_check_run(&check_tags, NULL, service, &err);
        if (cases[i].error == NULL) {
            assert_int_equal(r, 0);
            assert_int_equal(lbc_setting_tags(service, false, &tags), 0);
            assert_int_equal(tags.len, cases[i].count);
            continue;
        }
        assert_int_equal(r, -EINVAL);
        assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
        if (strstr(err.message, cases[i].error) == NULL) {
            fail_msg("case %zu: %s", i, err.message);
        }
    }
}

/* The first entry counts; blanks do not; a longer number is another one. */
static void test_for_port(void **state)
{
    static const struct {
        const char *value;
        const char *expected;
    } cases[] = {
        { "a:80,b:80", "a" }, { "a:8080, b : 80 ", "b" }, { "a:080", "" }, { "80", "" },
        { "", "" },           { "a:b:80,c:80", "c" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();
        char got[LBC_PAIR_MAX];

        obj_annotate(&service->meta, P "vgroup-port", cases[i].value);
        lbc_setting_for_port(service, "vgroup-port", 80, got);
        assert_string_equal(got, cases[i].expected);
    }
}

/* As many as an annotation holds are not all read. */
static void test_very_many_tags(void **state)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = (size_t)256 * 1024 };
    struct ccm_service *service = obj_service();
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        ccm_buf_addf(&text, "k%d,", i);
    }
    obj_annotate(&service->meta, P "additional-resource-tags", ccm_buf_str(&text));
    assert_int_equal(lbc_setting_tags(service, false, &tags), 0);
    assert_int_equal(tags.len, 21);
    assert_int_equal(lbc_check_run(&check_tags, NULL, service, &err), -EINVAL);
}

/* The same one, over and over: nothing is wrong with it but its size. */
static void test_long_tags(void **state)
{
    static const struct {
        size_t count;
        int result;
    } rows[] = { { 16384, 0 }, { 16385, -EINVAL } };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 65536 };
        struct ccm_service *service = obj_service();
        struct ccm_error err = CCM_ERROR_INIT;

        for (size_t n = 0; n < rows[i].count; n++) {
            ccm_buf_adds(&text, "a,");
        }
        obj_annotate(&service->meta, P "additional-resource-tags", ccm_buf_str(&text));
        assert_int_equal(lbc_check_run(&check_tags, NULL, service, &err), rows[i].result);
        assert_int_equal(lbc_setting_tags(service, false, &tags), 0);
        assert_int_equal(tags.len, 1);
        if (rows[i].result < 0) {
            assert_non_null(strstr(err.message, "no more than 32768 bytes, got [a,a"));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_reuse_is_what_a_row_offers, obj_end),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_long_pair),
        cmocka_unit_test_teardown(test_long_list, obj_end),
        cmocka_unit_test_teardown(test_range, obj_end),
        cmocka_unit_test_teardown(test_who_is_kept_out, obj_end),
        cmocka_unit_test_teardown(test_preserve, obj_end),
        cmocka_unit_test_teardown(test_tags, obj_end),
        cmocka_unit_test_teardown(test_very_many_tags, obj_end),
        cmocka_unit_test_teardown(test_long_tags, obj_end),
        cmocka_unit_test_teardown(test_for_port, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
