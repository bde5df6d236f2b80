#include "plan.h"

#include "annotations.h"
#include "clb.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

/* --- the product --- */

static int plan_parse_owner(const char *text, bool as_listener, const struct ccm_object *service,
                            const char *cluster_id, enum lbc_owner *ret)
{
    *ret = text == NULL ? LBC_OWNER_NONE : lbc_owner_parse(text, as_listener, service, cluster_id);
    return 0;
}

static const struct lbc_anno *plan_find_field(const char *name, enum lbc_protocol protocol)
{
    const struct lbc_anno *field = clb_field_find(name);

    return field != NULL && lbc_attr_applies(field, protocol) ? field : NULL;
}

void clb_taken_port(const struct lbc_listener *listener, char ret[static LBC_TAKEN_PORT])
{
    ccm_text_printf(ret, LBC_TAKEN_PORT, "%u-%s", listener->port,
                    lbc_protocol_lower(listener->protocol));
}

static const struct lbc_plan_ops plan_ops = {
    .steps = &clb_steps,
    .parse_owner = plan_parse_owner,
    .is_key = lbc_owner_is_key,
    .find_field = plan_find_field,
    .taken_port = clb_taken_port,
    .loses_listener = clb_plan_loses_listener,
    .guards = "Acl",
    .create_batch = CLB_BATCH_SMALL,
    .is_serial = true,
    .lists_all = true,
};

struct clb_work clb_plan_begin(struct lbc_plan *plan, const struct clb_plan_input *in,
                               struct lbc_problems *problems)
{
    static const struct clb_model none;
    const struct clb_model *model = in->model == NULL ? &none : in->model; /* a deletion */

    plan->table = &clb_steps;
    return (struct clb_work){
        .lbc = { .ops = &plan_ops,
                 .plan = plan,
                 .model = &model->lbc,
                 .want = &model->want.lbc,
                 .have = &in->have->lbc,
                 .service = in->service,
                 .cluster_id = in->cluster_id,
                 .problems = problems,
                 .batch = in->batch,
                 .fresh = in->fresh,
                 .restores = in->restores && !in->cannot_restore },
        .in = in,
    };
}

/* --- all of it --- */

int clb_plan_ensure(struct lbc_plan *plan, const struct clb_plan_input *in,
                    struct lbc_problems *problems)
{
    struct clb_work work = clb_plan_begin(plan, in, problems);
    const bool listeners = lbc_model_has_listeners(work.lbc.model);
    int r = 0;

    plan->blocked = lbc_plan_is_any_refused(&work.lbc);
    if (!plan->blocked || !work.lbc.model->reused) {
        r = clb_plan_lb(&work);
    }
    if (r == 0 && listeners) {
        r = clb_plan_acl(&work);
    }
    if (r == 0 && listeners) {
        r = clb_plan_stale_listeners(&work);
    }
    for (size_t i = 0; r == 0 && i < work.lbc.want->group_count; i++) {
        const struct lbc_group *group = work.lbc.want->groups[i];

        if (group->broken) {
            continue;
        }
        r = lbc_plan_group(&work.lbc, group);
        if (r == 0 && listeners) {
            r = clb_plan_listeners_of(&work, group);
        }
    }
    if (r == 0 && listeners) {
        r = clb_plan_forwards(&work);
    }
    if (r == 0 && listeners) {
        r = clb_plan_stale_acl(&work);
    }
    if (r == 0) {
        r = lbc_plan_stale_groups(&work.lbc, lbc_plan_drop_group);
    }
    return lbc_work_end(&work.lbc, r);
}

int clb_plan_leaving(const struct clb_plan_input *in, struct lbc_group *want,
                     struct lbc_freeze_group *ret)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan none = { .table = NULL };
    struct clb_work work = clb_plan_begin(&none, in, NULL);

    return lbc_plan_leaving(&work.lbc, want, ret);
}

int clb_plan_list_taken(struct lbc_plan *plan, const struct clb_plan_input *in,
                        struct lbc_taken_list *ret)
{
    struct clb_work work = clb_plan_begin(plan, in, NULL);

    return lbc_plan_list_taken(&work.lbc, ret);
}

/* --- the end of a Service --- */

int clb_plan_delete(struct lbc_plan *plan, const struct clb_state *have)
{
    const struct clb_plan_input in = { .have = have };
    struct clb_work work = clb_plan_begin(plan, &in, NULL);

    if (have->lb.id == NULL) {
        return 0;
    }
    if (have->lb.protect && clb_plan_new_step(&work, CLB_STEP_UNPROTECT) == NULL) {
        return -ENOMEM;
    }
    return clb_plan_new_step(&work, LBC_STEP_DELETE_LB) == NULL ? -ENOMEM : 0;
}

int clb_plan_preserve(struct lbc_plan *plan, const struct clb_plan_input *in)
{
    struct clb_work work = clb_plan_begin(plan, in, NULL);
    int r = 0;

    if (in->have->lb.id == NULL) {
        return 0;
    }
    r = clb_plan_unprotect_lb(&work);
    if (r == 0) {
        r = clb_plan_untag_lb(&work);
    }
    return lbc_work_end(&work.lbc, r);
}

int clb_plan_leave(struct lbc_plan *plan, const struct clb_plan_input *in)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags remove = { 0 };
    struct clb_work work = clb_plan_begin(plan, in, NULL);
    int r = 0;

    if (in->have->lb.id == NULL) {
        return 0;
    }
    if (lbc_model_has_listeners(work.lbc.model)) {
        r = clb_plan_stale_listeners(&work);
    }
    if (r == 0) {
        r = lbc_plan_drop_groups(&work.lbc);
    }
    if (r == 0 && in->last_user) {
        r = lbc_tags_copy_equal(&in->have->lb.tags, CLB_TAG_REUSE, "true", &remove);
    }
    if (r == 0) {
        r = lbc_plan_tags_step(&work.lbc, LBC_STEP_UNTAG, &remove, true);
    }
    return lbc_work_end(&work.lbc, r);
}
