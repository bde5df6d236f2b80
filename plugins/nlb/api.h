/* What the actions (api_*.h) share. */
#ifndef CCM_NLB_API_H
#define CCM_NLB_API_H

#include "alilb/action.h"
#include "lbc/model/attrs.h"
#include "lbc/model/protocol.h"

/* What the rows of all changes have in common. */
#define NLB_API_WRITE .product = ALI_NLB, .repeat = ALI_IDEMPOTENT, .token = true

/* The attributes that are part of a creation, or of an update. Fields that the protocol has not are
 * left out. */
void nlb_api_add_attrs(struct ali_params *params, const struct lbc_attrs *attrs,
                       enum lbc_protocol protocol, bool create);

#endif
