/*
 * What carries the mark of this cluster in the cloud although its Service is gone: deleted without
 * finalizer, or lost with a restored API server. One key of its own looks for it now and then,
 * names it on the Lease, in a metric and on the status page, and deletes it where an option says
 * so. Absence is no order to delete: it takes two looks in a row, at caches that are in step with
 * one API server all the while, the wait of what is missing (which outlasts a watch that fell
 * silent), and for each kind the floor of removals; and then it is looked at once more right
 * before. Only one thread works on that key at a time.
 */
#ifndef CCM_LBC_ORPHANS_H
#define CCM_LBC_ORPHANS_H

#include "ccm/plugin.h"
#include "lbc/model/owner.h"
#include "lbc/model/tags.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>

/* The key; no Service is called so. */
#define LBC_ORPHANS_KEY "all load balancers"

struct lbc_instance;
struct lbc_state;
struct lbc_orphans;
struct lbc_orphan_list;

#define LBC_ORPHAN_KINDS 4

/* One thing. */
struct lbc_orphan {
    unsigned kind; /* below LBC_ORPHAN_KINDS */
    const char *what;
    char *id;
    char owner[LBC_OWNER_LB_NAME]; /* as its tag says */
};

/* How a plugin looks. They block. 0, or negative with err. remove() or read(), one of both. */
struct lbc_orphan_ops {
    /* Offer all that carries the cluster's mark, by lbc_orphans_offer(): completely or not at all.
     */
    int (*list)(struct lbc_instance *lbc, const struct ccm_request *req, struct lbc_orphan_list *to,
                struct ccm_error *err);
    /* Look at one again, and delete it. 1: it is none any more (lbc_orphan_is()) and stays. NULL:
     * the engine does it, by read() and the plan that deletes a Service's load balancer. */
    int (*remove)(struct lbc_instance *lbc, const struct ccm_request *req,
                  const struct lbc_orphan *one, struct ccm_error *err);
    /* Read the load balancer of that id, with all that is in it, into an empty state of the
     * product. When it is gone: -ENOENT with CCM_ERROR_NOT_FOUND. The steps that delete it are sent
     * for a Service without name; only for products whose lbc_change_ops have no apply(). */
    int (*read)(struct lbc_instance *lbc, const struct ccm_request *req, const char *id,
                struct lbc_state *state, struct ccm_error *err);
    const void *kinds; /* the plugin's own; NULL = it needs none */
};

/* NULL on ENOMEM. */
struct lbc_orphans *lbc_orphans_new(void);
/* NULL is fine. */
void lbc_orphans_free(struct lbc_orphans *orphans);

/* One thing of the cloud; kind: the product's, in the order in which they are deleted; what: how
 * people call it, a constant. What others own is passed over. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_orphans_offer(struct lbc_orphan_list *list, unsigned kind, const char *what,
                                    const char *id, const struct lbc_tags *tags);

/* Whether these are its tags still, and no Service of any cluster says that it uses it. */
bool lbc_orphan_is(const struct lbc_orphan *one, const char *cluster_id,
                   const struct lbc_tags *tags);

/* Have the key come for the first time. */
void lbc_orphans_start(struct lbc_instance *lbc);
/* One look, for the reconcile of the key. Blocks. 0, or negative with err. */
CCM_NODISCARD int lbc_orphans_look(struct lbc_instance *lbc, const struct ccm_request *req,
                                   struct ccm_result *ret, struct ccm_error *err);

#endif
