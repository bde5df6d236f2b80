/* What `ccmd help` prints. */
#ifndef CCM_CLI_HELP_H
#define CCM_CLI_HELP_H

#include "cli/table.h"

#include <stdio.h>

/* Failures stick in the stream. */
void cli_help_print_overview(FILE *out);
void cli_help_print_command(const struct cli_command *command, FILE *out);

#endif
