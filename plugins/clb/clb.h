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
#define CLB_TAG_REUSE     "kubernetes.reused.by.user"
#define CLB_TAGS_MAX      20 /* of one resource */
#define CLB_PROTECT_WHY   "managed.by.ack"
#define CLB_BATCH_DEFAULT 40
#define CLB_BATCH_SMALL                                                                            \
    20 /* what every CreateVServerGroup takes, and all calls of some regions                       \
        */

struct clb_inventory;
struct clb_store;

/* Fixed after create() but for `batch` and `audits`. Shared by all workers. */
struct clb {
    const struct ccm_host *host;
    struct ccm_ali *ali;
    struct clb_store *store;
    struct clb_inventory *inventory; /* NULL: there is none */
    struct ccm_life life;
    struct ccm_mapping mapping;
    bool default_eni;
    unsigned extras; /* CLB_EXTRA_* of model_listeners.h */
    bool disable_public;
    int64_t audit_ms;    /* between two looks at a load balancer; 0 = never */
    const char *ip_mode; /* of the status; NULL or "" = not told */
    bool conditions;     /* Services say how they are */
    atomic_uint batch;   /* backends per call; only ever lowered */
    atomic_uint audits;  /* running */
};

#endif
