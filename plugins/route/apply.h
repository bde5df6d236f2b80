/* Carries out the steps of a plan in calls of up to ROUTE_BATCH_MAX entries, one call at a time:
 * the cloud refuses two changes of one VPC at once. Keeps the tables in line and notes what becomes
 * of each key. */
#ifndef CCM_ROUTE_APPLY_H
#define CCM_ROUTE_APPLY_H

#include "run.h"

/* The steps that belong to keys of this call. `orphans`: also those (of the pass). 0 or -ENOMEM:
 * steps without an outcome are due again. */
CCM_NODISCARD int route_apply(struct route_run *run, bool orphans);

#endif
