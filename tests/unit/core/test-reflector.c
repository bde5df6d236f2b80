#include "support/reflector_world.h"

/* --- the ordinary life --- */

static bool answer_streaming(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)target;
    if (n == 0) {
        return begin_stream(conn) && ccm_test_conn_chunk(conn, EVENT("ADDED", OBJECT("a", "3"))) &&
               ccm_test_conn_chunk(conn, EVENT("ADDED", OBJECT("b", "1")) END_MARK("10")) &&
               (wait_gate(w, 1), true) &&
               ccm_test_conn_chunk(conn, EVENT("MODIFIED", OBJECT("a", "11"))) &&
               ccm_test_conn_chunk(conn, EVENT("DELETED", OBJECT("b", "12")) BOOKMARK("15")) &&
               end_stream(conn);
    }
    return hold(conn, n == 1 ? EVENT("ADDED", OBJECT("c", "16")) : "");
}

static void test_streaming_list_then_watch(void **state)
{
    struct world *w = start(answer_streaming);
    struct kube_reflector_status status;

    (void)state;
    expect_synced(w);
    expect_told(w, "+a:3 +b:1 ");
    kube_reflector_status(w->reflector, &status);
    assert_true(status.synced);
    assert_true(status.streaming);
    assert_int_equal(status.objects, 2);
    assert_int_equal(status.lists, 1);
    assert_int_equal(status.failures, 0);
    assert_string_equal(status.error, "");
    open_gate(w, 1);
    expect_told(w, "+a:3 +b:1 ~a:3>11 -b:1 +c:16 ");
    expect_asked(w, STREAM_REQUEST WATCH_REQUEST("15"));
    finish(w);
}

static bool answer_paged(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    if (is_initial(target)) {
        return no_streaming(conn);
    }
    switch (n) {
    case 1:
        return ccm_test_conn_reply(conn, 200, "",
                                   LIST("7", "next+/=", OBJECT("a", "1") "," OBJECT("b", "2")));
    case 2:
        return ccm_test_conn_reply(conn, 200, "", LIST("7", "", OBJECT("c", "3")));
    case 3: /* the watch: one event, then the version is gone */
        return begin_stream(conn) &&
               ccm_test_conn_chunk(conn, EVENT("MODIFIED", OBJECT("a", "8"))) &&
               ccm_test_conn_chunk(conn, EVENT("ERROR", STATUS(410, "Expired"))) &&
               end_stream(conn);
    case 4: /* meanwhile: a and b changed, c gone, e new */
        return ccm_test_conn_reply(
            conn, 200, "",
            LIST("20", "", OBJECT("e", "19") "," OBJECT("b", "18") "," OBJECT("a", "8")));
    default:
        return hold(conn, "");
    }
}

static void test_paged_list_and_410_event(void **state)
{
    struct world *w = start(answer_paged);
    struct kube_reflector_status status;

    (void)state;
    expect_told(w, "+a:1 +b:2 +c:3 ~a:1>8 +e:19 ~b:2>18 !c:3 ");
    assert_int_equal(w->continuity.breaks, 0); /* the same server, another list */
    kube_reflector_status(w->reflector, &status);
    assert_false(status.streaming);
    assert_true(status.due_ms > ccm_clock_now_ms()); /* it says when it shows up again */
    /* The second list goes to pages at once: the refusal is remembered. */
    expect_asked(w, STREAM_REQUEST PAGE_REQUEST
                 "/api/v1/services?limit=500&continue=next%2B%2F%3D\n" WATCH_REQUEST("7")
                     PAGE_REQUEST WATCH_REQUEST("20"));
    finish(w);
}

static bool answer_http_410(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    (void)target;
    if (n == 1) {
        return ccm_test_conn_reply(conn, 410, "", STATUS(410, "Gone"));
    }
    if (n == 0) {
        return begin_stream(conn) && ccm_test_conn_chunk(conn, END_MARK("5")) && end_stream(conn);
    }
    return hold(conn, EVENT("ADDED", OBJECT("a", "6")) END_MARK("6"));
}

static void test_410_of_the_request(void **state)
{
    struct world *w = start(answer_http_410);

    (void)state;
    expect_told(w, "+a:6 ");
    expect_asked(w, STREAM_REQUEST WATCH_REQUEST("5") STREAM_REQUEST);
    finish(w);
}

static bool answer_expiring_list(struct world *w, struct ccm_test_conn *conn, int n,
                                 const char *target)
{
    (void)w;
    if (is_initial(target)) {
        return no_streaming(conn);
    }
    switch (n) {
    case 1:
        return ccm_test_conn_reply(conn, 200, "", LIST("7", "t1", OBJECT("gone", "1")));
    case 2:
        return ccm_test_conn_reply(conn, 410, "", STATUS(410, "Expired"));
    case 3:
        return ccm_test_conn_reply(conn, 200, "", LIST("9", "t2", OBJECT("a", "8")));
    case 4: /* items as null, as some servers write an empty page */
        return ccm_test_conn_reply(
            conn, 200, "",
            "{\"kind\":\"ServiceList\",\"items\":null,\"metadata\":{\"resourceVersion\":\"9\"}}");
    default:
        return hold(conn, "");
    }
}

static void test_continue_token_expires(void **state)
{
    struct world *w = start(answer_expiring_list);

    (void)state;
    expect_synced(w);
    expect_told(w, "+a:8 ");
    expect_asked(w, STREAM_REQUEST PAGE_REQUEST
                 "/api/v1/services?limit=500&continue=t1\n" PAGE_REQUEST
                 "/api/v1/services?limit=500&continue=t2\n" WATCH_REQUEST("9"));
    finish(w);
}

/* --- servers that ignore sendInitialEvents --- */

static bool answer_ignorant(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)n;
    (void)w;
    if (is_initial(target)) {
        return hold(conn, EVENT("ADDED", OBJECT("a", "1")) BOOKMARK("4"));
    }
    if (is_watch(target)) {
        return hold(conn, "");
    }
    return ccm_test_conn_reply(conn, 200, "", LIST("4", "", OBJECT("a", "1")));
}

static void test_server_that_sends_plain_bookmarks(void **state)
{
    struct world *w = start(answer_ignorant);

    (void)state;
    expect_told(w, "+a:1 ");
    expect_asked(w, STREAM_REQUEST PAGE_REQUEST WATCH_REQUEST("4"));
    finish(w);
}

static bool answer_mute(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)n;
    (void)w;
    if (is_initial(target)) {
        return hold(conn, EVENT("ADDED", OBJECT("a", "1")));
    }
    if (is_watch(target)) {
        return hold(conn, "");
    }
    return ccm_test_conn_reply(conn, 200, "", LIST("4", "", OBJECT("a", "1")));
}

static void test_server_that_never_ends_the_list(void **state)
{
    struct world *w = start_with(answer_mute, &(struct kube_reflector_timing){ .initial_ms = 60 });

    (void)state;
    expect_told(w, "+a:1 ");
    expect_asked(w, STREAM_REQUEST PAGE_REQUEST WATCH_REQUEST("4"));
    finish(w);
}

/* --- live events before the end mark, and the filter --- */

static bool answer_lively_list(struct world *w, struct ccm_test_conn *conn, int n,
                               const char *target)
{
    (void)w;
    (void)n;
    (void)target;
    return hold(conn,
                EVENT("ADDED", OBJECT("a", "1")) EVENT("ADDED", OBJECT("b", "2"))
                    EVENT("ADDED", OBJECT("no", "2")) EVENT("MODIFIED", OBJECT("a", "6"))
                        EVENT("DELETED", OBJECT("b", "7")) END_MARK("7")
                            EVENT("ADDED", OBJECT("no", "8")) EVENT("ADDED", OBJECT("c", "9")));
}

static void test_events_before_the_end_mark(void **state)
{
    struct world *w = world_new(answer_lively_list);
    const struct kube_reflector_config config = config_of(w);

    (void)state;
    w->unwanted = "no";
    w->reflector = kube_reflector_new(&config);
    assert_int_equal(kube_reflector_start(w->reflector), 0);
    expect_told(w, "+a:6 +c:9 ");
    finish(w);
}

/* --- fetch and recheck --- */

static bool answer_fetch(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    if (strstr(target, "labelSelector") != NULL) {
        return n > 2 ? ccm_test_conn_reply(conn, 500, "", "")
                     : ccm_test_conn_reply(conn, 200, "", LIST("9", "", OBJECT("b", "2")));
    }
    return hold(conn,
                EVENT("ADDED", OBJECT("a", "1")) EVENT("ADDED", OBJECT("b", "2")) END_MARK("5"));
}

static void test_fetch_and_recheck(void **state)
{
    struct world *w = world_new(answer_fetch);
    const struct kube_reflector_config config = config_of(w);

    (void)state;
    w->unwanted = "b";
    w->reflector = kube_reflector_new(&config);
    assert_int_equal(kube_reflector_start(w->reflector), 0);
    expect_told(w, "+a:1 ");
    expect_synced(w);
    pthread_mutex_lock(&w->lock);
    w->unwanted = "a";
    pthread_mutex_unlock(&w->lock);
    assert_int_equal(kube_reflector_fetch(w->reflector, "k8s.io/name=b"), 0);
    assert_int_equal(kube_reflector_wait_fetched(w->reflector, ccm_clock_now_ms() + WAIT_MS), 0);
    assert_string_equal(ccm_buf_str(&w->told), "+a:1 +b:2 "); /* already */
    kube_reflector_recheck(w->reflector);
    expect_told(w, "+a:1 +b:2 -a:1 ");
    expect_asked(w, STREAM_REQUEST "/api/v1/services?limit=500&labelSelector=k8s.io%2Fname%3Db\n");
    pthread_mutex_lock(&w->lock);
    w->unwanted = NULL;
    w->requests = 10;
    pthread_mutex_unlock(&w->lock);
    /* A fetch that fails is made up for by a list. */
    assert_int_equal(kube_reflector_fetch(w->reflector, "x"), 0);
    expect_told(w, "+a:1 +b:2 -a:1 +a:1 ");
    expect_asked(w, STREAM_REQUEST "/api/v1/services?limit=500&labelSelector=k8s.io%2Fname%3Db\n"
                                   "/api/v1/services?limit=500&labelSelector=x\n" STREAM_REQUEST);
    finish(w);
}

static bool answer_no_fetch(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    (void)n;
    if (strstr(target, "labelSelector") != NULL) {
        ccm_test_conn_hang(conn);
        return false;
    }
    return hold(conn, END_MARK("5"));
}

static void test_wait_for_a_fetch(void **state)
{
    struct world *w = world_new(answer_no_fetch);
    const struct kube_reflector_config config = config_of(w);

    (void)state;
    w->reflector = kube_reflector_new(&config);
    assert_int_equal(kube_reflector_wait_fetched(w->reflector, ccm_clock_now_ms()), 0);
    assert_int_equal(kube_reflector_fetch(w->reflector, "x=y"), 0);
    /* No list yet: it will bring what is asked for. */
    assert_int_equal(kube_reflector_wait_fetched(w->reflector, ccm_clock_now_ms() + WAIT_MS),
                     -EAGAIN);
    assert_int_equal(kube_reflector_start(w->reflector), 0);
    expect_synced(w);
    expect_asked(w, STREAM_REQUEST "/api/v1/services?limit=500&labelSelector=x%3Dy\n");
    assert_int_equal(kube_reflector_wait_fetched(w->reflector, ccm_clock_now_ms() + 50),
                     -ETIMEDOUT);
    finish(w);
}

/* --- our own writes --- */

static bool answer_own(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)n;
    (void)target;
    return begin_stream(conn) &&
           ccm_test_conn_chunk(conn, EVENT("ADDED", OBJECT("a", "1")) END_MARK("1")) &&
           (wait_gate(w, 1), true) &&
           ccm_test_conn_chunk(conn, EVENT("MODIFIED", OBJECT("a", "2"))) &&
           (wait_gate(w, 2), true) &&
           ccm_test_conn_chunk(conn, EVENT("MODIFIED", OBJECT("a", "9"))) && hold(conn, "");
}

/* answer: NULL = the write failed. Returns whether there was something to end. */
static bool own_write(struct world *w, const char *key, const char *answer)
{
    struct kube_write *write = kube_reflector_begin_write(w->reflector, key);

    kube_reflector_end_write(w->reflector, write, answer, answer == NULL ? 0 : strlen(answer));
    return write != NULL;
}

static void expect_version(struct world *w, const char *version)
{
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = kube_store_get(w->store, "a");

    assert_non_null(object);
    assert_string_equal(object->resource_version, version);
}

static struct world *own_start(bool filtered, uint32_t own_ms)
{
    struct world *w = world_new(answer_own);
    struct kube_reflector_config config = config_of(w);

    config.keep = filtered ? keep : NULL;
    config.timing.own_ms = own_ms;
    w->reflector = kube_reflector_new(&config);
    assert_int_equal(kube_reflector_start(w->reflector), 0);
    expect_told(w, "+a:1 ");
    expect_synced(w);
    return w;
}

static void test_own_writes_are_shown_at_once(void **state)
{
    struct world *w = own_start(false, 0);

    (void)state;
    assert_true(own_write(w, "a", NULL));
    assert_true(own_write(w, "a", "{"));
    assert_true(own_write(w, "a", STATUS(200, "what is no object")));
    assert_true(own_write(w, "a", OBJECT("b", "9")));
    assert_false(own_write(w, "b", OBJECT("b", "9")));
    expect_version(w, "1");
    assert_true(own_write(w, "a", OBJECT("a", "9")));
    expect_version(w, "9");
    open_gate(w, 1);
    expect_told(w, "+a:1 ~a:1>2 ");
    expect_version(w, "9");
    open_gate(w, 2);
    expect_told(w, "+a:1 ~a:1>2 ~a:2>9 ");
    w->store_was_behind = false; /* it was ahead */
    finish(w);
}

static void test_own_writes_that_never_come(void **state)
{
    struct world *w = own_start(false, 50);

    (void)state;
    assert_true(own_write(w, "a", OBJECT("a", "7")));
    expect_version(w, "7");
    open_gate(w, 1);
    expect_told(w, "+a:1 ~a:1>2 ~a:7>2 ");
    expect_version(w, "2");
    w->store_was_behind = false; /* it was ahead */
    finish(w);
}

static void test_own_writes_beside_a_filter(void **state)
{
    struct world *w = own_start(true, 0);

    (void)state;
    assert_false(own_write(w, "a", OBJECT("a", "9")));
    expect_version(w, "1");
    finish(w);
}

/* --- one after the other --- */

#define NODES_REQUEST                                                                              \
    "/api/v1/nodes?watch=1&allowWatchBookmarks=true"                                               \
    "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\n"

static bool answer_after_gate(struct world *w, struct ccm_test_conn *conn, int n,
                              const char *target)
{
    (void)n;
    if (strstr(target, "nodes") != NULL) {
        wait_gate(w, 1);
    }
    return hold(conn, END_MARK("5"));
}

/* Nothing is asked before the other one has its list; both can be ended while one waits. */
static void test_after_another(void **state)
{
    for (int run = 0; run < 2; run++) {
        struct world *w = world_new(answer_after_gate);
        CCM_CLEANUP(kube_store_freep) struct kube_store *nodes = kube_store_new(NULL, 0);
        struct kube_reflector_config config = config_of(w);
        struct kube_reflector *first;

        (void)state;
        config.store = nodes;
        config.name = "nodes";
        config.path = "/api/v1/nodes";
        config.kind.kind = CCM_KIND_NODE;
        first = kube_reflector_new(&config);
        config = config_of(w);
        config.after = first;
        w->reflector = kube_reflector_new(&config);
        assert_int_equal(kube_reflector_start(w->reflector), 0);
        assert_int_equal(kube_reflector_start(first), 0);
        expect_asked(w, NODES_REQUEST);
        assert_int_equal(kube_reflector_wait_synced(w->reflector, ccm_clock_now_ms() + 30, NULL),
                         -ETIMEDOUT);
        assert_string_equal(ccm_buf_str(&w->asked), NODES_REQUEST);
        if (run == 0) {
            open_gate(w, 1);
            expect_synced(w);
            expect_asked(w, NODES_REQUEST STREAM_REQUEST);
        }
        kube_reflector_stop(first);
        kube_reflector_stop(w->reflector);
        assert_int_equal(kube_reflector_join(w->reflector, ccm_clock_now_ms() + WAIT_MS), 0);
        kube_reflector_free(first);
        finish(w);
    }
}

/* --- a reader that is too slow --- */

/* Far more than the queue takes: the rest has to wait in the connection. */
static bool answer_large(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = 0 };

    (void)w;
    (void)n;
    (void)target;
    for (int i = 0; i < 400; i++) {
        ccm_buf_addf(&body,
                     "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"s%d\","
                     "\"resourceVersion\":\"1\",\"annotations\":{\"fill\":\"%05000d\"}}}}\n",
                     i, 0);
    }
    ccm_buf_adds(&body, END_MARK("9"));
    return hold(conn, ccm_buf_str(&body));
}

static void test_slow_reader_makes_the_server_wait(void **state)
{
    struct world *w = world_new(answer_large);
    struct kube_reflector_config config = config_of(w);
    struct kube_reflector_status status;

    (void)state;
    config.max_pending = 60000;
    w->slow = true;
    w->reflector = kube_reflector_new(&config);
    assert_int_equal(kube_reflector_start(w->reflector), 0);
    expect_asked(w, STREAM_REQUEST "held\n");
    open_gate(w, 1);
    expect_synced(w);
    kube_reflector_status(w->reflector, &status);
    assert_int_equal(status.objects, 400);
    assert_int_equal(status.failures, 0);
    assert_string_equal(status.error, "");
    finish(w);
}

/* --- selectors, waiting, stopping --- */

static bool answer_hang(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    (void)n;
    (void)target;
    ccm_test_conn_hang(conn);
    return false;
}

static void test_selectors_and_waiting(void **state)
{
    struct world *w = world_new(answer_hang);
    struct kube_reflector_config config = config_of(w);
    struct ccm_cancel cancel = { .cancelled = false };

    (void)state;
    config.label_selector = "a in (b,c)";
    config.field_selector = "spec.type=LoadBalancer";
    w->reflector = kube_reflector_new(&config);
    assert_int_equal(kube_reflector_start(w->reflector), 0);
    expect_asked(w, "/api/v1/services?watch=1&allowWatchBookmarks=true"
                    "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                    "&labelSelector=a%20in%20%28b%2Cc%29&fieldSelector=spec.type%3DLoadBalancer\n");
    assert_int_equal(kube_reflector_wait_synced(w->reflector, ccm_clock_now_ms() + 30, &cancel),
                     -ETIMEDOUT);
    atomic_store(&cancel.cancelled, true);
    assert_int_equal(
        kube_reflector_wait_synced(w->reflector, ccm_clock_now_ms() + WAIT_MS, &cancel),
        -ECANCELED);
    kube_reflector_stop(w->reflector);
    assert_int_equal(kube_reflector_wait_synced(w->reflector, ccm_clock_now_ms() + WAIT_MS, NULL),
                     -ECANCELED);
    finish(w); /* while the request waits for its head */
}

static bool answer_refuse(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    (void)n;
    (void)target;
    return ccm_test_conn_reply(conn, 403, "", STATUS(403, "Forbidden"));
}

static void test_stop_while_it_waits_to_try_again(void **state)
{
    struct world *w = world_new(answer_refuse);
    struct kube_reflector_config config = config_of(w);

    (void)state;
    config.timing.refused_ms = 600000;
    config.timing.backoff_min_ms = 600000;
    config.timing.backoff_max_ms = 600000;
    w->reflector = kube_reflector_new(&config);
    assert_int_equal(kube_reflector_start(w->reflector), 0);
    expect_asked(w, STREAM_REQUEST);
    finish(w);
}

static void test_never_started(void **state)
{
    struct world *w = world_new(answer_refuse);
    const struct kube_reflector_config config = config_of(w);

    (void)state;
    w->reflector = kube_reflector_new(&config);
    finish(w);
    kube_reflector_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streaming_list_then_watch),
        cmocka_unit_test(test_paged_list_and_410_event),
        cmocka_unit_test(test_410_of_the_request),
        cmocka_unit_test(test_continue_token_expires),
        cmocka_unit_test(test_server_that_sends_plain_bookmarks),
        cmocka_unit_test(test_server_that_never_ends_the_list),
        cmocka_unit_test(test_events_before_the_end_mark),
        cmocka_unit_test(test_fetch_and_recheck),
        cmocka_unit_test(test_wait_for_a_fetch),
        cmocka_unit_test(test_own_writes_are_shown_at_once),
        cmocka_unit_test(test_own_writes_that_never_come),
        cmocka_unit_test(test_own_writes_beside_a_filter),
        cmocka_unit_test(test_after_another),
        cmocka_unit_test(test_slow_reader_makes_the_server_wait),
        cmocka_unit_test(test_selectors_and_waiting),
        cmocka_unit_test(test_stop_while_it_waits_to_try_again),
        cmocka_unit_test(test_never_started),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
