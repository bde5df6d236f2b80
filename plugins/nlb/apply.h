/*
 * How NLB carries out the steps of a plan: lbc/apply/executor.h, with NLB's actions and its jobs.
 * May block. One thread per pass.
 */
#ifndef CCM_NLB_APPLY_H
#define CCM_NLB_APPLY_H

#include "alilb/apply.h"
#include "plan.h"

struct nlb_apply {
    struct alilb_apply ali;        /* in: call, service; cloud, problems, attempt, fresh */
    struct nlb_state *have;        /* the mirror */
    const struct nlb_model *model; /* NULL for a deletion */
};

/* lbc_apply_run(); a load balancer that is still being made or deleted is left alone. */
CCM_NODISCARD int nlb_apply_run(struct nlb_apply *apply, struct lbc_plan *plan);

#endif
