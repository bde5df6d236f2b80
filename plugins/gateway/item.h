/*
 * Objects of the Gateway API as the caches have them, and their JSON. No I/O. Every thread; an item
 * belongs to one.
 */
#ifndef CCM_GATEWAY_ITEM_H
#define CCM_GATEWAY_ITEM_H

#include "ccm/host.h"
#include "util/attr.h"
#include "util/json.h"

#include <stdbool.h>
#include <stddef.h>

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

struct gateway_item {
    const struct ccm_object *object; /* a reference; NULL = there is none */
    cJSON *json;
    enum gateway_route_kind kind; /* of a route; */
    const char *api_version;      /* likewise, a constant */
};

struct gateway_items {
    struct gateway_item *items;
    size_t len;
    size_t cap;
};

/* The object, with object NULL when it is not there. 0 or -ENOMEM. */
CCM_NODISCARD int gateway_item_get(const struct ccm_host *host, const char *api_version,
                                   const char *resource, const char *key, struct gateway_item *ret);
void gateway_item_fini(const struct ccm_host *host, struct gateway_item *item);

/* A route, in the version that the server has: v1, else v1alpha2. 0 or -ENOMEM. */
CCM_NODISCARD int gateway_route_get(const struct ccm_host *host, enum gateway_route_kind kind,
                                    const char *key, struct gateway_item *ret);

/* Routes of all kinds by an index. 0 or -ENOMEM; the caller finishes them in any case. */
CCM_NODISCARD int gateway_routes_list(const struct ccm_host *host, const char *index,
                                      const char *value, struct gateway_items *ret);
void gateway_items_fini(const struct ccm_host *host, struct gateway_items *items);

/* All objects of a resource, the caller releases them with release_list(); none when the server
 * does not have it. */
void gateway_objects_list(const struct ccm_host *host, const char *api_version,
                          const char *resource, const struct ccm_object *const **ret,
                          size_t *ret_count);

/* A text of an object of the API, `fallback` where it is absent or empty. */
const char *gateway_text(const cJSON *parent, const char *name, const char *fallback);
/* spec.gatewayClassName of a Gateway of the caches, on the heap; NULL on ENOMEM. */
char *gateway_class_of(const struct ccm_object *gateway);
/* "namespace/name"; NULL on ENOMEM. */
char *gateway_key(const char *namespace_, const char *name);

#endif
