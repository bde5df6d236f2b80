/* What health checks found, as a test says by attribute Health of a server group. With the cloud's
 * lock held. */
#ifndef CCM_CLOUD_HEALTH_H
#define CCM_CLOUD_HEALTH_H

#include "cloud.h"

#include <stddef.h>

/* The word for the group's server i: words stand there as "a,b", and the last is also that of all
 * that follow. Written to ret, which is returned; NULL = nothing is said. */
const char *ccm_cloud_health_at(const struct ccm_cloud_obj *group, size_t i, char *ret,
                                size_t size);

#endif
