#include "apply_group.h"

#include "api_group.h"
#include "apply_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

static int group_put_all(struct lbc_group *to, const struct lbc_backends *from,
                         const char *description)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->len; i++) {
        struct lbc_backend one = from->items[i];

        one.description = ccm_text_equal(description, to->name)
                              ? NULL
                              : (char *)(uintptr_t)description; /* copied by put */
        r = lbc_backends_put(&to->backends, &one);
    }
    return r;
}

static int group_create_with(struct clb_apply *apply, const struct clb_step *step,
                             const struct lbc_backends *backends, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *id = NULL;
    struct lbc_group *group = NULL;
    const int r = clb_api_create_group(&apply->call, clb_actual(apply->entry)->lb.id,
                                       step->group_name, backends, &id, err);

    if (r < 0) {
        return r;
    }
    group = clb_state_new_group(clb_actual(apply->entry));
    if (group == NULL) {
        return clb_apply_check_mirror(apply, -ENOMEM);
    }
    group->id = CCM_STEAL(id);
    if (lbc_text_set(&group->name, step->group_name) < 0) {
        return clb_apply_check_mirror(apply, -ENOMEM);
    }
    lbc_capacity_use(&apply->capacity, backends->len);
    return clb_apply_check_mirror(apply, group_put_all(group, backends, group->name));
}

int clb_apply_empty_group(struct clb_apply *apply, const struct clb_step *step,
                          struct ccm_error *err)
{
    const struct lbc_backends none = { 0 };

    return group_create_with(apply, step, &none, err);
}

int clb_apply_backends(struct clb_apply *apply, const struct clb_step *step,
                       const struct lbc_backends *set, struct ccm_error *err)
{
    struct lbc_group *group = clb_apply_group(apply, step);
    const char *description = step->description != NULL ? step->description : group->name;
    const struct alilb_action *action = step->type == CLB_STEP_ADD      ? &clb_api_add
                                        : step->type == CLB_STEP_REMOVE ? &clb_api_remove
                                                                        : &clb_api_weigh;
    const int r = clb_api_change_group(&apply->call, action, group->id, description, set, err);

    if (r < 0) {
        return r;
    }
    if (step->type != CLB_STEP_REMOVE) {
        return clb_apply_check_mirror(apply, group_put_all(group, set, description));
    }
    for (size_t i = 0; i < set->len; i++) {
        lbc_backends_remove(&group->backends, &set->items[i]);
    }
    return 0;
}

/* The next backends of a step from item *next on, at most `batch`; an add leaves out what an
 * earlier try has added. */
static int group_next_part(struct clb_apply *apply, const struct clb_step *step, size_t *next,
                           size_t batch, struct lbc_backends *ret)
{
    const struct lbc_group *group = clb_apply_group(apply, step);

    while (*next < step->backends.len && ret->len < batch) {
        const struct lbc_backend *one = &step->backends.items[(*next)++];

        if (step->type == CLB_STEP_ADD && lbc_backends_find(&group->backends, one) != NULL) {
            continue;
        }
        if (lbc_backends_put(ret, one) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

bool clb_apply_shrink_batch(struct clb_apply *apply, size_t count, const struct ccm_error *err)
{
    if (strcmp(err->code, "TooManyBackendServers") != 0 || count <= CLB_BATCH_SMALL) {
        return false;
    }
    atomic_store(&apply->clb->batch, CLB_BATCH_SMALL);
    return true;
}

static void group_count_change(struct clb_apply *apply, enum clb_step_type type, size_t count)
{
    if (type == CLB_STEP_ADD) {
        lbc_capacity_use(&apply->capacity, count);
    } else if (type == CLB_STEP_REMOVE) {
        lbc_capacity_free(&apply->capacity, count);
    }
}

/* In portions of the batch size, which may have become smaller since the plan was made. */
static int group_change_in_batches(struct clb_apply *apply, const struct clb_step *step,
                                   struct ccm_error *err)
{
    size_t next = 0;
    int r = 0;

    while (r == 0 && next < step->backends.len) {
        CCM_CLEANUP(lbc_backends_fini) struct lbc_backends part = { 0 };
        const size_t start = next;

        if (group_next_part(apply, step, &next, atomic_load(&apply->clb->batch), &part) < 0) {
            return ccm_error_nomem(err);
        }
        r = part.len == 0 ? 0 : clb_apply_backends(apply, step, &part, err);
        if (r == 0) {
            group_count_change(apply, step->type, part.len);
        } else if (clb_apply_shrink_batch(apply, part.len, err)) {
            next = start;
            r = 0;
        }
    }
    return r;
}

static int group_delete(struct clb_apply *apply, const struct clb_step *step, struct ccm_error *err)
{
    const struct lbc_group *group = clb_apply_group(apply, step);
    const int r = clb_apply_forgive(
        alilb_write(&apply->call, &clb_api_delete_group, ALILB_TEXTS(step->group_id), NULL, err),
        err);

    if (r == 0) {
        lbc_capacity_free(&apply->capacity, group == NULL ? 0 : group->backends.len);
        lbc_state_drop_group(&clb_actual(apply->entry)->lbc, group);
    }
    return r;
}

int clb_apply_group_step(struct clb_apply *apply, const struct clb_step *step,
                         struct ccm_error *err)
{
    switch (step->type) {
    case CLB_STEP_CREATE_GROUP:
        return group_create_with(apply, step, &step->backends, err);
    case CLB_STEP_DELETE_GROUP:
        return group_delete(apply, step, err);
    default:
        return group_change_in_batches(apply, step, err);
    }
}
