/*
 * The audit: a mirror that is older than the interval is read again, a few at a time and behind all
 * other calls. Jitter keeps the load balancers of a cluster from coming due together. Differences
 * are repaired as in any pass; sync.c emits an event about them. For reconcile.c, which holds the
 * claim. Nothing here blocks.
 */
#ifndef CCM_LBC_AUDIT_H
#define CCM_LBC_AUDIT_H

#include "lbc/mirror.h"

#include <stdatomic.h>

struct lbc_audit {
    const struct ccm_host *host;
    atomic_int_least64_t interval_ms; /* between two audits of a load balancer; 0 = never */
    atomic_uint running;
};

/* After a successful pass that ensured the Service. was_valid: it began with a valid mirror; idle:
 * it had nothing to do. True: an audit is due and the mirror is put aside; the caller runs a pass
 * with `audit` set, then calls lbc_audit_end(). */
CCM_NODISCARD bool lbc_audit_begin(struct lbc_audit *audit, struct lbc_entry *entry, bool was_valid,
                                   bool idle);
/* looked: it has read, well or not; else it was put off, and is due as before. */
void lbc_audit_end(struct lbc_audit *audit, struct lbc_entry *entry, bool looked);

/* After a successful pass: enqueue the Service for its next audit. A failed pass comes back by its
 * backoff, which must not be undercut. */
void lbc_audit_schedule(const struct lbc_audit *audit, const struct lbc_entry *entry);

#endif
