/* Plans: tags of the load balancer; see plan.h. */
#include "lbc/apply/plan.h"
#include "lbc/model/settings.h"
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

int lbc_plan_tag(struct lbc_work *work, const struct lbc_tags *want, const struct lbc_tags *have,
                 struct lbc_tags *add)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < want->len; i++) {
        const struct lbc_tag *tag = &want->items[i];

        if (!lbc_setting_is_reserved_tag(tag->key, work->model->reused) &&
            !ccm_text_equal(lbc_tags_get(have, tag->key), tag->value)) {
            r = lbc_tags_put(add, tag->key, tag->value);
        }
    }
    return r < 0 ? r : lbc_plan_tags_step(work, LBC_STEP_TAG, add, false);
}

int lbc_plan_untag(struct lbc_work *work, const struct lbc_tags *want, const struct lbc_tags *have,
                   const struct lbc_tags *applied)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags remove = { 0 };
    int r = 0;

    for (size_t i = 0; applied != NULL && r == 0 && i < applied->len; i++) {
        const struct lbc_tag *tag = &applied->items[i];
        const char *present = lbc_tags_get(have, tag->key);

        if (!lbc_setting_is_reserved_tag(tag->key, work->model->reused) && present != NULL &&
            lbc_tags_get(want, tag->key) == NULL &&
            (!work->model->reused || ccm_text_equal(present, tag->value))) {
            r = lbc_tags_put(&remove, tag->key, tag->value);
        }
    }
    return r < 0 ? r : lbc_plan_tags_step(work, LBC_STEP_UNTAG, &remove, false);
}

int lbc_plan_untag_marks(struct lbc_work *work, const struct lbc_tags *have)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags remove = { 0 };

    if (lbc_owner_copy_tags(have, &work->in->service->meta, work->in->cluster_id, &remove) < 0) {
        return -ENOMEM;
    }
    return lbc_plan_tags_step(work, LBC_STEP_UNTAG, &remove, true);
}
