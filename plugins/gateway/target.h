/*
 * The Services that a route sends to, from the caches, and what is wrong with its references. No
 * I/O. Every thread.
 */
#ifndef CCM_GATEWAY_TARGET_H
#define CCM_GATEWAY_TARGET_H

#include "item.h"

#include <stdint.h>

/* From an object of the Gateway API to one of the core group. */
struct gateway_reference {
    const char *from_kind;
    const char *from_namespace;
    const char *kind;
    const char *namespace_;
    const char *name;
};

/* Whether both have one namespace, or that of the object referred to allows it. */
bool gateway_reference_is_granted(const struct ccm_host *host,
                                  const struct gateway_reference *reference);

/* One Service port; each stands once in a list. */
struct gateway_target {
    const struct ccm_service *service; /* a reference */
    const struct ccm_service_port *port;
    uint64_t weight; /* of all references to it */
};

struct gateway_targets {
    struct gateway_target *items;
    size_t len;
    size_t cap;
};

/* What condition ResolvedRefs says. */
struct gateway_refs {
    const char *reason; /* NULL = all is well, else of the first that is not */
    char why[320];
};

/* Read the backendRefs of a route. pods: pods are the backends, else nodes. Those that cannot be
 * used are left out. 0 or -ENOMEM; the caller finishes `ret` in any case. */
CCM_NODISCARD int gateway_targets_read(const struct ccm_host *host,
                                       const struct gateway_item *route, bool pods,
                                       struct gateway_targets *ret, struct gateway_refs *refs);
void gateway_targets_fini(const struct ccm_host *host, struct gateway_targets *targets);

#endif
