/* Plans: tags of the load balancer; see plan.h. */
#include "lbc/apply/plan.h"
#include "lbc/model/settings.h"
#include "lbc/names.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

int lbc_plan_tags_step(struct lbc_work *work, unsigned type, const struct lbc_tags *tags, bool last)
{
    struct lbc_step *step = tags->len == 0 ? NULL : lbc_work_lb_step(work, type);

    if (step == NULL) {
        return tags->len == 0 ? 0 : -ENOMEM;
    }
    step->last = last;
    return lbc_tags_copy(&step->tags, tags);
}

/* How it is found again, or that somebody's load balancer is in use. */
static int tags_add_marks(const struct lbc_work *work, struct lbc_tags *add)
{
    char owner[LBC_OWNER_LB_NAME];

    if (lbc_work_has(work, LBC_PLAN_LIMITS_TAGS) && work->lb->tags.len >= LBC_TAGS_MAX) {
        return 0;
    }
    if (work->model->reused) {
        /* Not in use by a Service whose wishes cannot be met. */
        return !lbc_work_has(work, LBC_PLAN_TAGS_REUSED) || work->problems->count > 0 ||
                       lbc_tags_get(&work->lb->tags, lbc_names.tag_reuse) != NULL
                   ? 0
                   : lbc_tags_put(add, lbc_names.tag_reuse, "true");
    }
    if (!work->lb->untagged) {
        return 0;
    }
    lbc_owner_lb_name(&work->in->service->meta, owner);
    if (lbc_tags_put(add, lbc_names.tag_owner, owner) < 0) {
        return -ENOMEM;
    }
    return lbc_tags_put(add, lbc_names.tag_cluster, work->in->cluster_id);
}

int lbc_plan_missing_tags(const struct lbc_work *work, struct lbc_tags *add)
{
    const struct lbc_tags *want = &lbc_state_lb(work->want)->tags;
    int r = 0;

    for (size_t i = 0; r == 0 && i < want->len; i++) {
        const struct lbc_tag *tag = &want->items[i];

        if (!lbc_setting_is_reserved_tag(tag->key, work->model->reused) &&
            !ccm_text_equal(lbc_tags_get(&work->lb->tags, tag->key), tag->value)) {
            r = lbc_tags_put(add, tag->key, tag->value);
        }
    }
    return r;
}

static int tags_plan_removals(struct lbc_work *work, const struct lbc_tags *want)
{
    const struct lbc_tags *applied = work->in->applied; /* NULL = not known */
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags remove = { 0 };
    int r = 0;

    for (size_t i = 0; applied != NULL && r == 0 && i < applied->len; i++) {
        const struct lbc_tag *tag = &applied->items[i];
        const char *present = lbc_tags_get(&work->lb->tags, tag->key);

        if (!lbc_setting_is_reserved_tag(tag->key, work->model->reused) && present != NULL &&
            lbc_tags_get(want, tag->key) == NULL &&
            (!work->model->reused || ccm_text_equal(present, tag->value))) {
            r = lbc_tags_put(&remove, tag->key, tag->value);
        }
    }
    return r < 0 ? r : lbc_plan_tags_step(work, LBC_STEP_UNTAG, &remove, false);
}

int lbc_plan_tags(struct lbc_work *work)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags add = { 0 };
    const struct lbc_tags *want = &lbc_state_lb(work->want)->tags;
    int r = tags_add_marks(work, &add);

    if (r == 0) {
        r = lbc_plan_missing_tags(work, &add);
    }
    if (r == 0) {
        r = lbc_plan_tags_step(work, LBC_STEP_TAG, &add, false);
    }
    return r < 0 ? r : tags_plan_removals(work, want);
}

int lbc_plan_untag_marks(struct lbc_work *work)
{
    const struct lbc_tags *have = &lbc_state_lb(work->have)->tags;
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags remove = { 0 };

    if (lbc_owner_copy_tags(have, &work->in->service->meta, work->in->cluster_id, &remove) < 0) {
        return -ENOMEM;
    }
    return lbc_plan_tags_step(work, LBC_STEP_UNTAG, &remove, true);
}
