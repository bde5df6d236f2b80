/*
 * Parts of plan.c: plan_lb.c, plan_ranges.c, plan_groups.c, plan_listeners.c, above plan_step.c.
 * Each appends steps and returns 0 or -ENOMEM. Steps may be appended in any order of stages: plan.c
 * sorts them, steps of one stage keep their order.
 */
#ifndef CCM_NLB_PLAN_PARTS_H
#define CCM_NLB_PLAN_PARTS_H

#include "lbc/apply/plan.h"
#include "plan.h"

struct nlb_work {
    struct lbc_work lbc; /* first: the two are converted into one another */
    const struct nlb_plan_input *in;
    const struct nlb_lb *lb; /* the load balancer as it is, or as it will be when it is made */
};

/* --- plan_step.c --- */

/* Append an empty step; NULL on ENOMEM. */
struct nlb_step *nlb_plan_new_step(struct nlb_work *work, unsigned type, unsigned stage);
/* The same with a stage of its own: counts work->lbc.stage up. */
struct nlb_step *nlb_plan_lb_step(struct nlb_work *work, unsigned type);

/* --- plan_lb.c --- */

/* `pretend` (empty, the caller finishes it) is what work->lb points to when the load balancer is
 * still to be made. */
CCM_NODISCARD int nlb_plan_lb(struct nlb_work *work, struct nlb_lb *pretend);
/* Let go of the load balancer: its protections, both or that against deletion, and our tags. */
CCM_NODISCARD int nlb_plan_unprotect_lb(struct nlb_work *work, bool both);
CCM_NODISCARD int nlb_plan_untag_lb(struct nlb_work *work);

/* --- plan_ranges.c --- */

/* The security group for source ranges, then which ones are joined. */
CCM_NODISCARD int nlb_plan_security(struct nlb_work *work);
/* Once nobody needs it; and at the end of the Service. */
CCM_NODISCARD int nlb_plan_stale_security_group(struct nlb_work *work);
CCM_NODISCARD int nlb_plan_drop_security_group(struct nlb_work *work);

/* --- plan_groups.c --- */

CCM_NODISCARD int nlb_plan_update_group(struct lbc_work *work, const struct lbc_group *want,
                                        struct lbc_group *have);
/* Those that no port wants any more. */
CCM_NODISCARD int nlb_plan_stale_groups(struct nlb_work *work);
/* Take our marks off all of them: they stay. */
CCM_NODISCARD int nlb_plan_untag_groups(struct nlb_work *work);

/* --- plan_listeners.c --- */

CCM_NODISCARD int nlb_plan_stale_listeners(struct nlb_work *work);
CCM_NODISCARD int nlb_plan_listeners(struct nlb_work *work);

#endif
