/*
 * A change that the cloud has accepted but does not show before the next day: while it shows the
 * old value, the change is not asked for again. Values are compared by ccm_text_hash(). Pure.
 */
#ifndef CCM_LBC_PENDING_CHANGE_H
#define CCM_LBC_PENDING_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#define LBC_PENDING_CHANGE_MS (25 * INT64_C(3600000)) /* then it is asked for again */

/* The last one. Zeroed: there is none. */
struct lbc_pending_change {
    uint64_t before;
    uint64_t wanted;
    int64_t ms; /* monotonic: when it was accepted */
};

void lbc_pending_change_record(struct lbc_pending_change *change, uint64_t before, uint64_t wanted,
                               int64_t now_ms);
/* Whether it is the same one, and the cloud may show it later. */
bool lbc_pending_change_stands(const struct lbc_pending_change *change, uint64_t before,
                               uint64_t wanted, int64_t now_ms);
/* What the cloud was seen to hold: an change that has arrived is none any more, whatever anybody
 * makes of it then. */
void lbc_pending_change_see(struct lbc_pending_change *change, uint64_t shown);

#endif
