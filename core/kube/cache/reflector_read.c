/* What lists and watches share: the path, the request that is read as it arrives, the objects. */
#include "kube/cache/reflector_priv.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/text.h"
#include "util/url.h"

#include <errno.h>
#include <inttypes.h>

void kube_reflector_add_param(struct ccm_buf *path, const char *name, const char *value)
{
    if (!ccm_text_empty(value)) {
        ccm_buf_addf(path, "&%s=", name);
        ccm_url_escape(path, value);
    }
}

void kube_reflector_path(const struct kube_reflector *r, struct ccm_buf *path, const char *params,
                         const char *label)
{
    ccm_buf_addf(path, "%s?%s", r->config.path, params);
    kube_reflector_add_param(path, "labelSelector",
                             label == NULL ? r->config.label_selector : label);
    kube_reflector_add_param(path, "fieldSelector", r->config.field_selector);
}

/* Nothing came, but something else is to be done in between. */
static bool pump_is_due(const struct kube_reflector_pump *p, int got, int64_t deadline)
{
    return got == KUBE_STREAM_WOKEN ||
           (got == -ETIME && p->serve != NULL && ccm_clock_now_ms() < deadline);
}

/* How long to wait for the next bytes. */
static int64_t pump_wait_ms(const struct kube_reflector_pump *p, int64_t deadline)
{
    const int64_t due =
        p->serve == NULL ? deadline : kube_store_writes_due(p->reflector->config.store);

    return due < deadline ? due : deadline;
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

        const int got = kube_stream_read(p->stream, pump_wait_ms(p, deadline), &data, &len, p->err);

        if (got == 1) {
            code = pump_feed(p, data, len);
            if (len == 0 || p->pieces != before) {
                deadline = ccm_clock_now_ms() + p->silence_ms;
            }
        } else if (!pump_is_due(p, got, deadline)) {
            code = pump_end(p, got);
            break;
        }
        if (code == 0 && p->serve != NULL) {
            code = p->serve(p->reflector, p->err);
        }
    }
    kube_stream_close(p->stream);
    return code;
}

/* The version of an object that cannot be decoded as a whole. */
static int read_version(const cJSON *json, struct ccm_buf *version)
{
    const char *value = ccm_json_text(ccm_json_get(json, "metadata"), "resourceVersion");

    ccm_buf_adds(version, value);
    return value[0] == '\0' ? -EBADMSG : ccm_buf_error(version);
}

/* An object whose key is all we know. */
static int apply_unreadable(struct kube_reflector *r, struct kube_stage *stage, bool deleted,
                            const char *key, const struct ccm_error *err)
{
    if (!deleted) {
        ccm_log_error(&kube_reflector_log,
                      "%s: an object cannot be used, its last version stays: %s", r->config.name,
                      err->message);
        return stage == NULL ? 0 : kube_stage_keep(stage, key);
    }
    if (stage == NULL) {
        kube_store_delete(r->config.store, key, r->config.change, r->config.arg);
    } else {
        kube_stage_delete(stage, key);
    }
    return 0;
}

static int apply_object(struct kube_reflector *r, struct kube_stage *stage, bool deleted,
                        const struct ccm_object *object, struct ccm_error *err)
{
    const bool kept = !deleted && (r->config.keep == NULL || r->config.keep(r->config.arg, object));
    int code = 0;

    if (stage != NULL && kept && kube_stage_len(stage) >= KUBE_REFLECTOR_MAX_OBJECTS) {
        return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TRANSIENT, "more than %zu objects",
                             KUBE_REFLECTOR_MAX_OBJECTS);
    }
    if (stage != NULL && kept) {
        code = kube_stage_put(stage, object);
    } else if (stage != NULL) {
        kube_stage_delete(stage, object->key);
    } else if (kept) {
        code = kube_store_put(r->config.store, object, r->config.change, r->config.arg);
    } else {
        kube_store_delete(r->config.store, object->key, r->config.change, r->config.arg);
    }
    return code < 0 ? ccm_error_nomem(err) : 0;
}

int kube_reflector_apply(struct kube_reflector *r, struct kube_stage *stage, bool deleted,
                         const struct kube_decode_text *text, struct ccm_buf *version,
                         struct ccm_error *err)
{
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf key = { .max = 0 };
    int code = kube_decode_parsed(r->builder, &r->config.kind, text, &object, &key, err);

    if (code < 0 && (code == -ENOMEM || key.len == 0)) {
        return code;
    }
    if (code < 0) {
        code = apply_unreadable(r, stage, deleted, ccm_buf_str(&key), err);
        if (code == 0 && version != NULL) {
            code = read_version(text->json, version);
        }
        return code < 0 ? ccm_error_wrap(err, code, "cannot go on") : 0;
    }
    if (version != NULL && object->resource_version[0] == '\0') {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT, "%s: no resourceVersion",
                             object->key);
    }
    if (version != NULL) {
        ccm_buf_adds(version, object->resource_version);
    }
    if (object->too_large != NULL && !deleted) {
        ccm_log_error(&kube_reflector_log,
                      "%s: %s is too large (%s): what was made for it stays as it is",
                      r->config.name, object->key, object->too_large);
    }
    return apply_object(r, stage, deleted, object, err);
}
