/* What the api*.c files share: one call. */
#ifndef CCM_CLB_API_CALL_H
#define CCM_CLB_API_CALL_H

#include "api.h"

CCM_NODISCARD int clb_api_send(struct clb_call *call, enum ali_product product, const char *action,
                               const struct ali_params *params, enum ali_repeat repeat, cJSON **ret,
                               struct ccm_error *err);
/* The same, to the product that has load balancers. */
CCM_NODISCARD int clb_api_slb(struct clb_call *call, const char *action,
                              const struct ali_params *params, enum ali_repeat repeat, cJSON **ret,
                              struct ccm_error *err);

#endif
