/* Endpoints of one Service port, from its EndpointSlices. Pure. Every thread. */
#ifndef CCM_LBC_ENDPOINT_H
#define CCM_LBC_ENDPOINT_H

#include "ccm/object.h"
#include "util/attr.h"
#include "util/strmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Address families, as bits. */
enum lbc_families { LBC_IPV4 = 1, LBC_IPV6 = 2, LBC_DUAL_STACK = 3 };

/* How many addresses the endpoints of a slice have, and the endpoint of one: first addresses come
 * before further ones. */
uint64_t lbc_endpoint_size(const struct ccm_endpoint_slice *slice);
const struct ccm_endpoint *lbc_endpoint_at(const struct ccm_endpoint_slice *slice, uint64_t i);

/* Stands for the owner of the address of an endpoint: its node and its pod. 0 = not known. */
uint64_t lbc_endpoint_owner(const struct ccm_endpoint *endpoint);

/* One address of an endpoint. */
struct lbc_endpoint_ref {
    const struct ccm_endpoint_slice *slice; /* borrowed, as the next */
    const struct ccm_endpoint *endpoint;
    uint16_t port; /* 0 = any */
    bool further;  /* not the first address of its endpoint */
    bool leaving;  /* being stopped, but still serving */
};

struct lbc_endpoints {
    struct lbc_endpoint_ref *items;
    size_t len;
    size_t cap;
};

/* Which endpoints; borrowed. */
struct lbc_endpoint_query {
    const struct ccm_service_port *port;
    enum lbc_families families;
    bool any_port;                     /* all ports of the pods, whatever slices say */
    bool leaving;                      /* also those that are being stopped but still serve */
    const struct ccm_strmap *accepted; /* addresses that count as ready all the same, or NULL */
};

/*
 * Those that may take traffic: ready, not terminating, each address once, further addresses behind
 * first ones; then those that are leaving, where asked for, by their first address. The port is the
 * slice's port of the Service port's name, else a numeric targetPort; a slice without either is
 * skipped. 0 or -ENOMEM; `ret` must be empty before and is finished by the caller in any case.
 */
CCM_NODISCARD int lbc_endpoints_collect(const struct ccm_object *const *slices, size_t count,
                                        const struct lbc_endpoint_query *query,
                                        struct lbc_endpoints *ret);
/* How many endpoints the slices hold of those families, whether they may take traffic or not. */
struct lbc_endpoint_census {
    size_t ready; /* may take traffic */
    size_t unready;
    size_t stopping;
    size_t without_port; /* their slice does not have the port */
};

/* Adds to *ret. */
void lbc_endpoints_count(const struct ccm_object *const *slices, size_t count,
                         const struct lbc_endpoint_query *query, struct lbc_endpoint_census *ret);
/* Whether there is no slice of these families at all, while one of another has ready endpoints: it
 * is not the pods that are missing. */
bool lbc_endpoints_elsewhere(const struct ccm_object *const *slices, size_t count,
                             enum lbc_families families);
/* Ready, or one of `accepted` (may be NULL), and not terminating. */
bool lbc_endpoint_is_usable(const struct ccm_endpoint *endpoint, const struct ccm_strmap *accepted);
void lbc_endpoints_fini(struct lbc_endpoints *endpoints);

/* Whether two versions of a slice differ in what this module reads. */
bool lbc_endpoints_differ(const struct ccm_endpoint_slice *before,
                          const struct ccm_endpoint_slice *after);

#endif
