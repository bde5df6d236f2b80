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
    [CLB_STEP_UNTAG] = "untag load balancer",
    [CLB_STEP_CHARGE] = "change instance charge type",
    [CLB_STEP_SPEC] = "change specification",
    [CLB_STEP_INTERNET] = "change traffic charge",
    [CLB_STEP_PROTECT] = "set deletion protection",
    [CLB_STEP_GUARD] = "set modification protection",
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
    [CLB_STEP_SET_DOMAIN] = "update domain extension",
    [CLB_STEP_CREATE_DOMAIN] = "create domain extension",
    [CLB_STEP_DELETE_DOMAIN] = "delete domain extension",
    [CLB_STEP_CREATE_ACL] = "create access list",
    [CLB_STEP_ADD_ENTRIES] = "add access list entries",
    [CLB_STEP_REMOVE_ENTRIES] = "remove access list entries",
    [CLB_STEP_DELETE_ACL] = "delete access list",
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
        free(step->description);
        free(step->value);
        free(step->extra);
        clb_tags_fini(&step->tags);
        ccm_backends_fini(&step->backends);
        clb_listener_fini(&step->listener);
        clb_domain_fini(&step->domain);
        clb_texts_fini(&step->entries);
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

static int plan_listeners_of(struct clb_plan *plan, const struct clb_plan_input *in,
                             const struct clb_group *group, struct ccm_problems *problems)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < in->model->want.listener_count; i++) {
        const struct clb_listener *listener = &in->model->want.listeners[i];

        if (!listener->broken && ccm_text_equal(listener->group_name, group->name)) {
            r = clb_plan_listener(plan, in, listener, problems);
        }
    }
    return r;
}

int clb_plan_ensure(struct clb_plan *plan, const struct clb_plan_input *in,
                    struct ccm_problems *problems)
{
    const bool listeners = clb_model_has_listeners(in->model);
    int r = clb_plan_lb(plan, in, problems);

    if (r == 0 && listeners) {
        r = clb_plan_acl(plan, in);
        r = r < 0 ? r : clb_plan_stale_listeners(plan, in);
    }
    for (size_t g = 0; r == 0 && g < in->model->want.group_count; g++) {
        const struct clb_group *group = &in->model->want.groups[g];

        if (group->broken) {
            continue;
        }
        r = clb_plan_group(plan, in, group);
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
    if (have->lb.protect && clb_plan_new_step(plan, CLB_STEP_UNPROTECT, 0, CLB_OTHER) == NULL) {
        return -ENOMEM;
    }
    return clb_plan_new_step(plan, CLB_STEP_DELETE_LB, 0, CLB_OTHER) == NULL ? -ENOMEM : 0;
}

static void print_tags(const struct clb_tags *tags, struct ccm_buf *text)
{
    for (size_t i = 0; i < tags->len; i++) {
        ccm_buf_addf(text, " %s=%s", tags->items[i].key, tags->items[i].value);
    }
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

static void print_details(const struct clb_step *step, struct ccm_buf *text)
{
    const uint16_t target = clb_forward_target(&step->listener);

    if (target != 0) {
        ccm_buf_addf(text, " -> %u", target);
    }
    if (step->domain.name != NULL) {
        ccm_buf_addf(text, " %s", step->domain.name);
    }
    if (step->domain.cert != NULL) {
        ccm_buf_addf(text, "=%s", step->domain.cert);
    }
    for (size_t i = 0; i < step->entries.len; i++) {
        ccm_buf_addf(text, " %s", step->entries.items[i]);
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
        if (step->value != NULL) {
            ccm_buf_addf(text, " %s", step->value);
        }
        if (step->extra != NULL) {
            ccm_buf_addf(text, " %s", step->extra);
        }
        print_tags(&step->tags, text);
        print_backends(&step->backends, text);
        print_details(step, text);
        ccm_buf_adds(text, "\n");
    }
}
