#include "lbc/apply/plain.h"

#include "lbc/names.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

LBC_STATE_CHECK(struct lbc_plain_state);

const struct lbc_state_type lbc_plain_type = {
    .size = sizeof(struct lbc_plain_state),
    .lb_size = sizeof(struct lbc_lb),
    .group_size = sizeof(struct lbc_group),
    .listener_size = sizeof(struct lbc_listener),
    .groups_move = true,
    .protocol_name = lbc_protocol_lower,
};

static void plain_print_about(const struct lbc_step *step, const struct lbc_plan_input *in,
                              struct ccm_buf *text)
{
    (void)in;
    if (step->want != NULL && step->want->name != NULL) {
        ccm_buf_addf(text, " %s", step->want->name);
    }
}

const struct lbc_step_table lbc_plain_steps = {
    .size = sizeof(struct lbc_step),
    .state = &lbc_plain_type,
    .print_about = plain_print_about,
};

int lbc_plan_create_lb(struct lbc_work *work)
{
    struct lbc_step *step = NULL;
    char name[LBC_OWNER_LB_NAME];

    if (work->lb->id != NULL) {
        return 0;
    }
    lbc_owner_lb_name(&work->in->service->meta, name);
    step = lbc_work_lb_step(work, LBC_STEP_CREATE_LB);
    return step == NULL || lbc_text_set(&step->value, name) < 0 ||
                   lbc_tags_put(&step->tags, lbc_names.tag_owner, name) < 0 ||
                   lbc_tags_put(&step->tags, lbc_names.tag_cluster, work->in->cluster_id) < 0
               ? -ENOMEM
               : 0;
}

static int plain_drop_listeners(struct lbc_work *work)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->have->listener_count; i++) {
        r = lbc_plan_drop_listener(work, work->have->listeners[i]);
    }
    return r;
}

/* They go with the load balancer, whoever made them, unless they may be those of another one. */
static int plain_drop_groups(struct lbc_work *work)
{
    int r = 0;

    if (lbc_work_has(work, LBC_PLAN_LISTS_ALL)) {
        return lbc_plan_drop_groups(work);
    }
    for (size_t i = 0; r == 0 && i < work->have->group_count; i++) {
        struct lbc_group *group = work->have->groups[i];

        r = lbc_work_group_step(work, LBC_STEP_DELETE_GROUP, group, group) == NULL ? -ENOMEM : 0;
    }
    return r;
}

int lbc_plan_drop_lb(struct lbc_work *work)
{
    int r = 0;

    if (work->lb->id == NULL) {
        return 0;
    }
    if ((work->ops->empties & LBC_EMPTIES_LISTENERS) != 0) {
        r = plain_drop_listeners(work);
        r = r < 0 ? r : lbc_plan_next_stage(work);
    }
    if (r == 0 && (work->ops->empties & LBC_EMPTIES_GROUPS) != 0) {
        r = plain_drop_groups(work);
        r = r < 0 ? r : lbc_plan_next_stage(work);
    }
    return r < 0 ? r : lbc_work_last_step(work, LBC_STEP_DELETE_LB);
}

const lbc_plan_fn lbc_plain_ensure[] = { lbc_plan_create_lb,
                                         lbc_plan_tags,
                                         lbc_plan_stale_listeners,
                                         lbc_plan_groups,
                                         lbc_plan_listeners,
                                         lbc_plan_stale_groups,
                                         NULL };
const lbc_plan_fn lbc_plain_drop[] = { lbc_plan_drop_lb, NULL };
const lbc_plan_fn lbc_plain_preserve[] = { lbc_plan_untag_marks, NULL };
const lbc_plan_fn lbc_plain_leave[] = { lbc_plan_stale_listeners, lbc_plan_drop_groups, NULL };

int lbc_plain_begin_lb(struct lbc_model *model, const struct lbc_model_input *in)
{
    struct lbc_plain_model *own = (struct lbc_plain_model *)model;

    return lbc_model_init(model, model->ops->rules->annotations, &own->want.lbc, in);
}

int lbc_plain_begin_ports(struct lbc_builder *b, struct ccm_error *err)
{
    (void)err;
    b->by_address = true;
    return 0;
}

int lbc_plain_build_port(struct lbc_builder *b, struct lbc_desired_port *want,
                         struct ccm_error *err)
{
    const struct ccm_service *service = b->in->service;
    char target[64];
    char number[24];
    bool fresh = false;
    int r =
        lbc_setting_protocol(service, want->port, b->ops->rules->protocols, &want->protocol, err);

    ccm_text_printf(number, sizeof(number), "%lld", (long long)want->port->port);
    lbc_candidates_target(want->mode, want->port, target, sizeof(target));
    want->name = lbc_owner_format(target, &service->meta, b->in->cluster_id);
    want->weight = lbc_setting_weight(service, false);
    if (r == 0) {
        r = want->name == NULL ? -ENOMEM : lbc_model_group(b, want, &fresh, err);
    }
    if (r == -EINVAL) {
        lbc_model_report_port(b, want, err);
        want->broken = true;
        r = 0;
    }
    return r < 0 ||
                   lbc_model_listener(
                       b, want, lbc_owner_format(number, &service->meta, b->in->cluster_id)) == NULL
               ? ccm_error_nomem(err)
               : 0;
}
