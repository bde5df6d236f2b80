/* Parts of plan.c: groups in plan_groups.c, listeners in plan_listeners.c. Each appends steps and
 * returns 0 or -ENOMEM. */
#ifndef CCM_CLB_PLAN_PARTS_H
#define CCM_CLB_PLAN_PARTS_H

#include "plan.h"

/* Append an empty step; NULL on ENOMEM. */
struct clb_step *clb_plan_new_step(struct clb_plan *plan, enum clb_step_type type, uint16_t port,
                                   enum clb_protocol protocol);

/* Own listeners that no port wants any more. */
CCM_NODISCARD int clb_plan_stale_listeners(struct clb_plan *plan, const struct clb_plan_input *in);
CCM_NODISCARD int clb_plan_listener(struct clb_plan *plan, const struct clb_plan_input *in,
                                    const struct clb_listener *want, struct ccm_problems *problems);

CCM_NODISCARD int clb_plan_group(struct clb_plan *plan, const struct clb_plan_input *in,
                                 const struct clb_group *want);
/* Own groups that no port wants any more. */
CCM_NODISCARD int clb_plan_stale_groups(struct clb_plan *plan, const struct clb_plan_input *in);

#endif
