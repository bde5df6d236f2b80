/* `ccmd allow-removals`, `ccmd resync`: what an operator tells the daemon on this machine: that
 * what a plugin holds back may go; that objects are to be looked at again. */
#include "admin/control_token.h"
#include "cli/ask_daemon.h"
#include "cli/command.h"
#include "cli/findings.h"
#include "daemon/setup.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define EXIT_USAGE 2

static int send_order(const struct config_tree *config, const char *order, struct ccm_error *err)
{
    const char *file = config_string(config, NULL, "admin", "control_token_file");
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret token = { 0 };
    const struct cli_question question = { .method = "POST", .path = order, .bearer = &token };
    CCM_CLEANUP(ccm_freep) char *answer = NULL;
    unsigned status = 0;

    if (file[0] == '\0') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "admin.control_token_file has to be set in the configuration of the "
                             "daemon");
    }

    int r = admin_control_token_read(file, &token, err);

    if (r == 0) {
        r = cli_ask_daemon(config, &question, &answer, &status, err);
    }
    if (r < 0) {
        return r;
    }
    (void)fputs(answer, status == 200 ? stdout : stderr); /* sticks */
    return status == 200 ? 0 : 1;
}

/* `order` is what comes behind the "/" of the URL; heap, NULL = out of memory. */
static int give_order(const struct cli_command_args *args, const char *command, char *order)
{
    CCM_CLEANUP(ccm_freep) char *owned = order;
    CCM_CLEANUP(daemon_setup_fini)
    struct daemon_setup setup = { .tell = cli_print_finding, .tell_arg = stderr };
    struct ccm_error err = CCM_ERROR_INIT;
    int r = owned == NULL ? -ENOMEM : daemon_setup_load(args->config, &setup);

    if (r < 0) {
        return r;
    }
    r = send_order(setup.config, owned, &err);
    if (r < 0) {
        (void)fprintf(stderr, "ccmd: %s: %s\n", command, err.message); /* sticks */
    }
    return r;
}

/* What needs no escaping. */
static bool is_plain(const char *text, const char *allowed)
{
    return text[0] != '\0' && text[strspn(text, allowed)] == '\0';
}

#define SMALL "abcdefghijklmnopqrstuvwxyz0123456789-"

int cli_command_allow_removals(const struct cli_command_args *args)
{
    if (args->operand_count != 1 || !is_plain(args->operands[0], SMALL)) {
        (void)fprintf(stderr, "ccmd: allow-removals takes the name of one plugin\n"); /* sticks */
        return EXIT_USAGE;
    }
    return give_order(args, "allow-removals",
                      ccm_text_format("allow-removals?plugin=%s", args->operands[0]));
}

int cli_command_resync(const struct cli_command_args *args)
{
    const size_t wanted = args->all ? 0 : 1;

    if (args->operand_count != wanted ||
        (wanted == 1 && !is_plain(args->operands[0], SMALL "./"))) {
        (void)fprintf(stderr, "ccmd: resync takes one NAMESPACE/SERVICE, or --all\n"); /* sticks */
        return EXIT_USAGE;
    }
    return give_order(args, "resync",
                      args->all ? ccm_text_format("resync?all=1")
                                : ccm_text_format("resync?key=%s", args->operands[0]));
}
