/* What is watched, and which keys a change of it leads to. Threads of the reflectors; never blocks.
 */
#ifndef CCM_GATEWAY_MAPPING_H
#define CCM_GATEWAY_MAPPING_H

#include "ccm/plugin.h"

/* `self` is a struct gateway. */
extern const struct ccm_watch *const gateway_watches[];
extern const struct ccm_right *const gateway_rights[];

#endif
