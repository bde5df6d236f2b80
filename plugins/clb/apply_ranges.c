/* Carries out steps about access lists. */
#include "api.h"
#include "apply_parts.h"
#include "lbc/apply/record.h"
#include "util/cleanup.h"

#include <string.h>

/* The kind is the annotation's fault elsewhere. */
int clb_apply_forgive_acl(int r, const struct ccm_error *err)
{
    return r < 0 && (err->kind == CCM_ERROR_NOT_FOUND || strcmp(err->code, "AclNotExist") == 0) ? 0
                                                                                                : r;
}

int clb_apply_create_acl(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    struct clb_acl *acl = &clb_apply_have(apply)->acl;

    const bool ipv6 = clb_apply_model(apply)->want.acl.ipv6;
    const struct alilb_args args = {
        .texts = { step->value, ipv6 ? "ipv6" : "ipv4",
                   ali_resource_group_id(alilb_apply_call(apply)->ali) },
        .owner = step->value,
    };
    const int r = alilb_apply_write(apply, step, &clb_api_create_acl, &args, err);

    acl->known = true;
    acl->ipv6 = ipv6;
    if (r == 0) {
        acl->id = CCM_STEAL(step->sent.made_id);
    }
    return r;
}

int clb_apply_acl_entries(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    const bool removes = step->type == CLB_STEP_REMOVE_ENTRIES;
    struct clb_acl *acl = &clb_apply_have(apply)->acl;
    int r = clb_api_change_acl(alilb_apply_call(apply), acl->id, &step->texts, removes, err);

    r = removes ? clb_apply_forgive_acl(r, err) : r; /* none of them was there */
    if (r < 0) {
        acl->known = false; /* some of them may have gone through */
    }
    return r;
}

int clb_apply_acl_entries_done(struct lbc_apply *apply, struct lbc_step *step)
{
    return lbc_record_texts(&clb_apply_have(apply)->acl.entries, &step->texts,
                            step->type == CLB_STEP_ADD_ENTRIES);
}

int clb_apply_delete_acl(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    struct clb_acl *acl = &clb_apply_have(apply)->acl;
    const int r = clb_apply_forgive_acl(
        alilb_apply_write(apply, step, &clb_api_delete_acl, ALILB_TEXTS(acl->id), err), err);

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
