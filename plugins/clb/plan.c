#include "plan.h"

#include "annotations.h"
#include "clb.h"
#include "plan_parts.h"

/* Whoever uses it: the cloud refuses that, and says so. */
static int plan_drop_group(struct lbc_work *work, struct lbc_group *have, bool used)
{
    (void)used;
    return lbc_plan_drop_group(work, have, false);
}

static int plan_stale_groups(struct lbc_work *work)
{
    return lbc_plan_each_stale_group(work, plan_drop_group);
}

/* The order between resources. */
static const lbc_plan_fn ensure_parts[] = {
    clb_plan_lb,       clb_plan_acl,       clb_plan_stale_listeners, clb_plan_groups,
    clb_plan_forwards, clb_plan_stale_acl, plan_stale_groups,        NULL,
};
static const lbc_plan_fn drop_parts[] = { clb_plan_drop_lb, NULL };
static const lbc_plan_fn preserve_parts[] = { clb_plan_unprotect_lb, lbc_plan_untag_marks, NULL };
static const lbc_plan_fn leave_parts[] = { clb_plan_stale_listeners, lbc_plan_drop_groups,
                                           clb_plan_untag_reused, NULL };

const struct lbc_plan_ops clb_plan_ops = {
    .steps = &clb_steps,
    .parts = { ensure_parts, drop_parts, preserve_parts, leave_parts },
    .plan_more = clb_plan_more,
    .update_listener = clb_plan_update_listener,
    .needs_rebuild = clb_plan_needs_rebuild,
    .traits = LBC_PLAN_SERIAL | LBC_PLAN_LISTS_ALL | LBC_PLAN_TAGS_REUSED |
              LBC_PLAN_PRINTS_PRESENT | LBC_PLAN_LIMITS_TAGS,
    .batch = CLB_BATCH_DEFAULT,
    .create_batch = CLB_BATCH_SMALL,
};
