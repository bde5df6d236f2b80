/*
 * The Services that a route sends to, from the caches, and what is wrong with its references. No
 * I/O. Every thread.
 */
#ifndef CCM_GATEWAY_TARGET_H
#define CCM_GATEWAY_TARGET_H

#include "item.h"
#include "lbc/model/parts.h"

#include <stdint.h>

/* Each Service port stands once, with the weight of all references to it. */
struct gateway_targets {
    struct lbc_part *items; /* a reference to each Service */
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
                                       const struct lbc_custom_item *route, bool pods,
                                       struct gateway_targets *ret, struct gateway_refs *refs);
void gateway_targets_fini(const struct ccm_host *host, struct gateway_targets *targets);

#endif
