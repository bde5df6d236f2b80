/*
 * The slow second look. A mirror that is older than the interval (with jitter, so that the load
 * balancers of a cluster do not come due together) is read again, a few at a time and behind all
 * other calls; what differs is repaired as in any pass, and sync.c emits an event about it. Holder
 * of the claim only; nothing here blocks. Used by reconcile.c.
 */
#ifndef CCM_LBC_AUDIT_H
#define CCM_LBC_AUDIT_H

#include "lbc/mirror.h"

#include <stdatomic.h>

struct lbc_audit {
    const struct ccm_host *host;
    atomic_int_least64_t interval_ms; /* between two looks at a load balancer; 0 = never */
    atomic_uint running;
};

/*
 * After a pass that ensured the Service and went well. was_valid: it had its mirror already; idle:
 * it had nothing to do. True: it is time, the mirror is dropped, and a pass with `audit` set has to
 * follow, then lbc_audit_end().
 */
CCM_NODISCARD bool lbc_audit_begin(struct lbc_audit *audit, struct lbc_entry *entry, bool was_valid,
                                   bool idle);
void lbc_audit_end(struct lbc_audit *audit, struct lbc_entry *entry);

/* After a pass that went well: have the Service come back for its next look. One that fails comes
 * back when its backoff says so, which is not to be undercut. */
void lbc_audit_schedule(const struct lbc_audit *audit, const struct lbc_entry *entry);

#endif
