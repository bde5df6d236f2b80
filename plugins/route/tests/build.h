/* Nodes and tables for tests, built by hand. One thread. */
#ifndef CCM_ROUTE_TESTS_BUILD_H
#define CCM_ROUTE_TESTS_BUILD_H

#include "route/plan.h"

/* A ready node; texts are borrowed. */
struct built_node {
    struct ccm_node node;
    const char *cidrs[3];
    struct ccm_pair label;
    const struct ccm_pair *labels[1];
};

/* cidrs end with NULL: at most three. */
void build_node(struct built_node *ret, const char *name, const char *provider, const char *a,
                const char *b);
void build_label(struct built_node *node, const char *key);

struct ccm_cidr build_net(const char *text);
/* Adds an entry that can be ours and keeps the order. */
void build_entry(struct route_table *table, const char *net, const char *hop,
                 enum route_status status);

#endif
