/* From the words of the command line to a command and its arguments, by the table of cli/table.h.
 * One thread. */
#ifndef CCM_CLI_PARSE_H
#define CCM_CLI_PARSE_H

#include "cli/command.h"
#include "cli/table.h"
#include "util/attr.h"

#define CLI_EXIT_USAGE 2

/*
 * Take the word that names the command out of argv, which ends with NULL; options may stand before
 * it. A program that has the name of a tool (ccmd-lint) has none. 0: *ret is the command, NULL =
 * none was named, so it is run. CLI_EXIT_USAGE: there is none of that name, which was printed.
 */
CCM_NODISCARD int cli_parse_command(int *argc, char **argv, const struct cli_command **ret);

/*
 * The other words. Options may stand before, between and behind operands, until "--". 0: *ret is
 * the command (NULL: run), --version and --help of any command being version and help of it; args
 * is filled, and points into argv, whose order is changed. CLI_EXIT_USAGE: what is wrong was
 * printed to standard error: an option that does not exist, with the one that was probably meant;
 * an option of other commands; a value that is missing, not wanted or none of the choices; too few
 * or too many operands.
 */
CCM_NODISCARD int cli_parse(int argc, char **argv, const struct cli_command *command,
                            struct cli_command_args *args, const struct cli_command **ret);

#endif
