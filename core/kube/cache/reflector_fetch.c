/* What other threads ask of a reflector, and how its own thread does it between two events. */
#include "kube/cache/reflector_priv.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>

#define MAX_FETCHES 64

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

void kube_reflector_relist(struct kube_reflector *r)
{
    ccm_lock(&r->lock);
    r->relist = true;
    ccm_unlock(&r->lock);
    kube_stream_wake(r->main);
}

struct kube_write *kube_reflector_begin_write(struct kube_reflector *r, const char *key)
{
    return r->config.keep == NULL ? kube_store_begin_write(r->config.store, key) : NULL;
}

void kube_reflector_end_write(struct kube_reflector *r, struct kube_write *write, const char *text,
                              size_t len)
{
    CCM_CLEANUP(kube_builder_freep) struct kube_builder *builder = NULL;
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    if (write == NULL) {
        return;
    }
    if (text != NULL) {
        builder = kube_builder_new();
    }
    if (builder != NULL && kube_decode(builder, &r->written, text, len, &object, &err) < 0) {
        object = NULL; /* it was written all the same, and the watch will show it */
    }
    kube_store_end_write(r->config.store, write, object, r->config.timing.own_ms);
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
    kube_reflector_mark_served_locked(r);
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
    r->serving = true; /* until it is found that nothing is left, or a list takes its place */
    ccm_unlock(&r->lock);
    *ret_selector = copy;
}

static void reflector_end_requests(struct kube_reflector *r)
{
    ccm_lock(&r->lock);
    r->serving = false;
    ccm_unlock(&r->lock);
}

int kube_reflector_serve(struct kube_reflector *r, struct ccm_error *err)
{
    kube_store_expire_writes(r->config.store, ccm_clock_now_ms(), r->config.change, r->config.arg);
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
            reflector_end_requests(r);
            return 0;
        }
        if (kube_reflector_fetch_now(r, selector, err) < 0) {
            return ccm_error_wrap(err, -EXFULL, "fetch of %s", selector);
        }
    }
}
