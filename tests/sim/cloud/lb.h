/* What the actions of load balancers share. With the cloud's lock held. */
#ifndef CCM_CLOUD_LB_H
#define CCM_CLOUD_LB_H

#include "cloud.h"

/* Sizes of those that are paid by size. */
#define CCM_CLOUD_LB_SPECS                                                                         \
    "slb.s1.small|slb.s2.small|slb.s2.medium|slb.s3.small|slb.s3.medium|slb.s3."                   \
    "large"

#define CCM_CLOUD_LB_ID_ROW                                                                        \
    {                                                                                              \
        .name = "LoadBalancerId", .required = true                                                 \
    }

/* The load balancer that LoadBalancerId names. 0 or -EPROTO. */
CCM_NODISCARD int ccm_cloud_lb_of(struct ccm_cloud_call *call, struct ccm_cloud_lb **ret);

/* The group that VServerGroupId names. 0 or -EPROTO. */
CCM_NODISCARD int ccm_cloud_vgroup_of(struct ccm_cloud_call *call, struct ccm_cloud_vgroup **ret);

/* Midnight: what was ordered for the next day counts. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_lbs_next_day(struct ccm_cloud *cloud);

/* Whether it is of the shared kind: no guaranteed performance, and fewer features. */
bool ccm_cloud_lb_is_shared(const struct ccm_cloud_lb *lb);

#endif
