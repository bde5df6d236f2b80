/*
 * The calls of groups that lack room for what they shall have: which backends go and come next is
 * decided in exchange.c. Where calls have jobs (NLB), all such groups go on at the same time: one
 * call for each, then one wait for all jobs. Where they have none (CLB), one group follows the
 * other. A part of executor.c. May block. One thread per pass.
 */
#ifndef CCM_LBC_EXECUTOR_EXCHANGE_H
#define CCM_LBC_EXECUTOR_EXCHANGE_H

#include "lbc/apply/executor_parts.h"

void lbc_exchanges_fini(struct lbc_run *run);

/* Whether the step is known to be refused for want of capacity. */
bool lbc_exchanges_is_due(const struct lbc_run *run, const struct lbc_step *step);
/* Whether the step failed with that error because group or load balancer take no further backends,
 * whichever they are. */
bool lbc_exchanges_is_full(const struct lbc_run *run, const struct lbc_step *step,
                           const struct ccm_error *err);
/* Such a step, due or refused with that error (NULL: due), begins an exchange, which the later
 * additions and removals of its group become a part of. A group that is to be made is made without
 * backends. 0, or negative with a problem. */
CCM_NODISCARD int lbc_exchanges_begin(struct lbc_run *run, size_t index,
                                      const struct ccm_error *err);
/* After the steps of a stage: what the exchanges come to, as far as that is possible now. 0, or
 * negative when the rest of the plan makes no sense. */
CCM_NODISCARD int lbc_exchanges_run(struct lbc_run *run);
/* After all stages: once more where there may be place by now; what does not fit is told. */
CCM_NODISCARD int lbc_exchanges_finish(struct lbc_run *run);

#endif
