#include "apply_parts.h"

#include "lbc/model/owner.h"
#include "nlb.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

struct nlb_group *nlb_apply_group(const struct nlb_apply *apply, const struct nlb_step *step)
{
    if (step->lbc.group != NULL) {
        return (struct nlb_group *)step->lbc.group;
    }
    return step->lbc.want == NULL
               ? NULL
               : nlb_state_group_for(apply->have, (const struct nlb_group *)step->lbc.want);
}

struct nlb_listener *nlb_apply_target(const struct nlb_apply *apply, const struct nlb_step *step)
{
    return step->lbc.listener != NULL ? (struct nlb_listener *)step->lbc.listener
                                      : nlb_state_listener_like(apply->have, &step->listener);
}

bool nlb_apply_lb_gone(const struct ccm_error *err)
{
    return ccm_text_equal_case(err->code, "ResourceNotFound.loadBalancer");
}

int nlb_apply_forgive(const struct nlb_apply *apply, int r, const struct ccm_error *err)
{
    return r < 0 && err->kind == CCM_ERROR_NOT_FOUND &&
                   (apply->model == NULL || !nlb_apply_lb_gone(err))
               ? 0
               : r;
}

int nlb_apply_marks(const struct nlb_apply *apply, struct lbc_tags *ret)
{
    char name[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(&apply->service->meta, name);
    return lbc_tags_put(ret, NLB_TAG_OWNER, name) < 0 ||
                   lbc_tags_put(ret, NLB_TAG_CLUSTER, apply->cluster_id) < 0
               ? -ENOMEM
               : 0;
}

int nlb_apply_check_token(const struct nlb_apply *apply, int r, struct ccm_error *err)
{
    if (r < 0 && (strcmp(err->code, "IdempotenceSignatureMismatch") == 0 ||
                  strcmp(err->code, "IdempotentParameterMismatch") == 0)) {
        (*apply->attempt)++;
        err->kind = CCM_ERROR_TRANSIENT;
    }
    return r;
}

const char *nlb_apply_vpc(const struct nlb_apply *apply)
{
    return apply->have->lb.vpc_id != NULL ? apply->have->lb.vpc_id : ali_vpc_id(apply->call.ali);
}
