/*
 * The commands of ccmd as one table: names, operands, options, words and examples. What the command
 * line takes and refuses (cli/parse.h), help (tools/help.h), completions (tools/completion.h) and
 * the manual page (docs/gen/manual.c) come from it. A new command is a row here, its function in
 * tools/functions.c and a link in tools/CMakeLists.txt (or in cli/functions.c, where it is no tool)
 * and, where it has something to set, a case in cli/parse.c. Constant data; every thread.
 */
#ifndef CCM_CLI_TABLE_H
#define CCM_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum cli_command_id {
    CLI_RUN, /* also what is meant without a command */
    CLI_CHECK_CONFIG,
    CLI_PLAN,
    CLI_LINT,
    CLI_EXPLAIN,
    CLI_WEBHOOK,
    CLI_PLUGINS,
    CLI_STATUS,
    CLI_RESYNC,
    CLI_ALLOW_REMOVALS,
    CLI_CONVERT_CONFIG,
    CLI_COMPLETION,
    CLI_VERSION,
    CLI_HELP,
    CLI_COMMAND_COUNT
};

enum cli_option_id {
    CLI_OPTION_CONFIG,
    CLI_OPTION_OUTPUT,
    CLI_OPTION_KUBECONFIG,
    CLI_OPTION_CONTEXT,
    CLI_OPTION_EVENT,
    CLI_OPTION_TIMEOUT,
    CLI_OPTION_PLUGIN,
    CLI_OPTION_PLUGIN_DIR,
    CLI_OPTION_RBAC,
    CLI_OPTION_ALL,
    CLI_OPTION_QUOTAS,
    CLI_OPTION_WATCH,
    CLI_OPTION_HELP,
    CLI_OPTION_VERSION
};

/* What a value or an operand is, for completions. */
enum cli_complete {
    CLI_COMPLETE_NOTHING,
    CLI_COMPLETE_FILE,
    CLI_COMPLETE_FOLDER,
    CLI_COMPLETE_PLUGIN,     /* its name */
    CLI_COMPLETE_ANNOTATION, /* its short name */
    CLI_COMPLETE_COMMAND,
    CLI_COMPLETE_CHOICE /* one of the choices */
};

struct cli_option {
    enum cli_option_id id;
    const char *name;    /* "config" */
    char letter;         /* 'c', or '\0' */
    const char *value;   /* "FILE"; NULL = it takes none */
    const char *choices; /* "text|json": no other value; NULL = any */
    enum cli_complete complete;
    const char *help; /* a sentence without its end */
};

struct cli_example {
    const char *line;
    const char *help;
};

/* A variable of the environment that a command heeds. */
struct cli_variable {
    const char *name;
    const char *help;
};

struct cli_exit {
    int code;
    const char *help;
};

struct cli_command {
    const char *name;
    const char *operands; /* as the synopsis shows them; "" = none */
    size_t operands_min;
    size_t operands_max; /* SIZE_MAX = any number */
    const char *choices; /* of an operand */
    bool rest;           /* the first operand ends the options: all behind it are operands */
    enum cli_complete complete;
    const char *summary;                         /* one line without its end */
    const char *const *about;                    /* paragraphs; NULL-terminated, NULL = none */
    const struct cli_option *const *options;     /* NULL-terminated; without the common ones */
    const struct cli_example *examples;          /* ends with a line NULL */
    const struct cli_variable *const *variables; /* NULL-terminated, NULL = none */
    const struct cli_exit *exits; /* ends with help NULL; NULL = 0 and 1 as everywhere */
};

extern const struct cli_command cli_commands[CLI_COMMAND_COUNT];

/* --help and --version, which every command takes; NULL-terminated. */
extern const struct cli_option *const cli_common_options[];

/* What every command exits with when it has no list of its own; ends with help NULL. */
extern const struct cli_exit cli_common_exits[];

/* NULL = there is none of that name. */
const struct cli_command *cli_find_command(const char *name);

/* An option of a command, or a common one (command NULL: those alone); by its name, of which
 * `len` bytes count, or by its letter. NULL = none. */
const struct cli_option *cli_find_option(const struct cli_command *command, const char *name,
                                         size_t len);
const struct cli_option *cli_find_letter(const struct cli_command *command, char letter);

#endif
