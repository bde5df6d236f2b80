#include "compare.h"
#include "nlb.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* Where the steps of one group go. */
struct target {
    struct nlb_work *work;
    const struct nlb_group *who;  /* wanted; of a group that goes: the present one */
    const struct nlb_group *have; /* NULL: it is being made */
    unsigned stage;               /* of its next step: each has one of its own */
    bool last;
};

static bool plan_owns_group(const struct nlb_work *work, const char *name)
{
    return nlb_plan_owner(work, name, false) == LBC_OWNER_OURS;
}

static const char *description_of(const struct nlb_group *group, const struct lbc_backend *one)
{
    return one->description == NULL ? group->lbc.name : one->description;
}

/* --- steps --- */

static bool is_group_step(enum nlb_step_type type)
{
    return type == NLB_STEP_CREATE_GROUP || type == NLB_STEP_UPDATE_GROUP || type == NLB_STEP_ADD ||
           type == NLB_STEP_REMOVE || type == NLB_STEP_UPDATE;
}

/* Whether a step is about the group; of those that are still to be made names tell. */
static bool is_about(const struct nlb_step *step, const char *id, const char *name)
{
    return is_group_step(step->type) &&
           (id != NULL ? ccm_text_equal(step->id, id)
                       : step->id == NULL && ccm_text_equal(step->group.lbc.name, name));
}

/* The first stage from `earliest` on in which no step so far changes the group. */
static unsigned free_stage(const struct nlb_work *work, const char *id, const char *name,
                           unsigned earliest)
{
    for (size_t i = 0; i < work->plan->len; i++) {
        const struct nlb_step *step = &work->plan->steps[i];

        if (is_about(step, id, name) && step->stage >= earliest) {
            earliest = step->stage + 1;
        }
    }
    return earliest;
}

unsigned nlb_plan_filled(const struct nlb_work *work, const struct nlb_group *want)
{
    const struct nlb_group *have = nlb_state_group_for(work->in->have, want);
    unsigned stage = work->stage;

    for (size_t i = 0; i < work->plan->len; i++) {
        const struct nlb_step *step = &work->plan->steps[i];

        if ((step->type == NLB_STEP_ADD || step->type == NLB_STEP_CREATE_GROUP) &&
            is_about(step, have == NULL ? NULL : have->lbc.id, want->lbc.name) &&
            step->stage >= stage) {
            stage = step->stage + 1;
        }
    }
    return stage;
}

static struct nlb_step *group_new_step(const struct target *to, enum nlb_step_type type)
{
    struct nlb_step *step = nlb_plan_new_step(to->work->plan, type, to->stage);

    if (step == NULL || nlb_group_copy_identity(&step->group, to->who) < 0 ||
        (to->have != NULL && lbc_text_set(&step->id, to->have->lbc.id) < 0)) {
        return NULL;
    }
    step->port = to->who->lbc.port;
    step->protocol = to->who->lbc.protocol;
    step->last = to->last;
    return step;
}

/* As many steps as the set needs, each with a stage of its own. */
static int add_batches(struct target *to, enum nlb_step_type type, const struct lbc_backends *set)
{
    const size_t batch = to->work->in->batch == 0 ? NLB_BATCH_MAX : to->work->in->batch;
    struct nlb_step *step = NULL;

    for (size_t i = 0; i < set->len; i++) {
        if (i % batch == 0) {
            step = group_new_step(to, type);
            to->stage++;
        }
        if (step == NULL || lbc_backends_put(&step->group.lbc.backends, &set->items[i]) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* --- servers --- */

struct diff {
    struct lbc_backends add;
    struct lbc_backends remove;
    struct lbc_backends update;
};

static void diff_fini(struct diff *diff)
{
    lbc_backends_fini(&diff->add);
    lbc_backends_fini(&diff->remove);
    lbc_backends_fini(&diff->update);
}

/* Several ports may have chosen the same group; the first that wants a server speaks for it. */
static const struct nlb_group *group_first_wanting(const struct nlb_work *work,
                                                   const struct nlb_group *want,
                                                   const struct lbc_backend *one)
{
    const struct nlb_state *all = &work->in->model->want;

    if (want->lbc.id == NULL) {
        return lbc_backends_find(&want->lbc.backends, one) == NULL ? NULL : want;
    }
    for (size_t i = 0; i < all->lbc.group_count; i++) {
        const struct nlb_group *group = nlb_group_at(all, i);

        if (ccm_text_equal(group->lbc.id, want->lbc.id) && !group->lbc.broken &&
            lbc_backends_find(&group->lbc.backends, one) != NULL) {
            return group;
        }
    }
    return NULL;
}

/* Somebody else's server stays as it is, even if we want it as well. */
static int diff_twin(const struct target *to, const struct lbc_backend *one,
                     const struct lbc_backend *twin, struct diff *ret)
{
    const char *description = description_of(to->have, twin);
    const bool keeps = to->work->in->model->lbc.keep_weights && !one->leaving;
    struct lbc_backend next = *one;

    if (one->kept) {
        return 0;
    }

    next.weight = one->leaving ? 0 : keeps ? twin->weight : one->weight;
    if (!plan_owns_group(to->work, description) ||
        (ccm_text_equal(description, to->who->lbc.name) && twin->weight == next.weight)) {
        return 0;
    }
    next.leaving = false;
    return lbc_backends_put(&ret->update, &next);
}

/* The largest weight of what is there already and ours; that of `one` when there is none. */
static uint8_t peer_weight(const struct target *to, const struct lbc_backend *one)
{
    int weight = -1;

    for (size_t i = 0; i < to->have->lbc.backends.len; i++) {
        const struct lbc_backend *peer = &to->have->lbc.backends.items[i];

        if (!peer->leaving && peer->weight > weight &&
            plan_owns_group(to->work, description_of(to->have, peer))) {
            weight = peer->weight;
        }
    }
    return weight < 0 ? one->weight : (uint8_t)weight;
}

static int add_server(const struct target *to, const struct lbc_backend *one,
                      struct lbc_backends *add)
{
    struct lbc_backend next = *one;

    if (to->work->in->model->lbc.peer_weights) {
        next.weight = peer_weight(to, one);
    }
    return lbc_backends_put(add, &next);
}

static int diff_wanted(const struct target *to, const struct lbc_backend *one, struct diff *ret)
{
    const struct lbc_backend *twin = lbc_backends_find(&to->have->lbc.backends, one);

    if (group_first_wanting(to->work, to->who, one) != to->who) {
        return 0;
    }
    if (twin == NULL) {
        return one->leaving ? 0 : add_server(to, one, &ret->add);
    }
    if (twin->leaving) {
        return one->leaving ? 0 : lbc_texts_put(&to->work->plan->waiting, to->have->lbc.id);
    }
    return diff_twin(to, one, twin, ret);
}

static int diff_backends(const struct target *to, struct diff *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < to->who->lbc.backends.len; i++) {
        r = diff_wanted(to, &to->who->lbc.backends.items[i], ret);
    }
    for (size_t i = 0; r == 0 && i < to->have->lbc.backends.len; i++) {
        const struct lbc_backend *one = &to->have->lbc.backends.items[i];

        if (!one->leaving && plan_owns_group(to->work, description_of(to->have, one)) &&
            group_first_wanting(to->work, to->who, one) == NULL) {
            r = lbc_backends_put(&ret->remove, one);
        }
    }
    return r;
}

/* A chosen group is removed from by the first port that has chosen it: once is enough. */
static bool speaks_for_group(const struct target *to)
{
    const struct nlb_state *all = &to->work->in->model->want;
    size_t i = 0;

    while (to->who->lbc.id != NULL &&
           !ccm_text_equal(nlb_group_at(all, i)->lbc.id, to->who->lbc.id)) {
        i++;
    }
    return to->who->lbc.id == NULL || nlb_group_at(all, i) == to->who;
}

/* Whether another port that has chosen the same group forbids it. */
static bool is_forbidden(const struct target *to, bool removal)
{
    const struct nlb_state *all = &to->work->in->model->want;

    for (size_t i = 0; i < all->lbc.group_count; i++) {
        const struct nlb_group *group = nlb_group_at(all, i);

        if (group == to->who ||
            (to->who->lbc.id != NULL && ccm_text_equal(group->lbc.id, to->who->lbc.id))) {
            if (group->lbc.add_only || (removal && (group->lbc.frozen_by || group->lbc.broken))) {
                return true;
            }
        }
    }
    return false;
}

/* How many servers are wanted in a present group, by all ports together. */
static size_t count_wanted(const struct target *to)
{
    const struct nlb_state *all = &to->work->in->model->want;
    size_t count = 0;

    for (size_t i = 0; i < all->lbc.group_count; i++) {
        const struct nlb_group *group = nlb_group_at(all, i);

        if (group != to->who &&
            (to->who->lbc.id == NULL || !ccm_text_equal(group->lbc.id, to->who->lbc.id))) {
            continue;
        }
        for (size_t b = 0; b < group->lbc.backends.len; b++) {
            count += group->lbc.backends.items[b].leaving ? 0 : 1;
        }
    }
    return count;
}

int nlb_plan_leaving(const struct nlb_plan_input *in, struct nlb_group *want,
                     struct lbc_freeze_group *ret)
{
    CCM_CLEANUP(diff_fini) struct diff diff = { 0 };
    struct nlb_plan none = { 0 };
    int failed = 0;
    struct nlb_work work = { .plan = &none, .in = in, .failed = &failed };
    const struct target to = { .work = &work,
                               .who = want,
                               .have = nlb_state_group_for(in->have, want) };
    int r = 0;

    if (to.have == NULL || to.have->lbc.unread || want->lbc.broken || !speaks_for_group(&to) ||
        is_forbidden(&to, true)) {
        return 0;
    }
    r = diff_backends(&to, &diff);
    nlb_plan_fini(&none);
    if (r < 0 || failed < 0) {
        return -ENOMEM;
    }
    *ret = (struct lbc_freeze_group){
        .id = to.have->lbc.id,
        .want = &want->lbc.backends,
        .have = &to.have->lbc.backends,
        .leaving = diff.remove,
        .staying = count_wanted(&to),
    };
    memset(&diff.remove, 0, sizeof(diff.remove)); /* moved */
    for (size_t i = 0; i < to.have->lbc.backends.len; i++) {
        const struct lbc_backend *one = &to.have->lbc.backends.items[i];

        ret->size += !one->leaving && plan_owns_group(&work, description_of(to.have, one)) ? 1 : 0;
    }
    return failed;
}

static int plan_servers(struct target *to)
{
    CCM_CLEANUP(diff_fini) struct diff diff = { 0 };
    int r = diff_backends(to, &diff);

    if (r == 0) {
        r = add_batches(to, NLB_STEP_ADD, &diff.add);
    }
    if (r == 0 && speaks_for_group(to) && !is_forbidden(to, true)) {
        r = add_batches(to, NLB_STEP_REMOVE, &diff.remove);
    }
    if (r == 0 && !is_forbidden(to, false)) {
        r = add_batches(to, NLB_STEP_UPDATE, &diff.update);
    }
    return r;
}

/* --- groups --- */

static int plan_create_group(struct target *to)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends first = { 0 };
    struct nlb_step *step = group_new_step(to, NLB_STEP_CREATE_GROUP);
    int r = step == NULL ? -ENOMEM : lbc_attrs_copy(&step->group.lbc.attrs, &to->who->lbc.attrs);

    to->stage++;
    for (size_t i = 0; r == 0 && i < to->who->lbc.backends.len; i++) {
        if (!to->who->lbc.backends.items[i].leaving) {
            r = lbc_backends_put(&first, &to->who->lbc.backends.items[i]);
        }
    }
    return r < 0 ? r : add_batches(to, NLB_STEP_ADD, &first);
}

static int plan_update_group(struct target *to)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 4096 };
    CCM_CLEANUP(lbc_attrs_fini) struct lbc_attrs next = { 0 };
    const struct lbc_compare compare = nlb_compare_groups(to->who, to->have);
    int r = lbc_compare_overlay(&compare, to->work->in->fresh, &next, &change);
    struct nlb_step *step = NULL;

    if (r < 0 || change.len == 0) {
        return r;
    }
    step = group_new_step(to, NLB_STEP_UPDATE_GROUP);
    if (step == NULL) {
        return -ENOMEM;
    }
    lbc_attrs_fini(&step->group.lbc.attrs);
    step->group.lbc.attrs = next;
    memset(&next, 0, sizeof(next)); /* moved */
    return nlb_plan_set_change(step, &change);
}

/* All that would send to it is refused: nobody has to make it. */
static bool is_useless(const struct nlb_work *work, const struct nlb_group *group)
{
    const struct nlb_state *want = &work->in->model->want;
    bool useless = false;

    for (size_t i = 0; work->in->model->lbc.reused && i < want->lbc.listener_count; i++) {
        const struct nlb_listener *listener = nlb_listener_at(want, i);

        if (!ccm_text_equal(listener->lbc.group_name, group->lbc.name) ||
            !ccm_text_equal(listener->lbc.group_id, group->lbc.id)) {
            continue;
        }
        if (!nlb_plan_is_refused(work, listener)) {
            return false;
        }
        useless = true;
    }
    return useless;
}

static int plan_group(struct nlb_work *work, const struct nlb_group *want)
{
    struct target to = { .work = work,
                         .who = want,
                         .have = nlb_state_group_for(work->in->have, want),
                         .stage = work->stage };
    int r = 0;

    const bool kept = work->in->model->lbc.keep_backends;

    if (to.have == NULL) { /* a chosen one is for its owner to make */
        return want->lbc.id == NULL && !kept && !want->lbc.present_only && !is_useless(work, want)
                   ? plan_create_group(&to)
                   : 0;
    }
    if (to.have->lbc.unread) {
        return lbc_texts_put(&work->plan->waiting, to.have->lbc.id);
    }
    if (want->lbc.id == NULL) {
        r = plan_update_group(&to);
    }
    to.stage = free_stage(work, to.have->lbc.id, want->lbc.name, work->stage + 1);
    return r < 0 || kept ? r : plan_servers(&to);
}

int nlb_plan_groups(struct nlb_work *work)
{
    const struct nlb_state *want = &work->in->model->want;
    int r = 0;

    for (size_t i = 0; r == 0 && i < want->lbc.group_count; i++) {
        if (!nlb_group_at(want, i)->lbc.broken) {
            r = plan_group(work, nlb_group_at(want, i));
        }
    }
    return r;
}

/* --- groups that go --- */

/* A group of ours goes; one that somebody made, put servers into or uses only loses ours. */
static int plan_drop_group(struct nlb_work *work, const struct nlb_group *have, bool used)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends ours = { 0 };
    struct target to = {
        .work = work, .who = have, .have = have, .stage = work->stage, .last = true
    };
    bool foreign = false;
    int r = 0;

    if (have->lbc.unread) {
        return lbc_texts_put(&work->plan->waiting, have->lbc.id);
    }
    for (size_t i = 0; r == 0 && i < have->lbc.backends.len; i++) {
        const struct lbc_backend *one = &have->lbc.backends.items[i];

        if (!plan_owns_group(work, description_of(have, one))) {
            foreign = true;
        } else if (!one->leaving) {
            r = lbc_backends_put(&ours, one);
        }
    }
    if (r < 0) {
        return r;
    }
    if (!foreign && !used && plan_owns_group(work, have->lbc.name)) {
        return group_new_step(&to, NLB_STEP_DELETE_GROUP) == NULL ? -ENOMEM : 0;
    }
    return add_batches(&to, NLB_STEP_REMOVE, &ours);
}

int nlb_plan_drop_groups(struct nlb_work *work)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->in->have->lbc.group_count; i++) {
        r = plan_drop_group(work, nlb_group_at(work->in->have, i), false);
    }
    return r;
}

static bool is_wanted(const struct nlb_work *work, const struct nlb_group *have)
{
    for (size_t i = 0; i < work->in->model->want.lbc.group_count; i++) {
        if (nlb_state_group_for(work->in->have, nlb_group_at(&work->in->model->want, i)) == have) {
            return true;
        }
    }
    return false;
}

/* Whether the plan takes the listener away from the group. */
static bool leaves_group(const struct nlb_work *work, const struct nlb_listener *listener)
{
    for (size_t i = 0; i < work->plan->len; i++) {
        const struct nlb_step *step = &work->plan->steps[i];

        if (step->type == NLB_STEP_DELETE_LISTENER && ccm_text_equal(step->id, listener->lbc.id)) {
            return true;
        }
        if (step->type == NLB_STEP_UPDATE_LISTENER && ccm_text_equal(step->id, listener->lbc.id) &&
            !ccm_text_equal(step->listener.lbc.group_id, listener->lbc.group_id)) {
            return true;
        }
    }
    return false;
}

/* A listener that goes on sending to the group; NULL: there is none. */
static const struct nlb_listener *user_of(const struct nlb_work *work, const struct nlb_group *have)
{
    for (size_t i = 0; i < work->in->have->lbc.listener_count; i++) {
        const struct nlb_listener *listener = nlb_listener_at(work->in->have, i);

        if (ccm_text_equal(listener->lbc.group_id, have->lbc.id) && !leaves_group(work, listener)) {
            return listener;
        }
    }
    return NULL;
}

/* A listener of ours that stays, because nothing could take its place, keeps what it sends to. */
static bool listener_keeps_group(const struct nlb_work *work, const struct nlb_listener *user)
{
    return user != NULL && nlb_plan_owner(work, user->lbc.description, true) == LBC_OWNER_OURS;
}

/* It is kept as it is, and not ours any more. */
static int plan_release_group(struct nlb_work *work, const struct nlb_group *have)
{
    struct target to = {
        .work = work, .who = have, .have = have, .stage = work->stage, .last = true
    };
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags remove = { 0 };
    char owner[LBC_OWNER_LB_NAME];
    struct nlb_step *step = NULL;

    lbc_owner_lb_name(&work->in->service->meta, owner);
    if (nlb_plan_copy_tag(&have->tags, NLB_TAG_OWNER, owner, &remove) < 0 ||
        nlb_plan_copy_tag(&have->tags, NLB_TAG_CLUSTER, work->in->cluster_id, &remove) < 0) {
        return -ENOMEM;
    }
    if (remove.len == 0) {
        return 0;
    }
    step = group_new_step(&to, NLB_STEP_UNTAG_GROUP);
    return step == NULL ? -ENOMEM : lbc_tags_copy(&step->tags, &remove);
}

int nlb_plan_stale_groups(struct nlb_work *work)
{
    const struct nlb_model *model = work->in->model;
    int r = 0;

    if (model->lbc.incomplete) {
        return 0;
    }
    for (size_t i = 0; r == 0 && i < work->in->have->lbc.group_count; i++) {
        const struct nlb_group *have = nlb_group_at(work->in->have, i);
        const struct nlb_listener *user = user_of(work, have);

        if (is_wanted(work, have) || listener_keeps_group(work, user)) {
            continue;
        }
        r = model->lbc.preserve && !model->lbc.reused ? plan_release_group(work, have)
                                                      : plan_drop_group(work, have, user != NULL);
    }
    return r;
}

int nlb_plan_untag_groups(struct nlb_work *work)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->in->have->lbc.group_count; i++) {
        r = plan_release_group(work, nlb_group_at(work->in->have, i));
    }
    return r;
}
