/* Plans: what all parts build on. */
#include "plan_parts.h"

struct nlb_step *nlb_plan_new_step(struct nlb_work *work, unsigned type, unsigned stage)
{
    return (struct nlb_step *)lbc_work_new_step(&work->lbc, type, stage);
}

struct nlb_step *nlb_plan_lb_step(struct nlb_work *work, unsigned type)
{
    return (struct nlb_step *)lbc_work_lb_step(&work->lbc, type);
}
