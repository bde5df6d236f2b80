/* Plans: attributes of server groups, and groups that are kept but are not ours any more. */
#include "compare.h"
#include "plan_parts.h"
#include "util/cleanup.h"

#include <errno.h>
#include <string.h>

int nlb_plan_update_group(struct lbc_work *work, const struct lbc_group *want,
                          struct lbc_group *have)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 4096 };
    CCM_CLEANUP(lbc_attrs_fini) struct lbc_attrs next = { 0 };
    const struct lbc_compare compare =
        nlb_compare_groups((const struct nlb_group *)want, (const struct nlb_group *)have);
    int r = lbc_compare_overlay(&compare, work->in->fresh, &next, &change);
    struct lbc_step *step = NULL;

    if (r < 0 || change.len == 0) {
        return r;
    }
    step = lbc_work_group_step(work, LBC_STEP_UPDATE_GROUP, want, have);
    if (step == NULL) {
        return -ENOMEM;
    }
    step->attrs = next;
    memset(&next, 0, sizeof(next)); /* moved */
    return lbc_step_set_change(step, &change);
}

/* It is kept as it is, and not ours any more. */
static int plan_release_group(struct lbc_work *work, struct lbc_group *have)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags remove = { 0 };
    struct lbc_step *step = NULL;

    if (lbc_owner_copy_tags(&((struct nlb_group *)have)->tags, &work->in->service->meta,
                            work->in->cluster_id, &remove) < 0) {
        return -ENOMEM;
    }
    if (remove.len == 0) {
        return 0;
    }
    step = lbc_work_group_step(work, NLB_STEP_UNTAG_GROUP, have, have);
    if (step == NULL) {
        return -ENOMEM;
    }
    step->last = true;
    return lbc_tags_copy(&step->tags, &remove);
}

static int plan_drop_group(struct lbc_work *work, struct lbc_group *have, bool used)
{
    return work->model->preserve && !work->model->reused ? plan_release_group(work, have)
                                                         : lbc_plan_drop_group(work, have, used);
}

int nlb_plan_stale_groups(struct lbc_work *work)
{
    return lbc_plan_each_stale_group(work, plan_drop_group);
}

int nlb_plan_untag_groups(struct lbc_work *work)
{
    const size_t count = nlb_work_have(work)->lb.lbc.id == NULL ? 0 : work->have->group_count;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        r = plan_release_group(work, work->have->groups[i]);
    }
    return r;
}
