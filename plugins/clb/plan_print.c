#include "plan.h"

#include "lbc/model/lb_attrs.h"
#include "plan_parts.h"
#include "util/text.h"

#include <string.h>

#define BACKENDS_SHOWN 20 /* of one step */

static const char *const names[] = {
    [CLB_STEP_CREATE_LB] = "create load balancer",
    [CLB_STEP_TAG] = "tag load balancer",
    [CLB_STEP_UNTAG] = "untag load balancer",
    [CLB_STEP_CHARGE] = "change instance charge type",
    [CLB_STEP_SPEC] = "change specification",
    [CLB_STEP_INTERNET] = "change traffic charge",
    [CLB_STEP_PROTECT] = "set deletion protection",
    [CLB_STEP_PROTECT_MODIFICATION] = "set modification protection",
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
    [CLB_STEP_RESTORE_LISTENER] = "put back listener",
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

/* --- the parts of a line --- */

static const char *print_value_or_none(const char *value)
{
    return ccm_text_empty(value) ? "none" : value;
}

/* "name: from -> to", or "name: to" where there was none. */
static void print_change(struct ccm_buf *text, const char **separator, const char *name,
                         const char *from, const char *to)
{
    ccm_buf_addf(text, "%s%s", *separator, name);
    if (from != NULL) {
        ccm_buf_addf(text, " %s ->", print_value_or_none(from));
    }
    ccm_buf_addf(text, " %s", print_value_or_none(to));
    *separator = ", ";
}

static void print_tags(const struct lbc_tags *tags, struct ccm_buf *text)
{
    for (size_t i = 0; i < tags->len; i++) {
        ccm_buf_addf(text, " %s=%s", tags->items[i].key, tags->items[i].value);
    }
}

/* The weight that a backend has now; negative = not known. */
static int weight_now(const struct clb_plan_input *in, const struct clb_step *step,
                      const struct lbc_backend *backend)
{
    const struct lbc_group *group =
        in == NULL || step->group_id == NULL || step->type != CLB_STEP_WEIGH
            ? NULL
            : lbc_state_group_by_id(&in->have->lbc, step->group_id);
    const struct lbc_backend *now =
        group == NULL ? NULL : lbc_backends_find(&group->backends, backend);

    return now == NULL ? -1 : now->weight;
}

static void print_backends(const struct clb_plan_input *in, const struct clb_step *step,
                           struct ccm_buf *text)
{
    const struct lbc_backends *set = &step->backends;

    for (size_t i = 0; i < set->len && i < BACKENDS_SHOWN; i++) {
        const struct lbc_backend *one = &set->items[i];
        const int now = weight_now(in, step, one);

        ccm_buf_addf(text, "%s%s%s%s:%u=", i == 0 ? " [" : " ", one->server_id,
                     one->server_ip[0] == '\0' ? "" : "/", one->server_ip, one->port);
        if (now >= 0) {
            ccm_buf_addf(text, "%d->", now);
        }
        ccm_buf_addf(text, "%u", one->weight);
    }
    if (set->len > BACKENDS_SHOWN) {
        ccm_buf_addf(text, " and %zu more", set->len - BACKENDS_SHOWN);
    }
    if (set->len > 0) {
        ccm_buf_addc(text, ']');
    }
}

/* --- what differs --- */

/* What a new load balancer is asked to be. */
static void print_new_lb(const struct clb_plan_input *in, struct ccm_buf *text)
{
    const char *separator = ": ";

    for (unsigned i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        const struct lbc_anno *row = lbc_lb_row(&clb_annotations, i);
        const char *want = lbc_lb_get(row, &in->model->want.lb);

        if (!ccm_text_empty(want)) {
            print_change(text, &separator, lbc_lb_name(row), NULL, want);
        }
    }
}

/* Present values of what a step for the load balancer changes, in the order of value and extra. */
static void print_old_lb(const struct clb_step *step, const struct clb_lb *have,
                         struct ccm_buf *text)
{
    const char *value = NULL;
    const char *extra = NULL;

    switch (step->type) {
    case CLB_STEP_CHARGE:
        value = have->charge_type;
        extra = have->spec;
        break;
    case CLB_STEP_SPEC:
        value = have->spec;
        break;
    case CLB_STEP_INTERNET:
        value = have->traffic_charge;
        extra = have->bandwidth;
        break;
    case CLB_STEP_PROTECT:
        value = have->protect ? "on" : "off";
        break;
    case CLB_STEP_PROTECT_MODIFICATION:
        value = have->modification;
        break;
    case CLB_STEP_RENAME:
        value = have->name;
        break;
    default:
        return;
    }
    ccm_buf_addf(text, " %s", print_value_or_none(value));
    if (step->extra != NULL) {
        ccm_buf_addf(text, " %s", print_value_or_none(extra));
    }
    ccm_buf_adds(text, " ->");
}

/* Attributes of a listener; of a present one only those that change. */
static void print_listener(const struct clb_step *step, const struct clb_listener *have,
                           struct ccm_buf *text)
{
    const struct clb_listener *want = &step->listener;
    const char *separator = ": ";

    if (have != NULL && !ccm_text_equal(have->lbc.description, want->lbc.description)) {
        print_change(text, &separator, "Description", print_value_or_none(have->lbc.description),
                     want->lbc.description);
    }
    for (size_t i = 0; i < want->lbc.attrs.len; i++) {
        const struct lbc_attr *attr = &want->lbc.attrs.items[i];
        const char *from = have == NULL ? NULL : lbc_attrs_get(&have->lbc.attrs, attr->row);

        if (have == NULL ? attr->explicit : !ccm_text_equal(from, attr->value)) {
            print_change(text, &separator, attr->row->field,
                         have == NULL ? NULL : print_value_or_none(from), attr->value);
        }
    }
}

/* --- a line --- */

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

static void print_step(const struct clb_step *step, const struct clb_plan_input *in,
                       struct ccm_buf *text)
{
    ccm_buf_adds(text, names[step->type]);
    if (step->port != 0) {
        ccm_buf_addf(text, " %u/%s", step->port, lbc_protocol_lower(step->protocol));
    }
    if (step->group_name != NULL) {
        ccm_buf_addf(text, " %s", step->group_name);
    }
    if (step->group_id != NULL) {
        ccm_buf_addf(text, " (%s)", step->group_id);
    }
    if (in != NULL && step->value != NULL) {
        print_old_lb(step, &in->have->lb, text);
    }
    if (step->value != NULL) {
        ccm_buf_addf(text, " %s", step->value);
    }
    if (step->extra != NULL) {
        ccm_buf_addf(text, " %s", step->extra);
    }
    print_tags(&step->tags, text);
    print_backends(in, step, text);
    print_details(step, text);
    if (in == NULL) {
        return;
    }
    if (step->type == CLB_STEP_CREATE_LB) {
        print_new_lb(in, text);
    } else if (step->type == CLB_STEP_CREATE_LISTENER) {
        print_listener(step, NULL, text);
    } else if (step->type == CLB_STEP_UPDATE_LISTENER) {
        print_listener(step, clb_state_listener(in->have, step->port, step->protocol), text);
    }
}

void clb_plan_print(const struct clb_plan *plan, const struct clb_plan_input *in,
                    struct ccm_buf *text)
{
    for (size_t i = 0; i < plan->len; i++) {
        print_step(&plan->steps[i], in, text);
        ccm_buf_adds(text, "\n");
    }
}
