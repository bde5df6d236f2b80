/* What the parts of this plugin share: the instance and one pass over one Service. */
#ifndef CCM_CLB_H
#define CCM_CLB_H

#include "alicloud/client.h"
#include "ccm/plugin.h"
#include "service/lifecycle.h"
#include "service/mapping.h"

#include <stdatomic.h>
#include <stdbool.h>

#define CLB_FINALIZER     "service.k8s.alibaba/resources"
#define CLB_COMPONENT     "service-controller"
#define CLB_TAG_OWNER     "kubernetes.do.not.delete"
#define CLB_TAG_CLUSTER   "ack.aliyun.com"
#define CLB_PROTECT_WHY   "managed.by.ack"
#define CLB_BATCH_DEFAULT 40
#define CLB_BATCH_SMALL                                                                            \
    20 /* what every CreateVServerGroup takes, and all calls of some regions                       \
        */

struct clb_store;

/* Fixed after create() but for `batch`. Shared by all workers. */
struct clb {
    const struct ccm_host *host;
    struct ccm_ali *ali;
    struct clb_store *store;
    struct ccm_life life;
    struct ccm_mapping mapping;
    bool default_eni;
    bool disable_public;
    atomic_uint batch; /* backends per call; only ever lowered */
};

#endif
