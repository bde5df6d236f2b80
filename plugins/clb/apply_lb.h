/* Part of apply.c: the steps about the load balancer itself. */
#ifndef CCM_CLB_APPLY_LB_H
#define CCM_CLB_APPLY_LB_H

#include "apply.h"

CCM_NODISCARD int clb_apply_lb(struct clb_apply *apply, const struct clb_step *step,
                               struct ccm_error *err);

#endif
