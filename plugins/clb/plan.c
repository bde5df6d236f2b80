#include "plan.h"

#include "lbc/model/owner.h"
#include "plan_parts.h"
#include "util/array.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void clb_plan_fini(struct clb_plan *plan)
{
    for (size_t i = 0; i < plan->len; i++) {
        struct clb_step *step = &plan->steps[i];

        free(step->group_id);
        free(step->group_name);
        free(step->description);
        free(step->value);
        free(step->extra);
        lbc_tags_fini(&step->tags);
        lbc_backends_fini(&step->backends);
        clb_listener_fini(&step->listener);
        clb_domain_fini(&step->domain);
        lbc_texts_fini(&step->entries);
    }
    free(plan->steps);
    memset(plan, 0, sizeof(*plan));
}

struct clb_step *clb_plan_new_step(struct clb_plan *plan, enum clb_step_type type, uint16_t port,
                                   enum lbc_protocol protocol)
{
    if (ccm_array_grow(&plan->steps, &plan->cap, plan->len + 1, sizeof(*plan->steps)) < 0) {
        return NULL;
    }
    struct clb_step *step = &plan->steps[plan->len++];

    memset(step, 0, sizeof(*step));
    step->type = type;
    step->port = port;
    step->protocol = protocol;
    return step;
}

static int plan_listeners_of(struct clb_plan *plan, const struct clb_plan_input *in,
                             const struct lbc_group *group, struct lbc_problems *problems)
{
    int r = 0;

    if (in->model->lbc.keep_backends && clb_plan_have_group(in, group->name) == NULL) {
        return 0; /* it is not made, so nobody can be sent there */
    }
    for (size_t i = 0; r == 0 && i < in->model->want.lbc.listener_count; i++) {
        const struct clb_listener *listener = clb_listener_at(&in->model->want, i);

        if (!listener->lbc.broken && ccm_text_equal(listener->lbc.group_name, group->name)) {
            r = clb_plan_listener(plan, in, listener, problems);
        }
    }
    return r;
}

static bool is_port_refused(const struct clb_plan_input *in)
{
    for (size_t i = 0; i < in->model->want.lbc.listener_count; i++) {
        if (clb_plan_is_refused(in, clb_listener_at(&in->model->want, i))) {
            return true;
        }
    }
    return false;
}

/* All that would send to it is refused: nobody has to make it. */
static bool is_group_useless(const struct clb_plan_input *in, const struct lbc_group *group)
{
    bool useless = false;

    for (size_t i = 0; i < in->model->want.lbc.listener_count; i++) {
        const struct clb_listener *listener = clb_listener_at(&in->model->want, i);

        if (!ccm_text_equal(listener->lbc.group_name, group->name)) {
            continue;
        }
        if (!clb_plan_is_refused(in, listener)) {
            return false;
        }
        useless = true;
    }
    return useless && clb_plan_have_group(in, group->name) == NULL;
}

int clb_plan_ensure(struct clb_plan *plan, const struct clb_plan_input *in,
                    struct lbc_problems *problems)
{
    const bool listeners = lbc_model_has_listeners(&in->model->lbc);
    int r = 0;

    plan->blocked = is_port_refused(in);
    if (!plan->blocked || !in->model->lbc.reused) {
        r = clb_plan_lb(plan, in, problems);
    }
    if (r == 0 && listeners) {
        r = clb_plan_acl(plan, in);
        r = r < 0 ? r : clb_plan_stale_listeners(plan, in);
    }
    for (size_t g = 0; r == 0 && g < in->model->want.lbc.group_count; g++) {
        const struct lbc_group *group = in->model->want.lbc.groups[g];

        if (group->broken) {
            continue;
        }
        r = in->model->lbc.reused && is_group_useless(in, group) ? 0
                                                                 : clb_plan_group(plan, in, group);
        if (r == 0 && listeners) {
            r = plan_listeners_of(plan, in, group, problems);
        }
    }
    if (r == 0 && listeners) {
        r = clb_plan_forwards(plan, in, problems);
        r = r < 0 ? r : clb_plan_stale_acl(plan, in);
    }
    return r < 0 ? r : clb_plan_stale_groups(plan, in);
}

int clb_plan_delete(struct clb_plan *plan, const struct clb_state *have)
{
    if (have->lb.id == NULL) {
        return 0;
    }
    if (have->lb.protect && clb_plan_new_step(plan, CLB_STEP_UNPROTECT, 0, LBC_OTHER) == NULL) {
        return -ENOMEM;
    }
    return clb_plan_new_step(plan, CLB_STEP_DELETE_LB, 0, LBC_OTHER) == NULL ? -ENOMEM : 0;
}
