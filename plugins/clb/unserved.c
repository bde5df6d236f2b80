#include "unserved.h"

#include "model_listeners.h"
#include "util/text.h"

#include <stddef.h>

static bool has_ranges(const struct ccm_service *service)
{
    return service->source_range_count > 0;
}

static bool has_ip(const struct ccm_service *service)
{
    return service->load_balancer_ip[0] != '\0';
}

static bool has_affinity(const struct ccm_service *service)
{
    return ccm_text_equal(service->session_affinity, "ClientIP");
}

const struct clb_unserved clb_unserved[] = {
    { "ranges", "spec.loadBalancerSourceRanges", has_ranges,
      "spec.loadBalancerSourceRanges has no effect: the load balancer accepts connections from "
      "everywhere (option source_ranges of plugin clb)",
      CLB_EXTRA_RANGES, "source_ranges" },
    { "affinity", "spec.sessionAffinity", has_affinity,
      "spec.sessionAffinity ClientIP has no effect: the load balancer shares out every connection "
      "anew (annotation persistence-timeout, or option session_affinity of plugin clb)",
      CLB_EXTRA_AFFINITY, "session_affinity" },
    { "ip", "spec.loadBalancerIP", has_ip,
      "spec.loadBalancerIP has no effect: the cloud chooses the address", 0, NULL },
    { NULL, NULL, NULL, NULL, 0, NULL },
};
