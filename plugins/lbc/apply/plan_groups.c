/*
 * Plans: groups and their backends; see plan.h. Additions come before removals, and those before
 * new weights: target_change_backends(). In a full group the order is that of exchange.h, and after
 * a failed addition executor.c:step_would_starve() keeps backends.
 */
#include "lbc/apply/plan.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* Where the steps of one group go. */
struct target {
    struct lbc_work *work;
    const struct lbc_group *want; /* desired; of a group that goes: the present one */
    struct lbc_group *have;       /* NULL: it is being made */
    unsigned stage;               /* of its next step: each has one of its own */
    bool last;                    /* it goes, and no port with it */
};

static bool rules_owns_text(void *self, const char *text)
{
    return lbc_work_owner(self, text, false) == LBC_OWNER_OURS;
}

static struct lbc_diff_rules work_get_rules(struct lbc_work *work)
{
    return (struct lbc_diff_rules){
        .want = work->want,
        .keep_weights = work->model->keep_weights,
        .peer_weights = work->model->peer_weights,
        .owns = rules_owns_text,
        .self = work,
    };
}

/* --- steps --- */

/* Whether a step changes the group. */
static bool step_is_about(const struct lbc_step *step, const struct lbc_group *want,
                          const struct lbc_group *have)
{
    switch (step->type) {
    case LBC_STEP_CREATE_GROUP:
    case LBC_STEP_UPDATE_GROUP:
    case LBC_STEP_ADD:
    case LBC_STEP_REMOVE:
    case LBC_STEP_UPDATE:
        return have != NULL ? step->group == have : step->group == NULL && step->want == want;
    default:
        return false;
    }
}

/* The first stage from `earliest` on in which no step so far changes the group. */
static unsigned target_find_free_stage(const struct target *to, unsigned earliest)
{
    for (size_t i = 0; i < to->work->plan->len; i++) {
        const struct lbc_step *step = to->work->plan->steps[i];

        if (step_is_about(step, to->want, to->have) && step->stage >= earliest) {
            earliest = step->stage + 1;
        }
    }
    return earliest;
}

unsigned lbc_plan_filled(const struct lbc_work *work, const struct lbc_group *want)
{
    const struct lbc_group *have = lbc_state_group_for(work->have, want);
    unsigned stage = work->stage;

    for (size_t i = 0; i < work->plan->len; i++) {
        const struct lbc_step *step = work->plan->steps[i];

        if ((step->type == LBC_STEP_ADD || step->type == LBC_STEP_CREATE_GROUP) &&
            step_is_about(step, want, have) && step->stage >= stage) {
            stage = step->stage + 1;
        }
    }
    return stage;
}

static struct lbc_step *target_add_step(const struct target *to, unsigned type)
{
    const struct lbc_plan *plan = to->work->plan;
    const struct lbc_step *before = plan->len == 0 ? NULL : plan->steps[plan->len - 1];
    struct lbc_step *step = lbc_work_group_step(to->work, type, to->want, to->have);

    if (step == NULL) {
        return NULL;
    }
    if (!lbc_work_has(to->work, LBC_PLAN_SERIAL)) {
        step->stage = to->stage;
    } else if (to->last && before != NULL && before->last && before->group != NULL) {
        step->stage =
            before->stage; /* a group that cannot be deleted does not hold up the next one */
    }
    if (to->last) {
        step->last = true;
        step->port = 0;
    }
    return step;
}

/* As many steps as the set needs, each with a stage of its own. The first `skip` are left out. */
static int target_add_batches(struct target *to, unsigned type, const struct lbc_backends *set,
                              size_t skip)
{
    struct lbc_step *step = NULL;

    for (size_t i = skip; i < set->len; i++) {
        if ((i - skip) % to->work->batch == 0) {
            step = target_add_step(to, type);
            to->stage++;
        }
        if (step == NULL || lbc_backends_put(&step->backends, &set->items[i]) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* --- groups that stay --- */

static int target_create_group(struct target *to)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends all = { 0 };
    struct lbc_step *step = target_add_step(to, LBC_STEP_CREATE_GROUP);
    const size_t most = to->work->ops->create_batch;
    const size_t first = most < to->work->batch ? most : to->work->batch;
    int r = step == NULL ? -ENOMEM : 0;

    to->stage++;
    for (size_t i = 0; r == 0 && i < to->want->backends.len; i++) {
        const struct lbc_backend *one = &to->want->backends.items[i];

        if (!one->leaving) {
            r = lbc_backends_put(&all, one);
        }
    }
    for (size_t i = 0; r == 0 && i < all.len && i < first; i++) {
        r = lbc_backends_put(&step->backends, &all.items[i]);
    }
    return r < 0 ? r : target_add_batches(to, LBC_STEP_ADD, &all, first);
}

/* Whether a wanted backend is there or is added, when what is not wanted is removed. One that comes
 * back while the cloud still removes it is neither. */
static bool target_stays_served(const struct target *to, const struct lbc_diff *diff)
{
    bool served = diff->add.len > 0;

    for (size_t i = 0; !served && i < to->want->backends.len; i++) {
        const struct lbc_backend *one = &to->want->backends.items[i];
        const struct lbc_backend *twin = lbc_backends_find(&to->have->backends, one);

        served = !one->leaving && twin != NULL && !twin->leaving;
    }
    return served;
}

/* What is new comes before what is old goes; only a group without room for both is exchanged in
 * portions, as the executor finds out (exchange.h). */
static int target_change_backends(struct target *to)
{
    CCM_CLEANUP(lbc_diff_fini) struct lbc_diff diff = { .waits = false };
    const struct lbc_diff_rules rules = work_get_rules(to->work);
    int r = lbc_backends_diff(to->want, to->have, &rules, &diff);

    if (r == 0 && diff.waits) {
        r = lbc_texts_put(&to->work->plan->waiting, to->have->id);
    }
    if (r == 0) {
        r = target_add_batches(to, LBC_STEP_ADD, &diff.add, 0);
    }
    if (r == 0 && lbc_diff_speaks(to->want, &rules) && !lbc_diff_forbids(to->want, &rules, true) &&
        (!diff.waits || target_stays_served(to, &diff))) {
        r = target_add_batches(to, LBC_STEP_REMOVE, &diff.remove, 0);
    }
    if (r == 0 && !lbc_diff_forbids(to->want, &rules, false)) {
        r = target_add_batches(to, LBC_STEP_UPDATE, &diff.update, 0);
    }
    return r;
}

int lbc_plan_group(struct lbc_work *work, const struct lbc_group *want)
{
    struct target to = { .work = work,
                         .want = want,
                         .have = lbc_state_group_for(work->have, want),
                         .stage = work->stage };
    int r = 0;

    if (to.have == NULL) { /* a chosen one is for its owner to make */
        return want->id == NULL && !want->present_only &&
                       !(work->model->reused && lbc_plan_is_useless(work, want))
                   ? target_create_group(&to)
                   : 0;
    }
    if (to.have->unread) {
        return lbc_texts_put(&work->plan->waiting, to.have->id);
    }
    if (want->id == NULL && work->ops->update_group != NULL && !work->model->backends_only) {
        r = work->ops->update_group(work, want, to.have);
    }
    to.stage = target_find_free_stage(&to, work->stage + 1);
    return r < 0 ? r : target_change_backends(&to);
}

int lbc_plan_groups(struct lbc_work *work)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->want->group_count; i++) {
        if (!work->want->groups[i]->broken) {
            r = lbc_plan_group(work, work->want->groups[i]);
        }
    }
    return r;
}

bool lbc_plan_owns_group(struct lbc_work *work, const struct lbc_group *have)
{
    const struct lbc_diff_rules rules = work_get_rules(work);

    return rules_owns_text(work, have->name) || lbc_diff_count_own(have, &rules) > 0;
}

int lbc_plan_leaving(const struct lbc_plan_ops *ops, const struct lbc_plan_input *in,
                     struct lbc_group *want, struct lbc_freeze_group *ret)
{
    CCM_CLEANUP(lbc_diff_fini) struct lbc_diff diff = { .waits = false };
    struct lbc_plan none = { .len = 0 };
    struct lbc_work work = lbc_work_begin(&none, ops, in, NULL);
    const struct lbc_diff_rules rules = work_get_rules(&work);
    const struct lbc_group *have = lbc_state_group_for(in->have, want);

    if (have == NULL || have->unread || want->broken || !lbc_diff_speaks(want, &rules) ||
        lbc_diff_forbids(want, &rules, true)) {
        return 0;
    }
    if (lbc_backends_diff(want, have, &rules, &diff) < 0) {
        return -ENOMEM;
    }
    *ret = (struct lbc_freeze_group){
        .id = have->id,
        .want = &want->backends,
        .have = &have->backends,
        .leaving = diff.remove,
        .size = lbc_diff_count_own(have, &rules),
        .staying = lbc_diff_count_desired(want, &rules),
    };
    memset(&diff.remove, 0, sizeof(diff.remove)); /* moved */
    return work.error;
}

/* --- groups that go --- */

int lbc_plan_drop_group(struct lbc_work *work, struct lbc_group *have, bool used)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends own = { 0 };
    const struct lbc_diff_rules rules = work_get_rules(work);
    struct target to = {
        .work = work, .want = have, .have = have, .stage = work->stage, .last = true
    };
    bool foreign = false;

    if (have->unread) {
        return lbc_work_has(work, LBC_PLAN_LISTS_ALL)
                   ? 0
                   : lbc_texts_put(&work->plan->waiting, have->id);
    }
    if (lbc_diff_list_own(have, &rules, &own, &foreign) < 0) {
        return -ENOMEM;
    }
    if (!foreign && !used && rules_owns_text(work, have->name)) {
        return target_add_step(&to, LBC_STEP_DELETE_GROUP) == NULL ? -ENOMEM : 0;
    }
    return target_add_batches(&to, LBC_STEP_REMOVE, &own, 0);
}

int lbc_plan_drop_groups(struct lbc_work *work)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->have->group_count; i++) {
        r = lbc_plan_drop_group(work, work->have->groups[i], false);
    }
    return r;
}

bool lbc_work_wants_group(const struct lbc_work *work, const struct lbc_group *have)
{
    for (size_t i = 0; i < work->want->group_count; i++) {
        if (lbc_state_group_for(work->have, work->want->groups[i]) == have) {
            return true;
        }
    }
    return false;
}

/* Whether the plan takes the listener away from the group that it sends to. */
static bool work_moves_listener(const struct lbc_work *work, const struct lbc_listener *listener)
{
    for (size_t i = 0; i < work->plan->len; i++) {
        const struct lbc_step *step = work->plan->steps[i];

        if (step->listener != listener) {
            continue;
        }
        if (step->type == LBC_STEP_DELETE_LISTENER) {
            return true;
        }
        if ((step->type == LBC_STEP_UPDATE_LISTENER || step->type == LBC_STEP_RESTORE_LISTENER) &&
            (step->group == NULL || !ccm_text_equal(step->group->id, listener->group_id))) {
            return true;
        }
    }
    return false;
}

/* Who goes on sending to the group: LBC_OWNER_OURS as soon as a listener of ours does. *ret_used:
 * whether anybody does. */
static enum lbc_owner work_find_user(struct lbc_work *work, const struct lbc_group *have,
                                     bool *ret_used)
{
    enum lbc_owner owner = LBC_OWNER_NONE;

    *ret_used = false;
    for (size_t i = 0; owner != LBC_OWNER_OURS && i < work->have->listener_count; i++) {
        const struct lbc_listener *listener = work->have->listeners[i];

        if (ccm_text_equal(listener->group_id, have->id) && !work_moves_listener(work, listener)) {
            owner = lbc_work_owner(work, listener->description, true);
            *ret_used = true;
        }
    }
    return owner;
}

int lbc_plan_each_stale_group(struct lbc_work *work, lbc_plan_group_fn *drop)
{
    int r = 0;

    for (size_t i = 0; !work->model->incomplete && r == 0 && i < work->have->group_count; i++) {
        struct lbc_group *have = work->have->groups[i];
        bool used = false;

        /* A listener of ours that stays, because nothing could take its place, keeps its group. */
        if (!lbc_work_wants_group(work, have) &&
            work_find_user(work, have, &used) != LBC_OWNER_OURS) {
            r = drop(work, have, used);
        }
    }
    return r;
}

int lbc_plan_stale_groups(struct lbc_work *work)
{
    return lbc_plan_each_stale_group(work, lbc_plan_drop_group);
}
