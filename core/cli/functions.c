#include "cli/functions.h"

cli_function *const cli_functions[CLI_COMMAND_COUNT] = {
    [CLI_RUN] = cli_command_run,         [CLI_STATUS] = cli_command_status,
    [CLI_RESYNC] = cli_command_resync,   [CLI_ALLOW_REMOVALS] = cli_command_allow_removals,
    [CLI_VERSION] = cli_command_version,
};
