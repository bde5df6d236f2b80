/* What is wrong with a configuration: printed line by line, or collected for a program. One thread.
 */
#ifndef CCM_CLI_FINDINGS_H
#define CCM_CLI_FINDINGS_H

#include "util/buf.h"

#include <stdbool.h>

/* A zeroed struct prints to standard error. */
struct cli_findings {
    bool json;           /* collect them instead */
    struct ccm_buf list; /* the members of an array */
};

void cli_findings_fini(struct cli_findings *findings);

/* A line without its end, "FILE:LINE: text" or "FILE: text"; arg is the struct. */
void cli_findings_add(void *arg, bool is_error, const char *line);

/* {"file", "ok", "findings": [{"file", "line", "level", "message"}]} to standard output. `file` is
 * the configuration: what its findings begin with. */
void cli_findings_print_json(struct cli_findings *findings, const char *file, bool ok);

/* cli_findings_add() for who only prints: to the stream `arg`, with colours on a terminal. */
void cli_print_finding(void *arg, bool is_error, const char *line);

#endif
