/* Everything that is not about objects: /version, health, discovery, OpenAPI. Every thread. */
#ifndef CCM_KS_DISCOVERY_H
#define CCM_KS_DISCOVERY_H

#include "common/request.h"
#include "util/attr.h"

/* Answer a GET of such a path. 0, or -ENOENT: none of ours. */
CCM_NODISCARD int ccm_ks_discovery(const struct ccm_sim_request *req, struct ccm_sim_reply *reply);

#endif
