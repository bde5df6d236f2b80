/* Command line of ccmd: picks the subcommand, turns its outcome into an exit code. */
#include "cli/command.h"
#include "cli/parse.h"
#include "util/attr.h"
#include "util/crash.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int (*const functions[CLI_COMMAND_COUNT])(const struct cli_command_args *args) = {
    [CLI_RUN] = cli_command_run,
    [CLI_CHECK_CONFIG] = cli_command_check_config,
    [CLI_PLAN] = cli_command_plan,
    [CLI_LINT] = cli_command_lint,
    [CLI_EXPLAIN] = cli_command_explain,
    [CLI_WEBHOOK] = cli_command_webhook,
    [CLI_PLUGINS] = cli_command_plugins,
    [CLI_STATUS] = cli_command_status,
    [CLI_RESYNC] = cli_command_resync,
    [CLI_ALLOW_REMOVALS] = cli_command_allow_removals,
    [CLI_CONVERT_CONFIG] = cli_command_convert,
    [CLI_COMPLETION] = cli_command_completion,
    [CLI_VERSION] = cli_command_version,
    [CLI_HELP] = cli_command_help,
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

static int main_run_command(const struct cli_command *command, const struct cli_command_args *args)
{
    const enum cli_command_id id = (enum cli_command_id)(command - cli_commands);

    (void)signal(SIGALRM, exit_as_failed); /* a valid signal, and so are the next */
    if (id == CLI_RUN) {
        (void)signal(SIGTERM, exit_on_signal);
        (void)signal(SIGINT, exit_on_signal);
        block_reload_signal();
    }

    const int r = functions[id](args);

    if (r == -ETIMEDOUT) {
        _exit(1); /* a thread hangs in a plugin: nothing that it may use can be taken down */
    }
    return r < 0 ? 1 : r;
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
    struct cli_command_args args = { .config = CLI_DEFAULT_CONFIG };
    const struct cli_command *command = NULL;

    if (!open_standard_files()) {
        return 1;
    }
    use_one_arena();
    ccm_crash_install();
    if (cli_parse(argc, argv, &args, &command) != 0) {
        return CLI_EXIT_USAGE;
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        fprintf(stderr, "ccmd: libcurl cannot be initialised\n");
        return 1;
    }

    const int status = main_run_command(command, &args);

    curl_global_cleanup();
    return status;
}
