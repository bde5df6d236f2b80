/* The API server as the simulator kit sees it. */
#ifndef CCM_KS_API_H
#define CCM_KS_API_H

#include "common/server.h"

/* `self` of the configuration is a struct ccm_ks_cluster. */
extern const struct ccm_sim_ops ccm_ks_api_ops;

#endif
