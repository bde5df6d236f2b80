/* Entries that lead to instances which back no node: found in a pass, deleted after the second. */
#ifndef CCM_ROUTE_ORPHAN_H
#define CCM_ROUTE_ORPHAN_H

#include "run.h"

/* Look through the orphans of the plan of a complete pass: those seen in the pass before stay in
 * it, the others are remembered and taken out. An event reports the former. 0 or -ENOMEM. */
CCM_NODISCARD int route_orphans_decide(struct route_run *run);

/* A pass failed: what was seen before does not count any more. */
void route_orphans_forget(struct route *route);

#endif
