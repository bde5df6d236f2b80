/* Metrics. Every thread; nothing blocks. */
#ifndef CCM_NODE_MEASURE_H
#define CCM_NODE_MEASURE_H

#include "run.h"

/* One call of reconcile that asked the cloud. */
void node_measure_call(const struct node_run *run);

/* All nodes there are, by what is known of them. */
void node_measure_world(const struct node_control *control);

void node_measure_deletion(const struct node_control *control);

#endif
