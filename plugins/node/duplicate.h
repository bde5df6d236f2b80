/* Nodes that say that they have the same instance: one was renamed, or copied. */
#ifndef CCM_NODE_DUPLICATE_H
#define CCM_NODE_DUPLICATE_H

#include "run.h"

/* Tell each node of the call whose instance another node has, too; that it is over. Both are
 * served: who of them is right only kubelet knows, and the instance is there. */
void node_duplicates_emit(struct node_run *run);

#endif
