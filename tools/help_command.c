/* `ccmd help`, `ccmd completion`: what the program says of itself. */
#include "cli/parse.h"
#include "tools/command.h"
#include "tools/completion.h"
#include "tools/help.h"

#include <stdio.h>

int tool_command_completion(const struct cli_command_args *args)
{
    return tool_completion_print(args->operands[0], stdout);
}

int tool_command_help(const struct cli_command_args *args)
{
    const struct cli_command *command =
        args->operand_count == 0 ? NULL : cli_find_command(args->operands[0]);

    if (args->operand_count > 0 && command == NULL) {
        (void)fprintf(stderr, "ccmd: unknown command '%s'; see ccmd help\n", /* sticks */
                      args->operands[0]);
        return CLI_EXIT_USAGE;
    }
    if (command == NULL) {
        tool_help_print_overview(stdout);
    } else {
        tool_help_print_command(command, stdout);
    }
    return 0;
}
