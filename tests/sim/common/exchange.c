#include "common/exchange.h"

#include "common/stream.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"
#include "util/thread.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

const char *ccm_sim_request_header(const struct ccm_sim_request *req, const char *name)
{
    return ccm_sim_params_get(&req->headers, name);
}

void ccm_sim_reply_error(struct ccm_sim_reply *reply, unsigned status, const char *format, ...)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    struct ccm_jsonw w = { .buf = &reply->body };
    va_list args;

    va_start(args, format);
    ccm_buf_vaddf(&text, format, args);
    va_end(args);
    reply->status = status;
    ccm_buf_reset(&reply->body);
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "error", ccm_buf_str(&text));
    ccm_jsonw_close(&w, '}');
}

/* How long a wait goes on before the kit looks whether the client is still
 * there. */
#define LOOK_MS 100

/* Whether there is still a reason to wait; the caller holds the lock, that of
 * the rules is inner.
 */
static bool waits_locked(struct ccm_sim_server *server, int64_t rule)
{
    return !atomic_load(&server->stopping) &&
           (rule == 0 || ccm_sim_faults_has(server->faults, rule));
}

/* Wait for ms or the end of the server; with a rule until that is removed, and
 * with fd >= 0 until the client is gone. */
static void wait_ms(struct ccm_sim_server *server, uint32_t ms, int64_t rule, int fd)
{
    int64_t end = ccm_clock_now_ms() + ms;

    (void)pthread_mutex_lock(&server->lock); /* a default mutex that we do not hold cannot fail */
    for (int64_t now = ccm_clock_now_ms(); waits_locked(server, rule) && now < end;
         now = ccm_clock_now_ms()) {
        int64_t look = fd >= 0 && end - now > LOOK_MS ? now + LOOK_MS : end;

        (void)ccm_clock_cond_wait(&server->wake, &server->lock, look); /* the loop looks */
        if (fd >= 0 && ccm_sim_client_gone(fd)) {
            break;
        }
    }
    (void)pthread_mutex_unlock(&server->lock); /* held by us */
}

void ccm_sim_server_wait(struct ccm_sim_server *server, uint32_t ms)
{
    if (ms > 0) {
        wait_ms(server, ms, 0, -1);
    }
}

void ccm_sim_server_wake(struct ccm_sim_server *server)
{
    ccm_lock(&server->lock);
    (void)pthread_cond_broadcast(&server->wake); /* cannot fail */
    (void)pthread_mutex_unlock(&server->lock);   /* held by us */
}

/* ---- life ---- */

struct ccm_sim_exchange *ccm_sim_exchange_new(struct ccm_sim_server *server,
                                              struct MHD_Connection *connection, const char *uri)
{
    struct ccm_sim_exchange *ex = calloc(1, sizeof(*ex));

    if (ex == NULL) {
        return NULL;
    }
    ex->uri = strdup(uri);
    if (ex->uri == NULL) {
        free(ex);
        return NULL;
    }
    ex->server = server;
    ex->connection = connection;
    ex->body.max = server->config.body_max;
    ex->limit = -1;
    ex->effect.truncate = -1;
    ex->reply.status = 200;
    ex->reply.content_type = "application/json";
    return ex;
}

/* All but what the HTTP library still looks at while the answer leaves. */
static void exchange_fini(struct ccm_sim_exchange *ex)
{
    ccm_sim_params_fini(&ex->req.query);
    ccm_sim_params_fini(&ex->req.form);
    ccm_sim_params_fini(&ex->req.all);
    ccm_sim_params_fini(&ex->req.headers);
    ccm_sim_params_fini(&ex->call.params);
    ccm_sim_effect_fini(&ex->effect);
    ccm_sim_params_fini(&ex->reply.headers);
    ccm_buf_fini(&ex->reply.body);
    if (ex->reply.stream.close != NULL) {
        ex->reply.stream.close(ex->reply.stream.self);
    }
    ex->reply.stream = (struct ccm_sim_stream){ 0 };
    free(ex->path);
    ex->path = NULL;
    free(ex->uri);
    ex->uri = NULL;
    ccm_buf_fini(&ex->body);
}

void ccm_sim_exchange_free(struct ccm_sim_exchange *ex)
{
    if (ex != NULL) {
        exchange_fini(ex);
        free(ex);
    }
}

/* ---- reading the request ---- */

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct ccm_sim_params *headers = cls;
    char lower[128];
    size_t i = 0;

    (void)kind; /* only headers were asked for */
    for (; i < sizeof(lower) - 1 && name[i] != '\0'; i++) {
        lower[i] = (char)tolower((unsigned char)name[i]);
    }
    lower[i] = '\0';
    /* A header beyond the limit is as good as not sent; the service then misses
     * it and says so. */
    return ccm_sim_params_add(headers, lower, value == NULL ? "" : value) < 0 ? MHD_NO : MHD_YES;
}

static int borrow_all(struct ccm_sim_params *to, const struct ccm_sim_params *from)
{
    int r = 0;

    for (size_t i = 0; i < from->len && r == 0; i++) {
        r = ccm_sim_params_borrow(to, &from->items[i]);
    }
    return r;
}

static int request_parse(struct ccm_sim_exchange *ex)
{
    struct ccm_sim_request *req = &ex->req;

    (void)MHD_get_connection_values(ex->connection, MHD_HEADER_KIND, on_header, &req->headers);
    ccm_sim_params_sort(&req->headers);

    const char *type = ccm_sim_params_text(&req->headers, "content-type");
    int r = ccm_sim_params_parse(&req->query, req->raw_query, strlen(req->raw_query));

    if (r == 0 && ccm_text_starts(type, "application/x-www-form-urlencoded")) {
        r = ccm_sim_params_parse(&req->form, req->body, req->body_len);
    }
    r = r < 0 ? r : borrow_all(&req->all, &req->query);
    r = r < 0 ? r : borrow_all(&req->all, &req->form);
    ccm_sim_params_sort(&req->query);
    ccm_sim_params_sort(&req->form);
    ccm_sim_params_sort(&req->all);
    return r;
}

static void request_begin(struct ccm_sim_exchange *ex, const char *method)
{
    const union MHD_ConnectionInfo *tls =
        MHD_get_connection_info(ex->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(ex->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char *mark = strchr(ex->uri, '?');

    ex->fd = info == NULL ? -1 : info->connect_fd;
    ex->req.method = method;
    ex->req.body = ccm_buf_str(&ex->body);
    ex->req.body_len = ex->body.len;
    ex->req.tls_session = tls == NULL ? NULL : tls->tls_session;
    ex->req.raw_query = mark == NULL ? "" : mark + 1;
    ex->req.raw_path = ex->uri;
    if (mark != NULL) {
        *mark = '\0';
    }
}

static void control(struct ccm_sim_exchange *ex)
{
    struct ccm_sim_server *server = ex->server;
    const struct ccm_sim_ops *ops = server->config.ops;

    if (ccm_text_equal(ex->req.path, "/_sim/idle")) {
        ccm_sim_calls_idle(server->calls, &ex->reply);
    } else if (ccm_text_equal(ex->req.path, "/_sim/calls")) {
        ccm_sim_calls_control(server->calls, &ex->req, &ex->reply);
    } else if (ccm_text_equal(ex->req.path, "/_sim/faults")) {
        ccm_sim_faults_control(server->faults, &ex->req, &ex->reply);
        ccm_sim_server_wake(server);
    } else if (ops->control == NULL ||
               ops->control(server->config.self, &ex->req, &ex->reply) < 0) {
        ccm_sim_reply_error(&ex->reply, 404, "no control endpoint %s", ex->req.path);
    }
}

static void call_begin(struct ccm_sim_exchange *ex)
{
    struct ccm_sim_server *server = ex->server;
    const struct ccm_sim_ops *ops = server->config.ops;
    struct ccm_sim_call *call = &ex->call;

    ops->identify(server->config.self, &ex->req, call);
    ccm_sim_params_sort(&call->params);
    if (ops->begin != NULL) {
        ops->begin(server->config.self, &ex->req);
    }
    ex->seq = ccm_sim_calls_begin(server->calls, call->action, ex->req.method, ex->req.path,
                                  &call->params, call->background);
    /* Without memory for a fault the call simply runs. */
    ex->faulty = ccm_sim_faults_pick(server->faults, call->action, ex->req.path, &call->params,
                                     call->background, &ex->effect) > 0;
}

bool ccm_sim_exchange_prepare(struct ccm_sim_exchange *ex, const char *method)
{
    ex->prepared = true;
    request_begin(ex, method);
    if (ex->too_large || ccm_buf_error(&ex->body) < 0) {
        ccm_sim_reply_error(&ex->reply, 413, "the body is larger than %zu bytes",
                            ex->server->config.body_max);
        return false;
    }
    if (ccm_sim_unescape(ex->uri, strlen(ex->uri), false, &ex->path) < 0 || request_parse(ex) < 0) {
        ccm_sim_reply_error(&ex->reply, 400, "path, query or form are not well-formed");
        return false;
    }
    ex->req.path = ex->path;
    if (ccm_text_starts(ex->path, "/_sim/")) {
        control(ex);
        return false;
    }
    call_begin(ex);
    return true;
}

/* ---- the answer ---- */

bool ccm_sim_exchange_waits(const struct ccm_sim_exchange *ex)
{
    return ex->server->config.latency_ms > 0 || ex->effect.delay_ms > 0;
}

/* The answer that the rule wants instead of an execution; false when it wants
 * the execution. */
static bool effect_answers(struct ccm_sim_server *server, const struct ccm_sim_request *req,
                           const struct ccm_sim_effect *effect, struct ccm_sim_reply *reply)
{
    if (effect->body != NULL) {
        reply->status = effect->http == 0 ? 200 : effect->http;
        ccm_text_copy(reply->code, sizeof(reply->code), effect->code == NULL ? "" : effect->code);
        ccm_buf_adds(&reply->body, effect->body);
        return true;
    }
    if (ccm_sim_effect_is_error(effect)) {
        reply->status = effect->http == 0 ? 400 : effect->http;
        ccm_text_copy(reply->code, sizeof(reply->code), effect->code == NULL ? "" : effect->code);
        server->config.ops->fault(server->config.self, req, effect, reply);
        return true;
    }
    return false;
}

/* Wait as the rule says, but not for a client that is gone, and drop the
 * connection. */
static void cut(struct ccm_sim_exchange *ex, const char *when)
{
    if (ex->effect.delay_ms > 0) {
        wait_ms(ex->server, ex->effect.delay_ms, ex->effect.rule, ex->fd);
    }
    ccm_sim_calls_end(ex->server->calls, ex->seq, 0, ex->reply.code, when);
    /* Of a stream the head goes out, then the connection is dropped. */
    ex->cut = ex->reply.stream.next == NULL;
    ex->limit = 0;
}

static void serve(struct ccm_sim_exchange *ex)
{
    struct ccm_sim_server *server = ex->server;
    const struct ccm_sim_effect *effect = &ex->effect;
    struct ccm_sim_reply *reply = &ex->reply;

    ccm_sim_server_wait(server, server->config.latency_ms);
    if (effect->cut == CCM_SIM_CUT_BEFORE) {
        cut(ex, "before");
        return;
    }
    if (effect->cut == CCM_SIM_CUT_NONE && effect->delay_ms > 0) {
        wait_ms(server, effect->delay_ms, effect->rule, -1);
    }
    if (!ex->faulty || !effect_answers(server, &ex->req, effect, reply)) {
        server->config.ops->handle(server->config.self, &ex->req, reply);
    }
    if (effect->cut == CCM_SIM_CUT_AFTER || reply->drop) {
        cut(ex, "after");
        return;
    }
    for (size_t i = 0; i < effect->headers.len; i++) {
        if (ccm_sim_params_add(&reply->headers, effect->headers.items[i].name,
                               effect->headers.items[i].value) < 0) {
            ccm_sim_reply_error(reply, 500, "out of memory");
        }
    }
    ccm_sim_calls_end(server->calls, ex->seq, reply->status, reply->code, NULL);
    ex->limit = effect->truncate;
}

/* The service is done with it; last, since it may let others in. */
static void call_end(struct ccm_sim_exchange *ex)
{
    const struct ccm_sim_config *config = &ex->server->config;

    if (config->ops->end != NULL) {
        config->ops->end(config->self, &ex->req);
    }
}

void ccm_sim_exchange_run(struct ccm_sim_exchange *ex)
{
    serve(ex);
    call_end(ex);
}

void ccm_sim_exchange_refuse(struct ccm_sim_exchange *ex, const char *why)
{
    ccm_sim_reply_error(&ex->reply, 500, "%s", why);
    ccm_sim_calls_end(ex->server->calls, ex->seq, ex->reply.status, why, NULL);
    call_end(ex);
}

enum MHD_Result ccm_sim_exchange_send(struct ccm_sim_exchange *ex)
{
    struct ccm_sim_reply *reply = &ex->reply;

    if (ex->cut) {
        return MHD_NO;
    }
    if (ccm_buf_error(&reply->body) < 0 && reply->stream.next == NULL) {
        ccm_sim_reply_error(reply, 500, "out of memory");
    }

    struct MHD_Response *response =
        ccm_sim_stream_response(reply, ex->fd, ex->limit, &ex->server->stopping);

    if (response == NULL) {
        return MHD_NO;
    }
    /* A header that cannot be added only makes the answer poorer: there is nobody
     * to tell. */
    if (reply->content_type != NULL) {
        (void)MHD_add_response_header(response, "Content-Type", reply->content_type);
    }
    for (size_t i = 0; i < reply->headers.len; i++) {
        (void)MHD_add_response_header(response, reply->headers.items[i].name,
                                      reply->headers.items[i].value);
    }

    enum MHD_Result r = MHD_queue_response(ex->connection, reply->status, response);

    MHD_destroy_response(response);
    exchange_fini(ex);
    return r;
}
