#include "unserved.h"

#include "alilb/class.h"
#include "lbc/model/annotation.h"
#include "model_listeners.h"
#include "util/text.h"

#include <stddef.h>

static bool service_asks_ipv6(const struct ccm_service *service)
{
    return ccm_text_equal_case(lbc_anno_get(&service->meta, "ip-version"), "ipv6") &&
           ccm_text_equal_case(lbc_anno_get(&service->meta, "backend-ip-version"), "ipv6");
}

static bool lacks_ipv4(const struct ccm_service *service)
{
    return !service_asks_ipv6(service) && lbc_unserved_family(service, LBC_IPV4);
}

static bool lacks_ipv6(const struct ccm_service *service)
{
    return service_asks_ipv6(service) && lbc_unserved_family(service, LBC_IPV6);
}

const struct lbc_unserved clb_unserved[] = {
    { "ipv4", "spec.ipFamilies", lacks_ipv4,
      "spec.ipFamilies is IPv6 alone, but the load balancer reaches its backends over IPv4: set "
      "spec.ipFamilyPolicy to PreferDualStack, or make the Service anew with annotations "
      "ip-version and backend-ip-version ipv6",
      0, NULL, NULL },
    { "ipv6", "spec.ipFamilies", lacks_ipv6,
      "spec.ipFamilies lacks IPv6, which annotation backend-ip-version asks for: set "
      "spec.ipFamilyPolicy to PreferDualStack, or remove the annotation",
      0, NULL, NULL },
    { "ranges", "spec.loadBalancerSourceRanges", lbc_unserved_ranges,
      "spec.loadBalancerSourceRanges has no effect: the load balancer accepts connections from "
      "everywhere (option source_ranges of plugin clb)",
      CLB_EXTRA_RANGES, "source_ranges", NULL },
    { "affinity", "spec.sessionAffinity", lbc_unserved_affinity,
      "spec.sessionAffinity ClientIP has no effect: the load balancer shares out every connection "
      "anew (annotation persistence-timeout, or option session_affinity of plugin clb)",
      CLB_EXTRA_AFFINITY, "session_affinity", NULL },
    { "ip", "spec.loadBalancerIP", lbc_unserved_ip,
      "spec.loadBalancerIP has no effect: the cloud chooses the address", 0, NULL, NULL },
    { NULL, NULL, NULL, NULL, 0, NULL, NULL },
};

const struct lbc_hint clb_hints[] = {
    ALILB_TYPE_HINT, { NULL, NULL, NULL, NULL, false }, /* rows of all kinds say it */
};
