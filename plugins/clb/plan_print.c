/* Plans as text: names of steps, and what of a line is the product's own. */
#include "annotations.h"
#include "lbc/rules/lb_attrs.h"
#include "plan_parts.h"
#include "util/text.h"

static const struct lbc_step_row rows[] = {
    [CLB_STEP_CHARGE] = { .name = "change instance charge type",
                          .value = LBC_SETS(CLB_LB_CHARGE),
                          .extra = LBC_SETS(CLB_LB_SPEC) },
    [CLB_STEP_SPEC] = { .name = "change specification", .value = LBC_SETS(CLB_LB_SPEC) },
    [CLB_STEP_INTERNET] = { .name = "change traffic charge",
                            .value = LBC_SETS(CLB_LB_TRAFFIC_CHARGE),
                            .extra = LBC_SETS(CLB_LB_BANDWIDTH) },
    [CLB_STEP_PROTECT] = { .name = "set deletion protection", .value = LBC_SETS(CLB_LB_PROTECT) },
    [CLB_STEP_PROTECT_MODIFICATION] = { .name = "set modification protection",
                                        .value = LBC_SETS(CLB_LB_MODIFICATION) },
    [CLB_STEP_RENAME] = { .name = "rename load balancer", .value = LBC_SETS(CLB_LB_NAME) },
    [CLB_STEP_UNPROTECT] = { .name = "switch deletion protection off" },
    [LBC_STEP_ADD] = { .name = "add backends" },
    [LBC_STEP_REMOVE] = { .name = "remove backends" },
    [CLB_STEP_START_LISTENER] = { .name = "start listener" },
    [CLB_STEP_SET_DOMAIN] = { .name = "update domain extension" },
    [CLB_STEP_CREATE_DOMAIN] = { .name = "create domain extension" },
    [CLB_STEP_DELETE_DOMAIN] = { .name = "delete domain extension" },
    [CLB_STEP_CREATE_ACL] = { .name = "create access list" },
    [CLB_STEP_ADD_ENTRIES] = { .name = "add access list entries" },
    [CLB_STEP_REMOVE_ENTRIES] = { .name = "remove access list entries" },
    [CLB_STEP_DELETE_ACL] = { .name = "delete access list" },
};

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

/* --- what differs --- */

/* What a new load balancer is asked to be. */
static void print_new_lb(const struct lbc_plan_input *in, struct ccm_buf *text)
{
    const struct clb_model *model = (const struct clb_model *)in->model;
    const char *separator = ": ";

    for (unsigned i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        const struct lbc_anno *row = lbc_lb_row(&clb_annotations, i);
        const char *want = model->want.lb.lbc.texts[i];

        if (!ccm_text_empty(want)) {
            print_change(text, &separator, lbc_lb_name(row), NULL, want);
        }
    }
}

/* Present values of what a step for the load balancer changes. */
static void print_old_lb(const struct lbc_step *step, const struct clb_lb *have,
                         struct ccm_buf *text)
{
    const struct lbc_step_row *row = &rows[step->type];

    if (row->value == 0) {
        return;
    }
    ccm_buf_addf(text, " %s", print_value_or_none(have->lbc.texts[row->value - 1]));
    if (step->extra != NULL) {
        ccm_buf_addf(text, " %s", print_value_or_none(have->lbc.texts[row->extra - 1]));
    }
    ccm_buf_adds(text, " ->");
}

/* Attributes of a listener; of a present one only those that change. */
static void print_listener(const struct lbc_listener *want, const struct lbc_listener *have,
                           struct ccm_buf *text)
{
    const char *separator = ": ";

    if (have != NULL && !ccm_text_equal(have->description, want->description)) {
        print_change(text, &separator, "Description", print_value_or_none(have->description),
                     want->description);
    }
    for (size_t i = 0; i < want->attrs.len; i++) {
        const struct lbc_attr *attr = &want->attrs.items[i];
        const char *from = have == NULL ? NULL : lbc_attrs_get(&have->attrs, attr->row);

        if (have == NULL ? attr->explicit : !ccm_text_equal(from, attr->value)) {
            print_change(text, &separator, attr->row->field,
                         have == NULL ? NULL : print_value_or_none(from), attr->value);
        }
    }
}

/* --- a line --- */

static void print_group(const struct lbc_step *step, struct ccm_buf *text)
{
    const bool is_listener = step->to != NULL;
    const char *name = NULL;

    if (is_listener) {
        name = step->want == NULL ? NULL : step->want->name;
    } else if (step->want != NULL) {
        name = step->group == NULL ? step->want->name : step->group->name;
    }
    if (name != NULL) {
        ccm_buf_addf(text, " %s", name);
    }
    if (step->group != NULL && step->type != LBC_STEP_CREATE_LISTENER) {
        ccm_buf_addf(text, " (%s)", step->group->id);
    }
}

static void print_about(const struct lbc_step *step, const struct lbc_plan_input *in,
                        struct ccm_buf *text)
{
    print_group(step, text);
    if (in != NULL && step->value != NULL) {
        print_old_lb(step, &((const struct clb_state *)in->have)->lb, text);
    }
}

static void print_details(const struct lbc_step *step, const struct lbc_plan_input *in,
                          struct ccm_buf *text)
{
    const uint16_t target = step->to == NULL ? 0 : clb_forward_target(step->to);

    if (target != 0) {
        ccm_buf_addf(text, " -> %u", target);
    }
    if (in == NULL) {
        return;
    }
    if (step->type == LBC_STEP_CREATE_LB) {
        print_new_lb(in, text);
    } else if (step->type == LBC_STEP_CREATE_LISTENER) {
        print_listener(step->to, NULL, text);
    } else if (step->type == LBC_STEP_UPDATE_LISTENER) {
        print_listener(step->to, step->listener, text);
    }
}

const struct lbc_step_table clb_steps = {
    .size = sizeof(struct lbc_step),
    .state = &clb_state_type,
    .rows = rows,
    .backends_shown = 20,
    .print_about = print_about,
    .print_details = print_details,
};
