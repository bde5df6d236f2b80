#include "apply_ranges.h"

#include "api_ranges.h"
#include "apply_parts.h"

#include <string.h>

static int acl_create_list(struct clb_apply *apply, const struct clb_step *step,
                           struct ccm_error *err)
{
    struct clb_acl *acl = &clb_actual(apply->entry)->acl;

    acl->known = true;
    acl->ipv6 = step->ipv6;
    return clb_api_create_acl(&apply->call, step->domain.name, step->ipv6, &acl->id, err);
}

static int acl_change_entries(struct clb_apply *apply, const struct clb_step *step,
                              struct ccm_error *err)
{
    const bool remove = step->type == CLB_STEP_REMOVE_ENTRIES;
    struct clb_acl *acl = &clb_actual(apply->entry)->acl;
    int r = clb_api_change_acl(&apply->call, acl->id, &step->entries, remove, err);

    r = remove ? clb_apply_forgive(r, err) : r; /* none of them was there */
    if (r < 0) {
        acl->known = false; /* some of them may have gone through */
        return r;
    }
    for (size_t i = 0; r == 0 && i < step->entries.len; i++) {
        if (remove) {
            lbc_texts_remove(&acl->entries, step->entries.items[i]);
        } else {
            r = lbc_texts_put(&acl->entries, step->entries.items[i]);
        }
    }
    return clb_apply_check_mirror(apply, r);
}

static int acl_delete_list(struct clb_apply *apply, struct ccm_error *err)
{
    struct clb_acl *acl = &clb_actual(apply->entry)->acl;
    const int r = clb_apply_forgive(
        alilb_write(&apply->call, &clb_api_delete_acl, ALILB_TEXTS(acl->id), NULL, err), err);

    /* No page says whether a listener that is open lets go of its list, and no call makes it: then
     * the list stays until the listener goes, and does no harm. */
    if (r < 0 && strcmp(err->code, "OperationFailed.AclBindedWithVip") == 0) {
        acl->bound = true;
        ccm_error_clear(err);
        return 0;
    }
    if (r == 0) {
        clb_acl_fini(acl);
        acl->known = true;
    }
    return r;
}

int clb_apply_acl(struct clb_apply *apply, const struct clb_step *step, struct ccm_error *err)
{
    switch (step->type) {
    case CLB_STEP_CREATE_ACL:
        return acl_create_list(apply, step, err);
    case CLB_STEP_DELETE_ACL:
        return acl_delete_list(apply, err);
    default:
        return acl_change_entries(apply, step, err);
    }
}
