#include "plan.h"

#include "plan_parts.h"
#include "service/owner.h"
#include "util/array.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [CLB_STEP_CREATE_LB] = "create load balancer",
    [CLB_STEP_TAG] = "tag load balancer",
    [CLB_STEP_RENAME] = "rename load balancer",
    [CLB_STEP_UNPROTECT] = "switch deletion protection off",
    [CLB_STEP_DELETE_LB] = "delete load balancer",
    [CLB_STEP_DELETE_LISTENER] = "delete listener",
    [CLB_STEP_CREATE_GROUP] = "create server group",
    [CLB_STEP_ADD] = "add backends",
    [CLB_STEP_REMOVE] = "remove backends",
    [CLB_STEP_WEIGH] = "set weights",
    [CLB_STEP_CREATE_LISTENER] = "create listener",
    [CLB_STEP_UPDATE_LISTENER] = "update listener",
    [CLB_STEP_START_LISTENER] = "start listener",
    [CLB_STEP_DELETE_GROUP] = "delete server group",
};

const char *clb_step_name(enum clb_step_type type)
{
    return names[type];
}

void clb_plan_fini(struct clb_plan *plan)
{
    for (size_t i = 0; i < plan->len; i++) {
        struct clb_step *step = &plan->steps[i];

        free(step->group_id);
        free(step->group_name);
        ccm_backends_fini(&step->backends);
        clb_listener_fini(&step->listener);
    }
    free(plan->steps);
    memset(plan, 0, sizeof(*plan));
}

struct clb_step *clb_plan_new_step(struct clb_plan *plan, enum clb_step_type type, uint16_t port,
                                   enum clb_protocol protocol)
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

/* The load balancer itself. */
static int plan_lb(struct clb_plan *plan, const struct clb_plan_input *in,
                   struct ccm_problems *problems)
{
    const struct clb_lb *want = &in->model->want.lb;
    const struct clb_lb *have = &in->have->lb;
    struct ccm_error err = CCM_ERROR_INIT;

    if (have->id == NULL) {
        return clb_plan_new_step(plan, CLB_STEP_CREATE_LB, 0, CLB_OTHER) == NULL ? -ENOMEM : 0;
    }
    /* Before a rename: without name and tag nobody would find it again. */
    if (have->untagged && clb_plan_new_step(plan, CLB_STEP_TAG, 0, CLB_OTHER) == NULL) {
        return -ENOMEM;
    }
    if (in->model->address_type_told && have->address_type != NULL &&
        !ccm_text_equal_case(want->address_type, have->address_type)) {
        (void)ccm_error_set(&err, 0, CCM_ERROR_TERMINAL,
                            "alicloud: can not change LoadBalancer AddressType once created. "
                            "delete and retry"); /* the result is the argument */
        ccm_problems_add(problems, &err, NULL);
    }
    if (in->model->vswitch_told && have->vswitch_id != NULL &&
        !ccm_text_equal(want->vswitch_id, have->vswitch_id)) {
        (void)ccm_error_set(&err, 0, CCM_ERROR_TERMINAL,
                            "alicloud: can not change LoadBalancer vSwitch once created. delete "
                            "and retry"); /* the result is the argument */
        ccm_problems_add(problems, &err, NULL);
    }
    if (in->model->name_told && have->name != NULL && !ccm_text_equal(want->name, have->name) &&
        clb_plan_new_step(plan, CLB_STEP_RENAME, 0, CLB_OTHER) == NULL) {
        return -ENOMEM;
    }
    return 0;
}

int clb_plan_ensure(struct clb_plan *plan, const struct clb_plan_input *in,
                    struct ccm_problems *problems)
{
    int r = plan_lb(plan, in, problems);

    if (r == 0) {
        r = clb_plan_stale_listeners(plan, in);
    }
    for (size_t g = 0; r == 0 && g < in->model->want.group_count; g++) {
        const struct clb_group *group = &in->model->want.groups[g];

        r = clb_plan_group(plan, in, group);
        for (size_t l = 0; r == 0 && l < in->model->want.listener_count; l++) {
            const struct clb_listener *listener = &in->model->want.listeners[l];

            if (!listener->broken && ccm_text_equal(listener->group_name, group->name)) {
                r = clb_plan_listener(plan, in, listener, problems);
            }
        }
    }
    return r < 0 ? r : clb_plan_stale_groups(plan, in);
}

int clb_plan_delete(struct clb_plan *plan, const struct clb_state *have)
{
    if (have->lb.id == NULL) {
        return 0;
    }
    if (have->lb.protect && clb_plan_new_step(plan, CLB_STEP_UNPROTECT, 0, CLB_OTHER) == NULL) {
        return -ENOMEM;
    }
    return clb_plan_new_step(plan, CLB_STEP_DELETE_LB, 0, CLB_OTHER) == NULL ? -ENOMEM : 0;
}

static void print_backends(const struct ccm_backends *set, struct ccm_buf *text)
{
    for (size_t i = 0; i < set->len; i++) {
        const struct ccm_backend *one = &set->items[i];

        ccm_buf_addf(text, "%s%s%s%s:%u=%u", i == 0 ? " [" : " ", one->server_id,
                     one->server_ip[0] == '\0' ? "" : "/", one->server_ip, one->port, one->weight);
    }
    if (set->len > 0) {
        ccm_buf_addc(text, ']');
    }
}

void clb_plan_print(const struct clb_plan *plan, struct ccm_buf *text)
{
    for (size_t i = 0; i < plan->len; i++) {
        const struct clb_step *step = &plan->steps[i];

        ccm_buf_adds(text, names[step->type]);
        if (step->port != 0) {
            ccm_buf_addf(text, " %u/%s", step->port, clb_protocol_name(step->protocol));
        }
        if (step->group_name != NULL) {
            ccm_buf_addf(text, " %s", step->group_name);
        }
        if (step->group_id != NULL) {
            ccm_buf_addf(text, " (%s)", step->group_id);
        }
        print_backends(&step->backends, text);
        ccm_buf_adds(text, "\n");
    }
}
