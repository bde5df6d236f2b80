#include "plan_parts.h"

#include "clb.h"
#include "lbc/model/owner.h"
#include "lbc/taken.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void clb_taken_port(uint16_t port, enum lbc_protocol protocol, char ret[static LBC_TAKEN_PORT])
{
    ccm_text_printf(ret, LBC_TAKEN_PORT, "%u-%s", port, lbc_protocol_lower(protocol));
}

/* --- what it was --- */

/* Those that the step changes, and all that limits who may connect: our own access list is bound to
 * it later. */
static bool is_changed(const struct clb_step *step, const struct lbc_attr *was)
{
    return ccm_text_starts(was->row->field, "Acl") ||
           !ccm_text_equal(was->value, lbc_attrs_get(&step->listener.lbc.attrs, was->row));
}

static int taken_add_listener(const struct clb_plan_input *in, const struct clb_step *step,
                              const struct clb_listener *have, struct lbc_taken_list *ret)
{
    const struct lbc_group *group = have->lbc.group_id == NULL
                                        ? NULL
                                        : lbc_state_group_by_id(&in->have->lbc, have->lbc.group_id);
    char port[LBC_TAKEN_PORT];
    struct lbc_taken *taken = NULL;
    int r = 0;

    clb_taken_port(have->lbc.port, have->lbc.protocol, port);
    taken = lbc_taken_record(ret, &in->service->meta, port, have->lbc.group_id,
                             group != NULL && lbc_owner_is_key(group->name), have->lbc.description);
    if (taken == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; r == 0 && i < have->lbc.attrs.len; i++) {
        const struct lbc_attr *was = &have->lbc.attrs.items[i];

        if (was->value != NULL && is_changed(step, was)) {
            r = lbc_tags_put(&taken->was, was->row->field, was->value);
        }
    }
    return r;
}

int clb_plan_list_taken(const struct clb_plan *plan, const struct clb_plan_input *in,
                        struct lbc_taken_list *ret)
{
    int r = 0;

    for (size_t i = 0; in->model->lbc.reused && r == 0 && i < plan->len; i++) {
        const struct clb_step *step = &plan->steps[i];
        const struct clb_listener *have =
            step->type == CLB_STEP_UPDATE_LISTENER
                ? clb_state_listener(in->have, step->port, step->protocol)
                : NULL;

        if (have != NULL && (have->lbc.description == NULL ||
                             lbc_owner_parse(have->lbc.description, true, &in->service->meta,
                                             in->cluster_id) == LBC_OWNER_NONE)) {
            r = taken_add_listener(in, step, have, ret);
        }
    }
    return r;
}

/* --- and is again --- */

/* The group must still be there, and be none of a controller. */
static bool is_usable(const struct clb_plan_input *in, const char *group_id)
{
    const struct lbc_group *group =
        group_id == NULL ? NULL : lbc_state_group_by_id(&in->have->lbc, group_id);

    return group_id != NULL &&
           (group_id[0] == '\0' || (group != NULL && !lbc_owner_is_key(group->name)));
}

static int fill_step(struct clb_step *step, const struct clb_listener *have,
                     const struct lbc_tags *was)
{
    const char *text = lbc_tags_get(was, LBC_TAKEN_DESCRIPTION);
    int r = clb_listener_copy(&step->listener, have);

    if (r < 0 || lbc_text_set(&step->group_id, lbc_tags_get(was, LBC_TAKEN_GROUP)) < 0 ||
        lbc_text_set(&step->listener.lbc.description,
                     ccm_text_empty(text) || lbc_owner_is_key(text) ? LBC_TAKEN_NAMELESS : text) <
            0) {
        return -ENOMEM;
    }
    for (size_t i = 0; r == 0 && i < was->len; i++) {
        const struct lbc_anno *field = clb_field_find(was->items[i].key);

        if (field != NULL && lbc_attr_applies(field, have->lbc.protocol)) {
            r = lbc_attrs_set(&step->listener.lbc.attrs, field, was->items[i].value, true);
        }
    }
    return r;
}

/* Another listener of the Service takes its port. */
static bool is_in_the_way(const struct clb_plan_input *in, const struct clb_listener *have)
{
    for (size_t i = 0; i < in->model->want.lbc.listener_count; i++) {
        const struct clb_listener *want = clb_listener_at(&in->model->want, i);

        if (want->lbc.port == have->lbc.port &&
            lbc_protocol_clash(want->lbc.protocol, have->lbc.protocol)) {
            return true;
        }
    }
    return false;
}

int clb_plan_restore(struct clb_plan *plan, const struct clb_plan_input *in,
                     const struct clb_listener *have, bool *ret_done)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags was = { 0 };
    struct clb_step *step = NULL;
    char port[LBC_TAKEN_PORT];

    *ret_done = false;
    clb_taken_port(have->lbc.port, have->lbc.protocol, port);
    if (!in->restores || in->cannot_restore || !in->model->lbc.reused || in->model->lbc.as_it_is ||
        is_in_the_way(in, have)) {
        return 0;
    }
    if (lbc_taken_read(&in->service->meta, port, &was) < 0) {
        return -ENOMEM;
    }
    if (!is_usable(in, lbc_tags_get(&was, LBC_TAKEN_GROUP))) {
        return 0;
    }
    step = clb_plan_new_step(plan, CLB_STEP_RESTORE_LISTENER, have->lbc.port, have->lbc.protocol);
    *ret_done = true;
    return step == NULL ? -ENOMEM : fill_step(step, have, &was);
}
