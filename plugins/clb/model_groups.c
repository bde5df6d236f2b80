/* Which groups of backends a Service wants. */
#include "model_parts.h"

#include "lbc/model/owner.h"
#include "lbc/reuse.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

int clb_model_group(struct lbc_builder *b, struct lbc_desired_port *want, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *key = NULL;
    char target[64];
    bool fresh = false;

    lbc_candidates_target(want->mode, want->port, target, sizeof(target));
    key = lbc_owner_format(target, &b->in->service->meta, b->in->cluster_id);
    /* Two ports with the same pods may have chosen two groups, so the choice is part of the name.
     */
    want->name = key == NULL ? NULL
                             : ccm_text_format("%s%s%s", key, want->chosen[0] == '\0' ? "" : "@",
                                               want->chosen);
    if (want->name == NULL) {
        return ccm_error_nomem(err);
    }
    const int r = lbc_model_group(b, want, &fresh, err);

    if (r == 0 && fresh && want->chosen[0] != '\0') {
        want->group->key = CCM_STEAL(key);
    }
    return r;
}

/* --- after reading --- */

int clb_model_check_group(const struct lbc_model *model, const struct lbc_state *have,
                          const struct lbc_group *group, const struct lbc_group *found,
                          struct ccm_error *err)
{
    const char *lb_id = lbc_state_lb(have)->id;

    if (model->as_it_is) {
        return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                             "vgroup %s of slb %s stays as it is: " LBC_REUSE_CONFIGURE_REMEDY,
                             group->id, lb_id, lbc_names.tag_configure);
    }
    if (found == NULL) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_TERMINAL, "can not find vgroupId %s in lb %s",
                             group->id, lb_id);
    }
    if (lbc_owner_is_key(found->name)) {
        return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                             "cannot reuse a ccm created vgroup %s for slb %s", group->id, lb_id);
    }
    return 0;
}
