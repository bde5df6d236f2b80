#include "tools/lint_scalar.h"

#include "util/parse.h"

#include <string.h>

static bool is_listed_word(const char *text, const char *words)
{
    return ccm_parse_has_piece(words, '|', text, strlen(text));
}

#define TRUE_WORDS  "y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON"
#define FALSE_WORDS "n|N|no|No|NO|false|False|FALSE|off|Off|OFF"
#define NULL_WORDS  "~|null|Null|NULL|"

static const char *skip_digits(const char *text)
{
    return text + strspn(text, "0123456789");
}

/* The form of a number in JSON. */
bool tool_lint_is_json_number(const char *text)
{
    const char *p = text[0] == '-' ? text + 1 : text;
    const char *whole = skip_digits(p);

    if (whole == p || (p[0] == '0' && whole != p + 1)) {
        return false;
    }
    p = whole;
    if (p[0] == '.') {
        if (skip_digits(p + 1) == p + 1) {
            return false;
        }
        p = skip_digits(p + 1);
    }
    if (p[0] == 'e' || p[0] == 'E') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        if (skip_digits(p) == p) {
            return false;
        }
        p = skip_digits(p);
    }
    return p[0] == '\0';
}

/* Digits with a fraction, an exponent, underscores between: 1_000, 1., .5, 2e-3. */
static bool is_decimal(const char *p)
{
    static const char digits[] = "0123456789_";
    const size_t whole = strspn(p, digits);
    size_t fraction = 0;

    p += whole;
    if (p[0] == '.') {
        fraction = strspn(p + 1, digits);
        p += 1 + fraction;
    }
    if (whole + fraction > 0 && (p[0] == 'e' || p[0] == 'E')) {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        if (skip_digits(p) == p) {
            return false;
        }
        p = skip_digits(p);
    }
    return whole + fraction > 0 && p[0] == '\0';
}

/* The further forms of numbers that YAML has. */
static bool is_yaml_number(const char *text)
{
    const char *p = text + (text[0] == '-' || text[0] == '+' ? 1 : 0);

    if (is_listed_word(p, ".inf|.Inf|.INF") || is_listed_word(text, ".nan|.NaN|.NAN")) {
        return true;
    }
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'b' || p[1] == 'o')) {
        const char *digits = p[1] == 'x'   ? "0123456789abcdefABCDEF_"
                             : p[1] == 'b' ? "01_"
                                           : "01234567_";

        return p[2] != '\0' && p[2 + strspn(p + 2, digits)] == '\0';
    }
    return p[0] != '_' && is_decimal(p);
}

enum tool_lint_scalar tool_lint_scalar(struct fy_node *node, const char *text)
{
    size_t tag_len = 0;

    if (fy_node_get_style(node) != FYNS_PLAIN || fy_node_get_tag(node, &tag_len) != NULL) {
        return TOOL_LINT_TEXT;
    }
    if (is_listed_word(text, NULL_WORDS)) {
        return TOOL_LINT_NULL;
    }
    if (is_listed_word(text, TRUE_WORDS)) {
        return TOOL_LINT_TRUE;
    }
    if (is_listed_word(text, FALSE_WORDS)) {
        return TOOL_LINT_FALSE;
    }
    return is_yaml_number(text) ? TOOL_LINT_NUMBER : TOOL_LINT_TEXT;
}
