#include "lbc/rules/attrs.h"

#include "util/array.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX    4096 /* bytes of a joined list */
#define SPELLED_MAX 64   /* bytes of a word of a row, or of a number */

struct lbc_attr *lbc_attrs_find(const struct lbc_attrs *attrs, const struct lbc_anno *row)
{
    for (size_t i = 0; i < attrs->len; i++) {
        if (attrs->items[i].row == row) {
            return &attrs->items[i];
        }
    }
    return NULL;
}

/* `value`, of the heap, moves in. */
static int attrs_put(struct lbc_attrs *attrs, const struct lbc_attr *attr)
{
    struct lbc_attr *present = lbc_attrs_find(attrs, attr->row);

    if (present == NULL &&
        ccm_array_grow(&attrs->items, &attrs->cap, attrs->len + 1, sizeof(*attrs->items)) < 0) {
        free(attr->value);
        return -ENOMEM;
    }
    if (present == NULL) {
        attrs->items[attrs->len++] = *attr;
    } else {
        free(present->value);
        *present = *attr;
    }
    return 0;
}

int lbc_attrs_set(struct lbc_attrs *attrs, const struct lbc_anno *row, const char *value,
                  bool explicit)
{
    const struct lbc_attr attr = { .row = row, .value = strdup(value), .explicit = explicit };

    return attr.value == NULL ? -ENOMEM : attrs_put(attrs, &attr);
}

int lbc_attrs_keep(struct lbc_attrs *attrs, const struct lbc_anno *row)
{
    const struct lbc_attr attr = { .row = row, .kept = true };

    return attrs_put(attrs, &attr);
}

bool lbc_attrs_keeps(const struct lbc_attrs *attrs, const struct lbc_anno *row)
{
    const struct lbc_attr *present = lbc_attrs_find(attrs, row);

    return present != NULL && present->kept;
}

void lbc_attrs_remove(struct lbc_attrs *attrs, const struct lbc_anno *row)
{
    struct lbc_attr *present = lbc_attrs_find(attrs, row);

    if (present == NULL) {
        return;
    }
    const size_t at = (size_t)(present - attrs->items);

    free(present->value);
    attrs->len--;
    memmove(present, present + 1, (attrs->len - at) * sizeof(*present));
}

const char *lbc_attrs_get(const struct lbc_attrs *attrs, const struct lbc_anno *row)
{
    const struct lbc_attr *present = lbc_attrs_find(attrs, row);

    return present == NULL ? NULL : present->value;
}

int lbc_attrs_copy(struct lbc_attrs *to, const struct lbc_attrs *from)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->len; i++) {
        const struct lbc_attr *attr = &from->items[i];

        if (!attr->kept) {
            r = lbc_attrs_set(to, attr->row, attr->value, attr->explicit);
        }
    }
    return r;
}

void lbc_attrs_fini(struct lbc_attrs *attrs)
{
    for (size_t i = 0; i < attrs->len; i++) {
        free(attrs->items[i].value);
    }
    free(attrs->items);
    memset(attrs, 0, sizeof(*attrs));
}

void lbc_attrs_trim(struct lbc_attrs *attrs)
{
    ccm_array_trim(&attrs->items, &attrs->cap, attrs->len, sizeof(*attrs->items));
}

/* --- rows --- */

static bool row_is_attribute(const struct lbc_anno *row, enum lbc_anno_group group)
{
    return row->group == group && row->field != NULL && (row->cloud & LBC_ATTR_OWN) == 0;
}

/* Rows, then those that no annotation sets, are counted through. */
static const struct lbc_anno *table_row(const struct lbc_anno_table *table, size_t at)
{
    return at < table->count ? &table->rows[at] : &table->mute[at - table->count];
}

void lbc_attr_rows_list(const struct lbc_anno_table *table, enum lbc_anno_group group,
                        struct lbc_attr_rows *ret)
{
    const size_t count = table->count + table->mute_count;

    ret->len = 0;
    for (size_t i = 0; i < count && ret->len < LBC_ATTR_ROWS_MAX; i++) {
        const struct lbc_anno *row = table_row(table, i);
        size_t at = ret->len;

        if (!row_is_attribute(row, group)) {
            continue;
        }
        for (; at > 0 && ret->items[at - 1]->place > row->place; at--) {
            ret->items[at] = ret->items[at - 1];
        }
        ret->items[at] = row;
        ret->len++;
    }
}

const struct lbc_anno *lbc_attr_row(const struct lbc_anno_table *table, enum lbc_anno_group group,
                                    const char *field)
{
    const struct lbc_anno *found = NULL;

    for (size_t i = 0; i < table->count + table->mute_count; i++) {
        const struct lbc_anno *row = table_row(table, i);

        if (row_is_attribute(row, group) && (found == NULL || row->place < found->place) &&
            strcmp(row->field, field) == 0) {
            found = row;
        }
    }
    return found;
}

bool lbc_attr_applies(const struct lbc_anno *row, enum lbc_protocol protocol)
{
    return row->on == 0 || (row->on >> protocol & 1U) != 0;
}

/* --- values --- */

static bool row_is_switch(const struct lbc_anno *row)
{
    return row->type == LBC_ANNO_BOOL || (row->cloud & LBC_ATTR_BOOL) != 0;
}

const char *lbc_attr_word(const struct lbc_anno *row, bool on)
{
    if (row_is_switch(row)) {
        return on ? "true" : "false";
    }
    return on ? "on" : "off";
}

static bool row_says_on(const struct lbc_anno *row, const char *value)
{
    return row->type == LBC_ANNO_BOOL || (row->flags & LBC_ANNO_NO_CASE) != 0
               ? lbc_anno_is_on(value)
               : strcmp(value, "on") == 0;
}

bool lbc_attrs_is_on(const struct lbc_attrs *attrs, const struct lbc_anno *row)
{
    return ccm_text_equal(lbc_attrs_get(attrs, row), lbc_attr_word(row, true));
}

const char *lbc_attr_default(const struct lbc_anno *row, enum lbc_protocol protocol)
{
    if ((row->other.on >> protocol & 1U) != 0) {
        return row->other.value;
    }
    if (row->fallback == NULL || strcmp(row->fallback, "none") == 0) {
        return NULL;
    }
    return row_is_switch(row) ? lbc_attr_word(row, row_says_on(row, row->fallback)) : row->fallback;
}

/* One spelling per number, so that a comparison with the cloud's answer holds. */
static const char *spell_number(const struct lbc_anno *row, enum lbc_protocol protocol,
                                const char *value, char space[static LBC_ATTR_NUMBER])
{
    int64_t number = 0;

    if (ccm_parse_i64(value, INT64_MIN, INT64_MAX, &number) < 0 ||
        (number == 0 && (row->flags & LBC_ANNO_ZERO) != 0)) {
        return NULL; /* what is no number was refused before */
    }
    ccm_text_printf(space, LBC_ATTR_NUMBER, "%" PRId64, number);
    return (row->absent.on >> protocol & 1U) != 0 && strcmp(space, row->absent.value) == 0 ? NULL
                                                                                           : space;
}

/* Without the blanks around commas, and empty entries. */
static int spell_list(const char *value, char **ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = LIST_MAX };
    const char *cursor = value;
    const char *piece = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, ',', &piece, &len)) {
        if (len > 0) {
            ccm_buf_addf(&text, "%s%.*s", text.len == 0 ? "" : ",", (int)len, piece);
        }
    }
    if (ccm_buf_error(&text) < 0) {
        return -ENOMEM;
    }
    *ret = strdup(ccm_buf_str(&text));
    return *ret == NULL ? -ENOMEM : 0;
}

int lbc_attr_parse(const struct lbc_anno *row, enum lbc_protocol protocol, const char *value,
                   char **ret)
{
    const char *words = row->spelling != NULL ? row->spelling : row->values;
    const char *text = value + strspn(value, " \t");
    char space[SPELLED_MAX];

    *ret = NULL;
    if (value[0] == '\0') {
        return 0;
    }
    if (row->type == LBC_ANNO_INT) {
        text = spell_number(row, protocol, value, space);
    } else if (row_is_switch(row)) {
        text = lbc_attr_word(row, row_says_on(row, value));
    } else if (words != NULL) {
        lbc_anno_spell(words, value, space, sizeof(space));
        text = space[0] == '\0' ? NULL : space; /* it is no such word, and was refused before */
    } else if ((row->cloud & LBC_ATTR_LIST) != 0) {
        return spell_list(value, ret);
    } else if ((row->flags & LBC_ANNO_EMPTY) == 0) {
        text = value;
    }
    if (text == NULL) {
        return 0;
    }
    *ret = strdup(text);
    return *ret == NULL ? -ENOMEM : 0;
}

/* --- from annotations --- */

static int add_defaults(struct lbc_attrs *attrs, const struct lbc_attr_source *source)
{
    struct lbc_attr_rows rows;
    int r = 0;

    lbc_attr_rows_list(source->table, source->group, &rows);
    for (size_t i = 0; r == 0 && i < rows.len; i++) {
        const struct lbc_anno *row = rows.items[i];

        if ((row->cloud & LBC_ATTR_ASKED) != 0 && lbc_attr_applies(row, source->protocol)) {
            r = lbc_attrs_set(attrs, row, lbc_attr_default(row, source->protocol), false);
        }
    }
    return r;
}

/* The value, or the switch that it counts with, cannot be used. */
static bool wish_is_kept(const struct lbc_attr_source *source, const struct lbc_anno *row)
{
    return lbc_refusals_keeps(source->refused, row) ||
           (row->needs != NULL && row->need >= LBC_NEED_SET &&
            lbc_refusals_has(source->refused, row->needs));
}

static int add_wish(struct lbc_attrs *attrs, const struct lbc_attr_source *source,
                    const struct lbc_anno *row)
{
    CCM_CLEANUP(ccm_freep) char *value = NULL;

    if (wish_is_kept(source, row)) {
        return lbc_attrs_keep(attrs, row);
    }
    if (!lbc_anno_is_asked(row, &source->service->meta)) {
        return 0;
    }
    if (lbc_attr_parse(row, source->protocol, lbc_anno_value(&source->service->meta, row), &value) <
        0) {
        return -ENOMEM;
    }
    return value == NULL ? 0 : lbc_attrs_set(attrs, row, value, true);
}

int lbc_attrs_add_wishes(struct lbc_attrs *attrs, const struct lbc_attr_source *source,
                         bool *ret_lacks)
{
    int r = add_defaults(attrs, source);

    for (size_t i = 0; r == 0 && i < source->table->count; i++) {
        const struct lbc_anno *row = &source->table->rows[i];

        if (!row_is_attribute(row, source->group) || (row->cloud & LBC_ATTR_CREATE) != 0 ||
            !lbc_attr_applies(row, source->protocol)) {
            continue;
        }
        if (ret_lacks != NULL && lbc_refusals_fails(source->refused, row)) {
            *ret_lacks = true;
        }
        r = add_wish(attrs, source, row);
    }
    return r;
}

/* --- from answers --- */

const char *lbc_attr_read(const cJSON *parent, const char *name, char space[static LBC_ATTR_NUMBER])
{
    const char *dot = strchr(name, '.');
    char part[64];

    if (dot != NULL) {
        ccm_text_printf(part, sizeof(part), "%.*s", (int)(dot - name), name);
        return lbc_attr_read(ccm_json_get(parent, part), dot + 1, space);
    }
    const cJSON *item = ccm_json_get(parent, name);

    if (cJSON_IsNumber(item)) {
        ccm_text_printf(space, LBC_ATTR_NUMBER, "%lld", (long long)ccm_json_i64(parent, name, 0));
        return space;
    }
    if (cJSON_IsBool(item)) {
        return cJSON_IsTrue(item) ? "true" : "false";
    }
    return ccm_json_text(parent, name);
}

/* "a,b" of a list, or of a text that is one; "" when it is empty. */
static int read_list(const cJSON *json, const char *name, struct ccm_buf *ret)
{
    for (const cJSON *one = ccm_json_items(json, name); one != NULL; one = one->next) {
        if (cJSON_IsString(one)) {
            ccm_buf_addf(ret, "%s%s", ret->len == 0 ? "" : ",", one->valuestring);
        }
    }
    if (ret->len == 0) {
        ccm_buf_adds(ret, ccm_json_text(json, name));
    }
    return ccm_buf_error(ret);
}

static bool answer_is_unset(const struct lbc_anno *row, const char *value)
{
    const bool zero = row->type == LBC_ANNO_INT && row->min == 0;

    return value[0] == '\0' || (strcmp(value, "0") == 0 && !zero);
}

static int add_member(struct lbc_attrs *attrs, const struct lbc_anno *row, const cJSON *json,
                      const char *name)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf list = { .max = LIST_MAX };
    char space[LBC_ATTR_NUMBER];
    const char *value = NULL;

    if ((row->cloud & LBC_ATTR_LIST) != 0) {
        const int r = read_list(json, name, &list);

        if (r < 0) {
            return r == -ENOMEM ? r : -EPROTO;
        }
        value = ccm_buf_str(&list);
    } else {
        value = lbc_attr_read(json, name, space);
    }
    return answer_is_unset(row, value) ? 0 : lbc_attrs_set(attrs, row, value, false);
}

static int add_answer(struct lbc_attrs *attrs, const struct lbc_anno *row, const cJSON *json)
{
    int r = row->read_name == NULL ? 0 : add_member(attrs, row, json, row->read_name);

    if (r == 0 && lbc_attrs_find(attrs, row) == NULL) {
        r = add_member(attrs, row, json, row->field);
    }
    return r;
}

int lbc_attrs_add_answer(struct lbc_attrs *attrs, const struct lbc_attr_answer *answer)
{
    struct lbc_attr_rows rows;
    int r = 0;

    lbc_attr_rows_list(answer->table, answer->group, &rows);
    for (size_t i = 0; r == 0 && i < rows.len; i++) {
        const struct lbc_anno *row = rows.items[i];

        if (lbc_attr_applies(row, answer->protocol)) {
            r = add_answer(attrs, row,
                           (row->cloud & answer->other_bit) != 0 ? answer->other : answer->json);
        }
    }
    return r;
}
