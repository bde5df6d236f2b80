#include "pages.h"

#include "clb/annotations.h"
#include "nlb/annotations.h"
#include "util/text.h"

#include <inttypes.h>

static const struct {
    enum lbc_anno_group group;
    const char *title;
} groups[] = {
    { LBC_ANNO_INSTANCE, "Load balancer" },
    { LBC_ANNO_LISTENER, "Listeners: every port of a matching protocol" },
    { LBC_ANNO_SERVERS, "Server groups of NLB: every port" },
    { LBC_ANNO_BACKEND, "Backends" },
    { LBC_ANNO_CLASS, "Without the prefix" },
};

static void add_values(struct ccm_buf *page, const struct lbc_anno *row)
{
    switch (row->type) {
    case LBC_ANNO_INT:
        if (row->min == row->max) {
            ccm_buf_adds(page, "whole number");
        } else {
            ccm_buf_addf(page, "%" PRId64 " to %" PRId64, row->min, row->max);
        }
        break;
    case LBC_ANNO_ENUM:
        for (const char *p = row->values; *p != '\0'; p++) {
            ccm_buf_adds(page, *p == '|' ? ", " : "");
            if (*p != '|') {
                ccm_buf_addc(page, *p);
            }
        }
        ccm_buf_adds(page, (row->flags & LBC_ANNO_NO_CASE) != 0 ? " (any case)" : "");
        break;
    case LBC_ANNO_SWITCH:
        ccm_buf_adds(page, "on, off");
        break;
    case LBC_ANNO_BOOL:
        ccm_buf_adds(page, "on, off, true, false (any case)");
        break;
    case LBC_ANNO_TEXT:
    case LBC_ANNO_ANY:
        ccm_buf_adds(page, "text");
        break;
    }
    ccm_buf_adds(page, (row->flags & LBC_ANNO_EMPTY) != 0 ? "; empty counts" : "");
}

static void add_fallback(struct ccm_buf *page, const struct lbc_anno *row)
{
    docs_cell(page, row->fallback != NULL ? row->fallback
                    : row->field != NULL  ? "the cloud's"
                                          : "none");
    for (unsigned i = 0; i < LBC_OTHER; i++) {
        if ((row->other.on >> i & 1U) != 0) {
            ccm_buf_addf(page, ", %s %s", lbc_protocol_name((enum lbc_protocol)i),
                         row->other.value);
        }
    }
}

static void add_row(struct ccm_buf *page, const struct lbc_anno *row, const char *kinds)
{
    ccm_buf_addf(page, "| `%s` | %s | ", row->name, kinds);
    add_values(page, row);
    ccm_buf_adds(page, " | ");
    add_fallback(page, row);
    ccm_buf_adds(page, " | ");
    if (row->group == LBC_ANNO_LISTENER) {
        ccm_buf_adds(page, row->on == 0 ? "all" : "");
        lbc_anno_write_protocols(row, ", ", page);
        ccm_buf_adds(page, " | ");
    }
    ccm_buf_addf(page, "%s | %s%s%s | ",
                 (row->flags & LBC_ANNO_FIXED) == 0 && row->immutable == NULL ? "yes" : "no",
                 row->field == NULL ? "" : "`", row->field == NULL ? "" : row->field,
                 row->field == NULL ? "" : "`");
    docs_cell(page, row->help);
    ccm_buf_adds(page, " |\n");
}

/* Whether two rows say the same to a person. */
static bool is_same(const struct lbc_anno *a, const struct lbc_anno *b)
{
    return a->group == b->group && a->type == b->type && a->flags == b->flags && a->min == b->min &&
           a->max == b->max && ccm_text_equal(a->values, b->values) &&
           ccm_text_equal(a->fallback, b->fallback) && a->on == b->on &&
           ccm_text_equal(a->field, b->field) && ccm_text_equal(a->help, b->help);
}

/* Rows that both kinds have in common stand there once, others of one name one below the other. */
static void add_group(struct ccm_buf *page, enum lbc_anno_group group)
{
    for (size_t i = 0; i < clb_annotations.count; i++) {
        const struct lbc_anno *row = &clb_annotations.rows[i];
        const struct lbc_anno *twin = lbc_anno_find(&nlb_annotations, row->name);
        const bool same = twin != NULL && is_same(row, twin);

        if (row->group == group) {
            add_row(page, row, same ? "both" : "CLB");
        }
        if (row->group == group && twin != NULL && twin->group == group && !same) {
            add_row(page, twin, "NLB");
        }
    }
    for (size_t i = 0; i < nlb_annotations.count; i++) {
        const struct lbc_anno *row = &nlb_annotations.rows[i];
        const struct lbc_anno *twin = lbc_anno_find(&clb_annotations, row->name);

        if (row->group == group && (twin == NULL || twin->group != group)) {
            add_row(page, row, "NLB");
        }
    }
}

void docs_annotations(struct ccm_buf *page)
{
    ccm_buf_addf(page, "\n%zu annotations are known for CLB, %zu for NLB.", clb_annotations.count,
                 nlb_annotations.count);
    ccm_buf_adds(page, "\n");
    for (size_t g = 0; g < CCM_ARRAY_LEN(groups); g++) {
        const bool listeners = groups[g].group == LBC_ANNO_LISTENER;

        ccm_buf_addf(page, "\n## %s\n\n", groups[g].title);
        ccm_buf_adds(page,
                     listeners
                         ? "| annotation | for | values | default | listeners | change | API field "
                           "| meaning |\n|---|---|---|---|---|---|---|---|\n"
                         : "| annotation | for | values | default | change | API field | meaning "
                           "|\n|---|---|---|---|---|---|---|\n");
        add_group(page, groups[g].group);
    }
}
