#include "kube/event.h"

#include "kube/series.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"
#include "util/thread.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define REPLACED         3 /* bytes of the character that stands for a byte that is no UTF-8 */
#define WRITE_TIMEOUT_MS 5000
#define TRIES_MAX        5
#define BACKOFF_FIRST_MS 500
#define BACKOFF_MAX_MS   8000
#define HELD_PAUSE_MS    1000  /* while changes wait */
#define PAUSE_MAX_MS     60000 /* whatever the server asks for */
#define PATH_MAX_BYTES   2048

static const struct ccm_log event_log = { .part = "event" };

struct item {
    struct item *next;
    struct kube_occurrence occurrence;
};

struct kube_event_recorder {
    struct kube_client *client;
    pthread_t thread;

    pthread_mutex_t lock; /* guards the next group; leaf */
    pthread_cond_t changed;
    struct item *first;
    struct item **last;
    size_t len;
    uint64_t emitted; /* the dropped ones too */
    uint64_t dropped;
    int64_t rests_until_ms; /* while the thread waits: when its next write is due; 0 = it works */
    bool stopping;
    int64_t drain_until_ms;
    bool ended;

    struct ccm_cancel cancel;

    /* Thread of the recorder only. */
    struct kube_series_book *book;
    uint64_t last_ns;
    uint64_t drops_logged;
};

static void kind_of(const struct ccm_object *object, const char **ret_version,
                    const char **ret_kind)
{
    *ret_version = "v1";
    *ret_kind = "";
    switch (object->kind) {
    case CCM_KIND_SERVICE:
        *ret_kind = "Service";
        break;
    case CCM_KIND_NODE:
        *ret_kind = "Node";
        break;
    case CCM_KIND_POD:
        *ret_kind = "Pod";
        break;
    case CCM_KIND_ENDPOINT_SLICE:
        *ret_version = "discovery.k8s.io/v1";
        *ret_kind = "EndpointSlice";
        break;
    case CCM_KIND_RAW:
        *ret_version = ((const struct ccm_raw *)object)->api_version;
        *ret_kind = ((const struct ccm_raw *)object)->kind_name;
        break;
    default:
        *ret_version = "";
        break;
    }
}

static char *event_dup_text(const char *text)
{
    return strdup(text == NULL ? "" : text);
}

/* How much of the text takes at most max bytes once it is written: what is no UTF-8 is longer then.
 * Whoever made it may have cut it within a character; that is left out. */
static size_t written_cut(const char *text, size_t max)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t written = 0;
    size_t len = 0;
    size_t good = 0;

    while (p[len] != '\0') {
        const size_t n = ccm_text_utf8_len(p + len);

        written += n == 0 ? REPLACED : n;
        if (written > max) {
            break;
        }
        len += n == 0 ? 1 : n;
        good = n == 0 ? good : len;
    }
    return good;
}

static char *copy_cut(const char *text, size_t max)
{
    return text == NULL ? strdup("") : strndup(text, written_cut(text, max));
}

static struct item *item_new(const struct ccm_event *event)
{
    const struct ccm_object *object = event->object;
    struct item *item = calloc(1, sizeof(*item));
    const char *version;
    const char *kind;

    if (item == NULL) {
        return NULL;
    }
    kind_of(object, &version, &kind);
    item->occurrence = (struct kube_occurrence){
        .api_version = event_dup_text(version),
        .kind = event_dup_text(kind),
        .namespace_ = event_dup_text(object->namespace_),
        .name = event_dup_text(object->name),
        .uid = event_dup_text(object->uid),
        .resource_version = event_dup_text(object->resource_version),
        .component = copy_cut(event->component, KUBE_EVENT_REASON_MAX),
        .reason = copy_cut(event->reason, KUBE_EVENT_REASON_MAX),
        .message = copy_cut(event->message, KUBE_EVENT_TEXT_MAX),
        .warning = event->warning != 0,
    };

    const struct kube_occurrence *h = &item->occurrence;

    if (h->api_version == NULL || h->kind == NULL || h->namespace_ == NULL || h->name == NULL ||
        h->uid == NULL || h->resource_version == NULL || h->component == NULL ||
        h->reason == NULL || h->message == NULL) {
        kube_occurrence_fini(&item->occurrence);
        free(item);
        return NULL;
    }
    return item;
}

void kube_event_emit(struct kube_event_recorder *recorder, const struct ccm_event *event)
{
    struct item *item = item_new(event);

    ccm_lock(&recorder->lock);
    recorder->emitted++;
    if (item != NULL && recorder->len < KUBE_EVENT_QUEUE_MAX && !recorder->stopping) {
        *recorder->last = item;
        recorder->last = &item->next;
        recorder->len++;
        item = NULL;
    } else {
        recorder->dropped++;
    }
    ccm_wake_one(&recorder->changed);
    ccm_unlock(&recorder->lock);
    if (item != NULL) {
        kube_occurrence_fini(&item->occurrence);
        free(item);
    }
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

static int call_server(struct kube_event_recorder *recorder, const char *method,
                       const struct kube_series *series, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf path = { .max = PATH_MAX_BYTES };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = (size_t)64 * 1024 };
    const bool create = strcmp(method, "POST") == 0;

    ccm_buf_adds(&path, "/api/v1/namespaces/");
    kube_escape(&path, kube_series_namespace(series));
    ccm_buf_adds(&path, "/events");
    if (create) {
        kube_series_print_event(series, &body);
    } else {
        ccm_buf_addc(&path, '/');
        kube_escape(&path, series->event_name);
        kube_series_print_patch(series, &body);
    }
    if (ccm_buf_error(&path) < 0 || ccm_buf_error(&body) < 0) {
        return ccm_error_nomem(err);
    }

    const struct kube_call call = {
        .method = method,
        .path = ccm_buf_str(&path),
        .content_type = create ? "application/json" : "application/strategic-merge-patch+json",
        .body = ccm_buf_str(&body),
        .deadline_ms = deadline_of(recorder),
        .cancel = &recorder->cancel,
    };

    return kube_do(recorder->client, &call, NULL, err);
}

static int write_series(struct kube_event_recorder *recorder, struct kube_series *series,
                        struct ccm_error *err)
{
    int r = 0;

    if (series->exists) {
        r = call_server(recorder, "PATCH", series, err);
        if (r != -ENOENT) {
            return r;
        }
        series->exists = false;
    }
    r = call_server(recorder, "POST", series, err);
    if (r == -EEXIST) {
        /* An earlier try arrived after all; a count that has grown since still has to get there. */
        r = series->count > 1 ? call_server(recorder, "PATCH", series, err) : 0;
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

static void try_write(struct kube_event_recorder *recorder, struct kube_series *series,
                      bool last_chance)
{
    struct ccm_error err = CCM_ERROR_INIT;

    series->tries++;
    if (write_series(recorder, series, &err) == 0) {
        series->pending = false;
        return;
    }

    if (!last_chance && err.kind == CCM_ERROR_CANCELLED && kube_client_is_held(recorder->client)) {
        series->tries--; /* it was not tried */
        series->due_ms = ccm_clock_now_ms() + HELD_PAUSE_MS;
        return;
    }

    const int64_t pause = last_chance ? -1 : retry_pause(series, &err);
    const struct ccm_log log = { .part = "event", .object = series->last.name };

    if (pause >= 0) {
        series->due_ms = ccm_clock_now_ms() + pause;
        ccm_log_debug(&log, "%s not written yet: %s", series->last.reason, err.message);
        return;
    }
    ccm_log_warn(&log, "event %s is lost: %s", series->last.reason, err.message);
    kube_series_book_drop(recorder->book, series);
}

static void recorder_accept_item(struct kube_event_recorder *recorder, struct item *item)
{
    const int64_t now = ccm_clock_now_ms();
    const struct ccm_log log = { .part = "event", .object = item->occurrence.name };
    const int admitted = kube_series_book_admit(recorder->book, &item->occurrence, now);
    bool lost = false;

    if (admitted == 0) {
        ccm_log_warn(&log, "event %s is dropped: too many about this object",
                     item->occurrence.reason);
    } else if (admitted < 0 ||
               kube_series_book_record(recorder->book, &item->occurrence, now, ccm_clock_wall_ms(),
                                       unique_ns(recorder), &lost) == NULL) {
        ccm_log_warn(&log, "event %s is dropped: out of memory", item->occurrence.reason);
    } else if (lost) {
        ccm_log_warn(&event_log, "an event is lost: too many wait to be written");
    }
    kube_occurrence_fini(&item->occurrence);
    free(item);
}

struct turn {
    struct item *item; /* NULL = none waits */
    bool stopping;
    bool over; /* the time to drain is up */
};

/* Wait until there is an item, a write is due, or the end. */
static struct turn wait_turn(struct kube_event_recorder *recorder, int64_t due_ms)
{
    struct turn turn = { 0 };
    uint64_t dropped;

    ccm_lock(&recorder->lock);
    recorder->rests_until_ms = due_ms;
    while (recorder->first == NULL && !recorder->stopping && ccm_clock_now_ms() < due_ms) {
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
    }
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

/* Far, but not so far that a timespec could not hold it. */
#define IDLE_WAIT_MS 3600000

static void *recorder_run_thread(void *arg)
{
    struct kube_event_recorder *recorder = arg;

    for (;;) {
        struct kube_series *next = kube_series_book_next(recorder->book);
        const int64_t due = next != NULL ? next->due_ms : ccm_clock_now_ms() + IDLE_WAIT_MS;
        const struct turn turn = wait_turn(recorder, due);

        if (turn.item != NULL) {
            recorder_accept_item(recorder, turn.item);
            next = kube_series_book_next(recorder->book);
        }
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
    ccm_cond_fini(&recorder->changed);
    ccm_lock_fini(&recorder->lock);
    free(recorder);
}

struct kube_event_recorder *kube_event_recorder_new(struct kube_client *client,
                                                    struct ccm_error *err)
{
    struct kube_event_recorder *recorder = calloc(1, sizeof(*recorder));

    if (recorder == NULL) {
        (void)ccm_error_nomem(err); /* NULL tells */
        return NULL;
    }
    recorder->client = client;
    recorder->last = &recorder->first;
    if (pthread_mutex_init(&recorder->lock, NULL) != 0 ||
        ccm_clock_cond_init(&recorder->changed) < 0) {
        free(recorder);
        (void)ccm_error_nomem(err); /* NULL tells */
        return NULL;
    }
    recorder->book = kube_series_book_new();
    if (recorder->book == NULL ||
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
