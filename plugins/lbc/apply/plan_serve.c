/* Plans: listeners that are made or changed; see plan.h. */
#include "lbc/apply/compare.h"
#include "lbc/apply/plan.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

int lbc_step_describe_listener(struct lbc_step *step, const struct lbc_listener *want,
                               struct lbc_group *present)
{
    step->want = want->group;
    step->group = present;
    return lbc_text_set(&step->to->description, want->description);
}

static int plan_listener_rest(struct lbc_work *work, unsigned stage,
                              const struct lbc_listener *want, struct lbc_listener *have)
{
    const unsigned before = work->stage;
    int r = 0;

    if (work->ops->plan_more != NULL) {
        work->stage = stage;
        r = work->ops->plan_more(work, want, have);
        work->stage = before;
    }
    return r;
}

static int plan_create_listener(struct lbc_work *work, const struct lbc_listener *want,
                                struct lbc_group *present)
{
    const struct lbc_compare wishes = lbc_compare_listeners(work->annotations, want, want);
    const unsigned stage = work->stage + 1;
    struct lbc_step *step =
        lbc_work_listener_step(work, LBC_STEP_CREATE_LISTENER, stage, want, NULL);

    if (step == NULL || lbc_step_describe_listener(step, want, present) < 0 ||
        lbc_compare_wishes(&wishes, &step->to->attrs) < 0) {
        return -ENOMEM;
    }
    step->needs_security = true;
    return plan_listener_rest(work, stage + 1, want, NULL);
}

/* The stage in which the listener can send to its desired group: not while that is still being
 * filled. */
static unsigned work_find_stage(const struct lbc_work *work, const struct lbc_listener *want,
                                bool moves)
{
    const unsigned filled = moves ? lbc_plan_filled(work, want->group) : 0;

    return filled > work->stage + 1 ? filled : work->stage + 1;
}

static int plan_update_listener(struct lbc_work *work, const struct lbc_listener *want,
                                struct lbc_listener *have, struct lbc_group *present)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 4096 };
    CCM_CLEANUP(lbc_attrs_fini) struct lbc_attrs next = { 0 };
    const bool moves = present == NULL || !ccm_text_equal(present->id, have->group_id);
    const unsigned stage = work_find_stage(work, want, moves);
    struct lbc_step *step = NULL;
    const struct lbc_compare compare = lbc_compare_listeners(work->annotations, want, have);
    int r = lbc_compare_overlay(&compare, work->in->fresh, &next, &change);

    if (r == 0 && moves) {
        lbc_compare_add_change(&change, "server group", have->group_id,
                               present == NULL ? want->group->name : present->id);
    }
    if (r == 0 && !ccm_text_equal(want->description, have->description)) {
        lbc_compare_add_change(&change, "description", have->description, want->description);
    }
    r = r < 0 ? r : ccm_buf_error(&change);
    if (r < 0 || change.len == 0) {
        return r < 0 ? r : plan_listener_rest(work, stage, want, have);
    }
    step = lbc_work_listener_step(work, LBC_STEP_UPDATE_LISTENER, stage, want, have);
    if (step == NULL || lbc_step_describe_listener(step, want, present) < 0) {
        return -ENOMEM;
    }
    step->needs_backends = moves; /* nobody is sent to a group that did not get its servers */
    step->to->attrs = next;
    memset(&next, 0, sizeof(next)); /* moved */
    r = lbc_step_set_change(step, &change);
    return r < 0 ? r : plan_listener_rest(work, stage + 1, want, have);
}

struct lbc_group *lbc_work_group_of(const struct lbc_work *work, const struct lbc_listener *want)
{
    return want->group == NULL ? NULL : lbc_state_group_for(work->have, want->group);
}

static int plan_keep_listener(struct lbc_work *work, const struct lbc_listener *want,
                              struct lbc_listener *have)
{
    struct lbc_group *group = lbc_work_group_of(work, want);
    int r = 0;

    if (work->ops->update_listener == NULL) {
        return plan_update_listener(work, want, have, group);
    }
    r = work->ops->update_listener(work, want, have, group);
    return r < 0 ? r : plan_listener_rest(work, work->stage, want, have);
}

/* One of ours that sends to a group of ours which no port desires any more. */
static bool work_must_follow(struct lbc_work *work, const struct lbc_listener *have)
{
    const struct lbc_group *group = lbc_state_group_by_id(work->have, have->group_id);

    return group != NULL && !lbc_work_wants_group(work, group) &&
           lbc_work_owner(work, group->name, false) == LBC_OWNER_OURS &&
           lbc_work_owner(work, have->description, true) == LBC_OWNER_OURS;
}

/* Listeners are not managed: one of ours moves to the group that its port desires. */
static int plan_follow_group(struct lbc_work *work, const struct lbc_listener *want)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 256 };
    struct lbc_listener *have = lbc_state_listener_like(work->have, want);
    struct lbc_group *group = lbc_work_group_of(work, want);
    struct lbc_step *step = NULL;

    if (have == NULL || want->group == NULL || !work_must_follow(work, have)) {
        return 0;
    }
    step = lbc_work_listener_step(work, LBC_STEP_UPDATE_LISTENER, work_find_stage(work, want, true),
                                  want, have);
    if (step == NULL || lbc_step_describe_listener(step, want, group) < 0) {
        return -ENOMEM;
    }
    step->needs_backends = true;
    lbc_compare_add_change(&change, "server group", have->group_id,
                           group == NULL ? want->group->name : group->id);
    return lbc_step_set_change(step, &change);
}

int lbc_plan_listener(struct lbc_work *work, const struct lbc_listener *want)
{
    struct lbc_listener *have = lbc_state_listener_like(work->have, want);
    const struct lbc_listener *other = lbc_plan_obstacle(work, want);
    const bool rebuilds = have != NULL && work->ops->needs_rebuild != NULL &&
                          work->ops->needs_rebuild(work, want, have);
    int r = 0;

    if (!lbc_model_has_listeners(work->model)) {
        return plan_follow_group(work, want);
    }
    if (other != NULL) {
        lbc_plan_refuse(work, want, other);
        return 0;
    }
    if (have != NULL && !rebuilds) {
        return plan_keep_listener(work, want, have);
    }
    if (want->lacks) {
        return 0;
    }
    if (rebuilds && !lbc_plan_drops(work->plan, have)) {
        r = lbc_plan_drop_listener(work, have);
    }
    return r < 0 ? r : plan_create_listener(work, want, lbc_work_group_of(work, want));
}

/* Whether it is there, or can be made with the group that it sends to. */
static bool work_can_serve(const struct lbc_work *work, const struct lbc_listener *want)
{
    return !want->broken && want->group != NULL && !want->group->broken &&
           (!want->group->present_only || lbc_work_group_of(work, want) != NULL) &&
           (!want->lacks || lbc_state_listener_like(work->have, want) != NULL);
}

int lbc_plan_listeners(struct lbc_work *work)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->want->listener_count; i++) {
        if (work_can_serve(work, work->want->listeners[i])) {
            r = lbc_plan_listener(work, work->want->listeners[i]);
        }
    }
    return r;
}
