/* What the parts of this plugin share: the instance. */
#ifndef CCM_ROUTE_H
#define CCM_ROUTE_H

#include "alicloud/client.h"
#include "ccm/plugin.h"
#include "past.h"
#include "plan.h"
#include "util/removal_budget.h"
#include "util/strmap.h"

#include <stdatomic.h>

#define ROUTE_COMPONENT "route-controller"
/* The key of the periodic pass: no name of a node. */
#define ROUTE_PASS_KEY "all nodes"
#define ROUTE_QUOTA    200 /* custom entries of a table, as published */
/* So many keys in one call of reconcile: ten batches of the cloud. */
#define ROUTE_KEYS_MAX  500
#define ROUTE_BATCH_MAX 50 /* entries per call of the cloud */

struct route {
    /* Fixed after create(). */
    const struct ccm_host *host;
    struct ali_client *ali;
    struct route_nets cluster;
    char **table_ids; /* NULL-terminated; empty = to be found */
    bool ipv6;

    struct route_pasts *pasts;         /* any thread */
    _Atomic int64_t released_until_ms; /* a person lets held removals go until then */

    /* Of the one call of reconcile that runs. */
    int64_t period_ms;
    bool orphan_cleanup;
    struct ccm_removal_rule rule;
    struct route_table *tables;
    size_t table_count;
    int64_t discovered_ms;       /* when the tables were found; 0 = never */
    int64_t singles_until_ms;    /* batches are denied to us: one entry per call until then */
    struct ccm_strmap *messages; /* nodes of whom an event stands */
    char *all_message;           /* what stands about all nodes; NULL = nothing */
    char *orphans_message;       /* the same about orphans */
    struct ccm_strmap *orphans; /* those of the last complete pass -> when each was seen first; NULL
                                   = there was none */
    struct ccm_strmap *frozen;  /* entries that stay although their nodes are gone, see floor.h */
};

#endif
