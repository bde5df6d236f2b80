#include "config/value.h"

#include "util/cleanup.h"
#include "util/parse.h"
#include "util/suggest.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Longest entry of `values` that can be suggested. */
#define CHOICE_SIZE 128

static void free_texts(char **texts)
{
    for (char **text = texts; text != NULL && *text != NULL; text++) {
        free(*text);
    }
    free(texts);
}

static void free_textsp(char ***texts)
{
    free_texts(*texts);
}

void config_value_free(void *value)
{
    struct config_value *own = value;

    if (own != NULL) {
        free(own->text);
        free_texts(own->texts);
        free(own);
    }
}

void config_value_freep(struct config_value **value)
{
    config_value_free(*value);
}

static size_t count_texts(char *const *texts)
{
    size_t count = 0;

    while (texts[count] != NULL) {
        count++;
    }
    return count;
}

static char **copy_texts(char *const *texts)
{
    CCM_CLEANUP(free_textsp) char **copy = calloc(count_texts(texts) + 1, sizeof(char *));

    for (size_t i = 0; copy != NULL && texts[i] != NULL; i++) {
        copy[i] = strdup(texts[i]);
        if (copy[i] == NULL) {
            return NULL;
        }
    }
    return CCM_STEAL(copy);
}

struct config_value *config_value_copy(const struct config_value *value)
{
    CCM_CLEANUP(config_value_freep) struct config_value *copy = calloc(1, sizeof(*copy));

    if (copy == NULL) {
        return NULL;
    }
    *copy = *value;
    copy->text = value->text == NULL ? NULL : strdup(value->text);
    copy->texts = value->texts == NULL ? NULL : copy_texts(value->texts);
    if ((copy->text == NULL) != (value->text == NULL) ||
        (copy->texts == NULL) != (value->texts == NULL)) {
        return NULL;
    }
    return CCM_STEAL(copy);
}

bool config_value_equal(const struct config_value *a, const struct config_value *b)
{
    if (a->number != b->number || !ccm_text_equal(a->text, b->text) ||
        (a->texts == NULL) != (b->texts == NULL)) {
        return false;
    }
    if (a->texts == NULL) {
        return true;
    }

    const size_t count = count_texts(a->texts);

    if (count != count_texts(b->texts)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(a->texts[i], b->texts[i]) != 0) {
            return false;
        }
    }
    return true;
}

/* --- limits of a row ------------------------------------------------------------------------ */

/* Walk `values`, copying each choice; false at the end. */
static bool next_choice(const char **cursor, char *choice, size_t size)
{
    const char *start;
    size_t len;

    if (!ccm_parse_piece(cursor, '|', &start, &len)) {
        return false;
    }
    len = len < size ? len : size - 1;
    memcpy(choice, start, len);
    choice[len] = '\0';
    return true;
}

static bool is_choice(const struct ccm_option *row, const char *text)
{
    const char *cursor = row->values;
    char choice[CHOICE_SIZE];

    if (row->values == NULL || (*text == '\0' && ccm_text_empty(row->fallback))) {
        return true;
    }
    while (next_choice(&cursor, choice, sizeof(choice))) {
        if (strcmp(choice, text) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_path(const char *text)
{
    return *text == '\0' || *text == '/';
}

/* --- defaults ------------------------------------------------------------------------------- */

static int default_number(struct config_value *value, const char **ret_why)
{
    const struct ccm_option *row = value->row;
    bool yes = false;

    if (row->type == CCM_OPTION_BOOL) {
        *ret_why = "its default is neither true nor false";
        if (row->fallback != NULL && ccm_parse_bool(row->fallback, &yes) < 0) {
            return -EINVAL;
        }
        value->number = yes ? 1 : 0;
        return 0;
    }
    *ret_why = "its default is no whole number between min and max";
    if (row->min > row->max) {
        return -EINVAL;
    }
    if (row->fallback != NULL) {
        return ccm_parse_i64(row->fallback, row->min, row->max, &value->number) < 0 ? -EINVAL : 0;
    }
    return 0;
}

static int default_text(struct config_value *value, const char **ret_why)
{
    const struct ccm_option *row = value->row;
    const char *text = row->fallback == NULL ? "" : row->fallback;

    if (row->type == CCM_OPTION_PATH && !is_path(text)) {
        *ret_why = "its default is no absolute path";
        return -EINVAL;
    }
    if (row->type == CCM_OPTION_STRING && !is_choice(row, text)) {
        *ret_why = "its default is not among its values";
        return -EINVAL;
    }
    if (*text != '\0' && row->pattern != NULL && ccm_parse_matches(text, row->pattern) != 1) {
        *ret_why = "its default does not match its pattern";
        return -EINVAL;
    }
    value->text = strdup(text);
    return value->text == NULL ? -ENOMEM : 0;
}

static size_t count_pieces(const char *text)
{
    size_t count = 1;

    for (const char *p = text; *p != '\0'; p++) {
        count += *p == ',' ? 1 : 0;
    }
    return count;
}

static int default_texts(struct config_value *value)
{
    const char *cursor = value->row->fallback == NULL ? "" : value->row->fallback;
    CCM_CLEANUP(free_textsp) char **texts = calloc(count_pieces(cursor) + 1, sizeof(char *));
    const char *start;
    size_t len;
    size_t count = 0;

    if (texts == NULL) {
        return -ENOMEM;
    }
    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        if (len == 0) {
            continue;
        }
        texts[count] = strndup(start, len);
        if (texts[count] == NULL) {
            return -ENOMEM;
        }
        count++;
    }
    value->texts = CCM_STEAL(texts);
    return 0;
}

int config_value_default(const struct ccm_option *row, struct config_value **ret,
                         const char **ret_why)
{
    CCM_CLEANUP(config_value_freep) struct config_value *value = calloc(1, sizeof(*value));
    int r;

    if (value == NULL) {
        return -ENOMEM;
    }
    value->row = row;
    switch (row->type) {
    case CCM_OPTION_INT:
    case CCM_OPTION_BOOL:
        r = default_number(value, ret_why);
        break;
    case CCM_OPTION_STRING:
    case CCM_OPTION_PATH:
        r = default_text(value, ret_why);
        break;
    case CCM_OPTION_STRINGS:
        r = default_texts(value);
        break;
    default:
        *ret_why = "its type is unknown";
        return -EINVAL;
    }
    if (r == 0) {
        *ret = CCM_STEAL(value);
    }
    return r;
}

/* --- settings ------------------------------------------------------------------------------- */

const char *config_found_type(const config_setting_t *setting)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_GROUP:
        return "a group { }";
    case CONFIG_TYPE_LIST:
        return "a list ( )";
    case CONFIG_TYPE_ARRAY:
        return "an array [ ]";
    case CONFIG_TYPE_STRING:
        return "a text";
    case CONFIG_TYPE_BOOL:
        return "true or false";
    case CONFIG_TYPE_FLOAT:
        return "a number with a fraction";
    default:
        return setting->format == CONFIG_FORMAT_HEX ? "a hexadecimal number" : "a whole number";
    }
}

static void value_report_type(struct config_problems *problems, const config_setting_t *setting,
                              const char *label, const char *what)
{
    config_problems_add(problems, setting->line, "option '%s': expected %s, found %s", label, what,
                        config_found_type(setting));
}

static int read_int(struct config_value *value, const char *label, const config_setting_t *setting,
                    struct config_problems *problems)
{
    const struct ccm_option *row = value->row;
    const int type = config_setting_type(setting);

    if ((type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64) ||
        setting->format == CONFIG_FORMAT_HEX) {
        value_report_type(problems, setting, label, "a whole decimal number");
        return 0;
    }

    const int64_t number = config_setting_get_int64(setting);

    if (number < row->min || number > row->max) {
        config_problems_add(problems, setting->line,
                            "option '%s': %" PRId64 " is not between %" PRId64 " and %" PRId64,
                            label, number, row->min, row->max);
        return 0;
    }
    value->number = number;
    return 0;
}

static int read_bool(struct config_value *value, const char *label, const config_setting_t *setting,
                     struct config_problems *problems)
{
    if (config_setting_type(setting) != CONFIG_TYPE_BOOL) {
        value_report_type(problems, setting, label, "true or false");
        return 0;
    }
    value->number = config_setting_get_bool(setting) == CONFIG_TRUE ? 1 : 0;
    return 0;
}

static void add_wrong_choice(const struct ccm_option *row, const char *label, const char *text,
                             unsigned line, struct config_problems *problems)
{
    struct ccm_suggest suggest = { .wanted = text };
    const char *cursor = row->values;
    char choice[CHOICE_SIZE];
    char best[CHOICE_SIZE] = "";

    while (next_choice(&cursor, choice, sizeof(choice))) {
        ccm_suggest_offer(&suggest, choice);
        if (ccm_suggest_best(&suggest) == choice) {
            ccm_text_copy(best, sizeof(best), choice);
            suggest.best = best;
        }
    }
    if (best[0] != '\0') {
        config_problems_add(problems, line, "option '%s': '%s' is none of %s (did you mean '%s'?)",
                            label, text, row->values, best);
    } else {
        config_problems_add(problems, line, "option '%s': '%s' is none of %s", label, text,
                            row->values);
    }
}

static void add_mismatch(const struct ccm_option *row, const char *label, const char *text,
                         unsigned line, struct config_problems *problems)
{
    if (row->unless == NULL) {
        config_problems_add(problems, line, "option '%s': '%s' does not match %s", label, text,
                            row->pattern);
    } else {
        config_problems_add(problems, line,
                            "option '%s': '%s' is taken only with '%s = true' in %s", label, text,
                            row->unless, row->group == NULL ? "the plugin's entry" : row->group);
    }
}

static int value_read_text(struct config_value *value, const char *label,
                           const config_setting_t *setting, struct config_problems *problems)
{
    const struct ccm_option *row = value->row;
    const bool path = row->type == CCM_OPTION_PATH;

    if (config_setting_type(setting) != CONFIG_TYPE_STRING) {
        value_report_type(problems, setting, label,
                          path ? "an absolute path in quotes" : "a text in quotes");
        return 0;
    }

    CCM_CLEANUP(ccm_freep) char *text = strdup(config_setting_get_string(setting));

    if (text == NULL) {
        return -ENOMEM;
    }
    if (!path) {
        ccm_text_strip(text);
    }
    if (path && !is_path(text)) {
        config_problems_add(problems, setting->line, "option '%s': '%s' is not an absolute path",
                            label, text);
        return 0;
    }
    if (!path && !is_choice(row, text)) {
        add_wrong_choice(row, label, text, setting->line, problems);
        return 0;
    }

    if (*text != '\0' && row->pattern != NULL && !value->waived &&
        ccm_parse_matches(text, row->pattern) != 1) {
        add_mismatch(row, label, text, setting->line, problems);
        return 0;
    }
    free(value->text);
    value->text = CCM_STEAL(text);
    return 0;
}

/* Whether every element is a text with something in it; the first that is not is reported. */
static bool check_elements(const char *label, const config_setting_t *setting,
                           struct config_problems *problems)
{
    const int count = config_setting_length(setting);

    for (int i = 0; i < count; i++) {
        const config_setting_t *element = config_setting_get_elem(setting, (unsigned)i);

        if (config_setting_type(element) != CONFIG_TYPE_STRING) {
            config_problems_add(problems, element->line,
                                "option '%s': element %d: expected a text in quotes, found %s",
                                label, i + 1, config_found_type(element));
            return false;
        }
        if (*config_setting_get_string(element) == '\0') {
            config_problems_add(problems, element->line, "option '%s': element %d is empty", label,
                                i + 1);
            return false;
        }
    }
    return true;
}

static int read_texts(struct config_value *value, const char *label,
                      const config_setting_t *setting, struct config_problems *problems)
{
    const int type = config_setting_type(setting);

    if (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST) {
        value_report_type(problems, setting, label, "a list of texts [ \"a\", \"b\" ]");
        return 0;
    }
    if (!check_elements(label, setting, problems)) {
        return 0;
    }

    const size_t count = (size_t)config_setting_length(setting);
    CCM_CLEANUP(free_textsp) char **texts = calloc(count + 1, sizeof(char *));

    if (texts == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        texts[i] = strdup(config_setting_get_string_elem(setting, (int)i));
        if (texts[i] == NULL) {
            return -ENOMEM;
        }
        ccm_text_strip(texts[i]);
    }
    free_texts(value->texts);
    value->texts = CCM_STEAL(texts);
    return 0;
}

int config_value_read(struct config_value *value, const char *label,
                      const config_setting_t *setting, struct config_problems *problems)
{
    value->present = true;
    switch (value->row->type) {
    case CCM_OPTION_INT:
        return read_int(value, label, setting, problems);
    case CCM_OPTION_BOOL:
        return read_bool(value, label, setting, problems);
    case CCM_OPTION_STRINGS:
        return read_texts(value, label, setting, problems);
    default:
        return value_read_text(value, label, setting, problems);
    }
}

bool config_value_filled(const struct config_value *value)
{
    if (value->texts != NULL) {
        return value->texts[0] != NULL;
    }
    return value->text == NULL || value->text[0] != '\0';
}
