/*
 * Rules about backends that are narrower than those of the controllers that worked on the same load
 * balancers before. They decide who is added, never who is removed: a present backend that such a
 * rule is against stays as long as its endpoint is ready or its node exists, with one Warning,
 * until a person releases it (freeze.h). What people state (labels, taints, annotations, options)
 * is no such rule. Pure. Every thread.
 */
#ifndef CCM_LBC_OWN_RULE_H
#define CCM_LBC_OWN_RULE_H

enum lbc_own_rule {
    LBC_OWN_RULE_NONE,
    LBC_OWN_RULE_NODE_ADDRESS, /* an endpoint has the address of a node, where more listens than the
                                  Service, and names no pod that has the network of its node; or
                                  the cloud says that it is a node's (resolve.h) */
    LBC_OWN_RULE_UNREAD,       /* the same, and the API server did not give the pod */
    LBC_OWN_RULE_UNASKED,      /* the same, and this pass has asked for enough pods */
    LBC_OWN_RULE_FURTHER,      /* an address of an endpoint that is not its first */
    LBC_OWN_RULE_NODELESS,     /* an endpoint that names no node, where nodes are backends */
    LBC_OWN_RULE_SILENT,       /* a node that has conditions, but none of type Ready */
    LBC_OWN_RULE_COUNT
};

/* The rule for people, in front of the names of backends that stay; NULL: it is not reported, as
 * the next pass ends it. */
const char *lbc_own_rule_explain(enum lbc_own_rule rule);

#endif
