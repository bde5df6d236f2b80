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
 * there for certain, since its node is ready: an answer without any of these proves nothing. Nor
 * does one that lacks a ready node which was seen before, or has an instance that was not asked
 * for. As many such nodes as the call takes are asked for besides: a RAM policy may hide a part of
 * the instances. 0 or -ENOMEM.
 */
CCM_NODISCARD int node_look(struct node_run *run);

/*
 * Asks once more about the instance of this node, with one that is there for certain and nobody
 * else, and sets what node_look() sets: of a long answer something may be lacking. 0 or -ENOMEM.
 */
CCM_NODISCARD int node_look_again(struct node_run *run, struct node_item *item);

#endif
