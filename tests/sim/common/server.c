#include "common/server.h"

#include "common/exchange.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"
#include "util/thread.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define BODY_MAX ((size_t)8 * 1024 * 1024)
/* Request line and headers of one connection. The library clears all of it for each request, which
 * costs more than the requests of those who answer at once. */
#define CONNECTION_BYTES ((size_t)256 * 1024)
#define AT_ONCE_BYTES    ((size_t)64 * 1024)
#define CONNECTIONS_MAX  8192U
#define STACK_BYTES      ((size_t)256 * 1024)

/* ---- callbacks of the HTTP library ---- */

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *connection)
{
    return ccm_sim_exchange_new(cls, connection, uri);
}

static void *run_waiting(void *arg)
{
    struct ccm_sim_exchange *ex = arg;
    struct ccm_sim_server *server = ex->server;

    ccm_sim_exchange_run(ex);
    MHD_resume_connection(ex->connection);   /* ends our right to look at the exchange */
    (void)pthread_mutex_lock(&server->lock); /* a default mutex that we do not hold cannot fail */

    const pthread_t before = server->last;
    const bool any = server->any_ended;

    server->last = pthread_self();
    server->any_ended = true;
    server->waiting--;
    (void)pthread_cond_broadcast(&server->wake); /* cannot fail */
    (void)pthread_mutex_unlock(&server->lock);   /* held by us; the server may be gone after it */
    if (any) {
        (void)pthread_join(before, NULL); /* as good as ended; nobody else joins it */
    }
    return NULL;
}

/* Count one more thread in, unless the server stops: then nothing waits any
 * more. */
static bool apart_begin(struct ccm_sim_server *server)
{
    ccm_lock(&server->lock);

    bool begun = !atomic_load(&server->stopping);

    server->waiting += begun;
    (void)pthread_mutex_unlock(&server->lock); /* held by us */
    return begun;
}

/* Run it on a thread of its own; its connection rests meanwhile. */
static void run_apart(struct ccm_sim_exchange *ex)
{
    struct ccm_sim_server *server = ex->server;
    pthread_t thread;

    MHD_suspend_connection(ex->connection);
    if (pthread_create(&thread, &server->apart, run_waiting, ex) != 0) {
        ccm_sim_exchange_refuse(ex, "there is no thread to wait on");
        MHD_resume_connection(ex->connection);
        ccm_lock(&server->lock);
        server->waiting--;
        (void)pthread_mutex_unlock(&server->lock); /* held by us */
    }
}

/* The whole request is here; again when its thread is done with it. */
static enum MHD_Result on_complete_request(struct ccm_sim_exchange *ex, const char *method)
{
    if (!ex->prepared && ccm_sim_exchange_prepare(ex, method)) {
        if (ex->server->config.at_once && ccm_sim_exchange_waits(ex) && apart_begin(ex->server)) {
            run_apart(ex);
            return MHD_YES;
        }
        ccm_sim_exchange_run(ex);
    }
    return ccm_sim_exchange_send(ex);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *data_len, void **con_cls)
{
    const struct ccm_sim_server *server = cls;
    struct ccm_sim_exchange *ex = *con_cls;

    (void)connection; /* known since the first line */
    (void)url;        /* decoded in a way that loses information; `ex->uri` has the
                         original */
    (void)version;    /* all versions are served alike */
    if (ex == NULL) {
        return MHD_NO;
    }
    if (!ex->started) {
        ex->started = true;
        return MHD_YES;
    }
    if (*data_len > 0) {
        if (ex->body.len + *data_len > server->config.body_max) {
            ex->too_large = true;
        } else {
            ccm_buf_add(&ex->body, data, *data_len);
        }
        *data_len = 0;
        return MHD_YES;
    }
    return on_complete_request(ex, method);
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                         enum MHD_RequestTerminationCode why)
{
    (void)cls;
    (void)connection;
    (void)why; /* however it ended, the memory goes */
    ccm_sim_exchange_free(*con_cls);
    *con_cls = NULL;
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
    unsigned flags = config->at_once ? MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME
                                     : MHD_USE_INTERNAL_POLLING_THREAD |
                                           MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL;
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
        NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        config->at_once ? AT_ONCE_BYTES : CONNECTION_BYTES, MHD_OPTION_CONNECTION_LIMIT,
        CONNECTIONS_MAX, MHD_OPTION_THREAD_STACK_SIZE, STACK_BYTES, MHD_OPTION_ARRAY, tls,
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

    CCM_CLEANUP(server_freep)
    struct ccm_sim_server *server = calloc(1, sizeof(*server));

    if (server == NULL) {
        return -ENOMEM;
    }
    server->config = *config;
    server->config.body_max = config->body_max == 0 ? BODY_MAX : config->body_max;
    (void)pthread_mutex_init(&server->lock, NULL); /* cannot fail with default attributes */
    (void)pthread_attr_init(&server->apart);       /* nor can these two */
    (void)pthread_attr_setstacksize(&server->apart, STACK_BYTES);
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

/* The HTTP library stops only when no connection rests. Exchanges that begin
 * now do not wait. */
static void await_apart(struct ccm_sim_server *server)
{
    ccm_lock(&server->lock);
    while (server->waiting > 0) {
        (void)pthread_cond_wait(&server->wake, &server->lock); /* cannot fail */
    }
    (void)pthread_mutex_unlock(&server->lock); /* held by us */
    if (server->any_ended) {
        (void)pthread_join(server->last, NULL); /* it joins the one before it, and so on */
    }
}

void ccm_sim_server_stop(struct ccm_sim_server *server)
{
    if (server == NULL) {
        return;
    }
    atomic_store(&server->stopping, true);
    ccm_sim_server_wake(server);
    if (server->daemon != NULL) {
        if (server->config.ops->stopping != NULL) {
            server->config.ops->stopping(server->config.self);
        }
        await_apart(server);
        MHD_stop_daemon(server->daemon);
    }
    ccm_sim_calls_free(server->calls);
    ccm_sim_faults_free(server->faults);
    (void)pthread_attr_destroy(&server->apart); /* a valid attribute object */
    (void)pthread_cond_destroy(&server->wake);  /* nobody waits any more */
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
