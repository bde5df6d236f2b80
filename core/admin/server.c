#include "admin/server.h"

#include "admin/answer.h"
#include "admin/certificate.h"
#include "admin/places.h"
#include "config/listen.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/secret.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FILE_MAX  ((size_t)256 * 1024)
#define TIMEOUT_S 10U
#define REVIEWERS 4U   /* threads */
#define ROTATE_MS 5000 /* how often certificate and key are looked at */
#define DRAIN_MS  2000 /* for what runs when they have changed */
#define SLICE_MS  50
#define JOIN_MS   60000

static const struct ccm_log admin_log = { .part = "admin" };

/* One listener with its certificate. */
struct server {
    struct admin_server *admin;
    struct MHD_Daemon *daemon;
    struct ccm_secret cert; /* empty = plain HTTP */
    struct ccm_secret key;
    struct ccm_secret client_ca; /* empty = clients are not asked for a certificate */
    struct admin_places places;
};

struct admin_server {
    struct admin_options options;
    struct server *server;        /* the thread's own while it runs */
    atomic_llong certificate_end; /* of that server, in ms since 1970; 0 = plain HTTP */
    struct ccm_thread thread;
    pthread_mutex_t lock; /* guards what follows; leaf */
    pthread_cond_t stop;
    bool stopping;
};

/* --- connections --- */

static struct admin_place *server_open_place(struct server *server,
                                             struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const int fd = info == NULL ? -1 : info->connect_fd; /* the next call may use the same memory */

    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return admin_places_open(&server->places, fd, info == NULL ? NULL : info->client_addr);
}

static void server_track_connection(void *cls, struct MHD_Connection *connection,
                                    void **socket_context, enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = server_open_place(cls, connection);
    } else {
        admin_place_close(*socket_context);
    }
}

/* --- listeners --- */

static void server_free(struct server *server)
{
    if (server == NULL) {
        return;
    }
    if (server->daemon != NULL) {
        MHD_stop_daemon(server->daemon);
    }
    ccm_secret_fini(&server->cert);
    ccm_secret_fini(&server->key);
    ccm_secret_fini(&server->client_ca);
    admin_places_fini(&server->places);
    free(server);
}

static int fd_of_listener(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_LISTEN_FD);

    return info == NULL ? -1 : info->listen_fd;
}

static void server_freep(struct server **server)
{
    server_free(*server);
}

static int read_pem(const char *path, struct ccm_secret *ret, struct ccm_error *err)
{
    size_t len = 0;
    const int r = ccm_text_read_file(path, FILE_MAX, &ret->hidden, &len);

    return r < 0 ? ccm_error_set(err, r, CCM_ERROR_TERMINAL, "admin: %s: %s", path, strerror(-r))
                 : 0;
}

/* libmicrohttpd takes a file without a certificate, and then trusts no client. */
static int read_client_ca(const char *path, struct ccm_secret *ret, struct ccm_error *err)
{
    const int r = read_pem(path, ret, err);

    return r == 0 && admin_certificate_end_ms(ret->hidden) == 0
               ? ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                               "admin: %s: no certificate (PEM) in it", path)
               : r;
}

static struct server *server_alloc(void)
{
    struct server *server = calloc(1, sizeof(*server));

    if (server != NULL && admin_places_init(&server->places) < 0) {
        free(server);
        return NULL;
    }
    return server;
}

/* A server that does not listen yet, with the certificate that the files hold now. */
static int server_new(struct admin_server *admin, struct server **ret, struct ccm_error *err)
{
    CCM_CLEANUP(server_freep) struct server *server = server_alloc();
    int r = 0;

    if (server == NULL) {
        return ccm_error_nomem(err);
    }
    server->admin = admin;
    if (admin->options.cert_file[0] != '\0') {
        r = read_pem(admin->options.cert_file, &server->cert, err);
        if (r == 0) {
            r = read_pem(admin->options.key_file, &server->key, err);
        }
        if (r == 0 && !ccm_text_empty(admin->options.client_ca_file)) {
            r = read_client_ca(admin->options.client_ca_file, &server->client_ca, err);
        }
    }
    if (r < 0) {
        return r;
    }
    *ret = CCM_STEAL(server);
    return 0;
}

/* Listen on the address, or on a socket that does already (then the address is NULL). */
static int listen_on(struct server *server, const struct config_listen *address, int socket_fd,
                     struct ccm_error *err)
{
    const bool tls = server->cert.hidden != NULL;
    const bool reviews = server->admin->options.review != NULL;
    const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO | MHD_USE_ITC |
                           (tls ? MHD_USE_TLS : 0U) |
                           (address != NULL && address->is_v6 ? MHD_USE_IPv6 : 0U);
    const struct sockaddr *where = address == NULL  ? NULL
                                   : address->is_v6 ? (const struct sockaddr *)&address->v6
                                                    : (const struct sockaddr *)&address->v4;
    const struct MHD_OptionItem options[] = {
        where != NULL ? (struct MHD_OptionItem){ MHD_OPTION_SOCK_ADDR, 0, (void *)(uintptr_t)where }
                      : (struct MHD_OptionItem){ MHD_OPTION_LISTEN_SOCKET, socket_fd, NULL },
        { tls ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, server->cert.hidden },
        { MHD_OPTION_HTTPS_MEM_KEY, 0, server->key.hidden },
        /* only with TLS, see webhook_command.c */
        { reviews ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, REVIEWERS, NULL },
        { server->client_ca.hidden != NULL ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
          server->client_ca.hidden },
        { MHD_OPTION_END, 0, NULL },
    };

    errno = 0;
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL,
        server->admin->options.metrics_only ? admin_handle_metrics : admin_handle,
        &server->admin->options, MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S,
        MHD_OPTION_CONNECTION_LIMIT, ADMIN_PLACES_ALL, MHD_OPTION_NOTIFY_CONNECTION,
        server_track_connection, server, MHD_OPTION_NOTIFY_COMPLETED, admin_end_request, NULL,
        MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    if (server->daemon == NULL) {
        const int code = errno;

        return ccm_error_set(err, code == 0 ? -EINVAL : -code, CCM_ERROR_TERMINAL,
                             "%s: cannot listen on %s: %s", server->admin->options.name,
                             server->admin->options.listen,
                             code != 0 ? strerror(code)
                             : tls     ? "certificate and key are not usable"
                                       : "no reason was given");
    }
    return 0;
}

/* --- rotation --- */

static bool server_has_same_files(const struct server *a, const struct server *b)
{
    return ccm_text_equal(a->cert.hidden, b->cert.hidden) &&
           ccm_text_equal(a->key.hidden, b->key.hidden) &&
           ccm_text_equal(a->client_ca.hidden, b->client_ca.hidden);
}

static bool pause_for(struct admin_server *admin, int64_t ms)
{
    const int64_t until = ccm_clock_now_ms() + ms;
    bool stopping;

    ccm_lock(&admin->lock);
    while (!admin->stopping && ccm_clock_cond_wait(&admin->stop, &admin->lock, until) == 0) {
    }
    stopping = admin->stopping;
    ccm_unlock(&admin->lock);
    return !stopping;
}

/* Running answers of a server that takes no more connections. */
static void server_drain(struct admin_server *admin, struct server *server)
{
    for (int i = 0; i < DRAIN_MS / SLICE_MS; i++) {
        const union MHD_DaemonInfo *info =
            MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

        if (info == NULL || info->num_connections == 0 || !pause_for(admin, SLICE_MS)) {
            return;
        }
    }
}

static void admin_note_certificate(struct admin_server *admin)
{
    const char *pem = admin->server->cert.hidden;

    atomic_store(&admin->certificate_end, pem == NULL ? 0 : admin_certificate_end_ms(pem));
}

int64_t admin_certificate_end(const struct admin_server *admin)
{
    return atomic_load(&admin->certificate_end);
}

/* Go on with what the files hold now, on the same socket: nobody is turned away meanwhile. */
static void admin_rotate_certificate(struct admin_server *admin)
{
    CCM_CLEANUP(server_freep) struct server *fresh = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = server_new(admin, &fresh, &err);

    if (r < 0) {
        ccm_log_warn(&admin_log, "%s: going on with the certificate in use", err.message);
        return;
    }
    if (server_has_same_files(admin->server, fresh)) {
        return;
    }

    const int socket_fd = dup(fd_of_listener(admin->server->daemon));

    if (socket_fd < 0 || listen_on(fresh, NULL, socket_fd, &err) < 0) {
        ccm_log_warn(&admin_log, "%s: going on with the certificate in use",
                     socket_fd < 0 ? strerror(errno) : err.message);
        if (socket_fd >= 0) {
            (void)close(socket_fd); /* nothing was written to it */
        }
        return;
    }

    const int old_fd = MHD_quiesce_daemon(admin->server->daemon);

    server_drain(admin, admin->server);
    server_free(admin->server);
    if (old_fd >= 0) {
        (void)close(old_fd); /* not before the last thread that may still use it has ended */
    }
    admin->server = CCM_STEAL(fresh);
    admin_note_certificate(admin);
    ccm_log_info(&admin_log, "another certificate is in use");
}

static void watch_files(void *arg)
{
    struct admin_server *admin = arg;

    while (pause_for(admin, ROTATE_MS)) {
        admin_rotate_certificate(admin);
    }
}

/* --- life --- */

static void admin_log_address(const struct admin_server *admin)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(admin->server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    const char *colon = strrchr(admin->options.listen, ':');
    const struct ccm_log log = { .part = admin->options.name };

    ccm_log_info(&log, "listening on %.*s:%u%s", (int)(colon - admin->options.listen),
                 admin->options.listen, info == NULL ? 0U : (unsigned)info->port,
                 admin->server->cert.hidden == NULL ? "" : " with TLS");
}

static void admin_freep(struct admin_server **admin)
{
    admin_free(*admin);
}

static struct admin_server *admin_alloc(const struct admin_options *options)
{
    struct admin_server *admin = calloc(1, sizeof(*admin));

    if (admin == NULL || pthread_mutex_init(&admin->lock, NULL) != 0) {
        free(admin);
        return NULL;
    }
    if (ccm_clock_cond_init(&admin->stop) < 0) {
        ccm_lock_fini(&admin->lock);
        free(admin);
        return NULL;
    }
    admin->options = *options;
    return admin;
}

int admin_new(const struct admin_options *options, struct admin_server **ret, struct ccm_error *err)
{
    CCM_CLEANUP(admin_freep) struct admin_server *admin = admin_alloc(options);
    struct config_listen address;

    if (admin == NULL) {
        return ccm_error_nomem(err);
    }
    if (config_listen_parse(options->listen, &address) < 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%s: listen: \"%s\" is no ADDRESS:PORT", options->name,
                             options->listen);
    }

    int r = server_new(admin, &admin->server, err);

    if (r == 0) {
        r = listen_on(admin->server, &address, -1, err);
    }
    if (r < 0) {
        return r;
    }
    admin_log_address(admin);
    admin_note_certificate(admin);
    if (admin->server->cert.hidden != NULL) {
        r = ccm_thread_start(&admin->thread, watch_files, admin);
        if (r < 0) {
            return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "%s: cannot start a thread",
                                 options->name);
        }
    }
    *ret = CCM_STEAL(admin);
    return 0;
}

void admin_free(struct admin_server *admin)
{
    if (admin == NULL) {
        return;
    }
    ccm_lock(&admin->lock);
    admin->stopping = true;
    ccm_wake_one(&admin->stop);
    ccm_unlock(&admin->lock);
    while (ccm_thread_join(&admin->thread, ccm_clock_now_ms() + JOIN_MS) < 0) {
        /* it waits for nothing but files */
    }
    server_free(admin->server);
    ccm_cond_fini(&admin->stop);
    ccm_lock_fini(&admin->lock);
    free(admin);
}
