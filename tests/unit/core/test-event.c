/* The event recorder: what is merged, held back, retried, given up. */
#include "kube/event.h"
#include "kube/series.h"
#include "kube/standing.h"
#include "support/tcp_server.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/text.h"

#include <curl/curl.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DRAIN_MS 10000

/* --- bookkeeping --- */

static struct kube_occurrence occurrence_on(const char *namespace_, const char *name,
                                            const char *message, const char *topic,
                                            const char *cause)
{
    const struct kube_occurrence texts = {
        .api_version = "v1",
        .kind = "Service",
        .namespace_ = namespace_,
        .name = name,
        .uid = "uid-1",
        .resource_version = "77",
        .component = "service-controller",
        .reason = "Ensured",
        .message = message,
        .topic = topic,
        .cause = cause,
    };
    struct kube_occurrence occurrence;

    assert_int_equal(kube_occurrence_copy(&texts, &occurrence), 0);
    return occurrence;
}

static struct kube_occurrence occurrence_in(const char *namespace_, const char *name,
                                            const char *message)
{
    return occurrence_on(namespace_, name, message, NULL, NULL);
}

static struct kube_occurrence occurrence_of(const char *name, const char *message)
{
    return occurrence_in("demo", name, message);
}

static struct kube_series *book_record_in(struct kube_series_book *book, const char *namespace_,
                                          const char *name, const char *message, int64_t now_ms)
{
    struct kube_occurrence occurrence = occurrence_in(namespace_, name, message);
    bool lost = true;
    struct kube_series *series = kube_series_book_record(
        book, &occurrence, now_ms, 1760000000000 + now_ms, (uint64_t)now_ms + 0xabc000, &lost);

    assert_non_null(series);
    assert_false(lost);
    assert_null(occurrence.name);
    return series;
}

static struct kube_series *book_record(struct kube_series_book *book, const char *name,
                                       const char *message, int64_t now_ms)
{
    return book_record_in(book, "demo", name, message, now_ms);
}

static void test_merge(void **state CCM_UNUSED)
{
    struct kube_series_book *book = kube_series_book_new();
    struct kube_series *first = book_record(book, "web", "done", 0);
    struct kube_series *again;

    assert_string_equal(first->event_name, "web.abc000");
    assert_int_equal(first->count, 1);
    assert_ptr_equal(kube_series_book_next(book, 100), first);
    kube_series_book_written(book, first);
    first->exists = true;

    again = book_record(book, "web", "done", KUBE_SERIES_SPAN_MS);
    assert_ptr_equal(again, first);
    assert_int_equal(again->count, 2);
    assert_true(again->pending);
    assert_int_equal(again->last_wall_ms - again->first_wall_ms, KUBE_SERIES_SPAN_MS);

    /* Each difference makes another one. */
    assert_ptr_not_equal(book_record(book, "web", "failed", 5), first);
    assert_ptr_not_equal(book_record(book, "api", "done", 5), first);

    /* More than an hour after the last one: a new Event. */
    kube_series_book_written(book, again);
    again = book_record(book, "web", "done", 2 * KUBE_SERIES_SPAN_MS + 1);
    assert_int_equal(again->count, 1);
    assert_false(again->exists);
    kube_series_book_free(book);
}

static void test_order_of_writes(void **state CCM_UNUSED)
{
    struct kube_series_book *book = kube_series_book_new();
    struct kube_series *a;
    struct kube_series *b;

    assert_null(kube_series_book_next(book, 100));
    a = book_record(book, "a", "m", 10);
    b = book_record(book, "b", "m", 20);
    assert_ptr_equal(kube_series_book_next(book, 100), a);
    kube_series_book_retry(book, a, 500); /* it failed */
    a->tries = 1;
    assert_ptr_equal(kube_series_book_next(book, 100), b);
    kube_series_book_written(book, b);
    assert_ptr_equal(kube_series_book_next(book, 100), a);
    assert_int_equal(kube_series_book_pending(book), 1);
    /* A repetition while it waits joins it and does not push itself forward. */
    assert_ptr_equal(book_record(book, "a", "m", 30), a);
    assert_int_equal(a->count, 2);
    assert_int_equal(a->due_ms, 500);
    assert_int_equal(a->tries, 1);
    kube_series_book_drop(book, a);
    assert_null(kube_series_book_next(book, 100));
    kube_series_book_free(book);
}

/* One of each namespace in turn, however many another one has to say; what is not due waits. */
static void test_namespaces_take_turns(void **state CCM_UNUSED)
{
    static const char *const expected[] = { "a0", "b0", "c0", "a1", "b1", "a2", "a3" };
    struct kube_series_book *book = kube_series_book_new();

    for (int i = 0; i < 4; i++) {
        char name[8];

        (void)snprintf(name, sizeof(name), "a%d", i);
        book_record_in(book, "a", name, "m", i);
    }
    book_record_in(book, "b", "b0", "m", 10);
    book_record_in(book, "b", "b1", "m", 11);
    book_record_in(book, "c", "c0", "m", 20);
    for (size_t i = 0; i < CCM_ARRAY_LEN(expected); i++) {
        struct kube_series *series = kube_series_book_next(book, 100);

        assert_string_equal(series->last.name, expected[i]);
        kube_series_book_written(book, series);
    }
    kube_series_book_retry(book, book_record_in(book, "c", "c1", "m", 200), 900);
    book_record_in(book, "a", "a4", "m", 300);
    assert_string_equal(kube_series_book_next(book, 400)->last.name, "a4");
    kube_series_book_written(book, kube_series_book_next(book, 400));
    assert_string_equal(kube_series_book_next(book, 400)->last.name, "c1"); /* the next one due */
    assert_int_equal(kube_series_book_next(book, 400)->due_ms, 900);
    kube_series_book_free(book);
}

/* A namespace that was forgotten is not ahead of those that wait when it comes again. */
static void test_a_new_namespace_waits_for_its_turn(void **state CCM_UNUSED)
{
    struct kube_series_book *book = kube_series_book_new();
    struct kube_series *kept = book_record_in(book, "b", "kept", "m", 0);

    kube_series_book_written(book, kept);
    kube_series_book_written(book, book_record_in(book, "c", "c0", "m", 1));
    book_record_in(book, "a", "a0", "m", 2);
    book_record_in(book, "b", "b1", "m", 3);
    assert_string_equal(kube_series_book_next(book, 100)->last.name, "b1");
    kube_series_book_free(book);
}

/* A namespace that fills the book loses its own. */
static void test_the_namespace_with_most_loses_first(void **state CCM_UNUSED)
{
    struct kube_series_book *book = kube_series_book_new();
    struct kube_series *other = book_record_in(book, "other", "web", "m", 0);

    for (int i = 0; i < 2 * KUBE_SERIES_MAX; i++) {
        struct kube_occurrence occurrence;
        char name[32];
        bool lost = false;

        (void)snprintf(name, sizeof(name), "web-%d", i);
        occurrence = occurrence_in("loud", name, "m");
        assert_non_null(kube_series_book_record(book, &occurrence, i, 0, 1, &lost));
        assert_int_equal(lost, i >= KUBE_SERIES_MAX - 1);
    }
    assert_ptr_equal(kube_series_book_next(book, 3 * KUBE_SERIES_MAX), other);
    assert_int_equal(kube_series_book_pending(book), KUBE_SERIES_MAX);
    kube_series_book_free(book);
}

static void test_book_is_bounded(void **state CCM_UNUSED)
{
    struct kube_series_book *book = kube_series_book_new();
    struct kube_series *kept = book_record(book, "kept", "m", 0);
    struct kube_occurrence occurrence;
    bool lost = false;

    for (int i = 1; i < KUBE_SERIES_MAX; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "web-%d", i);

        struct kube_series *series = book_record(book, name, "m", i);

        if (i > 1) {
            kube_series_book_written(book, series);
        }
    }
    assert_ptr_equal(book_record(book, "kept", "m", 2000),
                     kept); /* used again: not the oldest now */
    occurrence = occurrence_of("last", "m");
    assert_non_null(kube_series_book_record(book, &occurrence, 3000, 0, 1, &lost));
    assert_true(lost); /* web-1 was waiting */
    assert_ptr_equal(book_record(book, "kept", "m", 4000), kept);
    kube_series_book_free(book);
}

static void test_spam(void **state CCM_UNUSED)
{
    struct kube_series_book *book = kube_series_book_new();
    struct kube_occurrence loud = occurrence_of("loud", "m");
    struct kube_occurrence calm = occurrence_of("calm", "m");

    for (int i = 0; i < KUBE_SPAM_BURST; i++) {
        assert_int_equal(kube_series_book_admit(book, &loud, 0), 1);
    }
    assert_int_equal(kube_series_book_admit(book, &loud, 0), 0);
    assert_int_equal(kube_series_book_admit(book, &loud, KUBE_SPAM_REFILL_MS - 1), 0);
    assert_int_equal(kube_series_book_admit(book, &loud, KUBE_SPAM_REFILL_MS), 1);
    assert_int_equal(kube_series_book_admit(book, &loud, KUBE_SPAM_REFILL_MS), 0);
    assert_int_equal(kube_series_book_admit(book, &calm, KUBE_SPAM_REFILL_MS), 1);

    /* After a long silence it is full, not fuller. */
    for (int i = 0; i < KUBE_SPAM_BURST; i++) {
        assert_int_equal(kube_series_book_admit(book, &loud, 100 * KUBE_SPAM_REFILL_MS), 1);
    }
    assert_int_equal(kube_series_book_admit(book, &loud, 100 * KUBE_SPAM_REFILL_MS), 0);
    kube_occurrence_fini(&loud);
    kube_occurrence_fini(&calm);
    kube_series_book_free(book);
}

static void test_spam_is_bounded(void **state CCM_UNUSED)
{
    struct kube_series_book *book = kube_series_book_new();
    struct kube_occurrence first = occurrence_of("first", "m");

    for (int i = 0; i < KUBE_SPAM_BURST; i++) {
        assert_int_equal(kube_series_book_admit(book, &first, 0), 1);
    }
    for (int i = 0; i < KUBE_SERIES_MAX; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "web-%d", i);

        struct kube_occurrence other = occurrence_of(name, "m");

        assert_int_equal(kube_series_book_admit(book, &other, 0), 1);
        kube_occurrence_fini(&other);
    }
    assert_int_equal(kube_series_book_admit(book, &first, 0), 1); /* forgotten meanwhile */
    kube_occurrence_fini(&first);
    kube_series_book_free(book);
}

static void test_event_name(void **state CCM_UNUSED)
{
    struct kube_series_book *book = kube_series_book_new();
    char name[300];

    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    name[235] = '-';
    name[234] = '.';

    const struct kube_series *series = book_record(book, name, "m", 0);

    /* Neither too long nor with an empty label or one that ends in a dash. */
    assert_int_equal(strlen(series->event_name), 234 + strlen(".abc000"));
    kube_series_book_free(book);
}

static void test_print(void **state CCM_UNUSED)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 4096 };
    struct kube_series_book *book = kube_series_book_new();
    struct kube_series *series = book_record(book, "web", "line\n\"two\"", 0);

    series = book_record(book, "web", "line\n\"two\"", 60000);
    kube_series_print_event(series, &buf);
    assert_string_equal(
        ccm_buf_str(&buf),
        "{\"apiVersion\":\"v1\",\"kind\":\"Event\","
        "\"metadata\":{\"name\":\"web.abc000\",\"namespace\":\"demo\"},"
        "\"involvedObject\":{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"namespace\":\"demo\","
        "\"name\":\"web\",\"uid\":\"uid-1\",\"resourceVersion\":\"77\"},"
        "\"reason\":\"Ensured\",\"message\":\"line\\n\\\"two\\\"\","
        "\"source\":{\"component\":\"service-controller\"},"
        "\"firstTimestamp\":\"2025-10-09T08:53:20Z\",\"lastTimestamp\":\"2025-10-09T08:54:20Z\","
        "\"count\":2,\"type\":\"Normal\",\"reportingComponent\":\"service-controller\"}");
    ccm_buf_reset(&buf);
    kube_series_print_patch(series, &buf);
    assert_string_equal(ccm_buf_str(&buf),
                        "{\"count\":2,\"lastTimestamp\":\"2025-10-09T08:54:20Z\"}");

    /* An object without namespace: its Event stands in "default". */
    series->last.namespace_ = "";
    ccm_buf_reset(&buf);
    kube_series_print_event(series, &buf);
    assert_non_null(strstr(ccm_buf_str(&buf),
                           "\"namespace\":\"default\"},\"involvedObject\":{"
                           "\"apiVersion\":\"v1\",\"kind\":\"Service\",\"name\""));
    kube_series_book_free(book);
}

/* --- the recorder --- */

static char config_path[] = "/tmp/ccm-event-XXXXXX";

struct fixture {
    struct ccm_test_server *server;
    struct net_http *http;
    struct kube_client *client;
    struct kube_event_recorder *recorder;
};

static void fixture_open_lasting(struct fixture *f, const struct kube_event_lasting *lasting,
                                 ccm_test_handler_fn handler, void *arg)
{
    struct ccm_error err = CCM_ERROR_INIT;
    FILE *file = fopen(config_path, "w");

    f->server = ccm_test_server_new(handler, arg);
    assert_non_null(f->server);
    assert_non_null(file);
    assert_true(fprintf(file,
                        "{current-context: m,"
                        " contexts: [{name: m, context: {cluster: c, user: u}}],"
                        " clusters: [{name: c, cluster: {server: '%s'}}],"
                        " users: [{name: u, user: {}}]}",
                        ccm_test_server_url(f->server)) > 0);
    assert_int_equal(fclose(file), 0);
    f->http = net_http_new(&err);
    assert_non_null(f->http);
    assert_int_equal(kube_client_new(f->http, config_path, &f->client, &err), 0);
    f->recorder = kube_event_recorder_new(f->client, lasting, &err);
    assert_non_null(f->recorder);
}

static void fixture_open(struct fixture *f, ccm_test_handler_fn handler, void *arg)
{
    fixture_open_lasting(f, NULL, handler, arg);
}

static void fixture_close(struct fixture *f, int64_t drain_ms)
{
    kube_event_recorder_free(f->recorder, drain_ms);
    kube_client_free(f->client);
    net_http_free(f->http);
    ccm_test_server_free(f->server);
}

static void emit_all(struct fixture *f, const char *namespace_, const char *name, const char *topic,
                     const char *cause, const char *message)
{
    const struct ccm_service service = {
        .meta = { .struct_size = sizeof(service),
                  .kind = CCM_KIND_SERVICE,
                  .key = "demo/x",
                  .namespace_ = namespace_,
                  .name = name,
                  .uid = "uid-1",
                  .resource_version = "77" },
    };
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = &service.meta,
        .component = "service-controller",
        .reason = "Ensured",
        .message = message,
        .warning = 1,
        .topic = topic,
        .cause = cause,
    };

    kube_event_emit(f->recorder, &event);
}

static void emit_standing(struct fixture *f, const char *name, const char *topic, const char *cause,
                          const char *message)
{
    emit_all(f, "demo", name, topic, cause, message);
}

static void emit_event(struct fixture *f, const char *name, const char *message)
{
    emit_standing(f, name, NULL, NULL, message);
}

/* Request number `index` as JSON; method and start of the target are checked. */
static cJSON *fixture_sent_request(struct fixture *f, size_t index, const char *method,
                                   const char *target)
{
    struct ccm_test_request request = { 0 };
    cJSON *json = NULL;

    assert_true(ccm_test_server_request(f->server, index, &request));
    assert_string_equal(request.method, method);
    assert_true(ccm_text_starts(request.target, target));
    assert_int_equal(ccm_json_parse(request.body, strlen(request.body), &json), 0);
    ccm_test_request_fini(&request);
    return json;
}

static void test_create_then_count(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 201, NULL, "{}" }, { 200, NULL, "{}" } };
    struct ccm_test_script script = { answers, 2 };
    struct fixture f;
    cJSON *first;
    cJSON *second;
    char *target;

    fixture_open(&f, ccm_test_play, &script);
    emit_event(&f, "web", "done");
    assert_true(ccm_test_server_wait(f.server, 1));
    emit_event(&f, "web", "done");
    assert_true(ccm_test_server_wait(f.server, 2));

    first = fixture_sent_request(&f, 0, "POST", "/api/v1/namespaces/demo/events");
    assert_int_equal(ccm_json_i64(first, "count", 0), 1);
    assert_string_equal(ccm_json_text(first, "type"), "Warning");
    assert_string_equal(ccm_json_text(ccm_json_get(first, "involvedObject"), "kind"), "Service");
    assert_string_equal(ccm_json_text(ccm_json_get(first, "source"), "component"),
                        "service-controller");
    target = ccm_text_format("/api/v1/namespaces/demo/events/%s",
                             ccm_json_text(ccm_json_get(first, "metadata"), "name"));
    assert_non_null(target);
    second = fixture_sent_request(&f, 1, "PATCH", target);
    assert_int_equal(ccm_json_i64(second, "count", 0), 2);
    cJSON_Delete(first);
    cJSON_Delete(second);
    free(target);
    fixture_close(&f, DRAIN_MS);
}

static void test_gone_is_created_anew(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = {
        { 201, NULL, "{}" }, { 404, NULL, "" }, { 201, NULL, "{}" }, { 200, NULL, "{}" }
    };
    struct ccm_test_script script = { answers, 4 };
    struct fixture f;

    fixture_open(&f, ccm_test_play, &script);
    for (size_t i = 0; i < 3; i++) {
        static const size_t requests[] = { 1, 3, 4 };

        emit_event(&f, "web", "done");
        assert_true(ccm_test_server_wait(f.server, requests[i]));
    }
    cJSON_Delete(fixture_sent_request(&f, 1, "PATCH", "/api/v1/namespaces/demo/events/web."));

    cJSON *anew = fixture_sent_request(&f, 2, "POST", "/api/v1/namespaces/demo/events");

    assert_int_equal(ccm_json_i64(anew, "count", 0), 2);
    cJSON_Delete(anew);
    cJSON_Delete(fixture_sent_request(&f, 3, "PATCH", "/api/v1/namespaces/demo/events/web."));
    fixture_close(&f, DRAIN_MS);
}

static void test_retry(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 500, NULL, "" }, { 201, NULL, "{}" } };
    struct ccm_test_script script = { answers, 2 };
    struct fixture f;

    fixture_open(&f, ccm_test_play, &script);
    emit_event(&f, "web", "one");
    emit_event(&f, "api", "two"); /* does not wait for the other's pause */
    assert_true(ccm_test_server_wait(f.server, 3));

    cJSON *order[3];
    static const char *const names[] = { "web", "api", "web" };

    for (size_t i = 0; i < 3; i++) {
        order[i] = fixture_sent_request(&f, i, "POST", "/api/v1/namespaces/demo/events");
        assert_string_equal(ccm_json_text(ccm_json_get(order[i], "involvedObject"), "name"),
                            names[i]);
    }
    /* The same object again: a lost answer cannot double it. */
    assert_string_equal(ccm_json_text(ccm_json_get(order[0], "metadata"), "name"),
                        ccm_json_text(ccm_json_get(order[2], "metadata"), "name"));
    for (size_t i = 0; i < 3; i++) {
        cJSON_Delete(order[i]);
    }
    fixture_close(&f, DRAIN_MS);
}

/* The first answer is lost although the server has acted; the second try hears "already there". */
static void test_lost_answer(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = {
        { 0, NULL, NULL },
        { 409, NULL,
          "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"AlreadyExists\","
          "\"code\":409}" },
        { 200, NULL, "{}" },
    };
    struct ccm_test_script script = { answers, 3 };
    struct fixture f;

    fixture_open(&f, ccm_test_play, &script);
    emit_event(&f, "web", "one");
    assert_true(ccm_test_server_wait(f.server, 2));
    emit_event(&f, "web", "one");
    assert_true(ccm_test_server_wait(f.server, 3));

    cJSON *patch = fixture_sent_request(&f, 2, "PATCH", "/api/v1/namespaces/demo/events/web.");

    assert_int_equal(ccm_json_i64(patch, "count", 0), 2);
    cJSON_Delete(patch);
    fixture_close(&f, DRAIN_MS);
}

static void test_refused_is_dropped(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 403, NULL, "" }, { 201, NULL, "{}" } };
    struct ccm_test_script script = { answers, 2 };
    struct fixture f;

    fixture_open(&f, ccm_test_play, &script);
    emit_event(&f, "web", "one");
    emit_event(&f, "api", "two");
    assert_true(ccm_test_server_wait(f.server, 2));
    kube_event_recorder_free(f.recorder, DRAIN_MS);
    f.recorder = NULL;
    assert_int_equal(ccm_test_server_requests(f.server), 2);
    fixture_close(&f, 0);
}

/* Refuses events of one namespace. It answers nothing before all events are known. */
static void server_refuse_namespace(struct ccm_test_conn *conn, void *arg)
{
    atomic_bool *known = arg;
    const struct ccm_test_request *request;

    while ((request = ccm_test_conn_read(conn)) != NULL) {
        const bool refused = strstr(request->target, "/namespaces/refused/") != NULL;

        while (!atomic_load(known) && ccm_test_conn_pause(conn, 1)) {
        }
        if (!ccm_test_conn_reply(conn, refused ? 403 : 201, "", "{}")) {
            return;
        }
    }
}

/* The log names the object with its namespace, whose budget the lines count for. */
static void test_dropped_ones_are_logged_with_their_namespace(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 201, NULL, "{}" } };
    struct ccm_test_script script = { answers, 1 };
    const int kept = dup(STDERR_FILENO);
    char text[4096] = "";
    struct fixture f;
    int ends[2];

    assert_true(kept >= 0);
    assert_int_equal(pipe(ends), 0);
    fixture_open(&f, ccm_test_play, &script);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    for (int i = 0; i <= KUBE_SPAM_BURST; i++) {
        emit_event(&f, "web", "one");
    }
    kube_event_recorder_free(f.recorder, DRAIN_MS);
    f.recorder = NULL;
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(ends[1]);
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    close(ends[0]);
    assert_non_null(strstr(text, " warn  event demo/web: event Ensured is dropped: too many"));
    fixture_close(&f, 0);
}

/* A namespace whose events are all refused has its turns like any other. */
static void test_refusals_take_turns(void **state CCM_UNUSED)
{
    struct ccm_test_request request = { 0 };
    atomic_bool known = false;
    struct fixture f;
    size_t index = 1;

    fixture_open(&f, server_refuse_namespace, &known);
    emit_all(&f, "other", "first", NULL, NULL, "one");
    assert_true(ccm_test_server_wait(f.server, 1));
    for (int i = 0; i < 6; i++) {
        char name[8];

        (void)snprintf(name, sizeof(name), "web-%d", i);
        emit_all(&f, "refused", name, NULL, NULL, "one");
    }
    emit_all(&f, "other", "second", NULL, NULL, "one");
    atomic_store(&known, true);
    assert_true(ccm_test_server_wait(f.server, 8));
    while (ccm_test_server_request(f.server, index, &request) &&
           strstr(request.target, "/namespaces/other/") == NULL) {
        ccm_test_request_fini(&request);
        index++;
    }
    assert_non_null(request.target);
    ccm_test_request_fini(&request);
    assert_in_range(index, 1, 2); /* at most one refused event is written before it */
    fixture_close(&f, DRAIN_MS);
}

static void test_text_is_cut(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 201, NULL, "{}" } };
    struct ccm_test_script script = { answers, 1 };
    struct fixture f;
    char message[2000];

    memset(message, 'x', sizeof(message) - 1);
    message[sizeof(message) - 1] = '\0';
    memcpy(message + KUBE_EVENT_TEXT_MAX - 1, "\xC3\xA9", 2); /* across the limit */
    fixture_open(&f, ccm_test_play, &script);
    emit_event(&f, "web", message);
    assert_true(ccm_test_server_wait(f.server, 1));

    cJSON *event = fixture_sent_request(&f, 0, "POST", "/api/v1/namespaces/demo/events");

    assert_int_equal(strlen(ccm_json_text(event, "message")), KUBE_EVENT_TEXT_MAX - 1);
    cJSON_Delete(event);
    fixture_close(&f, DRAIN_MS);
}

/* Everything that waits is written before the recorder ends. */
static void test_drain(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 201, NULL, "{}" } };
    struct ccm_test_script script = { answers, 1 };
    struct fixture f;

    fixture_open(&f, ccm_test_play, &script);
    for (int i = 0; i < 50; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "web-%d", i);
        emit_event(&f, name, "m");
    }
    kube_event_recorder_free(f.recorder, DRAIN_MS);
    f.recorder = NULL;
    assert_int_equal(ccm_test_server_requests(f.server), 50);
    fixture_close(&f, 0);
}

static void hang(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    if (ccm_test_conn_read(conn) != NULL) {
        ccm_test_conn_hang(conn);
    }
}

/* A server that does not answer: emitting never blocks, the queue is bounded, the end comes. */
static void test_stuck_server(void **state CCM_UNUSED)
{
    struct fixture f;
    int64_t start;

    fixture_open(&f, hang, NULL);
    emit_event(&f, "web", "first");
    assert_true(ccm_test_server_wait(f.server, 1));
    for (int i = 0; i < KUBE_EVENT_NAMESPACE_MAX + 7; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "web-%d", i);
        emit_event(&f, name, "m");
    }
    assert_int_equal(kube_event_recorder_dropped(f.recorder), 7);
    emit_standing(&f, "web-1", "topic", "cause", "");         /* it ends nothing */
    emit_standing(&f, "web-1", "topic", "cause", "it fails"); /* written behind the others */
    assert_int_equal(kube_event_recorder_dropped(f.recorder), 7);
    emit_all(&f, "other", "web", NULL, NULL, "m"); /* another namespace has room */
    assert_int_equal(kube_event_recorder_dropped(f.recorder), 7);
    start = ccm_clock_now_ms();
    fixture_close(&f, 50);
    assert_in_range(ccm_clock_now_ms() - start, 50, 4000);
}

static void test_engine_stopped_first(void **state CCM_UNUSED)
{
    struct fixture f;

    fixture_open(&f, hang, NULL);
    emit_event(&f, "web", "first");
    assert_true(ccm_test_server_wait(f.server, 1));
    net_http_stop(f.http);
    emit_event(&f, "web", "second");
    fixture_close(&f, DRAIN_MS);
}

/* --- what lasts --- */

static bool record_standing(struct kube_standing_book *book, const char *cause, const char *message,
                            uint64_t after_ms, int64_t now_ms, bool has_room)
{
    struct kube_occurrence occurrence = occurrence_on("demo", "web", message, "topic", cause);
    bool now = false;

    occurrence.after_ms = after_ms;
    assert_int_equal(kube_standing_book_record(book, &occurrence, now_ms, has_room, &now), 0);
    kube_occurrence_fini(&occurrence);
    return now;
}

static bool note_standing(struct kube_standing_book *book, const char *cause, const char *message,
                          uint64_t after_ms, int64_t now_ms)
{
    return record_standing(book, cause, message, after_ms, now_ms, true);
}

static void test_standing_is_due_again(void **state CCM_UNUSED)
{
    struct kube_standing_book *book = kube_standing_book_new();
    struct kube_standing *standing;
    int64_t due_ms = 0;

    assert_non_null(book);
    assert_null(kube_standing_book_next(book, 8000, &due_ms));
    assert_true(note_standing(book, "cause", "id 1", 0, 1000));
    assert_false(
        note_standing(book, "cause", "id 2", 0, 2000)); /* the newest words for the next time */
    assert_null(kube_standing_book_next(book, 0, &due_ms));
    standing = kube_standing_book_next(book, 8000, &due_ms);
    assert_non_null(standing);
    assert_in_range(due_ms, 8000, 9000);
    assert_string_equal(standing->latest.message, "id 2");
    assert_true(note_standing(book, "other", "id 3", 0, 3000));
    (void)kube_standing_book_next(book, 8000, &due_ms);
    assert_in_range(due_ms, 10000, 11000);
    kube_standing_book_said(book, &standing->latest, -2000); /* by an earlier process */
    (void)kube_standing_book_next(book, 8000, &due_ms);
    assert_in_range(due_ms, 5000, 6000);

    assert_false(note_standing(book, "other", "", 0, 4000)); /* over */
    assert_int_equal(kube_standing_book_len(book), 0);
    assert_true(note_standing(book, "other", "id 4", 0, 4100));
    kube_standing_book_free(book);
}

static void standing_record_of(struct kube_standing_book *book, const char *name,
                               const char *message, uint64_t after_ms)
{
    struct kube_occurrence occurrence = occurrence_on("demo", name, message, "topic", NULL);
    bool now = false;

    occurrence.after_ms = after_ms;
    assert_int_equal(kube_standing_book_record(book, &occurrence, 0, true, &now), 0);
    kube_occurrence_fini(&occurrence);
}

static void standing_assert_next(struct kube_standing_book *book, const char *name, int64_t want_ms)
{
    int64_t due_ms = 0;
    const struct kube_standing *standing = kube_standing_book_next(book, 8000, &due_ms);

    assert_non_null(standing);
    assert_string_equal(standing->latest.name, name);
    assert_int_equal(due_ms, want_ms);
}

/* The book knows which one comes first, whatever comes, changes and goes meanwhile. */
static void test_standing_first(void **state CCM_UNUSED)
{
    struct kube_standing_book *book = kube_standing_book_new();
    struct kube_standing *standing;
    int64_t due_ms = 0;

    assert_non_null(book);
    standing_record_of(book, "a", "waits", 3000);
    standing_assert_next(book, "a", 3000);
    standing_record_of(book, "b", "waits", 2000); /* earlier */
    standing_record_of(book, "c", "waits", 2500);
    standing_assert_next(book, "b", 2000);
    standing_record_of(book, "b", "", 0); /* over */
    standing_assert_next(book, "c", 2500);
    standing = kube_standing_book_next(book, 8000, &due_ms);
    kube_standing_book_said(book, &standing->latest, 2500);
    standing_assert_next(book, "a", 3000);
    kube_standing_book_drop(book, &kube_standing_book_next(book, 8000, &due_ms)->latest);
    standing = kube_standing_book_next(book, 8000, &due_ms);
    assert_string_equal(standing->latest.name, "c");
    assert_null(kube_standing_book_next(book, 0, &due_ms)); /* another period */
    kube_standing_book_free(book);
}

/* One report ends all topics of an object, and none of another one. */
static void test_all_topics_end(void **state CCM_UNUSED)
{
    static const char *const reports[][3] = {
        { "web", "one", "it lasts" },
        { "web", "two", "it lasts" },
        { "web-2", "one", "it lasts" },
        { "web", CCM_EVENT_ALL_TOPICS, "" },
    };
    struct kube_standing_book *book = kube_standing_book_new();
    bool now = false;

    assert_non_null(book);
    for (size_t i = 0; i < CCM_ARRAY_LEN(reports); i++) {
        struct kube_occurrence occurrence =
            occurrence_on("demo", reports[i][0], reports[i][2], reports[i][1], NULL);

        assert_int_equal(kube_standing_book_record(book, &occurrence, 0, true, &now), 0);
        kube_occurrence_fini(&occurrence);
        assert_int_equal(kube_standing_book_len(book), i < 3 ? i + 1 : 1);
    }
    kube_standing_book_free(book);
}

/* Said only when it has lasted for a time. */
static void test_standing_waits_first(void **state CCM_UNUSED)
{
    struct kube_standing_book *book = kube_standing_book_new();
    int64_t due_ms = 0;

    assert_non_null(book);
    assert_false(note_standing(book, "", "waits for a", 3000, 1000));
    assert_false(note_standing(book, "", "waits for b", 3000, 2000));
    assert_non_null(kube_standing_book_next(book, 0, &due_ms));
    assert_int_equal(due_ms, 4000);
    assert_true(note_standing(book, "", "waits for c", 3000, 4000));
    assert_false(note_standing(book, "", "", 0, 4100));
    assert_false(note_standing(book, "", "waits for d", 3000, 5000));
    assert_false(note_standing(book, "", "waits for d", 0, 5050));
    assert_true(note_standing(book, "", "has begun", 0, 5060)); /* another cause has its own time */
    assert_false(note_standing(book, "", "", 0, 5070));
    assert_false(note_standing(book, "", "waits for d", 3000, 5080));
    assert_false(note_standing(book, "", "", 0, 5100)); /* it was short */
    assert_null(kube_standing_book_next(book, 0, &due_ms));
    kube_standing_book_free(book);
}

/* News that the queue has no room for is due. */
static void test_standing_without_room_is_due(void **state CCM_UNUSED)
{
    struct kube_standing_book *book = kube_standing_book_new();
    struct kube_standing *standing;
    int64_t due_ms = 0;

    assert_non_null(book);
    assert_true(record_standing(book, "cause", "id 1", 0, 1000, false));
    standing = kube_standing_book_next(book, 8000, &due_ms);
    assert_non_null(standing);
    assert_int_equal(due_ms, 1000);
    assert_true(record_standing(book, "cause", "id 2", 0, 1100, false));
    assert_true(note_standing(book, "cause", "id 3", 0, 1200));
    assert_false(note_standing(book, "cause", "id 4", 0, 1300));
    kube_standing_book_free(book);
}

static bool exists_twice(void *arg, const struct kube_occurrence *occurrence CCM_UNUSED)
{
    int *left = arg;

    return (*left)-- > 0;
}

static void test_lasting_is_said_again(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 201, NULL, "{}" }, { 200, NULL, "{}" } };
    struct ccm_test_script script = { answers, 2 };
    int left = 2;
    const struct kube_event_lasting lasting = { 50, exists_twice, &left };
    struct fixture f;

    fixture_open_lasting(&f, &lasting, ccm_test_play, &script);
    emit_standing(&f, "web", "topic", "cause", "id 1");
    emit_standing(&f, "web", "topic", "cause", "id 2");
    assert_true(ccm_test_server_wait(f.server, 3));
    fixture_close(&f, DRAIN_MS); /* the object went after that */
    assert_int_equal(left, 0);
}

/* Its Event is there: of an earlier process, and how old decides. */
static void adopt_event(const char *event, size_t requests, int64_t count)
{
    const struct ccm_test_answer answers[] = {
        { 409, NULL,
          "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"AlreadyExists\","
          "\"code\":409}" },
        { 200, NULL, event },
        { 200, NULL, "{}" },
        { 201, NULL, "{}" },
    };
    struct ccm_test_script script = { answers, 4 };
    struct fixture f;

    fixture_open(&f, ccm_test_play, &script);
    emit_standing(&f, "web", "topic", "cause", "id 9");
    assert_true(ccm_test_server_wait(f.server, requests));

    cJSON *looked = fixture_sent_request(&f, 1, "PATCH", "/api/v1/namespaces/demo/events/web.");

    assert_null(looked->child); /* it changes nothing */
    cJSON_Delete(looked);
    if (count > 0) {
        cJSON *patch = fixture_sent_request(&f, 2, "PATCH", "/api/v1/namespaces/demo/events/web.");

        assert_int_equal(ccm_json_i64(patch, "count", 0), count);
        assert_string_equal(ccm_json_text(patch, "message"), "id 9");
        cJSON_Delete(patch);
    }
    emit_event(&f, "api", "the next one");
    assert_true(ccm_test_server_wait(f.server, requests + 1));
    cJSON_Delete(fixture_sent_request(&f, requests, "POST", "/api/v1/namespaces/demo/events"));
    fixture_close(&f, DRAIN_MS);
}

static void test_old_event_is_counted_on(void **state CCM_UNUSED)
{
    adopt_event("{\"count\":7,\"lastTimestamp\":\"2020-01-01T00:00:00Z\"}", 3, 8);
}

static void test_young_event_is_left(void **state CCM_UNUSED)
{
    char now[CCM_CLOCK_TEXT];
    CCM_CLEANUP(ccm_freep) char *event = NULL;

    ccm_clock_format(ccm_clock_wall_ms(), now, sizeof(now));
    event = ccm_text_format("{\"count\":7,\"lastTimestamp\":\"%s\"}", now);
    assert_non_null(event);
    adopt_event(event, 2, 0);
}

static int group_setup(void **state CCM_UNUSED)
{
    const int fd = mkstemp(config_path);

    if (fd < 0 || close(fd) < 0) {
        return -1;
    }
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : -1;
}

static int group_teardown(void **state CCM_UNUSED)
{
    curl_global_cleanup();
    return unlink(config_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_order_of_writes),
        cmocka_unit_test(test_namespaces_take_turns),
        cmocka_unit_test(test_a_new_namespace_waits_for_its_turn),
        cmocka_unit_test(test_the_namespace_with_most_loses_first),
        cmocka_unit_test(test_book_is_bounded),
        cmocka_unit_test(test_spam),
        cmocka_unit_test(test_spam_is_bounded),
        cmocka_unit_test(test_event_name),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_create_then_count),
        cmocka_unit_test(test_gone_is_created_anew),
        cmocka_unit_test(test_retry),
        cmocka_unit_test(test_lost_answer),
        cmocka_unit_test(test_refused_is_dropped),
        cmocka_unit_test(test_dropped_ones_are_logged_with_their_namespace),
        cmocka_unit_test(test_refusals_take_turns),
        cmocka_unit_test(test_text_is_cut),
        cmocka_unit_test(test_drain),
        cmocka_unit_test(test_stuck_server),
        cmocka_unit_test(test_engine_stopped_first),
        cmocka_unit_test(test_standing_is_due_again),
        cmocka_unit_test(test_standing_first),
        cmocka_unit_test(test_all_topics_end),
        cmocka_unit_test(test_standing_waits_first),
        cmocka_unit_test(test_standing_without_room_is_due),
        cmocka_unit_test(test_lasting_is_said_again),
        cmocka_unit_test(test_old_event_is_counted_on),
        cmocka_unit_test(test_young_event_is_left),
    };

    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
