/*
 * What the cloud holds for this cluster, read in bulk when work begins. The first pass that would
 * gain by it reads; the others end their reconcile and are enqueued when it is done. Each Service
 * that an earlier run finished takes its part on its first pass. The inventory never proves
 * absence: whoever finds nothing in it looks for itself. Every thread.
 */
#ifndef CCM_LBC_INVENTORY_H
#define CCM_LBC_INVENTORY_H

#include "ccm/plugin.h"
#include "lbc/survey.h"
#include "util/attr.h"

#include <stdbool.h>

struct lbc_instance;

/* How a plugin reads. Called once, by one thread; both functions block. 0, or negative with err. */
struct lbc_inventory_ops {
    /* Add all load balancers of the cluster, by lbc_survey_add(). Completely or not at all: else a
     * second owner of a tag could go unseen. NULL = each Service looks for itself. */
    int (*list)(struct lbc_instance *lbc, const struct ccm_request *req, struct lbc_survey *items,
                struct ccm_error *err);
    /* Read what is in them, which is no Service's business: what needs one is left unknown
     * (groups_known, listeners_known), and read->parts() reads it in the pass. After a failure the
     * items are of use without. NULL = list() has read it. */
    int (*fill)(struct lbc_instance *lbc, const struct ccm_request *req, struct lbc_survey *items,
                struct ccm_error *err);
    const struct lbc_orphan_ops *orphans; /* NULL = nobody looks for things without Service */
};

struct lbc_inventory;

/* NULL on ENOMEM. */
struct lbc_inventory *lbc_inventory_new(void);
/* NULL is fine. */
void lbc_inventory_free(struct lbc_inventory *inventory);

/* Before a pass. Reads the inventory if nobody has yet, the Service would gain by it and enough
 * others would too; that blocks. True: another thread is reading it; the key is enqueued when that
 * is done. */
CCM_NODISCARD bool lbc_inventory_prepare(struct lbc_instance *lbc, const struct ccm_request *req,
                                         const struct ccm_service *service);

/* Read all that is expected, see lbc_survey_new(); for lbc_inventory_prepare() and tests. On
 * failure *ret is what is certain all the same, or NULL. Blocks. */
CCM_NODISCARD int lbc_inventory_read(struct lbc_instance *lbc, const struct ccm_request *req,
                                     const struct ccm_strmap *expected, struct lbc_survey **ret,
                                     struct ccm_error *err);

/* For a pass without a valid mirror over a Service with a load balancer of its own: see
 * lbc_survey_take(). False also when there is no inventory, it is too old, or the Service was
 * edited since. */
bool lbc_inventory_take(struct lbc_instance *lbc, const struct ccm_service *service,
                        struct lbc_state *state);

/* Leave in a Service's state only what is certain; for lbc_inventory_take() and tests. Pure. */
void lbc_inventory_settle(const struct lbc_instance *lbc, const struct ccm_service *service,
                          struct lbc_state *state);

/* For map(): somebody has edited the Service, or what we keep on it, so what was read before does
 * not do for it. */
void lbc_inventory_record_edit(struct lbc_inventory *inventory, const struct ccm_object *service);

#endif
