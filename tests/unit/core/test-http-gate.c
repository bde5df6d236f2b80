/* The gate of the HTTP engine: nothing that is to be sent by a leader only goes out when it is
 * closed, whenever that happens. */
#include "net/http.h"
#include "support/tcp_server.h"
#include "util/clock.h"

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
};

static void fixture_open(struct fixture *f, ccm_test_handler_fn handler)
{
    struct ccm_error err = CCM_ERROR_INIT;

    f->server = ccm_test_server_new(handler, NULL);
    assert_non_null(f->server);
    f->http = net_http_new(&err);
    assert_non_null(f->http);
}

static void fixture_close(struct fixture *f)
{
    net_http_free(f->http);
    ccm_test_server_free(f->server);
}

static void answer_all(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    while (ccm_test_conn_read(conn) != NULL && ccm_test_conn_reply(conn, 200, "", "hello")) {
    }
}

static void hang_after_request(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) != NULL) {
        ccm_test_conn_hang(conn);
    }
}

/* One exchange in a thread of its own. */
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

static void call_start(struct call *call, struct fixture *f, struct net_exchange exchange)
{
    *call = (struct call){ .http = f->http, .exchange = exchange, .err = CCM_ERROR_INIT };
    call->exchange.method = exchange.method == NULL ? "POST" : exchange.method;
    call->exchange.url = ccm_test_server_url(f->server);
    assert_int_equal(pthread_create(&call->thread, NULL, call_run, call), 0);
}

static int call_end(struct call *call)
{
    assert_int_equal(pthread_join(call->thread, NULL), 0);
    return call->result;
}

static int exchange_do(struct fixture *f, struct net_exchange exchange)
{
    struct call call;

    call_start(&call, f, exchange);
    return call_end(&call);
}

/* Open ones let everything pass, closed ones nothing. */
static void test_open_and_closed(void **state CCM_UNUSED)
{
    static const struct {
        int64_t until_ms; /* from now, or ALWAYS */
        int result;
    } cases[] = { { CCM_GATE_ALWAYS, 0 }, { LONG_MS, 0 }, { -1, -ECANCELED } };
    struct fixture f;
    struct ccm_gate gate = { 0 };
    struct call call;

    fixture_open(&f, answer_all);
    call_start(&call, &f, (struct net_exchange){ .gate = &gate });
    assert_int_equal(call_end(&call), -ECANCELED);
    assert_int_equal(call.err.kind, CCM_ERROR_CANCELLED);
    assert_int_equal(call.phase, CCM_HTTP_NOT_SENT);
    assert_non_null(strstr(call.err.message, "does not lead"));
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        ccm_gate_set(&gate, cases[i].until_ms == CCM_GATE_ALWAYS
                                ? CCM_GATE_ALWAYS
                                : ccm_clock_boot_ms() + cases[i].until_ms);
        assert_int_equal(exchange_do(&f, (struct net_exchange){ .gate = &gate }), cases[i].result);
    }
    assert_int_equal(ccm_test_server_requests(f.server), 2);
    fixture_close(&f);
}

/* A held gate refuses what is new and says why; what is on its way is waited for. */
static void test_held(void **state CCM_UNUSED)
{
    struct fixture f;
    struct ccm_gate gate = { 0 };
    struct call call;

    fixture_open(&f, answer_all);
    ccm_gate_set(&gate, CCM_GATE_ALWAYS);
    ccm_gate_set_held(&gate, true);
    call_start(&call, &f, (struct net_exchange){ .gate = &gate });
    assert_int_equal(call_end(&call), -ECANCELED);
    assert_int_equal(call.err.kind, CCM_ERROR_CANCELLED);
    assert_int_equal(call.phase, CCM_HTTP_NOT_SENT);
    assert_non_null(strstr(call.err.message, "changes wait: the API server was replaced"));
    ccm_gate_set_held(&gate, false);
    assert_int_equal(exchange_do(&f, (struct net_exchange){ .gate = &gate }), 0);
    assert_int_equal(ccm_test_server_requests(f.server), 1);
    fixture_close(&f);
}

/* The same when the last renewal is not new. */
static void test_renewed_long_ago(void **state CCM_UNUSED)
{
    struct fixture f;
    struct ccm_gate gate = { 0 };
    struct call call;

    fixture_open(&f, answer_all);
    ccm_gate_set(&gate, ccm_clock_boot_ms() + LONG_MS);
    ccm_gate_set_fresh(&gate, ccm_clock_boot_ms() - 1);
    assert_true(ccm_gate_leads(&gate));
    call_start(&call, &f, (struct net_exchange){ .gate = &gate });
    assert_int_equal(call_end(&call), -ECANCELED);
    assert_non_null(strstr(call.err.message, "the Lease was not renewed a moment ago"));
    ccm_gate_set_fresh(&gate, ccm_clock_boot_ms() + LONG_MS);
    assert_int_equal(exchange_do(&f, (struct net_exchange){ .gate = &gate }), 0);
    assert_int_equal(ccm_test_server_requests(f.server), 1);
    fixture_close(&f);
}

/* What is on its way is given up when the gate closes, unless it was moved on meanwhile. */
static void test_closes_under_way(void **state CCM_UNUSED)
{
    struct fixture f;
    struct ccm_gate gate = { 0 };
    struct ccm_gate other = { 0 };
    struct call call;
    struct call rest;

    fixture_open(&f, hang_after_request);
    ccm_gate_set(&gate, ccm_clock_boot_ms() + 2 * SHORT_MS);
    ccm_gate_set(&other, ccm_clock_boot_ms() + 2 * SHORT_MS);
    call_start(&call, &f, (struct net_exchange){ .gate = &gate });
    call_start(
        &rest, &f,
        (struct net_exchange){ .gate = &other, .deadline_ms = ccm_clock_now_ms() + 6 * SHORT_MS });
    ccm_gate_set(&other, ccm_clock_boot_ms() + LONG_MS);
    assert_int_equal(call_end(&call), -ECANCELED);
    assert_int_equal(call.err.kind, CCM_ERROR_CANCELLED);
    assert_true(ccm_clock_boot_ms() >= ccm_gate_until(&gate));
    assert_int_equal(call_end(&rest), -ETIMEDOUT); /* its own deadline */
    fixture_close(&f);
}

/* Holds the I/O thread up, as if the process had been stopped. */
struct holdup {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool held;
    bool released;
};

static int hold_up(void *arg, const char *data CCM_UNUSED, size_t len CCM_UNUSED)
{
    struct holdup *holdup = arg;
    const int64_t patience = ccm_clock_now_ms() + LONG_MS;

    (void)pthread_mutex_lock(&holdup->lock);
    holdup->held = true;
    (void)pthread_cond_broadcast(&holdup->changed);
    while (!holdup->released && ccm_clock_now_ms() < patience) {
        (void)ccm_clock_cond_wait(&holdup->changed, &holdup->lock, patience);
    }
    (void)pthread_mutex_unlock(&holdup->lock);
    return 0;
}

/* Until the gate has closed: by its own clock, as nothing else happens meanwhile. */
static void await_closed(struct holdup *holdup, const struct ccm_gate *gate)
{
    assert_int_equal(pthread_mutex_lock(&holdup->lock), 0);
    while (ccm_gate_is_open(gate)) {
        (void)ccm_clock_cond_wait(&holdup->changed, &holdup->lock, ccm_clock_now_ms() + 10);
    }
    holdup->released = true;
    assert_int_equal(pthread_cond_broadcast(&holdup->changed), 0);
    assert_int_equal(pthread_mutex_unlock(&holdup->lock), 0);
}

/* A request that was handed over while the gate was open, and would go out over a kept connection
 * after it has closed. */
static void test_asked_right_before_the_sending(void **state CCM_UNUSED)
{
    struct fixture f;
    struct ccm_gate gate = { 0 };
    struct holdup holdup = { .held = false };
    struct call stream;
    struct call call;

    fixture_open(&f, answer_all);
    assert_int_equal(pthread_mutex_init(&holdup.lock, NULL), 0);
    assert_int_equal(ccm_clock_cond_init(&holdup.changed), 0);
    assert_int_equal(exchange_do(&f, (struct net_exchange){ .gate = NULL }), 0);
    call_start(&stream, &f,
               (struct net_exchange){ .method = "GET", .on_chunk = hold_up, .arg = &holdup });
    assert_int_equal(pthread_mutex_lock(&holdup.lock), 0);
    while (!holdup.held) {
        (void)ccm_clock_cond_wait(&holdup.changed, &holdup.lock, ccm_clock_now_ms() + LONG_MS);
    }
    assert_int_equal(pthread_mutex_unlock(&holdup.lock), 0);
    ccm_gate_set(&gate, ccm_clock_boot_ms() + SHORT_MS);
    call_start(&call, &f, (struct net_exchange){ .gate = &gate });
    await_closed(&holdup, &gate);
    assert_int_equal(call_end(&call), -ECANCELED);
    assert_int_equal(call.phase, CCM_HTTP_NOT_SENT);
    (void)call_end(&stream); /* whatever the stream made of it */
    assert_int_equal(ccm_test_server_requests(f.server), 2);
    (void)pthread_cond_destroy(&holdup.changed);
    (void)pthread_mutex_destroy(&holdup.lock);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_and_closed),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_renewed_long_ago),
        cmocka_unit_test(test_closes_under_way),
        cmocka_unit_test(test_asked_right_before_the_sending),
    };

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return 1;
    }

    const int failed = cmocka_run_group_tests(tests, NULL, NULL);

    curl_global_cleanup();
    return failed;
}
