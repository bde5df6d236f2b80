#include "lbc/apply/plan.h"

#include <stddef.h>

struct lbc_step *lbc_work_new_step(struct lbc_work *work, unsigned type, unsigned stage)
{
    return lbc_plan_new_step(work->plan, type,
                             work->ops->is_serial ? (unsigned)work->plan->len : stage);
}

struct lbc_step *lbc_work_lb_step(struct lbc_work *work, unsigned type)
{
    return lbc_work_new_step(work, type, work->stage++);
}

enum lbc_owner lbc_work_owner(struct lbc_work *work, const char *text, bool as_listener)
{
    enum lbc_owner owner = LBC_OWNER_NONE;
    const int r =
        work->ops->parse_owner(text, as_listener, &work->service->meta, work->cluster_id, &owner);

    if (r < 0) {
        work->error = r;
        return LBC_OWNER_NONE;
    }
    return owner;
}

int lbc_work_end(struct lbc_work *work, int r)
{
    lbc_plan_sort(work->plan);
    return r < 0 ? r : work->error;
}
