/*
 * Server groups that lack capacity for what they shall have: old servers make room for new ones,
 * see lbc/apply/capacity.h. All such groups go on at the same time, a call each and their jobs
 * together. A part of apply.c. May block. One thread per pass.
 */
#ifndef CCM_NLB_APPLY_EXCHANGE_H
#define CCM_NLB_APPLY_EXCHANGE_H

#include "apply_run.h"

void nlb_exchanges_fini(struct nlb_run *run);

/* Whether the step failed with that error because group or load balancer take no further servers,
 * whichever they are. */
bool nlb_exchange_is_full(const struct nlb_step *step, const struct ccm_error *err);
/* Such a step begins an exchange, which the later additions and removals of its group become a part
 * of. 0, or negative with a problem. */
CCM_NODISCARD int nlb_exchange_begin(struct nlb_run *run, size_t index,
                                     const struct ccm_error *err);
/* After the steps of a stage: what the exchanges come to, as far as that is possible now. 0, or
 * negative when the rest of the plan makes no sense. */
CCM_NODISCARD int nlb_exchanges_run(struct nlb_run *run);
/* After all stages: once more where there may be room by now; what does not fit is told. */
CCM_NODISCARD int nlb_exchanges_finish(struct nlb_run *run);

#endif
