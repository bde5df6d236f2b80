/* The findings of one file: collected, then printed by line. One thread. */
#ifndef CCM_LINT_REPORT_H
#define CCM_LINT_REPORT_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cli_lint_finding {
    unsigned line; /* from 1 */
    bool warning;
    char *text;
};

/* A zeroed struct is ready for use. */
struct cli_lint_report {
    struct cli_lint_finding *items;
    size_t len;
    size_t cap;
    int error; /* -ENOMEM; sticky */
};

void cli_lint_report_fini(struct cli_lint_report *report);

/* Add one, unless the same is there already. Line feeds and other control characters of the message
 * become blanks. */
void cli_lint_report_add(struct cli_lint_report *report, unsigned line, bool warning,
                         const char *message);

/* "NAME:LINE: error: message" each, by line. */
void cli_lint_report_print(struct cli_lint_report *report, const char *name, FILE *out);

#endif
