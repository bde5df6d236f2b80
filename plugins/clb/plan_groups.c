#include "plan_parts.h"

#include "clb.h"
#include "lbc/model/owner.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* Where the steps of one group go. */
struct target {
    struct clb_plan *plan;
    const struct lbc_group *have; /* NULL: it is being made */
    const char *name;
    const char *description; /* of the backends; NULL = name */
    uint16_t port;
    enum lbc_protocol protocol;
    bool last;
};

struct lbc_group *clb_plan_have_group(const struct clb_plan_input *in, const char *name)
{
    const struct lbc_group *want = lbc_state_group_by_name(&in->model->want.lbc, name);

    return want != NULL && want->id != NULL ? lbc_state_group_by_id(&in->have->lbc, want->id)
                                            : lbc_state_group_by_name(&in->have->lbc, name);
}

static bool plan_owns_group(const struct clb_plan_input *in, const char *name)
{
    return name != NULL &&
           lbc_owner_parse(name, false, &in->service->meta, in->cluster_id) == LBC_OWNER_OURS;
}

static const char *description_of(const struct lbc_group *group, const struct lbc_backend *one)
{
    return one->description == NULL ? group->name : one->description;
}

static struct clb_step *new_step(const struct target *to, enum clb_step_type type)
{
    struct clb_step *step = clb_plan_new_step(to->plan, type, to->port, to->protocol);

    if (step == NULL || lbc_text_set(&step->group_name, to->name) < 0 ||
        lbc_text_set(&step->description, to->description) < 0 ||
        (to->have != NULL && lbc_text_set(&step->group_id, to->have->id) < 0)) {
        return NULL;
    }
    step->last = to->last;
    return step;
}

/* As many steps as the set needs, `batch` backends each. The first `skip` are left out. */
static int add_batches(const struct target *to, enum clb_step_type type,
                       const struct lbc_backends *set, size_t skip, size_t batch)
{
    struct clb_step *step = NULL;

    for (size_t i = skip; i < set->len; i++) {
        if ((i - skip) % batch == 0) {
            step = new_step(to, type);
        }
        if (step == NULL || lbc_backends_put(&step->backends, &set->items[i]) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

static int create_group(const struct target *to, const struct lbc_group *want, size_t batch)
{
    struct clb_step *step = new_step(to, CLB_STEP_CREATE_GROUP);
    const size_t first = batch < CLB_BATCH_SMALL ? batch : CLB_BATCH_SMALL;

    for (size_t i = 0; step != NULL && i < want->backends.len && i < first; i++) {
        if (lbc_backends_put(&step->backends, &want->backends.items[i]) < 0) {
            return -ENOMEM;
        }
    }
    return step == NULL ? -ENOMEM : add_batches(to, CLB_STEP_ADD, &want->backends, first, batch);
}

struct diff {
    struct lbc_backends add;
    struct lbc_backends remove;
    struct lbc_backends weigh;
};

static void diff_fini(struct diff *diff)
{
    lbc_backends_fini(&diff->add);
    lbc_backends_fini(&diff->remove);
    lbc_backends_fini(&diff->weigh);
}

/* What we want and is there already: whether it has to be described or weighed anew. */
static bool backend_is_stale(const struct clb_plan_input *in, const struct lbc_group *want,
                             const struct lbc_group *have, const struct lbc_backend *one,
                             const struct lbc_backend *twin)
{
    const char *description = description_of(have, twin);

    if (one->kept || !plan_owns_group(in, description)) {
        return false;
    }
    return !ccm_text_equal(description, lbc_group_key(want)) ||
           (!in->model->lbc.keep_weights && twin->weight != one->weight);
}

/* Several ports may have chosen the same group. */
static bool backend_is_desired(const struct clb_plan_input *in, const struct lbc_group *have,
                               const struct lbc_backend *one)
{
    for (size_t i = 0; i < in->model->want.lbc.group_count; i++) {
        const struct lbc_group *want = in->model->want.lbc.groups[i];

        if (clb_plan_have_group(in, want->name) == have &&
            lbc_backends_find(&want->backends, one) != NULL) {
            return true;
        }
    }
    return false;
}

/* The largest weight of what is there already and ours; that of `one` when there is none. */
static uint8_t peer_weight(const struct clb_plan_input *in, const struct lbc_group *have,
                           const struct lbc_backend *one)
{
    int weight = -1;

    for (size_t i = 0; i < have->backends.len; i++) {
        const struct lbc_backend *peer = &have->backends.items[i];

        if (peer->weight > weight && plan_owns_group(in, description_of(have, peer))) {
            weight = peer->weight;
        }
    }
    return weight < 0 ? one->weight : (uint8_t)weight;
}

static int add_backend(const struct clb_plan_input *in, const struct lbc_group *have,
                       const struct lbc_backend *one, struct lbc_backends *add)
{
    struct lbc_backend next = *one;

    if (in->model->lbc.peer_weights) {
        next.weight = peer_weight(in, have, one);
    }
    return lbc_backends_put(add, &next);
}

static int diff_backends(const struct clb_plan_input *in, const struct lbc_group *want,
                         const struct lbc_group *have, struct diff *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < want->backends.len; i++) {
        const struct lbc_backend *one = &want->backends.items[i];
        const struct lbc_backend *twin = lbc_backends_find(&have->backends, one);

        if (twin == NULL) {
            r = add_backend(in, have, one, &ret->add);
        } else if (backend_is_stale(in, want, have, one, twin)) {
            r = lbc_backends_put(&ret->weigh, one);
        }
    }
    for (size_t i = 0; r == 0 && i < have->backends.len; i++) {
        const struct lbc_backend *one = &have->backends.items[i];

        if (lbc_backends_find(&want->backends, one) == NULL &&
            plan_owns_group(in, description_of(have, one)) && !backend_is_desired(in, have, one)) {
            r = lbc_backends_put(&ret->remove, one);
        }
    }
    return r;
}

/* Several ports may have chosen one group: the first of them speaks for it. */
static bool speaks_for_group(const struct clb_plan_input *in, const struct lbc_group *want,
                             const struct lbc_group *have)
{
    size_t i = 0;

    while (clb_plan_have_group(in, in->model->want.lbc.groups[i]->name) != have) {
        i++;
    }
    return in->model->want.lbc.groups[i] == want;
}

/* How many are wanted in a present group, by all ports together. */
static size_t count_wanted(const struct clb_plan_input *in, const struct lbc_group *have)
{
    size_t count = 0;

    for (size_t i = 0; i < in->model->want.lbc.group_count; i++) {
        const struct lbc_group *want = in->model->want.lbc.groups[i];

        count += clb_plan_have_group(in, want->name) == have ? want->backends.len : 0;
    }
    return count;
}

int clb_plan_leaving(const struct clb_plan_input *in, struct lbc_group *want,
                     struct lbc_freeze_group *ret)
{
    CCM_CLEANUP(diff_fini) struct diff diff = { 0 };
    const struct lbc_group *have = clb_plan_have_group(in, want->name);

    if (have == NULL || have->unread || want->broken || want->add_only || want->frozen_by ||
        !speaks_for_group(in, want, have)) {
        return 0;
    }
    if (diff_backends(in, want, have, &diff) < 0) {
        return -ENOMEM;
    }
    *ret = (struct lbc_freeze_group){
        .id = have->id,
        .want = &want->backends,
        .have = &have->backends,
        .leaving = diff.remove,
        .staying = count_wanted(in, have),
    };
    memset(&diff.remove, 0, sizeof(diff.remove)); /* moved */
    for (size_t i = 0; i < have->backends.len; i++) {
        ret->size += plan_owns_group(in, description_of(have, &have->backends.items[i])) ? 1 : 0;
    }
    return 0;
}

int clb_plan_group(struct clb_plan *plan, const struct clb_plan_input *in,
                   const struct lbc_group *want)
{
    CCM_CLEANUP(diff_fini) struct diff diff = { 0 };
    const struct lbc_group *have = clb_plan_have_group(in, want->name);
    const struct target to = {
        .plan = plan,
        .have = have,
        .name = have == NULL ? want->name : have->name,
        .description = lbc_group_key(want),
        .port = want->port,
        .protocol = want->protocol,
    };
    int r;

    if (in->model->lbc.keep_backends) {
        return 0;
    }
    if (to.have == NULL && want->present_only) {
        return 0;
    }
    if (to.have == NULL) {
        return create_group(&to, want, in->batch);
    }
    r = diff_backends(in, want, have, &diff);
    if (r == 0) {
        r = add_batches(&to, CLB_STEP_ADD, &diff.add, 0, in->batch);
    }
    if (r == 0 && !want->add_only && !want->frozen_by) {
        r = add_batches(&to, CLB_STEP_REMOVE, &diff.remove, 0, in->batch);
    }
    if (r == 0 && !want->add_only) {
        r = add_batches(&to, CLB_STEP_WEIGH, &diff.weigh, 0, in->batch);
    }
    return r;
}

/* A group of ours goes; one that somebody made, or put backends into, only loses ours. */
static int drop_group(struct clb_plan *plan, const struct clb_plan_input *in,
                      const struct lbc_group *have)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends ours = { 0 };
    const struct target to = {
        .plan = plan, .have = have, .name = have->name, .protocol = LBC_OTHER, .last = true
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < have->backends.len; i++) {
        if (plan_owns_group(in, description_of(have, &have->backends.items[i]))) {
            r = lbc_backends_put(&ours, &have->backends.items[i]);
        }
    }
    if (r < 0) {
        return r;
    }
    if (ours.len == have->backends.len && plan_owns_group(in, have->name)) {
        return new_step(&to, CLB_STEP_DELETE_GROUP) == NULL ? -ENOMEM : 0;
    }
    return add_batches(&to, CLB_STEP_REMOVE, &ours, 0, in->batch);
}

static bool is_in_use(const struct clb_plan_input *in, const struct lbc_group *have)
{
    for (size_t i = 0; i < in->model->want.lbc.group_count; i++) {
        if (clb_plan_have_group(in, in->model->want.lbc.groups[i]->name) == have) {
            return true;
        }
    }
    return false;
}

int clb_plan_stale_groups(struct clb_plan *plan, const struct clb_plan_input *in)
{
    int r = 0;

    if (in->model->lbc.incomplete) {
        return 0;
    }
    for (size_t i = 0; r == 0 && i < in->have->lbc.group_count; i++) {
        const struct lbc_group *have = in->have->lbc.groups[i];

        if (!have->unread && !is_in_use(in, have) && !clb_plan_keeps_listener_of(in, have)) {
            r = drop_group(plan, in, have);
        }
    }
    return r;
}
