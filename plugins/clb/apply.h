/*
 * How CLB carries out the steps of a plan: lbc/apply/executor.h, with CLB's actions. A call is done
 * when it is answered, and each step is a stage of its own. May block. One thread per pass.
 */
#ifndef CCM_CLB_APPLY_H
#define CCM_CLB_APPLY_H

#include "alilb/apply.h"
#include "lbc/apply/token.h"
#include "plan.h"

extern const struct alilb_apply_ops clb_apply_ops;

/* r, or 0 when it failed because the access list is not there: deleting it is done. */
CCM_NODISCARD int clb_apply_forgive_acl(int r, const struct ccm_error *err);

#endif
