#include "plan.h"

#include "annotations.h"
#include "clb.h"
#include "plan_parts.h"

/* The order between resources. */
static const lbc_plan_fn ensure_parts[] = {
    clb_plan_lb,       clb_plan_acl,       clb_plan_stale_listeners, clb_plan_groups,
    clb_plan_forwards, clb_plan_stale_acl, lbc_plan_stale_groups,    NULL,
};
static const lbc_plan_fn drop_parts[] = { clb_plan_drop_lb, NULL };
static const lbc_plan_fn preserve_parts[] = { clb_plan_unprotect_lb, lbc_plan_untag_marks, NULL };
static const lbc_plan_fn leave_parts[] = { clb_plan_stale_listeners, lbc_plan_drop_groups,
                                           clb_plan_untag_reused, NULL };

const struct lbc_plan_ops clb_plan_ops = {
    .steps = &clb_steps,
    .ensure = ensure_parts,
    .drop = drop_parts,
    .preserve = preserve_parts,
    .leave = leave_parts,
    .annotations = &clb_annotations,
    .plan_more = clb_plan_more,
    .update_listener = clb_plan_update_listener,
    .needs_rebuild = clb_plan_needs_rebuild,
    .tags_reuse = true,
    .tags_max = LBC_TAGS_MAX,
    .guards = "Acl",
    .batch = CLB_BATCH_DEFAULT,
    .create_batch = CLB_BATCH_SMALL,
    .deletes_used = true,
    .is_serial = true,
    .lists_all = true,
};
