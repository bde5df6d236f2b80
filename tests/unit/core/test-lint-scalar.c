/* What plain words of a manifest are to YAML 1.1, as the tools of Kubernetes read it. */
#include "tools/lint_scalar.h"
#include "util/attr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static enum tool_lint_scalar read_scalar(const char *yaml, const char *text)
{
    struct fy_document *document = fy_document_build_from_string(NULL, yaml, strlen(yaml));

    assert_non_null(document);

    const enum tool_lint_scalar scalar = tool_lint_scalar(fy_document_root(document), text);

    fy_document_destroy(document);
    return scalar;
}

static void test_plain_words(void **state CCM_UNUSED)
{
    static const struct {
        enum tool_lint_scalar scalar;
        const char *words[24];
    } cases[] = {
        { TOOL_LINT_NUMBER,
          { "0",    "80",   "-1",   "+1",    "007",   "1_000", "0x1F",  "0b101",
            "0o17", "1.5",  "-1.5", "1.",    ".5",    "-.5",   "01.5",  "1_0.2_5",
            "1e3",  "2E-2", "1.e3", ".5e+3", "-.5e3", ".inf",  "-.Inf", ".NaN" } },
        { TOOL_LINT_TEXT,
          { "1.2.3.4", "10.0.0.0/8", "80:443", "1e",   "1.5e+", "e3",  ".",   ".e3",
            "0x",      "0xfg",       "0b102",  "0o8",  "0x-1",  "+",   "12k", "1-2",
            "lb-1",    "-.nan",      ".Infi",  "truE", "nULL",  "yES", "oN",  "_1" } },
        { TOOL_LINT_TRUE, { "y", "Yes", "true", "True", "TRUE", "on", "ON" } },
        { TOOL_LINT_FALSE, { "n", "No", "NO", "false", "False", "off", "OFF" } },
        { TOOL_LINT_NULL, { "~", "null", "Null", "NULL" } },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        for (size_t k = 0; k < CCM_ARRAY_LEN(cases[i].words) && cases[i].words[k] != NULL; k++) {
            const char *word = cases[i].words[k];
            const enum tool_lint_scalar scalar = read_scalar(word, word);

            if (scalar != cases[i].scalar) {
                print_error("%s\n", word);
            }
            assert_int_equal(scalar, cases[i].scalar);
        }
    }
}

static void test_quotes_make_text(void **state CCM_UNUSED)
{
    assert_int_equal(read_scalar("\"80\"", "80"), TOOL_LINT_TEXT);
    assert_int_equal(read_scalar("'on'", "on"), TOOL_LINT_TEXT);
    assert_int_equal(read_scalar("!!str 80", "80"), TOOL_LINT_TEXT);
}

static void test_numbers_of_json(void **state CCM_UNUSED)
{
    static const char *const good[] = { "0", "-1", "80", "1.5", "-0.5e-3", "1E+2", "2e10" };
    static const char *const bad[] = { "",   "-",  "+1",  "007",  "1_000", "0x1F", "1.",
                                       ".5", "1e", "1e+", "1.5x", "1 ",    ".inf", "01.5" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(good); i++) {
        assert_true(tool_lint_is_json_number(good[i]));
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(bad); i++) {
        assert_false(tool_lint_is_json_number(bad[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_words),
        cmocka_unit_test(test_quotes_make_text),
        cmocka_unit_test(test_numbers_of_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
