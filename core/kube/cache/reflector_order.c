/* Who waits for whose list. */
#include "kube/cache/reflector_priv.h"
#include "util/clock.h"
#include "util/thread.h"

#include <errno.h>

#define WAIT_SLICE_MS 100
#define SAME_BREAK_MS 10000 /* watches that break within this time break for the same reason */
#define ASK_MS        10000 /* until one that has noticed nothing by itself is asked for a list */

int kube_reflector_wait_synced(struct kube_reflector *r, int64_t deadline_ms,
                               const struct ccm_cancel *cancel)
{
    int result = -EAGAIN;

    ccm_lock(&r->lock);
    while (result == -EAGAIN) {
        const int64_t now = ccm_clock_now_ms();
        const int64_t slice = now + WAIT_SLICE_MS;

        if (r->status.synced || r->status.absent) {
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

void kube_reflector_await_after(struct kube_reflector *r)
{
    struct kube_reflector *other = r->config.after;
    int state = other == NULL ? 0 : -ETIMEDOUT;

    while (state == -ETIMEDOUT && !kube_reflector_stopping(r)) {
        state = kube_reflector_wait_synced(other, ccm_clock_now_ms() + WAIT_SLICE_MS, NULL);
    }
}

/* Whether its list began after the break that we noticed at broke_ms, and it perhaps earlier. */
static bool is_listed_since(struct kube_reflector *ahead, int64_t broke_ms)
{
    ccm_lock(&ahead->lock);

    const int64_t theirs = ahead->broke_ms;
    const bool same = theirs != 0 && theirs <= broke_ms && broke_ms - theirs < SAME_BREAK_MS;
    const bool since = ahead->began_ms >= (same ? theirs : broke_ms);

    ccm_unlock(&ahead->lock);
    return since;
}

void kube_reflector_relist_after_break(struct kube_reflector *r)
{
    const int64_t broke_ms =
        r->config.continuity == NULL ? 0 : kube_continuity_broke_ms(r->config.continuity);

    if (broke_ms != 0 && !is_listed_since(r, broke_ms)) {
        kube_reflector_relist(r);
    }
}

static void wait_slice(struct kube_reflector *ahead)
{
    ccm_lock(&ahead->lock);
    /* Whoever waits looks again, and again. */
    (void)ccm_clock_cond_wait(&ahead->changed, &ahead->lock, ccm_clock_now_ms() + WAIT_SLICE_MS);
    ccm_unlock(&ahead->lock);
}

/* The list that begins now is the one that was asked for. Returns when the last doubt began. */
static int64_t begin_requested_list(struct kube_reflector *r)
{
    ccm_lock(&r->lock);

    const int64_t broke_ms = r->broke_ms;

    r->relist = false;
    ccm_unlock(&r->lock);
    return broke_ms;
}

void kube_reflector_await_ahead(struct kube_reflector *r)
{
    struct kube_reflector *ahead = r->config.ahead;
    const int64_t broke_ms = begin_requested_list(r);
    int64_t ask_ms = ccm_clock_now_ms() + ASK_MS;

    while (ahead != NULL && r->replaced && !kube_reflector_stopping(r) &&
           !is_listed_since(ahead, broke_ms)) {
        if (ccm_clock_now_ms() >= ask_ms) {
            kube_reflector_relist(ahead);
            ask_ms += ASK_MS;
        }
        kube_reflector_set_due(r, ccm_clock_now_ms());
        wait_slice(ahead);
    }
    r->replaced = false;
}
