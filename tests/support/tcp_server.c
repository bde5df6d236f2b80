#include "support/tcp_server.h"

#include "util/array.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_MS 10000

struct ccm_test_conn {
    struct ccm_test_conn *next;
    struct ccm_test_server *server;
    pthread_t thread;
    size_t index;
    int fd;
    bool closed; /* guarded by the server's lock: the descriptor may be another's by now */
    struct ccm_buf input;
    struct ccm_test_request request;
    size_t request_index;
};

struct ccm_test_server {
    pthread_mutex_t lock; /* guards all below but handler, arg, url, fd */
    pthread_cond_t changed;
    struct ccm_test_conn *conns;
    size_t conn_count;
    size_t closed_count;
    struct ccm_test_request *requests;
    size_t request_len;
    size_t request_cap;
    bool stopping;
    ccm_test_handler_fn handler;
    void *arg;
    char url[64];
    int fd;
    pthread_t acceptor;
};

void ccm_test_request_fini(struct ccm_test_request *request)
{
    free(request->method);
    free(request->target);
    free(request->head);
    free(request->body);
    *request = (struct ccm_test_request){ 0 };
}

static void lock(struct ccm_test_server *server)
{
    (void)pthread_mutex_lock(&server->lock); /* a default mutex */
}

static void unlock(struct ccm_test_server *server)
{
    (void)pthread_mutex_unlock(&server->lock); /* held by this thread */
}

static bool request_copy(const struct ccm_test_request *from, struct ccm_test_request *ret)
{
    *ret = (struct ccm_test_request){
        .method = strdup(from->method),
        .target = strdup(from->target),
        .head = strdup(from->head),
        .body = strdup(from->body),
    };
    return ret->method != NULL && ret->target != NULL && ret->head != NULL && ret->body != NULL;
}

static void record(struct ccm_test_conn *conn)
{
    struct ccm_test_server *server = conn->server;
    const struct ccm_test_request *request = &conn->request;

    lock(server);
    conn->request_index = server->request_len;
    if (ccm_array_grow(&server->requests, &server->request_cap, server->request_len + 1,
                       sizeof(*server->requests)) == 0 &&
        request_copy(request, &server->requests[server->request_len])) {
        server->request_len++;
    }
    (void)pthread_cond_broadcast(&server->changed); /* a valid condition */
    unlock(server);
}

static void *serve(void *arg)
{
    struct ccm_test_conn *conn = arg;
    struct ccm_test_server *server = conn->server;

    server->handler(conn, server->arg);
    lock(server);
    conn->closed = true;
    (void)close(conn->fd); /* whatever it says, it is closed */
    server->closed_count++;
    (void)pthread_cond_broadcast(&server->changed); /* a valid condition */
    unlock(server);
    return NULL;
}

static void accept_one(struct ccm_test_server *server, int fd)
{
    struct ccm_test_conn *conn = calloc(1, sizeof(*conn));
    const int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* speed only */
    lock(server);
    if (conn == NULL || server->stopping) {
        (void)close(fd); /* refused */
        free(conn);
        unlock(server);
        return;
    }
    conn->server = server;
    conn->fd = fd;
    conn->index = server->conn_count;
    if (pthread_create(&conn->thread, NULL, serve, conn) != 0) {
        (void)close(fd); /* refused */
        free(conn);
    } else {
        conn->next = server->conns;
        server->conns = conn;
        server->conn_count++;
    }
    unlock(server);
}

static void *accept_all(void *arg)
{
    struct ccm_test_server *server = arg;

    for (;;) {
        const int fd = accept(server->fd, NULL, NULL);

        if (fd >= 0) {
            accept_one(server, fd);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return NULL;
        }
    }
}

static bool listen_somewhere(struct ccm_test_server *server)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t len = sizeof(address);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (server->fd < 0 || bind(server->fd, (struct sockaddr *)&address, len) < 0 ||
        listen(server->fd, 64) < 0 ||
        getsockname(server->fd, (struct sockaddr *)&address, &len) < 0) {
        return false;
    }
    ccm_text_printf(server->url, sizeof(server->url), "http://127.0.0.1:%u",
                    (unsigned)ntohs(address.sin_port));
    return true;
}

struct ccm_test_server *ccm_test_server_new(ccm_test_handler_fn handler, void *arg)
{
    struct ccm_test_server *server = calloc(1, sizeof(*server));

    if (server == NULL) {
        return NULL;
    }
    server->handler = handler;
    server->arg = arg;
    if (pthread_mutex_init(&server->lock, NULL) != 0 ||
        ccm_clock_cond_init(&server->changed) != 0 || !listen_somewhere(server) ||
        pthread_create(&server->acceptor, NULL, accept_all, server) != 0) {
        ccm_closep(&server->fd);
        free(server);
        return NULL;
    }
    return server;
}

void ccm_test_server_free(struct ccm_test_server *server)
{
    if (server == NULL) {
        return;
    }
    lock(server);
    server->stopping = true;
    for (struct ccm_test_conn *conn = server->conns; conn != NULL; conn = conn->next) {
        if (!conn->closed) {
            (void)shutdown(conn->fd, SHUT_RDWR); /* fails when the peer was faster */
        }
    }
    unlock(server);
    (void)shutdown(server->fd, SHUT_RDWR);      /* ends accept() */
    (void)pthread_join(server->acceptor, NULL); /* joinable */
    while (server->conns != NULL) {
        struct ccm_test_conn *conn = server->conns;

        server->conns = conn->next;
        (void)pthread_join(conn->thread, NULL); /* joinable */
        ccm_buf_fini(&conn->input);
        ccm_test_request_fini(&conn->request);
        free(conn);
    }
    for (size_t i = 0; i < server->request_len; i++) {
        ccm_test_request_fini(&server->requests[i]);
    }
    free(server->requests);
    (void)close(server->fd);                      /* whatever it says, it is closed */
    (void)pthread_cond_destroy(&server->changed); /* nobody waits */
    (void)pthread_mutex_destroy(&server->lock);   /* nobody has it */
    free(server);
}

const char *ccm_test_server_url(const struct ccm_test_server *server)
{
    return server->url;
}

size_t ccm_test_server_connections(struct ccm_test_server *server)
{
    lock(server);

    const size_t count = server->conn_count;

    unlock(server);
    return count;
}

size_t ccm_test_server_requests(struct ccm_test_server *server)
{
    lock(server);

    const size_t count = server->request_len;

    unlock(server);
    return count;
}

static bool wait_for(struct ccm_test_server *server, const size_t *counter, size_t least)
{
    const int64_t deadline = ccm_clock_now_ms() + WAIT_MS;

    lock(server);
    while (*counter < least &&
           ccm_clock_cond_wait(&server->changed, &server->lock, deadline) == 0) {
    }

    const bool there = *counter >= least;

    unlock(server);
    return there;
}

bool ccm_test_server_wait(struct ccm_test_server *server, size_t requests)
{
    return wait_for(server, &server->request_len, requests);
}

bool ccm_test_server_wait_closed(struct ccm_test_server *server, size_t connections)
{
    return wait_for(server, &server->closed_count, connections);
}

bool ccm_test_server_request(struct ccm_test_server *server, size_t index,
                             struct ccm_test_request *ret)
{
    lock(server);

    const bool there = index < server->request_len && request_copy(&server->requests[index], ret);

    unlock(server);
    return there;
}

int ccm_test_conn_fd(const struct ccm_test_conn *conn)
{
    return conn->fd;
}

size_t ccm_test_conn_index(const struct ccm_test_conn *conn)
{
    return conn->index;
}

/* Returns false when the peer is gone. */
static bool read_more(struct ccm_test_conn *conn)
{
    char data[4096];
    ssize_t n;

    do {
        n = recv(conn->fd, data, sizeof(data), 0);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) {
        return false;
    }
    ccm_buf_add(&conn->input, data, (size_t)n);
    return ccm_buf_error(&conn->input) == 0;
}

static size_t content_length(const char *head)
{
    static const char name[] = "\r\ncontent-length:";

    for (const char *p = head; *p != '\0'; p++) {
        if (strncasecmp(p, name, sizeof(name) - 1) == 0) {
            char digits[16] = { 0 };
            uint32_t value = 0;
            const char *text = p + sizeof(name) - 1 + strspn(p + sizeof(name) - 1, " ");
            const size_t len = strspn(text, "0123456789");

            memcpy(digits, text, len < sizeof(digits) ? len : sizeof(digits) - 1);
            return ccm_parse_u32(digits, 0, UINT32_MAX, &value) == 0 ? value : 0;
        }
    }
    return 0;
}

/* Split "METHOD TARGET ..." off the head. */
static bool split_line(struct ccm_test_request *request)
{
    const size_t method = strcspn(request->head, " ");
    const char *target = request->head + method + (request->head[method] != '\0' ? 1 : 0);

    request->method = strndup(request->head, method);
    request->target = strndup(target, strcspn(target, " \r"));
    return request->method != NULL && request->target != NULL;
}

const struct ccm_test_request *ccm_test_conn_read(struct ccm_test_conn *conn)
{
    const char *end = NULL;

    ccm_test_request_fini(&conn->request);
    while ((end = strstr(ccm_buf_str(&conn->input), "\r\n\r\n")) == NULL) {
        if (!read_more(conn)) {
            return NULL;
        }
    }

    const size_t head = (size_t)(end - conn->input.data) + 4;

    conn->request.head = strndup(conn->input.data, head);
    if (conn->request.head == NULL || !split_line(&conn->request)) {
        return NULL;
    }

    const size_t body = content_length(conn->request.head);

    while (conn->input.len < head + body) {
        if (!read_more(conn)) {
            return NULL;
        }
    }
    conn->request.body = strndup(conn->input.data + head, body);
    if (conn->request.body == NULL) {
        return NULL;
    }
    ccm_buf_consume(&conn->input, head + body);
    record(conn);
    return &conn->request;
}

bool ccm_test_conn_send(struct ccm_test_conn *conn, const void *data, size_t len)
{
    const char *p = data;

    while (len > 0) {
        const ssize_t n = send(conn->fd, p, len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        p += n;
        len -= (size_t)n;
    }
    return true;
}

bool ccm_test_conn_sendf(struct ccm_test_conn *conn, const char *format, ...)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 0 };
    va_list args;

    va_start(args, format);
    ccm_buf_vaddf(&text, format, args);
    va_end(args);
    return ccm_buf_error(&text) == 0 && ccm_test_conn_send(conn, text.data, text.len);
}

bool ccm_test_conn_reply(struct ccm_test_conn *conn, unsigned status, const char *headers,
                         const char *body)
{
    return ccm_test_conn_sendf(conn, "HTTP/1.1 %u Test\r\nContent-Length: %zu\r\n%s\r\n%s", status,
                               strlen(body), headers, body);
}

bool ccm_test_conn_chunk(struct ccm_test_conn *conn, const char *text)
{
    return ccm_test_conn_sendf(conn, "%zx\r\n%s\r\n", strlen(text), text);
}

void ccm_test_conn_hang(struct ccm_test_conn *conn)
{
    while (read_more(conn)) {
        ccm_buf_reset(&conn->input);
    }
}

bool ccm_test_conn_pause(struct ccm_test_conn *conn, int ms)
{
    struct pollfd fd = { .fd = conn->fd, .events = POLLIN };

    return poll(&fd, 1, ms) == 0 || (fd.revents == POLLIN && read_more(conn));
}

void ccm_test_conn_reset(struct ccm_test_conn *conn)
{
    const struct linger linger = { .l_onoff = 1, .l_linger = 0 };

    (void)setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &linger,
                     sizeof(linger)); /* then it is a plain close */
}

void ccm_test_play(struct ccm_test_conn *conn, void *script)
{
    const struct ccm_test_script *play = script;

    while (ccm_test_conn_read(conn) != NULL) {
        const size_t last = play->count - 1;
        const struct ccm_test_answer *answer =
            &play->answers[conn->request_index < last ? conn->request_index : last];

        if (answer->status == 0 ||
            !ccm_test_conn_reply(conn, answer->status,
                                 answer->headers == NULL ? "" : answer->headers, answer->body)) {
            return;
        }
    }
}
