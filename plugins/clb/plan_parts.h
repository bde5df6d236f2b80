/*
 * Parts of plan.c: plan_lb.c, plan_listeners.c, plan_ranges.c, above plan_step.c. Each appends
 * steps and returns 0 or -ENOMEM.
 */
#ifndef CCM_CLB_PLAN_PARTS_H
#define CCM_CLB_PLAN_PARTS_H

#include "lbc/apply/plan.h"
#include "plan.h"

struct clb_work {
    struct lbc_work lbc; /* first: the two are converted into one another */
    const struct clb_plan_input *in;
};

/* --- plan.c --- */

/* Begin a plan. problems: NULL for what refuses nothing. */
struct clb_work clb_plan_begin(struct lbc_plan *plan, const struct clb_plan_input *in,
                               struct lbc_problems *problems);

/* --- plan_step.c --- */

/* Append an empty step; NULL on ENOMEM. */
struct clb_step *clb_plan_new_step(struct clb_work *work, unsigned type);
/* The port that a listener forwards to; 0 = none. */
uint16_t clb_forward_target(const struct lbc_listener *listener);

/* --- plan_listeners.c --- */

/* A person's listener that would have to be made anew, and could not be put back. */
bool clb_plan_loses_listener(const struct lbc_work *work, const struct lbc_listener *want,
                             const struct lbc_listener *have);
/* Own listeners that no port wants any more. */
CCM_NODISCARD int clb_plan_stale_listeners(struct clb_work *work);
/* Those that send to a desired group. */
CCM_NODISCARD int clb_plan_listeners_of(struct clb_work *work, const struct lbc_group *group);
/* The http listeners that forward; after the https ones they lead to. */
CCM_NODISCARD int clb_plan_forwards(struct clb_work *work);

/* --- plan_ranges.c --- */

/* The access list for spec.loadBalancerSourceRanges, before the listeners that use it; and its
 * removal, after those that used it. */
CCM_NODISCARD int clb_plan_acl(struct clb_work *work);
CCM_NODISCARD int clb_plan_stale_acl(struct clb_work *work);

/* --- plan_lb.c --- */

/* The load balancer itself; immutable differences go to the problems. */
CCM_NODISCARD int clb_plan_lb(struct clb_work *work);
/* Let go of it: its protections, and our tags. */
CCM_NODISCARD int clb_plan_unprotect_lb(struct clb_work *work);
CCM_NODISCARD int clb_plan_untag_lb(struct clb_work *work);

#endif
