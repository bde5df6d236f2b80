/* Metrics of this plugin, one of them that of the reference controller under its name. Only inside
 * of reconcile. */
#ifndef CCM_ROUTE_MEASURE_H
#define CCM_ROUTE_MEASURE_H

#include "run.h"

/* A call that knew the tables has ended; one that created entries has been answered. Both began at
 * the monotonic time started_ms. */
void route_measure_call(const struct route *route, int64_t started_ms);
void route_measure_creation(const struct route *route, int64_t started_ms);

/* What nodes there are, and what the tables hold after the steps of the call. */
void route_measure_world(const struct route_run *run);

#endif
