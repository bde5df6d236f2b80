/* What the parts of apply.c share. One thread per pass. */
#ifndef CCM_CLB_APPLY_PARTS_H
#define CCM_CLB_APPLY_PARTS_H

#include "apply.h"

/* The group of a step as the mirror has it; NULL when there is none. */
struct clb_group *clb_apply_group(struct clb_apply *apply, const struct clb_step *step);
/* A write succeeded and `r` says whether the mirror followed: if not, it is read again. Returns 0.
 */
int clb_apply_note(struct clb_apply *apply, int r);
/* r, or 0 when it failed because the thing is not there: deleting that is done. */
CCM_NODISCARD int clb_apply_forgive(int r, const struct ccm_error *err);

#endif
