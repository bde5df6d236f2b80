/* One call for many keys: read, plan, apply, tell. */
#ifndef CCM_ROUTE_RECONCILE_H
#define CCM_ROUTE_RECONCILE_H

#include "route.h"

/* Keys that wait for the turn of a call have no verdict of their own: *ret says when it comes. */
CCM_NODISCARD int route_reconcile(struct route *route, const struct ccm_request *req,
                                  struct ccm_result *ret, struct ccm_error *err);

#endif
