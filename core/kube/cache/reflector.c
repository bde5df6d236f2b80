#include "kube/cache/reflector.h"

#include "kube/cache/reflector_priv.h"
#include "kube/object/version.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define MAX_FETCHES   64
#define WAIT_SLICE_MS 100
#define JOIN_SLICE_MS 60000
#define SLACK_MS      300000 /* longest for what comes in one piece, change functions included */

const struct ccm_log kube_reflector_log = { .part = "reflector" };

static void default_if_zero(uint32_t *value, uint32_t fallback)
{
    if (*value == 0) {
        *value = fallback;
    }
}

static void fill_defaults(struct kube_reflector_config *config)
{
    struct kube_reflector_timing *timing = &config->timing;

    default_if_zero(&timing->backoff_min_ms, 200);
    default_if_zero(&timing->backoff_max_ms, 30000);
    default_if_zero(&timing->refused_ms, 30000);
    default_if_zero(&timing->progress_ms, 90000);
    default_if_zero(&timing->initial_ms, 10000);
    default_if_zero(&timing->paged_ms, 600000);
    default_if_zero(&timing->head_ms, 65000);
    default_if_zero(&timing->watch_min_s, 300);
    default_if_zero(&timing->watch_max_s, 600);
    default_if_zero(&config->page_limit, 500);
    if (timing->watch_max_s < timing->watch_min_s) {
        timing->watch_max_s = timing->watch_min_s;
    }
    if (timing->seed == 0) {
        timing->seed = (uint64_t)ccm_clock_wall_ms() * 1000003 + (uint64_t)(uintptr_t)config->store;
    }
    if (config->max_pending == 0) {
        config->max_pending = (size_t)256 * 1024;
    }
}

static int init_sync(struct kube_reflector *r)
{
    if (pthread_mutex_init(&r->lock, NULL) != 0) {
        return -ENOMEM;
    }
    if (ccm_clock_cond_init(&r->changed) < 0) {
        ccm_lock_fini(&r->lock);
        return -ENOMEM;
    }
    return 0;
}

struct kube_reflector *kube_reflector_new(const struct kube_reflector_config *config)
{
    struct kube_reflector *r = calloc(1, sizeof(*r));

    if (r == NULL || init_sync(r) < 0) {
        free(r);
        return NULL;
    }
    r->config = *config;
    fill_defaults(&r->config);
    r->cache = config->continuity == NULL ? 0 : kube_continuity_add(config->continuity);
    r->random = r->config.timing.seed;
    r->streaming = true;
    r->version.max = 4096;
    r->main = kube_stream_new(config->client, r->config.max_pending);
    r->side = kube_stream_new(config->client, r->config.max_pending);
    r->builder = kube_builder_new();
    r->fetches = ccm_strmap_new(NULL);
    if (r->main == NULL || r->side == NULL || r->builder == NULL || r->fetches == NULL) {
        kube_reflector_free(r);
        return NULL;
    }
    return r;
}

void kube_reflector_free(struct kube_reflector *r)
{
    if (r == NULL) {
        return;
    }
    if (r->thread.started) {
        kube_reflector_stop(r);
        while (kube_reflector_join(r, ccm_clock_now_ms() + JOIN_SLICE_MS) < 0) {
            /* whoever cannot wait has joined before */
        }
    }
    kube_stream_free(r->main);
    kube_stream_free(r->side);
    kube_builder_free(r->builder);
    ccm_strmap_free(r->fetches);
    ccm_buf_fini(&r->version);
    ccm_cond_fini(&r->changed);
    ccm_lock_fini(&r->lock);
    free(r);
}

bool kube_reflector_stopping(struct kube_reflector *r)
{
    ccm_lock(&r->lock);

    const bool stopping = r->stopping;

    ccm_unlock(&r->lock);
    return stopping;
}

void kube_reflector_set_due(struct kube_reflector *r, int64_t until_ms)
{
    ccm_lock(&r->lock);
    r->status.due_ms = until_ms + SLACK_MS;
    ccm_unlock(&r->lock);
}

/* Wait before the next attempt, or until stopped. */
static void reflector_wait_pause(struct kube_reflector *r, int64_t ms)
{
    const int64_t deadline = ccm_clock_now_ms() + ms;

    kube_reflector_set_due(r, deadline);
    ccm_lock(&r->lock);
    while (!r->stopping && ccm_clock_now_ms() < deadline) {
        (void)ccm_clock_cond_wait(&r->changed, &r->lock, deadline); /* the loop looks again */
    }
    ccm_unlock(&r->lock);
}

static void thread_main(void *arg)
{
    struct kube_reflector *r = arg;

    kube_reflector_await_after(r);
    while (!kube_reflector_stopping(r)) {
        struct kube_reflector_end end = { .err = CCM_ERROR_INIT };

        if (!r->listed) {
            kube_reflector_await_ahead(r);
            r->streaming = ccm_clock_now_ms() >= r->paged_until_ms;
        }
        kube_reflector_set_due(r, ccm_clock_now_ms());
        if (r->listed && r->server_uncertain) {
            kube_reflector_check_server(r, &end);
        } else if (r->listed || r->streaming) {
            kube_reflector_watch(r, !r->listed, &end);
        } else {
            kube_reflector_list(r, &end);
        }
        if (!kube_reflector_stopping(r)) {
            reflector_wait_pause(r, kube_reflector_handle_end(r, &end));
        }
    }
}

int kube_reflector_start(struct kube_reflector *r)
{
    return ccm_thread_start(&r->thread, thread_main, r);
}

void kube_reflector_stop(struct kube_reflector *r)
{
    ccm_lock(&r->lock);
    r->stopping = true;
    ccm_wake_all(&r->changed);
    ccm_unlock(&r->lock);
    kube_stream_abort(r->main);
    kube_stream_abort(r->side);
}

int kube_reflector_join(struct kube_reflector *r, int64_t deadline_ms)
{
    return ccm_thread_join(&r->thread, deadline_ms);
}

int kube_reflector_wait_synced(struct kube_reflector *r, int64_t deadline_ms,
                               const struct ccm_cancel *cancel)
{
    int result = -EAGAIN;

    ccm_lock(&r->lock);
    while (result == -EAGAIN) {
        const int64_t now = ccm_clock_now_ms();
        const int64_t slice = now + WAIT_SLICE_MS;

        if (r->status.synced) {
            result = 0;
        } else if (r->stopping || (cancel != NULL && atomic_load(&cancel->cancelled))) {
            result = -ECANCELED;
        } else if (now >= deadline_ms) {
            result = -ETIMEDOUT;
        } else {
            /* `cancel` signals nothing here, so it is looked at again and again. */
            (void)ccm_clock_cond_wait(&r->changed, &r->lock,
                                      slice < deadline_ms ? slice : deadline_ms);
        }
    }
    ccm_unlock(&r->lock);
    return result;
}

int kube_reflector_fetch(struct kube_reflector *r, const char *label_selector)
{
    int result = 0;

    ccm_lock(&r->lock);
    r->asked++;
    if (ccm_strmap_len(r->fetches) < MAX_FETCHES) {
        result = ccm_strmap_set(r->fetches, label_selector, NULL);
    } else {
        r->relist = true;
    }
    ccm_unlock(&r->lock);
    kube_stream_wake(r->main);
    return result;
}

int kube_reflector_wait_fetched(struct kube_reflector *r, int64_t deadline_ms)
{
    int result = 0;

    ccm_lock(&r->lock);

    const uint64_t asked = r->asked;

    while (result == 0 && r->served < asked) {
        if (!r->status.synced || r->status.failures > 0 || r->stopping) {
            result = -EAGAIN;
        } else {
            result = ccm_clock_cond_wait(&r->changed, &r->lock, deadline_ms);
        }
    }
    ccm_unlock(&r->lock);
    return result;
}

void kube_reflector_recheck(struct kube_reflector *r)
{
    ccm_lock(&r->lock);
    r->recheck = true;
    ccm_unlock(&r->lock);
    kube_stream_wake(r->main);
}

void kube_reflector_status(struct kube_reflector *r, struct kube_reflector_status *ret)
{
    ccm_lock(&r->lock);
    *ret = r->status;
    ccm_unlock(&r->lock);
    ret->objects = kube_store_len(r->config.store);
    ret->too_large = kube_store_too_large(r->config.store);
}

void kube_reflector_record_event(struct kube_reflector *r)
{
    ccm_lock(&r->lock);
    r->status.events++;
    r->status.failures = 0;
    r->status.last_event_ms = ccm_clock_now_ms();
    ccm_unlock(&r->lock);
}

void kube_reflector_report_break(struct kube_reflector *r, const char *why)
{
    char reason[256];

    if (r->config.continuity != NULL && !r->broken_off) {
        r->broken_off = true;
        ccm_text_printf(reason, sizeof(reason), "%s: %s", r->config.name, why);
        kube_continuity_break(r->config.continuity, reason, false);
    }
}

void kube_reflector_set_in_step(struct kube_reflector *r, bool in_step)
{
    if (r->config.continuity != NULL) {
        kube_continuity_set(r->config.continuity, r->cache, in_step);
    }
}

/* Before a list takes the place of what is held: what is missing in that of another server must not
 * be believed when plugins hear of it. */
static void check_list(struct kube_reflector *r, const char *version, size_t count)
{
    const size_t before = kube_store_len(r->config.store);

    if (r->version.len > 0 && kube_version_is_older(version, ccm_buf_str(&r->version))) {
        kube_reflector_report_break(r,
                                    "its versions went backwards: the API server was replaced, or "
                                    "restored from a backup");
    } else if (r->config.never_empty && count == 0 && before > 0) {
        ccm_log_warn(&kube_reflector_log, "%s: none is left in a new list, there were %zu before",
                     r->config.name, before);
        kube_reflector_report_break(r,
                                    "none is left in a new list: the API server was replaced, or "
                                    "lost its objects");
    }
}

/* Nothing that was asked for waits, and none of it is under way. */
static void mark_served_locked(struct kube_reflector *r)
{
    if (ccm_strmap_len(r->fetches) == 0 && !r->relist) {
        r->served = r->asked;
        ccm_wake_all(&r->changed);
    }
}

void kube_reflector_commit(struct kube_reflector *r, struct kube_stage **stage, const char *version,
                           const char *how, int64_t started_ms)
{
    const size_t count = kube_stage_len(*stage);

    check_list(r, version, count);
    kube_store_commit(r->config.store, CCM_STEAL(*stage), r->config.change, r->config.arg);
    ccm_buf_reset(&r->version);
    ccm_buf_adds(&r->version, version);
    r->server_uncertain = false;
    r->broken_off = false;
    /* A version that cannot be kept (no memory, absurd size) costs another list, nothing else. */
    r->listed = ccm_buf_error(&r->version) == 0;
    kube_reflector_set_in_step(r, r->listed);

    const int64_t now = ccm_clock_now_ms();

    ccm_log_info(&kube_reflector_log, "%s: %zu objects listed in %" PRId64 " ms (%s)",
                 r->config.name, count, now - started_ms, how);
    ccm_lock(&r->lock);
    r->status.synced = true;
    r->status.streaming = r->streaming;
    r->status.lists++;
    r->began_ms = started_ms;
    r->status.failures = 0;
    mark_served_locked(r);
    r->status.last_event_ms = now;
    ccm_wake_all(&r->changed);
    ccm_unlock(&r->lock);
}

static void drop_unkept(struct kube_reflector *r)
{
    const struct ccm_object *const *objects;
    size_t count;

    if (r->config.keep == NULL ||
        kube_store_list(r->config.store, NULL, NULL, &objects, &count) < 0) {
        return; /* without memory they stay until the next list */
    }
    for (size_t i = 0; i < count; i++) {
        if (!r->config.keep(r->config.arg, objects[i])) {
            kube_store_delete(r->config.store, objects[i]->key, r->config.change, r->config.arg);
        }
    }
    kube_store_list_free(objects, count);
}

static void clear_fetches_locked(struct kube_reflector *r)
{
    const char *selector;
    void *cursor = NULL;

    while (ccm_strmap_next(r->fetches, &cursor, &selector, NULL)) {
        ccm_strmap_del(r->fetches, selector);
    }
}

/* What other threads asked for; *ret_selector is the caller's. */
static void reflector_take_requests(struct kube_reflector *r, bool *ret_recheck, bool *ret_relist,
                                    char **ret_selector)
{
    const char *selector = NULL;
    char *copy = NULL;
    void *cursor = NULL;

    ccm_lock(&r->lock);
    mark_served_locked(r);
    *ret_recheck = r->recheck;
    r->recheck = false;
    if (ccm_strmap_next(r->fetches, &cursor, &selector, NULL)) {
        copy = ccm_text_format("%s", selector);
        if (copy == NULL) {
            r->relist = true; /* the list needs less memory than to remember each wish */
        } else {
            ccm_strmap_del(r->fetches, selector);
        }
    }
    *ret_relist = r->relist;
    if (r->relist) {
        clear_fetches_locked(r);
        r->relist = false;
    }
    ccm_unlock(&r->lock);
    *ret_selector = copy;
}

/* Do what other threads asked for. -EXFULL: by a new list. */
static int reflector_serve_requests(struct kube_reflector *r, struct ccm_error *err)
{
    for (;;) {
        CCM_CLEANUP(ccm_freep) char *selector = NULL;
        bool recheck;
        bool relist;

        reflector_take_requests(r, &recheck, &relist, &selector);
        if (recheck) {
            drop_unkept(r);
        }
        if (relist) {
            return ccm_error_set(err, -EXFULL, CCM_ERROR_TRANSIENT, "a new list was asked for");
        }
        if (selector == NULL) {
            return 0;
        }
        if (kube_reflector_fetch_now(r, selector, err) < 0) {
            return ccm_error_wrap(err, -EXFULL, "fetch of %s", selector);
        }
    }
}

/* The longest silence is over, or the scan has failed, or the answer has ended: why. */
static int pump_end(struct kube_reflector_pump *p, int code)
{
    switch (code) {
    case 0:
        code = kube_jsonstream_finish(&p->scan);
        return code < 0 ? ccm_error_set(p->err, code, CCM_ERROR_TRANSIENT,
                                        "the answer ends in the middle of an object")
                        : 0;
    case -ETIME:
        return ccm_error_set(p->err, code, CCM_ERROR_TRANSIENT, "nothing came for %" PRIu32 " ms",
                             p->silence_ms);
    default:
        return code;
    }
}

/* Hand on one chunk. A sink that failed has set err, the scanner itself has not. */
static int pump_feed(struct kube_reflector_pump *p, const char *data, size_t len)
{
    ccm_error_clear(p->err);

    const int code = kube_jsonstream_feed(&p->scan, data, len);

    if (code == 0 || p->err->kind != CCM_ERROR_NONE) {
        return code;
    }
    if (code == -EMSGSIZE) {
        return ccm_error_set(p->err, code, CCM_ERROR_TRANSIENT, "an object of more than %zu bytes",
                             KUBE_DECODE_MAX_TEXT);
    }
    return ccm_error_set(p->err, code, CCM_ERROR_TRANSIENT, "%s",
                         code == -EBADMSG ? "the answer is not the JSON that belongs here"
                                          : "out of memory");
}

int kube_reflector_pump(struct kube_reflector_pump *p, const char *path)
{
    const struct kube_reflector_timing *timing = &p->reflector->config.timing;
    int64_t deadline = ccm_clock_now_ms() + timing->head_ms + p->silence_ms;
    int code = kube_stream_open(p->stream, path, timing->head_ms);

    if (code < 0) {
        return ccm_error_set(p->err, code, CCM_ERROR_TRANSIENT, "cannot open a stream");
    }
    while (code == 0) {
        const uint64_t before = p->pieces;
        const char *data;
        size_t len;

        kube_reflector_set_due(p->reflector, deadline);

        const int got = kube_stream_read(p->stream, deadline, &data, &len, p->err);

        if (got == 1) {
            code = pump_feed(p, data, len);
            if (len == 0 || p->pieces != before) {
                deadline = ccm_clock_now_ms() + p->silence_ms;
            }
        } else if (got != KUBE_STREAM_WOKEN) {
            code = pump_end(p, got);
            break;
        }
        if (code == 0 && p->serve) {
            code = reflector_serve_requests(p->reflector, p->err);
        }
    }
    kube_stream_close(p->stream);
    return code;
}
