/* Part of apply.c: the steps about the access list of spec.loadBalancerSourceRanges. */
#ifndef CCM_CLB_APPLY_ACL_H
#define CCM_CLB_APPLY_ACL_H

#include "apply.h"

CCM_NODISCARD int clb_apply_acl(struct clb_apply *apply, const struct clb_step *step,
                                struct ccm_error *err);

#endif
