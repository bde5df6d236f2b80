/*
 * An instance as DescribeInstances tells of it: one item of the answer, borrowed. Pure. Every
 * thread.
 */
#ifndef CCM_NODE_MACHINE_H
#define CCM_NODE_MACHINE_H

#include "ccm/object.h"
#include "util/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum node_fact {
    NODE_FACT_TYPE,
    NODE_FACT_ZONE,
    NODE_FACT_REGION,
    NODE_FACT_CHARGE,
    NODE_FACT_SPOT,
    NODE_FACT_POOL,
    NODE_FACTS,
};

/* Which label tells what. */
struct node_label {
    const char *key;
    enum node_fact fact;
    bool ours; /* nobody else sets it: it goes when the fact goes */
};
#define NODE_LABELS 9
extern const struct node_label node_labels[NODE_LABELS];
/* A node that has it was seen in the cloud once, by us or by the controller before us. */
#define NODE_LABEL_SEEN "node.alibabacloud.com/instance-charge-type"

/* The text, borrowed; NULL: the cloud says nothing about it. */
const char *node_machine_fact(const cJSON *machine, enum node_fact fact);

const char *node_machine_status(const cJSON *machine);

/* The primary network interface, "" when it has none. */
const char *node_machine_interface(const cJSON *machine);

/* Whether it is the machine that has this private address in the VPC. */
bool node_machine_has_address(const cJSON *machine, const char *address);

/* A list of addresses; texts are borrowed. Zeroed = empty. */
struct node_addresses {
    struct ccm_node_address *items;
    size_t len;
    size_t cap;
};
void node_addresses_fini(struct node_addresses *list);

/*
 * Those that the node is to have: of the machine, and the names that the node has given itself. 0
 * or -ENOMEM.
 */
CCM_NODISCARD int node_machine_addresses(const cJSON *machine, const struct ccm_node *node,
                                         bool ipv6, struct node_addresses *ret);

/*
 * kubelet was started with --node-ip: of each type and family that has one of the `wanted`
 * addresses (separated by commas) the others go. 0, or -ENOENT: none of them is there, and nothing
 * was changed.
 */
CCM_NODISCARD int node_addresses_choose(struct node_addresses *list, const char *wanted);

/* Whether the node has exactly these, in this order. */
bool node_addresses_match(const struct node_addresses *list, const struct ccm_node *node);

#endif
