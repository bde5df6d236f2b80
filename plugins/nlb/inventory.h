/* What the cloud holds for this cluster, read in bulk when work begins: load balancers, listeners,
 * groups and servers, a hundred per call. See lbc/inventory.h. */
#ifndef CCM_NLB_INVENTORY_H
#define CCM_NLB_INVENTORY_H

#include "lbc/inventory.h"

extern const struct lbc_inventory_ops nlb_inventory_ops;

#endif
