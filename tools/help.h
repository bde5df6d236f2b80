/* What `ccmd help` prints. */
#ifndef CCM_TOOLS_HELP_H
#define CCM_TOOLS_HELP_H

#include "cli/table.h"

#include <stdio.h>

/* Failures stick in the stream. */
void tool_help_print_overview(FILE *out);
void tool_help_print_command(const struct cli_command *command, FILE *out);

/* A paragraph, wrapped, that begins at this column. */
void tool_help_print_text(size_t column, const char *text, FILE *out);
/* "  LABEL  text", the text wrapped in a column of its own; a label that is too wide has a line. */
void tool_help_print_row(const char *label, size_t column, const char *text, FILE *out);

#endif
