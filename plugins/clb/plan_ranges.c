/* Steps for source ranges: access lists and their entries. */
#include "clb.h"
#include "plan_parts.h"
#include "util/cleanup.h"

#include <errno.h>

#define ENTRIES_PER_CALL 50

static bool acl_is_desired(const struct lbc_work *work)
{
    return clb_work_model(work)->want.acl.known && lbc_model_has_listeners(work->model);
}

/* Steps of one type for all of `from` that `present` lacks. */
static int plan_entries(struct lbc_work *work, unsigned type, const struct lbc_texts *from,
                        const struct lbc_texts *present)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts missing = { 0 };

    return lbc_texts_put_missing(&missing, from, present, NULL) < 0
               ? -ENOMEM
               : lbc_work_text_steps(work, type, &missing, ENTRIES_PER_CALL, NULL, NULL);
}

int clb_plan_acl(struct lbc_work *work)
{
    const struct clb_acl *want = &clb_work_model(work)->want.acl;
    const struct clb_acl *have = &clb_work_have(work)->acl;
    int r = 0;

    if (!acl_is_desired(work) || clb_work_model(work)->want.acl.kept) {
        return 0;
    }
    if (have->id == NULL) {
        r = lbc_work_value_step(work, CLB_STEP_CREATE_ACL, want->name, NULL);
    }
    /* Before anything is taken out: an empty list lets everybody in. */
    if (r == 0) {
        r = plan_entries(work, CLB_STEP_ADD_ENTRIES, &want->entries, &have->entries);
    }
    return r < 0 ? r : plan_entries(work, CLB_STEP_REMOVE_ENTRIES, &have->entries, &want->entries);
}

int clb_plan_stale_acl(struct lbc_work *work)
{
    const struct clb_acl *have = &clb_work_have(work)->acl;

    return acl_is_desired(work) || clb_work_model(work)->want.acl.kept || have->id == NULL ||
                   have->bound || !lbc_model_has_listeners(work->model)
               ? 0
               : lbc_work_last_step(work, CLB_STEP_DELETE_ACL);
}
