#include "plan.h"

#include "compare.h"
#include "lbc/model/lb_attrs.h"
#include "names.h"
#include "nlb.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

/* --- the product --- */

static const struct lbc_anno *plan_find_field(const char *name, enum lbc_protocol protocol)
{
    const struct lbc_anno *field = nlb_listener_field(name);

    return field != NULL && lbc_attr_applies(field, protocol) ? field : NULL;
}

void nlb_taken_port(const struct lbc_listener *listener, char ret[static LBC_TAKEN_PORT])
{
    const char *protocol = lbc_protocol_lower(listener->protocol);

    if (listener->is_range) {
        ccm_text_printf(ret, LBC_TAKEN_PORT, "%u_%u-%s", listener->port, listener->last_port,
                        protocol);
    } else {
        ccm_text_printf(ret, LBC_TAKEN_PORT, "%u-%s", listener->port, protocol);
    }
}

/* None of another load balancer. */
static bool plan_may_restore(const struct lbc_work *work, const struct lbc_group *group)
{
    const struct lbc_texts *users =
        group == NULL ? NULL : &((const struct nlb_group *)group)->users;

    return users != NULL &&
           (users->len == 0 || lbc_texts_has(users, ((const struct nlb_work *)work)->lb->id));
}

static const struct lbc_plan_ops plan_ops = {
    .steps = &nlb_steps,
    .parse_owner = nlb_name_parse,
    .is_key = nlb_name_is_key,
    .find_field = plan_find_field,
    .taken_port = nlb_taken_port,
    .update_group = nlb_plan_update_group,
    .may_restore = plan_may_restore,
    .sweeps = true,
};

static struct nlb_work plan_begin(struct lbc_plan *plan, const struct nlb_plan_input *in,
                                  struct lbc_problems *problems)
{
    static const struct nlb_model none;
    const struct nlb_model *model = in->model == NULL ? &none : in->model; /* a deletion */

    plan->table = &nlb_steps;
    return (struct nlb_work){
        .lbc = { .ops = &plan_ops,
                 .plan = plan,
                 .model = &model->lbc,
                 .want = &model->want.lbc,
                 .have = &in->have->lbc,
                 .service = in->service,
                 .cluster_id = in->cluster_id,
                 .problems = problems,
                 .batch = in->batch == 0 ? NLB_BATCH_MAX : in->batch,
                 .fresh = in->fresh,
                 .restores = in->restores && !in->cannot_restore,
 },
        .in = in,
        .lb = &in->have->lb,
    };
}

static int plan_groups(struct nlb_work *work)
{
    const struct lbc_state *want = work->lbc.want;
    int r = 0;

    for (size_t i = 0; r == 0 && i < want->group_count; i++) {
        if (!want->groups[i]->broken) {
            r = lbc_plan_group(&work->lbc, want->groups[i]);
        }
    }
    return r;
}

int nlb_plan_ensure(struct lbc_plan *plan, const struct nlb_plan_input *in,
                    struct lbc_problems *problems)
{
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb pretend = { 0 };
    struct nlb_work work = plan_begin(plan, in, problems);
    int r = 0;

    plan->blocked = lbc_plan_is_any_refused(&work.lbc);
    if (!plan->blocked || !work.lbc.model->reused) {
        r = nlb_plan_lb(&work, &pretend);
    }
    if (r == 0 && lbc_model_has_listeners(work.lbc.model)) {
        r = nlb_plan_stale_listeners(&work);
    }
    if (r == 0) {
        r = plan_groups(&work);
    }
    if (r == 0 && lbc_model_has_listeners(work.lbc.model)) {
        r = nlb_plan_listeners(&work);
    }
    work.lbc.stage = lbc_plan_end(plan);
    if (r == 0) {
        r = nlb_plan_stale_groups(&work);
    }
    if (r == 0) {
        r = nlb_plan_stale_security_group(&work);
    }
    return lbc_work_end(&work.lbc, r);
}

int nlb_plan_leaving(const struct nlb_plan_input *in, struct lbc_group *want,
                     struct lbc_freeze_group *ret)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan none = { .table = NULL };
    struct nlb_work work = plan_begin(&none, in, NULL);

    return lbc_plan_leaving(&work.lbc, want, ret);
}

int nlb_plan_list_taken(struct lbc_plan *plan, const struct nlb_plan_input *in,
                        struct lbc_taken_list *ret)
{
    struct nlb_work work = plan_begin(plan, in, NULL);

    return lbc_plan_list_taken(&work.lbc, ret);
}

/* --- the end of a Service --- */

int nlb_plan_delete(struct lbc_plan *plan, const struct nlb_plan_input *in)
{
    struct nlb_work work = plan_begin(plan, in, NULL);
    struct nlb_step *step = NULL;
    int r = 0;

    if (in->have->lb.id != NULL) {
        r = nlb_plan_unprotect_lb(&work, false);
        step = r < 0 ? NULL : nlb_plan_lb_step(&work, LBC_STEP_DELETE_LB);
        if (step == NULL) {
            return -ENOMEM;
        }
        step->lbc.last = true;
    }
    r = lbc_plan_drop_groups(&work.lbc);
    return lbc_work_end(&work.lbc, r < 0 ? r : nlb_plan_drop_security_group(&work));
}

int nlb_plan_preserve(struct lbc_plan *plan, const struct nlb_plan_input *in)
{
    struct nlb_work work = plan_begin(plan, in, NULL);
    int r = 0;

    if (in->have->lb.id == NULL) {
        return 0;
    }
    r = nlb_plan_unprotect_lb(&work, true);
    if (r == 0) {
        r = nlb_plan_untag_groups(&work);
    }
    work.lbc.stage = lbc_plan_end(plan);
    /* The very last: without its tag nobody would come back to what is left to do. */
    return lbc_work_end(&work.lbc, r < 0 ? r : nlb_plan_untag_lb(&work));
}

int nlb_plan_leave(struct lbc_plan *plan, const struct nlb_plan_input *in)
{
    struct nlb_work work = plan_begin(plan, in, NULL);
    int r = lbc_model_has_listeners(work.lbc.model) ? nlb_plan_stale_listeners(&work) : 0;

    work.lbc.stage = lbc_plan_end(plan);
    if (r == 0) {
        r = lbc_plan_drop_groups(&work.lbc);
    }
    if (r == 0) {
        r = nlb_plan_drop_security_group(&work); /* of a load balancer of its own, before */
    }
    return lbc_work_end(&work.lbc, r);
}

/* --- what is asked for at present --- */

static void lb_record_explicit(struct nlb_lb *have, const struct nlb_model *model)
{
    unsigned explicit = have->explicit | model->lbc.explicit;

    for (unsigned i = 0; i < NLB_LB_FIELD_COUNT; i++) {
        const char *fallback = lbc_lb_fallback(lbc_lb_row(&nlb_annotations, i));

        if (((model->lbc.explicit | model->kept) >> i & 1U) == 0 && fallback != NULL &&
            ccm_text_equal(have->fields[i], fallback)) {
            explicit &= ~(1U << i);
        }
    }
    have->explicit = explicit;
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
