/*
 * The findings of `ccmd lint` as somebody wants to read them: lines for people, JSON, SARIF 2.1.0
 * for code scanning, or annotations of a workflow of GitHub. One thread.
 */
#ifndef CCM_LINT_FORMAT_H
#define CCM_LINT_FORMAT_H

#include "cli/command.h"
#include "tools/lint_report.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdio.h>

/* A zeroed struct with an `out` prints lines for people. */
struct tool_lint_format {
    enum cli_output output;
    FILE *out;
    bool color;             /* lines for people have colours */
    struct ccm_buf results; /* of JSON and SARIF: members of an array, printed at the end */
};

void tool_lint_format_fini(struct tool_lint_format *format);

/* The findings of one file, in the order of their lines. */
void tool_lint_format_add(struct tool_lint_format *format, struct tool_lint_report *report,
                          const char *file);

/* The end: how many Services were checked. 0 or -ENOMEM. */
CCM_NODISCARD int tool_lint_format_end(struct tool_lint_format *format, size_t services);

#endif
