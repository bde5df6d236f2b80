/*
 * How NLB carries out the steps of a plan: lbc/apply/executor.h, with NLB's actions and its jobs.
 * May block. One thread per pass.
 */
#ifndef CCM_NLB_APPLY_H
#define CCM_NLB_APPLY_H

#include "alilb/apply.h"
#include "plan.h"

extern const struct alilb_apply_ops nlb_apply_ops;

#endif
