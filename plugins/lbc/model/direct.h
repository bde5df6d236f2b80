/*
 * Pods that could be backends themselves where nodes are, because Terway gives them network
 * interfaces of the VPC. Pure. Every thread.
 */
#ifndef CCM_LBC_DIRECT_H
#define CCM_LBC_DIRECT_H

#include "ccm/object.h"
#include "lbc/keys.h"
#include "lbc/model/node.h"

#include <stdbool.h>
#include <stddef.h>

#define LBC_DIRECT_TEXT                                                                            \
    "nodes are the backends, but the pods have addresses of the VPC (Terway) and could be: "       \
    "annotation " LBC_BACKEND_TYPE_KEY ": \"" LBC_BACKEND_TYPE_PODS                                \
    "\", or option default_backend_type for all Services, saves the hop over a node, shows the "   \
    "pods their clients' addresses and needs no node ports. The value \"" LBC_BACKEND_TYPE_NODES   \
    "\" keeps nodes, and this hint away"

/* Borrowed. */
struct lbc_direct {
    const struct ccm_service *service;
    bool pods_by_default;
    const struct lbc_node_table *nodes; /* those at least that endpoints name */
    const struct ccm_object *const *slices;
    size_t slice_count;
};

/* Whether the Service leaves it open that nodes are its backends: no annotation says so, nor which
 * nodes. */
bool lbc_direct_is_open(const struct lbc_direct *in);
/* Whether all that serve it could be backends: there are some, all are pods on nodes of Terway (or
 * virtual ones, where they are already), and none has the address of its node (hostNetwork). */
bool lbc_direct_fits(const struct lbc_direct *in);

#endif
