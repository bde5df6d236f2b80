/* Plans as text, one line per step; see step.h. */
#include "lbc/apply/step.h"
#include "util/cleanup.h"
#include "util/text.h"

/* --- the parts of a line --- */

static void print_port(const struct lbc_step_table *table, const struct lbc_step *step,
                       struct ccm_buf *text)
{
    if (step->port == 0) {
        return;
    }
    ccm_buf_addf(text, " %u", step->port);
    if (step->last_port != 0) {
        ccm_buf_addf(text, "-%u", step->last_port);
    }
    ccm_buf_addf(text, "/%s", table->state->protocol_name(step->protocol));
}

/* The weight that a backend has now; NULL = not to be shown. */
static const struct lbc_backend *step_find_present(const struct lbc_step *step,
                                                   const struct lbc_backend *one)
{
    return step->type == LBC_STEP_UPDATE && step->group != NULL
               ? lbc_backends_find(&step->group->backends, one)
               : NULL;
}

static void print_backends(const struct lbc_step_table *table, const struct lbc_step *step,
                           bool with_present, struct ccm_buf *text)
{
    const struct lbc_backends *set = &step->backends;
    const size_t most = table->backends_shown == 0 ? set->len : table->backends_shown;

    for (size_t i = 0; i < set->len && i < most; i++) {
        const struct lbc_backend *one = &set->items[i];
        const struct lbc_backend *now = with_present ? step_find_present(step, one) : NULL;
        const bool has_ip = one->type == LBC_BACKEND_INTERFACE;

        ccm_buf_addf(text, "%s%s%s%s:%u=", i == 0 ? " [" : " ", one->server_id, has_ip ? "/" : "",
                     has_ip ? one->server_ip : "", one->port);
        if (now != NULL) {
            ccm_buf_addf(text, "%u->", now->weight);
        }
        ccm_buf_addf(text, "%u", one->weight);
    }
    if (set->len > most) {
        ccm_buf_addf(text, " and %zu more", set->len - most);
    }
    if (set->len > 0) {
        ccm_buf_addc(text, ']');
    }
}

static void print_step(const struct lbc_step_table *table, const struct lbc_step *step,
                       const struct lbc_plan_input *in, bool with_change, struct ccm_buf *text)
{
    ccm_buf_adds(text, lbc_step_name(table, step->type));
    print_port(table, step, text);
    table->print_about(step, in, text);
    if (step->value != NULL) {
        ccm_buf_addf(text, " %s", step->value);
    }
    if (step->extra != NULL) {
        ccm_buf_addf(text, " %s", step->extra);
    }
    for (size_t i = 0; i < step->tags.len; i++) {
        ccm_buf_addf(text, " %s=%s", step->tags.items[i].key, step->tags.items[i].value);
    }
    for (size_t i = 0; i < step->texts.len; i++) {
        ccm_buf_addf(text, " %s", step->texts.items[i]);
    }
    print_backends(table, step, in != NULL, text);
    if (table->print_details != NULL) {
        table->print_details(step, in, text);
    }
    if (with_change && step->change != NULL) {
        ccm_buf_addf(text, ": %s", step->change);
    }
    ccm_buf_addc(text, '\n');
}

void lbc_plan_print(const struct lbc_plan *plan, const struct lbc_plan_input *in,
                    struct ccm_buf *text)
{
    for (size_t i = 0; i < plan->len; i++) {
        print_step(plan->table, plan->steps[i], in, true, text);
    }
}

/* --- repairs --- */

static void print_targets(const struct lbc_attrs *next, const struct lbc_attrs *have,
                          struct ccm_buf *text)
{
    for (size_t i = 0; i < next->len; i++) {
        const struct lbc_attr *attr = &next->items[i];

        if (!ccm_text_equal(attr->value, lbc_attrs_get(have, attr->row))) {
            ccm_buf_addf(text, "%s=%s ", attr->row->field, attr->value);
        }
    }
}

/* A line that says what a step leads to; of listeners and groups whatever is there now. */
static void print_target(const struct lbc_step_table *table, const struct lbc_step *step,
                         struct ccm_buf *text)
{
    const bool is_listener = step->type == LBC_STEP_UPDATE_LISTENER;
    const bool is_group = step->type == LBC_STEP_UPDATE_GROUP;

    if (is_listener) {
        print_targets(&step->to->attrs, &step->listener->attrs, text);
    }
    if (is_group) {
        print_targets(&step->attrs, &step->group->attrs, text);
    }
    print_step(table, step, NULL, !is_listener && !is_group, text);
}

void lbc_plan_print_surplus(const struct lbc_plan *plan, const struct lbc_plan *asked,
                            struct ccm_buf *ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf lines = { .max = 256 * 1024 };

    for (size_t i = 0; i < asked->len; i++) {
        print_target(asked->table, asked->steps[i], &lines);
    }
    for (size_t i = 0; i < plan->len; i++) {
        const struct lbc_step *step = plan->steps[i];
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf line = { .max = 64 * 1024 };

        print_target(plan->table, step, &line);
        if (ccm_text_has_line(ccm_buf_str(&lines), ccm_buf_str(&line))) {
            continue;
        }
        ccm_buf_addf(ret, "%s%s", ret->len == 0 ? "" : ", ",
                     lbc_step_name(plan->table, step->type));
        if (step->port != 0) {
            ccm_buf_addf(ret, " %u/%s", step->port,
                         plan->table->state->protocol_name(step->protocol));
        }
    }
}
