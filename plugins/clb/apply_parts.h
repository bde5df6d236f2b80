/* What the parts of apply.c share. One thread per pass. */
#ifndef CCM_CLB_APPLY_PARTS_H
#define CCM_CLB_APPLY_PARTS_H

#include "apply.h"

/* The group of a step as the mirror has it; NULL when there is none. */
struct lbc_group *clb_apply_group(struct clb_apply *apply, const struct clb_step *step);
/* A write succeeded and `r` says whether the mirror followed: if not, it is read again. Returns 0.
 */
int clb_apply_check_mirror(struct clb_apply *apply, int r);
/* A step has failed with r: tell, and note what follows from it. Returns negative when the rest of
 * the plan makes no sense. */
CCM_NODISCARD int clb_apply_fail(struct clb_apply *apply, const struct clb_step *step, int r,
                                 struct ccm_error *err);
/* 0, or negative with a problem when the pass is to end. */
CCM_NODISCARD int clb_apply_check_cancelled(struct clb_apply *apply);
/* r, or 0 when it failed because the thing is not there: deleting that is done. */
CCM_NODISCARD int clb_apply_forgive(int r, const struct ccm_error *err);

#endif
