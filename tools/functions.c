/* The subcommands that are tools, for core/main.c. */
#include "cli/functions.h"
#include "tools/command.h"

cli_function *const cli_functions[CLI_COMMAND_COUNT] = {
    [CLI_CHECK_CONFIG] = tool_command_check_config,
    [CLI_PLAN] = tool_command_plan,
    [CLI_LINT] = tool_command_lint,
    [CLI_EXPLAIN] = tool_command_explain,
    [CLI_WEBHOOK] = tool_command_webhook,
    [CLI_PLUGINS] = tool_command_plugins,
    [CLI_CONVERT_CONFIG] = tool_command_convert_config,
    [CLI_COMPLETION] = tool_command_completion,
    [CLI_VERSION] = cli_command_version,
    [CLI_HELP] = tool_command_help,
};
