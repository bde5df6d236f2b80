#include "lbc/apply/compare.h"

#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

struct lbc_compare lbc_compare_listeners(const struct lbc_anno_table *table,
                                         const struct lbc_listener *want,
                                         const struct lbc_listener *have)
{
    return (struct lbc_compare){ .table = table,
                                 .group = LBC_ANNO_LISTENER,
                                 .protocol = want->protocol,
                                 .want = &want->attrs,
                                 .have = &have->attrs };
}

/* --- values --- */

static bool list_within(const char *list, const char *other)
{
    const char *cursor = list;
    const char *piece = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, ',', &piece, &len)) {
        if (!ccm_parse_has_piece(other, ',', piece, len)) {
            return false;
        }
    }
    return true;
}

static bool row_is_same(const struct lbc_anno *row, const char *a, const char *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    if ((row->cloud & LBC_ATTR_SET) != 0) {
        return list_within(a, b) && list_within(b, a);
    }
    return (row->flags & LBC_ANNO_NO_CASE) != 0 ? ccm_text_equal_case(a, b) : strcmp(a, b) == 0;
}

static const char *compare_get_default(const struct lbc_compare *compare,
                                       const struct lbc_anno *row)
{
    const char *value = lbc_attr_default(row, compare->protocol);

    return value == NULL || compare->fallback == NULL ? value
                                                      : compare->fallback(compare->arg, row, value);
}

/* What there is in the cloud, as far as one can know. */
static const char *compare_get_present(const struct lbc_compare *compare,
                                       const struct lbc_anno *row)
{
    const char *value = lbc_attrs_get(compare->have, row);

    if (value != NULL) {
        return value;
    }
    return compare->table->tells_defaults ? compare_get_default(compare, row) : row->untold;
}

/* --- wishes --- */

static bool wish_is_explicit(const struct lbc_compare *compare, const struct lbc_anno *row)
{
    const struct lbc_attr *wish = lbc_attrs_find(compare->want, row);

    return wish != NULL && wish->explicit;
}

/* Whether the switch of an annotation is to be on, be it by default. */
static bool switch_is_on(const struct lbc_compare *compare, const char *name)
{
    const struct lbc_anno *row = lbc_anno_find(compare->table, name);
    const char *value = lbc_attrs_get(compare->want, row);

    return ccm_text_equal(value != NULL ? value : lbc_attr_default(row, compare->protocol),
                          lbc_attr_word(row, true));
}

/* Whether a wish means something: some do only beside a switch that is on. */
static bool wish_has_meaning(const struct lbc_compare *compare, const struct lbc_attr *wish)
{
    const struct lbc_anno *row = wish->row;

    return lbc_attr_applies(row, compare->protocol) &&
           (row->need == LBC_NEED_SAID || switch_is_on(compare, row->needs)) &&
           ((row->cloud & LBC_ATTR_SET) == 0 || wish->value[0] != '\0');
}

/* Whether a creation says it. */
static bool wish_is_sent(const struct lbc_compare *compare, const struct lbc_attr *wish)
{
    return wish->row->need == LBC_NEED_COMPARED ? lbc_attr_applies(wish->row, compare->protocol)
                                                : wish_has_meaning(compare, wish);
}

/* The value that shall hold; NULL = whatever there is. */
static const char *compare_get_wanted(const struct lbc_compare *compare, const struct lbc_anno *row)
{
    const struct lbc_attr *wish = lbc_attrs_find(compare->want, row);
    const struct lbc_attr *present = lbc_attrs_find(compare->have, row);

    if ((row->cloud & LBC_ATTR_CREATE) != 0 || !lbc_attr_applies(row, compare->protocol) ||
        (wish != NULL && wish->kept)) {
        return NULL;
    }
    if (wish != NULL && wish->explicit) {
        return wish_has_meaning(compare, wish) ? wish->value : NULL;
    }
    if (present == NULL || !present->explicit || (row->cloud & LBC_ATTR_RESET) == 0) {
        return NULL;
    }
    return wish != NULL ? wish->value : compare_get_default(compare, row);
}

const char *lbc_compare_target(const struct lbc_compare *compare, const struct lbc_anno *row)
{
    const char *wanted = compare_get_wanted(compare, row);
    const char *present = compare_get_present(compare, row);

    return wanted == NULL || ccm_text_equal(present, LBC_UNTOLD_ANY) ||
                   row_is_same(row, wanted, present)
               ? NULL
               : wanted;
}

int lbc_compare_overlay(const struct lbc_compare *compare, bool fresh, struct lbc_attrs *ret,
                        struct ccm_buf *change)
{
    struct lbc_attr_rows rows;
    int r = 0;

    for (size_t i = 0; r == 0 && i < compare->have->len; i++) {
        const struct lbc_attr *attr = &compare->have->items[i];

        if (fresh || wish_is_explicit(compare, attr->row)) {
            r = lbc_attrs_set(ret, attr->row, attr->value, attr->explicit);
        }
    }
    lbc_attr_rows_list(compare->table, compare->group, &rows);
    for (size_t i = 0; r == 0 && i < rows.len; i++) {
        const struct lbc_anno *row = rows.items[i];
        const char *target = lbc_compare_target(compare, row);

        if (target != NULL) {
            lbc_compare_add_change(change, row->field, lbc_attrs_get(compare->have, row), target);
            r = lbc_attrs_set(ret, row, target, wish_is_explicit(compare, row));
        }
    }
    return r < 0 ? r : ccm_buf_error(change);
}

int lbc_compare_wishes(const struct lbc_compare *compare, struct lbc_attrs *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < compare->want->len; i++) {
        const struct lbc_attr *wish = &compare->want->items[i];

        if (!wish->kept && wish_is_sent(compare, wish)) {
            r = lbc_attrs_set(ret, wish->row, wish->value, wish->explicit);
        }
    }
    return r;
}

void lbc_compare_record(const struct lbc_compare *compare, struct lbc_attrs *have)
{
    for (size_t i = 0; i < have->len; i++) {
        struct lbc_attr *attr = &have->items[i];

        if (wish_is_explicit(compare, attr->row)) {
            attr->explicit = true;
        } else if (attr->explicit && !lbc_attrs_keeps(compare->want, attr->row) &&
                   row_is_same(attr->row, attr->value, compare_get_wanted(compare, attr->row))) {
            attr->explicit = false; /* it has gone back; what happens to it now is not our doing */
        }
    }
}

void lbc_compare_add_change(struct ccm_buf *change, const char *what, const char *from,
                            const char *to)
{
    ccm_buf_addf(change, "%s%s", change->len == 0 ? "" : ", ", what);
    if (!ccm_text_empty(from)) {
        ccm_buf_addf(change, " %s", from);
    }
    ccm_buf_addf(change, " -> %s", ccm_text_empty(to) ? "none" : to);
}
