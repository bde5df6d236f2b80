/* What a Node object is to us. Pure. Every thread. */
#ifndef CCM_NODE_MODEL_H
#define CCM_NODE_MODEL_H

#include "alicloud/provider.h"
#include "ccm/object.h"

#include <stdbool.h>
#include <stdint.h>

#define NODE_TAINT_NEW     "node.cloudprovider.kubernetes.io/uninitialized"
#define NODE_TAINT_STOPPED "node.cloudprovider.kubernetes.io/shutdown"

enum node_kind {
    NODE_NONE,    /* nothing that we know: left alone */
    NODE_UNNAMED, /* no provider id yet */
    NODE_ECS,
    NODE_LINGJUN,
};

struct node_subject {
    enum node_kind kind;
    bool excluded; /* labels and addresses are left alone, it is never deleted; its taint goes */
    bool fresh;    /* it has the taint of nodes that nobody has initialised */
    bool stopped;  /* it has the taint of nodes whose instance is stopped */
    char region[ALI_PROVIDER_PART]; /* "" unless NODE_ECS */
    char instance[ALI_PROVIDER_PART];
};

void node_subject_init(struct node_subject *ret, const struct ccm_node *node);

/* Whether it has a taint with that key. */
bool node_is_tainted(const struct ccm_node *node, const char *key);

/* Whether a change makes it worth while to look at the node now, whatever we remember of it. */
bool node_differs(const struct ccm_node *before, const struct ccm_node *after);

#endif
