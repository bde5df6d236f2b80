#include "apply_parts.h"

#include "lbc/model/owner.h"
#include "nlb.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

int nlb_apply_marks(const struct lbc_apply *apply, struct lbc_tags *ret)
{
    char name[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(&apply->service->meta, name);
    return lbc_tags_put(ret, LBC_TAG_OWNER, name) < 0 ||
                   lbc_tags_put(ret, LBC_TAG_CLUSTER, alilb_apply_call(apply)->cluster_id) < 0
               ? -ENOMEM
               : 0;
}

int nlb_apply_check_token(const struct lbc_apply *apply, int r, struct ccm_error *err)
{
    if (r < 0 && alilb_apply_is_token_taken(err)) {
        (*apply->attempt)++;
        err->kind = CCM_ERROR_TRANSIENT;
    }
    return r;
}

const char *nlb_apply_vpc(const struct lbc_apply *apply)
{
    return nlb_apply_have(apply)->lb.lbc.vpc_id != NULL ? nlb_apply_have(apply)->lb.lbc.vpc_id
                                                        : ali_vpc_id(alilb_apply_call(apply)->ali);
}
