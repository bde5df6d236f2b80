#include "lbc/apply/plan.h"

#include "util/cleanup.h"

static int work_make_plan(struct lbc_work *work, const lbc_plan_fn *parts)
{
    int r = 0;

    for (size_t i = 0; parts[i] != NULL; i++) {
        r = parts[i](work);
        if (r < 0) {
            break;
        }
    }
    lbc_plan_sort(work->plan);
    return r < 0 ? r : work->error;
}

static const lbc_plan_fn backends_only[] = { lbc_plan_groups, NULL };

int lbc_plan_ensure(struct lbc_plan *plan, const struct lbc_plan_ops *ops,
                    const struct lbc_plan_input *in, struct lbc_problems *problems)
{
    struct lbc_work work = lbc_work_begin(plan, ops, in, problems);

    if (in->model->backends_only) {
        return work_make_plan(&work, backends_only);
    }
    plan->blocked = lbc_plan_is_any_refused(&work);
    return work_make_plan(&work, ops->parts[LBC_WAY_ENSURE]);
}

int lbc_plan_release(struct lbc_plan *plan, const struct lbc_plan_ops *ops,
                     const struct lbc_plan_input *in)
{
    struct lbc_work work = lbc_work_begin(plan, ops, in, NULL);

    const enum lbc_way way = in->model->reused     ? LBC_WAY_LEAVE
                             : in->model->preserve ? LBC_WAY_PRESERVE
                                                   : LBC_WAY_DROP;

    return work_make_plan(&work, ops->parts[way]);
}

int lbc_plan_describe_repair(const struct lbc_plan *plan, const struct lbc_plan_ops *ops,
                             const struct lbc_plan_input *in, const struct lbc_state *before,
                             struct ccm_buf *ret)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan asked = { 0 };
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems ignored = LBC_PROBLEMS_INIT;
    struct lbc_plan_input old = *in;
    int r = 0;

    old.have = before;
    r = lbc_plan_ensure(&asked, ops, &old, &ignored);
    if (r == 0) {
        lbc_plan_print_surplus(plan, &asked, ret);
    }
    return r;
}
