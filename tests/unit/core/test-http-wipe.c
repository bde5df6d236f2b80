/* Answers may hold secrets: their memory is wiped when it goes back, also that of an answer that
 * broke off. */
#include "net/http.h"
#include "support/freed_text.h"
#include "support/tcp_server.h"
#include "util/clock.h"

#include <curl/curl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MARK  "sEcReT-"
#define PARTS 200
#define PART  "11\r\n" MARK "rest-of-it\r\n" /* one that the server does not have to put together  \
                                              */

/* In many parts, so that the memory for it grows; then whole, or broken off. */
static void answer_in_parts(struct ccm_test_conn *conn, void *arg)
{
    const bool *whole = arg;

    while (ccm_test_conn_read(conn) != NULL) {
        bool sent =
            ccm_test_conn_sendf(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");

        for (size_t i = 0; sent && i < PARTS; i++) {
            sent = ccm_test_conn_send(conn, PART, strlen(PART));
        }
        if (!*whole) {
            ccm_test_conn_reset(conn);
            return;
        }
        if (!sent || !ccm_test_conn_chunk(conn, "")) {
            return;
        }
    }
}

static void expect_wiped(bool whole)
{
    struct ccm_test_server *server = ccm_test_server_new(answer_in_parts, &whole);
    struct ccm_error err = CCM_ERROR_INIT;
    struct net_http *http = net_http_new(&err);
    struct ccm_http_response *response = NULL;
    uint64_t phase = 0;
    const struct net_exchange exchange = {
        .method = "GET",
        .url = ccm_test_server_url(server),
        .deadline_ms = ccm_clock_now_ms() + 60000,
    };

    assert_non_null(http);
    freed_text_look_for(MARK);

    const int r = net_http_do(http, &exchange, &response, &phase, &err);

    assert_true((r == 0) == whole);
    if (whole) {
        assert_true(response->body_len >= PARTS * strlen(MARK));
        assert_memory_equal(response->body, MARK, strlen(MARK));
    }
    net_http_response_free(response);
    net_http_free(http);
    freed_text_look_for(NULL);
    ccm_test_server_free(server);
    assert_string_equal(freed_text_found(), "");
}

static void test_whole(void **state CCM_UNUSED)
{
    expect_wiped(true);
}

static void test_broken_off(void **state CCM_UNUSED)
{
    expect_wiped(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_broken_off),
    };

    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
