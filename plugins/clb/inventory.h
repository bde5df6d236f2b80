/*
 * What the cloud holds for this cluster, read in bulk when work begins: load balancers by cluster
 * tag and their listeners, a hundred and ten load balancers per call. Each Service that an earlier
 * run finished takes its part on its first pass. Nothing here is ever a proof of absence: whoever
 * finds nothing looks for itself. Made once, never read again; NULL stands for "there is none".
 * Every thread.
 */
#ifndef CCM_CLB_INVENTORY_H
#define CCM_CLB_INVENTORY_H

#include "clb.h"
#include "state.h"

struct clb_inventory;

/* NULL on ENOMEM. */
struct clb_inventory *clb_inventory_new(void);
void clb_inventory_free(struct clb_inventory *inventory);

/*
 * Before a pass over the Service: reads the inventory if that is worth its calls, nobody has done
 * it yet and the Service would gain by it. Blocks for the cloud then. A failure is logged and means
 * only that every Service looks for itself. True: another thread is reading what this Service would
 * gain by, come back a little later.
 */
CCM_NODISCARD bool clb_inventory_prepare(struct clb *clb, const struct ccm_request *req,
                                         const struct ccm_service *service);

/* Move what is known about the Service's own load balancer into an empty state: the load balancer,
 * and its listeners when they were read (listeners_known). False: nothing, or too long ago. */
bool clb_inventory_take(struct clb *clb, const struct ccm_service *service,
                        struct clb_state *state);

#endif
