#include "unserved.h"

#include "alilb/class.h"
#include "lbc/model/annotation.h"
#include "model_listeners.h"
#include "util/text.h"

#include <stddef.h>

static enum lbc_families families_of(const struct ccm_service *service)
{
    return ccm_text_equal_case(lbc_anno_get(&service->meta, "ip-version"), "ipv6") &&
                   ccm_text_equal_case(lbc_anno_get(&service->meta, "backend-ip-version"), "ipv6")
               ? LBC_IPV6
               : LBC_IPV4;
}

const struct lbc_unserved clb_unserved[] = {
    { "ipv4", "spec.ipFamilies", NULL,
      "spec.ipFamilies is IPv6 alone, but the load balancer reaches its backends over IPv4: set "
      "spec.ipFamilyPolicy to PreferDualStack, or make the Service anew with annotations "
      "ip-version and backend-ip-version ipv6",
      0, NULL, NULL, LBC_IPV4, families_of },
    { "ipv6", "spec.ipFamilies", NULL,
      "spec.ipFamilies lacks IPv6, which annotation backend-ip-version asks for: set "
      "spec.ipFamilyPolicy to PreferDualStack, or remove the annotation",
      0, NULL, NULL, LBC_IPV6, families_of },
    { "ranges", "spec.loadBalancerSourceRanges", lbc_unserved_ranges,
      "spec.loadBalancerSourceRanges has no effect: the load balancer accepts connections from "
      "everywhere (option source_ranges of plugin clb)",
      CLB_EXTRA_RANGES, "source_ranges", NULL, 0, NULL },
    { "affinity", "spec.sessionAffinity", lbc_unserved_affinity,
      "spec.sessionAffinity ClientIP has no effect: the load balancer shares out every connection "
      "anew (annotation persistence-timeout, or option session_affinity of plugin clb)",
      CLB_EXTRA_AFFINITY, "session_affinity", NULL, 0, NULL },
    { "ip", "spec.loadBalancerIP", lbc_unserved_ip,
      "spec.loadBalancerIP has no effect: the cloud chooses the address", 0, NULL, NULL, 0, NULL },
    { NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL },
};

const struct lbc_hint clb_hints[] = {
    ALILB_TYPE_HINT, { NULL, NULL, NULL, NULL, false }, /* rows of all kinds say it */
};
