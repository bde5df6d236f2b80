/* Watches and streaming lists: one event per line. */
#include "kube/cache/reflector_priv.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"

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

/* One event, cut into what matters. The texts lie in the event. */
struct event {
    const char *type; /* with its quotes */
    size_t type_len;
    const char *object;
    size_t object_len;
};

static int on_event_member(void *arg, const char *name, const char *text, size_t len)
{
    struct event *event = arg;

    if (strcmp(name, "type") == 0) {
        event->type = text;
        event->type_len = len;
    } else if (strcmp(name, "object") == 0) {
        event->object = text;
        event->object_len = len;
    }
    return 0;
}

static bool has_type(const struct event *event, const char *quoted)
{
    return event->type_len == strlen(quoted) && memcmp(event->type, quoted, event->type_len) == 0;
}

static int watch_set_unreadable(struct watch *w, const char *what)
{
    return ccm_error_set(w->err, -EBADMSG, CCM_ERROR_TRANSIENT, "%s", what);
}

static int split_event(struct watch *w, const char *text, size_t len, struct event *ret)
{
    const struct kube_jsonstream_sink sink = { .member = on_event_member, .arg = ret };
    CCM_CLEANUP(kube_jsonstream_fini) struct kube_jsonstream scan;

    kube_jsonstream_init(&scan, KUBE_JSONSTREAM_MEMBERS, NULL, KUBE_DECODE_MAX_TEXT, &sink);
    if (kube_jsonstream_feed(&scan, text, len) < 0 || kube_jsonstream_finish(&scan) < 0 ||
        ret->type == NULL || ret->object == NULL) {
        return watch_set_unreadable(w, "a line that is no event");
    }
    return 0;
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
    w->pump.serve = true;
    w->list_pieces = w->pump.pieces + 1; /* the end mark is counted when this returns */
}

static int on_bookmark(struct watch *w, const struct event *event)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    if (ccm_json_parse(event->object, event->object_len, &json) < 0) {
        return watch_set_unreadable(w, "an unreadable bookmark");
    }

    const cJSON *meta = ccm_json_get(json, "metadata");
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

static int on_error_event(struct watch *w, const struct event *event)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    if (ccm_json_parse(event->object, event->object_len, &json) < 0) {
        return watch_set_unreadable(w, "an unreadable ERROR event");
    }

    const int64_t code = ccm_json_i64(json, "code", 500);
    const uint32_t status = code >= 400 && code <= 599 ? (uint32_t)code : 500;

    return kube_status_error(status, event->object, event->object_len, w->err);
}

static int on_object(struct watch *w, const struct event *event)
{
    struct kube_reflector *r = w->pump.reflector;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf version = { .max = 4096 };
    const bool deleted = has_type(event, "\"DELETED\"");
    const int code = kube_reflector_apply(r, w->stage, deleted, event->object, event->object_len,
                                          &version, w->err);

    if (code < 0) {
        return code;
    }
    /* The objects of a list carry their own, older versions: no place to resume from. */
    return w->stage == NULL ? set_version(w, ccm_buf_str(&version)) : 0;
}

static int on_event(void *arg, const char *text, size_t len)
{
    struct watch *w = arg;
    struct event event = { 0 };
    int code = split_event(w, text, len, &event);

    if (code == 0) {
        if (has_type(&event, "\"BOOKMARK\"")) {
            code = on_bookmark(w, &event);
        } else if (has_type(&event, "\"ERROR\"")) {
            code = on_error_event(w, &event);
        } else if (has_type(&event, "\"ADDED\"") || has_type(&event, "\"MODIFIED\"") ||
                   has_type(&event, "\"DELETED\"")) {
            code = on_object(w, &event);
        } else {
            code = watch_set_unreadable(w, "an event of unknown type");
        }
    }
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
        kube_escape(&params, ccm_buf_str(&r->version));
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
        w->stage = kube_stage_new(r->config.store);
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
            .serve = !initial,
            .err = &end->err,
        },
        .started_ms = ccm_clock_now_ms(),
        .err = &end->err,
    };

    end->code = watch_run(r, &w, initial);
    end->watch = !initial || w.pump.serve;
    end->initial = !end->watch;
    end->progress = end->watch && w.pump.pieces > w.list_pieces;
    end->lasted_ms = ccm_clock_now_ms() - w.started_ms;
    kube_stage_free(w.stage);
}
