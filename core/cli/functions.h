/* Which subcommands a program has itself. main.c is that of ccmd and of its tools; the table makes
 * the difference: cli/functions.c, tools/functions.c. Constant data. */
#ifndef CCM_CLI_FUNCTIONS_H
#define CCM_CLI_FUNCTIONS_H

#include "cli/command.h"
#include "cli/table.h"

typedef int cli_function(const struct cli_command_args *args);

/* By command; NULL = it is a tool, see cli/tool.h. */
extern cli_function *const cli_functions[CLI_COMMAND_COUNT];

#endif
