/* Completion scripts, written from the table of commands. */
#ifndef CCM_CLI_COMPLETION_H
#define CCM_CLI_COMPLETION_H

#include "util/attr.h"

#include <stdio.h>

/* Of "bash", "zsh" or "fish". 0, or -EINVAL: of no other. Failures stick in the stream. */
CCM_NODISCARD int cli_completion_print(const char *shell, FILE *out);

#endif
