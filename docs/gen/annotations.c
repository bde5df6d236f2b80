#include "pages.h"

#include "clb/annotations.h"
#include "lbc/rules/annotation_text.h"
#include "nlb/annotations.h"
#include "util/text.h"

static void add_row(struct ccm_buf *page, const struct lbc_anno *row, const char *kinds)
{
    ccm_buf_addf(page, "| `%s` | %s | ", row->name, kinds);
    lbc_anno_write_values(row, page);
    ccm_buf_adds(page, " | ");
    lbc_anno_write_fallback(row, page);
    ccm_buf_adds(page, " | ");
    if (row->group == LBC_ANNO_LISTENER) {
        ccm_buf_adds(page, row->on == 0 ? "all" : "");
        lbc_anno_write_protocols(row, ", ", page);
        ccm_buf_adds(page, " | ");
    }
    ccm_buf_addf(page, "%s | %s%s%s | `", lbc_anno_is_changeable(row) ? "yes" : "no",
                 row->field == NULL ? "" : "`", row->field == NULL ? "" : row->field,
                 row->field == NULL ? "" : "`");
    lbc_anno_write_example(row, page);
    ccm_buf_adds(page, "` | ");
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
    for (enum lbc_anno_group group = LBC_ANNO_INSTANCE; group <= LBC_ANNO_CLASS; group++) {
        const bool listeners = group == LBC_ANNO_LISTENER;

        ccm_buf_addf(page, "\n## %s\n\n", lbc_anno_heading(group));
        ccm_buf_adds(page,
                     listeners
                         ? "| annotation | for | values | default | listeners | change | API field "
                           "| example | meaning |\n|---|---|---|---|---|---|---|---|---|\n"
                         : "| annotation | for | values | default | change | API field | example "
                           "| meaning |\n|---|---|---|---|---|---|---|---|\n");
        add_group(page, group);
    }
}
