/* What all parts of a reflector share: what is known of the store, of the server, and of time. */
#include "kube/cache/reflector_priv.h"
#include "kube/object/version.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>

#define SLACK_MS     300000 /* longest for what comes in one piece, change functions included */
#define BACKWARDS_MS 600000 /* versions that go backwards twice in this time are nothing new */

const struct ccm_log kube_reflector_log = { .part = "reflector" };

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

static void reflector_record_version_locked(struct kube_reflector *r)
{
    if (r->listed) {
        ccm_text_copy(r->status.version, sizeof(r->status.version), ccm_buf_str(&r->version));
    }
}

void kube_reflector_record_event(struct kube_reflector *r)
{
    ccm_lock(&r->lock);
    reflector_record_version_locked(r);
    r->status.events++;
    r->status.failures = 0;
    r->status.last_event_ms = ccm_clock_now_ms();
    ccm_unlock(&r->lock);
}

uint32_t kube_reflector_random(struct kube_reflector *r, uint32_t min, uint32_t max)
{
    /* splitmix64: spreads load, protects nothing */
    r->random += UINT64_C(0x9E3779B97F4A7C15);

    uint64_t z = r->random;

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return min + (uint32_t)(z % ((uint64_t)max - min + 1));
}

void kube_reflector_report_break(struct kube_reflector *r, const char *why)
{
    char reason[256];

    if (r->config.continuity != NULL && !r->broken_off) {
        r->broken_off = true;
        ccm_text_printf(reason, sizeof(reason), "%s: %s", r->config.name, why);
        kube_continuity_break(r->config.continuity, reason);
    }
}

static bool reflector_saw_break_since(const struct kube_reflector *r, int64_t began_ms)
{
    return r->config.continuity != NULL &&
           kube_continuity_broke_ms(r->config.continuity) > began_ms;
}

static bool reflector_is_outdated(struct kube_reflector *r)
{
    ccm_lock(&r->lock);

    const int64_t began_ms = r->began_ms;

    ccm_unlock(&r->lock);
    return reflector_saw_break_since(r, began_ms);
}

void kube_reflector_relist_outdated(struct kube_reflector *r)
{
    const bool outdated = reflector_is_outdated(r);

    ccm_lock(&r->lock);
    r->relist = r->relist || outdated;
    ccm_unlock(&r->lock);
}

struct kube_stage *kube_reflector_new_stage(struct kube_reflector *r)
{
    return kube_stage_new(r->config.store, reflector_is_outdated(r));
}

void kube_reflector_set_in_step(struct kube_reflector *r, bool in_step)
{
    if (r->config.continuity != NULL) {
        kube_continuity_set(r->config.continuity, r->cache, in_step);
    }
}

int kube_reflector_check_version(struct kube_reflector *r, const char *version,
                                 struct ccm_error *err)
{
    const int64_t now = ccm_clock_now_ms();

    if (!kube_version_is_older(version, ccm_buf_str(&r->version))) {
        return 0;
    }
    r->backwards = now - r->backwards_ms < BACKWARDS_MS ? r->backwards + 1 : 1;
    r->backwards_ms = now;
    return ccm_error_set(err, -ESTALE, CCM_ERROR_TRANSIENT,
                         "the API server is at version %s and was at %s before: it was replaced, "
                         "or restored from a backup",
                         version, ccm_buf_str(&r->version));
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

void kube_reflector_mark_served_locked(struct kube_reflector *r)
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
    const bool compared = !kube_stage_is_of_other_server(*stage);

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
    /* Then its versions were compared with those of another server. */
    r->relist = r->relist || (compared && reflector_saw_break_since(r, started_ms));
    r->status.synced = true;
    r->status.absent = false;
    r->status.streaming = r->streaming;
    r->status.lists++;
    r->status.listed = r->listed;
    r->serving = false;
    reflector_record_version_locked(r);
    r->began_ms = started_ms;
    r->status.failures = 0;
    kube_reflector_mark_served_locked(r);
    r->status.last_event_ms = now;
    ccm_wake_all(&r->changed);
    ccm_unlock(&r->lock);
}
