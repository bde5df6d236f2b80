/*
 * Parts of plan.c: plan_lb.c, plan_ranges.c, plan_groups.c, plan_listeners.c. Each is a
 * lbc_plan_fn, or serves one. Steps may be appended in any order of stages: lbc sorts them, steps
 * of one stage keep their order.
 */
#ifndef CCM_NLB_PLAN_PARTS_H
#define CCM_NLB_PLAN_PARTS_H

#include "plan.h"

static inline const struct nlb_model *nlb_work_model(const struct lbc_work *work)
{
    return (const struct nlb_model *)work->model;
}

static inline const struct nlb_state *nlb_work_have(const struct lbc_work *work)
{
    return (const struct nlb_state *)work->have;
}

static inline const struct nlb_lb *nlb_work_lb(const struct lbc_work *work)
{
    return (const struct nlb_lb *)work->lb;
}

/* Any step, with a stage of its own. */
static inline struct nlb_step *nlb_plan_lb_step(struct lbc_work *work, unsigned type)
{
    return (struct nlb_step *)lbc_work_lb_step(work, type);
}

/* --- plan_lb.c --- */

CCM_NODISCARD int nlb_plan_lb(struct lbc_work *work);
/* The end: delete it; or let go of it, protections first. */
CCM_NODISCARD int nlb_plan_drop_lb(struct lbc_work *work);
CCM_NODISCARD int nlb_plan_unprotect_lb(struct lbc_work *work);

/* --- plan_ranges.c --- */

/* The security group for source ranges, then which ones are joined. */
CCM_NODISCARD int nlb_plan_security(struct lbc_work *work);
/* Once nobody needs it; and at the end of the Service. */
CCM_NODISCARD int nlb_plan_stale_security_group(struct lbc_work *work);
CCM_NODISCARD int nlb_plan_drop_security_group(struct lbc_work *work);
CCM_NODISCARD int nlb_plan_untag_security_group(struct lbc_work *work);

/* --- plan_groups.c --- */

/* Members of the table for lbc. */
CCM_NODISCARD int nlb_plan_update_group(struct lbc_work *work, const struct lbc_group *want,
                                        struct lbc_group *have);
CCM_NODISCARD int nlb_plan_stale_groups(struct lbc_work *work);
/* Take our marks off all of them: they stay. */
CCM_NODISCARD int nlb_plan_untag_groups(struct lbc_work *work);

/* --- plan_listeners.c --- */

CCM_NODISCARD int nlb_plan_certs(struct lbc_work *work, const struct lbc_listener *desired,
                                 struct lbc_listener *whose);

#endif
