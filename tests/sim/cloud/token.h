/* ClientToken: the same token with the same parameters gets the same answer, for
 * limits.token_life_s. */
#ifndef CCM_CLOUD_TOKEN_H
#define CCM_CLOUD_TOKEN_H

#include "cloud.h"

/* Run call->action unless its ClientToken was used before. As ccm_cloud_run. */
CCM_NODISCARD int ccm_cloud_token_run(struct ccm_cloud_call *call);

/* For the map ccm_cloud.tokens. */
void ccm_cloud_token_free(void *value);

#endif
