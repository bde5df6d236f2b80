/* One call of reconcile: read, write, delete, tell, one verdict per key. */
#ifndef CCM_NODE_RECONCILE_H
#define CCM_NODE_RECONCILE_H

#include "node.h"

/* As reconcile() of struct ccm_plugin; one call at a time. */
int node_reconcile(struct node_control *control, const struct ccm_request *req,
                   struct ccm_result *ret, struct ccm_error *err);

#endif
