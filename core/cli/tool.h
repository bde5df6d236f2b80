/* Subcommands that are programs of their own, in lib/ccmd: `ccmd lint` runs lib/ccmd/ccmd-lint. One
 * thread. */
#ifndef CCM_CLI_TOOL_H
#define CCM_CLI_TOOL_H

#include "cli/table.h"
#include "util/attr.h"

/*
 * Replace this process by the tool of that command: the file ccmd-NAME in the lib/ccmd that belongs
 * to the running program (daemon/plugin_dir.h), and nowhere else: neither PATH nor the working
 * directory counts. words are its arguments and end with NULL; the first one is replaced by the
 * path. Returns an exit code when the tool cannot be run; why was printed.
 */
CCM_NODISCARD int cli_tool_run(const struct cli_command *command, char **words);

#endif
