#include "kube/continuity.h"

#include "util/clock.h"
#include "util/text.h"

#include <errno.h>

static void continuity_lock(struct ccm_continuity *c)
{
    (void)pthread_mutex_lock(&c->lock); /* a default mutex, initialised: cannot fail */
}

static void continuity_unlock(struct ccm_continuity *c)
{
    (void)pthread_mutex_unlock(&c->lock); /* as above */
}

int ccm_continuity_init(struct ccm_continuity *c)
{
    *c = (struct ccm_continuity){ 0 };
    return pthread_mutex_init(&c->lock, NULL) != 0 ? -ENOMEM : 0;
}

void ccm_continuity_fini(struct ccm_continuity *c)
{
    (void)pthread_mutex_destroy(&c->lock); /* nobody holds it any more */
}

size_t ccm_continuity_add(struct ccm_continuity *c)
{
    continuity_lock(c);

    const size_t cache = c->caches++;

    c->since_ms = cache < CCM_CONTINUITY_CACHES ? 0 : c->since_ms;
    continuity_unlock(c);
    return cache;
}

static bool is_whole_locked(const struct ccm_continuity *c)
{
    const uint64_t all =
        c->caches >= CCM_CONTINUITY_CACHES ? UINT64_MAX : (UINT64_C(1) << c->caches) - 1;

    return c->caches > 0 && c->in_step == all;
}

void ccm_continuity_set(struct ccm_continuity *c, size_t cache, bool in_step)
{
    const uint64_t bit = cache < CCM_CONTINUITY_CACHES ? UINT64_C(1) << cache : 0;

    continuity_lock(c);
    c->in_step = in_step ? c->in_step | bit : c->in_step & ~bit;
    if (c->since_ms == 0 && is_whole_locked(c)) {
        c->since_ms = ccm_clock_now_ms();
    }
    continuity_unlock(c);
}

void ccm_continuity_break(struct ccm_continuity *c, const char *reason)
{
    continuity_lock(c);
    c->since_ms = is_whole_locked(c) ? ccm_clock_now_ms() : 0;
    c->breaks++;
    ccm_text_copy(c->reason, sizeof(c->reason), reason);
    continuity_unlock(c);
}

int64_t ccm_continuity_since(struct ccm_continuity *c)
{
    continuity_lock(c);

    const int64_t since_ms = is_whole_locked(c) ? c->since_ms : 0;

    continuity_unlock(c);
    return since_ms;
}
