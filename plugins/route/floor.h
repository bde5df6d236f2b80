/*
 * The floor: entries of nodes that are missing. Absence is no order to delete: of what would go
 * only because Node objects are not there, a share per table and window stays
 * (util/removal_budget.h), and what no watch saw deleted waits until it was missing for a time. At
 * once goes what a node that is there wants no more, and what was deleted and whose instance the
 * cloud says is gone. Inside of reconcile.
 */
#ifndef CCM_ROUTE_FLOOR_H
#define CCM_ROUTE_FLOOR_H

#include "run.h"

/* Take the steps out of the plan that have to stay, and note until when their keys wait. May ask
 * the cloud about instances: one read per hundred, only when the share does not allow all. 0 or
 * -ENOMEM. */
CCM_NODISCARD int route_floor_decide(struct route_run *run);

/* What a node had is dealt with: nothing of it is held any more. */
void route_floor_forget(struct route *route, const struct route_past *past);

/* Tell what is held, when that is new: to the core, and by an event on the Lease. */
void route_floor_publish(struct route *route);

#endif
