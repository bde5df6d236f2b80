#include "kube/client/continuity.h"

#include "util/clock.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>

#define CALM_MS 10000 /* at most, before new lists are asked for */

int kube_continuity_init(struct kube_continuity *c)
{
    *c = (struct kube_continuity){ 0 };
    return pthread_mutex_init(&c->lock, NULL) != 0 ? -ENOMEM : 0;
}

void kube_continuity_fini(struct kube_continuity *c)
{
    ccm_lock_fini(&c->lock);
}

void kube_continuity_set_gate(struct kube_continuity *c, struct ccm_gate *gate)
{
    c->gate = gate;
}

size_t kube_continuity_add(struct kube_continuity *c)
{
    ccm_lock(&c->lock);

    const size_t cache = c->caches++;

    ccm_unlock(&c->lock);
    return cache;
}

/* All that answer at all. */
static bool is_whole_locked(const struct kube_continuity *c)
{
    return c->in_step != 0 && c->in_step == (c->known & ~c->refused);
}

uint64_t kube_continuity_bit(size_t cache)
{
    return cache < KUBE_CONTINUITY_CACHES ? UINT64_C(1) << cache : 0;
}

static void update_since_locked(struct kube_continuity *c)
{
    if (c->since_ms == 0 && is_whole_locked(c)) {
        c->since_ms = ccm_clock_now_ms();
    }
}

void kube_continuity_set(struct kube_continuity *c, size_t cache, bool in_step)
{
    const uint64_t bit = kube_continuity_bit(cache);

    ccm_lock(&c->lock);
    c->known |= in_step ? bit : 0;
    c->refused &= ~bit;
    c->in_step = in_step ? c->in_step | bit : c->in_step & ~bit;
    update_since_locked(c);
    ccm_unlock(&c->lock);
}

void kube_continuity_refuse(struct kube_continuity *c, size_t cache)
{
    const uint64_t bit = kube_continuity_bit(cache);

    ccm_lock(&c->lock);
    c->refused |= bit;
    c->in_step &= ~bit;
    update_since_locked(c);
    ccm_unlock(&c->lock);
}

void kube_continuity_break(struct kube_continuity *c, const char *reason)
{
    const int64_t now_ms = ccm_clock_now_ms();

    ccm_lock(&c->lock);
    c->since_ms = is_whole_locked(c) ? now_ms : 0;
    c->breaks++;
    c->broke_ms = now_ms;
    c->renewed_ms = 0;
    ccm_text_copy(c->reason, sizeof(c->reason), reason);
    if (c->gate != NULL) {
        c->held_ms = c->held_ms == 0 ? now_ms : c->held_ms;
        ccm_gate_set_held(c->gate, true);
    }
    ccm_unlock(&c->lock);
}

int64_t kube_continuity_broke_ms(struct kube_continuity *c)
{
    ccm_lock(&c->lock);

    const int64_t broke_ms = c->broke_ms;

    ccm_unlock(&c->lock);
    return broke_ms;
}

int64_t kube_continuity_since(struct kube_continuity *c, uint64_t excused)
{
    ccm_lock(&c->lock);

    const uint64_t wanted = c->known & ~(c->refused & excused);
    const bool all = wanted != 0 && c->in_step == wanted;
    const int64_t since_ms = all ? c->since_ms : 0;

    ccm_unlock(&c->lock);
    return since_ms;
}

static int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When the gate may be let go, as far as one knows; INT64_MAX = not yet. */
static int64_t release_ms_locked(const struct kube_continuity *c, int64_t settle_ms,
                                 bool needs_renewal)
{
    if (!is_whole_locked(c) || c->since_ms == 0 || (needs_renewal && c->renewed_ms == 0)) {
        return INT64_MAX;
    }
    return later_of(later_of(c->broke_ms, c->since_ms), c->renewed_ms) + settle_ms;
}

static void view_locked(const struct kube_continuity *c, int64_t now_ms,
                        struct kube_continuity_view *ret)
{
    *ret = (struct kube_continuity_view){
        .held = c->held_ms != 0,
        .breaks = c->breaks,
        .held_for_ms = c->held_ms == 0 ? 0 : now_ms - c->held_ms,
    };
    ccm_text_copy(ret->reason, sizeof(ret->reason), c->reason);
}

/* Once after the breaks of the last moments. */
static bool take_relist_locked(struct kube_continuity *c, int64_t now_ms, int64_t settle_ms)
{
    const int64_t calm_ms = settle_ms / 4 < CALM_MS ? settle_ms / 4 : CALM_MS;

    if (c->breaks == c->relisted || now_ms - c->broke_ms < calm_ms) {
        return false;
    }
    c->relisted = c->breaks;
    return true;
}

void kube_continuity_check(struct kube_continuity *c, int64_t now_ms, int64_t settle_ms,
                           int64_t renewed_ms, struct kube_continuity_view *ret)
{
    const bool needs_renewal = renewed_ms != KUBE_CONTINUITY_NO_LEASE;

    ccm_lock(&c->lock);
    if (c->renewed_ms == 0 && renewed_ms > c->broke_ms) {
        c->renewed_ms = renewed_ms;
    }
    view_locked(c, now_ms, ret);
    ret->relist = take_relist_locked(c, now_ms, settle_ms);
    if (c->held_ms != 0 && now_ms >= release_ms_locked(c, settle_ms, needs_renewal)) {
        c->held_ms = 0;
        ccm_gate_set_held(c->gate, false);
        ret->held = false;
        ret->ended = true;
    }
    ccm_unlock(&c->lock);
}

void kube_continuity_view(struct kube_continuity *c, struct kube_continuity_view *ret)
{
    ccm_lock(&c->lock);
    view_locked(c, ccm_clock_now_ms(), ret);
    ccm_unlock(&c->lock);
}
