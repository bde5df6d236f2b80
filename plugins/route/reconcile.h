/* One call for many keys: read, plan, apply, tell. */
#ifndef CCM_ROUTE_RECONCILE_H
#define CCM_ROUTE_RECONCILE_H

#include "route.h"

CCM_NODISCARD int route_reconcile(struct route *route, const struct ccm_request *req,
                                  struct ccm_error *err);

#endif
