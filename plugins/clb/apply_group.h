/* Groups and their backends: one step each. A part of apply.c. May block. One thread per pass. */
#ifndef CCM_CLB_APPLY_GROUP_H
#define CCM_CLB_APPLY_GROUP_H

#include "apply.h"

/* CLB_STEP_CREATE_GROUP, ADD, REMOVE, WEIGH, DELETE_GROUP; those of backends in portions of the
 * batch size. 0 or negative with err, when portions before the one that failed have been done. */
CCM_NODISCARD int clb_apply_group_step(struct clb_apply *apply, const struct clb_step *step,
                                       struct ccm_error *err);
/* CLB_STEP_CREATE_GROUP without its backends. */
CCM_NODISCARD int clb_apply_empty_group(struct clb_apply *apply, const struct clb_step *step,
                                        struct ccm_error *err);
/* ADD, REMOVE or WEIGH, one call, with some of the step's backends. */
CCM_NODISCARD int clb_apply_backends(struct clb_apply *apply, const struct clb_step *step,
                                     const struct lbc_backends *set, struct ccm_error *err);
/* That many were too many for one call: from now on they are fewer. False: they cannot be. */
bool clb_apply_shrink_batch(struct clb_apply *apply, size_t count, const struct ccm_error *err);

#endif
