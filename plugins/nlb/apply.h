/*
 * Executes a plan, stage by stage: sends the calls of a stage, waits for their jobs together, and
 * keeps the mirror in line with what the cloud answered. May block. One thread per pass.
 */
#ifndef CCM_NLB_APPLY_H
#define CCM_NLB_APPLY_H

#include "alilb/account.h"
#include "alilb/action.h"
#include "plan.h"

struct nlb_apply {
    struct alilb_call call;
    const struct ccm_service *service;
    const char *cluster_id;
    struct nlb_state *have;        /* the mirror; changed by each write that succeeded */
    const struct nlb_model *model; /* NULL for a deletion: what is gone already is well then */
    uint32_t *attempt; /* of creation: part of the ClientToken; counted up when needed */
    bool fresh; /* the mirror was read in this pass: a refusal is not due to an old picture */
    struct lbc_problems *problems;
    size_t writes;       /* out: calls that succeeded */
    bool freed;          /* out: a listener was deleted, or put back */
    bool cannot_restore; /* out: the cloud refused to have a listener put back */
    bool surprised;      /* out: the mirror can no longer be trusted by the next pass */
    uint64_t again_ms;   /* out: the load balancer is still being made or deleted: stop here, no
                            problem, and come again then; 0 = no. Its status in the mirror tells */
};

/*
 * Failures go to `problems`: each names port and action, and stops only what depends on it. A job
 * that failed is a failure of its step, one that has not ended in time as well. Returns 0 when the
 * plan was walked to its end or again_ms is set, negative when it had to be given up (no load
 * balancer, shutdown); there is a problem then.
 */
CCM_NODISCARD int nlb_apply_run(struct nlb_apply *apply, const struct lbc_plan *plan);

#endif
