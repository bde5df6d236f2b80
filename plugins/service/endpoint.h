/* Endpoints of one Service port, from its EndpointSlices. Pure. Every thread. */
#ifndef CCM_SERVICE_ENDPOINT_H
#define CCM_SERVICE_ENDPOINT_H

#include "ccm/object.h"
#include "util/attr.h"
#include "util/strmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ccm_endpoint_ref {
    const struct ccm_endpoint *endpoint; /* borrowed from the slice */
    uint16_t port;
};

struct ccm_endpoints {
    struct ccm_endpoint_ref *items;
    size_t len;
    size_t cap;
};

/*
 * Those that may take traffic: ready, not terminating, each address once. The port is the slice's
 * port of the Service port's name, else a numeric targetPort; a slice without either is skipped.
 * ipv6 selects the address family. accepted (may be NULL): addresses that count as ready all the
 * same. 0 or -ENOMEM; `ret` must be empty before and is finished by the
 * caller in any case.
 */
CCM_NODISCARD int ccm_endpoints_collect(const struct ccm_object *const *slices, size_t count,
                                        const struct ccm_service_port *port, bool ipv6,
                                        const struct ccm_strmap *accepted,
                                        struct ccm_endpoints *ret);
void ccm_endpoints_fini(struct ccm_endpoints *endpoints);

/* Whether two versions of a slice differ in what this module reads. */
bool ccm_endpoints_differ(const struct ccm_endpoint_slice *before,
                          const struct ccm_endpoint_slice *after);

#endif
