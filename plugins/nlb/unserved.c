#include "unserved.h"

#include "annotation_text.h"
#include "service/annotation.h"
#include "util/text.h"

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

/* --- annotations that count only beside others; whoever switched those off knows --- */

static bool has_no_check(const struct ccm_service *service)
{
    return ccm_anno_get(&service->meta, "health-check-flag")[0] == '\0';
}

static bool has_no_drain(const struct ccm_service *service)
{
    return ccm_anno_get(&service->meta, "connection-drain")[0] == '\0';
}

static bool has_no_alpn(const struct ccm_service *service)
{
    return ccm_anno_get(&service->meta, "alpn")[0] == '\0';
}

static bool has_one_family(const struct ccm_service *service)
{
    return !nlb_is_dual_stack(service) &&
           !ccm_text_equal_case(ccm_anno_get(&service->meta, "backend-ip-version"), "ipv4");
}

#define CHECK_OFF "has no effect without health-check-flag on"

const struct ccm_hint nlb_hints[] = {
    { "health-check-type", has_no_check, CHECK_OFF, NULL },
    { "health-check-connect-port", has_no_check, CHECK_OFF, NULL },
    { "healthy-threshold", has_no_check, CHECK_OFF, NULL },
    { "unhealthy-threshold", has_no_check, CHECK_OFF, NULL },
    { "health-check-connect-timeout", has_no_check, CHECK_OFF, NULL },
    { "health-check-interval", has_no_check, CHECK_OFF, NULL },
    { "health-check-domain", has_no_check, CHECK_OFF, NULL },
    { "health-check-uri", has_no_check, CHECK_OFF, NULL },
    { "health-check-method", has_no_check, CHECK_OFF, NULL },
    { "health-check-httpcode", has_no_check, CHECK_OFF, NULL },
    { "connection-drain-timeout", has_no_drain, "has no effect without connection-drain", NULL },
    { "alpn-policy", has_no_alpn, "has no effect without alpn on", NULL },
    { "backend-ip-version", has_one_family, "has no effect without ip-version dualstack", NULL },
    { NULL, NULL, NULL, NULL },
};
