#include "kube/client/client.h"

#include "kube/client/auth.h"
#include "kube/client/exec_token.h"
#include "kube/client/measure.h"
#include "kube/client/token.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/header.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

static const struct ccm_log kube_log = { .part = "kube" };

struct kube_client {
    struct net_http *http;
    struct kube_auth auth; /* does not change; the token is below */
    struct net_tls tls;
    char *origin; /* server without its path */
    struct kube_token token;
    struct kube_exec_token *exec; /* NULL = the credential is in auth and token */
    const struct ccm_gate *gate;  /* of changes; does not change */
    struct ccm_metrics *metrics;  /* does not change */
};

static bool is_local(const char *origin)
{
    const char *host = strstr(origin, "://") + 3;
    const size_t len = strspn(host, "0123456789.");
    const bool v4 = host[len] == '\0' || host[len] == ':'; /* no name that begins like one */

    return (v4 && ccm_text_starts(host, "127.")) || strcmp(host, "localhost") == 0 ||
           ccm_text_starts(host, "localhost:") || ccm_text_starts(host, "[::1]");
}

/* Whether credentials go over the network in clear text. */
static bool client_is_exposed(const struct kube_client *client)
{
    return ccm_text_starts(client->origin, "http://") && client->auth.credential[0] != '\0' &&
           !is_local(client->origin);
}

static int client_init(struct kube_client *client)
{
    struct kube_auth *auth = &client->auth;
    const char *host = strstr(auth->server, "://") + 3;

    client->tls = (struct net_tls){
        .ca_file = auth->ca_file,
        .ca_data = auth->ca_data,
        .cert_data = auth->cert_data,
        .key_data = &auth->key_data,
        .server_name = auth->server_name,
        .insecure = auth->insecure,
    };
    client->origin = strndup(auth->server, (size_t)(host - auth->server) + strcspn(host, "/"));
    if (auth->exec != NULL) {
        client->exec = kube_exec_token_new(CCM_STEAL(auth->exec));
        if (client->exec == NULL) {
            return -ENOMEM;
        }
    }
    if (client->origin == NULL ||
        kube_token_init(&client->token, auth->token_file, &auth->token) < 0) {
        return -ENOMEM;
    }
    auth->token_file = NULL; /* the token's now */
    if (client_is_exposed(client)) {
        ccm_log_warn(&kube_log, "API server %s: credentials go over the network in clear text",
                     client->origin);
    }
    return 0;
}

int kube_client_new(struct net_http *http, const char *kubeconfig, struct kube_client **ret,
                    struct ccm_error *err)
{
    const struct kube_place place = { .kubeconfig = kubeconfig };

    return kube_client_new_at(http, &place, ret, err);
}

int kube_client_new_at(struct net_http *http, const struct kube_place *place,
                       struct kube_client **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) struct kube_client *client = calloc(1, sizeof(*client));
    int r;

    if (client == NULL) {
        return ccm_error_nomem(err);
    }
    client->http = http;
    if (ccm_text_empty(place->kubeconfig)) {
        r = kube_auth_in_cluster(getenv("KUBERNETES_SERVICE_HOST"),
                                 getenv("KUBERNETES_SERVICE_PORT"), SERVICE_ACCOUNT, &client->auth,
                                 err);
    } else {
        r = kube_auth_read_place(place, &client->auth, err);
    }
    if (r < 0) {
        return r;
    }
    if (client_init(client) < 0) {
        kube_exec_token_free(client->exec);
        free(client->origin);
        kube_auth_fini(&client->auth);
        return ccm_error_nomem(err);
    }
    *ret = CCM_STEAL(client);
    return 0;
}

void kube_client_free(struct kube_client *client)
{
    if (client != NULL) {
        kube_token_fini(&client->token);
        kube_exec_token_free(client->exec);
        kube_auth_fini(&client->auth);
        free(client->origin);
        free(client);
    }
}

int kube_client_check_plain(const struct kube_client *client, struct ccm_error *err)
{
    return !client_is_exposed(client)
               ? 0
               : ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                               "API server %s: %s would go over the network in clear text, which "
                               "takes 'plain_http = true' in kubernetes",
                               client->origin, client->auth.credential);
}

const char *kube_client_server(const struct kube_client *client)
{
    return client->origin;
}

struct net_http *kube_client_http(const struct kube_client *client)
{
    return client->http;
}

bool kube_client_is_held(const struct kube_client *client)
{
    return ccm_gate_is_held(client->gate) && ccm_gate_leads(client->gate);
}

void kube_client_set_gate(struct kube_client *client, const struct ccm_gate *gate)
{
    client->gate = gate;
}

void kube_client_set_metrics(struct kube_client *client, struct ccm_metrics *metrics)
{
    client->metrics = metrics;
}

/* A call on its way, with what the HTTP engine borrows. */
struct kube_exchange {
    struct kube_client *client;
    struct kube_call call;
    char *url;
    char *type;
    const char *headers[3];
    struct kube_credential credential; /* of this try */
    struct net_tls tls;
    struct kube_measure measure; /* of a stream ends with its head */
    struct net_exchange http;
    struct net_http_ticket *ticket;
    int64_t sent_ms;
    bool repeated;
};

static void exchange_freep(struct kube_exchange **exchange)
{
    if (*exchange != NULL) {
        free((*exchange)->url);
        free((*exchange)->type);
        kube_credential_fini(&(*exchange)->credential);
        free(*exchange);
    }
}

/* Keeps the answers that are errors away from the caller's on_head: one of them may be repeated. */
static int exchange_filter_head(void *arg, uint32_t status)
{
    struct kube_exchange *exchange = arg;

    kube_measure_end(&exchange->measure, status);
    if (status / 100 != 2 || exchange->call.on_head == NULL) {
        return 0;
    }
    return exchange->call.on_head(exchange->call.arg, status);
}

static int exchange_pass_chunk(void *arg, const char *data, size_t len)
{
    const struct kube_exchange *exchange = arg;

    return exchange->call.on_chunk(exchange->call.arg, data, len);
}

static void exchange_pass_end(void *arg)
{
    const struct kube_exchange *exchange = arg;

    exchange->call.on_end(exchange->call.arg);
}

/* What goes out, but for the token. */
static int exchange_init(struct kube_exchange *exchange, struct kube_client *client,
                         const struct kube_call *call)
{
    const bool reads = ccm_text_equal(call->method, "GET");

    exchange->client = client;
    exchange->call = *call;
    exchange->url = ccm_text_format("%s%s", client->auth.server, call->path);
    exchange->type = ccm_text_format(
        "Content-Type: %s", call->content_type == NULL ? "application/json" : call->content_type);
    exchange->headers[0] = "Accept: application/json";
    exchange->headers[1] = call->body == NULL ? NULL : exchange->type;
    exchange->http = (struct net_exchange){
        .method = call->method,
        .url = exchange->url,
        .headers = exchange->headers,
        .bearer = &exchange->credential.token,
        .body = call->body,
        .body_len = call->body == NULL ? 0 : strlen(call->body),
        .tls = &exchange->tls,
        .http2 = true,
        .repeatable = reads,
        .deadline_ms = call->deadline_ms,
        .idle_ms = call->idle_ms,
        .max_body = call->max_body,
        .cancel = call->cancel,
        .gate = reads || call->ungated ? NULL : client->gate,
        .on_chunk = call->on_chunk == NULL ? NULL : exchange_pass_chunk,
        .on_head = call->on_chunk == NULL ? NULL : exchange_filter_head,
        .on_end = call->on_end == NULL ? NULL : exchange_pass_end,
        .arg = exchange,
    };
    return exchange->url == NULL || exchange->type == NULL ? -ENOMEM : 0;
}

/* Whom this try speaks for. */
static int exchange_take_credential(struct kube_exchange *exchange, struct ccm_error *err)
{
    struct kube_client *client = exchange->client;
    struct kube_credential *credential = &exchange->credential;

    kube_credential_fini(credential);
    exchange->tls = client->tls;
    if (client->exec == NULL) {
        return kube_token_get(&client->token, exchange->sent_ms, &credential->token) < 0
                   ? ccm_error_nomem(err)
                   : 0;
    }

    const int r = kube_exec_token_get(client->exec, exchange->call.deadline_ms,
                                      exchange->call.cancel, credential, err);

    if (r < 0) {
        return ccm_error_wrap(err, r, "API server %s", client->origin);
    }
    if (credential->cert != NULL) {
        exchange->tls.cert_data = credential->cert;
        exchange->tls.key_data = &credential->key;
    }
    return 0;
}

static int exchange_send(struct kube_exchange *exchange, struct ccm_error *err)
{
    struct kube_client *client = exchange->client;
    int r;

    exchange->sent_ms = ccm_clock_now_ms();
    r = exchange_take_credential(exchange, err);
    if (r < 0) {
        return r;
    }
    exchange->measure = kube_measure_begin(client->metrics, strstr(client->origin, "://") + 3,
                                           exchange->call.method);
    return net_http_begin(client->http, &exchange->http, &exchange->ticket, err);
}

static int exchange_wait(struct kube_exchange *exchange, struct ccm_http_response **ret,
                         struct ccm_error *err)
{
    const int r = net_http_end(exchange->client->http, CCM_STEAL(exchange->ticket), ret, NULL, err);

    if (r != -ECANCELED) { /* that says nothing about the server */
        kube_measure_end(&exchange->measure, r < 0 ? 0 : (uint32_t)(*ret)->status);
    }
    if (r < 0 && err != NULL && err->kind == CCM_ERROR_TRANSIENT) {
        char cause[CCM_ERROR_MESSAGE_MAX - 32];

        ccm_text_copy(cause, sizeof(cause), err->message);
        ccm_text_printf(err->message, sizeof(err->message), "API server %s", cause);
    }
    return r;
}

static void add_retry_after(const struct ccm_http_response *response, struct ccm_error *err)
{
    const uint64_t ms = ccm_header_retry_after_ms(response->headers);

    err->retry_after_ms = ms > 0 ? ms : err->retry_after_ms;
}

/* What the operator has to look at. */
static void explain_unauthorized(const struct kube_client *client, struct ccm_error *err)
{
    const char *credential = client->auth.credential;
    const bool by_cert = client->token.file == NULL && client->auth.cert_data != NULL;

    if (credential[0] == '\0') {
        ccm_text_printf(err->message, sizeof(err->message),
                        "API server %s: asks for credentials (401), and the kubeconfig gives none",
                        client->origin);
        return;
    }
    ccm_text_printf(err->message, sizeof(err->message), "API server %s: %s refused (401): check %s",
                    client->origin, by_cert ? "credentials" : "token", credential);
}

static int client_explain_failure(const struct kube_client *client, const struct kube_call *call,
                                  const struct ccm_http_response *response, struct ccm_error *err)
{
    struct ccm_error unused = CCM_ERROR_INIT;
    struct ccm_error *to = err == NULL ? &unused : err;
    int r = kube_status_error((uint32_t)response->status, response->body, response->body_len, to);

    add_retry_after(response, to);
    if (response->status == 401) {
        explain_unauthorized(client, to);
    } else if (response->status == 403) {
        r = ccm_error_wrap(to, r, "API server %s: access denied, check the roles of this user",
                           client->origin);
    } else {
        r = ccm_error_wrap(to, r, "%s %.*s", call->method, (int)strcspn(call->path, "?"),
                           call->path);
    }
    return r;
}

int kube_begin(struct kube_client *client, const struct kube_call *call, struct kube_exchange **ret,
               struct ccm_error *err)
{
    CCM_CLEANUP(exchange_freep) struct kube_exchange *exchange = calloc(1, sizeof(*exchange));

    if (call->path == NULL || call->path[0] != '/') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, "a path of the API starts with a slash");
    }
    if (exchange == NULL || exchange_init(exchange, client, call) < 0) {
        return ccm_error_nomem(err);
    }

    const int r = exchange_send(exchange, err);

    if (r == 0) {
        *ret = CCM_STEAL(exchange);
    }
    return r;
}

/* Whether a 401 is worth another attempt: the token file holds another token by now, or a plugin
 * may say another. */
static bool exchange_may_repeat(struct kube_exchange *exchange, uint64_t status)
{
    struct kube_client *client = exchange->client;
    const struct kube_credential *used = &exchange->credential;

    if (status != 401 || exchange->repeated) {
        return false;
    }
    return client->exec != NULL ? kube_exec_token_renew(client->exec, used)
                                : kube_token_renew(&client->token, exchange->sent_ms, &used->token);
}

/* A write is not believed to be done because of a page that something between us and the API server
 * answers in its place: every answer to one is an object. */
static int exchange_check_object(const struct kube_exchange *exchange,
                                 const struct ccm_http_response *response, struct ccm_error *err)
{
    const struct kube_call *call = &exchange->call;
    const char *body = response->body == NULL ? "" : response->body;

    if (ccm_text_equal(call->method, "GET") || call->on_chunk != NULL ||
        body[strspn(body, " \t\r\n")] == '{') {
        return 0;
    }
    return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                         "API server %s: %s %.*s: the answer is not a JSON object, so it does not "
                         "come from an API server: check proxies and load balancers in between",
                         exchange->client->origin, call->method, (int)strcspn(call->path, "?"),
                         call->path);
}

int kube_end(struct kube_exchange *waited, struct ccm_http_response **ret, struct ccm_error *err)
{
    CCM_CLEANUP(exchange_freep) struct kube_exchange *exchange = waited;
    CCM_CLEANUP(net_http_response_freep) struct ccm_http_response *response = NULL;
    int r = exchange_wait(exchange, &response, err);

    if (r < 0) {
        return r;
    }
    if (response->status / 100 == 2) {
        r = exchange_check_object(exchange, response, err);
        if (r == 0 && ret != NULL) {
            *ret = CCM_STEAL(response);
        }
        return r;
    }
    if (!exchange_may_repeat(exchange, response->status)) {
        return client_explain_failure(exchange->client, &exchange->call, response, err);
    }
    exchange->repeated = true;
    r = exchange_send(exchange, err);
    if (r < 0) {
        return r;
    }
    exchange = NULL; /* goes on */
    return KUBE_REPEATED;
}

int kube_do(struct kube_client *client, const struct kube_call *call,
            struct ccm_http_response **ret, struct ccm_error *err)
{
    struct kube_exchange *exchange = NULL;
    int r = kube_begin(client, call, &exchange, err);

    if (r < 0) {
        return r;
    }
    do {
        r = kube_end(exchange, ret, err);
    } while (r == KUBE_REPEATED);
    return r;
}
