/* Command line of ccmd and of its tools: picks the subcommand, turns its outcome into an exit code.
 */
#include "cli/command.h"
#include "cli/functions.h"
#include "cli/parse.h"
#include "cli/tool.h"
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

static int main_call_function(cli_function *function, const struct cli_command_args *args)
{
    (void)signal(SIGALRM, exit_as_failed); /* a valid signal, and so are the next */
    if (function == cli_functions[CLI_RUN]) {
        (void)signal(SIGTERM, exit_on_signal);
        (void)signal(SIGINT, exit_on_signal);
        block_reload_signal();
    }

    const int r = function(args);

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

/* NULL = a tool has it. */
static cli_function *main_find_function(const struct cli_command *command)
{
    return cli_functions[command - cli_commands];
}

static int main_run_command(int argc, char **argv, const struct cli_command *command)
{
    struct cli_command_args args = { .config = CLI_DEFAULT_CONFIG };

    if (cli_parse(argc, argv, command, &args, &command) != 0) {
        return CLI_EXIT_USAGE;
    }
    if (main_find_function(command) == NULL) { /* help was asked for */
        argv[1 + args.operand_count] = NULL;
        return cli_tool_run(command, argv);
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        fprintf(stderr, "ccmd: libcurl cannot be initialised\n");
        return 1;
    }

    const int status = main_call_function(main_find_function(command), &args);

    curl_global_cleanup();
    return status;
}

int main(int argc, char **argv)
{
    const struct cli_command *command = NULL;

    if (!open_standard_files()) {
        return 1;
    }
    use_one_arena();
    ccm_crash_install();
    if (cli_parse_command(&argc, argv, &command) != 0) {
        return CLI_EXIT_USAGE;
    }
    if (command != NULL && main_find_function(command) == NULL) {
        return cli_tool_run(command, argv);
    }
    return main_run_command(argc, argv, command);
}
