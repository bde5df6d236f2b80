/* Streaming lists that a server cannot give, whatever it says instead. */
#include "support/reflector_world.h"

/* What a server may answer to a streaming list without ever ending it. */
struct failure {
    const char *name;
    unsigned status; /* 200: a stream of `text` */
    const char *text;
    bool stays_open; /* after the text, in silence */
};

static const struct failure failures[] = {
    { "not known", 422, STATUS(422, "Invalid"), false },
    { "not known, an older server", 400, STATUS(400, "BadRequest"), false },
    { "a status of another kind", 405, STATUS(405, "MethodNotAllowed"), false },
    { "broken", 500, STATUS(500, "InternalError"), false },
    { "not there", 503, "no healthy upstream", false },
    { "the storage lacks what it needs", 200, EVENT("ERROR", STATUS(500, "InternalError")), false },
    { "the same, after a part", 200,
      EVENT("ADDED", OBJECT("x", "1")) EVENT("ERROR", STATUS(500, "InternalError")), true },
    { "too late", 200, EVENT("ERROR", STATUS(504, "Timeout")), false },
    { "silence", 200, "", true },
    { "a part, then silence", 200, EVENT("ADDED", OBJECT("x", "1")), true },
    { "an end without a mark", 200, EVENT("ADDED", OBJECT("x", "1")), false },
    { "an end without a word", 200, "", false },
    { "a list instead", 200, LIST("9", "", OBJECT("x", "1")), false },
    { "text", 200, "<html>\n", false },
    { "half a line", 200, "{\"type\":\"ADDED\",\"obj", false },
    { "an old bookmark", 200, BOOKMARK("7"), true },
};

static const struct failure *failing; /* that of the test at hand */

static bool answer_failing(struct ccm_test_conn *conn)
{
    if (failing->status != 200) {
        return ccm_test_conn_reply(conn, failing->status, "", failing->text);
    }
    if (failing->stays_open) {
        return hold(conn, failing->text);
    }
    return begin_stream(conn) &&
           (failing->text[0] == '\0' || ccm_test_conn_chunk(conn, failing->text)) &&
           end_stream(conn);
}

static bool answer_only_pages(struct world *w, struct ccm_test_conn *conn, int n,
                              const char *target)
{
    (void)w;
    (void)n;
    if (is_initial(target)) {
        return answer_failing(conn);
    }
    return is_watch(target) ? hold(conn, "")
                            : ccm_test_conn_reply(conn, 200, "", LIST("5", "", OBJECT("a", "1")));
}

/* One request, and the next is for pages. */
static void test_whatever_fails_pages_follow(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(failures); i++) {
        const struct kube_reflector_timing timing = { .initial_ms = 50, .backoff_min_ms = 60000 };
        struct kube_reflector_status status;

        print_message("%s\n", failures[i].name);
        failing = &failures[i];

        struct world *w = start_with(answer_only_pages, &timing);

        expect_synced(w);
        expect_told(w, "+a:1 ");
        expect_asked(w, STREAM_REQUEST PAGE_REQUEST WATCH_REQUEST("5"));
        kube_reflector_status(w->reflector, &status);
        assert_false(status.streaming);
        assert_int_equal(status.failures, 0);
        finish(w);
    }
}

/* Pages until the time for them is over; then the server can. */
static bool answer_later(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)n;
    pthread_mutex_lock(&w->lock);

    const bool paged = strstr(ccm_buf_str(&w->asked), PAGE_REQUEST) != NULL;

    pthread_mutex_unlock(&w->lock);
    if (is_initial(target) && paged) {
        return hold(conn, EVENT("ADDED", OBJECT("b", "6")) END_MARK("7"));
    }
    if (is_initial(target)) {
        return no_streaming(conn);
    }
    return is_watch(target) ? ccm_test_conn_reply(conn, 410, "", STATUS(410, "Gone"))
                            : ccm_test_conn_reply(conn, 200, "", LIST("5", "", OBJECT("a", "1")));
}

static void test_streaming_is_tried_again(void **state)
{
    const struct kube_reflector_timing timing = { .paged_ms = 20 };
    struct world *w = start_with(answer_later, &timing);

    (void)state;
    expect_told(w, "+a:1 +b:6 !a:1 "); /* "b" is in the streaming list alone */
    finish(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whatever_fails_pages_follow),
        cmocka_unit_test(test_streaming_is_tried_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
