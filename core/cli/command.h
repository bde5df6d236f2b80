/* The subcommands that ccmd itself has; the others are tools (tools/command.h). Called once, by
 * main(); each prints what it has to say and returns 0, a negative errno (exit code 1), or an exit
 * code of its own. */
#ifndef CCM_COMMAND_H
#define CCM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_DEFAULT_CONFIG "/etc/ccmd/ccmd.conf"

#define CLI_COMMAND_PLUGINS_MAX 64

enum cli_output {
    CLI_OUTPUT_TEXT,
    CLI_OUTPUT_JSON,
    CLI_OUTPUT_SARIF,
    CLI_OUTPUT_GITHUB,
    CLI_OUTPUT_NAME
};

/* What the command line says; see cli/parse.h. */
struct cli_command_args {
    const char *config;     /* path */
    bool config_is_set;     /* on the command line */
    const char *plugin_dir; /* NULL = not given */
    const char *plugins[CLI_COMMAND_PLUGINS_MAX];
    size_t plugin_count;
    bool all;          /* resync, status: every object */
    bool quotas;       /* status: rates and quotas */
    bool watch;        /* status: again and again */
    bool rbac;         /* plugins: roles with their rights */
    bool event;        /* plan: leave the result in an Event */
    int64_t timeout_s; /* plan; 0 = not given */
    enum cli_output output;
    const char *kubeconfig; /* plan; NULL = not given, and so is the next */
    const char *context;
    const char *const *operands;
    size_t operand_count;
};

/* Runs until SIGTERM or SIGINT. */
int cli_command_run(const struct cli_command_args *args);

/* Tells the daemon of this configuration, on this machine, that what the plugin named by the
 * operand holds back may go. */
int cli_command_allow_removals(const struct cli_command_args *args);

/* Has the daemon of this configuration, on this machine, look again at the object named by the
 * operand, or at all. */
int cli_command_resync(const struct cli_command_args *args);

/* Prints what the daemon of this configuration, on this machine, says of itself, of the object
 * named by the operand, of all objects, or of its quotas. */
int cli_command_status(const struct cli_command_args *args);

int cli_command_version(const struct cli_command_args *args);

#endif
