/* `ccmd status`: what the daemon on this machine says of itself and its objects: the status pages
 * as text or JSON. */
#include "cli/ask_daemon.h"
#include "cli/color.h"
#include "cli/command.h"
#include "cli/findings.h"
#include "daemon/setup.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_USAGE 2
#define TOKEN_MAX  ((size_t)64 * 1024)
#define ANSWER_MAX ((size_t)16 * 1024 * 1024)
#define WATCH_S    2
#define CLEAR      "\033[H\033[2J\033[3J" /* of a terminal */
#define LIST_LIMIT "1000"

/* Behind the "/" of the URL; heap, NULL = out of memory. */
static char *status_make_path(const struct cli_command_args *args)
{
    const char *format = args->output == CLI_OUTPUT_JSON ? "json"
                         : cli_color_is_wanted(stdout)   ? "text&color=1"
                                                         : "text";
    CCM_CLEANUP(ccm_freep) char *key = NULL;

    if (args->operand_count == 1) {
        key = cli_escape_query(args->operands[0]);
        return key == NULL ? NULL : ccm_text_format("statusz/object?format=%s&key=%s", format, key);
    }
    return args->all      ? ccm_text_format("statusz/objects?format=%s&limit=" LIST_LIMIT, format)
           : args->quotas ? ccm_text_format("statusz/quotas?format=%s", format)
                          : ccm_text_format("statusz?format=%s", format);
}

/* What all but the probes want, if the daemon wants it. */
static int status_read_token(const struct config_tree *config, struct ccm_secret *ret,
                             struct ccm_error *err)
{
    const char *file = config_string(config, NULL, "admin", "token_file");
    size_t len = 0;
    const int r = file[0] == '\0' ? 0 : ccm_text_read_file(file, TOKEN_MAX, &ret->hidden, &len);

    if (r < 0) {
        return ccm_error_set(err, r, CCM_ERROR_TERMINAL, "%s: %s", file, strerror(-r));
    }
    while (len > 0 && strchr(" \t\r\n", ret->hidden[len - 1]) != NULL) {
        ret->hidden[--len] = '\0';
    }
    return 0;
}

static int status_print(const struct cli_command_args *args, const struct config_tree *config,
                        const char *path, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret token = { 0 };
    CCM_CLEANUP(ccm_freep) char *answer = NULL;
    const struct cli_question question = {
        .method = "GET",
        .path = path,
        .bearer = &token,
        .max_body = ANSWER_MAX,
    };
    unsigned status = 0;
    int r = status_read_token(config, &token, err);

    if (r == 0) {
        r = cli_ask_daemon(config, &question, &answer, &status, err);
    }
    if (r < 0) {
        return r;
    }
    if (status == 200 && args->watch && isatty(STDOUT_FILENO) != 0) {
        (void)fputs(CLEAR, stdout); /* sticks, as the next */
    }
    (void)fputs(answer, status == 200 ? stdout : stderr);
    (void)fflush(stdout);
    return status == 200 ? 0 : 1;
}

/* The process ends by SIGINT, or when nobody reads any more. */
static int status_watch(const struct cli_command_args *args, const struct config_tree *config,
                        const char *path, struct ccm_error *err)
{
    const struct timespec pause = { .tv_sec = WATCH_S };
    int r = status_print(args, config, path, err);

    while (args->watch && r >= 0 && ferror(stdout) == 0) {
        (void)nanosleep(&pause, NULL); /* cut short by a signal: it is asked sooner */
        r = status_print(args, config, path, err);
    }
    return r;
}

int cli_command_status(const struct cli_command_args *args)
{
    CCM_CLEANUP(daemon_setup_fini)
    struct daemon_setup setup = { .tell = cli_print_finding, .tell_arg = stderr };
    CCM_CLEANUP(ccm_freep) char *path = status_make_path(args);
    struct ccm_error err = CCM_ERROR_INIT;

    if (args->operand_count + (args->all ? 1 : 0) + (args->quotas ? 1 : 0) > 1) {
        (void)fprintf(stderr, "ccmd: status takes one KEY, or --all, or --quotas\n"); /* sticks */
        return EXIT_USAGE;
    }
    int r = path == NULL ? -ENOMEM : daemon_setup_load(args->config, &setup);

    if (r < 0) {
        return r;
    }
    r = status_watch(args, setup.config, path, &err);
    if (r < 0) {
        (void)fprintf(stderr, "ccmd: status: %s\n", err.message); /* sticks */
    }
    return r;
}
