/* What the name of a node in the cloud says. Pure. Every thread. */
#ifndef CCM_ALICLOUD_PROVIDER_H
#define CCM_ALICLOUD_PROVIDER_H

#include "alicloud/api.h"
#include "ccm/object.h"

#include <stdbool.h>

#define ALI_PROVIDER_PART 72 /* bytes of a region or an instance, with the end */

/* Region and instance of "alicloud://region.instance" or "region.instance" (what follows a second
 * dot does not count). 0, or -EINVAL: it names no instance. Both results have ALI_PROVIDER_PART
 * bytes. */
CCM_NODISCARD ALI_API int ali_provider_parse(const char *id, char *region, char *instance);

/* By label, or because it is a machine of somebody else's that was joined (ack-hybrid://). */
ALI_API bool ali_node_is_excluded(const struct ccm_node *node);

#endif
