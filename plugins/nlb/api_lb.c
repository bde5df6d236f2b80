/* The actions on load balancers. */
#include "api.h"

#include "alicloud/params.h"
#include "util/text.h"

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
const struct alilb_action nlb_api_create_lb = {
    .name = "CreateLoadBalancer",
    NLB_API_WRITE,
    .texts = { "VpcId", "ModificationProtectionConfig.Reason", "ClientToken" },
    .made = "LoadbalancerId",
};
const struct alilb_action nlb_api_update_zones = {
    .name = "UpdateLoadBalancerZones",
    NLB_API_WRITE,
    .texts = { "LoadBalancerId" },
};
const struct alilb_action nlb_api_update_address_type = {
    .name = "UpdateLoadBalancerAddressTypeConfig",
    NLB_API_WRITE,
    .texts = { "LoadBalancerId", "AddressType" },
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

/* --- zones --- */

static void params_add_zone_text(struct ali_params *params, size_t n, const char *member,
                                 const char *value)
{
    char name[64];

    ccm_text_printf(name, sizeof(name), "ZoneMappings.%zu.%.20s", n, member);
    ali_param_opt(params, name, value);
}

void nlb_api_add_zones(struct ali_params *params, const struct nlb_lb *lb, bool addresses)
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
