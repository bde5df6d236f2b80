/*
 * Services in the text of a manifest: YAML or JSON, one or many documents, also inside of lists.
 * Every document is parsed on its own, so that a broken one does not hide the others. One thread.
 */
#ifndef CCM_LINT_YAML_H
#define CCM_LINT_YAML_H

#include "tools/lint_report.h"
#include "util/buf.h"

struct tool_lint_item;

/* Called per Service. Negative ends the walk. */
typedef int (*tool_lint_item_fn)(void *arg, const struct tool_lint_item *item);

/*
 * Find the Services. What is no YAML is reported. 0; -ENOMEM; or what fn returned.
 */
CCM_NODISCARD int tool_lint_visit_services(const char *text, size_t len,
                                           struct tool_lint_report *report, tool_lint_item_fn fn,
                                           void *arg);

/*
 * The Service as the API server would get it: JSON, appended. Reported: members that cannot be sent
 * like that, and values of labels and annotations that YAML takes for something else than text.
 * false: nothing of use was appended.
 */
CCM_NODISCARD bool tool_lint_item_json(const struct tool_lint_item *item, struct ccm_buf *json,
                                       struct tool_lint_report *report);

/* Whether there is a field with this path, and it is not null. */
bool tool_lint_item_has(const struct tool_lint_item *item, const char *path);

/* Text of a member such as metadata.name, "" when there is none. Lives as long as the item. */
const char *tool_lint_item_text(const struct tool_lint_item *item, const char *section,
                                const char *name);

/* Line of an annotation, or of a field given by its path ("spec.ports[1].port"), or of what comes
 * nearest to it: all annotations, the last field of the path that is there. place NULL: of the
 * Service. */
unsigned tool_lint_item_line(const struct tool_lint_item *item, const char *place);

#endif
