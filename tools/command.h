/*
 * The subcommands of ccmd that are tools: none of them is a part of the running daemon. All are in
 * one program, lib/ccmd/ccmd-tools, which has a name for each of them: `ccmd lint` runs
 * lib/ccmd/ccmd-lint (cli/tool.h). Called once, by main(), as the functions of cli/command.h.
 */
#ifndef CCM_TOOLS_COMMAND_H
#define CCM_TOOLS_COMMAND_H

#include "cli/command.h"

/* Reads the configuration and every plugin it names, prints all problems as "FILE:LINE: text". */
int tool_command_check_config(const struct cli_command_args *args);

/* Without operands: the plugins of the configuration; with operands: these files. */
int tool_command_plugins(const struct cli_command_args *args);

/* Checks the Services in these files and folders: 0 no finding, 1 findings, 2 wrong usage or
 * something could not be checked. */
int tool_command_lint(const struct cli_command_args *args);

/* Answers the API server about Services, until SIGTERM or SIGINT. */
int tool_command_webhook(const struct cli_command_args *args);

/* What an annotation of Services means, or which there are: 0, or 1: there is none of that name. */
int tool_command_explain(const struct cli_command_args *args);

/* What would change if the daemon ran: 0 nothing, 3 something, 1 something failed or could not be
 * looked at. */
int tool_command_plan(const struct cli_command_args *args);

/* A configuration from that of cloud-provider-alibaba-cloud, on standard output. */
int tool_command_convert_config(const struct cli_command_args *args);

/* The completion of the shell named by the operand. */
int tool_command_completion(const struct cli_command_args *args);

/* What there is, or what the command named by the operand does: 0, or 2: there is none. */
int tool_command_help(const struct cli_command_args *args);

#endif
