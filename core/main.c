/* Command line of ccmd: parses arguments, picks the subcommand, turns its outcome into an exit
 * code. */
#include "ccm/version.h"
#include "cli/command.h"
#include "util/attr.h"
#include "util/crash.h"
#include "util/parse.h"

#include <argp.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
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
    "  plan           look at cluster and cloud and print what `run` would change now, change "
    "nothing\n"
    "  plugins        list the configured plugins, or inspect the plugin FILEs\n"
    "  lint           check the Services in manifests (files, folders, - for standard input) "
    "without a cluster\n"
    "  convert-config turn a cloud config (and a manifest, and after -- flags) of "
    "cloud-provider-alibaba-cloud into a configuration; --credentials=FILE after -- writes its key "
    "pair there\n"
    "  allow-removals let go, for one window, what the named plugin of the running daemon holds "
    "back "
    "because nodes are missing\n"
    "  resync         have the running daemon read the load balancer of a Service (NAMESPACE/NAME) "
    "again, and repair it; --all: of every one\n"
    "  status         print what the running daemon does and what fails; with KEY "
    "(NAMESPACE/SERVICE, NODE) all that is known of it\n"
    "  version        print the version\n";

enum {
    KEY_PLUGIN = 256,
    KEY_PLUGIN_DIR,
    KEY_ALL,
    KEY_EVENT,
    KEY_TIMEOUT,
    KEY_RBAC,
    KEY_CONSTRUCTORS,
    KEY_QUOTAS,
    KEY_WATCH
};

#define TIMEOUT_MAX_S 86400

static const struct argp_option options[] = {
    { "config", 'c', "FILE", 0, "configuration file (default " CLI_DEFAULT_CONFIG ")", 0 },
    { "plugin", KEY_PLUGIN, "FILE", 0,
      "lint: ask this plugin instead of those of the configuration; may be repeated", 0 },
    { "plugin-dir", KEY_PLUGIN_DIR, "DIR", 0,
      "lint: where plugins are that are given by name; alone: ask all that are there", 0 },
    { "event", KEY_EVENT, NULL, 0,
      "plan: leave the result in the Event kube-system/CloudControllerManagerPrecheckResult too",
      0 },
    { "rbac", KEY_RBAC, NULL, 0, "plugins: print roles with the rights that they need, for kubectl",
      0 },
    { "constructors", KEY_CONSTRUCTORS, NULL, 0,
      "plugins, lint: a FILE may run code while it is being loaded", 0 },
    { "all", KEY_ALL, NULL, 0, "resync: all Services; status: list all objects", 0 },
    { "quotas", KEY_QUOTAS, NULL, 0, "status: quotas and call rates", 0 },
    { "watch", KEY_WATCH, NULL, 0, "status: print it every 2 s", 0 },
    { "output", 'o', "FORMAT", 0, "status: text (default) or json", 0 },
    { "timeout", KEY_TIMEOUT, "SECONDS", 0, "plan: give up after so long (default 300)", 0 },
    { 0 },
};

struct arguments {
    struct cli_command_args args;
    const char *command;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'c':
        arguments->args.config = arg;
        arguments->args.config_is_set = true;
        return 0;
    case KEY_PLUGIN:
        if (arguments->args.plugin_count == CLI_COMMAND_PLUGINS_MAX) {
            argp_error(state, "too many plugins");
            return EINVAL;
        }
        arguments->args.plugins[arguments->args.plugin_count++] = arg;
        return 0;
    case KEY_PLUGIN_DIR:
        arguments->args.plugin_dir = arg;
        return 0;
    case KEY_ALL:
        arguments->args.all = true;
        return 0;
    case KEY_QUOTAS:
        arguments->args.quotas = true;
        return 0;
    case KEY_WATCH:
        arguments->args.watch = true;
        return 0;
    case 'o':
        if (strcmp(arg, "json") != 0 && strcmp(arg, "text") != 0) {
            argp_error(state, "--output %s: text or json", arg);
            return EINVAL;
        }
        arguments->args.json = strcmp(arg, "json") == 0;
        return 0;
    case KEY_RBAC:
        arguments->args.rbac = true;
        return 0;
    case KEY_CONSTRUCTORS:
        arguments->args.constructors = true;
        return 0;
    case KEY_EVENT:
        arguments->args.event = true;
        return 0;
    case KEY_TIMEOUT:
        if (ccm_parse_i64(arg, 1, TIMEOUT_MAX_S, &arguments->args.timeout_s) < 0) {
            argp_error(state, "--timeout %s: not a number from 1 to %d", arg, TIMEOUT_MAX_S);
            return EINVAL;
        }
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->command == NULL) {
            arguments->command = arg;
            return 0;
        }
        /* The first operand and all behind it. */
        arguments->args.operands = (const char *const *)&state->argv[state->next - 1];
        arguments->args.operand_count = (size_t)state->argc - (size_t)state->next + 1;
        state->next = state->argc;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct {
    const char *name;
    int (*run)(const struct cli_command_args *args);
    bool takes_operands;
} commands[] = {
    { "run", cli_command_run, false },
    { "check-config", cli_command_check_config, false },
    { "plugins", cli_command_plugins, true },
    { "lint", cli_command_lint, true },
    { "plan", cli_command_plan, false },
    { "version", cli_command_version, false },
    { "convert-config", cli_command_convert, true },
    { "allow-removals", cli_command_allow_removals, true },
    { "resync", cli_command_resync, true },
    { "status", cli_command_status, true },
};

/* Until the daemon takes signals over, nothing has been begun that would have to be ended. */
static void exit_on_signal(int signal CCM_UNUSED)
{
    _exit(0);
}

/* Of the guard against hanging plugins, see daemon/hang_guard.c. */
static void exit_as_failed(int signal CCM_UNUSED)
{
    _exit(1);
}

/* SIGHUP, which would end the process, waits until the daemon takes it. Threads inherit it. */
static void block_reload_signal(void)
{
    sigset_t signals;

    (void)sigemptyset(&signals); /* cannot fail, nor can the next */
    (void)sigaddset(&signals, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL); /* a valid set */
}

static int main_dispatch_command(const struct arguments *arguments)
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

        (void)signal(SIGALRM, exit_as_failed); /* a valid signal, and so are the next */
        if (commands[i].run == cli_command_run) {
            (void)signal(SIGTERM, exit_on_signal);
            (void)signal(SIGINT, exit_on_signal);
            block_reload_signal();
        }

        const int r = commands[i].run(&arguments->args);

        if (r == -ETIMEDOUT) {
            _exit(1); /* a thread hangs in a plugin: nothing that it may use can be taken down */
        }
        return r < 0 ? 1 : r;
    }
    fprintf(stderr, "ccmd: unknown command '%s', see ccmd --help\n", name);
    return EXIT_USAGE;
}

/*
 * One arena for all threads. glibc would give each of the dozens of threads its own, which fills
 * with what that thread happened to free last; at 1,000 nodes, 2,000 Services and 100,000 endpoints
 * that makes 2 MB of 33 (measured by tests/bench/bench_ccmd.py; two arenas save 1.4 MB). What
 * one lock costs does not show: threads mostly wait for the network, and small blocks come from a
 * store per thread.
 */
static void use_one_arena(void)
{
#ifdef M_ARENA_MAX
    (void)mallopt(M_ARENA_MAX, 1); /* refused: more memory is used, nothing else */
#endif
}

/* Started without standard error, the log would go into whatever file or connection is opened as
 * number 2. */
static bool open_standard_files(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    static const struct argp argp = { options, parse_option, "[COMMAND] [FILE...]", doc, NULL,
                                      NULL,    NULL };
    struct arguments arguments = { .args = { .config = CLI_DEFAULT_CONFIG } };

    if (!open_standard_files()) {
        return 1;
    }
    use_one_arena();
    ccm_crash_install();
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0) {
        return EXIT_USAGE;
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        fprintf(stderr, "ccmd: libcurl cannot be initialised\n");
        return 1;
    }

    const int status = main_dispatch_command(&arguments);

    curl_global_cleanup();
    return status;
}
