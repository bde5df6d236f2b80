#include "plugin/option.h"

#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define NAME_MAX_BYTES 64

/* [a-z][a-z0-9_]*, several joined by dots when `dots`. */
static bool is_name(const char *text, bool dots)
{
    bool start = true;
    size_t len = 0;

    for (; len <= NAME_MAX_BYTES && text[len] != '\0'; len++) {
        const char c = text[len];
        const bool letter = c >= 'a' && c <= 'z';

        if (!letter && (start || !((c >= '0' && c <= '9') || c == '_' || (dots && c == '.')))) {
            return false;
        }
        start = c == '.';
    }
    return !start && len <= NAME_MAX_BYTES;
}

const char *plugin_option_type_name(uint64_t type)
{
    static const char *const names[] = { "?",   "text", "number", "true or false", "list of texts",
                                         "path" };

    return type < CCM_ARRAY_LEN(names) ? names[type] : names[0];
}

static int check_int(const struct ccm_option *option, const char *text, struct ccm_error *err)
{
    int64_t value;
    const int r = ccm_parse_i64(text, option->min, option->max, &value);

    if (r == -ERANGE) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%.64s is not in %" PRId64 "..%" PRId64, text, option->min,
                             option->max);
    }
    if (r < 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "\"%.64s\" is not a number", text);
    }
    return 0;
}

static int check_listed(const struct ccm_option *option, const char *text, struct ccm_error *err)
{
    if (ccm_parse_has_piece(option->values, '|', text, strlen(text))) {
        return 0;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "\"%.64s\" is not one of %.256s", text,
                         option->values);
}

static int check_list(const char *text, struct ccm_error *err)
{
    const char *cursor = text;
    const char *start;
    size_t len;

    while (text[0] != '\0' && ccm_parse_piece(&cursor, ',', &start, &len)) {
        if (len == 0) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "\"%.64s\" has an empty part: write a,b", text);
        }
    }
    return 0;
}

int plugin_option_check_value(const struct ccm_option *option, const char *text,
                              struct ccm_error *err)
{
    bool value;

    if (option->type == CCM_OPTION_INT) {
        return check_int(option, text, err);
    }
    if (option->type == CCM_OPTION_BOOL) {
        return ccm_parse_bool(text, &value) == 0
                   ? 0
                   : ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                   "\"%.64s\" is neither true nor false", text);
    }
    if (option->type == CCM_OPTION_STRING && option->values != NULL) {
        return check_listed(option, text, err);
    }
    if (option->pattern != NULL && ccm_parse_matches(text, option->pattern) != 1) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "\"%.64s\" does not match %.256s",
                             text, option->pattern);
    }
    if (option->type == CCM_OPTION_STRINGS) {
        return check_list(text, err);
    }
    if (option->type == CCM_OPTION_PATH && text[0] != '\0' && text[0] != '/') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "\"%.256s\" is not an absolute path",
                             text);
    }
    return 0;
}

static int option_refuse_row(const struct ccm_option *option, struct ccm_error *err,
                             const char *reason)
{
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "option %s%s%s: %s",
                         option->group == NULL ? "" : option->group,
                         option->group == NULL ? "" : ".", option->name, reason);
}

static int check_names(const struct ccm_option *option, struct ccm_error *err)
{
    if (option->name == NULL || !is_name(option->name, true)) {
        return ccm_error_set(
            err, -EINVAL, CCM_ERROR_TERMINAL,
            "option \"%.80s\": a name is [a-z][a-z0-9_]*, parts joined by dots, at "
            "most %d characters",
            option->name == NULL ? "" : option->name, NAME_MAX_BYTES);
    }
    if (option->group != NULL && !is_name(option->group, false)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "option %s: group \"%.80s\": a name is [a-z][a-z0-9_]*, at most %d "
                             "characters",
                             option->name, option->group, NAME_MAX_BYTES);
    }
    return 0;
}

/* `values` is a|b|c without empty parts. */
static bool is_value_list(const char *values)
{
    const char *cursor = values;
    const char *start;
    size_t len;

    while (ccm_parse_piece(&cursor, '|', &start, &len)) {
        if (len == 0) {
            return false;
        }
    }
    return true;
}

static int check_limits(const struct ccm_option *option, struct ccm_error *err)
{
    if (option->type == CCM_OPTION_INT) {
        if (option->min > option->max) {
            return option_refuse_row(option, err, "min is greater than max");
        }
        if (option->min == 0 && option->max == 0) {
            return option_refuse_row(option, err, "a number needs a range: set min and max");
        }
    } else if (option->min != 0 || option->max != 0) {
        return option_refuse_row(option, err, "min and max are for numbers only");
    }
    if (option->values != NULL && option->type != CCM_OPTION_STRING) {
        return option_refuse_row(option, err, "values is for texts only");
    }
    if (option->pattern != NULL && (option->type != CCM_OPTION_STRING || option->values != NULL ||
                                    ccm_parse_matches("", option->pattern) < 0)) {
        return option_refuse_row(option, err,
                                 "pattern is an extended regular expression, for texts without "
                                 "values");
    }
    if (option->unless != NULL && option->pattern == NULL) {
        return option_refuse_row(option, err, "unless is for texts with a pattern");
    }
    if (option->values != NULL && !is_value_list(option->values)) {
        return option_refuse_row(option, err, "values has an empty part: write a|b|c");
    }
    return 0;
}

static int check_fallback(const struct ccm_option *option, struct ccm_error *err)
{
    const char *fallback = option->fallback;
    struct ccm_error inner = CCM_ERROR_INIT;

    if ((option->flags & CCM_OPTION_REQUIRED) != 0) {
        return fallback == NULL
                   ? 0
                   : option_refuse_row(option, err, "required, and yet it has a default");
    }
    /* Nothing at all is a value of every type but numbers, which have 0. */
    if (fallback == NULL && option->type == CCM_OPTION_INT) {
        fallback = "0";
    }
    if (fallback == NULL || (fallback[0] == '\0' && option->type == CCM_OPTION_STRING)) {
        return 0;
    }
    if (plugin_option_check_value(option, fallback, &inner) < 0) {
        (void)ccm_error_wrap(&inner, 0, "its default"); /* the code is ours, below */
        return option_refuse_row(option, err, inner.message);
    }
    return 0;
}

int plugin_option_check(const struct ccm_option *option, struct ccm_error *err)
{
    int r = check_names(option, err);

    if (r < 0) {
        return r;
    }
    if (option->type < CCM_OPTION_STRING || option->type > CCM_OPTION_PATH) {
        return option_refuse_row(option, err, "this ccmd does not know its type");
    }
    if ((option->flags & ~(CCM_OPTION_REQUIRED | CCM_OPTION_LIVE | CCM_OPTION_RETIRED)) != 0) {
        return option_refuse_row(option, err, "this ccmd does not know one of its flags");
    }
    if (ccm_text_empty(option->help)) {
        return option_refuse_row(option, err, "no help text");
    }
    r = check_limits(option, err);
    if (r < 0) {
        return r;
    }
    return check_fallback(option, err);
}
