/* Executes a plan, step by step, and keeps the mirror in line with what the cloud answered. May
 * block. One thread per pass. */
#ifndef CCM_CLB_APPLY_H
#define CCM_CLB_APPLY_H

#include "alilb/action.h"
#include "clb.h"
#include "lbc/apply/capacity.h"
#include "lbc/apply/token.h"
#include "plan.h"

struct clb_apply {
    struct alilb_call call;
    struct clb *clb;
    const struct ccm_service *service;
    struct lbc_entry *entry;       /* claimed */
    const struct clb_model *model; /* NULL for a deletion */
    bool fresh; /* the mirror was read in this pass: a refusal is not due to an old picture */
    struct lbc_problems *problems;
    struct lbc_capacity capacity; /* for backends, of all groups together; begins zeroed */
    size_t writes;                /* out: calls that succeeded */
    bool cannot_restore;          /* out: the cloud refused to have a listener put back */
};

/*
 * Failures go to `problems`: each names port and action, and stops only what depends on it. When
 * the mirror can no longer be trusted it is marked so (entry->valid): good for messages, not for
 * the next pass. Returns 0 when the plan was walked to its end, negative when it had to be given up
 * (no load balancer, shutdown); there is a problem then.
 */
CCM_NODISCARD int clb_apply_run(struct clb_apply *apply, const struct clb_plan *plan);

/* ClientToken of a creation, see lbc/apply/token.h. */
void clb_apply_token(const struct ccm_service *service, const struct clb_lb *lb, uint32_t attempt,
                     char ret[LBC_TOKEN_SIZE]);

#endif
