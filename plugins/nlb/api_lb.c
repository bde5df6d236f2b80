#include "api_lb.h"

#include "alicloud/params.h"
#include "api.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>

const struct alilb_action nlb_api_lbs = {
    .name = "ListLoadBalancers",
    .product = ALI_NLB,
    .query = ALILB_QUERY_ALL,
    .texts = { "Tag.1.Key", "Tag.1.Value", "LoadBalancerNames.1" },
    .list = "LoadBalancers",
    .paging = ALILB_PAGES_TOKEN,
    .page = 100,
};
const struct alilb_action nlb_api_lb = {
    .name = "GetLoadBalancerAttribute",
    .product = ALI_NLB,
    .query = ALILB_QUERY_ALL,
    .texts = { "LoadBalancerId" },
};
const struct alilb_action nlb_api_delete_lb = {
    .name = "DeleteLoadBalancer",
    NLB_API_WRITE,
    .texts = { "LoadBalancerId" },
};
const struct alilb_action nlb_api_update_lb = {
    .name = "UpdateLoadBalancerAttribute",
    NLB_API_WRITE,
    .texts = { "LoadBalancerId", "LoadBalancerName", "CrossZoneEnabled" },
};
const struct alilb_action nlb_api_protect_lb = {
    .name = "UpdateLoadBalancerProtection",
    NLB_API_WRITE,
    .texts = { "LoadBalancerId", "DeletionProtectionEnabled", "ModificationProtectionStatus",
               "ModificationProtectionReason" },
};
const struct alilb_action nlb_api_enable_ipv6 = {
    .name = "EnableLoadBalancerIpv6Internet",
    NLB_API_WRITE,
    .texts = { "LoadBalancerId" },
};
const struct alilb_action nlb_api_disable_ipv6 = {
    .name = "DisableLoadBalancerIpv6Internet",
    NLB_API_WRITE,
    .texts = { "LoadBalancerId" },
};
const struct alilb_action nlb_api_join = {
    .name = "LoadBalancerJoinSecurityGroup",
    NLB_API_WRITE,
    .texts = { "LoadBalancerId" },
    .repeated = "SecurityGroupIds",
};
const struct alilb_action nlb_api_leave = {
    .name = "LoadBalancerLeaveSecurityGroup",
    NLB_API_WRITE,
    .texts = { "LoadBalancerId" },
    .repeated = "SecurityGroupIds",
};
const struct alilb_action nlb_api_attach = {
    .name = "AttachCommonBandwidthPackageToLoadBalancer",
    NLB_API_WRITE,
    .texts = { "LoadBalancerId", "BandwidthPackageId" },
};
const struct alilb_action nlb_api_detach = {
    .name = "DetachCommonBandwidthPackageFromLoadBalancer",
    NLB_API_WRITE,
    .texts = { "LoadBalancerId", "BandwidthPackageId" },
};

/* --- parameters --- */

static void params_add_zone_text(struct ali_params *params, size_t n, const char *member,
                                 const char *value)
{
    char name[64];

    ccm_text_printf(name, sizeof(name), "ZoneMappings.%zu.%.20s", n, member);
    ali_param_opt(params, name, value);
}

static void add_zones(struct ali_params *params, const struct nlb_lb *lb, bool addresses)
{
    for (size_t i = 0; i < lb->zone_count; i++) {
        const struct nlb_zone *zone = &lb->zones[i];

        params_add_zone_text(params, i + 1, "ZoneId", zone->zone_id);
        params_add_zone_text(params, i + 1, "VSwitchId", zone->vswitch_id);
        params_add_zone_text(params, i + 1, "AllocationId", zone->eip);
        if (addresses) {
            params_add_zone_text(params, i + 1, "PrivateIPv4Address", zone->address);
        }
    }
}

static void create_params(const struct nlb_create *create, struct ali_params *params)
{
    alilb_param_lb(params, &nlb_annotations, create->lb->lbc.texts);
    if (ccm_text_equal(create->lb->lbc.texts[NLB_LB_MODIFICATION], "ConsoleProtection")) {
        ali_param_add(params, "ModificationProtectionConfig.Reason", NLB_PROTECT_WHY);
    }
    ali_param_add(params, "VpcId", create->lb->lbc.vpc_id);
    add_zones(params, create->lb, true);
    alilb_param_tags(params, create->tags, 1);
    ali_param_add(params, "ClientToken", create->token);
}

/* --- writes --- */

int nlb_api_create_lb(struct alilb_call *call, const struct nlb_create *create,
                      struct lbc_sent *sent, struct ccm_error *err)
{
    static const struct alilb_action action = {
        .name = "CreateLoadBalancer",
        NLB_API_WRITE,
        .made = "LoadbalancerId",
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    create_params(create, &params);
    return alilb_write(call, &action, ALILB_PARAMS(&params), sent, err);
}

int nlb_api_update_zones(struct alilb_call *call, const char *lb_id, const char *type,
                         const struct nlb_lb *lb, struct lbc_sent *sent, struct ccm_error *err)
{
    const struct alilb_action action = {
        .name = type == NULL ? "UpdateLoadBalancerZones" : "UpdateLoadBalancerAddressTypeConfig",
        NLB_API_WRITE,
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    ali_param_add(&params, "AddressType", type);
    add_zones(&params, lb, type == NULL);
    return alilb_write(call, &action, ALILB_PARAMS(&params), sent, err);
}
