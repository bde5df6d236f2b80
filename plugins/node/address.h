/* New nodes without provider id: their instance is found by the address that kubelet has told. */
#ifndef CCM_NODE_ADDRESS_H
#define CCM_NODE_ADDRESS_H

#include "run.h"

/*
 * For each new node without provider id (option find_by_address): exactly one InternalIP, exactly
 * one instance of the VPC that has it, and no other node. Others fail. 0 or -ENOMEM.
 */
CCM_NODISCARD int node_address_look(struct node_run *run);

#endif
