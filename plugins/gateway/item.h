/*
 * Routes of the Gateway API as the caches have them. No I/O. Every thread; an item belongs to one.
 */
#ifndef CCM_GATEWAY_ITEM_H
#define CCM_GATEWAY_ITEM_H

#include "lbc/custom/item.h"

enum gateway_route_kind {
    GATEWAY_TCP_ROUTE,
    GATEWAY_UDP_ROUTE,
    GATEWAY_TLS_ROUTE,
    GATEWAY_ROUTE_KINDS
};

/* How a kind of route is called. */
struct gateway_route_name {
    const char *kind;     /* "TCPRoute" */
    const char *resource; /* "tcproutes" */
};
extern const struct gateway_route_name gateway_route_names[GATEWAY_ROUTE_KINDS];

/* Names of indexes of watches. */
#define GATEWAY_BY_PARENT  "parent"  /* routes: name of a parent */
#define GATEWAY_BY_BACKEND "backend" /* routes: name of a backend */

/* A route, in the version that the server has: v1, else v1alpha2. 0 or -ENOMEM. */
CCM_NODISCARD int gateway_route_get(const struct ccm_host *host, enum gateway_route_kind kind,
                                    const char *key, struct lbc_custom_item *ret);

/* Routes of all kinds by an index. 0 or -ENOMEM; the caller finishes them in any case. */
CCM_NODISCARD int gateway_routes_list(const struct ccm_host *host, const char *index,
                                      const char *value, struct lbc_custom_items *ret);

/* spec.gatewayClassName of a Gateway of the caches, on the heap; NULL on ENOMEM. */
char *gateway_class_of(const struct ccm_object *gateway);

#endif
