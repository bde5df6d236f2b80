/* Carries out steps about groups and their backends. */
#include "alicloud/params.h"
#include "api.h"
#include "apply_parts.h"
#include "lbc/apply/record.h"
#include "util/cleanup.h"

#include <errno.h>
#include <string.h>

/* --- groups --- */

void clb_apply_add_backends(const struct lbc_step *step, struct ali_params *params)
{
    if (step->backends.len > 0) {
        clb_api_add_backends(params, step->want->name, &step->backends);
    }
}

/* --- backends --- */

/* One call, with some of the step's backends. */
static int group_change(struct lbc_apply *apply, const struct lbc_step *step,
                        const struct lbc_backends *set, struct ccm_error *err)
{
    const struct alilb_action *action = step->type == LBC_STEP_ADD      ? &clb_api_add
                                        : step->type == LBC_STEP_REMOVE ? &clb_api_remove
                                                                        : &clb_api_weigh;

    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    const struct alilb_args args = { .texts = { step->group->id }, .params = &params };

    clb_api_add_backends(&params, lbc_group_key(step->want), set);
    return alilb_write(alilb_apply_call(apply), action, &args, NULL, err);
}

/* The next backends of a step from item *next on, at most `batch`; an addition leaves out what is
 * there already. */
static int group_next_part(const struct lbc_step *step, size_t *next, size_t batch,
                           struct lbc_backends *ret)
{
    while (*next < step->backends.len && ret->len < batch) {
        const struct lbc_backend *one = &step->backends.items[(*next)++];

        if (step->type == LBC_STEP_ADD && lbc_backends_find(&step->group->backends, one) != NULL) {
            continue;
        }
        if (lbc_backends_put(ret, one) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* A portion went through: the mirror knows at once, whatever comes of the others. */
static int group_record_part(struct lbc_apply *apply, const struct lbc_step *step,
                             const struct lbc_backends *part)
{
    if (step->type == LBC_STEP_ADD) {
        lbc_capacity_use(&apply->capacity, part->len);
    } else if (step->type == LBC_STEP_REMOVE) {
        lbc_capacity_free(&apply->capacity, part->len);
    }
    return lbc_record_backends(step, part);
}

int clb_apply_backends(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    size_t next = 0;
    int r = 0;

    if (step->is_exchanged) {
        return group_change(apply, step, &step->backends, err);
    }
    while (r == 0 && next < step->backends.len) {
        CCM_CLEANUP(lbc_backends_fini) struct lbc_backends part = { 0 };
        const size_t start = next;

        if (group_next_part(step, &next, atomic_load(apply->batch), &part) < 0) {
            return ccm_error_nomem(err);
        }
        r = part.len == 0 ? 0 : group_change(apply, step, &part, err);
        if (r == 0) {
            r = group_record_part(apply, step, &part) < 0 ? ccm_error_nomem(err) : 0;
        } else if (lbc_apply_shrink_batch(apply, part.len, err)) {
            next = start;
            r = 0;
        }
    }
    return r;
}
