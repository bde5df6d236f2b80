/* Which nodes are backends: lbc_node_classify() goes by labels (among them
 * exclude-from-external-load-balancers), readiness and provider id. Pure. Every thread. */
#ifndef CCM_LBC_NODE_H
#define CCM_LBC_NODE_H

#include "ccm/object.h"
#include "util/attr.h"
#include "util/strmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lbc_node_use {
    LBC_NODE_BACKEND,   /* an instance that takes traffic */
    LBC_NODE_VIRTUAL,   /* a virtual node: its pods take traffic at their own address */
    LBC_NODE_EXCLUDED,  /* by label or provider: candidate, never a backend */
    LBC_NODE_NOT_READY, /* would be a backend if it were ready */
    LBC_NODE_DROPPED,   /* a master, being removed, unschedulable, no usable provider id */
};

struct lbc_node_rules {
    bool any_id; /* its address is enough: a node of whatever provider id, or of none, will do */
    bool drop_unschedulable;
    const char *labels; /* "k1=v1,k2=v2" that a node must all have, well-formed; "" = any */
};

/* What the node is used for. */
enum lbc_node_use lbc_node_classify(const struct ccm_node *node,
                                    const struct lbc_node_rules *rules);
/* What keeps a node from being a backend, in words for people that its name follows: "nodes
 * NotReady"; NULL = nothing. */
const char *lbc_node_explain(const struct ccm_node *node, const struct lbc_node_rules *rules);
/* Whether it has all labels of the rules. */
bool lbc_node_has_labels(const struct ccm_node *node, const struct lbc_node_rules *rules);

/* Whether it has conditions, but none of type Ready: it is no backend, and not NotReady either. */
bool lbc_node_is_silent(const struct ccm_node *node);

/* Instance id inside spec.providerID (see `provider` of struct lbc_names), borrowed; NULL when it
 * has another form. */
const char *lbc_node_instance_id(const struct ccm_node *node);

/* Whether its provider id names another region. */
bool lbc_node_is_elsewhere(const struct ccm_node *node, const char *region);

/* Node events of such nodes concern no Service. A node without any label is never skipped. */
bool lbc_node_skippable(const struct ccm_node *node);
/* Whether the address is one inside of the network, InternalIP: what backends are known by. */
bool lbc_node_is_internal(const struct ccm_node_address *address);
/* Whether the node has that address inside of the network, in the same spelling. */
bool lbc_node_has_address(const struct ccm_node *node, const char *address);
/* Whether that is its instance id, or an address of it inside of the network. */
bool lbc_node_is_server(const struct ccm_node *node, const char *server);
/* Whether a change of a node can change backends, known by instance or by address. */
bool lbc_node_differs(const struct ccm_node *before, const struct ccm_node *after);

/* Whether a change takes the node, which took traffic, out of some Service; either may be NULL.
 * any_id: as in the rules. */
bool lbc_node_leaves(const struct ccm_node *before, const struct ccm_node *after, bool any_id);

/* 0 for "a=b,...", else -EINVAL with the bad entry: *ret_entry (borrowed, *ret_len bytes). */
CCM_NODISCARD int lbc_node_check_labels(const char *labels, const char **ret_entry,
                                        size_t *ret_len);

struct lbc_node_entry {
    const struct ccm_node *node; /* borrowed */
    const char *instance_id; /* borrowed; NULL unless use is LBC_NODE_BACKEND, and with any_id */
    enum lbc_node_use use;
    uint32_t pods; /* scratch of the backend builder */
};

/* The nodes of one pass by name: all where they are backends, else those that endpoints name. */
struct lbc_node_table {
    struct lbc_node_rules rules;
    struct lbc_node_entry *items;
    size_t len;
    struct ccm_strmap *by_name;
};

/* Borrows the objects and the text of the rules. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_node_table_init(struct lbc_node_table *table,
                                      const struct ccm_object *const *nodes, size_t count,
                                      const struct lbc_node_rules *rules);
void lbc_node_table_fini(struct lbc_node_table *table);
struct lbc_node_entry *lbc_node_table_get(const struct lbc_node_table *table, const char *name);

#endif
