/* Carries out the creation of a load balancer. */
#include "alicloud/params.h"
#include "api.h"
#include "apply_parts.h"
#include "lbc/apply/token.h"
#include "lbc/model/owner.h"
#include "lbc/rules/lb_attrs.h"
#include "nlb.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* What the configuration adds to what the Service asks for. */
static int lb_complete_desired(const struct lbc_apply *apply, const struct lbc_step *step,
                               struct nlb_lb *want, struct lbc_tags *tags)
{
    char name[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(&apply->service->meta, name);
    if ((want->lbc.texts[NLB_LB_NAME] == NULL && nlb_lb_set(want, NLB_LB_NAME, name) < 0) ||
        lbc_lb_add_defaults(&nlb_annotations, want->lbc.texts) < 0) {
        return -ENOMEM;
    }
    if (want->lbc.vpc_id == NULL &&
        lbc_text_set(&want->lbc.vpc_id, ali_vpc_id(alilb_apply_call(apply)->ali)) < 0) {
        return -ENOMEM;
    }
    return lbc_tags_copy(tags, &step->tags) < 0 ? -ENOMEM : nlb_apply_marks(apply, tags);
}

/* The mirror of what has just been made; nothing can listen on it yet. */
static int lb_record_created(struct lbc_apply *apply, struct nlb_lb *made,
                             const struct lbc_tags *tags, const char *id)
{
    struct nlb_lb *lb = &nlb_apply_have(apply)->lb;

    if (lbc_text_set(&made->lbc.id, id) < 0 || lbc_text_set(&made->status, "Provisioning") < 0 ||
        lbc_tags_copy(&made->lbc.tags, tags) < 0) {
        return -ENOMEM;
    }
    lbc_texts_fini(&made->security_groups);
    nlb_lb_fini(lb);
    *lb = *made;
    memset(made, 0, sizeof(*made));
    nlb_apply_have(apply)->lbc.listeners_known = true;
    return 0;
}

static int fail_used_token(struct lbc_apply *apply, const struct ccm_error *why,
                           struct ccm_error *err)
{
    struct nlb_lb *lb = &nlb_apply_have(apply)->lb;
    CCM_CLEANUP(ccm_freep) char *id = CCM_STEAL(lb->lbc.id);

    nlb_lb_fini(lb);
    memset(lb, 0, sizeof(*lb));
    return alilb_apply_fail_used_token(id, why, err);
}

/* How it came out. Another look that fails tells nothing: the next pass looks again. */
static int check_made(struct lbc_apply *apply, struct ccm_error *err)
{
    struct nlb_lb *lb = &nlb_apply_have(apply)->lb;
    struct ccm_error why = CCM_ERROR_INIT;
    const int r = alilb_read_lb(alilb_apply_call(apply), &nlb_source, lb->lbc.id, &lb->lbc, &why);

    if (r < 0 && lbc_refusal_is(apply->ops, LBC_REFUSAL_LB_GONE, &why)) {
        return fail_used_token(apply, &why, err);
    }
    if (r == 0 && !ccm_text_equal_case(lb->status, "Provisioning") &&
        alilb_apply_check_made(apply, &lb->lbc.tags, &why) < 0) {
        return fail_used_token(apply, &why, err);
    }
    if (r < 0 || ccm_text_equal_case(lb->status, "Provisioning")) {
        apply->again_ms = NLB_MAKING_MS;
        return 0;
    }
    return nlb_read_check_status(lb, err);
}

int nlb_apply_create_lb(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb want = { 0 };
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    char token[LBC_TOKEN_SIZE];
    int r;

    if (nlb_lb_copy(&want, &nlb_step_of(step)->lb) < 0 ||
        lb_complete_desired(apply, step, &want, &tags) < 0) {
        return ccm_error_nomem(err);
    }
    lbc_token_write(&(const struct lbc_token)LBC_TOKEN_INIT, apply->service, *apply->attempt,
                    token);

    const struct alilb_args args = {
        .texts = { want.lbc.vpc_id, alilb_protect_why(want.lbc.texts[NLB_LB_MODIFICATION]), token },
        .tags = &tags,
        .params = &params,
    };

    alilb_param_lb(&params, &nlb_annotations, want.lbc.texts);
    nlb_api_add_zones(&params, &want, true);
    r = alilb_apply_write(apply, step, &nlb_api_create_lb, &args, err);
    if (r < 0) {
        return alilb_apply_fail_creation(apply, r, err);
    }
    if (lb_record_created(apply, &want, &tags, step->sent.made_id) < 0) {
        alilb_apply_call(apply)->uncertain = true; /* found by its tag next time */
        return ccm_error_nomem(err);
    }
    return check_made(apply, err);
}
