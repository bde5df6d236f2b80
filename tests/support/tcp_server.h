/*
 * A server on a free loopback port that does to its clients whatever a test wants: answer, stay
 * silent, send rubbish, reset. One thread per connection runs the test's handler; bytes go out as
 * the handler writes them. Every request that was read completely is kept for inspection.
 *
 * Handlers run in threads of the server: no cmocka assertion in them. Everything else is for the
 * test's thread.
 */
#ifndef CCM_TEST_TCP_SERVER_H
#define CCM_TEST_TCP_SERVER_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>

struct ccm_test_server;
struct ccm_test_conn;

/* One request, NUL-terminated texts. */
struct ccm_test_request {
    char *method;
    char *target; /* path and query */
    char *head;   /* request line and headers as they came */
    char *body;
};

void ccm_test_request_fini(struct ccm_test_request *request);

/* Handles one connection; it is closed when the handler returns. */
typedef void (*ccm_test_handler_fn)(struct ccm_test_conn *conn, void *arg);

/* NULL when there is no socket to be had. */
struct ccm_test_server *ccm_test_server_new(ccm_test_handler_fn handler, void *arg);

/* Cuts all connections, waits for the handlers. NULL is fine. */
void ccm_test_server_free(struct ccm_test_server *server);

/* "http://127.0.0.1:PORT" */
const char *ccm_test_server_url(const struct ccm_test_server *server);

size_t ccm_test_server_connections(struct ccm_test_server *server);
size_t ccm_test_server_requests(struct ccm_test_server *server);

/* Wait until that many requests were read. False after 10 s. */
bool ccm_test_server_wait(struct ccm_test_server *server, size_t requests);

/* The same for connections that this side has closed. */
bool ccm_test_server_wait_closed(struct ccm_test_server *server, size_t connections);

/* A copy of request number `index` (0 = first); the caller ends it. False when there is none. */
bool ccm_test_server_request(struct ccm_test_server *server, size_t index,
                             struct ccm_test_request *ret);

/* For handlers. */

/* The socket, for handlers that speak something else than the functions below. */
int ccm_test_conn_fd(const struct ccm_test_conn *conn);

/* Number of this connection, 0 = first of the server. */
size_t ccm_test_conn_index(const struct ccm_test_conn *conn);

/* Next request, with a body by Content-Length; valid until the next call. NULL when the peer is
 * gone. */
const struct ccm_test_request *ccm_test_conn_read(struct ccm_test_conn *conn);

/* Send bytes, or text. False when the peer is gone. */
bool ccm_test_conn_send(struct ccm_test_conn *conn, const void *data, size_t len);
bool ccm_test_conn_sendf(struct ccm_test_conn *conn, const char *format, ...) CCM_PRINTF(2, 3);

/* A whole answer with Content-Length; headers are "" or lines that end with \r\n. */
bool ccm_test_conn_reply(struct ccm_test_conn *conn, unsigned status, const char *headers,
                         const char *body);

/* One chunk of a body with Transfer-Encoding: chunked. */
bool ccm_test_conn_chunk(struct ccm_test_conn *conn, const char *text);

/* Say nothing until the peer closes or the server is freed. */
void ccm_test_conn_hang(struct ccm_test_conn *conn);

/* Say nothing for so long. False when the peer is gone or the server is being freed. */
bool ccm_test_conn_pause(struct ccm_test_conn *conn, int ms);

/* Let the close at the end of the handler be a reset. */
void ccm_test_conn_reset(struct ccm_test_conn *conn);

/* A handler for plain cases: the n-th request of the server gets the n-th answer, later ones get
 * the last. `arg` is a struct ccm_test_script. */
struct ccm_test_answer {
    unsigned status;     /* 0 = close the connection without an answer */
    const char *headers; /* as ccm_test_conn_reply; NULL = none */
    const char *body;
};

struct ccm_test_script {
    const struct ccm_test_answer *answers;
    size_t count;
};

void ccm_test_play(struct ccm_test_conn *conn, void *script);

#endif
