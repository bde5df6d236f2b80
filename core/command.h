/* The subcommands of ccmd. Called once, by main(); each prints what it has to say and returns 0 or
 * a negative errno. */
#ifndef CCM_COMMAND_H
#define CCM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#define CCM_DEFAULT_CONFIG "/etc/ccmd/ccmd.conf"

struct ccm_command_args {
    const char *config; /* path */
    const char *const *operands;
    size_t operand_count;
};

/* Runs until SIGTERM or SIGINT. */
int ccm_command_run(const struct ccm_command_args *args);

/* Reads the configuration and every plugin it names, prints all problems as "FILE:LINE: text". */
int ccm_command_check_config(const struct ccm_command_args *args);

/* Without operands: the plugins of the configuration; with operands: these files. */
int ccm_command_plugins(const struct ccm_command_args *args);

int ccm_command_version(const struct ccm_command_args *args);

#endif
