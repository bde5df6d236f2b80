/*
 * For tests of the reflector: a fake API server with scripted answers, a client, a store, a
 * reflector, and a record of what was asked and told. Static functions, since each test program is
 * one file.
 */
#ifndef CCM_TEST_REFLECTOR_WORLD_H
#define CCM_TEST_REFLECTOR_WORLD_H

#include "kube/cache/reflector.h"

#include "support/tcp_server.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WAIT_MS 10000

/* --- a world: fake API server, client, reflector, and what the reflector told --- */

struct world;

/* Answers request number n (0 = first) of the test; the target is path and query. False: close the
 * connection. */
typedef bool (*answer_fn)(struct world *w, struct ccm_test_conn *conn, int n, const char *target);

struct world {
    answer_fn answer;
    struct ccm_test_server *server;
    struct net_http *http;
    struct kube_client *client;
    struct kube_store *store;
    struct kube_reflector *reflector;
    char kubeconfig[64];

    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct kube_continuity continuity;
    struct ccm_buf
        told; /* "+name:version " "~name:old>new " "-name:version ", "!..." when just missing */
    struct ccm_buf asked; /* targets, one per line, without timeoutSeconds */
    int requests;
    int gate; /* the server and the keep filter wait for this number */
    bool store_was_behind;
    const char *unwanted; /* objects of this name are not kept */
    bool slow;            /* keep() waits for gate 1 */
    const char *checked;  /* version that a list of one object tells; NULL = "999" */
    int checks;           /* how often that was asked; none of the requests above */
};

static inline void note(struct world *w, struct ccm_buf *buf, const char *text)
{
    pthread_mutex_lock(&w->lock);
    ccm_buf_adds(buf, text);
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static inline void on_change(void *arg, const struct ccm_change *change)
{
    struct world *w = arg;
    CCM_CLEANUP(ccm_freep) char *text = NULL;

    if (change->type == CCM_CHANGE_ADDED) {
        text = ccm_text_format("+%s:%s ", change->after->name, change->after->resource_version);
    } else if (change->type == CCM_CHANGE_UPDATED) {
        text = ccm_text_format("~%s:%s>%s ", change->after->name, change->before->resource_version,
                               change->after->resource_version);
    } else {
        text = ccm_text_format("%s%s:%s ", change->flags == CCM_CHANGE_MISSING ? "!" : "-",
                               change->before->name, change->before->resource_version);
    }
    if (change->after != NULL) {
        CCM_CLEANUP(kube_object_unrefp)
        const struct ccm_object *held = kube_store_get(w->store, change->after->key);

        w->store_was_behind = w->store_was_behind || held != change->after;
    }
    note(w, &w->told, text == NULL ? "?" : text);
}

static inline void wait_gate(struct world *w, int gate)
{
    const int64_t deadline = ccm_clock_now_ms() + WAIT_MS;

    pthread_mutex_lock(&w->lock);
    while (w->gate < gate && ccm_clock_now_ms() < deadline) {
        (void)ccm_clock_cond_wait(&w->changed, &w->lock, deadline);
    }
    pthread_mutex_unlock(&w->lock);
}

static inline void open_gate(struct world *w, int gate)
{
    pthread_mutex_lock(&w->lock);
    w->gate = gate;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static inline bool keep(void *arg, const struct ccm_object *object)
{
    struct world *w = arg;

    pthread_mutex_lock(&w->lock);

    const bool held = w->slow && w->gate == 0;

    pthread_mutex_unlock(&w->lock);
    if (held) {
        note(w, &w->asked, "held\n");
        wait_gate(w, 1);
    }
    pthread_mutex_lock(&w->lock);

    const bool kept = w->unwanted == NULL || strcmp(object->name, w->unwanted) != 0;

    pthread_mutex_unlock(&w->lock);
    return kept;
}

/* The random timeoutSeconds would make targets unpredictable. */
static inline void note_target(struct world *w, const char *target)
{
    const char *cut = strstr(target, "&timeoutSeconds=");
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf line = { .max = 0 };

    if (cut == NULL) {
        ccm_buf_adds(&line, target);
    } else {
        ccm_buf_add(&line, target, (size_t)(cut - target));
        cut += strlen("&timeoutSeconds=");
        ccm_buf_adds(&line, cut + strspn(cut, "0123456789"));
    }
    ccm_buf_addc(&line, '\n');
    note(w, &w->asked, ccm_buf_str(&line));
}

/* --- pieces of answers --- */

static inline bool begin_stream(struct ccm_test_conn *conn)
{
    return ccm_test_conn_sendf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                     "Transfer-Encoding: chunked\r\n\r\n");
}

static inline bool end_stream(struct ccm_test_conn *conn)
{
    return ccm_test_conn_sendf(conn, "0\r\n\r\n");
}

#define OBJECT(name, version)                                                                      \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u-" name "\",\"resourceVersion\":\"" version   \
    "\"},\"spec\":{\"type\":\"LoadBalancer\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define BOOKMARK(v)         EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" v "\"}}")
#define END_MARK(version)                                                                          \
    EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" version                              \
                      "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}")
#define STATUS(code, reason)                                                                       \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"" reason      \
    " of the test\",\"reason\":\"" reason "\",\"code\":" #code "}"
#define LIST(version, more, items)                                                                 \
    "{\"kind\":\"ServiceList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version \
    "\",\"continue\":\"" more "\"},\"items\":[" items "]}\n"

static inline bool is_initial(const char *target)
{
    return strstr(target, "sendInitialEvents=true") != NULL;
}

static inline bool is_watch(const char *target)
{
    return strstr(target, "watch=1") != NULL;
}

/* A watch that stays open until the client goes. */
static inline bool hold(struct ccm_test_conn *conn, const char *events)
{
    if (begin_stream(conn) && (events[0] == '\0' || ccm_test_conn_chunk(conn, events))) {
        ccm_test_conn_hang(conn);
    }
    return false;
}

static inline bool no_streaming(struct ccm_test_conn *conn)
{
    return ccm_test_conn_reply(conn, 422, "", STATUS(422, "Invalid"));
}

/* The question how far the versions are. */
static inline bool is_check(const char *target)
{
    return ccm_text_equal(target, "/api/v1/services?limit=1");
}

static inline bool answer_check(struct world *w, struct ccm_test_conn *conn)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = 0 };

    pthread_mutex_lock(&w->lock);
    w->checks++;
    ccm_buf_addf(&body,
                 "{\"kind\":\"ServiceList\",\"metadata\":{\"resourceVersion\":\"%s\","
                 "\"continue\":\"more\"},\"items\":[" OBJECT("of-a-check", "1") "]}",
                 w->checked == NULL ? "999" : w->checked);
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return ccm_test_conn_reply(conn, 200, "", ccm_buf_str(&body));
}

static inline void handle(struct ccm_test_conn *conn, void *arg)
{
    struct world *w = arg;

    for (;;) {
        const struct ccm_test_request *request = ccm_test_conn_read(conn);

        if (request == NULL) {
            return;
        }
        if (is_check(request->target)) {
            if (!answer_check(w, conn)) {
                return;
            }
            continue;
        }
        note_target(w, request->target);
        pthread_mutex_lock(&w->lock);

        const int n = w->requests++;

        pthread_mutex_unlock(&w->lock);
        if (!w->answer(w, conn, n, request->target)) {
            return;
        }
    }
}

/* --- set up --- */

static inline void write_kubeconfig(struct world *w)
{
    ccm_text_copy(w->kubeconfig, sizeof(w->kubeconfig), "/tmp/ccm-reflector-XXXXXX");

    const int fd = mkstemp(w->kubeconfig);

    assert_true(fd >= 0);

    FILE *file = fdopen(fd, "w");

    assert_non_null(file);
    assert_true(fprintf(file,
                        "apiVersion: v1\nkind: Config\ncurrent-context: t\n"
                        "contexts:\n- name: t\n  context: {cluster: t, user: t}\n"
                        "clusters:\n- name: t\n  cluster: {server: \"%s\"}\n"
                        "users:\n- name: t\n  user: {token: secret}\n",
                        ccm_test_server_url(w->server)) > 0);
    assert_int_equal(fclose(file), 0);
}

static inline struct kube_reflector_config config_of(struct world *w)
{
    return (struct kube_reflector_config){
        .client = w->client,
        .store = w->store,
        .name = "services",
        .path = "/api/v1/services",
        .kind = { .kind = CCM_KIND_SERVICE },
        .keep = keep,
        .continuity = &w->continuity,
        .change = on_change,
        .arg = w,
        .timing = {
            .backoff_min_ms = 2,
            .backoff_max_ms = 20,
            .refused_ms = 20,
            .progress_ms = 5000,
            .initial_ms = 5000,
            .head_ms = 5000,
            .seed = 7,
        },
    };
}

static inline struct world *world_new(answer_fn answer)
{
    struct world *w = calloc(1, sizeof(*w));
    struct ccm_error err = CCM_ERROR_INIT;

    assert_non_null(w);
    ccm_log_setup(CCM_LOG_ERROR, false);
    w->answer = answer;
    assert_int_equal(pthread_mutex_init(&w->lock, NULL), 0);
    assert_int_equal(kube_continuity_init(&w->continuity), 0);
    assert_int_equal(ccm_clock_cond_init(&w->changed), 0);
    w->server = ccm_test_server_new(handle, w);
    assert_non_null(w->server);
    write_kubeconfig(w);
    w->http = net_http_new(&err);
    assert_non_null(w->http);
    assert_int_equal(kube_client_new(w->http, w->kubeconfig, &w->client, &err), 0);
    w->store = kube_store_new(NULL, 0);
    assert_non_null(w->store);
    return w;
}

static inline struct world *start_with(answer_fn answer, const struct kube_reflector_timing *timing)
{
    struct world *w = world_new(answer);
    struct kube_reflector_config config = config_of(w);

    if (timing != NULL && timing->progress_ms != 0) {
        config.timing.progress_ms = timing->progress_ms;
    }
    if (timing != NULL && timing->backoff_min_ms != 0) {
        config.timing.backoff_min_ms = timing->backoff_min_ms;
        config.timing.backoff_max_ms = timing->backoff_min_ms * 8;
    }
    if (timing != NULL && timing->initial_ms != 0) {
        config.timing.initial_ms = timing->initial_ms;
    }
    if (timing != NULL && timing->paged_ms != 0) {
        config.timing.paged_ms = timing->paged_ms;
    }
    w->reflector = kube_reflector_new(&config);
    assert_non_null(w->reflector);
    assert_int_equal(kube_reflector_start(w->reflector), 0);
    return w;
}

static inline struct world *start(answer_fn answer)
{
    return start_with(answer, NULL);
}

static inline void finish(struct world *w)
{
    const int64_t started = ccm_clock_now_ms();

    kube_reflector_stop(w->reflector);
    assert_int_equal(kube_reflector_join(w->reflector, ccm_clock_now_ms() + 60000), 0);
    assert_true(ccm_clock_now_ms() - started < 3000);
    assert_false(w->store_was_behind);
    kube_reflector_free(w->reflector);
    open_gate(w, 1000);
    ccm_test_server_free(w->server);
    kube_client_free(w->client);
    net_http_free(w->http);
    kube_store_free(w->store);
    ccm_buf_fini(&w->told);
    ccm_buf_fini(&w->asked);
    assert_int_equal(unlink(w->kubeconfig), 0);
    kube_continuity_fini(&w->continuity);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    free(w);
}

/* Wait until buf is exactly, or with `prefix` begins with, the text. */
static inline void expect_text(struct world *w, const struct ccm_buf *buf, const char *text,
                               bool prefix)
{
    const int64_t deadline = ccm_clock_now_ms() + WAIT_MS;
    bool equal = false;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        const char *now = ccm_buf_str(buf);

        equal = prefix ? ccm_text_starts(now, text) : strcmp(now, text) == 0;
        if (equal || ccm_clock_cond_wait(&w->changed, &w->lock, deadline) == -ETIMEDOUT) {
            break;
        }
    }
    if (!equal) {
        print_error("expected: %s\nis:       %s\nasked:\n%s", text, ccm_buf_str(buf),
                    ccm_buf_str(&w->asked));
    }
    pthread_mutex_unlock(&w->lock);
    assert_true(equal);
}

static inline void expect_told(struct world *w, const char *text)
{
    expect_text(w, &w->told, text, false);
}

static inline void expect_asked(struct world *w, const char *text)
{
    expect_text(w, &w->asked, text, true);
}

static inline void expect_synced(struct world *w)
{
    assert_int_equal(kube_reflector_wait_synced(w->reflector, ccm_clock_now_ms() + WAIT_MS, NULL),
                     0);
}

#define STREAM_REQUEST                                                                             \
    "/api/v1/services?watch=1&allowWatchBookmarks=true"                                            \
    "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\n"
#define WATCH_REQUEST(version)                                                                     \
    "/api/v1/services?watch=1&allowWatchBookmarks=true&resourceVersion=" version "\n"
#define PAGE_REQUEST "/api/v1/services?limit=500\n"

#endif
