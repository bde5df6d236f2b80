#include "lbc/apply/plain.h"

#include "lbc/keys.h"

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
                   lbc_tags_put(&step->tags, LBC_TAG_OWNER, name) < 0 ||
                   lbc_tags_put(&step->tags, LBC_TAG_CLUSTER, work->in->cluster_id) < 0
               ? -ENOMEM
               : 0;
}

int lbc_plan_drop_lb(struct lbc_work *work)
{
    return work->lb->id != NULL && lbc_work_lb_step(work, LBC_STEP_DELETE_LB) == NULL ? -ENOMEM : 0;
}
