/* Command line of ccmd: parses arguments, picks the subcommand, turns its outcome into an exit
 * code. */
#include "ccm/version.h"
#include "command.h"

#include <argp.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Exit codes: 0 ok, 1 findings or failure, 2 usage. */
#define EXIT_USAGE 2

const char *argp_program_version = "ccmd " CCM_VERSION;

static const char doc[] =
    "Cloud controller manager for Kubernetes with provider plugins.\v"
    "Commands:\n"
    "  run            watch the cluster and keep the cloud in step (default)\n"
    "  check-config   read the configuration and the plugins it names, report every problem, start "
    "nothing\n"
    "  plugins        list the configured plugins, or inspect the plugin FILEs\n"
    "  version        print the version\n";

static const struct argp_option options[] = {
    { "config", 'c', "FILE", 0, "configuration file (default " CCM_DEFAULT_CONFIG ")", 0 },
    { 0 },
};

struct arguments {
    struct ccm_command_args args;
    const char *command;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'c':
        arguments->args.config = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->command == NULL) {
            arguments->command = arg;
            return 0;
        }
        /* The first operand and all behind it. */
        arguments->args.operands = (const char *const *)&state->argv[state->next - 1];
        arguments->args.operand_count = (size_t)(state->argc - state->next + 1);
        state->next = state->argc;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct {
    const char *name;
    int (*run)(const struct ccm_command_args *args);
    bool takes_operands;
} commands[] = {
    { "run", ccm_command_run, false },
    { "check-config", ccm_command_check_config, false },
    { "plugins", ccm_command_plugins, true },
    { "version", ccm_command_version, false },
};

static int dispatch(const struct arguments *arguments)
{
    const char *name = arguments->command == NULL ? "run" : arguments->command;

    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i].name, name) != 0) {
            continue;
        }
        if (arguments->args.operand_count > 0 && !commands[i].takes_operands) {
            fprintf(stderr, "ccmd: %s takes no argument, got '%s'\n", name,
                    arguments->args.operands[0]);
            return EXIT_USAGE;
        }

        const int r = commands[i].run(&arguments->args);

        if (r == -ETIMEDOUT) {
            _exit(1); /* a thread hangs in a plugin: nothing that it may use can be taken down */
        }
        return r == 0 ? 0 : 1;
    }
    fprintf(stderr, "ccmd: unknown command '%s', see ccmd --help\n", name);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    static const struct argp argp = { options, parse_option, "[COMMAND] [FILE...]", doc, NULL,
                                      NULL,    NULL };
    struct arguments arguments = { .args = { .config = CCM_DEFAULT_CONFIG } };

    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0) {
        return EXIT_USAGE;
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        fprintf(stderr, "ccmd: libcurl cannot be initialised\n");
        return 1;
    }

    const int status = dispatch(&arguments);

    curl_global_cleanup();
    return status;
}
