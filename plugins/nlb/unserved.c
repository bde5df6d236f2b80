#include "unserved.h"

#include "alilb/class.h"
#include "annotation_text.h"
#include "lbc/model/annotation.h"
#include "model_parts.h"
#include "util/text.h"

#include <stddef.h>

/* Somebody else's load balancer keeps the security groups that it has. */
static bool has_useless_ranges(const struct ccm_service *service)
{
    return lbc_unserved_ranges(service) && lbc_setting_is_reused(service);
}

const struct lbc_unserved nlb_unserved[] = {
    { "ipv4", "spec.ipFamilies", NULL,
      "spec.ipFamilies is IPv6 alone, but the load balancer reaches its backends over IPv4: set "
      "spec.ipFamilyPolicy to PreferDualStack, or make the Service anew with annotations "
      "ip-version dualstack and backend-ip-version ipv6",
      0, NULL, NULL, LBC_IPV4, nlb_model_families },
    { "ipv6", "spec.ipFamilies", NULL,
      "spec.ipFamilies lacks IPv6, which annotation backend-ip-version asks for: set "
      "spec.ipFamilyPolicy to PreferDualStack, or remove the annotation",
      0, NULL, NULL, LBC_IPV6, nlb_model_families },
    { "dualstack", "spec.ipFamilies", NULL,
      "spec.ipFamilies lacks one of the families that annotation backend-ip-version asks for: set "
      "spec.ipFamilyPolicy to PreferDualStack, or name the one that is there",
      0, NULL, NULL, LBC_DUAL_STACK, nlb_model_families },
    { "ranges", "spec.loadBalancerSourceRanges", has_useless_ranges,
      "LoadBalancerSourceRanges is not supported for user-managed LB.", 0, NULL,
      "FeatureNotSupported", 0, NULL },
    { "affinity", "spec.sessionAffinity", lbc_unserved_affinity,
      "spec.sessionAffinity ClientIP has no effect: the load balancer shares out every connection "
      "anew (annotation scheduler: sch goes by the client's address)",
      0, NULL, NULL, 0, NULL },
    { "ip", "spec.loadBalancerIP", lbc_unserved_ip,
      "spec.loadBalancerIP has no effect: annotation zone-maps takes an address per zone", 0, NULL,
      NULL, 0, NULL },
    { NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL },
};

static bool has_one_family(const struct ccm_service *service)
{
    return !nlb_is_dual_stack(service) &&
           !ccm_text_equal_case(lbc_anno_get(&service->meta, "backend-ip-version"), "ipv4");
}

const struct lbc_hint nlb_hints[] = {
    { "backend-ip-version", has_one_family, "has no effect without ip-version dualstack", NULL,
      true },
    { NULL, NULL, NULL, NULL, false },
};
