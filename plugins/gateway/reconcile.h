/* One key: a Gateway, a route, a class, or one of the engine's own. Blocks. The worker of the key.
 */
#ifndef CCM_GATEWAY_RECONCILE_H
#define CCM_GATEWAY_RECONCILE_H

#include "ccm/plugin.h"

/* reconcile() of the descriptor; `self` is a struct gateway. */
int gateway_reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                      struct ccm_error *err);

#endif
