/* Limits and times of the cloud by name. */
#ifndef CCM_CLOUD_LIMIT_H
#define CCM_CLOUD_LIMIT_H

#include "cloud.h"

#define CCM_CLOUD_LIMIT_MAX 1000000000

/* Where the limit of that name ("load-balancers", "slb-busy-ms") is kept, NULL: there is none. */
uint32_t *ccm_cloud_limit_find(struct ccm_cloud_limits *limits, const char *name, size_t len);

#endif
