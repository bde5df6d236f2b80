/* The HTTP face of the simulated cloud: routes, signatures, envelopes. */
#ifndef CCM_CLOUD_SERVICE_H
#define CCM_CLOUD_SERVICE_H

#include "common/server.h"

/* For ccm_sim_config.ops; self is a struct ccm_cloud. */
extern const struct ccm_sim_ops ccm_cloud_ops;

/* "slb", ... of a version of the API, or NULL. */
const char *ccm_cloud_product_of(const char *version);

#endif
