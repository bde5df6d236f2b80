/*
 * What the cloud holds for this cluster, read in bulk when work begins. Each Service that an
 * earlier run finished takes its part on its first pass. Nothing here is ever a proof of absence:
 * whoever finds nothing looks for itself. Read once, by the first pass that would gain by it; the
 * others end their reconcile and are enqueued when it is there. This module decides who reads, who
 * waits and when it is over, and keeps what the plugin reads. Every thread.
 */
#ifndef CCM_LBC_INVENTORY_H
#define CCM_LBC_INVENTORY_H

#include "ccm/plugin.h"
#include "lbc/items.h"
#include "util/attr.h"

#include <stdbool.h>

struct lbc_instance;

/* How a plugin reads. Both functions block; one thread, once. 0, or negative with err. */
struct lbc_inventory_ops {
    /* All load balancers of the cluster, by lbc_items_add(). To the end or not at all: else a
     * second owner of a tag could go unseen. */
    int (*list)(struct lbc_instance *lbc, const struct ccm_request *req, struct lbc_items *items,
                struct ccm_error *err);
    /* What is in those that are known. After a failure they are of use without. */
    int (*fill)(struct lbc_instance *lbc, const struct ccm_request *req, struct lbc_items *items,
                struct ccm_error *err);
    /* Leave in the state of a Service only what is known for certain. NULL = nothing to do. Pure.
     */
    void (*settle)(const struct lbc_instance *lbc, const struct ccm_service *service,
                   struct lbc_state *state);
    const void *source; /* the plugin's own; NULL = it needs none */
};

struct lbc_inventory;

/* NULL on ENOMEM. */
struct lbc_inventory *lbc_inventory_new(void);
/* NULL is fine. */
void lbc_inventory_free(struct lbc_inventory *inventory);

/*
 * Before a pass over the Service (reconcile.c does it). Reads the inventory if that is worth its
 * calls, nobody has done it yet and the Service would gain by it; blocks for the cloud then. True:
 * another thread is reading what this Service would gain by; its key is enqueued when that is done.
 */
CCM_NODISCARD bool lbc_inventory_prepare(struct lbc_instance *lbc, const struct ccm_request *req,
                                         const struct ccm_service *service);

/* For prepare(), and tests of plugins: read all that is expected, see lbc_items_new(). 0, or
 * negative with err, and *ret is what is known for certain all the same, NULL when that is nothing.
 * Blocks.
 */
CCM_NODISCARD int lbc_inventory_read(struct lbc_instance *lbc, const struct ccm_request *req,
                                     const struct ccm_strmap *expected, struct lbc_items **ret,
                                     struct ccm_error *err);

/* In a plugin's pass, when the entry has no valid mirror and the Service does not reuse: see
 * lbc_items_take(). False also when there is no inventory, it was read too long ago, or the Service
 * was edited since. */
bool lbc_inventory_take(struct lbc_instance *lbc, const struct ccm_service *service,
                        struct lbc_state *state);

/* For map(): somebody has edited the Service, or what we keep on it. What was read for all before
 * that does not do for it. */
void lbc_inventory_record_edit(struct lbc_inventory *inventory, const struct ccm_object *service);

#endif
