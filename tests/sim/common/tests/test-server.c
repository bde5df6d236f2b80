/* The HTTP server of the simulators: streams, waiting requests, the end. */
#include "common/server.h"
#include "util/cleanup.h"
#include "util/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define DEADLINE_MS 20000

/* A service whose only resource is a stream: the test puts pieces into it. */
struct service {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct ccm_buf pending;
    int open;   /* streams */
    bool ended; /* regular end of the stream */
};

static int stream_next(void *self, struct ccm_buf *out, int64_t wait_ms)
{
    struct service *service = self;
    int64_t deadline = ccm_clock_now_ms() + wait_ms;
    int r = 0;

    (void)pthread_mutex_lock(&service->lock);
    while (service->pending.len == 0 && !service->ended && ccm_clock_now_ms() < deadline) {
        (void)ccm_clock_cond_wait(&service->changed, &service->lock, deadline);
    }
    if (service->pending.len > 0) {
        ccm_buf_add(out, service->pending.data, service->pending.len);
        ccm_buf_reset(&service->pending);
        r = 1;
    } else if (service->ended) {
        r = -ENODATA;
    }
    (void)pthread_mutex_unlock(&service->lock);
    return r;
}

static void count(struct service *service, int by)
{
    (void)pthread_mutex_lock(&service->lock);
    service->open += by;
    (void)pthread_cond_broadcast(&service->changed);
    (void)pthread_mutex_unlock(&service->lock);
}

static void stream_close(void *self)
{
    count(self, -1);
}

static void identify(void *self, const struct ccm_sim_request *req, struct ccm_sim_call *call)
{
    (void)self;
    (void)req;
    (void)snprintf(call->action, sizeof(call->action), "watch");
}

static void handle(void *self, const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    (void)req;
    count(self, 1);
    reply->stream = (struct ccm_sim_stream){ stream_next, stream_close, self };
}

static void fault(void *self, const struct ccm_sim_request *req,
                  const struct ccm_sim_effect *effect, struct ccm_sim_reply *reply)
{
    (void)self;
    (void)req;
    (void)effect;
    ccm_buf_adds(&reply->body, "fault");
}

static const struct ccm_sim_ops ops = { .identify = identify, .handle = handle, .fault = fault };

struct world {
    struct service service;
    struct ccm_sim_server *server;
};

static int fixture_begin(void **state)
{
    static struct world world;
    const struct ccm_sim_config config = {
        .listen = "127.0.0.1:0",
        .ops = &ops,
        .self = &world.service,
    };

    world = (struct world){ 0 };
    assert_int_equal(pthread_mutex_init(&world.service.lock, NULL), 0);
    assert_int_equal(ccm_clock_cond_init(&world.service.changed), 0);
    assert_int_equal(ccm_sim_server_start(&config, &world.server), 0);
    *state = &world;
    return 0;
}

static int fixture_end(void **state)
{
    struct world *world = *state;

    ccm_sim_server_stop(world->server);
    assert_int_equal(world->service.open, 0);
    ccm_buf_fini(&world->service.pending);
    (void)pthread_cond_destroy(&world->service.changed);
    (void)pthread_mutex_destroy(&world->service.lock);
    return 0;
}

static void push(struct service *service, const char *text)
{
    (void)pthread_mutex_lock(&service->lock);
    ccm_buf_adds(&service->pending, text);
    (void)pthread_cond_broadcast(&service->changed);
    (void)pthread_mutex_unlock(&service->lock);
}

static void wait_open(struct service *service, int wanted)
{
    int64_t deadline = ccm_clock_now_ms() + DEADLINE_MS;

    (void)pthread_mutex_lock(&service->lock);
    while (service->open != wanted && ccm_clock_now_ms() < deadline) {
        (void)ccm_clock_cond_wait(&service->changed, &service->lock, deadline);
    }
    assert_int_equal(service->open, wanted);
    (void)pthread_mutex_unlock(&service->lock);
}

static int request(const struct world *world, const char *text)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(ccm_sim_server_port(world->server)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    return fd;
}

/* Read until the text has arrived or the connection ends; false: it ended first. */
static bool read_until(int fd, struct ccm_buf *buf, const char *text)
{
    int64_t deadline = ccm_clock_now_ms() + DEADLINE_MS;

    while (strstr(ccm_buf_str(buf), text) == NULL) {
        struct pollfd pfd = { .fd = fd, .events = POLLIN };
        char block[4096];

        assert_true(ccm_clock_now_ms() < deadline);
        if (poll(&pfd, 1, 1000) <= 0) {
            continue;
        }

        ssize_t n = recv(fd, block, sizeof(block), 0);

        if (n <= 0) {
            return false;
        }
        ccm_buf_add(buf, block, (size_t)n);
    }
    return true;
}

#define WATCH "GET /watch HTTP/1.1\r\nHost: x\r\n\r\n"

/* Headers leave before there is data; each piece leaves when it comes; the end is regular. */
static void test_stream(void **state)
{
    struct world *world = *state;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };
    CCM_CLEANUP(ccm_closep) int fd = request(world, WATCH);

    assert_true(read_until(fd, &buf, "\r\n\r\n"));
    assert_non_null(strstr(ccm_buf_str(&buf), "Transfer-Encoding: chunked"));
    push(&world->service, "first");
    assert_true(read_until(fd, &buf, "first"));
    push(&world->service, "second");
    assert_true(read_until(fd, &buf, "second"));
    (void)pthread_mutex_lock(&world->service.lock);
    world->service.ended = true;
    (void)pthread_cond_broadcast(&world->service.changed);
    (void)pthread_mutex_unlock(&world->service.lock);
    assert_true(read_until(fd, &buf, "0\r\n\r\n"));
    wait_open(&world->service, 0);
}

static void test_large_piece(void **state)
{
    struct world *world = *state;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };
    CCM_CLEANUP(ccm_closep) int fd = request(world, WATCH);

    (void)pthread_mutex_lock(&world->service.lock);
    for (int i = 0; i < 200000; i++) {
        ccm_buf_adds(&world->service.pending, "0123456789");
    }
    ccm_buf_adds(&world->service.pending, "last");
    (void)pthread_cond_broadcast(&world->service.changed);
    (void)pthread_mutex_unlock(&world->service.lock);
    assert_true(read_until(fd, &buf, "last"));
    assert_true(buf.len > 2000000);
}

/* A client that goes away is noticed although nothing is sent. */
static void test_client_leaves(void **state)
{
    struct world *world = *state;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };
    int fd = request(world, WATCH);

    assert_true(read_until(fd, &buf, "\r\n\r\n"));
    wait_open(&world->service, 1);
    assert_int_equal(close(fd), 0);
    wait_open(&world->service, 0);
}

/* The end of the server ends idle streams; fixture_end looks that all are closed. */
static void test_stop_with_streams(void **state)
{
    struct world *world = *state;
    int fds[8];

    for (size_t i = 0; i < CCM_ARRAY_LEN(fds); i++) {
        fds[i] = request(world, WATCH);
    }
    wait_open(&world->service, (int)CCM_ARRAY_LEN(fds));

    int64_t start = ccm_clock_now_ms();

    ccm_sim_server_stop(world->server);
    world->server = NULL;
    assert_true(ccm_clock_now_ms() - start < DEADLINE_MS);
    assert_int_equal(world->service.open, 0);
    for (size_t i = 0; i < CCM_ARRAY_LEN(fds); i++) {
        assert_int_equal(close(fds[i]), 0);
    }
}

static void fault_set(const struct world *world, const char *rule)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };

    ccm_buf_addf(&text, "POST /_sim/faults HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
                 strlen(rule), rule);

    CCM_CLEANUP(ccm_closep) int fd = request(world, ccm_buf_str(&text));

    assert_true(read_until(fd, &buf, "\"ids\":[1]"));
}

/* A stream can be cut in the middle of a piece. */
static void test_truncated_stream(void **state)
{
    struct world *world = *state;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };

    fault_set(world, "{\"effect\":{\"truncate\":7}}");
    push(&world->service, "firstsecond");

    CCM_CLEANUP(ccm_closep) int fd = request(world, WATCH);

    assert_false(read_until(fd, &buf, "0\r\n\r\n"));
    assert_non_null(strstr(ccm_buf_str(&buf), "firstse"));
    assert_null(strstr(ccm_buf_str(&buf), "firstsec"));
    wait_open(&world->service, 0);
}

/* ---- one thread for all connections ---- */

static void handle_at_once(void *self, const struct ccm_sim_request *req,
                           struct ccm_sim_reply *reply)
{
    (void)self;
    ccm_buf_adds(&reply->body, req->path);
}

static int setup_at_once(void **state)
{
    static const struct ccm_sim_ops at_once = {
        .identify = identify,
        .handle = handle_at_once,
        .fault = fault,
    };
    static struct world world;
    const struct ccm_sim_config config = {
        .listen = "127.0.0.1:0",
        .at_once = true,
        .ops = &at_once,
        .self = &world.service,
    };

    world = (struct world){ 0 };
    assert_int_equal(pthread_mutex_init(&world.service.lock, NULL), 0);
    assert_int_equal(ccm_clock_cond_init(&world.service.changed), 0);
    assert_int_equal(ccm_sim_server_start(&config, &world.server), 0);
    *state = &world;
    return 0;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

static void assert_no_answer(int fd)
{
    struct pollfd pfd = { .fd = fd, .events = POLLIN };

    assert_int_equal(poll(&pfd, 1, 0), 0);
}

/* Requests that a rule delays wait together and hold up nobody; without the rule they go on, on
 * connections that stay usable. */
static void test_delay_holds_up_nobody(void **state)
{
    struct world *world = *state;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };
    int slow[16];

    fault_set(world, "{\"match\":{\"path\":\"/slow\"},\"effect\":{\"delay_ms\":600000}}");
    for (size_t i = 0; i < CCM_ARRAY_LEN(slow); i++) {
        slow[i] = request(world, GET("/slow"));
    }
    for (int i = 0; i < 3; i++) {
        CCM_CLEANUP(ccm_closep) int fd = request(world, GET("/quick"));

        ccm_buf_reset(&buf);
        assert_true(read_until(fd, &buf, "/quick"));
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(slow); i++) {
        assert_no_answer(slow[i]);
    }

    CCM_CLEANUP(ccm_closep)
    int fd = request(world, "DELETE /_sim/faults HTTP/1.1\r\nHost: x\r\n\r\n");

    ccm_buf_reset(&buf);
    assert_true(read_until(fd, &buf, " 200 "));
    for (size_t i = 0; i < CCM_ARRAY_LEN(slow); i++) {
        ccm_buf_reset(&buf);
        assert_true(read_until(slow[i], &buf, "/slow"));
        assert_int_equal(send(slow[i], GET("/again"), strlen(GET("/again")), MSG_NOSIGNAL),
                         (ssize_t)strlen(GET("/again")));
        assert_true(read_until(slow[i], &buf, "/again"));
        assert_int_equal(close(slow[i]), 0);
    }
}

/* Nothing of an answer arrives, whether the rule waits before it cuts or not. */
static void test_cut_at_once(void **state)
{
    static const char *const rules[] = {
        "{\"effect\":{\"cut\":\"before\"},\"count\":1}",
        "{\"effect\":{\"cut\":\"after\"},\"count\":1}",
        "{\"effect\":{\"cut\":\"before\",\"delay_ms\":20},\"count\":1}",
        "{\"effect\":{\"cut\":\"after\",\"delay_ms\":20},\"count\":1}",
    };
    struct world *world = *state;

    for (size_t i = 0; i < CCM_ARRAY_LEN(rules); i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };

        ccm_buf_addf(&text,
                     "POST /_sim/faults HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
                     strlen(rules[i]), rules[i]);

        CCM_CLEANUP(ccm_closep) int control = request(world, ccm_buf_str(&text));

        assert_true(read_until(control, &buf, "\"ids\":["));
        ccm_buf_reset(&buf);

        CCM_CLEANUP(ccm_closep) int fd = request(world, GET("/cut"));

        assert_false(read_until(fd, &buf, "/cut"));
        assert_int_equal(buf.len, 0);
    }
}

/* The end of the server ends delays of any length. */
static void test_stop_with_delays(void **state)
{
    struct world *world = *state;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };
    int fds[8];

    fault_set(world, "{\"match\":{\"path\":\"/slow\"},\"effect\":{\"delay_ms\":600000}}");
    for (size_t i = 0; i < CCM_ARRAY_LEN(fds); i++) {
        fds[i] = request(world, GET("/slow"));
    }

    CCM_CLEANUP(ccm_closep) int fd = request(world, GET("/quick"));

    assert_true(read_until(fd, &buf, "/quick")); /* accepted behind the others */

    int64_t start = ccm_clock_now_ms();

    ccm_sim_server_stop(world->server);
    world->server = NULL;
    assert_true(ccm_clock_now_ms() - start < DEADLINE_MS);
    for (size_t i = 0; i < CCM_ARRAY_LEN(fds); i++) {
        assert_int_equal(close(fds[i]), 0);
    }
}

static void test_addresses(void **state)
{
    static const char *const bad[] = {
        "",           "127.0.0.1", "127.0.0.1:",  "127.0.0.1:65536", "0.0.0.0:0",
        "10.0.0.1:0", "[::]:0",    "localhost:0", "127.0.0.1:-1"
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(bad); i++) {
        const struct ccm_sim_config config = { .listen = bad[i], .ops = &ops };
        struct ccm_sim_server *server = NULL;

        assert_int_equal(ccm_sim_server_start(&config, &server), -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stream, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_large_piece, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_client_leaves, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_stop_with_streams, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_truncated_stream, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_delay_holds_up_nobody, setup_at_once, fixture_end),
        cmocka_unit_test_setup_teardown(test_cut_at_once, setup_at_once, fixture_end),
        cmocka_unit_test_setup_teardown(test_stop_with_delays, setup_at_once, fixture_end),
        cmocka_unit_test(test_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
