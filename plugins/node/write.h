/* What is written to the API server: at most one patch of the object and one of the status, per
 * node. */
#ifndef CCM_NODE_WRITE_H
#define CCM_NODE_WRITE_H

#include "run.h"

/* All nodes of the call that the cloud has answered about, several at once. Each has its failure
 * afterwards. */
void node_write(struct node_run *run);

/* The same in words, for a dry run. */
void node_write_plan(struct node_run *run);

#endif
