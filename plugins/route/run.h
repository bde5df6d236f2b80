/* One call of reconcile: its keys, the world as it is now, and what becomes of each key. */
#ifndef CCM_ROUTE_RUN_H
#define CCM_ROUTE_RUN_H

#include "route.h"

/* What is to be written about the network of a node. */
enum route_network { ROUTE_NETWORK_KEEP, ROUTE_NETWORK_UP, ROUTE_NETWORK_DOWN };

/* What becomes of a key. */
struct route_verdict {
    bool failed;  /* err says why */
    bool shared;  /* it failed with others for one reason, which is reported once */
    bool look;    /* something is on its way in the cloud: look again in a moment */
    bool again;   /* at once: there was no time left, or the list was too old */
    bool waits;   /* for the turn of a call, run->wait_ms */
    bool present; /* it is a node that is there */
    bool well;    /* there is nothing to be said against the node */
    size_t made;  /* entries */
    enum route_network network;
    size_t node;      /* when there is something to say */
    int64_t later_ms; /* monotonic: entries of it are held until then; 0 = none is */
    struct ccm_error err;
};

struct route_run {
    struct route *route;
    const struct ccm_request *req;
    int64_t started_ms;
    bool dry; /* nothing may be changed */

    struct ccm_strmap *keys;        /* key -> its index + 1 */
    struct route_verdict *verdicts; /* one per key */
    size_t pass_key;                /* ROUTE_NOBODY: none of the keys is the pass */
    bool has_capacity;              /* a table that took no more has lost an entry */

    const struct ccm_object *const *objects;
    size_t object_count;
    struct route_node *nodes; /* one per object */
    struct route_past *past;
    size_t past_count;
    size_t *past_frozen; /* per past: tables in which its entry is held */

    bool sighted; /* the tables are known: else no node is served in this call */
    struct route_plan plan;
    uint64_t wait_ms;      /* when calls that were put off come again; 0 = none was */
    struct ccm_error sync; /* why something failed as a whole; kind 0 = it did not */
    size_t sync_table;     /* where */
};

/* Index of the key, or ROUTE_NOBODY. */
size_t route_run_key(const struct route_run *run, const char *name);

/* The key of a step, or ROUTE_NOBODY when it belongs to another call. */
size_t route_run_step_key(const struct route_run *run, const struct route_step *step);

/* When what was put off comes again. */
uint64_t route_run_wait_ms(const struct ccm_error *err);
/* A call for the key was put off, as err says. */
void route_run_wait(struct route_run *run, struct route_verdict *verdict,
                    const struct ccm_error *err);

/* Note a failure; the first one counts. */
void route_verdict_fail(struct route_verdict *verdict, const struct ccm_error *err);

#endif
