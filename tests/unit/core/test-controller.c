#include "sched/controller.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "group_watchdog.h"

#include "util/attr.h"
#include "util/clock.h"

/* Longer than anything here takes; reached only when the test fails. */
#define PATIENCE_MS 20000

static const struct sched_backoff_policy fast = {
    .rules = {
        [CCM_ERROR_TRANSIENT] = { .base_ms = 2, .max_ms = 4 },
        [CCM_ERROR_THROTTLED] = { .base_ms = 2, .max_ms = 4 },
        [CCM_ERROR_CONFLICT] = { .base_ms = 2, .max_ms = 4 },
        [CCM_ERROR_NOT_FOUND] = { .base_ms = 2, .max_ms = 4 },
        [CCM_ERROR_AUTH] = { .base_ms = 3600000, .max_ms = 3600000 },
        [CCM_ERROR_TERMINAL] = { .base_ms = 3600000, .max_ms = 3600000 },
        [CCM_ERROR_BUG] = { .base_ms = 3600000, .max_ms = 3600000 },
    },
};

static struct sched_controller *make(const struct sched_controller_options *options)
{
    struct sched_controller_options all = *options;
    struct sched_controller *controller = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    all.watchdog = watchdog;
    assert_int_equal(sched_controller_new(&all, &controller, &err), 0);
    return controller;
}

static void start(struct sched_controller *controller)
{
    struct ccm_error err = CCM_ERROR_INIT;

    assert_int_equal(sched_controller_start(controller, &err), 0);
}

static void finish(struct sched_controller *controller)
{
    sched_controller_stop(controller);
    assert_int_equal(sched_controller_join(controller, ccm_clock_now_ms() + PATIENCE_MS), 0);
    sched_controller_free(controller);
}

static struct sched_controller_stats stats_of(struct sched_controller *controller)
{
    struct sched_controller_stats stats;

    sched_controller_get_stats(controller, &stats);
    return stats;
}

/* Wait until so many calls have ended and their keys are settled. */
static void await_calls(struct sched_controller *controller, uint64_t calls)
{
    const int64_t end = ccm_clock_now_ms() + PATIENCE_MS;
    struct sched_controller_stats stats;

    do {
        assert_true(ccm_clock_now_ms() < end);
        stats = stats_of(controller);
    } while (stats.calls < calls || stats.queue.processing > 0);
}

/* Standard error goes to a file while a test reads the log. */
struct capture {
    FILE *file;
    int saved;
};

static struct capture capture_begin(void)
{
    const struct capture capture = { .file = tmpfile(), .saved = dup(STDERR_FILENO) };

    assert_non_null(capture.file);
    assert_true(capture.saved >= 0);
    assert_true(dup2(fileno(capture.file), STDERR_FILENO) >= 0);
    return capture;
}

static void capture_end(struct capture *capture, char *text, size_t size)
{
    assert_true(dup2(capture->saved, STDERR_FILENO) >= 0);
    assert_int_equal(close(capture->saved), 0);
    rewind(capture->file);
    text[fread(text, 1, size - 1, capture->file)] = '\0';
    assert_int_equal(fclose(capture->file), 0);
}

static size_t count_text(const char *text, const char *piece)
{
    size_t count = 0;

    while ((text = strstr(text, piece)) != NULL) {
        count++;
        text += strlen(piece);
    }
    return count;
}

/* --- exclusion ------------------------------------------------------------------------------ */

#define CROWD_KEYS 16

struct crowd {
    atomic_int inside[CROWD_KEYS];
    atomic_int overlaps;
    atomic_uint wanted[CROWD_KEYS]; /* written before each enqueue */
    atomic_uint seen[CROWD_KEYS];   /* `wanted` as the last call found it */
    int plain[CROWD_KEYS];          /* not atomic on purpose: the thread checker watches it */
};

static int crowd_reconcile(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                           struct ccm_error *err)
{
    struct crowd *crowd = arg;

    for (uint64_t i = 0; i < req->key_count; i++) {
        const int key = req->keys[i][0] - 'a';

        if (atomic_fetch_add(&crowd->inside[key], 1) != 0) {
            atomic_fetch_add(&crowd->overlaps, 1);
        }
        crowd->plain[key]++;
        atomic_store(&crowd->seen[key], atomic_load(&crowd->wanted[key]));
    }
    for (uint64_t i = 0; i < req->key_count; i++) {
        atomic_fetch_sub(&crowd->inside[req->keys[i][0] - 'a'], 1);
    }
    if (crowd->plain[req->keys[0][0] - 'a'] % 5 == 0) {
        return ccm_error_set(err, -EIO, CCM_ERROR_CANCELLED, "try me again"); /* uninvited */
    }
    ret->requeue_after_ms = crowd->plain[req->keys[0][0] - 'a'] % 7 == 0 ? 1 : 0;
    return 0;
}

struct feeder {
    struct sched_controller *controller;
    struct crowd *crowd;
    unsigned seed;
};

static void *feed(void *arg)
{
    const struct feeder *feeder = arg;

    for (unsigned i = 0; i < 2000; i++) {
        const unsigned key = (i * 7 + feeder->seed) % CROWD_KEYS;
        const char text[2] = { (char)('a' + key), '\0' };

        atomic_fetch_add(&feeder->crowd->wanted[key], 1);
        sched_controller_enqueue(feeder->controller, text, i % 4, i % 3);
    }
    return NULL;
}

static bool all_seen(struct crowd *crowd)
{
    for (int i = 0; i < CROWD_KEYS; i++) {
        if (atomic_load(&crowd->seen[i]) != atomic_load(&crowd->wanted[i])) {
            return false;
        }
    }
    return true;
}

static void run_crowd(uint32_t batch_max)
{
    static struct crowd crowd;
    struct feeder feeders[4];
    pthread_t threads[4];
    struct capture quiet = capture_begin();
    char text[64];

    memset(&crowd, 0, sizeof(crowd));

    struct sched_controller *controller = make(&(struct sched_controller_options){
        .name = "crowd",
        .workers = 16,
        .batch_max = batch_max,
        .backoff = &fast,
        .reconcile = crowd_reconcile,
        .arg = &crowd,
    });

    start(controller);
    for (unsigned i = 0; i < 4; i++) {
        feeders[i] = (struct feeder){ controller, &crowd, i };
        assert_int_equal(pthread_create(&threads[i], NULL, feed, &feeders[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }

    const int64_t end = ccm_clock_now_ms() + PATIENCE_MS;

    while (!all_seen(&crowd)) { /* no change is ever lost */
        assert_true(ccm_clock_now_ms() < end);
    }
    finish(controller);
    capture_end(&quiet, text, sizeof(text));
    assert_int_equal(atomic_load(&crowd.overlaps), 0);
}

static void test_never_twice_at_once(void **state)
{
    (void)state;
    run_crowd(1);
    run_crowd(5);
}

/* --- verdicts ------------------------------------------------------------------------------- */

struct script {
    int result;
    uint64_t kind;
    const char *message;
    uint64_t requeue_after_ms;
    atomic_int calls;
    atomic_int good_requests;
};

/* Follows the script once, succeeds afterwards. */
static int script_reconcile(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                            struct ccm_error *err)
{
    struct script *script = arg;
    const int64_t left_ms = req->deadline_ms - ccm_clock_now_ms();
    const struct ccm_cancel *flag = req->core;

    if (req->struct_size == sizeof(*req) && req->key_count == 1 && left_ms > 55000 &&
        left_ms <= 60000 && strncmp(req->id, "script-00000", 12) == 0 &&
        !atomic_load(&flag->cancelled) && ret->requeue_after_ms == 0 && err->message[0] == '\0') {
        atomic_fetch_add(&script->good_requests, 1);
    }
    if (atomic_fetch_add(&script->calls, 1) > 0) {
        return 0;
    }
    ret->requeue_after_ms = script->requeue_after_ms;
    if (script->result < 0 && script->kind != CCM_ERROR_NONE) {
        return ccm_error_set(err, script->result, script->kind, "%s", script->message);
    }
    return script->result;
}

static void test_verdicts(void **state)
{
    static const struct {
        int result;
        uint64_t kind;
        uint64_t requeue_after_ms;
        uint64_t calls;         /* that follow, with a retry where it comes soon */
        uint64_t failed_as;     /* kind that is counted; NONE: no failure */
        const char *logged;     /* NULL = nothing */
        const char *logged_too; /* NULL = nothing */
    } table[] = {
        { 0, 0, 0, 1, CCM_ERROR_NONE, NULL, NULL },
        { 0, 0, 1, 2, CCM_ERROR_NONE, NULL, NULL },
        { 0, 0, UINT64_MAX, 1, CCM_ERROR_NONE, NULL, NULL },
        { -EIO, CCM_ERROR_TRANSIENT, 0, 2, CCM_ERROR_TRANSIENT,
          "script-000001: transient: it broke; ", "warn  script default/web: " },
        { -EIO, CCM_ERROR_THROTTLED, 0, 2, CCM_ERROR_THROTTLED, ": throttled: it broke; retry in",
          "warn " },
        { -EIO, CCM_ERROR_CONFLICT, 0, 2, CCM_ERROR_CONFLICT, ": conflict: it broke; retry in",
          NULL },
        { -EIO, CCM_ERROR_NOT_FOUND, 0, 2, CCM_ERROR_NOT_FOUND, ": not found: it broke;", NULL },
        { -EIO, CCM_ERROR_AUTH, 0, 1, CCM_ERROR_AUTH, ": auth: it broke;",
          "error script default/web: " },
        { -EIO, CCM_ERROR_TERMINAL, 0, 1, CCM_ERROR_TERMINAL, ": terminal: it broke;", "error " },
        { -EIO, CCM_ERROR_BUG, 0, 1, CCM_ERROR_BUG, ": bug: it broke;", "error " },
        { -EIO, CCM_ERROR_CANCELLED, 0, 2, CCM_ERROR_TRANSIENT, ": transient: it broke;", NULL },
        { -EIO, CCM_ERROR_NONE, 0, 2, CCM_ERROR_TRANSIENT, ": transient: failed with code -5",
          NULL },
        { -EIO, 4711, 0, 2, CCM_ERROR_TRANSIENT, ": transient: it broke;", NULL },
        { 1, CCM_ERROR_NONE, 0, 1, CCM_ERROR_BUG, ": bug: reconcile returned 1,", NULL },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        struct script script = {
            .result = table[i].result,
            .kind = table[i].kind,
            .message = "it broke",
            .requeue_after_ms = table[i].requeue_after_ms,
        };
        struct capture capture = capture_begin();
        struct sched_controller *controller = make(&(struct sched_controller_options){
            .name = "script",
            .workers = 2,
            .timeout_ms = 60000,
            .backoff = &fast,
            .reconcile = script_reconcile,
            .arg = &script,
        });
        char text[4096];

        start(controller);
        sched_controller_enqueue(controller, "default/web", CCM_LANE_SPEC, 0);
        await_calls(controller, table[i].calls);

        const struct sched_controller_stats stats = stats_of(controller);

        finish(controller);
        capture_end(&capture, text, sizeof(text));
        assert_int_equal(stats.calls, table[i].calls);
        assert_int_equal(atomic_load(&script.good_requests), table[i].calls);
        assert_int_equal(stats.failed[table[i].failed_as], table[i].result != 0 ? 1 : 0);
        assert_int_equal(stats.requeued, table[i].requeue_after_ms > 0 ? 1 : 0);
        assert_int_equal(stats.queue.retries, table[i].result != 0 ? 1 : 0);
        /* What comes again much later is still waiting. */
        assert_int_equal(
            stats.queue.delayed,
            table[i].calls == 1 && (table[i].result != 0 || table[i].requeue_after_ms > 0) ? 1 : 0);
        assert_int_equal(count_text(text, "\n"), table[i].logged == NULL ? 0 : 1);
        if (table[i].logged != NULL && strstr(text, table[i].logged) == NULL) {
            fail_msg("row %zu: log is: %s", i, text);
        }
        if (table[i].logged_too != NULL && strstr(text, table[i].logged_too) == NULL) {
            fail_msg("row %zu: log is: %s", i, text);
        }
    }
}

/* --- batch ---------------------------------------------------------------------------------- */

struct batches {
    atomic_uint largest;
    atomic_uint keys;
    atomic_uint lanes; /* bit per lane that a call was told */
};

static int batch_reconcile(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                           struct ccm_error *err)
{
    struct batches *batches = arg;

    (void)ret;
    (void)err;
    atomic_fetch_add(&batches->keys, (unsigned)req->key_count);
    atomic_fetch_or(&batches->lanes, 1U << req->lane);
    if (req->key_count > atomic_load(&batches->largest)) {
        atomic_store(&batches->largest, (unsigned)req->key_count);
    }
    return 0;
}

/* Keys are taken from before the start, and not one is worked on until then. */
static void test_gate_and_batch(void **state)
{
    struct batches batches = { 0 };
    struct sched_controller *controller = make(&(struct sched_controller_options){
        .name = "route",
        .batch_max = 64,
        .reconcile = batch_reconcile,
        .arg = &batches,
    });
    char key[16];

    (void)state;
    for (int i = 0; i < 100; i++) {
        (void)snprintf(key, sizeof(key), "node-%d", i);
        sched_controller_enqueue(controller, key, CCM_LANE_BULK, 0);
    }
    assert_int_equal(stats_of(controller).queue.depth[CCM_LANE_BULK], 100);
    assert_int_equal(stats_of(controller).calls, 0);
    start(controller);
    await_calls(controller, 2);
    finish(controller);
    assert_int_equal(atomic_load(&batches.keys), 100);
    assert_int_equal(atomic_load(&batches.largest), 64);
    assert_int_equal(atomic_load(&batches.lanes), 1U << CCM_LANE_BULK);
}

/* One call, keys of two lanes: the more urgent one counts, wherever it stands in the batch. */
static void test_batch_takes_the_most_urgent_lane(void **state)
{
    struct batches batches = { 0 };
    struct sched_controller *controller = make(&(struct sched_controller_options){
        .name = "route",
        .batch_max = 64,
        .reconcile = batch_reconcile,
        .arg = &batches,
    });

    (void)state;
    sched_controller_enqueue(controller, "a", CCM_LANE_BULK, 0);
    sched_controller_enqueue(controller, "b", CCM_LANE_SPEC, 0);
    sched_controller_enqueue(controller, "c", CCM_LANE_BACKENDS, 0);
    start(controller);
    await_calls(controller, 1);
    finish(controller);
    assert_int_equal(atomic_load(&batches.keys), 3);
    assert_int_equal(atomic_load(&batches.lanes), 1U << CCM_LANE_SPEC);
}

static int batch_failure(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                         struct ccm_error *err)
{
    (void)arg;
    (void)req;
    (void)ret;
    (void)ccm_error_set(err, -EIO, CCM_ERROR_TERMINAL, "no route table"); /* returned below */
    memcpy(err->request_id, "ABC-1", sizeof("ABC-1"));
    return -EIO;
}

static void test_batch_failure_is_one_line(void **state)
{
    struct capture capture = capture_begin();
    struct sched_controller *controller = make(&(struct sched_controller_options){
        .name = "route", .batch_max = 8, .reconcile = batch_failure });
    char text[1024];

    (void)state;
    sched_controller_enqueue(controller, "n1", CCM_LANE_BULK, 0);
    sched_controller_enqueue(controller, "n2", CCM_LANE_BULK, 0);
    sched_controller_enqueue(controller, "n3", CCM_LANE_BULK, 0);
    start(controller);
    await_calls(controller, 1);
    assert_int_equal(stats_of(controller).queue.delayed, 3);
    finish(controller);
    capture_end(&capture, text, sizeof(text));
    assert_int_equal(count_text(text, "\n"), 1);
    assert_non_null(strstr(text, "route n1 (+2 more): route-000001: terminal: no route table"));
    assert_non_null(strstr(text, "(request ABC-1); retry in"));
}

/* --- a verdict per key ---------------------------------------------------------------------- */

#define ABSENT UINT64_MAX

/* What a call says about one key. */
struct said {
    uint64_t index;
    uint64_t requeue_after_ms;
    uint64_t kind; /* ABSENT = err is NULL */
};

struct settling {
    const struct said *said; /* ends with index ABSENT */
    int result;
    bool from_a_thread;
    const struct ccm_request *request;
};

static void *say_all(void *arg)
{
    const struct settling *settling = arg;

    for (const struct said *said = settling->said; said->index != ABSENT; said++) {
        struct ccm_error err = CCM_ERROR_INIT;

        if (said->kind != ABSENT && said->kind != CCM_ERROR_NONE) {
            (void)ccm_error_set(&err, 0, said->kind, "kind %d", (int)said->kind); /* text only */
        }
        sched_controller_settle(settling->request, said->index, said->requeue_after_ms,
                                said->kind == ABSENT ? NULL : &err);
    }
    return NULL;
}

static int settling_reconcile(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                              struct ccm_error *err)
{
    struct settling *settling = arg;
    pthread_t thread;

    (void)ret;
    settling->request = req;
    if (!settling->from_a_thread) {
        (void)say_all(settling);
    } else if (pthread_create(&thread, NULL, say_all, settling) == 0) {
        (void)pthread_join(thread, NULL);
    }
    return settling->result == 0
               ? 0
               : ccm_error_set(err, settling->result, CCM_ERROR_AUTH, "all of it");
}

/* Nothing comes again while the test looks. */
static const struct sched_backoff_policy slow = {
    .rules = {
        [CCM_ERROR_TRANSIENT] = { .base_ms = 3600000, .max_ms = 3600000 },
        [CCM_ERROR_THROTTLED] = { .base_ms = 3600000, .max_ms = 3600000 },
        [CCM_ERROR_CONFLICT] = { .base_ms = 3600000, .max_ms = 3600000 },
        [CCM_ERROR_NOT_FOUND] = { .base_ms = 3600000, .max_ms = 3600000 },
        [CCM_ERROR_AUTH] = { .base_ms = 3600000, .max_ms = 3600000 },
        [CCM_ERROR_TERMINAL] = { .base_ms = 3600000, .max_ms = 3600000 },
        [CCM_ERROR_BUG] = { .base_ms = 3600000, .max_ms = 3600000 },
    },
};

/* What one call says about its four keys, a to d, and what follows. */
static const struct {
    struct said said[6];
    int result;
    uint64_t succeeded;
    uint64_t requeued;
    uint64_t failed[2]; /* transient, auth: the kind of what the call returns */
    uint64_t conflicts;
    const char *lines[3]; /* of the log, all of them */
} settlements[] = {
    /* nobody is told: as the call returns */
    { { { ABSENT, 0, 0 } }, 0, 4, 0, { 0, 0 }, 0, { NULL } },
    { { { ABSENT, 0, 0 } },
      -EACCES,
      0,
      0,
      { 0, 4 },
      0,
      { "a (+3 more): r-000001: auth: all of it; retry in" } },
    /* mixed, and what is left succeeds */
    { { { 0, 0, ABSENT }, { 1, 3600000, ABSENT }, { 2, 0, CCM_ERROR_TRANSIENT }, { ABSENT, 0, 0 } },
      0,
      2,
      1,
      { 1, 0 },
      0,
      { "warn  r c: r-000001: transient: kind 1; retry in" } },
    /* mixed, and what is left fails */
    { { { 0, 0, CCM_ERROR_NONE }, { 3, 0, CCM_ERROR_CONFLICT }, { ABSENT, 0, 0 } },
      -EACCES,
      1,
      0,
      { 0, 2 },
      1,
      { "r d: r-000001: conflict: kind 3; retry in",
        "error r b (+1 more): r-000001: auth: all of it; retry in" } },
    /* the last word counts, whichever way it goes */
    { { { 1, 0, CCM_ERROR_CONFLICT },
        { 1, 0, ABSENT },
        { 2, 3600000, ABSENT },
        { 2, 0, CCM_ERROR_TRANSIENT },
        { ABSENT, 0, 0 } },
      0,
      3,
      0,
      { 1, 0 },
      0,
      { "r c: r-000001: transient: kind 1; retry in" } },
    /* not later than that */
    { { { 2, 60000, CCM_ERROR_TRANSIENT }, { ABSENT, 0, 0 } },
      0,
      3,
      0,
      { 1, 0 },
      0,
      { "r c: r-000001: transient: kind 1; retry in 60000 ms" } },
    /* a key that is none */
    { { { 4, 0, CCM_ERROR_TRANSIENT },
        { UINT64_MAX - 1, 0, CCM_ERROR_TRANSIENT },
        { ABSENT, 0, 0 } },
      0,
      4,
      0,
      { 0, 0 },
      0,
      { NULL } },
    /* given up although nobody asked for it, and a kind that nobody knows */
    { { { 0, 0, CCM_ERROR_CANCELLED }, { 1, 0, 4711 }, { ABSENT, 0, 0 } },
      0,
      2,
      0,
      { 2, 0 },
      0,
      { "r a: r-000001: transient: kind 7; retry in",
        "r b: r-000001: transient: kind 4711; retry in" } },
};

static void test_settle(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * CCM_ARRAY_LEN(settlements); i++) {
        const size_t row = i / 2;
        struct settling settling = {
            .said = settlements[row].said,
            .result = settlements[row].result,
            .from_a_thread = i % 2 == 1,
        };
        struct capture capture = capture_begin();
        struct sched_controller *controller = make(&(struct sched_controller_options){
            .name = "r",
            .batch_max = 8,
            .backoff = &slow,
            .reconcile = settling_reconcile,
            .arg = &settling,
        });
        char text[4096];
        size_t lines = 0;

        for (const char *key = "a\0b\0c\0d\0"; *key != '\0'; key += 2) {
            sched_controller_enqueue(controller, key, CCM_LANE_BULK, 0);
        }
        start(controller);
        await_calls(controller, 1);

        const struct sched_controller_stats stats = stats_of(controller);

        finish(controller);
        capture_end(&capture, text, sizeof(text));
        assert_int_equal(stats.calls, 1);
        assert_int_equal(stats.succeeded, settlements[row].succeeded);
        assert_int_equal(stats.requeued, settlements[row].requeued);
        assert_int_equal(stats.failed[CCM_ERROR_TRANSIENT], settlements[row].failed[0]);
        assert_int_equal(stats.failed[CCM_ERROR_AUTH], settlements[row].failed[1]);
        assert_int_equal(stats.failed[CCM_ERROR_CONFLICT], settlements[row].conflicts);
        assert_int_equal(stats.queue.delayed, 4 - settlements[row].succeeded);
        while (lines < CCM_ARRAY_LEN(settlements[row].lines) &&
               settlements[row].lines[lines] != NULL) {
            if (strstr(text, settlements[row].lines[lines]) == NULL) {
                fail_msg("row %zu: log is: %s", row, text);
            }
            lines++;
        }
        assert_int_equal(count_text(text, "\n"), lines);
    }
}

/* A verdict of one call says nothing about the next: here the key fails by its verdict, then by
 * what the call returns, then not at all. */
static int three_ways(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                      struct ccm_error *err)
{
    atomic_uint *calls = arg;

    (void)ret;
    switch (atomic_fetch_add(calls, 1)) {
    case 0:
        (void)ccm_error_set(err, -EIO, CCM_ERROR_CONFLICT, "first"); /* told below */
        sched_controller_settle(req, 0, 0, err);
        ccm_error_clear(err);
        return 0;
    case 1:
        return ccm_error_set(err, -EIO, CCM_ERROR_THROTTLED, "second");
    default:
        return 0;
    }
}

static void test_verdicts_end_with_their_call(void **state)
{
    atomic_uint calls = 0;
    struct sched_controller *controller = make(&(struct sched_controller_options){
        .name = "r", .batch_max = 4, .backoff = &fast, .reconcile = three_ways, .arg = &calls });

    (void)state;
    sched_controller_enqueue(controller, "a", CCM_LANE_BULK, 0);
    start(controller);
    await_calls(controller, 3);

    const struct sched_controller_stats stats = stats_of(controller);

    finish(controller);
    assert_int_equal(stats.failed[CCM_ERROR_CONFLICT], 1);
    assert_int_equal(stats.failed[CCM_ERROR_THROTTLED], 1);
    assert_int_equal(stats.succeeded, 1);
}

/* With a window, keys that come one by one still make one call. */
static void test_batch_is_collected(void **state)
{
    struct batches batches = { 0 };
    struct sched_controller *controller = make(&(struct sched_controller_options){
        .name = "route",
        .workers = 2,
        .batch_max = 10,
        .batch_wait_ms = 60000, /* cut to the maximum, and not waited for: the batch is full */
        .reconcile = batch_reconcile,
        .arg = &batches,
    });
    char key[16];

    (void)state;
    start(controller);
    for (int i = 0; i < 20; i++) {
        (void)snprintf(key, sizeof(key), "node-%d", i);
        sched_controller_enqueue(controller, key, CCM_LANE_BULK, 0);
        if (i == 9) {
            await_calls(controller, 1);
        }
    }
    await_calls(controller, 2);
    assert_int_equal(atomic_load(&batches.keys), 20);
    assert_int_equal(atomic_load(&batches.largest), 10);
    assert_int_equal(stats_of(controller).calls, 2);
    sched_controller_enqueue(controller, "late", CCM_LANE_BULK, 0); /* the stop does not wait */
    finish(controller);
}

static void test_bad_key_is_named(void **state)
{
    struct capture capture = capture_begin();
    struct sched_controller *controller =
        make(&(struct sched_controller_options){ .name = "clb", .reconcile = batch_failure });
    char text[256];

    (void)state;
    sched_controller_enqueue(controller, "", CCM_LANE_BULK, 0);
    sched_controller_free(controller);
    capture_end(&capture, text, sizeof(text));
    assert_non_null(strstr(text, "an empty key is enqueued"));
}

static void test_bad_options(void **state)
{
    const struct sched_controller_options bad[] = {
        { .name = "x",
          .workers = SCHED_CONTROLLER_WORKERS_MAX + 1,
          .reconcile = batch_failure,
          .watchdog = watchdog },
        { .name = "x", .workers = 1, .watchdog = watchdog },
        { .name = "x", .workers = 1, .reconcile = batch_failure },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(bad); i++) {
        struct sched_controller *controller = NULL;
        struct ccm_error err = CCM_ERROR_INIT;

        assert_int_equal(sched_controller_new(&bad[i], &controller, &err), -EINVAL);
        assert_null(controller);
        assert_int_equal(err.kind, CCM_ERROR_BUG);
    }
}

/* --- slow, hung and cancelled calls --------------------------------------------------------- */

struct sluggish {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool heeds_cancel;
    bool released;
    unsigned cancels;
    atomic_uint entered;
};

static void sluggish_init(struct sluggish *s, bool heeds_cancel)
{
    *s = (struct sluggish){ .heeds_cancel = heeds_cancel };
    assert_int_equal(pthread_mutex_init(&s->lock, NULL), 0);
    assert_int_equal(ccm_clock_cond_init(&s->changed), 0);
}

static void sluggish_release(struct sluggish *s)
{
    assert_int_equal(pthread_mutex_lock(&s->lock), 0);
    s->released = true;
    assert_int_equal(pthread_cond_broadcast(&s->changed), 0);
    assert_int_equal(pthread_mutex_unlock(&s->lock), 0);
}

/* What ccm_http_cancel() does: set the flag, wake who waits. */
static void sluggish_cancel(void *arg, struct ccm_cancel *flag)
{
    struct sluggish *s = arg;

    (void)pthread_mutex_lock(&s->lock);
    s->cancels++;
    atomic_store(&flag->cancelled, true);
    (void)pthread_cond_broadcast(&s->changed);
    (void)pthread_mutex_unlock(&s->lock);
}

static int sluggish_reconcile(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                              struct ccm_error *err)
{
    struct sluggish *s = arg;
    const struct ccm_cancel *flag = req->core;
    bool released;

    (void)ret;
    atomic_fetch_add(&s->entered, 1);
    (void)pthread_mutex_lock(&s->lock);
    while (!s->released && !(s->heeds_cancel && atomic_load(&flag->cancelled))) {
        if (ccm_clock_cond_wait(&s->changed, &s->lock, ccm_clock_now_ms() + PATIENCE_MS) != 0) {
            break;
        }
    }
    released = s->released;
    (void)pthread_mutex_unlock(&s->lock);
    return released ? 0 : ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "asked to stop");
}

static void await_entered(struct sluggish *s, unsigned count)
{
    const int64_t end = ccm_clock_now_ms() + PATIENCE_MS;

    while (atomic_load(&s->entered) < count) {
        assert_true(ccm_clock_now_ms() < end);
    }
}

/* Two controllers, one watchdog. */
static void test_slow_call_is_named_once(void **state)
{
    struct sluggish s;
    struct capture capture = capture_begin();
    char text[1024];

    (void)state;
    sluggish_init(&s, false);

    struct sched_controller *controller = make(&(struct sched_controller_options){
        .name = "clb",
        .workers = 2,
        .slow_ms = 1,
        .reconcile = sluggish_reconcile,
        .arg = &s,
    });
    struct sched_controller *other = make(&(struct sched_controller_options){
        .name = "nlb",
        .slow_ms = 1,
        .reconcile = sluggish_reconcile,
        .arg = &s,
    });
    const int64_t end = ccm_clock_now_ms() + PATIENCE_MS;

    start(other);
    start(controller);
    sched_controller_enqueue(other, "default/one", CCM_LANE_SPEC, 0);
    while (stats_of(other).running.slow < 1) {
        assert_true(ccm_clock_now_ms() < end);
    }
    sched_controller_enqueue(controller, "default/one", CCM_LANE_SPEC, 0);
    sched_controller_enqueue(controller, "default/two", CCM_LANE_SPEC, 0);
    while (stats_of(controller).running.slow < 2) {
        assert_true(ccm_clock_now_ms() < end);
    }
    assert_int_equal(stats_of(controller).running.running, 2);
    while (stats_of(controller).running.longest_ms <
           10) { /* ten times the limit: no second warning */
        assert_true(ccm_clock_now_ms() < end);
    }
    sluggish_release(&s);
    await_calls(controller, 2);
    assert_int_equal(stats_of(controller).running.running, 0);
    assert_int_equal(stats_of(controller).running.slow, 2);
    finish(controller);
    finish(other);
    capture_end(&capture, text, sizeof(text));
    assert_int_equal(count_text(text, "clb default/one: clb-00000"), 1);
    assert_int_equal(count_text(text, "clb default/two: clb-00000"), 1);
    assert_int_equal(count_text(text, "nlb default/one: nlb-00000"), 1);
    assert_int_equal(count_text(text, "reconcile runs since"), 3);
}

static void test_stop_cancels(void **state)
{
    struct sluggish s;
    struct capture capture = capture_begin();
    char text[1024];

    (void)state;
    sluggish_init(&s, true);

    struct sched_controller *controller = make(&(struct sched_controller_options){
        .name = "clb",
        .workers = 3,
        .reconcile = sluggish_reconcile,
        .arg = &s,
        .cancel = sluggish_cancel,
        .cancel_arg = &s,
    });

    start(controller);
    sched_controller_enqueue(controller, "a", CCM_LANE_SPEC, 0);
    await_entered(&s, 1);
    sched_controller_enqueue(controller, "a", CCM_LANE_SPEC, 0); /* dirty: dropped by the stop */
    sched_controller_stop(controller);
    sched_controller_stop(controller);
    sched_controller_enqueue(controller, "b", CCM_LANE_SPEC, 0);
    assert_int_equal(sched_controller_join(controller, ccm_clock_now_ms() + PATIENCE_MS), 0);
    assert_int_equal(s.cancels, 3); /* one per worker */
    assert_int_equal(atomic_load(&s.entered), 1);
    assert_int_equal(stats_of(controller).failed[CCM_ERROR_CANCELLED], 1);
    sched_controller_free(controller);
    capture_end(&capture, text, sizeof(text));
    assert_non_null(strstr(text, "info  clb a: clb-000001: cancelled: asked to stop; no retry"));
}

static void test_hung_call_is_named(void **state)
{
    struct sluggish s;
    struct capture capture = capture_begin();
    char text[1024];

    (void)state;
    sluggish_init(&s, false);

    struct sched_controller *controller = make(&(struct sched_controller_options){
        .name = "nlb", .workers = 2, .reconcile = sluggish_reconcile, .arg = &s });

    start(controller);
    sched_controller_enqueue(controller, "default/web", CCM_LANE_SPEC, 0);
    await_entered(&s, 1);
    sched_controller_stop(controller);
    assert_int_equal(sched_controller_join(controller, ccm_clock_now_ms()), -ETIMEDOUT);
    sluggish_release(&s);
    finish(controller);
    capture_end(&capture, text, sizeof(text));
    assert_non_null(strstr(text, "error nlb default/web: nlb-000001: reconcile hangs since"));
}

static void test_never_started(void **state)
{
    struct sched_controller *controller =
        make(&(struct sched_controller_options){ .name = "clb", .reconcile = batch_failure });

    (void)state;
    sched_controller_enqueue(controller, "a", CCM_LANE_SPEC, 0);
    finish(controller);
    sched_controller_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_twice_at_once),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_gate_and_batch),
        cmocka_unit_test(test_batch_takes_the_most_urgent_lane),
        cmocka_unit_test(test_batch_failure_is_one_line),
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_verdicts_end_with_their_call),
        cmocka_unit_test(test_batch_is_collected),
        cmocka_unit_test(test_bad_key_is_named),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_slow_call_is_named_once),
        cmocka_unit_test(test_stop_cancels),
        cmocka_unit_test(test_hung_call_is_named),
        cmocka_unit_test(test_never_started),
    };

    return cmocka_run_group_tests(tests, start_watchdog, end_watchdog);
}
