/* Completion scripts, written from the table of commands. */
#ifndef CCM_TOOLS_COMPLETION_H
#define CCM_TOOLS_COMPLETION_H

#include "util/attr.h"

#include <stdio.h>

/* Of "bash", "zsh" or "fish". 0, or -EINVAL: of no other. Failures stick in the stream. */
CCM_NODISCARD int tool_completion_print(const char *shell, FILE *out);

#endif
