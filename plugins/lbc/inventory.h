/*
 * What the cloud holds for this cluster, read in bulk when work begins. Each Service that an
 * earlier run finished takes its part on its first pass. Nothing here is ever a proof of absence:
 * whoever finds nothing looks for itself. Read once, by the first pass that would gain by it; the
 * others end their reconcile and are enqueued when it is there. This module decides who reads, who
 * waits and when it is over; the plugin reads and keeps. Every thread.
 */
#ifndef CCM_LBC_INVENTORY_H
#define CCM_LBC_INVENTORY_H

#include "ccm/plugin.h"
#include "util/attr.h"
#include "util/strmap.h"

#include <stdbool.h>

struct lbc_instance;

struct lbc_inventory_ops {
    /*
     * Read everything; blocks. expected: the Services that will ask, by the name of their load
     * balancer (lbc_owner_lb_name(), which is also its ownership tag); of others nothing need be
     * kept. 0, or negative with err: logged, and what is in *ret is used all the same (NULL:
     * nothing). One thread, once.
     */
    int (*load)(struct lbc_instance *lbc, const struct ccm_request *req,
                const struct ccm_strmap *expected, void **ret, struct ccm_error *err);
    /* Move what is known about the Service's own load balancer into an empty state. False: nothing.
     * Never two at once. */
    bool (*take)(void *content, struct lbc_instance *lbc, const struct ccm_service *service,
                 void *state);
    void (*free)(void *content);
};

struct lbc_inventory;

/* NULL on ENOMEM. */
struct lbc_inventory *lbc_inventory_new(const struct lbc_inventory_ops *ops);
/* NULL is fine. */
void lbc_inventory_free(struct lbc_inventory *inventory);

/*
 * Before a pass over the Service (reconcile.c does it). Reads the inventory if that is worth its
 * calls, nobody has done it yet and the Service would gain by it; blocks for the cloud then. True:
 * another thread is reading what this Service would gain by; its key is enqueued when that is done.
 */
CCM_NODISCARD bool lbc_inventory_prepare(struct lbc_instance *lbc, const struct ccm_request *req,
                                         const struct ccm_service *service);

/* In a plugin's pass, when the entry has no valid mirror and the Service does not reuse: see
 * ops->take. False also when there is no inventory, it was read too long ago, or the Service was
 * edited since. */
bool lbc_inventory_take(struct lbc_instance *lbc, const struct ccm_service *service, void *state);

/* For map(): somebody has edited the Service, or what we keep on it. What was read for all before
 * that does not do for it. */
void lbc_inventory_record_edit(struct lbc_inventory *inventory, const struct ccm_object *service);

#endif
