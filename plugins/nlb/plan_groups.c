/* Plans: attributes of server groups, and groups that are kept but are not ours any more. */
#include "compare.h"
#include "plan_parts.h"
#include "util/cleanup.h"

#include <errno.h>
#include <string.h>

static struct nlb_step *group_new_step(struct nlb_work *work, unsigned type,
                                       const struct lbc_group *want, struct lbc_group *have)
{
    struct nlb_step *step = nlb_plan_new_step(work, type, work->lbc.stage);

    if (step != NULL) {
        step->lbc.want = want;
        step->lbc.group = have;
        step->lbc.port = want->port;
        step->lbc.protocol = want->protocol;
    }
    return step;
}

int nlb_plan_update_group(struct lbc_work *work, const struct lbc_group *want,
                          struct lbc_group *have)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 4096 };
    CCM_CLEANUP(lbc_attrs_fini) struct lbc_attrs next = { 0 };
    const struct lbc_compare compare =
        nlb_compare_groups((const struct nlb_group *)want, (const struct nlb_group *)have);
    int r = lbc_compare_overlay(&compare, work->fresh, &next, &change);
    struct nlb_step *step = NULL;

    if (r < 0 || change.len == 0) {
        return r;
    }
    step = group_new_step((struct nlb_work *)work, LBC_STEP_UPDATE_GROUP, want, have);
    if (step == NULL) {
        return -ENOMEM;
    }
    step->lbc.attrs = next;
    memset(&next, 0, sizeof(next)); /* moved */
    return lbc_step_set_change(&step->lbc, &change);
}

/* It is kept as it is, and not ours any more. */
static int plan_release_group(struct lbc_work *work, struct lbc_group *have, bool used)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags remove = { 0 };
    struct nlb_step *step = NULL;

    (void)used;
    if (lbc_owner_copy_tags(&((struct nlb_group *)have)->tags, &work->service->meta,
                            work->cluster_id, &remove) < 0) {
        return -ENOMEM;
    }
    if (remove.len == 0) {
        return 0;
    }
    step = group_new_step((struct nlb_work *)work, NLB_STEP_UNTAG_GROUP, have, have);
    if (step == NULL) {
        return -ENOMEM;
    }
    step->lbc.last = true;
    return lbc_tags_copy(&step->lbc.tags, &remove);
}

int nlb_plan_stale_groups(struct nlb_work *work)
{
    const bool keeps = work->lbc.model->preserve && !work->lbc.model->reused;

    return lbc_plan_stale_groups(&work->lbc, keeps ? plan_release_group : lbc_plan_drop_group);
}

int nlb_plan_untag_groups(struct nlb_work *work)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->lbc.have->group_count; i++) {
        r = plan_release_group(&work->lbc, work->lbc.have->groups[i], false);
    }
    return r;
}
