#include "annotations.h"

#include "pages.h"

#include <inttypes.h>

static const struct {
    enum ccm_anno_group group;
    const char *title;
} groups[] = {
    { CCM_ANNO_INSTANCE, "Load balancer" },
    { CCM_ANNO_LISTENER, "Listeners: every port of a matching protocol" },
    { CCM_ANNO_BACKEND, "Backends" },
    { CCM_ANNO_CLASS, "Without the prefix" },
};

static void add_values(struct ccm_buf *page, const struct ccm_anno *row)
{
    switch (row->type) {
    case CCM_ANNO_INT:
        if (row->min == row->max) {
            ccm_buf_adds(page, "whole number");
        } else {
            ccm_buf_addf(page, "%" PRId64 " to %" PRId64, row->min, row->max);
        }
        break;
    case CCM_ANNO_ENUM:
        for (const char *p = row->values; *p != '\0'; p++) {
            ccm_buf_adds(page, *p == '|' ? ", " : "");
            if (*p != '|') {
                ccm_buf_addc(page, *p);
            }
        }
        ccm_buf_adds(page, (row->flags & CCM_ANNO_NO_CASE) != 0 ? " (any case)" : "");
        break;
    case CCM_ANNO_SWITCH:
        ccm_buf_adds(page, "on, off");
        break;
    case CCM_ANNO_TEXT:
    case CCM_ANNO_ANY:
        ccm_buf_adds(page, "text");
        break;
    }
    ccm_buf_adds(page, (row->flags & CCM_ANNO_EMPTY) != 0 ? "; empty counts" : "");
}

static void add_fallback(struct ccm_buf *page, const struct ccm_anno *row)
{
    docs_cell(page, row->fallback != NULL ? row->fallback
                    : row->field != NULL  ? "the cloud's"
                                          : "none");
}

static void add_row(struct ccm_buf *page, const struct ccm_anno *row, bool listeners)
{
    ccm_buf_addf(page, "| `%s`%s | ", row->name,
                 (row->flags & CCM_ANNO_NOT_BUILT) != 0 ? " (not yet)" : "");
    add_values(page, row);
    ccm_buf_adds(page, " | ");
    add_fallback(page, row);
    ccm_buf_adds(page, " | ");
    if (listeners) {
        for (const char *p = row->protocols == NULL ? "all" : row->protocols; *p != '\0'; p++) {
            ccm_buf_addf(page, "%s%c", *p == '|' ? "," : "", *p == '|' ? ' ' : *p);
        }
        ccm_buf_adds(page, " | ");
    }
    ccm_buf_addf(page, "%s | %s%s%s | ", (row->flags & CCM_ANNO_MUTABLE) != 0 ? "yes" : "no",
                 row->field == NULL ? "" : "`", row->field == NULL ? "" : row->field,
                 row->field == NULL ? "" : "`");
    docs_cell(page, row->help);
    ccm_buf_adds(page, " |\n");
}

void docs_annotations(struct ccm_buf *page)
{
    size_t later = 0;

    for (size_t i = 0; i < clb_annotations.count; i++) {
        later += (clb_annotations.rows[i].flags & CCM_ANNO_NOT_BUILT) != 0 ? 1 : 0;
    }
    ccm_buf_addf(page, "\n%zu annotations are known", clb_annotations.count);
    if (later > 0) {
        ccm_buf_addf(page,
                     ", of which %zu are marked \"not yet\": a Service that carries one of them "
                     "is refused with an event, and nothing is changed",
                     later);
    }
    ccm_buf_adds(page, ".\n");
    for (size_t g = 0; g < CCM_ARRAY_LEN(groups); g++) {
        const bool listeners = groups[g].group == CCM_ANNO_LISTENER;

        ccm_buf_addf(page, "\n## %s\n\n", groups[g].title);
        ccm_buf_adds(
            page, listeners ? "| annotation | values | default | listeners | change | API field | "
                              "meaning |\n|---|---|---|---|---|---|---|\n"
                            : "| annotation | values | default | change | API field | meaning |\n"
                              "|---|---|---|---|---|---|\n");
        for (size_t i = 0; i < clb_annotations.count; i++) {
            if (clb_annotations.rows[i].group == groups[g].group) {
                add_row(page, &clb_annotations.rows[i], listeners);
            }
        }
    }
}
