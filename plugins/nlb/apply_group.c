/* Carries out steps about groups. */
#include "api.h"
#include "apply_parts.h"
#include "util/cleanup.h"

#include <errno.h>

int nlb_apply_create_group(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    const struct nlb_group *want = (const struct nlb_group *)step->want;

    if (nlb_apply_marks(apply, &tags) < 0) {
        return ccm_error_nomem(err);
    }
    const struct alilb_args args = {
        .texts = { want->lbc.name, nlb_apply_vpc(apply), lbc_protocol_name(want->lbc.protocol),
                   want->type, want->family, want->any_port ? "true" : "false" },
        .attrs = &want->lbc.attrs,
        .protocol = want->lbc.protocol,
        .tags = &tags,
    };

    return alilb_apply_write(apply, step, &nlb_api_create_group, &args, err);
}

int nlb_apply_create_group_done(struct lbc_apply *apply, struct lbc_step *step)
{
    const struct nlb_group *want = (const struct nlb_group *)step->want;
    struct nlb_group *group = nlb_state_new_group(nlb_apply_have(apply));

    if (group == NULL || nlb_group_copy_identity(group, want) < 0 ||
        lbc_attrs_copy(&group->lbc.attrs, &want->lbc.attrs) < 0 ||
        nlb_apply_marks(apply, &group->tags) < 0 ||
        lbc_text_set(&group->vpc_id, nlb_apply_vpc(apply)) < 0 ||
        (group->type == NULL && lbc_text_set(&group->type, "Instance") < 0) ||
        (group->family == NULL && lbc_text_set(&group->family, "ipv4") < 0)) {
        return -ENOMEM;
    }
    group->lbc.id = CCM_STEAL(step->sent.made_id);
    step->group = &group->lbc;
    return 0;
}

int nlb_apply_untag_group(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    const struct alilb_tagging untagging = {
        .type = "servergroup", .id = step->group->id, .tags = &step->tags, .remove = true
    };

    return lbc_apply_forgive(
        apply, alilb_change_tags(alilb_apply_call(apply), ALI_NLB, &untagging, &step->sent, err),
        err);
}

/* Somebody else's from now on. */
int nlb_apply_untag_group_done(struct lbc_apply *apply, struct lbc_step *step)
{
    lbc_state_drop_group(apply->have, step->group);
    step->group = NULL;
    return 0;
}
