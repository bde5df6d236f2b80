#include "lbc/rules/lb_attrs.h"

#include "lbc/rules/attrs.h"
#include "util/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct lbc_anno *lbc_lb_row(const struct lbc_anno_table *table, unsigned number)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].id == number + 1) {
            return &table->rows[i];
        }
    }
    return NULL;
}

const char *lbc_lb_name(const struct lbc_anno *row)
{
    return row->field != NULL ? row->field : row->read_name;
}

static bool lb_has_text(const struct lbc_anno *row)
{
    return row->id != 0 && (row->cloud & LBC_ATTR_OWN) == 0;
}

const char *lbc_lb_get(const struct lbc_anno *row, char *const *texts)
{
    return lb_has_text(row) ? texts[row->id - 1] : NULL;
}

int lbc_lb_set(const struct lbc_anno *row, char **texts, const char *value)
{
    const bool clear = value == NULL || (value[0] == '\0' && (row->flags & LBC_ANNO_EMPTY) == 0);
    char *copy = NULL;

    if (!lb_has_text(row)) {
        return 0;
    }
    if (!clear) {
        copy = strdup(value);
        if (copy == NULL) {
            return -ENOMEM;
        }
    }
    free(texts[row->id - 1]);
    texts[row->id - 1] = copy;
    return 0;
}

/* --- from annotations --- */

/* *ret: of the heap; NULL = it asks for nothing. */
static int lb_get_wish(const struct lbc_anno *row, const struct ccm_object *meta, char **ret)
{
    const int r = lbc_attr_parse(row, LBC_OTHER, lbc_anno_value(meta, row), ret);

    if (r == 0 && *ret == NULL && (row->flags & LBC_ANNO_EMPTY) != 0 &&
        lbc_anno_is_set(meta, row->name)) {
        *ret = strdup("");
        return *ret == NULL ? -ENOMEM : 0;
    }
    return r;
}

int lbc_lb_add_wishes(const struct lbc_anno_table *table, const struct ccm_service *service,
                      char **texts, unsigned *explicit)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct lbc_anno *row = &table->rows[i];
        CCM_CLEANUP(ccm_freep) char *value = NULL;

        if (row->id == 0) {
            continue;
        }
        if (lb_get_wish(row, &service->meta, &value) < 0 ||
            (value != NULL && lbc_lb_set(row, texts, value) < 0)) {
            return -ENOMEM;
        }
        *explicit |= value == NULL ? 0U : 1U << (row->id - 1);
    }
    return 0;
}

int lbc_lb_add_defaults(const struct lbc_anno_table *table, char **texts)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct lbc_anno *row = &table->rows[i];
        CCM_CLEANUP(ccm_freep) char *value = NULL;

        if (row->id == 0 || (row->cloud & LBC_ATTR_ASKED) == 0 || lbc_lb_get(row, texts) != NULL) {
            continue;
        }
        if (lbc_attr_parse(row, LBC_OTHER, row->fallback, &value) < 0 ||
            lbc_lb_set(row, texts, value) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

const char *lbc_lb_fallback(const struct lbc_anno *row)
{
    return (row->cloud & LBC_ATTR_RESET) == 0 ? NULL : lbc_attr_default(row, LBC_OTHER);
}

unsigned lbc_lb_protections(const struct lbc_anno_table *table)
{
    unsigned bits = 0;

    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].id != 0 && (table->rows[i].cloud & LBC_ATTR_PROTECTS) != 0) {
            bits |= 1U << (table->rows[i].id - 1);
        }
    }
    return bits;
}

unsigned lbc_lb_refused(const struct lbc_anno_table *table, const struct lbc_refusals *refused)
{
    unsigned bits = 0;

    for (size_t i = 0; i < table->count; i++) {
        const struct lbc_anno *row = &table->rows[i];

        if (row->id != 0 && lbc_refusals_keeps(refused, row)) {
            bits |= 1U << (row->id - 1);
        }
    }
    return bits;
}

/* --- all of them --- */

int lbc_lb_parse(const struct lbc_anno_table *table, const cJSON *json, char **texts)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct lbc_anno *row = &table->rows[i];
        char space[LBC_ATTR_NUMBER];
        const char *value =
            row->read_name == NULL ? "" : lbc_attr_read(json, row->read_name, space);

        if (!lb_has_text(row)) {
            continue;
        }
        if (value[0] == '\0' && row->field != NULL) {
            value = lbc_attr_read(json, row->field, space);
        }
        if (lbc_lb_set(row, texts, value) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}
