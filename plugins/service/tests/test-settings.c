/* Annotations that all controllers read in the same way; more of it is in the tests of each. */
#include "check.h"
#include "objects.h"
#include "service/settings.h"
#include "util/attr.h"

#include <errno.h>
#include <string.h>

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
    struct ccm_setting_pair pair;

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(expected); i++) {
        assert_true(ccm_setting_next_pair(&cursor, &pair));
        assert_string_equal(pair.entry, expected[i].entry);
        assert_true(pair.good == (expected[i].left != NULL));
        assert_string_equal(pair.left, expected[i].left == NULL ? "" : expected[i].left);
        assert_string_equal(pair.right, expected[i].right == NULL ? "" : expected[i].right);
    }
    assert_false(ccm_setting_next_pair(&cursor, &pair));
    cursor = "";
    assert_false(ccm_setting_next_pair(&cursor, &pair));
}

static void test_long_pair(void **state)
{
    char text[3 * CCM_PAIR_MAX];
    const char *cursor = text;
    struct ccm_setting_pair pair;

    (void)state;
    memset(text, 'a', sizeof(text));
    text[CCM_PAIR_MAX] = ':';
    text[2 * CCM_PAIR_MAX] = '\0';
    assert_true(ccm_setting_next_pair(&cursor, &pair));
    assert_false(pair.good);
    assert_int_equal(strlen(pair.entry), CCM_PAIR_MAX - 1);
    assert_false(ccm_setting_next_pair(&cursor, &pair));
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
        struct ccm_error err = CCM_ERROR_INIT;
        char text[CCM_RANGE_TEXT] = "";
        bool ipv6 = false;
        const int r = ccm_setting_range(cases[i].text, text, &ipv6, &err);

        if (cases[i].expected == NULL) {
            assert_int_equal(r, -EINVAL);
            assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
        } else if (r < 0 || strcmp(text, cases[i].expected) != 0 || ipv6 != cases[i].ipv6) {
            fail_msg("%s: %d %s", cases[i].text, r, text);
        }
    }
}

static void test_preserve(void **state)
{
    static const char *const no[] = { "", "false", "OFF", "no", "0" };
    struct ccm_service *service = obj_service();

    (void)state;
    assert_false(ccm_setting_preserve(service));
    for (size_t i = 0; i < CCM_ARRAY_LEN(no); i++) {
        obj_annotate(&service->meta, P "preserve-lb-on-delete", no[i]);
        assert_false(ccm_setting_preserve(service));
    }
    obj_annotate(&service->meta, P "preserve-lb-on-delete", "anything");
    assert_true(ccm_setting_preserve(service));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_long_pair),
        cmocka_unit_test(test_range),
        cmocka_unit_test_teardown(test_preserve, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
