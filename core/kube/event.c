#include "kube/event.h"

#include "kube/series.h"
#include "kube/standing.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/text.h"
#include "util/thread.h"
#include "util/url.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define WRITE_TIMEOUT_MS 5000
#define TRIES_MAX        5
#define BACKOFF_FIRST_MS 500
#define BACKOFF_MAX_MS   8000
#define HELD_PAUSE_MS    1000  /* while changes wait */
#define PAUSE_MAX_MS     60000 /* whatever the server asks for */
#define PATH_MAX_BYTES   2048
#define SLOTS            64
#define PATCH_TYPE       "application/strategic-merge-patch+json"

static const struct ccm_log event_log = { .part = "event" };

struct item {
    struct item *next;
    struct kube_occurrence occurrence;
};

struct kube_event_recorder {
    struct kube_client *client;
    pthread_t thread;

    pthread_mutex_t lock; /* guards the next group and `standing`; leaf */
    pthread_cond_t changed;
    struct item *first;
    struct item **last;
    size_t len;
    size_t of_namespace[SLOTS]; /* how many of them, by the hash of its name */
    uint64_t emitted;           /* the dropped ones too */
    uint64_t dropped;
    int64_t rests_until_ms; /* while the thread waits: when its next write is due; 0 = it works */
    bool stopping;
    int64_t drain_until_ms;
    bool ended;

    struct ccm_cancel cancel;
    struct kube_event_lasting lasting;
    struct kube_standing_book *standing;

    /* Thread of the recorder only. */
    struct kube_series_book *book;
    uint64_t last_ns;
    uint64_t drops_logged;
};

static struct item *item_new(const struct ccm_event *event)
{
    struct item *item = calloc(1, sizeof(*item));

    if (item != NULL && kube_occurrence_make(event, &item->occurrence) < 0) {
        free(item);
        return NULL;
    }
    return item;
}

static size_t *recorder_slot(struct kube_event_recorder *recorder,
                             const struct kube_occurrence *occurrence)
{
    return &recorder->of_namespace[ccm_text_hash(occurrence->namespace_) % SLOTS];
}

static bool recorder_has_room_locked(struct kube_event_recorder *recorder,
                                     const struct kube_occurrence *occurrence)
{
    return recorder->len < KUBE_EVENT_QUEUE_MAX &&
           *recorder_slot(recorder, occurrence) < KUBE_EVENT_NAMESPACE_MAX;
}

/* Whether it is to be written now. What lasts is remembered, and only its beginning is written. */
static bool recorder_admit_locked(struct kube_event_recorder *recorder,
                                  const struct kube_occurrence *occurrence)
{
    const bool has_room = recorder_has_room_locked(recorder, occurrence);
    bool news = true;

    if (kube_occurrence_lasts(occurrence) &&
        kube_standing_book_record(recorder->standing, occurrence, ccm_clock_now_ms(), has_room,
                                  &news) < 0) {
        return !ccm_text_empty(occurrence->message); /* out of memory: once, now */
    }
    return news;
}

bool kube_event_emit(struct kube_event_recorder *recorder, const struct ccm_event *event)
{
    struct item *item = item_new(event);
    const bool lasts = item != NULL && kube_occurrence_lasts(&item->occurrence);

    ccm_lock(&recorder->lock);
    const bool news = item == NULL || recorder_admit_locked(recorder, &item->occurrence);
    const bool later = lasts && item->occurrence.after_ms > 0;

    recorder->emitted++;
    if (news && item != NULL && !recorder->stopping &&
        recorder_has_room_locked(recorder, &item->occurrence)) {
        (*recorder_slot(recorder, &item->occurrence))++;
        *recorder->last = item;
        recorder->last = &item->next;
        recorder->len++;
        item = NULL;
    } else if (news && !lasts) {
        recorder->dropped++;
    }
    if (news || later) {
        recorder->rests_until_ms = 0; /* what is due next may have changed */
        ccm_wake_one(&recorder->changed);
    }
    ccm_unlock(&recorder->lock);
    if (item != NULL) {
        kube_occurrence_fini(&item->occurrence);
        free(item);
    }
    return news;
}

uint64_t kube_event_recorder_dropped(struct kube_event_recorder *recorder)
{
    ccm_lock(&recorder->lock);

    const uint64_t dropped = recorder->dropped;

    ccm_unlock(&recorder->lock);
    return dropped;
}

bool kube_event_recorder_is_idle(struct kube_event_recorder *recorder, int64_t horizon_ms,
                                 uint64_t *ret_emitted)
{
    ccm_lock(&recorder->lock);

    const bool idle =
        recorder->first == NULL && recorder->rests_until_ms > ccm_clock_now_ms() + horizon_ms;

    *ret_emitted = recorder->emitted;
    ccm_unlock(&recorder->lock);
    return idle;
}

/* Nanoseconds of the wall clock that no earlier event has. */
static uint64_t unique_ns(struct kube_event_recorder *recorder)
{
    struct timespec ts = { 0 };

    (void)clock_gettime(CLOCK_REALTIME, &ts); /* cannot fail for this clock */

    const uint64_t ns = (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;

    recorder->last_ns = ns > recorder->last_ns ? ns : recorder->last_ns + 1;
    return recorder->last_ns;
}

static int64_t deadline_of(struct kube_event_recorder *recorder)
{
    const int64_t own = ccm_clock_now_ms() + WRITE_TIMEOUT_MS;

    ccm_lock(&recorder->lock);

    const int64_t end = recorder->stopping ? recorder->drain_until_ms : INT64_MAX;

    ccm_unlock(&recorder->lock);
    return own < end ? own : end;
}

/* body: of the patch; NULL: the Event is created. ret: the answer, may be NULL. */
static int call_server(struct kube_event_recorder *recorder, const struct kube_series *series,
                       const struct ccm_buf *body, struct ccm_http_response **ret,
                       struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf path = { .max = PATH_MAX_BYTES };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf event = { .max = (size_t)64 * 1024 };
    const bool create = body == NULL;

    ccm_buf_adds(&path, "/api/v1/namespaces/");
    ccm_url_escape(&path, kube_series_namespace(series));
    ccm_buf_adds(&path, "/events");
    if (create) {
        kube_series_print_event(series, &event);
        body = &event;
    } else {
        ccm_buf_addc(&path, '/');
        ccm_url_escape(&path, series->event_name);
    }
    if (ccm_buf_error(&path) < 0 || ccm_buf_error(body) < 0) {
        return ccm_error_nomem(err);
    }

    const struct kube_call call = {
        .method = create ? "POST" : "PATCH",
        .path = ccm_buf_str(&path),
        .content_type = create ? "application/json" : PATCH_TYPE,
        .body = ccm_buf_str(body),
        .deadline_ms = deadline_of(recorder),
        .cancel = &recorder->cancel,
    };

    return kube_do(recorder->client, &call, ret, err);
}

static int patch_series(struct kube_event_recorder *recorder, const struct kube_series *series,
                        struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = (size_t)64 * 1024 };

    kube_series_print_patch(series, &body);
    return call_server(recorder, series, &body, NULL, err);
}

static int64_t recorder_read_period(const struct kube_event_recorder *recorder)
{
    return recorder->lasting.period_ms == 0 ? KUBE_EVENT_PERIOD_MS : recorder->lasting.period_ms;
}

/* What an Event says that is there already: how often, and how long ago for the last time; -1: it
 * does not say. */
static void event_read_age(const struct ccm_http_response *answer, int64_t *ret_count,
                           int64_t *ret_age_ms)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    int64_t last_ms = 0;

    *ret_count = 0;
    *ret_age_ms = -1;
    if (ccm_json_parse(answer->body, answer->body_len, &json) == 0) {
        *ret_count = ccm_json_i64(json, "count", 0);
        if (ccm_parse_rfc3339(ccm_json_text(json, "lastTimestamp"), &last_ms) == 0) {
            *ret_age_ms = ccm_clock_wall_ms() - last_ms;
        }
    }
}

/* An Event of that name is there, of an earlier process or of a try whose answer was lost. What was
 * said within the period is not said again; else the count goes on from there. */
static int series_adopt(struct kube_event_recorder *recorder, struct kube_series *series,
                        struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf nothing = { .max = 8 };
    struct ccm_http_response *answer = NULL;
    int64_t count = 0;
    int64_t age_ms = -1;

    ccm_buf_adds(&nothing, "{}"); /* a patch that changes nothing needs no right to read */

    const int r = call_server(recorder, series, &nothing, &answer, err);

    if (r < 0) {
        return r;
    }
    event_read_age(answer, &count, &age_ms);
    net_http_response_free(answer);
    if (age_ms >= 0 && age_ms < recorder_read_period(recorder)) {
        ccm_lock(&recorder->lock);
        kube_standing_book_said(recorder->standing, &series->last, ccm_clock_now_ms() - age_ms);
        ccm_unlock(&recorder->lock);
        series->count = count > 0 ? count : 1;
        return 0;
    }
    series->count += count;
    return patch_series(recorder, series, err);
}

static int write_series(struct kube_event_recorder *recorder, struct kube_series *series,
                        struct ccm_error *err)
{
    int r = 0;

    if (series->exists) {
        r = patch_series(recorder, series, err);
        if (r != -ENOENT) {
            return r;
        }
        series->exists = false;
    }
    r = call_server(recorder, series, NULL, NULL, err);
    if (r == -EEXIST && series->count > 1) {
        /* An earlier try arrived after all; the count has grown since. */
        r = patch_series(recorder, series, err);
    } else if (r == -EEXIST) {
        r = kube_occurrence_lasts(&series->last) ? series_adopt(recorder, series, err) : 0;
    }
    series->exists = r == 0;
    return r;
}

/* The pause before the next try; negative = there is none. */
static int64_t retry_pause(const struct kube_series *series, const struct ccm_error *err)
{
    int64_t pause = BACKOFF_FIRST_MS;

    if (series->tries >= TRIES_MAX ||
        (err->kind != CCM_ERROR_TRANSIENT && err->kind != CCM_ERROR_THROTTLED)) {
        return -1;
    }
    for (unsigned i = 1; i < series->tries && pause < BACKOFF_MAX_MS; i++) {
        pause *= 2;
    }
    if (err->retry_after_ms > PAUSE_MAX_MS) {
        return PAUSE_MAX_MS;
    }
    return err->retry_after_ms > (uint64_t)pause ? (int64_t)err->retry_after_ms : pause;
}

#define OBJECT_TEXT 320 /* a namespace, a name */

/* The object as lines of the log name it. */
static const char *event_format_object(const struct kube_occurrence *occurrence,
                                       char ret[static OBJECT_TEXT])
{
    ccm_text_printf(ret, OBJECT_TEXT, "%s%s%s", occurrence->namespace_,
                    occurrence->namespace_[0] == '\0' ? "" : "/", occurrence->name);
    return ret;
}

static void try_write(struct kube_event_recorder *recorder, struct kube_series *series,
                      bool last_chance)
{
    struct ccm_error err = CCM_ERROR_INIT;

    series->tries++;
    if (write_series(recorder, series, &err) == 0) {
        kube_series_book_written(recorder->book, series);
        return;
    }

    if (!last_chance && err.kind == CCM_ERROR_CANCELLED && kube_client_is_held(recorder->client)) {
        series->tries--; /* it was not tried */
        kube_series_book_retry(recorder->book, series, ccm_clock_now_ms() + HELD_PAUSE_MS);
        return;
    }

    const int64_t pause = last_chance ? -1 : retry_pause(series, &err);
    char object[OBJECT_TEXT];
    const struct ccm_log log = { .part = "event",
                                 .object = event_format_object(&series->last, object) };

    if (pause >= 0) {
        kube_series_book_retry(recorder->book, series, ccm_clock_now_ms() + pause);
        ccm_log_debug(&log, "%s not written yet: %s", series->last.reason, err.message);
        return;
    }
    ccm_log_warn(&log, "event %s is lost: %s", series->last.reason, err.message);
    kube_series_book_written(recorder->book, series); /* its namespace has had its turn */
    kube_series_book_drop(recorder->book, series);
}

/* Takes the texts. again: it was said before, so its period bounds it, not what an object may say.
 */
static void recorder_say(struct kube_event_recorder *recorder, struct kube_occurrence *occurrence,
                         bool again, int64_t now)
{
    char object[OBJECT_TEXT];
    const struct ccm_log log = { .part = "event",
                                 .object = event_format_object(occurrence, object) };
    const int admitted = again ? 1 : kube_series_book_admit(recorder->book, occurrence, now);
    bool lost = false;

    if (admitted == 0) {
        ccm_log_warn(&log, "event %s is dropped: too many about this object", occurrence->reason);
    } else if (admitted < 0 ||
               kube_series_book_record(recorder->book, occurrence, now, ccm_clock_wall_ms(),
                                       unique_ns(recorder), &lost) == NULL) {
        ccm_log_warn(&log, "event %s is dropped: out of memory", occurrence->reason);
    } else if (lost) {
        ccm_log_warn(&event_log, "an event is lost: too many wait to be written");
    }
    kube_occurrence_fini(occurrence);
}

static void recorder_accept_item(struct kube_event_recorder *recorder, struct item *item)
{
    recorder_say(recorder, &item->occurrence, false, ccm_clock_now_ms());
    kube_occurrence_fini(&item->occurrence);
    free(item);
}

/* A copy of what lasts and is due; it counts as said. False: there is none, or no memory. */
static bool recorder_take_due(struct kube_event_recorder *recorder, struct kube_occurrence *ret,
                              bool *ret_again)
{
    const int64_t now = ccm_clock_now_ms();
    const int64_t period_ms = recorder_read_period(recorder);
    int64_t due_ms = 0;

    ccm_lock(&recorder->lock);
    struct kube_standing *standing =
        kube_standing_book_next(recorder->standing, period_ms, &due_ms);
    const bool found = standing != NULL && due_ms <= now;

    if (found) {
        *ret_again = standing->is_said;
        kube_standing_book_said(recorder->standing, &standing->latest, now);
    }
    const bool taken = found && kube_occurrence_copy(&standing->latest, ret) == 0;

    ccm_unlock(&recorder->lock);
    return taken; /* without memory it is said the next time */
}

static void recorder_repeat_due(struct kube_event_recorder *recorder)
{
    const struct kube_event_lasting *lasting = &recorder->lasting;
    struct kube_occurrence due = { 0 };
    bool again = false;

    if (!recorder_take_due(recorder, &due, &again)) {
        return;
    }
    if (lasting->exists == NULL || lasting->exists(lasting->arg, &due)) {
        recorder_say(recorder, &due, again, ccm_clock_now_ms());
        return;
    }
    ccm_lock(&recorder->lock);
    kube_standing_book_drop(recorder->standing, &due);
    ccm_unlock(&recorder->lock);
    kube_occurrence_fini(&due);
}

struct turn {
    struct item *item; /* NULL = none waits */
    bool more;         /* and another one */
    bool stopping;
    bool over; /* the time to drain is up */
};

/* Far, but not so far that a timespec could not hold it. */
#define IDLE_WAIT_MS 3600000

/* When there is something to do, if nothing comes. */
static int64_t recorder_find_due_locked(struct kube_event_recorder *recorder, int64_t write_ms,
                                        int64_t period_ms)
{
    const int64_t idle_ms = ccm_clock_now_ms() + IDLE_WAIT_MS;
    int64_t repeat_ms = 0;

    (void)kube_standing_book_next(recorder->standing, period_ms, &repeat_ms); /* the time alone */
    repeat_ms = repeat_ms < idle_ms ? repeat_ms : idle_ms;
    return write_ms < repeat_ms ? write_ms : repeat_ms;
}

/* Wait until there is an item, a write is due, what lasts is due, or the end. */
static struct turn wait_turn(struct kube_event_recorder *recorder, int64_t write_ms)
{
    const int64_t period_ms = recorder_read_period(recorder);
    struct turn turn = { 0 };
    uint64_t dropped;
    int64_t due_ms;

    ccm_lock(&recorder->lock);
    while (recorder->first == NULL && !recorder->stopping &&
           (due_ms = recorder_find_due_locked(recorder, write_ms, period_ms)) >
               ccm_clock_now_ms()) {
        recorder->rests_until_ms = due_ms;
        (void)ccm_clock_cond_wait(&recorder->changed, &recorder->lock,
                                  due_ms); /* the conditions above tell why it returned */
    }
    recorder->rests_until_ms = 0;
    turn.item = recorder->first;
    if (turn.item != NULL) {
        recorder->first = turn.item->next;
        if (recorder->first == NULL) {
            recorder->last = &recorder->first;
        }
        recorder->len--;
        (*recorder_slot(recorder, &turn.item->occurrence))--;
    }
    turn.more = recorder->first != NULL;
    turn.stopping = recorder->stopping;
    turn.over = recorder->stopping && ccm_clock_now_ms() >= recorder->drain_until_ms;
    dropped = recorder->dropped;
    ccm_unlock(&recorder->lock);
    if (dropped != recorder->drops_logged) {
        ccm_log_warn(&event_log, "%llu events are dropped: the queue is full",
                     (unsigned long long)(dropped - recorder->drops_logged));
        recorder->drops_logged = dropped;
    }
    return turn;
}

static void *recorder_run_thread(void *arg)
{
    struct kube_event_recorder *recorder = arg;

    for (;;) {
        struct kube_series *next = kube_series_book_next(recorder->book, ccm_clock_now_ms());
        const struct turn turn = wait_turn(recorder, next != NULL ? next->due_ms : INT64_MAX);

        if (turn.item != NULL) {
            recorder_accept_item(recorder, turn.item);
            if (turn.more && !turn.over) {
                continue; /* before any is written all are known, so that their turns can be */
            }
        } else if (!turn.stopping) {
            recorder_repeat_due(recorder);
        }
        next = kube_series_book_next(recorder->book, ccm_clock_now_ms());
        if (turn.over || (turn.stopping && turn.item == NULL && next == NULL)) {
            break;
        }
        if (next != NULL && (turn.stopping || next->due_ms <= ccm_clock_now_ms())) {
            try_write(recorder, next, turn.stopping);
        }
    }
    ccm_lock(&recorder->lock);
    recorder->ended = true;
    ccm_wake_all(&recorder->changed);
    ccm_unlock(&recorder->lock);
    return NULL;
}

static void recorder_release(struct kube_event_recorder *recorder)
{
    while (recorder->first != NULL) {
        struct item *item = recorder->first;

        recorder->first = item->next;
        kube_occurrence_fini(&item->occurrence);
        free(item);
    }
    kube_series_book_free(recorder->book);
    kube_standing_book_free(recorder->standing);
    ccm_cond_fini(&recorder->changed);
    ccm_lock_fini(&recorder->lock);
    free(recorder);
}

struct kube_event_recorder *kube_event_recorder_new(struct kube_client *client,
                                                    const struct kube_event_lasting *lasting,
                                                    struct ccm_error *err)
{
    struct kube_event_recorder *recorder = calloc(1, sizeof(*recorder));

    if (recorder == NULL) {
        (void)ccm_error_nomem(err); /* NULL tells */
        return NULL;
    }
    recorder->client = client;
    if (lasting != NULL) {
        recorder->lasting = *lasting;
    }
    recorder->last = &recorder->first;
    if (pthread_mutex_init(&recorder->lock, NULL) != 0 ||
        ccm_clock_cond_init(&recorder->changed) < 0) {
        free(recorder);
        (void)ccm_error_nomem(err); /* NULL tells */
        return NULL;
    }
    recorder->book = kube_series_book_new();
    recorder->standing = kube_standing_book_new();
    if (recorder->book == NULL || recorder->standing == NULL ||
        pthread_create(&recorder->thread, NULL, recorder_run_thread, recorder) != 0) {
        recorder_release(recorder);
        (void)ccm_error_set(err, -ENOMEM, CCM_ERROR_TRANSIENT,
                            "cannot start the event recorder"); /* NULL tells */
        return NULL;
    }
    return recorder;
}

void kube_event_recorder_free(struct kube_event_recorder *recorder, int64_t drain_ms)
{
    if (recorder == NULL) {
        return;
    }
    ccm_lock(&recorder->lock);
    recorder->stopping = true;
    recorder->drain_until_ms = ccm_clock_now_ms() + drain_ms;
    ccm_wake_all(&recorder->changed);
    while (!recorder->ended && ccm_clock_now_ms() < recorder->drain_until_ms) {
        (void)ccm_clock_cond_wait(&recorder->changed, &recorder->lock,
                                  recorder->drain_until_ms); /* the loop looks again */
    }
    ccm_unlock(&recorder->lock);
    ccm_http_cancel(kube_client_http(recorder->client), &recorder->cancel);
    (void)pthread_join(recorder->thread, NULL); /* joinable, and joined once */

    const size_t left = recorder->len + kube_series_book_pending(recorder->book);

    if (left > 0) {
        ccm_log_warn(&event_log, "%zu events are lost: no time left to write them", left);
    }
    recorder_release(recorder);
}
