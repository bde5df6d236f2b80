#include "lint.h"

#include "alilb/class.h"
#include "annotation_text.h"
#include "annotations.h"
#include "ccm/object.h"
#include "lbc/instance.h"
#include "lbc/rules/lint.h"
#include "model_parts.h"
#include "nlb.h"
#include "util/text.h"

#define PATH_MAX_BYTES 64

const struct ccm_option nlb_opt_loose = CCM_OPTION_RETIRED_ROW(
    NULL, "loose_switches", "write on for true, and switch protections off in the console");

/* --- what is our own --- */

static void lint_overlaps(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        struct ccm_error err = CCM_ERROR_INIT;
        char path[PATH_MAX_BYTES];

        if (nlb_check_overlap(service, i, i, &err) < 0) {
            ccm_text_printf(path, sizeof(path), "spec.ports[%llu].port", (unsigned long long)i);
            sink->finding(sink, CCM_LEVEL_ERROR, path, err.message);
        }
    }
}

static void lint_ranges(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    struct ccm_error err = CCM_ERROR_INIT;

    if (nlb_check_source_ranges(service, &err) < 0) {
        sink->finding(sink, CCM_LEVEL_ERROR, "spec.loadBalancerSourceRanges", err.message);
    }
}

static void lint_more(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    lint_overlaps(service, sink);
    lint_ranges(service, sink);
}

/* Somebody else's load balancer keeps the security groups that it has. */
static bool has_useless_ranges(const struct ccm_service *service)
{
    return lbc_setting_limits_sources(service) && lbc_setting_is_reused(service);
}

static bool has_one_family(const struct ccm_service *service)
{
    return !nlb_is_dual_stack(service) &&
           !lbc_anno_says(&service->meta, "backend-ip-version", "ipv4");
}

static bool checks_nothing(const struct ccm_service *service)
{
    return lbc_anno_says(&service->meta, "health-check-flag", "off") ||
           lbc_anno_says(&service->meta, "health-check-flag", "false");
}

static bool has_one_own_family(const struct ccm_service *service)
{
    return !lbc_setting_is_reused(service) && !nlb_is_dual_stack(service);
}

static bool lacks_authority(const struct ccm_service *service)
{
    return lbc_anno_is_on(lbc_anno_get(&service->meta, "cacert")) &&
           lbc_anno_get(&service->meta, "cacert-id")[0] == '\0' &&
           lbc_setting_has_listeners(&nlb_annotations, service) &&
           lbc_setting_has_protocol(service, &nlb_protocols, 1U << LBC_TCPSSL);
}

static const struct lbc_rule rows[] = {
    { .key = "protocol-port", .port = LBC_RULE_RIGHT },
    { .key = "vgroup-port", .port = LBC_RULE_RIGHT },
    { .key = "listener-port-range", .port = LBC_RULE_RIGHT },
    { .key = "ipv6-address-type",
      .applies = has_one_own_family,
      .text = "has no effect without ip-version dualstack" },
    { .key = "cacert",
      .applies = lacks_authority,
      .text = "has no effect without cacert-id, which names the authority that clients are checked "
              "against, so it does not limit who may connect",
      .guards = true },
    { .key = "backend-ip-version",
      .applies = has_one_family,
      .text = "has no effect without ip-version dualstack",
      .is_void = true },
    { .key = "health-check-type",
      .applies = checks_nothing,
      .text = "has no effect with health-check-flag off" },
    LBC_RULE_FAMILIES("ip-version dualstack and backend-ip-version ipv6"),
    { .key = "spec.ipFamilies",
      .topic = "dualstack",
      .families = LBC_DUAL_STACK,
      .text = "spec.ipFamilies lacks one of the families that annotation backend-ip-version asks "
              "for: set spec.ipFamilyPolicy to PreferDualStack, or name the one that is there" },
    { .key = "spec.loadBalancerSourceRanges",
      .topic = "ranges",
      .applies = has_useless_ranges,
      .reason = "FeatureNotSupported",
      .text = "LoadBalancerSourceRanges is not supported for user-managed LB." },
    { .key = "spec.sessionAffinity",
      .topic = "affinity",
      .applies = lbc_rule_has_affinity,
      .text = "spec.sessionAffinity ClientIP has no effect: the load balancer shares out every "
              "connection anew (annotation scheduler: sch goes by the client's address)" },
    { .key = "spec.loadBalancerIP",
      .topic = "ip",
      .applies = lbc_rule_has_ip,
      .text = "spec.loadBalancerIP has no effect: annotation zone-maps takes an address per zone" },
    { 0 },
};

const struct lbc_lint_rules nlb_rules = {
    .annotations = &nlb_annotations,
    .checks = nlb_checks,
    .rows = rows,
    .protocols = &nlb_protocols,
    .families_of = nlb_model_families,
    .choose = alilb_class_choose_nlb,
    .takes = alilb_class_takes_nlb,
    .public_option = NLB_PUBLIC_OPTION,
    .public_text = "option disable_public_nlb of plugin nlb forbids a public address: set "
                   "annotation address-type to intranet",
    .has_ranges = true,
    .more = lint_more,
    .unclear = nlb_annotation_unclear,
};
