/* Option tables for people: the reference pages are written from the same rows that are checked. */
#ifndef CCM_OPTION_DOC_H
#define CCM_OPTION_DOC_H

#include "ccm/option.h"
#include "util/buf.h"

/*
 * Append a Markdown table of the options, in the order of the rows. `plugin` names the entry in
 * which options without a group stand (NULL: there are none). rows NULL or empty: one sentence
 * instead. Failures stick in the buffer.
 */
void config_option_doc(struct ccm_buf *buf, const char *plugin,
                       const struct ccm_option *const *rows);

#endif
