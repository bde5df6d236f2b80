/* `ccmd allow-removals`, `ccmd resync`: what an operator tells the daemon on this machine: that
 * what a plugin holds back may go; that objects are to be looked at again. */
#include "admin/control_token.h"
#include "cli/command.h"
#include "config/listen.h"
#include "daemon/setup.h"
#include "net/http.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define EXIT_USAGE 2
#define TIMEOUT_MS 10000

static void http_freep(struct net_http **http)
{
    net_http_free(*http);
}

/* Where the daemon of this configuration is reached from here; it may listen on all addresses. */
static char *make_url(const char *listen, bool tls, const char *order)
{
    const char *port = strrchr(listen, ':');
    const char *host = listen[0] == '[' ? "[::1]" : "127.0.0.1";
    const char *scheme = tls ? "https" : "http";
    struct config_listen address;

    if (port == NULL || config_listen_parse(listen, &address) < 0) {
        return NULL;
    }
    if (address.is_local ||
        !(ccm_text_starts(listen, "0.0.0.0:") || ccm_text_starts(listen, "[::]:"))) {
        return ccm_text_format("%s://%s/%s", scheme, listen, order);
    }
    return ccm_text_format("%s://%s%s/%s", scheme, host, port, order);
}

/* The certificate is the daemon's own, and seldom names this address: whoever has its file is
 * trusted. */
static int ask_daemon(const char *url, const char *cert_file, const struct ccm_secret *token,
                      struct ccm_error *err)
{
    CCM_CLEANUP(http_freep) struct net_http *http = net_http_new(err);
    const struct net_tls tls = { .ca_file = cert_file, .insecure = true };
    struct ccm_http_response *response = NULL;
    const struct net_exchange exchange = {
        .method = "POST",
        .url = url,
        .bearer = token,
        .tls = cert_file[0] == '\0' ? NULL : &tls,
        .deadline_ms = ccm_clock_now_ms() + TIMEOUT_MS,
    };
    uint64_t phase = 0;

    if (http == NULL) {
        return -ENOMEM;
    }

    int r = net_http_do(http, &exchange, &response, &phase, err);

    if (r == 0) {
        (void)fputs(response->body, response->status == 200 ? stdout : stderr); /* sticks */
        r = response->status == 200 ? 0 : 1;
        net_http_response_free(response);
    }
    return r;
}

static int send_order(const struct config_tree *config, const char *order, struct ccm_error *err)
{
    static const char group[] = "admin";
    const char *listen = config_string(config, NULL, group, "listen");
    const char *cert = config_string(config, NULL, group, "tls_cert_file");
    const char *file = config_string(config, NULL, group, "control_token_file");
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret token = { 0 };

    if (listen[0] == '\0' || file[0] == '\0') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "admin.%s has to be set in the configuration of the daemon",
                             listen[0] == '\0' ? "listen" : "control_token_file");
    }

    const int r = admin_control_token_read(file, &token, err);

    if (r < 0) {
        return r;
    }

    CCM_CLEANUP(ccm_freep) char *url = make_url(listen, cert[0] != '\0', order);

    return url == NULL ? ccm_error_nomem(err) : ask_daemon(url, cert, &token, err);
}

/* `order` is what comes behind the "/" of the URL; heap, NULL = out of memory. */
static int give_order(const struct cli_command_args *args, const char *command, char *order)
{
    CCM_CLEANUP(ccm_freep) char *owned = order;
    CCM_CLEANUP(daemon_setup_fini) struct daemon_setup setup = { .checks = true };
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
