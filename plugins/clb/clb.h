/* What the parts of this plugin share: the instance, and typed access to what a pass holds. */
#ifndef CCM_CLB_H
#define CCM_CLB_H

#include "alilb/account.h"
#include "lbc/controller.h"
#include "lbc/model/settings.h"
#include "lbc/pass.h"
#include "state.h"

#include <stdatomic.h>
#include <stdbool.h>

#define CLB_FINALIZER     "service.k8s.alibaba/resources"
#define CLB_ACL_LABEL     "service.k8s.alibaba/access-list-id"
#define CLB_COMPONENT     "service-controller"
#define CLB_TAG_OWNER     LBC_TAG_OWNER
#define CLB_TAG_CLUSTER   LBC_TAG_CLUSTER
#define CLB_TAG_REUSE     LBC_TAG_REUSE
#define CLB_TAGS_MAX      20 /* of one resource */
#define CLB_PROTECT_WHY   "managed.by.ack"
#define CLB_BATCH_DEFAULT 40
#define CLB_PUBLIC_OPTION "disable_public_slb"
#define CLB_BATCH_SMALL   20 /* what CreateVServerGroup takes, and all calls of some regions */

/* Fixed after create() but for the atomic members and what the parts of `lbc` guard. Shared by all
 * workers. */
struct clb {
    struct lbc_instance lbc; /* first: the two are converted into one another */
    atomic_uint batch;       /* backends per call; only ever lowered */
};

extern const struct lbc_ops clb_ops;

static inline struct clb *clb_of(const struct lbc_pass *pass)
{
    return (struct clb *)pass->lbc;
}

static inline struct ali_client *clb_client(const struct clb *clb)
{
    return alilb_client(&clb->lbc.cloud);
}

/* What the cloud holds. */
static inline struct clb_state *clb_actual(const struct lbc_entry *entry)
{
    return entry->state;
}

#endif
