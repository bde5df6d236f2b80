/* Bodies of patches. Pure. Every thread. */
#ifndef CCM_NODE_PATCH_H
#define CCM_NODE_PATCH_H

#include "util/buf.h"
#include "want.h"

/*
 * JSON patch (RFC 6902) of the object: labels, provider id and taints in one. Single taints come
 * and go, so that what others add at the same time stays; it fails where a taint is not in its
 * place any more. Failures stick in `body`.
 */
void node_patch_object(struct ccm_buf *body, const struct ccm_node *node,
                       const struct node_want *want);

/* Strategic merge patch of the status, for this version of the node alone. now: RFC 3339. */
void node_patch_status(struct ccm_buf *body, const struct ccm_node *node,
                       const struct node_want *want, const char *now);

#endif
