/*
 * Pods that could be backends themselves where nodes are, because Terway gives them network
 * interfaces of the VPC. Pure. Every thread.
 */
#ifndef CCM_LBC_DIRECT_H
#define CCM_LBC_DIRECT_H

#include "ccm/object.h"
#include "lbc/model/node.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>

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
/* What to do then, for people. */
void lbc_direct_write(struct ccm_buf *text);

#endif
