#include "kube/object/version.h"
#include "support/reflector_world.h"

/* --- broken connections --- */

static bool answer_cut(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    (void)target;
    switch (n) {
    case 0:
        if (begin_stream(conn) && ccm_test_conn_chunk(conn, END_MARK("5")) &&
            ccm_test_conn_chunk(conn, EVENT("ADDED", OBJECT("a", "6"))) &&
            ccm_test_conn_chunk(conn, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"na")) {
            wait_gate(w, 1);
            ccm_test_conn_reset(conn);
        }
        return false;
    case 1: /* a clean end in the middle of a line */
        return begin_stream(conn) &&
               ccm_test_conn_chunk(conn, EVENT("ADDED", OBJECT("b", "7")) "{\"type\":") &&
               end_stream(conn);
    case 2: /* no answer at all */
        return false;
    default:
        return hold(conn, EVENT("ADDED", OBJECT("c", "8")));
    }
}

static void test_cut_in_the_middle_of_a_line(void **state)
{
    struct world *w = start(answer_cut);
    struct kube_reflector_status status;

    (void)state;
    expect_told(w, "+a:6 ");
    open_gate(w, 1);
    expect_told(w, "+a:6 +b:7 +c:8 ");
    expect_asked(w, STREAM_REQUEST WATCH_REQUEST("6") WATCH_REQUEST("7") WATCH_REQUEST("7"));
    kube_reflector_status(w->reflector, &status);
    assert_int_equal(status.lists, 1);
    assert_string_not_equal(status.error, "");
    finish(w);
}

static const char *const rubbish[] = {
    "HELLO\n",
    "[1,2]\n",
    "{\"type\":\"ADDED\"}\n",
    "{\"kind\":\"ServiceList\",\"items\":[]}\n",
    EVENT("EXPLODED", OBJECT("x", "9")),
    EVENT("ADDED", "{\"metadata\":{}}"),
    EVENT("ADDED", "{\"metadata\":{\"name\":\"x\"}}"),
    EVENT("ADDED", "\"text\""),
    EVENT("BOOKMARK", "{}"),
    EVENT("BOOKMARK", "7"),
    "{\"type\":\"ADDED\",\"object\":}\n",
};

static bool answer_rubbish(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    if (is_initial(target)) {
        return begin_stream(conn) && ccm_test_conn_chunk(conn, END_MARK("5")) && end_stream(conn);
    }
    /* Each kind of rubbish once, with a good event before, so that it is never three times in a
     * row. */
    if (n > 0 && (size_t)n <= CCM_ARRAY_LEN(rubbish)) {
        return begin_stream(conn) && ccm_test_conn_chunk(conn, BOOKMARK("6")) &&
               ccm_test_conn_chunk(conn, rubbish[n - 1]) && (ccm_test_conn_hang(conn), false);
    }
    return hold(conn, EVENT("ADDED", OBJECT("a", "9")));
}

static void test_rubbish_on_a_watch(void **state)
{
    struct world *w = start(answer_rubbish);
    struct kube_reflector_status status;

    (void)state;
    expect_told(w, "+a:9 ");
    kube_reflector_status(w->reflector, &status);
    assert_int_equal(status.lists, 1);
    finish(w);
}

static bool answer_only_rubbish(struct world *w, struct ccm_test_conn *conn, int n,
                                const char *target)
{
    (void)w;
    if (is_initial(target)) {
        return n == 0 ? begin_stream(conn) && ccm_test_conn_chunk(conn, END_MARK("5")) &&
                            end_stream(conn)
                      : hold(conn, EVENT("ADDED", OBJECT("a", "6")) END_MARK("6"));
    }
    return hold(conn, "rubbish\n");
}

static void test_three_times_rubbish_lists_again(void **state)
{
    struct world *w = start(answer_only_rubbish);

    (void)state;
    expect_told(w, "+a:6 ");
    expect_asked(w, STREAM_REQUEST WATCH_REQUEST("5") WATCH_REQUEST("5") WATCH_REQUEST("5")
                        STREAM_REQUEST);
    finish(w);
}

static bool answer_silent(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    if (is_initial(target)) {
        return n == 0 ? hold(conn, END_MARK("4") BOOKMARK("5"))
                      : hold(conn, EVENT("ADDED", OBJECT("a", "6")) END_MARK("6"));
    }
    /* Bytes without an end are no progress either. */
    if (begin_stream(conn)) {
        while (ccm_test_conn_chunk(conn, " ") && ccm_test_conn_pause(conn, 5)) {
        }
    }
    return false;
}

static void test_silence(void **state)
{
    struct world *w =
        start_with(answer_silent, &(struct kube_reflector_timing){ .progress_ms = 60 });

    (void)state;
    expect_told(w, "+a:6 ");
    expect_asked(w, STREAM_REQUEST WATCH_REQUEST("5") STREAM_REQUEST);
    finish(w);
}

/* Nobody changes objects of this kind, and the server has no news for bookmarks. */
static bool answer_quiet(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    if (is_initial(target)) {
        return hold(conn, n == 0 ? END_MARK("5") : EVENT("ADDED", OBJECT("a", "6")) END_MARK("6"));
    }
    note(w, &w->told, n == 4 ? "quiet " : "");
    return hold(conn, "");
}

static void test_quiet_is_no_failure(void **state)
{
    struct world *w =
        start_with(answer_quiet, &(struct kube_reflector_timing){ .progress_ms = 60 });
    struct kube_reflector_status status;

    (void)state;
    expect_told(w, "quiet ");
    kube_reflector_status(w->reflector, &status);
    assert_int_equal(status.failures, 0);
    assert_int_equal(status.lists, 1);
    expect_told(w, "quiet +a:6 "); /* the server might have lost sight of the kind after all */
    expect_asked(w, STREAM_REQUEST WATCH_REQUEST("5") WATCH_REQUEST("5") WATCH_REQUEST("5")
                        WATCH_REQUEST("5") WATCH_REQUEST("5") WATCH_REQUEST("5") WATCH_REQUEST("5")
                            WATCH_REQUEST("5") WATCH_REQUEST("5") STREAM_REQUEST);
    finish(w);
}

static bool answer_error_events(struct world *w, struct ccm_test_conn *conn, int n,
                                const char *target)
{
    (void)w;
    (void)target;
    switch (n) {
    case 0:
        return begin_stream(conn) && ccm_test_conn_chunk(conn, END_MARK("5")) && end_stream(conn);
    case 1: /* the server is ill: resume */
        return begin_stream(conn) &&
               ccm_test_conn_chunk(conn, EVENT("ERROR", STATUS(500, "InternalError"))) &&
               end_stream(conn);
    case 2:
        return ccm_test_conn_reply(conn, 429, "Retry-After: 0\r\n", "Too many requests");
    case 3: /* the server says that the request is wrong: only a list can help */
        return begin_stream(conn) &&
               ccm_test_conn_chunk(conn, EVENT("ERROR", STATUS(400, "BadRequest"))) &&
               end_stream(conn);
    default:
        return hold(conn, EVENT("ADDED", OBJECT("a", "6")) END_MARK("6"));
    }
}

static void test_other_errors_by_code(void **state)
{
    struct world *w = start(answer_error_events);

    (void)state;
    expect_told(w, "+a:6 ");
    expect_asked(w, STREAM_REQUEST WATCH_REQUEST("5") WATCH_REQUEST("5") WATCH_REQUEST("5")
                        STREAM_REQUEST);
    finish(w);
}

/* --- refused --- */

static bool answer_forbidden(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    switch (n) {
    case 0:
        return ccm_test_conn_reply(conn, 403, "", STATUS(403, "Forbidden"));
    case 1:
        return ccm_test_conn_reply(conn, 401, "", STATUS(401, "Unauthorized"));
    case 2:
        return ccm_test_conn_reply(conn, 404, "", "404 page not found");
    case 3:
        return ccm_test_conn_reply(conn, 503, "", "");
    default: /* the last failure was that of a server which cannot stream: pages follow */
        wait_gate(w, 1);
        return is_watch(target)
                   ? hold(conn, EVENT("ADDED", OBJECT("b", "7")) EVENT("ADDED", OBJECT("c", "8")))
                   : ccm_test_conn_reply(conn, 200, "", LIST("6", "", OBJECT("a", "6")));
    }
}

static void test_refused_then_healed(void **state)
{
    struct world *w = start(answer_forbidden);
    struct kube_reflector_status status;

    (void)state;
    expect_asked(w, STREAM_REQUEST STREAM_REQUEST STREAM_REQUEST STREAM_REQUEST PAGE_REQUEST);
    kube_reflector_status(w->reflector, &status);
    assert_false(status.synced);
    assert_int_equal(status.failures, 3);
    assert_string_not_equal(status.error, "");
    open_gate(w, 1);
    expect_synced(w);
    expect_told(w, "+a:6 +b:7 +c:8 ");
    kube_reflector_status(w->reflector, &status);
    assert_int_equal(status.failures, 0);
    finish(w);
}

/* --- a server that begins: the first ones are refused --- */

static bool answer_begins(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    (void)target;
    return n < 4 ? ccm_test_conn_reply(conn, 403, "", STATUS(403, "Forbidden"))
                 : hold(conn, EVENT("ADDED", OBJECT("a", "6")) END_MARK("6"));
}

static void test_first_refusals_are_tried_again_soon(void **state)
{
    struct world *w = world_new(answer_begins);
    struct kube_reflector_config config = config_of(w);

    (void)state;
    config.timing.refused_ms = 600000;
    w->reflector = kube_reflector_new(&config);
    assert_int_equal(kube_reflector_start(w->reflector), 0);
    expect_told(w, "+a:6 ");
    finish(w);
}

/* --- answers that must not pass for an empty list --- */

static const char *const no_lists[] = {
    "",
    "{}",
    "<html>404</html>",
    STATUS(200, "Success"),
    "{\"kind\":\"ServiceList\",\"metadata\":{\"resourceVersion\":\"9\"}}",
    "{\"kind\":\"ServiceList\",\"metadata\":{},\"items\":[]}",
    "{\"kind\":\"ServiceList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":{}}",
    "{\"kind\":\"ServiceList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[",
    "{\"kind\":\"ServiceList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[]",
    "{\"kind\":\"ServiceList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[{}]}",
    "{\"kind\":\"ServiceList\",\"metadata\":[],\"items\":[]}",
};

static bool answer_no_list(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    if (is_initial(target)) {
        return no_streaming(conn);
    }
    if (n == 1) {
        return ccm_test_conn_reply(conn, 200, "", LIST("5", "", OBJECT("a", "1")));
    }
    if (n == 2) {
        return ccm_test_conn_reply(conn, 410, "", STATUS(410, "Expired"));
    }
    if ((size_t)n < 3 + CCM_ARRAY_LEN(no_lists)) {
        return ccm_test_conn_reply(conn, 200, "", no_lists[n - 3]);
    }
    if (is_watch(target)) {
        return hold(conn, "");
    }
    return ccm_test_conn_reply(conn, 200, "", LIST("9", "", OBJECT("a", "1") "," OBJECT("b", "9")));
}

static void test_what_is_no_list_deletes_nothing(void **state)
{
    struct world *w = start(answer_no_list);

    (void)state;
    expect_told(w, "+a:1 +b:9 ");
    finish(w);
}

/* One Service changes into something that cannot be read: its last version stays, a relist
 * included. */
static bool answer_unreadable(struct world *w, struct ccm_test_conn *conn, int n,
                              const char *target)
{
#define UNREADABLE                                                                                 \
    "{\"metadata\":{\"name\":\"a\",\"uid\":\"u-a\",\"resourceVersion\":\"7\"},\"spec\":[]}"
    (void)w;
    (void)target;
    switch (n) {
    case 0:
        return begin_stream(conn) &&
               ccm_test_conn_chunk(conn, EVENT("ADDED", OBJECT("a", "1")) END_MARK("5")) &&
               ccm_test_conn_chunk(conn, EVENT("MODIFIED", UNREADABLE)) && end_stream(conn);
    case 1:
        return ccm_test_conn_reply(conn, 410, "", STATUS(410, "Expired"));
    default:
        return hold(conn, EVENT("ADDED", UNREADABLE) EVENT("ADDED", OBJECT("b", "8")) END_MARK("9")
                              EVENT("DELETED", UNREADABLE));
    }
#undef UNREADABLE
}

static void test_unreadable_object(void **state)
{
    struct world *w = start(answer_unreadable);

    (void)state;
    expect_told(w, "+a:1 +b:8 -a:1 ");
    expect_asked(w, STREAM_REQUEST WATCH_REQUEST("7") STREAM_REQUEST);
    finish(w);
}

/* --- versions that go backwards --- */

static void test_which_version_is_older(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        bool older;
    } rows[] = {
        { "1", "2", true },
        { "9", "10", true },
        { "99999999999999999999998", "99999999999999999999999", true },
        { "2", "1", false },
        { "10", "9", false },
        { "7", "7", false },
        /* Nobody knows. */
        { "", "7", false },
        { "7", "", false },
        { "0", "7", false },
        { "07", "8", false },
        { "a7", "b8", false },
        { "7a", "8", false },
        { "7", "8a", false },
        { "-7", "8", false },
        { " 7", "8", false },
        { "7", "Unknown", false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        assert_int_equal(kube_version_is_older(rows[i].a, rows[i].b), rows[i].older);
    }
}

/* How the watch of the server ends that is replaced. */
static enum { CUT, RUBBISH, EARLY_END } restored_after;
static bool another_cache_sees_it; /* while this one lists */

/* The watch ends, and the server that answers next was restored from a backup. */
static bool answer_restored(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)target;
    if (n == 0) {
        if (!begin_stream(conn) ||
            !ccm_test_conn_chunk(conn, EVENT("ADDED", OBJECT("a", "40"))
                                           EVENT("ADDED", OBJECT("b", "49")) END_MARK("50"))) {
            return false;
        }
        wait_gate(w, 1);
        if (restored_after == CUT) {
            ccm_test_conn_reset(conn);
            return false;
        }
        return restored_after == RUBBISH ? ccm_test_conn_chunk(conn, "<html>\n") && end_stream(conn)
                                         : end_stream(conn);
    }
    if (another_cache_sees_it) {
        kube_continuity_break(&w->continuity, "another cache");
    }
    return hold(conn, EVENT("ADDED", OBJECT("a", "12")) END_MARK("13"));
}

static void check_restored_server(void)
{
    struct world *w = start(answer_restored);
    struct kube_reflector_status status;

    w->checked = "13";
    expect_told(w, "+a:40 +b:49 ");
    expect_synced(w);

    const int64_t before_ms = kube_continuity_since(&w->continuity, 0);

    assert_true(before_ms > 0);
    open_gate(w, 1);
    expect_told(w, "+a:40 +b:49 ~a:40>12 !b:49 ");
    expect_asked(w, STREAM_REQUEST STREAM_REQUEST);
    assert_int_equal(w->checks, 1);

    const int64_t deadline = ccm_clock_now_ms() + WAIT_MS;

    do { /* it is counted after its changes were told */
        kube_reflector_status(w->reflector, &status);
    } while (status.lists < 2 && ccm_clock_now_ms() < deadline);
    assert_int_equal(status.lists, 2);
    assert_non_null(strstr(status.error, "is at version 13 and was at 50 before"));
    assert_int_equal(w->continuity.breaks, another_cache_sees_it ? 2 : 1);
    assert_true(kube_continuity_since(&w->continuity, 0) > before_ms);
    finish(w);
}

static void test_a_restored_server(void **state)
{
    (void)state;
    restored_after = CUT;
    check_restored_server();
    restored_after = RUBBISH;
    check_restored_server();
    restored_after = EARLY_END;
    check_restored_server();
    /* What another cache notices meanwhile is the same change, and costs no further list. */
    another_cache_sees_it = true;
    restored_after = CUT;
    check_restored_server();
}

/* The watch stays open and says nothing; the second list is that of another server. */
static bool answer_silently(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    (void)w;
    (void)target;
    return hold(conn, n == 0 ? EVENT("ADDED", OBJECT("a", "40")) END_MARK("50")
                             : EVENT("ADDED", OBJECT("b", "12")) END_MARK("13"));
}

/* Another cache has noticed a change of the server; the watch of this one hears of nothing. */
static void test_a_change_that_others_noticed(void **state)
{
    struct world *w = start(answer_silently);

    (void)state;
    expect_told(w, "+a:40 ");
    expect_synced(w);

    const int64_t listed_ms = ccm_clock_now_ms();

    while (ccm_clock_now_ms() == listed_ms) {
        /* the break is later than the list, by that clock as well */
    }
    kube_continuity_break(&w->continuity, "another cache");
    kube_reflector_relist_after_break(w->reflector);
    expect_told(w, "+a:40 +b:12 !a:40 ");
    expect_asked(w, STREAM_REQUEST STREAM_REQUEST);
    finish(w);
}

/* The same server after a broken connection: the watch goes on, whatever its versions look like. */
static void test_the_same_server(void **state)
{
    static const char *const versions[] = { "50", "51", "1000", "1f", "007", "none" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(versions); i++) {
        struct world *w = world_new(answer_cut);
        const struct kube_reflector_config config = config_of(w);

        w->checked = versions[i];
        w->reflector = kube_reflector_new(&config);
        assert_non_null(w->reflector);
        assert_int_equal(kube_reflector_start(w->reflector), 0);
        open_gate(w, 1);
        expect_told(w, "+a:6 +b:7 +c:8 ");
        expect_asked(w, STREAM_REQUEST WATCH_REQUEST("6") WATCH_REQUEST("7") WATCH_REQUEST("7"));
        finish(w);
    }
}

#define BACKWARDS_TIMES 3

/* Events and bookmarks that go backwards within a watch. */
static bool answer_backwards(struct world *w, struct ccm_test_conn *conn, int n, const char *target)
{
    static const char *const lower[BACKWARDS_TIMES] = {
        BOOKMARK("7"),
        EVENT("MODIFIED", OBJECT("a", "8")),
        EVENT("DELETED", OBJECT("a", "9")),
    };

    (void)w;
    (void)target;
    if (n < BACKWARDS_TIMES) {
        return begin_stream(conn) &&
               ccm_test_conn_chunk(conn, EVENT("ADDED", OBJECT("a", "5")) END_MARK("50")) &&
               ccm_test_conn_chunk(conn, BOOKMARK("51")) && ccm_test_conn_chunk(conn, lower[n]) &&
               (ccm_test_conn_hang(conn), false);
    }
    return hold(conn, EVENT("ADDED", OBJECT("b", "6")) END_MARK("50"));
}

static void test_versions_that_go_backwards(void **state)
{
    const int64_t started = ccm_clock_now_ms();
    struct world *w =
        start_with(answer_backwards, &(struct kube_reflector_timing){ .backoff_min_ms = 200 });
    struct kube_reflector_status status;

    (void)state;
    expect_asked(w, STREAM_REQUEST STREAM_REQUEST STREAM_REQUEST STREAM_REQUEST);
    expect_synced(w);
    kube_reflector_status(w->reflector, &status);
    assert_non_null(strstr(status.error, "and was at 51 before: it was replaced"));
    /* At once the first time, after that with pauses: a server that counts in another way is not
     * listed all the time. */
    assert_true(ccm_clock_now_ms() - started >= 100 + 200);
    finish(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_in_the_middle_of_a_line),
        cmocka_unit_test(test_rubbish_on_a_watch),
        cmocka_unit_test(test_three_times_rubbish_lists_again),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_quiet_is_no_failure),
        cmocka_unit_test(test_other_errors_by_code),
        cmocka_unit_test(test_refused_then_healed),
        cmocka_unit_test(test_first_refusals_are_tried_again_soon),
        cmocka_unit_test(test_what_is_no_list_deletes_nothing),
        cmocka_unit_test(test_unreadable_object),
        cmocka_unit_test(test_which_version_is_older),
        cmocka_unit_test(test_a_restored_server),
        cmocka_unit_test(test_a_change_that_others_noticed),
        cmocka_unit_test(test_the_same_server),
        cmocka_unit_test(test_versions_that_go_backwards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
