/* The findings of one file: collected, then printed by line. One thread. */
#ifndef CCM_LINT_REPORT_H
#define CCM_LINT_REPORT_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tool_lint_finding {
    unsigned line;       /* from 1 */
    uint64_t level;      /* CCM_LEVEL_ERROR, _WARN, or _INFO: a hint, with which all is well */
    char *text;          /* the Service first */
    char *subject;       /* the Service; NULL = none */
    const char *message; /* in `text`, without it */
    const char *origin;  /* who found it: a plugin, or "manifest"; borrowed */
};

/* A zeroed struct is ready for use. */
struct tool_lint_report {
    const char *subject; /* "namespace/name", put before messages; borrowed; NULL = no Service */
    const char *origin;  /* the plugin that is asked; borrowed; NULL = what reads manifests */
    struct tool_lint_finding *items;
    size_t len;
    size_t cap;
    int error; /* -ENOMEM; sticky */
};

void tool_lint_report_fini(struct tool_lint_report *report);

/* Add one, which is a CCM_LEVEL_*, unless the same is there already. Line feeds and other control
 * characters of the message become blanks. */
void tool_lint_report_add(struct tool_lint_report *report, unsigned line, uint64_t level,
                          const char *message);

/* How many are no hints. */
size_t tool_lint_report_count_bad(const struct tool_lint_report *report);

/* By line; those of one line stay in their order. */
void tool_lint_report_sort(struct tool_lint_report *report);

#endif
