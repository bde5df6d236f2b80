/* Lingjun nodes: their taint goes, and one that nobody hears of is looked for. They are asked about
 * one by one, and only then. */
#ifndef CCM_NODE_LINGJUN_H
#define CCM_NODE_LINGJUN_H

#include "run.h"

/* Sets answer and witness of those that nobody hears of, as node_look() does. */
void node_lingjun_look(struct node_run *run);

#endif
