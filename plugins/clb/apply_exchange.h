/*
 * Groups that lack capacity for what they shall have: old backends make room for new ones, see
 * lbc/apply/capacity.h. A part of apply.c. May block. One thread per pass.
 */
#ifndef CCM_CLB_APPLY_EXCHANGE_H
#define CCM_CLB_APPLY_EXCHANGE_H

#include "apply.h"

struct clb_exchange;

/* The groups of one run whose backends did not fit so far. Zeroed = none. */
struct clb_exchanges {
    struct clb_exchange *items;
    size_t len;
    size_t cap;
    struct ccm_error why; /* the last refusal for want of capacity */
};

void clb_exchanges_fini(struct clb_exchanges *exchanges);

/* Whether the step failed with that error because the load balancer takes no further backends,
 * whichever they are: then it is noted, and clb_exchange_run() is what is left to do. */
bool clb_exchange_record_full(struct clb_apply *apply, const struct clb_step *step,
                              struct clb_exchanges *exchanges, const struct ccm_error *err);
/* Whether the step, which adds backends, is known to be refused for want of capacity. */
bool clb_exchange_is_due(const struct clb_apply *apply, const struct clb_step *step);

/*
 * The step at *index, which makes a group or adds backends, lacks capacity: carry out what it and
 * the later additions and removals of its group come to, as far as that is possible now. *index
 * becomes that of the last step which is done with. 0, or negative when the rest of the plan makes
 * no sense; failures go to the problems.
 */
CCM_NODISCARD int clb_exchange_run(struct clb_apply *apply, const struct clb_plan *plan,
                                   size_t *index, struct clb_exchanges *exchanges);
/* After all other steps: once more where there may be room by now; what does not fit is told. */
CCM_NODISCARD int clb_exchanges_finish(struct clb_apply *apply, struct clb_exchanges *exchanges);

#endif
