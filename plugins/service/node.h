/* What a node may carry. Pure. Every thread. */
#ifndef CCM_SERVICE_NODE_H
#define CCM_SERVICE_NODE_H

#include "ccm/object.h"
#include "util/attr.h"
#include "util/strmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ccm_node_use {
    CCM_NODE_BACKEND,   /* an instance that takes traffic */
    CCM_NODE_VIRTUAL,   /* a virtual node: its pods take traffic at their own address */
    CCM_NODE_EXCLUDED,  /* by label or provider: candidate, never a backend */
    CCM_NODE_NOT_READY, /* would be a backend if it were ready */
    CCM_NODE_DROPPED,   /* control plane, being removed, unschedulable, no usable provider id */
};

struct ccm_node_rules {
    bool drop_unschedulable;
    const char *labels; /* "k1=v1,k2=v2" that a node must all have, well-formed; "" = any */
};

enum ccm_node_use ccm_node_classify(const struct ccm_node *node,
                                    const struct ccm_node_rules *rules);

/* Instance id inside spec.providerID ("alicloud://region.instance" or "region.instance"), borrowed;
 * NULL when it has another form. */
const char *ccm_node_instance_id(const struct ccm_node *node);

/* Node events of such nodes concern no Service. A node without any label is never skipped. */
bool ccm_node_skippable(const struct ccm_node *node);
/* Whether a change of a node can change backends. */
bool ccm_node_differs(const struct ccm_node *before, const struct ccm_node *after);

/* Entries "a=b" separated by commas? 0 or -EINVAL with *ret_entry (borrowed, *ret_len bytes). */
CCM_NODISCARD int ccm_node_check_labels(const char *labels, const char **ret_entry,
                                        size_t *ret_len);

struct ccm_node_entry {
    const struct ccm_node *node; /* borrowed */
    const char *instance_id;     /* borrowed; NULL unless use is CCM_NODE_BACKEND */
    enum ccm_node_use use;
    uint32_t pods; /* scratch of the backend builder */
};

/* All nodes of one pass by name. */
struct ccm_node_table {
    struct ccm_node_entry *items;
    size_t len;
    struct ccm_strmap *by_name;
};

/* Borrows the objects. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_node_table_init(struct ccm_node_table *table,
                                      const struct ccm_object *const *nodes, size_t count,
                                      const struct ccm_node_rules *rules);
void ccm_node_table_fini(struct ccm_node_table *table);
struct ccm_node_entry *ccm_node_table_get(const struct ccm_node_table *table, const char *name);

#endif
