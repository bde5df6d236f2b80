/*
 * Rows of annotations in words for people: for the page of annotations and for `ccmd explain`.
 * Pure. Every thread.
 */
#ifndef CCM_LBC_ANNOTATION_TEXT_H
#define CCM_LBC_ANNOTATION_TEXT_H

#include "ccm/plugin.h"
#include "lbc/model/annotation.h"

/* Headings of the groups, in the order of enum lbc_anno_group. */
const char *lbc_anno_heading(enum lbc_anno_group group);

/* Append: which values it takes; what holds without it; a value that is taken. */
void lbc_anno_write_values(const struct lbc_anno *row, struct ccm_buf *text);
void lbc_anno_write_fallback(const struct lbc_anno *row, struct ccm_buf *text);
void lbc_anno_write_example(const struct lbc_anno *row, struct ccm_buf *text);

/* Whether a later change reaches the load balancer that is there. */
bool lbc_anno_is_changeable(const struct lbc_anno *row);

/* annotations() of a descriptor: all rows that have a name, by their groups. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_anno_list(const struct lbc_anno_table *table,
                                const struct ccm_annotation_sink *sink);

#endif
