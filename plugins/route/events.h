/* What people read: events, and the words of a dry run. Only inside of reconcile. */
#ifndef CCM_ROUTE_EVENTS_H
#define CCM_ROUTE_EVENTS_H

#include "run.h"
#include "util/lease_event.h"

/* A Warning about a node, which lasts; with the time of the next try. index: of its key in the
 * request. */
void route_emit_problem(struct route_run *run, size_t index, const struct ccm_node *node,
                        const struct ccm_error *err);
/* It is over; node NULL: it has gone. */
void route_emit_well(struct route *route, const char *name, const struct ccm_node *node);
/* Whether the last word about the node was a problem. */
bool route_has_message(const struct route *route, const char *node);

/* A node that worked lost entries and has them again. */
void route_emit_repaired(struct route_run *run, const struct ccm_node *node);

/* About all nodes, on the Lease of the controller: lasts until it is over. message: without the
 * time of the next try. */
void route_emit_all(struct route_run *run, const char *reason, const struct ccm_error *err,
                    const char *message);
void route_emit_all_well(struct route *route);
/* A call for all of them waits for its turn, some seconds or longer: told once for each cause. */
void route_emit_wait(struct route *route, const struct ccm_error *err);

/* An event on the Lease that lasts, or its end. */
void route_stand_on_lease(struct route *route, const struct ccm_lease_standing *what);

/* Tables that have little left of their quota: on the Lease, once until it is over, and for the
 * status page. */
void route_emit_quotas(struct route *route);

/* In a dry run: what would be done for each key. */
void route_write_plan(struct route_run *run);

/* What run->sync says, with the nodes that wait for it. */
void route_emit_sync(struct route_run *run);

#endif
