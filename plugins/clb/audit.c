#include "audit.h"

#include "mirror.h"
#include "util/buf.h"
#include "util/cleanup.h"

#include <stdint.h>

#define AT_ONCE_MAX  2    /* audits of one process */
#define PUT_OFF_MS   1000 /* when it is due but cannot be now */
#define JITTER_PARTS 5    /* of the interval, to either side */

/* Time of the next look. */
static int64_t next_due(const struct clb *clb)
{
    const int64_t span = clb->audit_ms / JITTER_PARTS;
    uint32_t random = 0;

    if (clb->host->random(clb->host, &random, sizeof(random)) < 0) {
        random = UINT32_MAX / 2; /* the middle: no jitter is better than no audit */
    }
    const int64_t jitter = 2 * span * random / UINT32_MAX - span;

    return clb->host->now_ms(clb->host) + clb->audit_ms + jitter;
}

/* Within the number of audits at once. */
static bool get_place(struct clb *clb)
{
    if (atomic_fetch_add(&clb->audits, 1) < AT_ONCE_MAX) {
        return true;
    }
    atomic_fetch_sub(&clb->audits, 1);
    return false;
}

bool clb_audit_begin(struct clb *clb, struct clb_entry *entry, bool was_valid, bool idle)
{
    if (clb->audit_ms == 0) {
        return false;
    }
    if (!was_valid || entry->audit_due_ms == 0) {
        entry->audit_due_ms = next_due(clb); /* it was read just now */
        return false;
    }
    if (!idle || clb->host->now_ms(clb->host) < entry->audit_due_ms || !get_place(clb)) {
        return false;
    }
    clb_entry_drop(entry);
    return true;
}

void clb_audit_end(struct clb *clb, struct clb_entry *entry)
{
    atomic_fetch_sub(&clb->audits, 1);
    entry->audit_due_ms = next_due(clb);
}

void clb_audit_schedule(struct clb *clb, const struct clb_entry *entry, const char *key)
{
    if (clb->audit_ms == 0 || entry->audit_due_ms == 0) {
        return;
    }
    const int64_t rest = entry->audit_due_ms - clb->host->now_ms(clb->host);

    clb->host->enqueue(clb->host, key, CCM_LANE_BULK,
                       (uint64_t)(rest > PUT_OFF_MS ? rest : PUT_OFF_MS));
}

void clb_audit_tell(struct clb_pass *pass, const struct clb_plan *plan)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };

    for (size_t i = 0; i < plan->len; i++) {
        const struct clb_step *step = &plan->steps[i];

        ccm_buf_addf(&text, "%s%s", i == 0 ? "" : ", ", clb_step_name(step->type));
        if (step->port != 0) {
            ccm_buf_addf(&text, " %u/%s", step->port, clb_protocol_name(step->protocol));
        }
    }
    ccm_life_event(&pass->clb->life, pass->service, false, "DriftRepaired",
                   "Load balancer [%s] had been changed by somebody else and was repaired: %s",
                   clb_pass_lb_id(pass), ccm_buf_str(&text));
}
