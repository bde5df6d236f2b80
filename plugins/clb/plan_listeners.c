#include "plan_parts.h"

#include "service/owner.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>

static enum ccm_owner owner_of(const struct clb_plan_input *in, const struct clb_listener *listener)
{
    if (listener->description == NULL) {
        return CCM_OWNER_NONE;
    }
    return ccm_owner_parse(listener->description, true, &in->service->meta, in->cluster_id);
}

/* Whether a port of this number could not be worked out: then nothing on it is taken away. */
static bool is_broken_port(const struct clb_model *model, uint16_t port)
{
    for (size_t i = 0; i < model->want.listener_count; i++) {
        if (model->want.listeners[i].broken && model->want.listeners[i].port == port) {
            return true;
        }
    }
    return false;
}

int clb_plan_stale_listeners(struct clb_plan *plan, const struct clb_plan_input *in)
{
    for (size_t i = 0; i < in->have->listener_count; i++) {
        const struct clb_listener *have = &in->have->listeners[i];

        if (clb_state_listener(&in->model->want, have->port, have->protocol) != NULL ||
            owner_of(in, have) != CCM_OWNER_OURS || have->protocol == CLB_OTHER ||
            is_broken_port(in->model, have->port)) {
            continue;
        }
        if (clb_plan_new_step(plan, CLB_STEP_DELETE_LISTENER, have->port, have->protocol) == NULL) {
            return -ENOMEM;
        }
    }
    return 0;
}

static int start(struct clb_plan *plan, const struct clb_listener *listener)
{
    return clb_plan_new_step(plan, CLB_STEP_START_LISTENER, listener->port, listener->protocol) ==
                   NULL
               ? -ENOMEM
               : 0;
}

static int create(struct clb_plan *plan, const struct clb_listener *want)
{
    struct clb_step *step =
        clb_plan_new_step(plan, CLB_STEP_CREATE_LISTENER, want->port, want->protocol);

    if (step == NULL || clb_text_set(&step->group_name, want->group_name) < 0 ||
        clb_listener_copy(&step->listener, want) < 0) {
        return -ENOMEM;
    }
    return start(plan, want);
}

static bool attrs_differ(const struct clb_attrs *want, const struct clb_attrs *have)
{
    for (size_t i = 0; i < want->len; i++) {
        if (want->items[i].told &&
            !ccm_text_equal(want->items[i].value, clb_attrs_get(have, want->items[i].field))) {
            return true;
        }
    }
    return false;
}

static int update(struct clb_plan *plan, const struct clb_listener *want,
                  const struct clb_listener *have, const struct clb_group *group)
{
    struct clb_step *step =
        clb_plan_new_step(plan, CLB_STEP_UPDATE_LISTENER, want->port, want->protocol);
    int r = step == NULL ? -ENOMEM : clb_listener_copy(&step->listener, have);

    if (r == 0) {
        r = clb_text_set(&step->group_name, want->group_name);
    }
    if (r == 0 && group != NULL) {
        r = clb_text_set(&step->group_id, group->id);
    }
    if (r == 0) {
        r = clb_text_set(&step->listener.description, want->description);
    }
    for (size_t i = 0; r == 0 && i < want->attrs.len; i++) {
        const struct clb_attr *attr = &want->attrs.items[i];

        if (attr->told) {
            r = clb_attrs_set(&step->listener.attrs, attr->field, attr->value, true);
        }
    }
    return r;
}

static void refuse(const struct clb_listener *want, const struct clb_listener *have,
                   struct ccm_problems *problems)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, 0, CCM_ERROR_TERMINAL,
                        "port %u/%s: the listener belongs to another Service (%s); choose another "
                        "port",
                        want->port, clb_protocol_name(want->protocol),
                        have->description); /* the result is the argument */
    ccm_problems_add(problems, &err, NULL);
}

int clb_plan_listener(struct clb_plan *plan, const struct clb_plan_input *in,
                      const struct clb_listener *want, struct ccm_problems *problems)
{
    const struct clb_listener *have = clb_state_listener(in->have, want->port, want->protocol);
    const struct clb_group *group = clb_state_group_by_name(in->have, want->group_name);
    int r = 0;

    if (have == NULL) {
        return create(plan, want);
    }
    if (owner_of(in, have) == CCM_OWNER_OTHER) {
        refuse(want, have, problems);
        return 0;
    }
    if (group == NULL || !ccm_text_equal(group->id, have->group_id) ||
        !ccm_text_equal(want->description, have->description) ||
        attrs_differ(&want->attrs, &have->attrs)) {
        r = update(plan, want, have, group);
    }
    return r == 0 && !have->running ? start(plan, want) : r;
}
