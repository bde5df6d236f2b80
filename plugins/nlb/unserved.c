#include "unserved.h"

#include "service/annotation.h"

#include <stddef.h>

/* Somebody else's load balancer keeps the security groups that it has. */
static bool has_useless_ranges(const struct ccm_service *service)
{
    return ccm_unserved_ranges(service) && ccm_anno_get(&service->meta, "id")[0] != '\0';
}

const struct ccm_unserved nlb_unserved[] = {
    { "ranges", "spec.loadBalancerSourceRanges", has_useless_ranges,
      "LoadBalancerSourceRanges is not supported for user-managed LB.", 0, NULL,
      "FeatureNotSupported" },
    { "affinity", "spec.sessionAffinity", ccm_unserved_affinity,
      "spec.sessionAffinity ClientIP has no effect: the load balancer shares out every connection "
      "anew (annotation scheduler: sch goes by the client's address)",
      0, NULL, NULL },
    { "ip", "spec.loadBalancerIP", ccm_unserved_ip,
      "spec.loadBalancerIP has no effect: annotation zone-maps takes an address per zone", 0, NULL,
      NULL },
    { NULL, NULL, NULL, NULL, 0, NULL, NULL },
};
