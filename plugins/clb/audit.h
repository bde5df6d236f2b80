/*
 * The slow second look. A mirror that is older than the interval (with jitter, so that the load
 * balancers of a cluster do not come due together) is read again, a few at a time and behind all
 * other calls; what differs is repaired as in any pass, and told. Holder of the claim only; nothing
 * here blocks.
 */
#ifndef CCM_CLB_AUDIT_H
#define CCM_CLB_AUDIT_H

#include "pass.h"
#include "plan.h"

/*
 * After a pass that ensured the Service and went well. was_valid: it had its mirror already; idle:
 * it had nothing to do. True: it is time, the mirror is dropped, and a pass with `audit` set has to
 * follow, then clb_audit_end().
 */
CCM_NODISCARD bool clb_audit_begin(struct clb *clb, struct clb_entry *entry, bool was_valid,
                                   bool idle);
void clb_audit_end(struct clb *clb, struct clb_entry *entry);

/* Have the Service come back for its next look. */
void clb_audit_schedule(struct clb *clb, const struct clb_entry *entry, const char *key);

/* Event DriftRepaired with the steps of a plan that was executed without a problem. */
void clb_audit_tell(struct clb_pass *pass, const struct clb_plan *plan);

#endif
