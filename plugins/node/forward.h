/* VPC routing to pods needs instances that forward packets for others: new nodes have the check of
 * source and destination of their interface switched off before they get pods. */
#ifndef CCM_NODE_FORWARD_H
#define CCM_NODE_FORWARD_H

#include "run.h"

/*
 * For each new node whose instance was found. Those where it failed are closed, and have failed;
 * their labels and addresses are written all the same. 0 or -ENOMEM.
 */
CCM_NODISCARD int node_forward(struct node_run *run);

#endif
