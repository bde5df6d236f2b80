/* Which nodes have an instance: the cloud is asked about all nodes of a call, a hundred at a time.
 */
#ifndef CCM_NODE_LOOK_H
#define CCM_NODE_LOOK_H

#include "run.h"

/*
 * Asks about each node that has, or may have, an instance, and that is not left alone; sets answer,
 * machine and witness, or the failure, of each. A region whose call fails says nothing about the
 * others.
 *
 * A node that nobody hears of (Ready is Unknown) is asked about together with an instance that is
 * there for certain, since its node is ready: an answer without any of these proves nothing.
 * 0 or -ENOMEM.
 */
CCM_NODISCARD int node_look(struct node_run *run);

#endif
