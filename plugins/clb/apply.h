/*
 * How CLB carries out the steps of a plan: lbc/apply/executor.h, with CLB's actions. A call is done
 * when it is answered, and each step is a stage of its own. May block. One thread per pass.
 */
#ifndef CCM_CLB_APPLY_H
#define CCM_CLB_APPLY_H

#include "alilb/apply.h"
#include "controller.h"
#include "lbc/apply/token.h"
#include "plan.h"

struct clb_apply {
    struct alilb_apply ali; /* in: call, service; cloud, problems, attempt, fresh */
    struct clb *clb;
    struct lbc_entry *entry;       /* claimed */
    const struct clb_model *model; /* NULL for a deletion */
};

/* lbc_apply_run(). Of a load balancer that is gone nothing is left in the mirror. */
CCM_NODISCARD int clb_apply_run(struct clb_apply *apply, struct lbc_plan *plan);

/* r, or 0 when it failed because the access list is not there: deleting it is done. */
CCM_NODISCARD int clb_apply_forgive_acl(int r, const struct ccm_error *err);

#endif
