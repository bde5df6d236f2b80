/* The condition NetworkUnavailable of nodes. Only inside of reconcile. */
#ifndef CCM_ROUTE_CONDITION_H
#define CCM_ROUTE_CONDITION_H

#include "run.h"

/*
 * Write what the fates of the keys say, several at once, so that the routes of other nodes need not
 * wait for long. Each write names the version of the snapshot: somebody else's word is never
 * overwritten unseen. One that failed is the failure of its key, unless the node has gone.
 */
void route_conditions_write(struct route_run *run);

#endif
