#include "unserved.h"

#include "model_listeners.h"

#include <stddef.h>

const struct ccm_unserved clb_unserved[] = {
    { "ranges", "spec.loadBalancerSourceRanges", ccm_unserved_ranges,
      "spec.loadBalancerSourceRanges has no effect: the load balancer accepts connections from "
      "everywhere (option source_ranges of plugin clb)",
      CLB_EXTRA_RANGES, "source_ranges", NULL },
    { "affinity", "spec.sessionAffinity", ccm_unserved_affinity,
      "spec.sessionAffinity ClientIP has no effect: the load balancer shares out every connection "
      "anew (annotation persistence-timeout, or option session_affinity of plugin clb)",
      CLB_EXTRA_AFFINITY, "session_affinity", NULL },
    { "ip", "spec.loadBalancerIP", ccm_unserved_ip,
      "spec.loadBalancerIP has no effect: the cloud chooses the address", 0, NULL, NULL },
    { NULL, NULL, NULL, NULL, 0, NULL, NULL },
};

const struct ccm_hint clb_hints[] = {
    { NULL, NULL, NULL, NULL }, /* rows of all kinds say it */
};
