/* Part of apply.c: the steps about listeners. */
#ifndef CCM_CLB_APPLY_LISTENER_H
#define CCM_CLB_APPLY_LISTENER_H

#include "apply.h"

CCM_NODISCARD int clb_apply_listener(struct clb_apply *apply, const struct clb_step *step,
                                     struct ccm_error *err);

/* Whether what a step about listeners or access lists needs is missing, because an earlier step
 * failed and was reported. */
bool clb_apply_is_blocked(struct clb_apply *apply, const struct clb_step *step);

#endif
