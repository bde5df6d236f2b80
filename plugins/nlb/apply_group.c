#include "api_group.h"
#include "api_lb.h"
#include "apply_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

bool nlb_apply_group_blocked(const struct nlb_apply *apply, const struct nlb_step *step)
{
    return step->lbc.type != LBC_STEP_CREATE_GROUP && nlb_apply_group(apply, step) == NULL;
}

/* --- sending --- */

/* What its backends are described by. */
static const char *step_get_key(const struct nlb_step *step)
{
    return lbc_group_key(step->lbc.want);
}

static int group_send_create(struct nlb_apply *apply, const struct nlb_step *step,
                             struct lbc_sent *sent, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };

    if (nlb_apply_marks(apply, &tags) < 0) {
        return ccm_error_nomem(err);
    }
    return nlb_api_create_group(&apply->call, (const struct nlb_group *)step->lbc.want,
                                nlb_apply_vpc(apply), &tags, sent, err);
}

/* Of several servers one that is not there may have kept the others from being removed. */
static int send_remove(struct nlb_apply *apply, const struct nlb_group *part, const char *id,
                       struct lbc_sent *sent, struct ccm_error *err)
{
    const int r =
        nlb_api_change_servers(&apply->call, &nlb_api_remove_servers, id, part, sent, err);

    return part->lbc.backends.len == 1 ? nlb_apply_forgive(apply, r, err) : r;
}

int nlb_apply_group_send(struct nlb_apply *apply, const struct nlb_step *step,
                         struct lbc_sent *sent, struct ccm_error *err)
{
    const struct nlb_group *group = nlb_apply_group(apply, step);
    const char *id = group == NULL ? NULL : group->lbc.id;
    const struct alilb_tagging untagging = {
        .type = "servergroup", .id = id, .tags = &step->lbc.tags, .remove = true
    };
    /* Borrows. */
    const struct nlb_group part = { .lbc = { .name = (char *)(uintptr_t)step_get_key(step),
                                             .protocol = step->lbc.protocol,
                                             .attrs = step->lbc.attrs,
                                             .backends = step->lbc.backends } };
    struct alilb_call *call = &apply->call;

    switch (step->lbc.type) {
    case LBC_STEP_CREATE_GROUP:
        return group_send_create(apply, step, sent, err);
    case LBC_STEP_UPDATE_GROUP:
        return nlb_api_update_group(call, id, &part, sent, err);
    case LBC_STEP_ADD:
        return nlb_api_change_servers(call, &nlb_api_add_servers, id, &part, sent, err);
    case LBC_STEP_UPDATE:
        return nlb_api_change_servers(call, &nlb_api_update_servers, id, &part, sent, err);
    case LBC_STEP_REMOVE:
        return send_remove(apply, &part, id, sent, err);
    case NLB_STEP_UNTAG_GROUP:
        return nlb_apply_forgive(apply, alilb_change_tags(call, ALI_NLB, &untagging, sent, err),
                                 err);
    default:
        return nlb_apply_forgive(
            apply, alilb_write(call, &nlb_api_delete_group, ALILB_TEXTS(id), sent, err), err);
    }
}

/* --- the mirror --- */

static int group_record_created(struct nlb_apply *apply, const struct nlb_step *step,
                                struct lbc_sent *sent)
{
    struct nlb_group *group = nlb_state_new_group(apply->have);

    if (group == NULL ||
        nlb_group_copy_identity(group, (const struct nlb_group *)step->lbc.want) < 0 ||
        lbc_attrs_copy(&group->lbc.attrs, &step->lbc.want->attrs) < 0 ||
        nlb_apply_marks(apply, &group->tags) < 0 ||
        lbc_text_set(&group->vpc_id, nlb_apply_vpc(apply)) < 0 ||
        (group->type == NULL && lbc_text_set(&group->type, "Instance") < 0) ||
        (group->family == NULL && lbc_text_set(&group->family, "ipv4") < 0)) {
        return -ENOMEM;
    }
    free(group->lbc.id);
    group->lbc.id = CCM_STEAL(sent->made_id);
    return 0;
}

static int group_record_servers(struct nlb_group *group, const struct nlb_step *step)
{
    const char *description = step_get_key(step);
    const bool usual = ccm_text_equal(description, group->lbc.name);
    int r = 0;

    for (size_t i = 0; r == 0 && i < step->lbc.backends.len; i++) {
        struct lbc_backend one = step->lbc.backends.items[i];

        if (step->lbc.type == LBC_STEP_REMOVE) {
            lbc_backends_remove(&group->lbc.backends, &one);
            continue;
        }
        one.description = usual ? NULL : (char *)(uintptr_t)description; /* copied by put */
        one.leaving = false;
        r = lbc_backends_put(&group->lbc.backends, &one);
    }
    return r;
}

static int group_record_attrs(struct nlb_group *group, const struct nlb_step *step)
{
    return lbc_attrs_copy(&group->lbc.attrs, &step->lbc.attrs);
}

int nlb_apply_group_done(struct nlb_apply *apply, const struct nlb_step *step,
                         struct lbc_sent *sent)
{
    struct nlb_group *group = nlb_apply_group(apply, step);

    if (step->lbc.type == LBC_STEP_CREATE_GROUP) {
        return group_record_created(apply, step, sent);
    }
    if (group == NULL) {
        return 0;
    }
    switch (step->lbc.type) {
    case LBC_STEP_UPDATE_GROUP:
        return group_record_attrs(group, step);
    case NLB_STEP_UNTAG_GROUP: /* somebody else's from now on */
    case LBC_STEP_DELETE_GROUP:
        lbc_state_drop_group(&apply->have->lbc, &group->lbc);
        return 0;
    default:
        return group_record_servers(group, step);
    }
}
