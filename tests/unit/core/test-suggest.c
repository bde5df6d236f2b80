#include "util/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/attr.h"

static void test_distance(void **state)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } table[] = {
        { "", "", 0 },       { "", "abc", 3 },    { "abc", "abc", 0 },
        { "abc", "ABC", 0 }, { "abc", "abd", 1 }, { "abc", "ab", 1 },
        { "abc", "acb", 1 }, { "abc", "xyz", 3 }, { "kitten", "sitting", 3 },
        { "ca", "abc", 3 },
    };
    char longest[CCM_SUGGEST_TEXT_MAX + 2];

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        assert_int_equal(ccm_suggest_distance(table[i].a, table[i].b), table[i].distance);
        assert_int_equal(ccm_suggest_distance(table[i].b, table[i].a), table[i].distance);
    }
    memset(longest, 'x', sizeof(longest));
    longest[CCM_SUGGEST_TEXT_MAX + 1] = '\0';
    assert_true(ccm_suggest_distance(longest, "x") == SIZE_MAX);
    longest[CCM_SUGGEST_TEXT_MAX] = '\0';
    assert_int_equal(ccm_suggest_distance(longest, "x"), CCM_SUGGEST_TEXT_MAX - 1);
}

static void test_best(void **state)
{
    static const char *const known[] = { "workers", "worker", "critical", "file" };
    static const struct {
        const char *wanted, *best;
    } table[] = {
        { "workerz", "workers" }, { "wrokers", "workers" },  { "fiel", "file" }, { "x", NULL },
        { "quota", NULL },        { "critcal", "critical" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        struct ccm_suggest suggest = { .wanted = table[i].wanted };

        for (size_t j = 0; j < CCM_ARRAY_LEN(known); j++) {
            ccm_suggest_offer(&suggest, known[j]);
        }
        if (table[i].best == NULL) {
            assert_null(ccm_suggest_best(&suggest));
        } else {
            assert_string_equal(ccm_suggest_best(&suggest), table[i].best);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_best),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
