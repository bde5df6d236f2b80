#include "service/annotation.h"

#include "service/object.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

#define SUFFIX_MAX 64

static const char *prefixed(const struct ccm_object *object, const char *prefix, const char *suffix)
{
    char key[256];
    const int len = snprintf(key, sizeof(key), "%s%s", prefix, suffix);

    return len < 0 || (size_t)len >= sizeof(key) ? NULL : ccm_object_annotation(object, key);
}

const char *ccm_anno_get(const struct ccm_object *object, const char *suffix)
{
    const char *value = prefixed(object, CCM_ANNO_PREFIX, suffix);

    if (value == NULL) {
        value = prefixed(object, CCM_ANNO_LEGACY_PREFIX, suffix);
    }
    return value == NULL ? "" : value;
}

const char *ccm_anno_value(const struct ccm_object *object, const struct ccm_anno *row)
{
    if ((row->flags & CCM_ANNO_FULL_KEY) == 0) {
        return ccm_anno_get(object, row->name);
    }
    const char *value = ccm_object_annotation(object, row->name);

    return value == NULL ? "" : value;
}

const struct ccm_anno *ccm_anno_find(const struct ccm_anno_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].name, name) == 0) {
            return &table->rows[i];
        }
    }
    return NULL;
}

static const char *prefix_of(const struct ccm_anno *row)
{
    return (row->flags & CCM_ANNO_FULL_KEY) != 0 ? "" : CCM_ANNO_PREFIX;
}

static int refuse_number(const struct ccm_anno *row, const char *value, const char *why,
                         struct ccm_error *err)
{
    const char *label = row->label == NULL ? row->name : row->label;

    switch (row->says) {
    case CCM_ANNO_SAYS_INTEGER:
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "Annotation %s must be integer, but got [%s]. message=[%s] ", label,
                             value, why);
    case CCM_ANNO_SAYS_RANGE:
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%s must be integer in range [%lld,%lld] , got [%s]", label,
                             (long long)row->min, (long long)row->max, value);
    case CCM_ANNO_SAYS_VALUE:
        break;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "%s must be integer, got [%s], error: %s", label, value, why);
}

static int check_number(const struct ccm_anno *row, const char *value, struct ccm_error *err)
{
    int64_t number = 0;

    switch (ccm_parse_i64(value, row->min, row->max, &number)) {
    case 0:
        return 0;
    case -ERANGE:
        return refuse_number(row, value, "value out of range", err);
    default:
        return refuse_number(row, value, "invalid syntax", err);
    }
}

static int check_choice(const struct ccm_anno *row, const char *values, const char *value,
                        struct ccm_error *err)
{
    const char *cursor = values;
    const char *piece = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, '|', &piece, &len)) {
        char one[SUFFIX_MAX];

        (void)snprintf(one, sizeof(one), "%.*s", (int)len, piece); /* rows are short */
        if (strcmp(one, value) == 0 ||
            ((row->flags & CCM_ANNO_NO_CASE) != 0 && ccm_text_equal_case(one, value))) {
            return 0;
        }
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "annotation %s%s must be one of [%s], got [%s]", prefix_of(row), row->name,
                         values, value);
}

static int check_row(const struct ccm_anno *row, const char *value, struct ccm_error *err)
{
    switch (row->type) {
    case CCM_ANNO_INT:
        return check_number(row, value, err);
    case CCM_ANNO_ENUM:
        return check_choice(row, row->values, value, err);
    case CCM_ANNO_SWITCH:
        return check_choice(row, "on|off", value, err);
    case CCM_ANNO_TEXT:
    case CCM_ANNO_ANY:
        break;
    }
    return 0;
}

/* One message for all of them: a person should not have to find them one by one. */
static int check_built(const struct ccm_anno_table *table, const struct ccm_object *object,
                       struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf names = { .max = 900 };

    for (size_t i = 0; i < table->count; i++) {
        const struct ccm_anno *row = &table->rows[i];

        if ((row->flags & CCM_ANNO_NOT_BUILT) != 0 && ccm_anno_value(object, row)[0] != '\0') {
            ccm_buf_addf(&names, "%s%s%s", names.len == 0 ? "" : ", ", prefix_of(row), row->name);
        }
    }
    if (names.len == 0) {
        return 0;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "this version does not support annotation %s: remove it, nothing was "
                         "changed in the cloud",
                         ccm_buf_str(&names));
}

int ccm_anno_check(const struct ccm_anno_table *table, const struct ccm_object *object,
                   struct ccm_error *err)
{
    int r = check_built(table, object, err);

    for (size_t i = 0; r == 0 && i < table->count; i++) {
        const char *value = ccm_anno_value(object, &table->rows[i]);

        if (value[0] != '\0') {
            r = check_row(&table->rows[i], value, err);
        }
    }
    return r;
}

/* Number of single-character edits between two short texts. */
static size_t distance(const char *a, const char *b)
{
    size_t row[SUFFIX_MAX + 1];
    const size_t a_len = strlen(a);
    const size_t b_len = strlen(b);

    if (a_len > SUFFIX_MAX || b_len > SUFFIX_MAX) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= b_len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            const size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            const size_t shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

            diagonal = row[j];
            row[j] = replace < shift ? replace : shift;
        }
    }
    return row[b_len];
}

static const struct ccm_anno *nearest(const struct ccm_anno_table *table, const char *suffix)
{
    const struct ccm_anno *best = NULL;
    size_t best_distance = strlen(suffix) / 3 + 1;

    for (size_t i = 0; i < table->count; i++) {
        const size_t d = distance(suffix, table->rows[i].name);

        if (d < best_distance) {
            best_distance = d;
            best = &table->rows[i];
        }
    }
    return best;
}

static bool is_known(const struct ccm_anno_table *table, const char *key, const char *suffix)
{
    const struct ccm_anno *row = ccm_anno_find(table, suffix);

    return (row != NULL && (row->flags & CCM_ANNO_FULL_KEY) == 0) ||
           ccm_anno_find(table, key) != NULL;
}

void ccm_anno_unknown(const struct ccm_anno_table *table, const struct ccm_object *object,
                      struct ccm_buf *text)
{
    static const char *const prefixes[] = { CCM_ANNO_PREFIX, CCM_ANNO_LEGACY_PREFIX };

    for (uint64_t i = 0; i < object->annotation_count; i++) {
        const char *key = object->annotations[i]->key;

        for (size_t p = 0; p < CCM_ARRAY_LEN(prefixes); p++) {
            const char *suffix = key + strlen(prefixes[p]);

            if (!ccm_text_starts(key, prefixes[p]) || is_known(table, key, suffix)) {
                continue;
            }
            const struct ccm_anno *guess = nearest(table, suffix);

            ccm_buf_addf(text, "%sannotation %s is unknown and has no effect",
                         text->len == 0 ? "" : "; ", key);
            if (guess != NULL) {
                ccm_buf_addf(text, ", did you mean %s%s?", prefix_of(guess), guess->name);
            }
        }
    }
}
