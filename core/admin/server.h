/*
 * What the daemon tells about itself over HTTP: /livez and /readyz for probes, /metrics for
 * Prometheus, /statusz and the pages below it for people and `ccmd status`, /idlez for whoever
 * waits until a change is done. Reads only, but for POST /allow-removals?plugin=NAME and
 * /resync?key=KEY (or ?all=1), which want a token of their own. A second one may serve /metrics
 * alone, which tells numbers and no names, to whoever can reach it. One thread of libmicrohttpd
 * serves each, four where it reviews; the callbacks run in them.
 */
#ifndef CCM_ADMIN_SERVER_H
#define CCM_ADMIN_SERVER_H

#include "admin/page.h"
#include "ccm/error.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* What is asked for below /statusz. Valid during the call. */
struct admin_status_request {
    const char *path; /* "", "/objects", ... */
    enum admin_page_format format;
    /* Value of an argument, NULL = it is not given. */
    const char *(*get)(void *arg, const char *name);
    void *arg;
};

/* All texts are borrowed until admin_free(); "" = none. */
struct admin_options {
    const char *name;      /* in log lines and errors: a constant, such as "admin" */
    const char *listen;    /* "ADDRESS:PORT", "[ADDRESS]:PORT" */
    bool metrics_only;     /* /metrics, to everybody, and nothing else: of what follows `metrics`
                              and `arg` alone count, the texts are "" */
    const char *cert_file; /* PEM; with key_file: TLS */
    const char *key_file;
    const char *client_ca_file; /* PEM; a review needs a client certificate of this CA; NULL or "":
                                   it does not. For `review` alone */
    const char *token_file; /* what all but the probes want as a bearer token; read per request */

    const char *control_file; /* the token of whoever may act, see control_token.h; "": nobody */

    /* Append what is wrong, one line each; nothing = all is well. */
    void (*live)(void *arg, struct ccm_buf *wrong);
    void (*ready)(void *arg, struct ccm_buf *wrong);
    /* Append the whole answer. */
    void (*metrics)(void *arg, struct ccm_buf *text);
    /* The same in the format that is asked for. 0; with one line of plain text: -ENOENT, there is
     * no such page or object; -EINVAL: an argument is wrong; -EAGAIN: not yet. */
    int (*status)(void *arg, const struct admin_status_request *request, struct ccm_buf *text);
    /* Append, as JSON, whether there is anything to do within horizon_ms (10 min at most), and how
     * far it is with what it has seen. False: there is. */
    bool (*idle)(void *arg, int64_t horizon_ms, struct ccm_buf *json);
    /* Let go what a plugin holds back, and append what came of it, one line. 0; -ENOENT: there is
     * no such plugin; other negative values: it cannot at the moment, or never. Returns at once. */
    int (*allow_removals)(void *arg, const char *plugin, struct ccm_buf *text);
    /* Have an object, NULL = all, looked at again, and append what came of it, as above. */
    int (*resync)(void *arg, const char *key, struct ccm_buf *text);
    /* Another use of the server, see `ccmd webhook`: the answer to the body of POST /lint. The HTTP
     * status; `answer` is JSON with 200, else plain text. There are no pages but probes and metrics
     * then, and what is only asked for these is not set. NULL = there is no such page. */
    unsigned (*review)(void *arg, const char *body, size_t len, struct ccm_buf *answer);
    void *arg;
};

#define ADMIN_BODY_MAX ((size_t)3 * 1024 * 1024) /* as much as an API server takes in a request */

struct admin_server;

/* Begin to serve. 0, or negative with err (CCM_ERROR_TERMINAL: address, certificate, key). */
CCM_NODISCARD int admin_new(const struct admin_options *options, struct admin_server **ret,
                            struct ccm_error *err);
/* When the certificate in use ends, in milliseconds since 1970; 0 = there is none. Every thread.
 */
int64_t admin_certificate_end(const struct admin_server *admin);
/* Ends when running answers are given. NULL is fine. */
void admin_free(struct admin_server *admin);

#endif
