#include "cli/ask_daemon.h"

#include "config/listen.h"
#include "net/http.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define TIMEOUT_MS 10000

static void http_freep(struct net_http **http)
{
    net_http_free(*http);
}

/* Where the daemon of this configuration is reached from here; it may listen on all addresses. */
static char *make_url(const char *listen, bool tls, const char *path)
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
        return ccm_text_format("%s://%s/%s", scheme, listen, path);
    }
    return ccm_text_format("%s://%s%s/%s", scheme, host, port, path);
}

/* The certificate is the daemon's own, and seldom names this address: whoever has its file is
 * trusted. */
static int ask_url(const char *url, const char *cert_file, const struct cli_question *question,
                   struct ccm_http_response **ret, struct ccm_error *err)
{
    CCM_CLEANUP(http_freep) struct net_http *http = net_http_new(err);
    const struct net_tls tls = { .ca_file = cert_file, .insecure = true };
    const struct net_exchange exchange = {
        .method = question->method,
        .url = url,
        .bearer = question->bearer,
        .tls = cert_file[0] == '\0' ? NULL : &tls,
        .deadline_ms = ccm_clock_now_ms() + TIMEOUT_MS,
        .max_body = question->max_body,
    };
    uint64_t phase = 0;

    return http == NULL ? -ENOMEM : net_http_do(http, &exchange, ret, &phase, err);
}

int cli_ask_daemon(const struct config_tree *config, const struct cli_question *question,
                   char **ret_body, unsigned *ret_status, struct ccm_error *err)
{
    static const char group[] = "admin";
    const char *listen = config_string(config, NULL, group, "listen");
    const char *cert = config_string(config, NULL, group, "tls_cert_file");
    struct ccm_http_response *response = NULL;

    if (listen[0] == '\0') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "admin.listen has to be set in the configuration of the daemon");
    }

    CCM_CLEANUP(ccm_freep) char *url = make_url(listen, cert[0] != '\0', question->path);
    int r = url == NULL ? ccm_error_nomem(err) : ask_url(url, cert, question, &response, err);

    if (r < 0) {
        return r;
    }
    *ret_status = (unsigned)response->status;
    *ret_body = strndup(response->body, (size_t)response->body_len);
    net_http_response_free(response);
    return *ret_body == NULL ? ccm_error_nomem(err) : 0;
}

char *cli_escape_query(const char *text)
{
    struct ccm_buf escaped = { .max = 8192 };
    char *copy = NULL;

    for (const char *p = text; *p != '\0'; p++) {
        const unsigned char c = (unsigned char)*p;

        if (isalnum(c) || strchr("-._~/", c) != NULL) {
            ccm_buf_addc(&escaped, *p);
        } else {
            ccm_buf_addf(&escaped, "%%%02X", c);
        }
    }
    if (ccm_buf_error(&escaped) == 0) {
        copy = strdup(ccm_buf_str(&escaped));
    }
    ccm_buf_fini(&escaped);
    return copy;
}
