/* The world that the cloud starts with, and additions to it at run time. With the cloud's lock
 * held. */
#ifndef CCM_CLOUD_FIXTURES_H
#define CCM_CLOUD_FIXTURES_H

#include "cloud.h"

#include <cjson/cJSON.h>

/* The world used without a fixture file, as JSON text. */
extern const char ccm_cloud_default_fixtures[];

/* Add what the JSON object names. 0, -ENOMEM, or -EINVAL with the reason appended to `why`; what
 * was added until then stays. */
CCM_NODISCARD int ccm_cloud_fixtures_load(struct ccm_cloud *cloud, const cJSON *json,
                                          struct ccm_buf *why);

#endif
