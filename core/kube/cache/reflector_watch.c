/*
 * Watches and streaming lists: one event per line. An ERROR event is on_error_event()'s. What the
 * end of a watch leads to: reflector_end.c, for 410 Gone handle_stale(), which lists again.
 */
#include "kube/cache/reflector_priv.h"
#include "kube/cache/watch_event.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/url.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct watch {
    struct kube_reflector_pump pump;
    struct kube_stage *stage; /* a streaming list before its end mark, else NULL */
    uint64_t list_pieces;     /* of the list, end mark included */
    int64_t started_ms;
    struct ccm_error *err;
};

static int watch_set_unreadable(struct watch *w, const char *what)
{
    return ccm_error_set(w->err, -EBADMSG, CCM_ERROR_TRANSIENT, "%s", what);
}

static int set_version(struct watch *w, const char *version)
{
    struct ccm_buf *current = &w->pump.reflector->version;

    if (version[0] == '\0' || strlen(version) > current->max) {
        return watch_set_unreadable(w, "an event without a usable resourceVersion");
    }

    const int r = kube_reflector_check_version(w->pump.reflector, version, w->err);

    if (r < 0) {
        return r;
    }
    ccm_buf_reset(current);
    ccm_buf_adds(current, version);
    return ccm_buf_error(current) < 0 ? ccm_error_nomem(w->err) : 0;
}

/* The list is complete: from here on it is a watch. */
static void on_list_end(struct watch *w, const char *version)
{
    struct kube_reflector *r = w->pump.reflector;

    kube_reflector_commit(r, &w->stage, version, "streamed", w->started_ms);
    r->paged = 0;
    w->pump.silence_ms = r->config.timing.progress_ms;
    w->pump.serve = kube_reflector_serve;
    w->list_pieces = w->pump.pieces + 1; /* the end mark is counted when this returns */
}

static int on_bookmark(struct watch *w, const struct kube_watch_event *event)
{
    const cJSON *meta = ccm_json_get(event->object.json, "metadata");
    const char *version = ccm_json_text(meta, "resourceVersion");
    const bool end_mark =
        ccm_json_bool(ccm_json_get(meta, "annotations"), "k8s.io/initial-events-end", false);

    if (w->stage == NULL) {
        return set_version(w, version);
    }
    if (!end_mark || version[0] == '\0') {
        return watch_set_unreadable(
            w, "a bookmark inside of a streaming list: the server does not know them");
    }
    on_list_end(w, version);
    return 0;
}

static int on_error_event(struct watch *w, const struct kube_watch_event *event)
{
    const int64_t code = ccm_json_i64(event->object.json, "code", 500);
    const uint32_t status = code >= 400 && code <= 599 ? (uint32_t)code : 500;

    return kube_status_error(status, event->object.text, event->object.len, w->err);
}

static int on_object(struct watch *w, const struct kube_watch_event *event)
{
    struct kube_reflector *r = w->pump.reflector;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf version = { .max = 4096 };
    const int code = kube_reflector_apply(r, w->stage, event->type == KUBE_WATCH_DELETED,
                                          &event->object, &version, w->err);

    if (code < 0) {
        return code;
    }
    /* The objects of a list carry their own, older versions: no place to resume from. */
    return w->stage == NULL ? set_version(w, ccm_buf_str(&version)) : 0;
}

static int watch_apply_event(struct watch *w, const struct kube_watch_event *event)
{
    switch (event->type) {
    case KUBE_WATCH_ADDED:
    case KUBE_WATCH_MODIFIED:
    case KUBE_WATCH_DELETED:
        return on_object(w, event);
    case KUBE_WATCH_BOOKMARK:
        return on_bookmark(w, event);
    case KUBE_WATCH_ERROR:
        return on_error_event(w, event);
    case KUBE_WATCH_UNKNOWN:
        break;
    }
    return watch_set_unreadable(w, "an event of unknown type");
}

static int on_event(void *arg, const char *text, size_t len)
{
    struct watch *w = arg;
    CCM_CLEANUP(kube_watch_event_fini) struct kube_watch_event event = { 0 };

    if (kube_watch_event_parse(text, len, &event) < 0) {
        return watch_set_unreadable(w, "a line that is no event");
    }

    const int code = watch_apply_event(w, &event);

    if (code == 0) {
        w->pump.pieces++;
        kube_reflector_record_event(w->pump.reflector);
    }
    return code;
}

static void watch_path(struct kube_reflector *r, bool initial, struct ccm_buf *path)
{
    const struct kube_reflector_timing *timing = &r->config.timing;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf params = { .max = 64 * 1024 };

    ccm_buf_addf(&params, "watch=1&allowWatchBookmarks=true&timeoutSeconds=%" PRIu32,
                 kube_reflector_random(r, timing->watch_min_s, timing->watch_max_s));
    if (initial) {
        ccm_buf_adds(&params, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    } else {
        ccm_buf_adds(&params, "&resourceVersion=");
        ccm_url_escape(&params, ccm_buf_str(&r->version));
    }
    kube_reflector_path(r, path, ccm_buf_str(&params), NULL);
}

static int watch_run(struct kube_reflector *r, struct watch *w, bool initial)
{
    const struct kube_jsonstream_sink sink = { .item = on_event, .arg = w };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf path = { .max = 64 * 1024 };

    watch_path(r, initial, &path);
    if (ccm_buf_error(&path) < 0) {
        return ccm_error_nomem(w->err);
    }
    if (initial) {
        w->stage = kube_reflector_new_stage(r);
        if (w->stage == NULL) {
            return ccm_error_nomem(w->err);
        }
    }
    kube_jsonstream_init(&w->pump.scan, KUBE_JSONSTREAM_LINES, NULL, KUBE_DECODE_MAX_TEXT, &sink);

    const int code = kube_reflector_pump(&w->pump, ccm_buf_str(&path));

    kube_jsonstream_fini(&w->pump.scan);
    return code;
}

void kube_reflector_watch(struct kube_reflector *r, bool initial, struct kube_reflector_end *end)
{
    const struct kube_reflector_timing *timing = &r->config.timing;
    struct watch w = {
        .pump = {
            .reflector = r,
            .stream = r->main,
            .silence_ms = initial ? timing->initial_ms : timing->progress_ms,
            .serve = initial ? NULL : kube_reflector_serve,
            .err = &end->err,
        },
        .started_ms = ccm_clock_now_ms(),
        .err = &end->err,
    };

    end->code = watch_run(r, &w, initial);
    end->watch = w.pump.serve != NULL;
    end->initial = !end->watch;
    end->progress = end->watch && w.pump.pieces > w.list_pieces;
    end->lasted_ms = ccm_clock_now_ms() - w.started_ms;
    kube_stage_free(w.stage);
}
