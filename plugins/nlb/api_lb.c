#include "api_lb.h"

#include "nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>

/* --- reads --- */

int nlb_api_list_lbs(struct nlb_call *call, const char *tag_key, const char *tag_value,
                     const char *name, nlb_item_fn fn, void *arg, struct ccm_error *err)
{
    static const struct nlb_list list = {
        .product = ALI_NLB, .action = "ListLoadBalancers", .name = "LoadBalancers", .page = 100
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    if (tag_key != NULL) {
        ali_param_tag(&params, 1, tag_key, tag_value);
    } else {
        ali_param_item(&params, "LoadBalancerNames", 1, name);
    }
    return nlb_api_list(call, &list, &params, fn, arg, err);
}

int nlb_api_lb(struct nlb_call *call, const char *lb_id, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    return nlb_api_read(call, ALI_NLB, "GetLoadBalancerAttribute", &params, ret, err);
}

/* --- parameters --- */

static void zone_param(struct ali_params *params, size_t n, const char *member, const char *value)
{
    char name[64];

    ccm_text_printf(name, sizeof(name), "ZoneMappings.%zu.%.20s", n, member);
    ali_param_opt(params, name, value);
}

static void add_zones(struct ali_params *params, const struct nlb_lb *lb, bool addresses)
{
    for (size_t i = 0; i < lb->zone_count; i++) {
        const struct nlb_zone *zone = &lb->zones[i];

        zone_param(params, i + 1, "ZoneId", zone->zone_id);
        zone_param(params, i + 1, "VSwitchId", zone->vswitch_id);
        zone_param(params, i + 1, "AllocationId", zone->eip);
        if (addresses) {
            zone_param(params, i + 1, "PrivateIPv4Address", zone->address);
        }
    }
}

static void create_params(const struct nlb_create *create, struct ali_params *params)
{
    static const struct {
        enum nlb_lb_field field;
        const char *name;
        const char *fallback;
    } fields[] = {
        { NLB_LB_NAME, "LoadBalancerName", NULL },
        { NLB_LB_ADDRESS_TYPE, "AddressType", "Internet" },
        { NLB_LB_IP_VERSION, "AddressIpVersion", NULL },
        { NLB_LB_GROUP, "ResourceGroupId", NULL },
        { NLB_LB_PACKAGE, "BandwidthPackageId", NULL },
        { NLB_LB_PROTECT, "DeletionProtectionConfig.Enabled", "true" },
        { NLB_LB_MODIFICATION, "ModificationProtectionConfig.Status", "ConsoleProtection" },
    };
    const char *protection = create->lb->fields[NLB_LB_MODIFICATION];

    for (size_t i = 0; i < CCM_ARRAY_LEN(fields); i++) {
        const char *value = create->lb->fields[fields[i].field];

        ali_param_opt(params, fields[i].name, value != NULL ? value : fields[i].fallback);
    }
    if (protection == NULL || ccm_text_equal(protection, "ConsoleProtection")) {
        ali_param_add(params, "ModificationProtectionConfig.Reason", NLB_PROTECT_WHY);
    }
    ali_param_add(params, "VpcId", create->lb->vpc_id);
    add_zones(params, create->lb, true);
    nlb_api_add_tags(params, create->tags, 1);
    ali_param_add(params, "ClientToken", create->token);
}

/* --- writes --- */

int nlb_api_create_lb(struct nlb_call *call, const struct nlb_create *create, struct nlb_sent *ret,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    create_params(create, &params);
    return nlb_api_write(call, ALI_NLB, "CreateLoadBalancer", &params, "LoadbalancerId", ret, err);
}

int nlb_api_delete_lb(struct nlb_call *call, const char *lb_id, struct nlb_sent *ret,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    return nlb_api_write(call, ALI_NLB, "DeleteLoadBalancer", &params, NULL, ret, err);
}

int nlb_api_update_lb(struct nlb_call *call, const char *lb_id, const struct nlb_lb *lb,
                      struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    ali_param_opt(&params, "LoadBalancerName", lb->fields[NLB_LB_NAME]);
    ali_param_opt(&params, "CrossZoneEnabled", lb->fields[NLB_LB_CROSS_ZONE]);
    return nlb_api_write(call, ALI_NLB, "UpdateLoadBalancerAttribute", &params, NULL, ret, err);
}

int nlb_api_protect_lb(struct nlb_call *call, const char *lb_id, const struct nlb_lb *lb,
                       struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    ali_param_opt(&params, "DeletionProtectionEnabled", lb->fields[NLB_LB_PROTECT]);
    ali_param_opt(&params, "ModificationProtectionStatus", lb->fields[NLB_LB_MODIFICATION]);
    if (ccm_text_equal(lb->fields[NLB_LB_MODIFICATION], "ConsoleProtection")) {
        ali_param_add(&params, "ModificationProtectionReason", NLB_PROTECT_WHY);
    }
    return nlb_api_write(call, ALI_NLB, "UpdateLoadBalancerProtection", &params, NULL, ret, err);
}

int nlb_api_address_type(struct nlb_call *call, const char *lb_id, const char *type,
                         const struct nlb_lb *lb, struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    ali_param_add(&params, "AddressType", type);
    add_zones(&params, lb, false);
    return nlb_api_write(call, ALI_NLB, "UpdateLoadBalancerAddressTypeConfig", &params, NULL, ret,
                         err);
}

int nlb_api_zones(struct nlb_call *call, const char *lb_id, const struct nlb_lb *lb,
                  struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    add_zones(&params, lb, true);
    return nlb_api_write(call, ALI_NLB, "UpdateLoadBalancerZones", &params, NULL, ret, err);
}

int nlb_api_ipv6_type(struct nlb_call *call, const char *lb_id, const char *type,
                      struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    return nlb_api_write(call, ALI_NLB,
                         ccm_text_equal_case(type, "Internet") ? "EnableLoadBalancerIpv6Internet"
                                                               : "DisableLoadBalancerIpv6Internet",
                         &params, NULL, ret, err);
}

static int change_groups(struct nlb_call *call, const char *action, const char *lb_id,
                         const struct lbc_texts *groups, struct nlb_sent *ret,
                         struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    nlb_api_add_texts(&params, "SecurityGroupIds", groups);
    return nlb_api_write(call, ALI_NLB, action, &params, NULL, ret, err);
}

int nlb_api_join(struct nlb_call *call, const char *lb_id, const struct lbc_texts *groups,
                 struct nlb_sent *ret, struct ccm_error *err)
{
    return change_groups(call, "LoadBalancerJoinSecurityGroup", lb_id, groups, ret, err);
}

int nlb_api_leave(struct nlb_call *call, const char *lb_id, const struct lbc_texts *groups,
                  struct nlb_sent *ret, struct ccm_error *err)
{
    return change_groups(call, "LoadBalancerLeaveSecurityGroup", lb_id, groups, ret, err);
}

static int change_package(struct nlb_call *call, const char *action, const char *lb_id,
                          const char *package, struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    ali_param_add(&params, "BandwidthPackageId", package);
    return nlb_api_write(call, ALI_NLB, action, &params, NULL, ret, err);
}

int nlb_api_attach(struct nlb_call *call, const char *lb_id, const char *package,
                   struct nlb_sent *ret, struct ccm_error *err)
{
    return change_package(call, "AttachCommonBandwidthPackageToLoadBalancer", lb_id, package, ret,
                          err);
}

int nlb_api_detach(struct nlb_call *call, const char *lb_id, const char *package,
                   struct nlb_sent *ret, struct ccm_error *err)
{
    return change_package(call, "DetachCommonBandwidthPackageFromLoadBalancer", lb_id, package, ret,
                          err);
}

int nlb_api_tag(struct nlb_call *call, const char *type, const char *id,
                const struct lbc_tags *tags, struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ResourceType", type);
    ali_param_item(&params, "ResourceId", 1, id);
    nlb_api_add_tags(&params, tags, 1);
    return nlb_api_write(call, ALI_NLB, "TagResources", &params, NULL, ret, err);
}

int nlb_api_untag(struct nlb_call *call, const char *type, const char *id,
                  const struct lbc_tags *tags, struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ResourceType", type);
    ali_param_item(&params, "ResourceId", 1, id);
    for (size_t i = 0; i < tags->len; i++) {
        ali_param_item(&params, "TagKey", i + 1, tags->items[i].key);
    }
    return nlb_api_write(call, ALI_NLB, "UntagResources", &params, NULL, ret, err);
}
