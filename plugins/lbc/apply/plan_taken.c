/* Plans: listeners of persons, taken over and put back; see plan.h. */
#include "lbc/apply/compare.h"
#include "lbc/apply/plan.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

/* --- what they were --- */

/* What the step changes, and all that limits who may connect: that may be changed elsewhere. */
static bool step_changes_attr(const struct lbc_step *step, const struct lbc_attr *was)
{
    return (was->row->cloud & LBC_ATTR_ADMITS) != 0 ||
           !ccm_text_equal(was->value, lbc_attrs_get(&step->to->attrs, was->row));
}

static int taken_add_listener(const struct lbc_work *work, const struct lbc_step *step,
                              struct lbc_taken_list *ret)
{
    const struct lbc_listener *have = step->listener;
    const struct lbc_group *group = lbc_state_group_by_id(work->have, have->group_id);
    char port[LBC_TAKEN_PORT];
    struct lbc_taken *taken = NULL;
    int r = 0;

    lbc_taken_format_port(have, port);
    taken =
        lbc_taken_record(ret, &work->in->service->meta, port, have->group_id,
                         group != NULL && lbc_work_is_key(work, group->name), have->description);
    if (taken == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; r == 0 && i < have->attrs.len; i++) {
        const struct lbc_attr *was = &have->attrs.items[i];

        if (was->value != NULL && step_changes_attr(step, was)) {
            r = lbc_tags_put(&taken->was, was->row->field, was->value);
        }
    }
    return r;
}

int lbc_plan_list_taken(struct lbc_plan *plan, const struct lbc_plan_ops *ops,
                        const struct lbc_plan_input *in, struct lbc_taken_list *ret)
{
    struct lbc_work work = lbc_work_begin(plan, ops, in, NULL);
    int r = 0;

    for (size_t i = 0; in->model->reused && r == 0 && i < plan->len; i++) {
        const struct lbc_step *step = plan->steps[i];

        if (step->type == LBC_STEP_UPDATE_LISTENER &&
            lbc_work_owner(&work, step->listener->description, true) == LBC_OWNER_NONE) {
            r = taken_add_listener(&work, step, ret);
        }
    }
    return r < 0 ? r : work.error;
}

/* --- and are again --- */

/* What it was, with the group that it sent to (NULL: none). *ret_known false: nobody can tell, or
 * it is not possible any more. */
static int work_find_taken(struct lbc_work *work, const struct lbc_listener *have,
                           struct lbc_tags *ret, struct lbc_group **ret_group, bool *ret_known)
{
    const char *group_id = NULL;
    char port[LBC_TAKEN_PORT];

    *ret_group = NULL;
    *ret_known = false;
    if (!work->in->restores || work->in->cannot_restore || !work->model->reused ||
        work->model->as_it_is || lbc_work_needs_port(work, have)) {
        return 0;
    }
    lbc_taken_format_port(have, port);
    if (lbc_taken_read(&work->in->service->meta, port, ret) < 0) {
        return -ENOMEM;
    }
    group_id = lbc_tags_get(ret, LBC_TAKEN_GROUP);
    if (group_id == NULL) {
        return 0;
    }
    *ret_group = lbc_state_group_by_id(work->have, group_id);
    /* The group must still be there, and be none of a controller. */
    *ret_known =
        *ret_group != NULL ? !lbc_work_is_key(work, (*ret_group)->name) : group_id[0] == '\0';
    if (*ret_known && work->ops->may_restore != NULL) {
        *ret_known = work->ops->may_restore(work, *ret_group);
    }
    return 0;
}

/* Description and attributes of then over the present ones. */
static int work_overlay_taken(const struct lbc_work *work, const struct lbc_tags *was,
                              struct lbc_listener *to)
{
    const char *text = lbc_tags_get(was, LBC_TAKEN_DESCRIPTION);
    const bool nameless = ccm_text_empty(text) || lbc_work_is_key(work, text);
    int r = lbc_text_set(&to->description, nameless ? LBC_TAKEN_NAMELESS : text);

    for (size_t i = 0; r == 0 && i < was->len; i++) {
        const struct lbc_anno *field =
            lbc_attr_row(work->annotations, LBC_ANNO_LISTENER, was->items[i].key);

        if (field != NULL && lbc_attr_applies(field, to->protocol)) {
            r = lbc_attrs_set(&to->attrs, field, was->items[i].value, true);
        }
    }
    return r;
}

int lbc_plan_drop_listener(struct lbc_work *work, struct lbc_listener *have)
{
    return lbc_work_listener_step(work, LBC_STEP_DELETE_LISTENER, work->stage, have, have) == NULL
               ? -ENOMEM
               : 0;
}

int lbc_plan_release_listener(struct lbc_work *work, struct lbc_listener *have)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags was = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 256 };
    struct lbc_group *group = NULL;
    struct lbc_step *step = NULL;
    bool known = false;

    if (work_find_taken(work, have, &was, &group, &known) < 0) {
        return -ENOMEM;
    }
    if (!known) {
        return lbc_plan_drop_listener(work, have);
    }
    step = lbc_work_listener_step(work, LBC_STEP_RESTORE_LISTENER, work->stage, have, have);
    if (step == NULL || lbc_listener_copy(step->to, have) < 0 ||
        work_overlay_taken(work, &was, step->to) < 0) {
        return -ENOMEM;
    }
    step->want = group;
    step->group = group;
    if (lbc_work_has(work, LBC_PLAN_NAMES_CHANGES)) {
        lbc_compare_add_change(&change, "put back, server group", have->group_id, group->id);
    }
    return lbc_step_set_change(step, &change);
}

bool lbc_plan_drops(const struct lbc_plan *plan, const struct lbc_listener *have)
{
    for (size_t i = 0; i < plan->len; i++) {
        const struct lbc_step *step = plan->steps[i];

        if (step->listener == have &&
            (step->type == LBC_STEP_DELETE_LISTENER || step->type == LBC_STEP_RESTORE_LISTENER)) {
            return true;
        }
    }
    return false;
}

int lbc_plan_stale_listeners(struct lbc_work *work)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->have->listener_count; i++) {
        struct lbc_listener *have = work->have->listeners[i];

        if (lbc_plan_is_stale(work, have) && !lbc_plan_drops(work->plan, have)) {
            r = lbc_plan_release_listener(work, have);
        }
    }
    return r;
}
