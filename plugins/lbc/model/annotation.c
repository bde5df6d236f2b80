#include "lbc/model/annotation.h"
#include "lbc/names.h"

#include "ccm/object.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/suggest.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SUFFIX_MAX 64

static bool row_is_whole_key(const struct lbc_anno *row)
{
    return strchr(row->name, '/') != NULL;
}

const char *lbc_anno_suffix(const char *key)
{
    const char *const prefixes[] = { lbc_names.annotations, lbc_names.annotations_before };

    for (size_t i = 0; i < CCM_ARRAY_LEN(prefixes); i++) {
        if (prefixes[i] != NULL && ccm_text_starts(key, prefixes[i])) {
            return key + strlen(prefixes[i]);
        }
    }
    return NULL;
}

static const char *anno_get_prefixed(const struct ccm_object *object, const char *prefix,
                                     const char *suffix)
{
    char key[256];
    const size_t len = prefix == NULL ? 0 : strlen(prefix);
    const size_t size = strlen(suffix) + 1;

    if (len == 0 || len + size > sizeof(key)) {
        return NULL;
    }
    memcpy(key, prefix, len); /* a pass does this for each annotation there is */
    memcpy(key + len, suffix, size);
    return ccm_object_annotation(object, key);
}

const char *lbc_anno_get(const struct ccm_object *object, const char *suffix)
{
    const char *value = anno_get_prefixed(object, lbc_names.annotations, suffix);

    if (value == NULL) {
        value = anno_get_prefixed(object, lbc_names.annotations_before, suffix);
    }
    return value == NULL ? "" : value;
}

bool lbc_anno_says(const struct ccm_object *object, const char *suffix, const char *word)
{
    return ccm_text_equal_case(lbc_anno_get(object, suffix), word);
}

bool lbc_anno_is_set(const struct ccm_object *object, const char *suffix)
{
    return anno_get_prefixed(object, lbc_names.annotations, suffix) != NULL ||
           anno_get_prefixed(object, lbc_names.annotations_before, suffix) != NULL;
}

bool lbc_anno_is_on(const char *value)
{
    return ccm_text_equal_case(value, "on") || ccm_text_equal_case(value, "true");
}

const char *lbc_anno_value(const struct ccm_object *object, const struct lbc_anno *row)
{
    if (!row_is_whole_key(row)) {
        return lbc_anno_get(object, row->name);
    }
    const char *value = ccm_object_annotation(object, row->name);

    return value == NULL ? "" : value;
}

const char *lbc_anno_suffix_key(const struct ccm_object *object, const char *suffix,
                                char key[static LBC_ANNO_KEY_MAX])
{
    const bool legacy = anno_get_prefixed(object, lbc_names.annotations, suffix) == NULL &&
                        anno_get_prefixed(object, lbc_names.annotations_before, suffix) != NULL;

    ccm_text_printf(key, LBC_ANNO_KEY_MAX, "%s%s",
                    legacy ? lbc_names.annotations_before : lbc_names.annotations, suffix);
    return key;
}

const char *lbc_anno_key(const struct ccm_object *object, const struct lbc_anno *row,
                         char key[static LBC_ANNO_KEY_MAX])
{
    if (!row_is_whole_key(row)) {
        return lbc_anno_suffix_key(object, row->name, key);
    }
    ccm_text_copy(key, LBC_ANNO_KEY_MAX, row->name);
    return key;
}

const struct lbc_anno *lbc_anno_find(const struct lbc_anno_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].name, name) == 0) {
            return &table->rows[i];
        }
    }
    return NULL;
}

bool lbc_anno_is_asked(const struct lbc_anno *row, const struct ccm_object *object)
{
    const char *needed = row->needs == NULL ? "" : lbc_anno_get(object, row->needs);

    if (lbc_anno_value(object, row)[0] == '\0') {
        return false;
    }
    if (row->needs == NULL || row->need < LBC_NEED_SET) {
        return true;
    }
    return row->need == LBC_NEED_ON ? lbc_anno_is_on(needed) : needed[0] != '\0';
}

static const char *prefix_of(const struct lbc_anno *row)
{
    return row_is_whole_key(row) ? "" : lbc_names.annotations;
}

static const char *anno_get_label(const struct lbc_anno *row)
{
    if (row->label != NULL) {
        return row->label;
    }
    return row->field != NULL ? row->field : row->name;
}

static int refuse_number(const struct lbc_anno *row, const char *value, const char *why,
                         struct ccm_error *err)
{
    const char *label = anno_get_label(row);

    switch (row->says) {
    case LBC_ANNO_SAYS_INTEGER:
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "Annotation %s must be integer, but got [%s]. message=[%s] ", label,
                             value, why);
    case LBC_ANNO_SAYS_RANGE:
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%s must be integer in range [%lld,%lld] , got [%s]", label,
                             (long long)row->min, (long long)row->max, value);
    case LBC_ANNO_SAYS_SPACED:
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%s must be integer in range [%lld, %lld], got [%s]", label,
                             (long long)row->min, (long long)row->max, value);
    case LBC_ANNO_SAYS_BEHIND:
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s parse error: [%s] %s", label,
                             value, why);
    case LBC_ANNO_SAYS_BEFORE:
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "parse %s error: [%s] %s, range is [%lld,%lld]", label, value, why,
                             (long long)row->min, (long long)row->max);
    case LBC_ANNO_SAYS_VALUE:
    case LBC_ANNO_SAYS_FLAG:
        break;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "%s must be integer, got [%s], error: %s", label, value, why);
}

static int refuse_range(const struct lbc_anno *row, const char *value, struct ccm_error *err)
{
    if (row->says == LBC_ANNO_SAYS_BEHIND) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%s must be integer in range [%lld,%lld] , got [%s]",
                             anno_get_label(row), (long long)row->min, (long long)row->max, value);
    }
    if (row->says != LBC_ANNO_SAYS_INTEGER) {
        return refuse_number(row, value, "value out of range", err);
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "annotation %s%s must be in range [%lld,%lld], got [%s]", prefix_of(row),
                         row->name, (long long)row->min, (long long)row->max, value);
}

static int check_number(const struct lbc_anno *row, const char *value, struct ccm_error *err)
{
    int64_t number = 0;

    if ((row->flags & LBC_ANNO_ZERO) != 0 && ccm_parse_i64(value, 0, 0, &number) == 0) {
        return 0;
    }
    switch (ccm_parse_i64(value, row->min, row->max, &number)) {
    case 0:
        return 0;
    case -ERANGE:
        return refuse_range(row, value, err);
    default:
        return refuse_number(row, value, "invalid syntax", err);
    }
}

/* The entry of "a|b|c" that is the value, also in another case when told so. */
static bool find_choice(const char *values, const char *value, bool any_case, char *ret,
                        size_t size)
{
    const char *cursor = values;
    const char *piece = NULL;
    size_t len = 0;

    while (cursor != NULL && ccm_parse_piece(&cursor, '|', &piece, &len)) {
        ccm_text_printf(ret, size, "%.*s", (int)len, piece);
        if (strcmp(ret, value) == 0 || (any_case && ccm_text_equal_case(ret, value))) {
            return true;
        }
    }
    return false;
}

void lbc_anno_spell(const char *values, const char *value, char *ret, size_t size)
{
    if (!find_choice(values, value, true, ret, size)) {
        ret[0] = '\0';
    }
}

static int check_choice(const struct lbc_anno *row, const char *values, bool any_case,
                        const char *value, struct ccm_error *err)
{
    char one[SUFFIX_MAX];

    if (find_choice(values, value, any_case, one, sizeof(one))) {
        return 0;
    }
    if (row->says == LBC_ANNO_SAYS_FLAG) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "ParameterInvalid, %s error: invalid flag \"%s\", should be \"on\" or "
                             "\"off\"",
                             row->label, value);
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "annotation %s%s must be one of [%s], got [%s]", prefix_of(row), row->name,
                         values, value);
}

static int check_row(const struct lbc_anno *row, const char *value, struct ccm_error *err)
{
    switch (row->type) {
    case LBC_ANNO_INT:
        return check_number(row, value, err);
    case LBC_ANNO_ENUM:
        return check_choice(row, row->values, (row->flags & LBC_ANNO_NO_CASE) != 0, value, err);
    case LBC_ANNO_SWITCH:
        return check_choice(row, "on|off", (row->flags & LBC_ANNO_NO_CASE) != 0, value, err);
    case LBC_ANNO_BOOL:
        return check_choice(row, "on|off|true|false", true, value, err);
    case LBC_ANNO_TEXT:
    case LBC_ANNO_ON:
    case LBC_ANNO_ANY:
        break;
    }
    return 0;
}

/* What the value must be, behind "must be "; "" = the refusal says it. */
static void anno_write_expected(const struct lbc_anno *row, struct ccm_buf *text)
{
    switch (row->type) {
    case LBC_ANNO_INT:
        ccm_buf_addf(text, "an integer from %lld to %lld", (long long)row->min,
                     (long long)row->max);
        if (row->form != NULL) {
            ccm_buf_addf(text, " (%s)", row->form);
        }
        break;
    case LBC_ANNO_ENUM:
        ccm_buf_addf(text, "one of [%s]", row->values);
        break;
    case LBC_ANNO_SWITCH:
    case LBC_ANNO_BOOL:
        ccm_buf_adds(text, "on or off");
        break;
    case LBC_ANNO_TEXT:
    case LBC_ANNO_ON:
    case LBC_ANNO_ANY:
        ccm_buf_adds(text, row->form == NULL ? "" : row->form);
        break;
    }
}

int lbc_anno_explain(const struct lbc_anno *row, int r, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = CCM_ERROR_MESSAGE_MAX };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf expected = { .max = 400 };
    char key[LBC_ANNO_KEY_MAX];
    size_t len = 0;

    if (row == NULL || r != -EINVAL) {
        return r;
    }
    ccm_text_printf(key, sizeof(key), "%s%s", prefix_of(row), row->name);
    if (strstr(err->message, key) != NULL || strstr(err->message, lbc_names.annotations) != NULL) {
        return r; /* it names this one, or the other one that is at fault */
    }
    len = strlen(err->message);
    while (len > 0 && err->message[len - 1] == ' ') {
        len--;
    }
    ccm_buf_add(&text, err->message, len);
    anno_write_expected(row, &expected);
    return ccm_error_set(err, r, err->kind, "%s (annotation %s%s%s)", ccm_buf_str(&text), key,
                         expected.len == 0 ? "" : " must be ", ccm_buf_str(&expected));
}

int lbc_anno_check(const struct lbc_anno *row, const struct ccm_object *object,
                   struct ccm_error *err)
{
    const char *value = lbc_anno_value(object, row);

    if (strnlen(value, LBC_ANNO_VALUE_MAX + 1) > LBC_ANNO_VALUE_MAX) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "annotation %s%s must be at most %d bytes long, got [%.40s...]",
                             prefix_of(row), row->name, LBC_ANNO_VALUE_MAX, value);
    }
    return value[0] == '\0' ? 0 : lbc_anno_explain(row, check_row(row, value, err), err);
}

static const struct lbc_anno *anno_find_nearest(const struct lbc_anno_table *table,
                                                const char *suffix)
{
    struct ccm_suggest suggest = { .wanted = suffix };

    for (size_t i = 0; i < table->count; i++) {
        ccm_suggest_offer(&suggest, table->rows[i].name);
    }

    const char *best = ccm_suggest_best(&suggest);

    return best == NULL ? NULL : lbc_anno_find(table, best);
}

static bool is_foreign(const struct lbc_anno_table *table, const char *suffix)
{
    char one[SUFFIX_MAX];

    return find_choice(table->foreign, suffix, false, one, sizeof(one));
}

/* What the engine acts on also where a table says nothing of it. */
static bool suffix_counts_anyway(const char *suffix)
{
    static const char *const suffixes[] = { "additional-resource-tags", "backend-label",
                                            "default-weight", "preserve-lb-on-delete",
                                            "protocol-port" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(suffixes); i++) {
        if (strcmp(suffix, suffixes[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_known(const struct lbc_anno_table *table, const char *key, const char *suffix)
{
    const struct lbc_anno *row = lbc_anno_find(table, suffix);

    return (row != NULL && !row_is_whole_key(row)) || lbc_anno_find(table, key) != NULL ||
           (!is_foreign(table, suffix) && suffix_counts_anyway(suffix));
}

static const char *anno_find_instead(const struct lbc_anno_table *table, const char *suffix)
{
    const struct lbc_anno_instead *instead = table->instead;

    for (; instead != NULL && instead->suffix != NULL; instead++) {
        if (strcmp(instead->suffix, suffix) == 0) {
            return instead->text;
        }
    }
    return "take it away";
}

/* The sentence about a key with one of our prefixes that the table lacks. */
static void anno_describe_unknown(const struct lbc_anno_table *table, const char *key,
                                  struct ccm_buf *text)
{
    const char *suffix = lbc_anno_suffix(key);

    if (suffix == NULL || is_known(table, key, suffix)) {
        return;
    }
    const bool foreign = is_foreign(table, suffix);
    const struct lbc_anno *guess = foreign ? NULL : anno_find_nearest(table, suffix);

    ccm_buf_addf(text, "%sannotation %s", text->len == 0 ? "" : "; ", key);
    if (foreign) {
        ccm_buf_addf(text, " has no effect: %s load balancers do not have it, %s", table->kind,
                     anno_find_instead(table, suffix));
    } else {
        ccm_buf_adds(text, " is unknown and has no effect");
    }
    if (guess != NULL) {
        ccm_buf_addf(text, ", did you mean %s%s?", prefix_of(guess), guess->name);
    }
}

void lbc_anno_unknown(const struct lbc_anno_table *table, const struct ccm_object *object,
                      struct ccm_buf *text)
{
    for (uint64_t i = 0; i < object->annotation_count; i++) {
        anno_describe_unknown(table, object->annotations[i]->key, text);
    }
}

static void lint_row(const struct lbc_anno *row, const struct ccm_object *object,
                     lbc_anno_say_fn say, void *arg)
{
    struct ccm_error err = CCM_ERROR_INIT;
    char key[LBC_ANNO_KEY_MAX];

    if (lbc_anno_check(row, object, &err) < 0) {
        say(arg, lbc_anno_key(object, row, key), false, err.message);
    }
}

void lbc_anno_write_protocols(const struct lbc_anno *row, const char *separator,
                              struct ccm_buf *text)
{
    const char *between = "";

    for (unsigned i = 0; i < LBC_OTHER; i++) {
        if ((row->on >> i & 1U) != 0) {
            ccm_buf_addf(text, "%s%s", between, lbc_protocol_lower((enum lbc_protocol)i));
            between = separator;
        }
    }
}

/* An annotation of the legacy prefix beside the same one with the present prefix. */
static bool is_hidden(const struct ccm_object *object, const char *key)
{
    return lbc_names.annotations_before != NULL &&
           ccm_text_starts(key, lbc_names.annotations_before) &&
           anno_get_prefixed(object, lbc_names.annotations,
                             key + strlen(lbc_names.annotations_before)) != NULL;
}

void lbc_anno_lint(const struct lbc_anno_table *table, const struct ccm_object *object,
                   lbc_anno_say_fn say, void *arg)
{
    for (uint64_t i = 0; i < object->annotation_count; i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };
        const char *key = object->annotations[i]->key;

        anno_describe_unknown(table, key, &text);
        if (text.len == 0 && is_hidden(object, key)) {
            ccm_buf_addf(&text, "annotation %s has no effect beside %s%s", key,
                         lbc_names.annotations, key + strlen(lbc_names.annotations_before));
        }
        if (text.len > 0) {
            say(arg, key, true, ccm_buf_str(&text));
        }
    }
    for (size_t i = 0; i < table->count; i++) {
        lint_row(&table->rows[i], object, say, arg);
    }
}
