#include "admin/answer.h"

#include "admin/control_token.h"
#include "admin/hostname.h"
#include "admin/places.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/secret.h"
#include "util/text.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX ((size_t)16 * 1024 * 1024)
#define TOKEN_MAX  ((size_t)64 * 1024)

#define HORIZON_MS     1000
#define HORIZON_MAX_MS 600000

static const struct ccm_log answer_log = { .part = "admin" };

/* --- answers --- */

static enum MHD_Result answer_bytes(struct MHD_Connection *connection, unsigned status,
                                    const char *type, const char *text, size_t len)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback(len, strndup(text, len), free);

    if (response == NULL) {
        return MHD_NO;
    }
    /* Pages hold no script; nothing may be stored on the way. */
    (void)MHD_add_response_header(response, "content-type", type); /* or the client guesses */
    (void)MHD_add_response_header(response, "cache-control", "no-store");
    (void)MHD_add_response_header(response, "x-content-type-options", "nosniff");
    (void)MHD_add_response_header(response, "content-security-policy",
                                  "default-src 'none'; style-src 'unsafe-inline'; "
                                  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'");
    (void)MHD_add_response_header(response, "referrer-policy", "no-referrer");
    if (status == MHD_HTTP_UNAUTHORIZED) {
        (void)MHD_add_response_header(response, "www-authenticate", "Bearer");
    }

    const enum MHD_Result result = MHD_queue_response(connection, status, response);

    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
                                   const char *text)
{
    return answer_bytes(connection, status, "text/plain; charset=utf-8", text, strlen(text));
}

static enum MHD_Result answer_probe(struct MHD_Connection *connection,
                                    void (*look)(void *arg, struct ccm_buf *wrong), void *arg)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { .max = 65536 };

    look(arg, &wrong);
    return wrong.len == 0
               ? answer_text(connection, MHD_HTTP_OK, "ok\n")
               : answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, ccm_buf_str(&wrong));
}

static enum MHD_Result answer_page(struct MHD_Connection *connection, const char *type,
                                   void (*make)(void *arg, struct ccm_buf *text), void *arg)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = ANSWER_MAX };

    make(arg, &text);
    if (ccm_buf_error(&text) < 0) {
        return answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
    }
    return answer_bytes(connection, MHD_HTTP_OK, type, ccm_buf_str(&text), text.len);
}

/* --- metrics --- */

static const char metrics_url[] = "/metrics";

static enum MHD_Result answer_metrics(const struct admin_options *options,
                                      struct MHD_Connection *connection)
{
    return answer_page(connection, "text/plain; version=0.0.4; charset=utf-8", options->metrics,
                       options->arg);
}

/* --- the status pages --- */

static const char status_url[] = "/statusz";

static const char *request_get_argument(void *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

/* Argument `format` decides, else what the client says that it wants. */
static int request_find_format(struct MHD_Connection *connection, enum admin_page_format *ret)
{
    static const struct {
        const char *name;
        const char *type;
    } formats[] = {
        [ADMIN_PAGE_HTML] = { "html", "text/html" },
        [ADMIN_PAGE_JSON] = { "json", "application/json" },
        [ADMIN_PAGE_TEXT] = { "text", "text/plain" },
    };
    const char *name = request_get_argument(connection, "format");
    const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "accept");

    *ret = ADMIN_PAGE_HTML;
    for (size_t i = 0; i < CCM_ARRAY_LEN(formats); i++) {
        if (name != NULL ? strcmp(name, formats[i].name) == 0
                         : accept != NULL && ccm_text_starts(accept, formats[i].type)) {
            *ret = i == ADMIN_PAGE_TEXT && request_get_argument(connection, "color") != NULL
                       ? ADMIN_PAGE_TERMINAL
                       : (enum admin_page_format)i;
            return 0;
        }
    }
    return name == NULL ? 0 : -EINVAL;
}

static enum MHD_Result answer_status(const struct admin_options *options,
                                     struct MHD_Connection *connection, const char *url)
{
    static const char *const types[] = {
        [ADMIN_PAGE_HTML] = "text/html; charset=utf-8",
        [ADMIN_PAGE_JSON] = "application/json",
        [ADMIN_PAGE_TEXT] = "text/plain; charset=utf-8",
        [ADMIN_PAGE_TERMINAL] = "text/plain; charset=utf-8",
    };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = ANSWER_MAX };
    struct admin_status_request request = {
        .path = url + strlen(status_url),
        .get = request_get_argument,
        .arg = connection,
    };

    if (request_find_format(connection, &request.format) < 0) {
        return answer_text(connection, MHD_HTTP_BAD_REQUEST, "format: html, json or text\n");
    }

    const int r = options->status(options->arg, &request, &text);

    if (ccm_buf_error(&text) < 0) {
        return answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
    }
    if (r < 0) {
        return answer_text(connection,
                           r == -ENOENT   ? MHD_HTTP_NOT_FOUND
                           : r == -EAGAIN ? MHD_HTTP_SERVICE_UNAVAILABLE
                                          : MHD_HTTP_BAD_REQUEST,

                           ccm_buf_str(&text));
    }
    return answer_bytes(connection, MHD_HTTP_OK, types[request.format], ccm_buf_str(&text),
                        text.len);
}

/* Where to go from here, for whoever has the address alone. */
static enum MHD_Result answer_root(struct MHD_Connection *connection)
{
    static const struct {
        const char *url;
        const char *words;
    } links[] = {
        { "/statusz", "what ccmd does, what fails, when it is tried next" },
        { "/statusz/objects", "all objects: search, filter, sort" },
        { "/statusz/quotas", "quotas and call rates" },
        { "/metrics", "for Prometheus" },
        { "/readyz", "whether it is ready" },
        { "/livez", "whether it is alive" },
        { "/idlez", "whether anything is left to do" },
    };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf html = { .max = ANSWER_MAX };
    struct admin_page page;

    admin_page_begin(&page, &html, ADMIN_PAGE_HTML, "ccmd", 0);
    ccm_buf_adds(&html, "<h1>ccmd</h1>\n<dl>\n");
    for (size_t i = 0; i < CCM_ARRAY_LEN(links); i++) {
        ccm_buf_addf(&html, "<dt><a href=\"%s\">%s</a></dt><dd>%s</dd>\n", links[i].url,
                     links[i].url, links[i].words);
    }
    ccm_buf_adds(&html, "</dl>\n");
    admin_page_end(&page);
    return ccm_buf_error(&html) < 0
               ? answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n")
               : answer_bytes(connection, MHD_HTTP_OK, "text/html; charset=utf-8",
                              ccm_buf_str(&html), html.len);
}

static bool url_is_status(const char *url)
{
    const size_t len = strlen(status_url);

    return strncmp(url, status_url, len) == 0 && (url[len] == '\0' || url[len] == '/');
}

static enum MHD_Result answer_idle(const struct admin_options *options,
                                   struct MHD_Connection *connection)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { .max = ANSWER_MAX };
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "horizon_ms");
    int64_t horizon_ms = HORIZON_MS;

    if (text != NULL && ccm_parse_i64(text, 0, HORIZON_MAX_MS, &horizon_ms) < 0) {
        return answer_text(connection, MHD_HTTP_BAD_REQUEST, "horizon_ms: 0 to 600000\n");
    }

    const bool idle = options->idle(options->arg, horizon_ms, &json);

    if (ccm_buf_error(&json) < 0) {
        return answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
    }
    return answer_bytes(connection, idle ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
                        "application/json", ccm_buf_str(&json), json.len);
}

/* --- requests --- */

static bool method_is_read(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

static bool has_bearer(struct MHD_Connection *connection, const char *token, size_t len)
{
    const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "authorization");

    return len > 0 && header != NULL && ccm_text_starts(header, "Bearer ") &&
           strlen(header + strlen("Bearer ")) == len &&
           CRYPTO_memcmp(header + strlen("Bearer "), token, len) == 0;
}

/* Whether the request carries the token; a file that cannot be read lets nobody in. */
static bool is_allowed(const struct admin_options *options, struct MHD_Connection *connection)
{
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret token = { 0 };
    size_t len = 0;

    if (options->token_file[0] == '\0') {
        return true;
    }
    if (ccm_text_read_file(options->token_file, TOKEN_MAX, &token.hidden, &len) < 0) {
        ccm_log_warn(&answer_log, "%s cannot be read: nobody gets metrics or status",
                     options->token_file);
        return false;
    }
    while (len > 0 && strchr(" \t\r\n", token.hidden[len - 1]) != NULL) {
        token.hidden[--len] = '\0';
    }
    return has_bearer(connection, token.hidden, len);
}

/* Whoever has the token is no page of another site. */
static bool is_asked_by_name(const struct admin_options *options, struct MHD_Connection *connection)
{
    return options->token_file[0] != '\0' || admin_hostname_is_local(MHD_lookup_connection_value(
                                                 connection, MHD_HEADER_KIND, "host"));
}

/* --- orders --- */

static enum MHD_Result answer_order(struct MHD_Connection *connection, int r,
                                    const struct ccm_buf *text)
{
    return answer_text(connection,
                       r == 0         ? MHD_HTTP_OK
                       : r == -ENOENT ? MHD_HTTP_NOT_FOUND
                                      : MHD_HTTP_CONFLICT,
                       ccm_buf_str(text));
}

static enum MHD_Result answer_allow(const struct admin_options *options,
                                    struct MHD_Connection *connection)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 4096 };
    const char *plugin = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "plugin");

    if (ccm_text_empty(plugin)) {
        return answer_text(connection, MHD_HTTP_BAD_REQUEST, "which plugin?\n");
    }
    return answer_order(connection, options->allow_removals(options->arg, plugin, &text), &text);
}

static enum MHD_Result answer_resync(const struct admin_options *options,
                                     struct MHD_Connection *connection)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 4096 };
    const char *key = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "key");
    const char *all = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "all");

    if (ccm_text_empty(key) == ccm_text_empty(all)) {
        return answer_text(connection, MHD_HTTP_BAD_REQUEST, "a key, or all=1?\n");
    }
    return answer_order(
        connection, options->resync(options->arg, ccm_text_empty(key) ? NULL : key, &text), &text);
}

static const struct {
    const char *url;
    enum MHD_Result (*answer)(const struct admin_options *options,
                              struct MHD_Connection *connection);
} orders[] = {
    { "/allow-removals", answer_allow },
    { "/resync", answer_resync },
};

/* Whoever changes what the daemon does needs more than to reach it. */
static enum MHD_Result answer_if_allowed(const struct admin_options *options,
                                         struct MHD_Connection *connection, size_t order,
                                         const char *method)
{
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret token = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;

    if (strcmp(method, "POST") != 0) {
        return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "POST only\n");
    }
    if (ccm_text_empty(options->control_file)) {
        return answer_text(connection, MHD_HTTP_FORBIDDEN, "admin.control_token_file is not set\n");
    }
    if (admin_control_token_read(options->control_file, &token, &err) < 0) {
        ccm_log_warn(&answer_log, "nobody can ask ccmd to act: %s", err.message);
        return answer_text(connection, MHD_HTTP_FORBIDDEN,
                           "admin.control_token_file is not usable, see the log\n");
    }
    if (!has_bearer(connection, token.hidden, strlen(token.hidden))) {
        return answer_text(connection, MHD_HTTP_UNAUTHORIZED, "the control token is needed\n");
    }
    return orders[order].answer(options, connection);
}

/* --- clients --- */

/* Whether the client has shown a certificate of the CA that reviews take. */
static bool request_has_certificate(struct MHD_Connection *connection)
{
    static const char purpose[] = GNUTLS_KP_TLS_WWW_CLIENT;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    gnutls_typed_vdata_st data = {
        .type = GNUTLS_DT_KEY_PURPOSE_OID,
        .data = (unsigned char *)(uintptr_t)purpose, /* only read */
    };
    unsigned problems = 0;

    return info != NULL &&
           gnutls_certificate_verify_peers(info->tls_session, &data, 1, &problems) == 0 &&
           problems == 0;
}

/* --- bodies --- */

/* NULL: there was none free for the connection. */
static struct admin_place *request_find_place(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info == NULL ? NULL : info->socket_context;
}

void admin_end_request(void *cls, struct MHD_Connection *connection, void **state,
                       enum MHD_RequestTerminationCode how)
{
    struct admin_place *place = request_find_place(connection);

    (void)cls;
    if (place != NULL) {
        admin_place_end_request(place, how == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    }
    if (*state != NULL) {
        ccm_buf_fini(*state);
        free(*state);
        *state = NULL;
    }
}

static enum MHD_Result answer_review(const struct admin_options *options,
                                     struct MHD_Connection *connection, const struct ccm_buf *body)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf answer = { .max = ANSWER_MAX };
    unsigned status = MHD_HTTP_INTERNAL_SERVER_ERROR;

    if (ccm_buf_error(body) == -EMSGSIZE) {
        return answer_text(connection, MHD_HTTP_CONTENT_TOO_LARGE, "at most 3 MiB\n");
    }
    if (ccm_buf_error(body) == 0) {
        status = options->review(options->arg, ccm_buf_str(body), body->len, &answer);
    }
    if (ccm_buf_error(body) < 0 || ccm_buf_error(&answer) < 0) {
        return answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
    }
    return answer_bytes(connection, status,
                        status == MHD_HTTP_OK ? "application/json" : "text/plain; charset=utf-8",
                        ccm_buf_str(&answer), answer.len);
}

/* Called once for the headers, then per piece of the body, then at its end. */
static enum MHD_Result take_review(const struct admin_options *options,
                                   struct MHD_Connection *connection, const char *upload,
                                   size_t *upload_len, void **state)
{
    struct admin_place *place = request_find_place(connection);
    struct ccm_buf *body = *state;

    if (place == NULL) {
        return MHD_NO;
    }
    if (body == NULL && !ccm_text_empty(options->client_ca_file) &&
        !request_has_certificate(connection)) {
        ccm_log_warn(&answer_log, "a review is refused: it came without a client certificate of "
                                  "webhook.client_ca_file");
        return answer_text(connection, MHD_HTTP_FORBIDDEN, "a client certificate is needed\n");
    }
    if (body == NULL) {
        body = calloc(1, sizeof(*body));
        if (body == NULL) {
            return MHD_NO;
        }
        body->max = ADMIN_BODY_MAX;
        *state = body;
        return MHD_YES;
    }
    if (*upload_len > 0) {
        ccm_buf_add(body, upload, *upload_len);
        /* What is over the limit of one body is read and dropped: it takes no memory. */
        if (ccm_buf_error(body) == 0 && !admin_place_add(place, *upload_len)) {
            return MHD_NO; /* too much is being read */
        }
        *upload_len = 0;
        return MHD_YES;
    }
    return answer_review(options, connection, body);
}

/* The few pages of a server that reviews. */
static enum MHD_Result answer_reviewer(const struct admin_options *options,
                                       struct MHD_Connection *connection, const char *url)
{
    if (strcmp(url, "/livez") == 0 || strcmp(url, "/healthz") == 0 || strcmp(url, "/readyz") == 0) {
        return answer_text(connection, MHD_HTTP_OK, "ok\n");
    }
    if (strcmp(url, "/metrics") == 0) {
        return answer_page(connection, "text/plain; version=0.0.4; charset=utf-8", options->metrics,
                           options->arg);
    }
    return answer_text(connection, MHD_HTTP_NOT_FOUND, "POST /lint, /livez /readyz /metrics\n");
}

enum MHD_Result admin_handle(void *cls, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *upload,
                             size_t *upload_len, void **state)
{
    const struct admin_options *options = cls;

    (void)version;
    if (options->review != NULL && strcmp(url, "/lint") == 0 && strcmp(method, "POST") == 0) {
        return take_review(options, connection, upload, upload_len, state);
    }
    *upload_len = 0; /* bodies are ignored */
    for (size_t i = 0; options->review == NULL && i < CCM_ARRAY_LEN(orders); i++) {
        if (strcmp(url, orders[i].url) == 0) {
            return answer_if_allowed(options, connection, i, method);
        }
    }
    if (!method_is_read(method)) {
        return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
    }
    if (options->review != NULL) {
        return answer_reviewer(options, connection, url);
    }
    /* The names that probes of older controllers use lead to the same. */
    if (strcmp(url, "/livez") == 0 || strcmp(url, "/healthz") == 0) {
        return answer_probe(connection, options->live, options->arg);
    }
    if (strcmp(url, "/readyz") == 0) {
        return answer_probe(connection, options->ready, options->arg);
    }
    if (strcmp(url, "/") == 0) {
        return answer_root(connection);
    }
    if (strcmp(url, metrics_url) != 0 && !url_is_status(url) && strcmp(url, "/idlez") != 0) {
        return answer_text(connection, MHD_HTTP_NOT_FOUND,
                           "/livez /readyz /metrics /statusz /idlez\n");
    }
    if (!is_allowed(options, connection)) {
        return answer_text(connection, MHD_HTTP_UNAUTHORIZED, "a bearer token is needed\n");
    }
    if (!is_asked_by_name(options, connection)) {
        return answer_text(connection, MHD_HTTP_MISDIRECTED_REQUEST,
                           "unknown host: ask by address, as localhost, or by a name that ends in "
                           ".svc or .svc.cluster.local; any name does with admin.token_file\n");
    }
    if (strcmp(url, "/idlez") == 0) {
        return answer_idle(options, connection);
    }
    return strcmp(url, metrics_url) == 0 ? answer_metrics(options, connection)
                                         : answer_status(options, connection, url);
}

enum MHD_Result admin_handle_metrics(void *cls, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *upload,
                                     size_t *upload_len, void **state)
{
    (void)version;
    (void)upload;
    (void)state;
    *upload_len = 0; /* bodies are ignored */
    if (!method_is_read(method)) {
        return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
    }
    return strcmp(url, metrics_url) == 0
               ? answer_metrics(cls, connection)
               : answer_text(connection, MHD_HTTP_NOT_FOUND, "/metrics\n");
}
