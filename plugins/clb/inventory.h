/*
 * What the cloud holds for this cluster, read in bulk when work begins: load balancers by cluster
 * tag and their listeners, a hundred and ten load balancers per call. See lbc/inventory.h.
 */
#ifndef CCM_CLB_INVENTORY_H
#define CCM_CLB_INVENTORY_H

#include "lbc/inventory.h"

extern const struct lbc_inventory_ops clb_inventory_ops;

#endif
