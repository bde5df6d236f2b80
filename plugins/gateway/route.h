/* What routes and classes say of themselves. Block for the API server. The worker of their key. */
#ifndef CCM_GATEWAY_ROUTE_H
#define CCM_GATEWAY_ROUTE_H

#include "gateway.h"
#include "item.h"

#define GATEWAY_CLASS_KEY "GatewayClass " /* with its name behind: a key */

/* Key of a route: "TCPRoute namespace/name". NULL on ENOMEM. */
char *gateway_route_key(enum gateway_route_kind kind, const char *name);

/* Whether it is such a key, of a route or class; then *ret is what came of writing its status: 0 or
 * negative with err. */
bool gateway_route_reconcile(const struct gateway *self, const struct ccm_request *req, int *ret,
                             struct ccm_error *err);

#endif
