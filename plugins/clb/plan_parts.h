/*
 * Parts of plan.c: plan_lb.c, plan_listeners.c, plan_fields.c, plan_ranges.c. Each is a
 * lbc_plan_fn, or serves one.
 */
#ifndef CCM_CLB_PLAN_PARTS_H
#define CCM_CLB_PLAN_PARTS_H

#include "plan.h"

static inline const struct clb_model *clb_work_model(const struct lbc_work *work)
{
    return (const struct clb_model *)work->model;
}

static inline const struct clb_state *clb_work_have(const struct lbc_work *work)
{
    return (const struct clb_state *)work->have;
}

/* --- plan_listeners.c --- */

/* The port that a listener forwards to; 0 = none. */
uint16_t clb_forward_target(const struct lbc_listener *listener);
/* Members of the table for lbc. */
bool clb_plan_needs_rebuild(const struct lbc_work *work, const struct lbc_listener *want,
                            const struct lbc_listener *have);
CCM_NODISCARD int clb_plan_update_listener(struct lbc_work *work, const struct lbc_listener *want,
                                           struct lbc_listener *have, struct lbc_group *group);
/* Domain extensions, and the start of a listener that does not run. */
CCM_NODISCARD int clb_plan_more(struct lbc_work *work, const struct lbc_listener *want,
                                struct lbc_listener *have);
/* Own listeners that no port wants any more. */
CCM_NODISCARD int clb_plan_stale_listeners(struct lbc_work *work);
/* Groups, each with the listeners that send to it. */
CCM_NODISCARD int clb_plan_groups(struct lbc_work *work);
/* The http listeners that forward; after the https ones they lead to. */
CCM_NODISCARD int clb_plan_forwards(struct lbc_work *work);

/* --- plan_fields.c --- */

/* Attributes of a listener that options had set for fields of the Service (health check,
 * persistence), with the values of annotations or defaults -> ret. 0 or -ENOMEM. */
CCM_NODISCARD int clb_plan_take_back(const struct lbc_work *work, const struct lbc_listener *want,
                                     const struct lbc_listener *have, struct lbc_attrs *ret);
/* Whether a listener has to be deleted and created for that: its backends have several ports. */
bool clb_plan_check_needs_rebuild(const struct lbc_work *work, const struct lbc_listener *want,
                                  const struct lbc_listener *have);

/* --- plan_ranges.c --- */

/* The access list for spec.loadBalancerSourceRanges, before the listeners that use it; and its
 * removal, after those that used it. */
CCM_NODISCARD int clb_plan_acl(struct lbc_work *work);
CCM_NODISCARD int clb_plan_stale_acl(struct lbc_work *work);

/* --- plan_lb.c --- */

/* The load balancer itself; immutable differences go to the problems. */
CCM_NODISCARD int clb_plan_lb(struct lbc_work *work);
/* The end: delete it; or let go of it, protections first. */
CCM_NODISCARD int clb_plan_drop_lb(struct lbc_work *work);
CCM_NODISCARD int clb_plan_untag_reused(struct lbc_work *work);
CCM_NODISCARD int clb_plan_unprotect_lb(struct lbc_work *work);

#endif
