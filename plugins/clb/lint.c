#include "lint.h"

#include "alilb/class.h"
#include "annotation_text.h"
#include "annotations.h"
#include "clb.h"
#include "model.h"
#include "model_listeners.h"

#include "util/text.h"

#include <string.h>

const struct ccm_option clb_opt_ranges = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .name = "source_ranges",
    .fallback = "false",
    .help = "Let spec.loadBalancerSourceRanges decide who may connect, through an access list that "
            "is made, kept and deleted with the Service. Switched off, a list stays until its "
            "Service has no ranges any more.",
};
const struct ccm_option clb_opt_affinity = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .name = "session_affinity",
    .fallback = "false",
    .help = "Let spec.sessionAffinity ClientIP keep a client on its backend, for the time that "
            "sessionAffinityConfig tells but an hour at most, on tcp ports without annotation "
            "persistence-timeout. None ends it. Switched off, a timeout below 3600 that equals the "
            "Service's is set to 0 again. 3600 stays, because a person may have set it: to end it, "
            "set annotation persistence-timeout to 0.",
};

/* Backends of another family than the load balancer's are never asked for. */
static bool lint_row_counts(const struct ccm_service *service, const struct lbc_anno *row)
{
    return strcmp(row->name, "backend-ip-version") != 0 ||
           lbc_anno_says(&service->meta, "ip-version", "ipv6");
}

/* --- what does nothing --- */

/* A load balancer of somebody else may have been made in any way. */
static bool is_own(const struct ccm_service *service)
{
    return !lbc_setting_is_reused(service);
}

static bool is_own_private(const struct ccm_service *service)
{
    return is_own(service) && lbc_anno_says(&service->meta, "address-type", "intranet");
}

static bool is_own_public(const struct ccm_service *service)
{
    return is_own(service) && !lbc_anno_says(&service->meta, "address-type", "intranet");
}

static bool pays_no_bandwidth(const struct ccm_service *service)
{
    return is_own(service) && !lbc_anno_says(&service->meta, "charge-type", "paybybandwidth") &&
           !lbc_anno_says(&service->meta, "bandwidth", "0"); /* which is none */
}

static bool pays_by_use(const struct ccm_service *service)
{
    return is_own_public(service) &&
           lbc_anno_says(&service->meta, "charge-type", "paybybandwidth") &&
           !lbc_anno_says(&service->meta, "instance-charge-type", "PayBySpec");
}

static bool pays_no_spec(const struct ccm_service *service)
{
    return is_own(service) && !lbc_anno_says(&service->meta, "instance-charge-type", "PayBySpec");
}

static bool has_one_zone(const struct ccm_service *service)
{
    return ccm_text_equal(lbc_anno_get(&service->meta, "master-zoneid"),
                          lbc_anno_get(&service->meta, "slave-zoneid"));
}

static bool has_listeners(const struct ccm_service *service, unsigned protocols)
{
    return lbc_setting_has_listeners(&clb_annotations, service) &&
           lbc_setting_has_protocol(service, &clb_protocols, protocols);
}

/* Listeners of http and https have a switch of their own. */
static bool checks_by_flag(const struct ccm_service *service)
{
    return lbc_anno_says(&service->meta, "health-check-flag", "on") &&
           has_listeners(service, 1U << LBC_HTTP | 1U << LBC_HTTPS);
}

static bool checks_nothing(const struct ccm_service *service)
{
    return lbc_anno_says(&service->meta, "health-check-switch", "off") &&
           has_listeners(service, 1U << LBC_TCP | 1U << LBC_UDP) && !checks_by_flag(service);
}

static bool checks_connections(const struct ccm_service *service)
{
    return !lbc_anno_says(&service->meta, "health-check-switch", "off") &&
           !lbc_anno_says(&service->meta, "health-check-type", "http") &&
           has_listeners(service, 1U << LBC_TCP) && !checks_by_flag(service);
}

#define UNCHECKED(name)                                                                            \
    {                                                                                              \
        .key = (name), .applies = checks_nothing,                                                  \
        .text = "has no effect with health-check-switch off"                                       \
    }
#define BY_HTTP(name)                                                                              \
    {                                                                                              \
        .key = (name), .applies = checks_connections,                                              \
        .text = "has no effect without health-check-type http"                                     \
    }

static const struct lbc_rule rows[] = {
    { .key = "protocol-port", .port = LBC_RULE_RIGHT },
    { .key = "vgroup-port", .port = LBC_RULE_RIGHT },
    { .key = "forward-port", .port = LBC_RULE_LEFT },
    ALILB_TYPE_HINT, /* rows of all kinds say the others */
    { .key = "vswitch-id",
      .applies = is_own_public,
      .text = "has no effect on an internet load balancer: it is for annotation "
              "address-type intranet" },
    { .key = "ip",
      .applies = is_own_public,
      .text =
          "has no effect on an internet load balancer, whose address the cloud chooses: it is for "
          "annotation address-type intranet" },
    { .key = "charge-type",
      .applies = is_own_private,
      .text = "has no effect on an intranet load balancer" },
    { .key = "charge-type",
      .applies = pays_by_use,
      .text =
          "goes with instance-charge-type PayBySpec: of a load balancer that pays by use "
          "(PayByCLCU, the default) the cloud refuses to change bandwidth and charge type. Set "
          "annotations " LBC_ANNO_PREFIX "instance-charge-type to PayBySpec and " LBC_ANNO_PREFIX
          "spec to a size such as slb.s1.small, or take " LBC_ANNO_PREFIX
          "charge-type and " LBC_ANNO_PREFIX "bandwidth away" },
    { .key = "bandwidth",
      .applies = pays_no_bandwidth,
      .text = "has no effect without charge-type paybybandwidth" },
    { .key = "spec",
      .applies = pays_no_spec,
      .text = "has no effect without instance-charge-type PayBySpec: with PayByCLCU "
              "a load balancer has no size class" },
    { .key = "slave-zoneid",
      .applies = has_one_zone,
      .text = "names the zone of master-zoneid: what takes over when a zone "
              "fails has to be in another one" },
    UNCHECKED("health-check-type"),
    UNCHECKED("health-check-connect-port"),
    UNCHECKED("health-check-connect-timeout"),
    UNCHECKED("health-check-interval"),
    UNCHECKED("healthy-threshold"),
    UNCHECKED("unhealthy-threshold"),
    UNCHECKED("health-check-uri"),
    UNCHECKED("health-check-domain"),
    UNCHECKED("health-check-httpcode"),
    BY_HTTP("health-check-uri"),
    BY_HTTP("health-check-domain"),
    BY_HTTP("health-check-httpcode"),
    LBC_RULE_FAMILIES("ip-version and backend-ip-version ipv6"),
    { .key = "spec.loadBalancerSourceRanges",
      .topic = "ranges",
      .applies = lbc_setting_limits_sources,
      .unless = &clb_opt_ranges,
      .text =
          "spec.loadBalancerSourceRanges has no effect while option source_ranges of plugin clb "
          "is off: an access list that exists stays as it is, and without one the load "
          "balancer accepts connections from everywhere",
      .refusal =
          "spec.loadBalancerSourceRanges says who may connect, and option source_ranges of "
          "plugin clb is off: no load balancer is made that accepts connections from "
          "everywhere. Whoever runs ccmd sets the option to true. Without it: take the field "
          "away and name an access list in annotation " LBC_ANNO_PREFIX
          "acl-id, with " LBC_ANNO_PREFIX "acl-status \"on\" and " LBC_ANNO_PREFIX
          "acl-type white. The "
          "field taken away alone lets everybody connect" },
    { .key = "spec.sessionAffinity",
      .topic = "affinity",
      .applies = lbc_rule_has_affinity,
      .unless = &clb_opt_affinity,
      .text = "spec.sessionAffinity ClientIP has no effect: the load balancer shares out every "
              "connection anew. Set annotation " LBC_ANNO_PREFIX "persistence-timeout to the "
              "seconds that a client stays on its backend (1 to 3600, tcp ports), or let whoever "
              "runs ccmd set option session_affinity of plugin clb to true" },
    { .key = "spec.loadBalancerIP",
      .topic = "ip",
      .applies = lbc_rule_has_ip,
      .text =
          "spec.loadBalancerIP has no effect: the cloud chooses the address. For a fixed one set "
          "annotation " LBC_ANNO_PREFIX "id to a load balancer made by hand, which stays when "
          "the Service goes, or annotation " LBC_ANNO_PREFIX "ip to an address of the vSwitch "
          "(intranet)" },
    { 0 },
};

const struct lbc_lint_rules clb_rules = {
    .annotations = &clb_annotations,
    .checks = clb_checks,
    .rows = rows,
    .protocols = &clb_protocols,
    .families_of = clb_model_families,
    .choose = alilb_class_choose_clb,
    .takes = alilb_class_takes_clb,
    .public_option = CLB_PUBLIC_OPTION,
    .public_text = "create public address slb is not allowed",
    .shows_address = true,
    .counts = lint_row_counts,
};
