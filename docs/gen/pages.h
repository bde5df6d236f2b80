/* The pages of docs/ that are written from tables of the program. Each function appends the body of
 * one page; failures stick in the buffer. */
#ifndef CCM_DOCS_PAGES_H
#define CCM_DOCS_PAGES_H

#include "plugin/loader.h"
#include "util/buf.h"

/* A fixed text of the controllers: what it means, what to do. */
struct docs_message {
    const char *text; /* "{...}" stands for what differs */
    const char *cause;
    const char *remedy;
};
extern const struct docs_message docs_messages[];
extern const size_t docs_message_count;

/* A reason of events of ours. */
struct docs_reason {
    const char *name;
    const char *severity;
    const char *when;
    const char *remedy;
};
extern const struct docs_reason docs_reasons[];
extern const size_t docs_reason_count;

/* A cell of a table: bars and line feeds are taken care of. */
void docs_cell(struct ccm_buf *page, const char *text);

void docs_configuration(struct ccm_buf *page, struct plugin_loaded_plugin *const *plugins,
                        size_t plugin_count);
void docs_annotations(struct ccm_buf *page);
void docs_troubleshooting(struct ccm_buf *page);

#endif
