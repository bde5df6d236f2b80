#include "common/server.h"

#include "common/calls.h"
#include "common/stream.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define BODY_MAX         ((size_t)8 * 1024 * 1024)
#define CONNECTION_BYTES ((size_t)256 * 1024) /* request line and headers of one connection */
#define CONNECTIONS_MAX  8192U

struct ccm_sim_server {
    struct ccm_sim_config config;
    struct MHD_Daemon *daemon;
    struct ccm_sim_calls *calls;
    struct ccm_sim_faults *faults;
    atomic_bool stopping;
    pthread_mutex_t lock; /* with `wake`: ends waits when `stopping` turns true */
    pthread_cond_t wake;
    uint16_t port;
};

/* One request while it arrives; lives from its first line until its connection is done with it. */
struct incoming {
    char *uri;
    bool started;
    bool too_large;
    struct ccm_buf body;
};

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

/* How long a wait goes on before the kit looks whether the client is still there. */
#define LOOK_MS 100

/* Wait for ms, for the end of the server or, with fd >= 0, until the client is gone. */
static void wait_ms(struct ccm_sim_server *server, uint32_t ms, int fd)
{
    int64_t end = ccm_clock_now_ms() + ms;

    (void)pthread_mutex_lock(&server->lock); /* a default mutex that we do not hold cannot fail */
    for (int64_t now = ccm_clock_now_ms(); !atomic_load(&server->stopping) && now < end;
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
        wait_ms(server, ms, -1);
    }
}

/* ---- one request ---- */

static void request_fini(struct ccm_sim_request *req)
{
    ccm_sim_params_fini(&req->query);
    ccm_sim_params_fini(&req->form);
    ccm_sim_params_fini(&req->all);
    ccm_sim_params_fini(&req->headers);
}

static void reply_fini(struct ccm_sim_reply *reply)
{
    ccm_sim_params_fini(&reply->headers);
    ccm_buf_fini(&reply->body);
    if (reply->stream.close != NULL) {
        reply->stream.close(reply->stream.self);
    }
}

static void call_fini(struct ccm_sim_call *call)
{
    ccm_sim_params_fini(&call->params);
}

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
    /* A header beyond the limit is as good as not sent; the service then misses it and says so. */
    return ccm_sim_params_add(headers, lower, value == NULL ? "" : value) < 0 ? MHD_NO : MHD_YES;
}

static int add_all(struct ccm_sim_params *to, const struct ccm_sim_params *from)
{
    int r = 0;

    for (size_t i = 0; i < from->len && r == 0; i++) {
        r = ccm_sim_params_add(to, from->items[i].name, from->items[i].value);
    }
    return r;
}

static int request_parse(struct ccm_sim_request *req, struct MHD_Connection *connection)
{
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, on_header, &req->headers);
    ccm_sim_params_sort(&req->headers);

    const char *type = ccm_sim_params_text(&req->headers, "content-type");
    int r = ccm_sim_params_parse(&req->query, req->raw_query, strlen(req->raw_query));

    if (r == 0 && ccm_text_starts(type, "application/x-www-form-urlencoded")) {
        r = ccm_sim_params_parse(&req->form, req->body, req->body_len);
    }
    r = r < 0 ? r : add_all(&req->all, &req->query);
    r = r < 0 ? r : add_all(&req->all, &req->form);
    ccm_sim_params_sort(&req->query);
    ccm_sim_params_sort(&req->form);
    ccm_sim_params_sort(&req->all);
    return r;
}

static int connection_fd(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info == NULL ? -1 : info->connect_fd;
}

static enum MHD_Result reply_send(struct ccm_sim_server *server, struct MHD_Connection *connection,
                                  struct ccm_sim_reply *reply, int64_t limit)
{
    if (ccm_buf_error(&reply->body) < 0 && reply->stream.next == NULL) {
        ccm_sim_reply_error(reply, 500, "out of memory");
    }

    struct MHD_Response *response =
        ccm_sim_stream_response(reply, connection_fd(connection), limit, &server->stopping);

    if (response == NULL) {
        return MHD_NO;
    }
    /* A header that cannot be added only makes the answer poorer: there is nobody to tell. */
    if (reply->content_type != NULL) {
        (void)MHD_add_response_header(response, "Content-Type", reply->content_type);
    }
    for (size_t i = 0; i < reply->headers.len; i++) {
        (void)MHD_add_response_header(response, reply->headers.items[i].name,
                                      reply->headers.items[i].value);
    }

    enum MHD_Result r = MHD_queue_response(connection, reply->status, response);

    MHD_destroy_response(response);
    return r;
}

static void control(struct ccm_sim_server *server, const struct ccm_sim_request *req,
                    struct ccm_sim_reply *reply)
{
    const struct ccm_sim_ops *ops = server->config.ops;

    if (ccm_text_equal(req->path, "/_sim/calls")) {
        ccm_sim_calls_control(server->calls, req, reply);
    } else if (ccm_text_equal(req->path, "/_sim/faults")) {
        ccm_sim_faults_control(server->faults, req, reply);
    } else if (ops->control == NULL || ops->control(server->config.self, req, reply) < 0) {
        ccm_sim_reply_error(reply, 404, "no control endpoint %s", req->path);
    }
}

/* The answer that the rule wants instead of an execution; false when it wants the execution. */
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

/* Wait as the rule says, but not for a client that is gone, and drop the connection. */
static enum MHD_Result cut(struct ccm_sim_server *server, struct MHD_Connection *connection,
                           uint64_t seq, const struct ccm_sim_effect *effect, const char *code,
                           const char *when)
{
    if (effect->delay_ms > 0) {
        wait_ms(server, effect->delay_ms, connection_fd(connection));
    }
    ccm_sim_calls_end(server->calls, seq, 0, code, when);
    return MHD_NO;
}

static enum MHD_Result call_serve(struct ccm_sim_server *server, struct MHD_Connection *connection,
                                  const struct ccm_sim_request *req,
                                  const struct ccm_sim_call *call, struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_sim_effect_fini) struct ccm_sim_effect effect = { .truncate = -1 };
    const struct ccm_sim_ops *ops = server->config.ops;
    uint64_t seq = ccm_sim_calls_begin(server->calls, call->action, req->method, req->path,
                                       &call->params, call->background);
    /* Without memory for a fault the call simply runs. */
    bool faulty = ccm_sim_faults_pick(server->faults, call->action, req->path, &call->params,
                                      call->background, &effect) > 0;

    ccm_sim_server_wait(server, server->config.latency_ms);
    if (effect.cut == CCM_SIM_CUT_BEFORE) {
        return cut(server, connection, seq, &effect, NULL, "before");
    }
    if (effect.cut == CCM_SIM_CUT_NONE) {
        ccm_sim_server_wait(server, effect.delay_ms);
    }
    if (!faulty || !effect_answers(server, req, &effect, reply)) {
        ops->handle(server->config.self, req, reply);
    }
    if (effect.cut == CCM_SIM_CUT_AFTER || reply->drop) {
        enum MHD_Result r = cut(server, connection, seq, &effect, reply->code, "after");

        /* Of a stream the head goes out, then the connection is dropped. */
        return reply->stream.next == NULL ? r : reply_send(server, connection, reply, 0);
    }
    if (add_all(&reply->headers, &effect.headers) < 0) {
        ccm_sim_reply_error(reply, 500, "out of memory");
    }
    ccm_sim_calls_end(server->calls, seq, reply->status, reply->code, NULL);
    return reply_send(server, connection, reply, effect.truncate);
}

static enum MHD_Result serve(struct ccm_sim_server *server, struct MHD_Connection *connection,
                             const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(call_fini) struct ccm_sim_call call = { 0 };
    const struct ccm_sim_ops *ops = server->config.ops;

    ops->identify(server->config.self, req, &call);
    ccm_sim_params_sort(&call.params);
    if (ops->begin != NULL) {
        ops->begin(server->config.self, req);
    }

    enum MHD_Result r = call_serve(server, connection, req, &call, reply);

    if (ops->end != NULL) {
        ops->end(server->config.self, req);
    }
    return r;
}

static enum MHD_Result request_run(struct ccm_sim_server *server, struct MHD_Connection *connection,
                                   const char *method, struct incoming *in)
{
    CCM_CLEANUP(ccm_freep) char *path = NULL;
    CCM_CLEANUP(request_fini)
    struct ccm_sim_request req = {
        .method = method,
        .body = ccm_buf_str(&in->body),
        .body_len = in->body.len,
    };
    CCM_CLEANUP(reply_fini)
    struct ccm_sim_reply reply = {
        .status = 200,
        .content_type = "application/json",
    };
    char *mark = strchr(in->uri, '?');

    req.raw_query = mark == NULL ? "" : mark + 1;
    req.raw_path = in->uri;
    if (mark != NULL) {
        *mark = '\0';
    }

    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

    req.tls_session = info == NULL ? NULL : info->tls_session;
    if (in->too_large || ccm_buf_error(&in->body) < 0) {
        ccm_sim_reply_error(&reply, 413, "the body is larger than %zu bytes",
                            server->config.body_max);
        return reply_send(server, connection, &reply, -1);
    }
    if (ccm_sim_unescape(in->uri, strlen(in->uri), false, &path) < 0 ||
        request_parse(&req, connection) < 0) {
        ccm_sim_reply_error(&reply, 400, "path, query or form are not well-formed");
        return reply_send(server, connection, &reply, -1);
    }
    req.path = path;
    if (ccm_text_starts(path, "/_sim/")) {
        control(server, &req, &reply);
        return reply_send(server, connection, &reply, -1);
    }
    return serve(server, connection, &req, &reply);
}

/* ---- callbacks of the HTTP library ---- */

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *connection)
{
    CCM_CLEANUP(ccm_freep) struct incoming *in = calloc(1, sizeof(*in));
    const struct ccm_sim_server *server = cls;

    (void)connection; /* the text is all we need */
    if (in == NULL) {
        return NULL;
    }
    in->body.max = server->config.body_max;
    in->uri = strdup(uri);
    return in->uri == NULL ? NULL : CCM_STEAL(in);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *data_len, void **con_cls)
{
    struct ccm_sim_server *server = cls;
    struct incoming *in = *con_cls;

    (void)url;     /* decoded in a way that loses information; `in->uri` has the original */
    (void)version; /* all versions are served alike */
    if (in == NULL) {
        return MHD_NO;
    }
    if (!in->started) {
        in->started = true;
        return MHD_YES;
    }
    if (*data_len > 0) {
        if (in->body.len + *data_len > server->config.body_max) {
            in->too_large = true;
        } else {
            ccm_buf_add(&in->body, data, *data_len);
        }
        *data_len = 0;
        return MHD_YES;
    }
    return request_run(server, connection, method, in);
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                         enum MHD_RequestTerminationCode why)
{
    struct incoming *in = *con_cls;

    (void)cls;
    (void)connection;
    (void)why; /* however it ended, the memory goes */
    if (in != NULL) {
        free(in->uri);
        ccm_buf_fini(&in->body);
        free(in);
        *con_cls = NULL;
    }
}

/* ---- life ---- */

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } u;
    bool is_v6;
};

static int address_parse(const char *text, struct address *ret)
{
    const char *colon = strrchr(text, ':');
    char host[64];
    uint32_t port = 0;

    if (colon == NULL || (size_t)(colon - text) >= sizeof(host) ||
        ccm_parse_u32(colon + 1, 0, 65535, &port) < 0) {
        return -EINVAL;
    }
    ccm_text_copy(host, (size_t)(colon - text) + 1, text);
    *ret = (struct address){ 0 };
    if (ccm_text_equal(host, "[::1]")) {
        ret->is_v6 = true;
        ret->u.v6.sin6_family = AF_INET6;
        ret->u.v6.sin6_addr = in6addr_loopback;
        ret->u.v6.sin6_port = htons((uint16_t)port);
        return 0;
    }
    ret->u.v4.sin_family = AF_INET;
    ret->u.v4.sin_port = htons((uint16_t)port);
    if (inet_pton(AF_INET, host, &ret->u.v4.sin_addr) != 1 ||
        ntohl(ret->u.v4.sin_addr.s_addr) >> 24 != 127) {
        return -EINVAL;
    }
    return 0;
}

static int daemon_start(struct ccm_sim_server *server, struct address *address)
{
    const struct ccm_sim_config *config = &server->config;
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL;
    struct MHD_OptionItem tls[4] = { { MHD_OPTION_END, 0, NULL } };
    size_t n = 0;

    if (address->is_v6) {
        flags |= MHD_USE_IPv6;
    }
    if (config->tls_cert != NULL) {
        union {
            const char *from;
            void *to;
        } cert = { .from = config->tls_cert }, key = { .from = config->tls_key },
          ca = { .from = config->tls_client_ca };

        flags |= MHD_USE_TLS;
        tls[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_CERT, 0, cert.to };
        tls[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_KEY, 0, key.to };
        if (config->tls_client_ca != NULL) {
            tls[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_TRUST, 0, ca.to };
        }
        tls[n] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
    }
    errno = 0;
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, server, MHD_OPTION_SOCK_ADDR, &address->u.any,
        MHD_OPTION_URI_LOG_CALLBACK, on_uri, server, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
        NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, MHD_OPTION_CONNECTION_LIMIT,
        CONNECTIONS_MAX, MHD_OPTION_THREAD_STACK_SIZE, (size_t)256 * 1024, MHD_OPTION_ARRAY, tls,
        MHD_OPTION_END);
    if (server->daemon == NULL) {
        return errno == 0 ? -EIO : -errno;
    }

    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);

    server->port = info == NULL ? 0 : info->port;
    return 0;
}

static void server_freep(struct ccm_sim_server **server)
{
    ccm_sim_server_stop(*server);
}

int ccm_sim_server_start(const struct ccm_sim_config *config, struct ccm_sim_server **ret)
{
    struct address address;
    int r = address_parse(config->listen, &address);

    if (r < 0) {
        return r;
    }

    CCM_CLEANUP(server_freep) struct ccm_sim_server *server = calloc(1, sizeof(*server));

    if (server == NULL) {
        return -ENOMEM;
    }
    server->config = *config;
    server->config.body_max = config->body_max == 0 ? BODY_MAX : config->body_max;
    (void)pthread_mutex_init(&server->lock, NULL); /* cannot fail with default attributes */
    r = ccm_clock_cond_init(&server->wake);
    if (r < 0) {
        return r;
    }
    server->calls = ccm_sim_calls_new(config->log_max == 0 ? CCM_SIM_LOG_MAX : config->log_max);
    server->faults = ccm_sim_faults_new();
    if (server->calls == NULL || server->faults == NULL) {
        return -ENOMEM;
    }
    r = daemon_start(server, &address);
    if (r < 0) {
        return r;
    }
    *ret = CCM_STEAL(server);
    return 0;
}

uint16_t ccm_sim_server_port(const struct ccm_sim_server *server)
{
    return server->port;
}

void ccm_sim_server_stop(struct ccm_sim_server *server)
{
    if (server == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&server->lock); /* as above */
    atomic_store(&server->stopping, true);
    (void)pthread_cond_broadcast(&server->wake); /* cannot fail */
    (void)pthread_mutex_unlock(&server->lock);   /* held by us */
    if (server->daemon != NULL) {
        if (server->config.ops->stopping != NULL) {
            server->config.ops->stopping(server->config.self);
        }
        MHD_stop_daemon(server->daemon);
    }
    ccm_sim_calls_free(server->calls);
    ccm_sim_faults_free(server->faults);
    (void)pthread_cond_destroy(&server->wake); /* nobody waits any more */
    (void)pthread_mutex_destroy(&server->lock);
    free(server);
}

int ccm_sim_server_run(const struct ccm_sim_config *config,
                       int (*ready)(void *self, struct ccm_sim_server *server))
{
    CCM_CLEANUP(server_freep) struct ccm_sim_server *server = NULL;
    sigset_t set;
    int sig = 0;

    /* None of these can fail with valid arguments. */
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);

    int r = ccm_sim_server_start(config, &server);

    if (r < 0) {
        (void)fprintf(stderr, "cannot listen on '%s': %s\n", config->listen,
                      r == -EINVAL ? "not a loopback address with a port" : strerror(-r));
        return 1;
    }
    if (ready != NULL && ready(config->self, server) < 0) {
        return 1;
    }

    const char *colon = strrchr(config->listen, ':');

    (void)printf("listening on %.*s:%u\n", (int)(colon - config->listen), config->listen,
                 (unsigned)server->port);
    (void)fflush(stdout); /* nobody reads it: then nobody waits for it */
    while (sigwait(&set, &sig) != 0) {
    }
    return 0;
}
