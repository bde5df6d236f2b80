/*
 * What a node wants: its class, its instance, its networks. And which tables to use. Pure. Every
 * thread.
 */
#ifndef CCM_ROUTE_MODEL_H
#define CCM_ROUTE_MODEL_H

#include "alicloud/provider.h"
#include "ccm/object.h"
#include "net.h"

#include <stdint.h>

#define ROUTE_ID_SIZE   ALI_PROVIDER_PART
#define ROUTE_FAMILIES  2 /* IPv4, IPv6 */
#define ROUTE_TEXT_SIZE 256

enum route_class {
    ROUTE_NODE_SERVED,
    ROUTE_NODE_FROZEN,   /* being deleted, or nobody knows how it is: it keeps what it has */
    ROUTE_NODE_EXCLUDED, /* by label, or of another cloud: nothing of it is touched */
    ROUTE_NODE_FOREIGN,  /* its provider id names no instance of this region */
    ROUTE_NODE_UNNAMED,  /* no provider id yet */
    ROUTE_NODE_BARE,     /* no network that we serve */
    ROUTE_NODE_INVALID,  /* a network that cannot be read: see `bad` */
};

struct route_node {
    const struct ccm_node *object; /* borrowed */
    enum route_class class_;
    char instance[ROUTE_ID_SIZE]; /* "" when the provider id names none */
    struct ccm_cidr nets[ROUTE_FAMILIES];
    size_t net_count;
    const char *bad; /* the text that is no network, borrowed; NULL = none */
};

/*
 * The networks of a node: the first IPv4 one, and with ipv6 the first IPv6 one. 0 with none at all
 * too; -EINVAL with the text that is wrong (borrowed).
 */
CCM_NODISCARD int route_node_nets(const struct ccm_node *node, bool ipv6,
                                  struct ccm_cidr nets[ROUTE_FAMILIES], size_t *ret_count,
                                  const char **ret_bad);

/* Read a node. region: where this controller works. */
void route_node_init(struct route_node *ret, const struct ccm_node *node, const char *region,
                     bool ipv6);

/* Whether a change of a node can change what it wants or has. */
bool route_node_differs(const struct ccm_node *before, const struct ccm_node *after);

/* A table as the cloud lists it; texts borrowed. */
struct route_found_table {
    const char *id;
    const char *type;
    uint64_t vswitches; /* how many are bound to it */
};

/*
 * Which of the tables of a VPC to use when none is configured: the only one. 0 and its index;
 * negative and err (CCM_ERROR_TERMINAL) naming the ids otherwise.
 */
CCM_NODISCARD int route_tables_choose(const struct route_found_table *tables, size_t count,
                                      const char *vpc, size_t *ret, struct ccm_error *err);

#endif
