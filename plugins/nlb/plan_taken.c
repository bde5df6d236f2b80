#include "compare.h"
#include "names.h"
#include "plan_parts.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

void nlb_taken_port(const struct nlb_listener *listener, char ret[static LBC_TAKEN_PORT])
{
    char protocol[16];

    ccm_text_copy(protocol, sizeof(protocol), lbc_protocol_name(listener->lbc.protocol));
    for (char *p = protocol; *p != '\0'; p++) {
        *p = (char)tolower((unsigned char)*p);
    }
    if (listener->range) {
        ccm_text_printf(ret, LBC_TAKEN_PORT, "%u_%u-%s", listener->lbc.port,
                        listener->lbc.last_port, protocol);
    } else {
        ccm_text_printf(ret, LBC_TAKEN_PORT, "%u-%s", listener->lbc.port, protocol);
    }
}

/* --- what it was --- */

static int taken_add_listener(const struct nlb_plan_input *in, const struct nlb_step *step,
                              const struct nlb_listener *have, struct lbc_taken_list *ret)
{
    const struct nlb_group *group =
        have->lbc.group_id == NULL ? NULL : nlb_state_group_by_id(in->have, have->lbc.group_id);
    char port[LBC_TAKEN_PORT];
    struct lbc_taken *taken = NULL;
    int r = 0;

    nlb_taken_port(have, port);
    taken =
        lbc_taken_record(ret, &in->service->meta, port, have->lbc.group_id,
                         group != NULL && nlb_name_is_key(group->lbc.name), have->lbc.description);
    if (taken == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; r == 0 && i < have->lbc.attrs.len; i++) {
        const struct lbc_attr *was = &have->lbc.attrs.items[i];

        if (was->value != NULL &&
            !ccm_text_equal(was->value, lbc_attrs_get(&step->listener.lbc.attrs, was->row))) {
            r = lbc_tags_put(&taken->was, was->row->field, was->value);
        }
    }
    return r;
}

int nlb_plan_list_taken(const struct nlb_plan *plan, const struct nlb_plan_input *in,
                        struct lbc_taken_list *ret)
{
    int r = 0;

    for (size_t i = 0; in->model->lbc.reused && r == 0 && i < plan->len; i++) {
        const struct nlb_step *step = &plan->steps[i];
        const struct nlb_listener *have = step->type == NLB_STEP_UPDATE_LISTENER
                                              ? nlb_state_listener_by_id(in->have, step->id)
                                              : NULL;
        enum lbc_owner owner = LBC_OWNER_OURS;

        if (have != NULL) {
            r = nlb_name_parse(have->lbc.description, true, &in->service->meta, in->cluster_id,
                               &owner);
        }
        if (r == 0 && owner == LBC_OWNER_NONE) {
            r = taken_add_listener(in, step, have, ret);
        }
    }
    return r;
}

/* --- and is again --- */

/* The group must still be there, be none of a controller, and of no other load balancer. */
static const struct nlb_group *find_usable(const struct nlb_work *work, const char *group_id)
{
    const struct nlb_group *group =
        ccm_text_empty(group_id) ? NULL : nlb_state_group_by_id(work->in->have, group_id);

    return group != NULL && !nlb_name_is_key(group->lbc.name) &&
                   (group->users.len == 0 || lbc_texts_has(&group->users, work->lb->id))
               ? group
               : NULL;
}

/* Another listener of the Service takes its port. */
static bool is_in_the_way(const struct nlb_work *work, const struct nlb_listener *have)
{
    for (size_t i = 0; i < work->in->model->want.lbc.listener_count; i++) {
        if (lbc_listener_clash(&nlb_listener_at(&work->in->model->want, i)->lbc, &have->lbc)) {
            return true;
        }
    }
    return false;
}

static int fill_step(struct nlb_step *step, const struct nlb_listener *have,
                     const struct nlb_group *group, const struct lbc_tags *was)
{
    const char *text = lbc_tags_get(was, LBC_TAKEN_DESCRIPTION);
    int r = 0;

    if (lbc_text_set(&step->id, have->lbc.id) < 0 ||
        nlb_group_copy_identity(&step->group, group) < 0 ||
        lbc_text_set(&step->listener.lbc.group_id, group->lbc.id) < 0 ||
        lbc_text_set(&step->listener.lbc.description,
                     ccm_text_empty(text) || nlb_name_is_key(text) ? LBC_TAKEN_NAMELESS : text) <
            0 ||
        lbc_attrs_copy(&step->listener.lbc.attrs, &have->lbc.attrs) < 0) {
        return -ENOMEM;
    }
    for (size_t i = 0; r == 0 && i < was->len; i++) {
        const struct lbc_anno *field = nlb_listener_field(was->items[i].key);

        if (field != NULL && lbc_attr_applies(field, have->lbc.protocol)) {
            r = lbc_attrs_set(&step->listener.lbc.attrs, field, was->items[i].value, true);
        }
    }
    step->port = have->lbc.port;
    step->protocol = have->lbc.protocol;
    step->listener.lbc.protocol = have->lbc.protocol;
    step->listener.lbc.port = have->lbc.port;
    step->listener.lbc.last_port = have->lbc.last_port;
    step->listener.range = have->range;
    return r;
}

int nlb_plan_restore(struct nlb_work *work, const struct nlb_listener *have, bool *ret_done)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags was = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 256 };
    const struct nlb_model *model = work->in->model;
    const struct nlb_group *group = NULL;
    struct nlb_step *step = NULL;
    char port[LBC_TAKEN_PORT];

    *ret_done = false;
    if (!work->in->restores || work->in->cannot_restore || !model->lbc.reused ||
        model->lbc.as_it_is || is_in_the_way(work, have)) {
        return 0;
    }
    nlb_taken_port(have, port);
    if (lbc_taken_read(&work->in->service->meta, port, &was) < 0) {
        return -ENOMEM;
    }
    group = find_usable(work, lbc_tags_get(&was, LBC_TAKEN_GROUP));
    if (group == NULL) {
        return 0;
    }
    *ret_done = true;
    step = nlb_plan_new_step(work->plan, NLB_STEP_UPDATE_LISTENER, work->stage);
    if (step == NULL || fill_step(step, have, group, &was) < 0) {
        return -ENOMEM;
    }
    lbc_compare_add_change(&change, "put back, server group", have->lbc.group_id, group->lbc.id);
    return nlb_plan_set_change(step, &change);
}
