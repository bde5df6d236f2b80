/* What the parts of this plugin share: the instance. */
#ifndef CCM_NODE_H
#define CCM_NODE_H

#include "alicloud/client.h"
#include "ccm/plugin.h"
#include "memory.h"
#include "util/removal_budget.h"
#include "util/strmap.h"
#include "want.h"

#include <stdatomic.h>

#define NODE_COMPONENT "node-controller"
/* The key of the periodic look: no name of a node. */
#define NODE_PASS_KEY "all nodes"
/* So many keys in one call of reconcile: five batches of the cloud. */
#define NODE_KEYS_MAX 500
/* Nodes come in bursts: a call of reconcile waits this long for more of them. */
#define NODE_BURST_MS 1000
/* The most that one call of the cloud names. */
#define NODE_BATCH_MAX 100

struct node_absences; /* gone.h */
struct node_views;    /* view.h */

struct node_control {
    /* Fixed after create(). */
    const struct ccm_host *host;
    struct ali_client *ali;
    struct node_rules rules;
    bool forward; /* the check of source and destination is switched off */
    bool find;    /* nodes without provider id are looked for by their address */

    struct node_memory *memory; /* any thread */
    struct node_views *views;   /* any thread */
    atomic_bool running;        /* between start() and destroy() */
    _Atomic int64_t released_until_ms;

    /* Of the one call of reconcile that runs. */
    int64_t period_ms;
    int64_t confirm_ms; /* between the two looks that lead to a deletion */
    struct ccm_removal_rule rule;
    struct node_absences *absences;
    char *page_after; /* the periodic look goes on behind this place, see page.h; NULL = at the
                         beginning */
    int64_t round_ms; /* monotonic: when the look began at the beginning last */
    bool page_failed; /* the page there failed when it was looked at last */
    struct ccm_strmap *told; /* "NAME TOPIC" of events that stand */
    bool sync_told;          /* one stands about all of them: a call as a whole failed last */
};

#endif
