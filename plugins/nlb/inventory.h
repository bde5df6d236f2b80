/*
 * What the cloud holds for this cluster, read in bulk when work begins: load balancers, listeners,
 * groups and servers, a hundred per call. lbc/inventory.h decides who reads, and when it is
 * over. One thread at a time per content.
 */
#ifndef CCM_NLB_INVENTORY_H
#define CCM_NLB_INVENTORY_H

#include "alilb/action.h"
#include "lbc/inventory.h"
#include "state.h"
#include "util/strmap.h"

extern const struct lbc_inventory_ops nlb_inventory_ops;

/* The parts of the table. */

struct nlb_inventory;

/* Blocks: reads all pages. expected: names of the load balancers to be kept. 0; negative with err,
 * and *ret is what is known for certain all the same, NULL when that is nothing. */
CCM_NODISCARD int nlb_inventory_read(struct alilb_call *call, const struct ccm_strmap *expected,
                                     struct nlb_inventory **ret, struct ccm_error *err);
/* Move what is known about the Service's own load balancer into an empty state: with its listeners,
 * its groups and their servers, as far as these could be read. False: nothing. */
bool nlb_inventory_take(struct nlb_inventory *inventory, const struct ccm_service *service,
                        const char *cluster_id, struct nlb_state *state);
/* NULL is fine. */
void nlb_inventory_free(struct nlb_inventory *inventory);

#endif
