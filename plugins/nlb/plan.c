#include "plan.h"

#include "compare.h"
#include "lbc/rules/lb_attrs.h"
#include "nlb.h"
#include "owner_key.h"
#include "plan_parts.h"
#include "util/text.h"

/* The order between resources. */
static const lbc_plan_fn ensure_parts[] = {
    nlb_plan_lb,
    lbc_plan_stale_listeners,
    lbc_plan_groups,
    lbc_plan_listeners,
    lbc_plan_next_stage,
    nlb_plan_stale_groups,
    nlb_plan_stale_security_group,
    NULL,
};
static const lbc_plan_fn drop_parts[] = { nlb_plan_drop_lb, lbc_plan_drop_groups,
                                          nlb_plan_drop_security_group, NULL };
/* Its tag is the very last: without it nobody would come back to what is left to do. */
static const lbc_plan_fn preserve_parts[] = { nlb_plan_unprotect_lb,         nlb_plan_untag_groups,
                                              nlb_plan_untag_security_group, lbc_plan_next_stage,
                                              lbc_plan_untag_marks,          NULL };
/* The security group is that of a load balancer of its own, before. */
static const lbc_plan_fn leave_parts[] = { lbc_plan_stale_listeners, lbc_plan_next_stage,
                                           lbc_plan_drop_groups, nlb_plan_drop_security_group,
                                           NULL };

/* None of another load balancer. */
static bool plan_may_restore(const struct lbc_work *work, const struct lbc_group *group)
{
    const struct lbc_texts *users =
        group == NULL ? NULL : &((const struct nlb_group *)group)->users;

    return users != NULL &&
           (users->len == 0 || lbc_texts_has(users, nlb_work_have(work)->lb.lbc.id));
}

const struct lbc_plan_ops nlb_plan_ops = {
    .steps = &nlb_steps,
    .parts = { ensure_parts, drop_parts, preserve_parts, leave_parts },
    .parse_owner = nlb_name_parse,
    .update_group = nlb_plan_update_group,
    .may_restore = plan_may_restore,
    .plan_more = nlb_plan_certs,
    .batch = NLB_BATCH_MAX,
    .traits = LBC_PLAN_SWEEPS | LBC_PLAN_NAMES_CHANGES,
};

/* --- what is asked for at present --- */

static void lb_record_explicit(struct nlb_lb *have, const struct nlb_model *model)
{
    unsigned explicit = have->lbc.explicit | model->lbc.explicit;

    for (unsigned i = 0; i < NLB_LB_FIELD_COUNT; i++) {
        const char *fallback = lbc_lb_fallback(lbc_lb_row(&nlb_annotations, i));

        if (((model->lbc.explicit | model->lbc.kept) >> i & 1U) == 0 && fallback != NULL &&
            ccm_text_equal(have->lbc.texts[i], fallback)) {
            explicit &= ~(1U << i);
        }
    }
    have->lbc.explicit = explicit;
}

void nlb_plan_record_explicit(struct nlb_state *have, const struct nlb_model *model)
{
    lb_record_explicit(&have->lb, model);
    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        const struct nlb_group *want = nlb_group_at(&model->want, i);
        struct nlb_group *group = nlb_state_group_for(have, want);

        if (group != NULL && want->lbc.id == NULL && !want->lbc.broken) {
            const struct lbc_compare compare = nlb_compare_groups(want, group);

            lbc_compare_record(&compare, &group->lbc.attrs);
        }
    }
    for (size_t i = 0; i < model->want.lbc.listener_count; i++) {
        const struct nlb_listener *want = nlb_listener_at(&model->want, i);
        struct nlb_listener *listener = nlb_state_listener_like(have, want);

        if (listener != NULL && !want->lbc.broken) {
            const struct lbc_compare compare =
                lbc_compare_listeners(&nlb_annotations, &want->lbc, &listener->lbc);

            lbc_compare_record(&compare, &listener->lbc.attrs);
        }
    }
}
