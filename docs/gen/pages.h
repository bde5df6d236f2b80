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

/* Each table of options with its title and what comes before it, in the order of the pages. */
typedef void (*docs_options_fn)(struct ccm_buf *page, const char *title, const char *intro,
                                const struct ccm_option *const *rows);
void docs_visit_options(struct plugin_loaded_plugin *const *plugins, size_t plugin_count,
                        docs_options_fn visit, struct ccm_buf *page);

/* A manual page in mdoc: the text, with generated sections in place of its lines "@NAME@". */
void docs_manual(struct ccm_buf *page, const char *text,
                 struct plugin_loaded_plugin *const *plugins, size_t plugin_count);

void docs_configuration(struct ccm_buf *page, struct plugin_loaded_plugin *const *plugins,
                        size_t plugin_count);
void docs_annotations(struct ccm_buf *page);
void docs_troubleshooting(struct ccm_buf *page);

#endif
