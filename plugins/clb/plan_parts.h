/* Parts of plan.c: plan_lb.c, plan_groups.c, plan_listeners.c, plan_ranges.c. Each appends steps
 * and returns 0 or -ENOMEM. */
#ifndef CCM_CLB_PLAN_PARTS_H
#define CCM_CLB_PLAN_PARTS_H

#include "plan.h"

/* Append an empty step; NULL on ENOMEM. */
struct clb_step *clb_plan_new_step(struct clb_plan *plan, enum clb_step_type type, uint16_t port,
                                   enum lbc_protocol protocol);

/* The step that puts a listener back that was taken over. *ret_done false: it is not known what it
 * was, or that is not there any more. plan_taken.c. */
CCM_NODISCARD int clb_plan_restore(struct clb_plan *plan, const struct clb_plan_input *in,
                                   const struct clb_listener *have, bool *ret_done);
/* Own listeners that no port wants any more. */
CCM_NODISCARD int clb_plan_stale_listeners(struct clb_plan *plan, const struct clb_plan_input *in);
/* Whether such a listener has to stay for now, and sends to the group. */
bool clb_plan_keeps_listener_of(const struct clb_plan_input *in, const struct lbc_group *group);
/* Whether a listener that is not the Service's has the port. */
bool clb_plan_is_refused(const struct clb_plan_input *in, const struct clb_listener *want);
CCM_NODISCARD int clb_plan_listener(struct clb_plan *plan, const struct clb_plan_input *in,
                                    const struct clb_listener *want, struct lbc_problems *problems);
/* The http listeners that forward; after the https ones they lead to. */
CCM_NODISCARD int clb_plan_forwards(struct clb_plan *plan, const struct clb_plan_input *in,
                                    struct lbc_problems *problems);
/* The port that a listener forwards to; 0 = none. */
uint16_t clb_forward_target(const struct clb_listener *listener);

/* The access list for spec.loadBalancerSourceRanges, before the listeners that use it; and its
 * removal, after those that used it. */
CCM_NODISCARD int clb_plan_acl(struct clb_plan *plan, const struct clb_plan_input *in);
CCM_NODISCARD int clb_plan_stale_acl(struct clb_plan *plan, const struct clb_plan_input *in);

/* The load balancer itself; immutable differences go to `problems`. */
CCM_NODISCARD int clb_plan_lb(struct clb_plan *plan, const struct clb_plan_input *in,
                              struct lbc_problems *problems);

/* The present group that serves where `name` is wanted: the one a person chose, or ours of that
 * name. NULL when there is none. */
struct lbc_group *clb_plan_have_group(const struct clb_plan_input *in, const char *name);
CCM_NODISCARD int clb_plan_group(struct clb_plan *plan, const struct clb_plan_input *in,
                                 const struct lbc_group *want);
/* Own groups that no port wants any more. */
CCM_NODISCARD int clb_plan_stale_groups(struct clb_plan *plan, const struct clb_plan_input *in);

#endif
