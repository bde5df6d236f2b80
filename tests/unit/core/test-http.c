/* The HTTP engine against a server that misbehaves in every way a network can. */
#include "net/http.h"
#include "support/tcp_server.h"
#include "util/clock.h"
#include "util/text.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SHORT_MS 150
#define LONG_MS  10000

struct fixture {
    struct net_http *http;
    struct ccm_test_server *server;
    struct ccm_http_response *response;
    uint64_t phase;
    struct ccm_error err;
};

static void fixture_open(struct fixture *f, ccm_test_handler_fn handler, void *arg)
{
    *f = (struct fixture){ .err = CCM_ERROR_INIT };
    f->server = ccm_test_server_new(handler, arg);
    assert_non_null(f->server);
    f->http = net_http_new(&f->err);
    assert_non_null(f->http);
}

static void fixture_close(struct fixture *f)
{
    net_http_response_free(f->response);
    net_http_free(f->http);
    ccm_test_server_free(f->server);
}

/* One exchange with path; the result is in f. */
static int exchange_do(struct fixture *f, struct net_exchange exchange, const char *path)
{
    char *url = ccm_text_format("%s%s", ccm_test_server_url(f->server), path);

    assert_non_null(url);
    exchange.url = url;
    exchange.method = exchange.method == NULL ? "GET" : exchange.method;
    if (exchange.deadline_ms == 0) {
        exchange.deadline_ms = ccm_clock_now_ms() + LONG_MS;
    }
    net_http_response_free(f->response);
    f->response = NULL;
    f->phase = 0;

    const int r = net_http_do(f->http, &exchange, &f->response, &f->phase, &f->err);

    assert_true((r == 0) == (f->response != NULL));
    free(url);
    return r;
}

static void assert_failed(const struct fixture *f, int r, int expected, uint64_t kind,
                          uint64_t phase)
{
    if (r != expected) {
        print_error("%s\n", f->err.message);
    }
    assert_int_equal(r, expected);
    assert_int_equal(f->err.kind, kind);
    assert_int_equal(f->phase, phase);
    assert_string_not_equal(f->err.message, "");
}

/* --- good answers --- */

static void answer_all(struct ccm_test_conn *conn, void *arg)
{
    const char *headers = arg;

    while (ccm_test_conn_read(conn) != NULL &&
           ccm_test_conn_reply(conn, 200, headers == NULL ? "" : headers, "hello")) {
    }
}

static void test_get(void **state CCM_UNUSED)
{
    static char odd_headers[] = "X-Mixed-Case:  two words \r\nEmpty:\r\n";
    struct fixture f;
    struct ccm_test_request request = { 0 };
    struct ccm_secret token = { 0 };
    const char *headers[] = { "X-One: 1", "Accept: application/json", NULL };

    fixture_open(&f, answer_all, odd_headers);
    assert_int_equal(ccm_secret_set(&token, "s3cret"), 0);
    assert_int_equal(exchange_do(&f, (struct net_exchange){ .headers = headers, .bearer = &token },
                                 "/a/../b?q=1"),
                     0);
    assert_int_equal(f.response->status, 200);
    assert_string_equal(f.response->body, "hello");
    assert_int_equal(f.response->body_len, 5);
    assert_string_equal(net_http_header(f.response, "x-mixed-case"), "two words");
    assert_string_equal(net_http_header(f.response, "empty"), "");
    assert_null(net_http_header(f.response, "x-mixed"));

    assert_true(ccm_test_server_request(f.server, 0, &request));
    assert_string_equal(request.method, "GET");
    assert_string_equal(request.target, "/a/../b?q=1");
    assert_non_null(strstr(request.head, "\r\nX-One: 1\r\n"));
    assert_non_null(strstr(request.head, "\r\nAuthorization: Bearer s3cret\r\n"));
    assert_non_null(strstr(request.head, "\r\nUser-Agent: ccmd/"));
    assert_null(strstr(request.head, "Content-Type"));
    ccm_test_request_fini(&request);
    ccm_secret_fini(&token);
    fixture_close(&f);
}

static void test_methods(void **state CCM_UNUSED)
{
    static const struct {
        const char *method;
        const char *body;
    } cases[] = { { "POST", "{\"a\":1}" }, { "POST", NULL },   { "PUT", "x" }, { "PATCH", "{}" },
                  { "DELETE", NULL },      { "DELETE", "{}" }, { "GET", NULL } };
    struct fixture f;

    fixture_open(&f, answer_all, NULL);
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_test_request request = { 0 };
        const struct net_exchange exchange = {
            .method = cases[i].method,
            .body = cases[i].body,
            .body_len = cases[i].body == NULL ? 0 : strlen(cases[i].body),
        };

        assert_int_equal(exchange_do(&f, exchange, "/"), 0);
        assert_string_equal(f.response->body, "hello");
        assert_true(ccm_test_server_request(f.server, i, &request));
        assert_string_equal(request.method, cases[i].method);
        assert_string_equal(request.body, cases[i].body == NULL ? "" : cases[i].body);
        assert_null(strstr(request.head, "Expect"));
        assert_null(strstr(request.head, "Content-Type"));
        ccm_test_request_fini(&request);
    }
    /* All of them went over one connection. */
    assert_int_equal(ccm_test_server_connections(f.server), 1);
    fixture_close(&f);
}

static void answer_large_reads(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    const struct ccm_test_request *request;

    while ((request = ccm_test_conn_read(conn)) != NULL &&
           ccm_test_conn_sendf(conn, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n%20zu",
                               strlen(request->body))) {
    }
}

/* More than curl sends without asking first. */
static void test_large_post(void **state CCM_UNUSED)
{
    struct fixture f;
    const size_t len = (size_t)3 * 1024 * 1024;
    char *body = malloc(len + 1);

    assert_non_null(body);
    memset(body, 'x', len);
    body[len] = '\0';
    fixture_open(&f, answer_large_reads, NULL);
    assert_int_equal(
        exchange_do(&f, (struct net_exchange){ .method = "POST", .body = body, .body_len = len },
                    "/"),
        0);
    assert_string_equal(f.response->body + 20 - 7, "3145728");
    free(body);
    fixture_close(&f);
}

static void answer_statuses(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    static const unsigned statuses[] = { 302, 404, 500, 204 };

    for (size_t i = 0; i < CCM_ARRAY_LEN(statuses) && ccm_test_conn_read(conn) != NULL; i++) {
        if (statuses[i] == 204) {
            (void)ccm_test_conn_sendf(conn, "HTTP/1.1 100 Continue\r\nInterim: 1\r\n\r\n"
                                            "HTTP/1.1 204 No Content\r\nFinal: 1\r\n\r\n");
        } else {
            (void)ccm_test_conn_reply(conn, statuses[i], "Location: http://127.0.0.1:1/\r\n", "b");
        }
    }
}

static void test_statuses_are_answers(void **state CCM_UNUSED)
{
    static const unsigned statuses[] = { 302, 404, 500, 204 };
    struct fixture f;

    fixture_open(&f, answer_statuses, NULL);
    for (size_t i = 0; i < CCM_ARRAY_LEN(statuses); i++) {
        assert_int_equal(exchange_do(&f, (struct net_exchange){ 0 }, "/"), 0);
        assert_int_equal(f.response->status, statuses[i]);
    }
    assert_null(net_http_header(f.response, "interim"));
    assert_string_equal(net_http_header(f.response, "final"), "1");
    assert_string_equal(f.response->body, "");
    fixture_close(&f);
}

static void answer_gzip(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    static const unsigned char packed[] = { 0x1f, 0x8b, 8,    0,    0,    0,    0, 0, 2,
                                            3,    0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86,
                                            0xa6, 0x10, 0x36, 5,    0,    0,    0 };

    while (ccm_test_conn_read(conn) != NULL &&
           ccm_test_conn_sendf(conn,
                               "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                               "Content-Length: %zu\r\n\r\n",
                               sizeof(packed)) &&
           ccm_test_conn_send(conn, packed, sizeof(packed))) {
    }
}

static void test_gzip(void **state CCM_UNUSED)
{
    struct fixture f;

    fixture_open(&f, answer_gzip, NULL);
    assert_int_equal(exchange_do(&f, (struct net_exchange){ .gzip = true }, "/"), 0);
    assert_string_equal(f.response->body, "hello");
    /* What it unpacks to counts, not what came. */
    assert_failed(&f, exchange_do(&f, (struct net_exchange){ .gzip = true, .max_body = 4 }, "/"),
                  -EMSGSIZE, CCM_ERROR_TRANSIENT, CCM_HTTP_MAYBE_RUN);
    fixture_close(&f);
}

/* --- requests that cannot be sent --- */

static void test_refused_input(void **state CCM_UNUSED)
{
    static const char *const injected[] = { "X-A: 1\r\nX-B: 2", NULL };
    static const char *const no_colon[] = { "X-A", NULL };
    struct ccm_secret bad_token = { 0 };
    const struct net_exchange cases[] = {
        { .method = "get", .url = "http://127.0.0.1/" },
        { .method = "GET /x HTTP/1.1\r\n", .url = "http://127.0.0.1/" },
        { .method = "GET", .url = "http://127.0.0.1/a b" },
        { .method = "GET", .url = "ftp://127.0.0.1/" },
        { .method = "GET", .url = "file:///etc/passwd" },
        { .method = "GET", .url = "http://user:pw@127.0.0.1/" },
        { .method = "GET", .url = "/relative" },
        { .method = "GET", .url = "http://127.0.0.1/", .headers = injected },
        { .method = "GET", .url = "http://127.0.0.1/", .headers = no_colon },
        { .method = "GET", .url = "http://127.0.0.1/", .bearer = &bad_token },
    };
    struct fixture f;

    assert_int_equal(ccm_secret_set(&bad_token, "a\r\nb"), 0);
    fixture_open(&f, answer_all, NULL);
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        f.phase = 0;

        const int r = net_http_do(f.http, &cases[i], &f.response, &f.phase, &f.err);

        assert_int_equal(f.phase, CCM_HTTP_NOT_SENT);
        assert_true(r < 0);
        assert_null(strstr(f.err.message, "pw"));
    }
    assert_int_equal(ccm_test_server_requests(f.server), 0);
    ccm_secret_fini(&bad_token);
    fixture_close(&f);
}

static void test_connection_refused(void **state CCM_UNUSED)
{
    struct fixture f;
    char *url;

    fixture_open(&f, answer_all, NULL);
    url = ccm_text_format("%s/secret?token=abc", ccm_test_server_url(f.server));
    assert_non_null(url);
    ccm_test_server_free(f.server);
    f.server = NULL;

    const struct net_exchange exchange = {
        .method = "POST", .url = url, .body = "x", .body_len = 1
    };
    const int r = net_http_do(f.http, &exchange, &f.response, &f.phase, &f.err);

    assert_failed(&f, r, -ECONNREFUSED, CCM_ERROR_TRANSIENT, CCM_HTTP_NOT_SENT);
    assert_non_null(strstr(f.err.message, "connection refused"));
    assert_null(strstr(f.err.message, "secret"));
    assert_null(strstr(f.err.message, "abc"));
    free(url);
    fixture_close(&f);
}

static void test_unknown_host(void **state CCM_UNUSED)
{
    struct fixture f;
    const struct net_exchange exchange = { .method = "GET", .url = "http://no-such-host.invalid/" };

    fixture_open(&f, answer_all, NULL);

    const int r = net_http_do(f.http, &exchange, &f.response, &f.phase, &f.err);

    assert_failed(&f, r, -EHOSTUNREACH, CCM_ERROR_TRANSIENT, CCM_HTTP_NOT_SENT);
    fixture_close(&f);
}

/* The environment may name a proxy with a password: errors do not tell it. */
static void test_proxy_that_does_not_serve(void **state CCM_UNUSED)
{
    static const struct {
        const char *proxy;
        int result;
        const char *text;
    } cases[] = {
        { "http://user:hunter2@no-such-proxy.invalid:3128", -EHOSTUNREACH,
          "the proxy of the environment cannot be resolved" },
        { "http://user:hunter2@127.0.0.1:1", -ECONNREFUSED, "connection refused" },
    };
    const struct net_exchange exchange = { .method = "GET", .url = "http://api.invalid/" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct fixture f;

        assert_int_equal(setenv("http_proxy", cases[i].proxy, 1), 0);
        fixture_open(&f, answer_all, NULL);

        const int r = net_http_do(f.http, &exchange, &f.response, &f.phase, &f.err);

        assert_int_equal(unsetenv("http_proxy"), 0);
        assert_failed(&f, r, cases[i].result, CCM_ERROR_TRANSIENT, CCM_HTTP_NOT_SENT);
        assert_non_null(strstr(f.err.message, cases[i].text));
        assert_null(strstr(f.err.message, "hunter2"));
        fixture_close(&f);
    }
}

/* --- bad answers --- */

static void hang_after_request(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) != NULL) {
        ccm_test_conn_hang(conn);
    }
}

static void test_deadline(void **state CCM_UNUSED)
{
    struct fixture f;

    fixture_open(&f, hang_after_request, NULL);

    const int64_t start = ccm_clock_now_ms();
    const int r = exchange_do(
        &f, (struct net_exchange){ .method = "POST", .deadline_ms = start + SHORT_MS }, "/");

    assert_failed(&f, r, -ETIMEDOUT, CCM_ERROR_TRANSIENT, CCM_HTTP_MAYBE_RUN);
    assert_in_range(ccm_clock_now_ms() - start, SHORT_MS, LONG_MS);
    fixture_close(&f);
}

static void hang_at_once(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    ccm_test_conn_hang(conn);
}

/* The TLS handshake never ends: not a byte of the request has left. */
static void test_deadline_in_handshake(void **state CCM_UNUSED)
{
    struct fixture f;

    fixture_open(&f, hang_at_once, NULL);

    char *url = ccm_text_format("https%s/", ccm_test_server_url(f.server) + strlen("http"));
    const struct net_exchange exchange = {
        .method = "POST",
        .url = url,
        .deadline_ms = ccm_clock_now_ms() + SHORT_MS,
    };

    assert_non_null(url);
    assert_failed(&f, net_http_do(f.http, &exchange, &f.response, &f.phase, &f.err), -ETIMEDOUT,
                  CCM_ERROR_TRANSIENT, CCM_HTTP_NOT_SENT);
    free(url);
    fixture_close(&f);
}

static void drip_headers(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) != NULL &&
        ccm_test_conn_sendf(conn, "HTTP/1.1 200 OK\r\nX-Slow: y")) {
        ccm_test_conn_hang(conn);
    }
}

static void endless_headers(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) == NULL || !ccm_test_conn_sendf(conn, "HTTP/1.1 200 OK\r\n")) {
        return;
    }
    while (ccm_test_conn_sendf(conn, "X-Filler: %0900d\r\n", 1)) {
    }
}

static void truncated_body(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) != NULL) {
        (void)ccm_test_conn_sendf(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    }
}

static void truncated_chunks(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) != NULL) {
        (void)ccm_test_conn_sendf(
            conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\nhalf");
    }
}

static void garbage(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) != NULL) {
        (void)ccm_test_conn_sendf(conn, "\x16\x03\x01 this is not the protocol\r\n\r\n");
    }
}

static void no_answer(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    (void)ccm_test_conn_read(conn); /* the close is the answer */
}

static void reset_answer(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    (void)ccm_test_conn_read(conn); /* the reset is the answer */
    ccm_test_conn_reset(conn);
}

static void oversize_body(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) == NULL ||
        !ccm_test_conn_sendf(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")) {
        return;
    }
    while (ccm_test_conn_chunk(conn, "0123456789abcdef")) {
    }
}

static void bad_status_line(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) != NULL) {
        (void)ccm_test_conn_sendf(conn, "HTTP/1.1 0xc8 OK\r\nContent-Length: 0\r\n\r\n");
    }
}

static void test_bad_answers(void **state CCM_UNUSED)
{
    static const struct {
        const char *name;
        ccm_test_handler_fn handler;
        int result;
        const char *text;
    } cases[] = {
        { "headers stop", drip_headers, -ETIMEDOUT, "no answer in time" },
        { "endless headers", endless_headers, -EMSGSIZE, "headers" },
        { "truncated body", truncated_body, -ECONNRESET, "middle of the answer" },
        { "truncated chunks", truncated_chunks, -ECONNRESET, "middle of the answer" },
        { "garbage", garbage, -EPROTO, "not HTTP" },
        { "close instead of answer", no_answer, -ECONNRESET, "cut" },
        { "reset instead of answer", reset_answer, -ECONNRESET, "cut" },
        { "endless body", oversize_body, -EMSGSIZE, "larger than 1000 bytes" },
        { "bad status line", bad_status_line, -EPROTO, "not HTTP" },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct fixture f;
        const int64_t patience = cases[i].result == -ETIMEDOUT ? SHORT_MS : (int64_t)LONG_MS;

        print_message("%s\n", cases[i].name);
        fixture_open(&f, cases[i].handler, NULL);

        const struct net_exchange exchange = {
            .method = "POST",
            .body = "x",
            .body_len = 1,
            .max_body = 1000,
            .deadline_ms = ccm_clock_now_ms() + patience,
        };
        const int r = exchange_do(&f, exchange, "/?secret=1");

        assert_failed(&f, r, cases[i].result, CCM_ERROR_TRANSIENT, CCM_HTTP_MAYBE_RUN);
        assert_non_null(strstr(f.err.message, cases[i].text));
        assert_null(strstr(f.err.message, "secret"));
        assert_int_equal(ccm_test_server_requests(f.server), 1);
        fixture_close(&f);
    }
}

/* --- kept connections that die --- */

/* Answers the first request of each connection and drops the connection on the second. */
static void answer_one_then_drop(struct ccm_test_conn *conn, void *arg)
{
    if (ccm_test_conn_read(conn) == NULL || !ccm_test_conn_reply(conn, 200, "", "one")) {
        return;
    }
    (void)ccm_test_conn_read(conn); /* carried out, but never answered */
    if (arg != NULL) {
        ccm_test_conn_reset(conn);
    }
}

static void repeat_case(const char *method, bool repeatable, bool reset)
{
    struct fixture f;
    static char yes;

    fixture_open(&f, answer_one_then_drop, reset ? &yes : NULL);
    assert_int_equal(exchange_do(&f, (struct net_exchange){ .method = "GET" }, "/first"), 0);

    const struct net_exchange exchange = { .method = method, .repeatable = repeatable };
    const int r = exchange_do(&f, exchange, "/second");

    if (repeatable) {
        assert_int_equal(r, 0);
        assert_string_equal(f.response->body, "one");
        assert_int_equal(ccm_test_server_requests(f.server), 3);
    } else {
        assert_failed(&f, r, -ECONNRESET, CCM_ERROR_TRANSIENT, CCM_HTTP_MAYBE_RUN);
        /* A connection made in vain is closed once the engine ends: then all it sent is known. */
        net_http_free(f.http);
        f.http = NULL;
        assert_int_equal(ccm_test_server_requests(f.server), 2);
    }
    fixture_close(&f);
}

static void test_nothing_is_sent_twice(void **state CCM_UNUSED)
{
    static const char *const methods[] = { "POST", "GET", "PUT", "PATCH", "DELETE" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(methods); i++) {
        repeat_case(methods[i], false, false);
        repeat_case(methods[i], false, true);
    }
    repeat_case("GET", true, false);
    repeat_case("GET", true, true);
}

/* The server vanishes with the connection: the failure of the second attempt must not hide that
 * the first one went out. */
static void test_lost_with_server(void **state CCM_UNUSED)
{
    struct fixture f;

    fixture_open(&f, answer_one_then_drop, NULL);
    assert_int_equal(exchange_do(&f, (struct net_exchange){ 0 }, "/first"), 0);
    for (size_t i = 0; i < 2; i++) {
        const int r = exchange_do(&f, (struct net_exchange){ .method = "POST" }, "/second");

        if (i == 0) {
            assert_failed(&f, r, -ECONNRESET, CCM_ERROR_TRANSIENT, CCM_HTTP_MAYBE_RUN);
        } else {
            assert_int_equal(r, 0); /* a new connection, whose first request is answered */
        }
    }
    fixture_close(&f);
}

static void answer_one_then_close(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) != NULL) {
        (void)ccm_test_conn_reply(conn, 200, "", "one");
    }
}

/* A connection that was closed while nobody used it costs nothing: the request goes to a new one.
 */
static void test_stale_connection(void **state CCM_UNUSED)
{
    struct fixture f;

    fixture_open(&f, answer_one_then_close, NULL);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(exchange_do(&f, (struct net_exchange){ .method = "POST" }, "/"), 0);
        assert_true(ccm_test_server_wait_closed(f.server, i + 1));
    }
    assert_int_equal(ccm_test_server_requests(f.server), 5);
    fixture_close(&f);
}

/* --- streams --- */

struct sink {
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    char data[256];
    size_t len;
    uint32_t status;
    int answer; /* of the next chunk */
    int head_answer;
};

static void sink_init(struct sink *sink)
{
    memset(sink, 0, sizeof(*sink));
    assert_int_equal(pthread_mutex_init(&sink->lock, NULL), 0);
    assert_int_equal(ccm_clock_cond_init(&sink->changed), 0);
}

static void sink_fini(struct sink *sink)
{
    assert_int_equal(pthread_cond_destroy(&sink->changed), 0);
    assert_int_equal(pthread_mutex_destroy(&sink->lock), 0);
}

static int take_chunk(void *arg, const char *data, size_t len)
{
    struct sink *sink = arg;

    (void)pthread_mutex_lock(&sink->lock);
    if (sink->len + len < sizeof(sink->data)) {
        memcpy(sink->data + sink->len, data, len);
        sink->len += len;
    }

    const int answer = sink->answer;

    (void)pthread_cond_signal(&sink->changed);
    (void)pthread_mutex_unlock(&sink->lock);
    return answer;
}

static int take_status(void *arg, uint32_t status)
{
    struct sink *sink = arg;

    (void)pthread_mutex_lock(&sink->lock);
    sink->status = status;

    const int answer = sink->head_answer;

    (void)pthread_mutex_unlock(&sink->lock);
    return answer;
}

static struct net_exchange stream_of(struct sink *sink)
{
    return (struct net_exchange){ .on_chunk = take_chunk, .on_head = take_status, .arg = sink };
}

static void stream_three(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    while (ccm_test_conn_read(conn) != NULL &&
           ccm_test_conn_sendf(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") &&
           ccm_test_conn_chunk(conn, "one,") && ccm_test_conn_chunk(conn, "two,") &&
           ccm_test_conn_chunk(conn, "three") &&
           ccm_test_conn_sendf(conn, "0\r\nTrail: 1\r\n\r\n")) {
    }
}

static void test_stream(void **state CCM_UNUSED)
{
    struct fixture f;
    struct sink sink;

    sink_init(&sink);
    fixture_open(&f, stream_three, NULL);
    assert_int_equal(exchange_do(&f, stream_of(&sink), "/"), 0);
    assert_int_equal(sink.status, 200);
    assert_string_equal(sink.data, "one,two,three");
    assert_string_equal(f.response->body, "");
    assert_null(net_http_header(f.response, "trail"));

    /* The receiver may end it, and its code comes back. */
    sink.answer = -EBADMSG;
    assert_failed(&f, exchange_do(&f, stream_of(&sink), "/"), -EBADMSG, CCM_ERROR_TRANSIENT,
                  CCM_HTTP_MAYBE_RUN);
    sink.answer = 0;
    sink.head_answer = -ENOSPC;
    assert_failed(&f, exchange_do(&f, stream_of(&sink), "/"), -ENOSPC, CCM_ERROR_TRANSIENT,
                  CCM_HTTP_MAYBE_RUN);
    fixture_close(&f);
    sink_fini(&sink);
}

static void refuse_stream(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    while (ccm_test_conn_read(conn) != NULL &&
           ccm_test_conn_reply(conn, 410, "", "too old, much too old")) {
    }
}

static void test_stream_refused(void **state CCM_UNUSED)
{
    struct fixture f;
    struct sink sink;
    struct net_exchange exchange;

    sink_init(&sink);
    fixture_open(&f, refuse_stream, NULL);
    assert_int_equal(exchange_do(&f, stream_of(&sink), "/"), 0);
    assert_int_equal(f.response->status, 410);
    assert_string_equal(f.response->body, "too old, much too old");
    assert_int_equal(sink.len, 0);

    exchange = stream_of(&sink);
    exchange.max_body = 7;
    assert_failed(&f, exchange_do(&f, exchange, "/"), -EMSGSIZE, CCM_ERROR_TRANSIENT,
                  CCM_HTTP_MAYBE_RUN);
    fixture_close(&f);
    sink_fini(&sink);
}

static void stream_then_silence(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) != NULL &&
        ccm_test_conn_sendf(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") &&
        ccm_test_conn_chunk(conn, "first")) {
        ccm_test_conn_hang(conn);
    }
}

static void test_stream_idle(void **state CCM_UNUSED)
{
    struct fixture f;
    struct sink sink;
    struct net_exchange exchange;

    sink_init(&sink);
    fixture_open(&f, stream_then_silence, NULL);
    exchange = stream_of(&sink);
    exchange.idle_ms = SHORT_MS;
    assert_failed(&f, exchange_do(&f, exchange, "/"), -ETIMEDOUT, CCM_ERROR_TRANSIENT,
                  CCM_HTTP_MAYBE_RUN);
    assert_non_null(strstr(f.err.message, "silent"));
    assert_string_equal(sink.data, "first");
    fixture_close(&f);
    sink_fini(&sink);
}

static void stream_slowly(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) == NULL ||
        !ccm_test_conn_sendf(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")) {
        return;
    }
    for (int i = 0; i < 20; i++) {
        if (!ccm_test_conn_chunk(conn, ".") || !ccm_test_conn_pause(conn, SHORT_MS / 5)) {
            return;
        }
    }
    (void)ccm_test_conn_sendf(conn, "0\r\n\r\n");
}

/* A stream that keeps talking outlives both its deadline and its idle limit. */
static void test_stream_outlives_deadline(void **state CCM_UNUSED)
{
    struct fixture f;
    struct sink sink;
    struct net_exchange exchange;

    sink_init(&sink);
    fixture_open(&f, stream_slowly, NULL);
    exchange = stream_of(&sink);
    exchange.deadline_ms = ccm_clock_now_ms() + (int64_t)2 * SHORT_MS;
    exchange.idle_ms = (int64_t)2 * SHORT_MS;
    assert_int_equal(exchange_do(&f, exchange, "/"), 0);
    assert_int_equal(sink.len, 20);
    fixture_close(&f);
    sink_fini(&sink);
}

static void test_stream_head_deadline(void **state CCM_UNUSED)
{
    struct fixture f;
    struct sink sink;
    struct net_exchange exchange;

    sink_init(&sink);
    fixture_open(&f, hang_after_request, NULL);
    exchange = stream_of(&sink);
    exchange.deadline_ms = ccm_clock_now_ms() + SHORT_MS;
    assert_failed(&f, exchange_do(&f, exchange, "/"), -ETIMEDOUT, CCM_ERROR_TRANSIENT,
                  CCM_HTTP_MAYBE_RUN);
    fixture_close(&f);
    sink_fini(&sink);
}

/* --- cancel and stop --- */

struct call {
    pthread_t thread;
    struct net_http *http;
    struct net_exchange exchange;
    struct ccm_error err;
    uint64_t phase;
    int result;
};

static void *call_run(void *arg)
{
    struct call *call = arg;

    call->result = net_http_do(call->http, &call->exchange, NULL, &call->phase, &call->err);
    return NULL;
}

static void calls_start(struct call *calls, size_t count, struct fixture *f,
                        const struct net_exchange *exchange)
{
    for (size_t i = 0; i < count; i++) {
        calls[i] = (struct call){ .http = f->http, .exchange = *exchange, .err = CCM_ERROR_INIT };
        calls[i].exchange.method = "POST";
        calls[i].exchange.url = ccm_test_server_url(f->server);
        assert_int_equal(pthread_create(&calls[i].thread, NULL, call_run, &calls[i]), 0);
    }
}

static void calls_join(struct call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pthread_join(calls[i].thread, NULL), 0);
    }
}

static void test_cancel(void **state CCM_UNUSED)
{
    struct fixture f;
    struct ccm_cancel mine = { 0 };
    struct ccm_cancel other = { 0 };
    struct call calls[4];
    struct call rest[2];

    fixture_open(&f, hang_after_request, NULL);
    calls_start(calls, 4, &f, &(struct net_exchange){ .cancel = &mine });
    calls_start(rest, 2, &f, &(struct net_exchange){ .cancel = &other });
    assert_true(ccm_test_server_wait(f.server, 6));
    ccm_http_cancel(f.http, &mine);
    calls_join(calls, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(calls[i].result, -ECANCELED);
        assert_int_equal(calls[i].err.kind, CCM_ERROR_CANCELLED);
        assert_int_equal(calls[i].phase, CCM_HTTP_MAYBE_RUN);
    }
    /* A flag that is set already: nothing is sent. */
    assert_failed(&f, exchange_do(&f, (struct net_exchange){ .cancel = &mine }, "/"), -ECANCELED,
                  CCM_ERROR_CANCELLED, CCM_HTTP_NOT_SENT);
    assert_int_equal(ccm_test_server_requests(f.server), 6);
    ccm_http_cancel(f.http, &other);
    calls_join(rest, 2);
    fixture_close(&f);
}

static void test_stop_in_flight(void **state CCM_UNUSED)
{
    struct fixture f;
    struct call calls[8];
    struct call streams[4];
    struct sink sink;
    const struct net_exchange stream = { .on_chunk = take_chunk, .arg = &sink };

    sink_init(&sink);
    fixture_open(&f, hang_after_request, NULL);
    calls_start(calls, 8, &f, &(struct net_exchange){ 0 });
    calls_start(streams, 4, &f, &stream);
    assert_true(ccm_test_server_wait(f.server, 12));
    net_http_stop(f.http);
    calls_join(calls, 8);
    calls_join(streams, 4);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(calls[i].result, -ECANCELED);
        assert_int_equal(calls[i].phase, CCM_HTTP_MAYBE_RUN);
    }
    assert_failed(&f, exchange_do(&f, (struct net_exchange){ 0 }, "/"), -ECANCELED,
                  CCM_ERROR_CANCELLED, CCM_HTTP_NOT_SENT);
    assert_int_equal(ccm_test_server_requests(f.server), 12);
    fixture_close(&f);
    sink_fini(&sink);
}

/* Many callers at once: each gets its own answer. */
static void echo_target(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    const struct ccm_test_request *request;

    while ((request = ccm_test_conn_read(conn)) != NULL &&
           ccm_test_conn_reply(conn, 200, "", request->target)) {
    }
}

struct caller {
    pthread_t thread;
    struct fixture *f;
    unsigned id;
    unsigned right;
};

static void *caller_run(void *arg)
{
    struct caller *caller = arg;

    for (unsigned i = 0; i < 100; i++) {
        struct ccm_error err = CCM_ERROR_INIT;
        struct ccm_http_response *response = NULL;
        char *url =
            ccm_text_format("%s/%u/%u", ccm_test_server_url(caller->f->server), caller->id, i);
        const struct net_exchange exchange = { .method = "GET", .url = url };

        if (url != NULL && net_http_do(caller->f->http, &exchange, &response, NULL, &err) == 0) {
            caller->right +=
                strcmp(response->body, strrchr(url, ':') + strcspn(strrchr(url, ':'), "/")) == 0;
        }
        net_http_response_free(response);
        free(url);
    }
    return NULL;
}

static void test_many_callers(void **state CCM_UNUSED)
{
    struct fixture f;
    struct caller callers[8];

    fixture_open(&f, echo_target, NULL);
    for (unsigned i = 0; i < 8; i++) {
        callers[i] = (struct caller){ .f = &f, .id = i };
        assert_int_equal(pthread_create(&callers[i].thread, NULL, caller_run, &callers[i]), 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
        assert_int_equal(callers[i].right, 100);
    }
    assert_in_range(ccm_test_server_connections(f.server), 1, 8);
    fixture_close(&f);
}

static int global_setup(void **state CCM_UNUSED)
{
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : -1;
}

static int global_teardown(void **state CCM_UNUSED)
{
    curl_global_cleanup();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_large_post),
        cmocka_unit_test(test_statuses_are_answers),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_refused_input),
        cmocka_unit_test(test_connection_refused),
        cmocka_unit_test(test_unknown_host),
        cmocka_unit_test(test_proxy_that_does_not_serve),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_deadline_in_handshake),
        cmocka_unit_test(test_bad_answers),
        cmocka_unit_test(test_nothing_is_sent_twice),
        cmocka_unit_test(test_lost_with_server),
        cmocka_unit_test(test_stale_connection),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_stream_refused),
        cmocka_unit_test(test_stream_idle),
        cmocka_unit_test(test_stream_outlives_deadline),
        cmocka_unit_test(test_stream_head_deadline),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_stop_in_flight),
        cmocka_unit_test(test_many_callers),
    };

    return cmocka_run_group_tests(tests, global_setup, global_teardown);
}
