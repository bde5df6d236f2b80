#include "families.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

static const struct ccm_cloud_field lb_fields[] = {
    { "AddressIpVersion", 's', NULL, "" },
    { "AddressType", 's', NULL, "" },
    { "BandwidthPackageId", 's', NULL, "" },
    { "CreateTime", 's', NULL, "" },
    { "CrossZoneEnabled", 'b', NULL, "true" },
    { "DNSName", 's', NULL, "" },
    { "Ipv6AddressType", 's', NULL, "" },
    { "LoadBalancerBusinessStatus", 's', NULL, "Normal" },
    { "LoadBalancerName", 's', NULL, "" },
    { "LoadBalancerStatus", 's', NULL, "" },
    { "LoadBalancerType", 's', NULL, "Network" },
    { "RegionId", 's', NULL, "" },
    { "ResourceGroupId", 's', NULL, "" },
    { "VpcId", 's', NULL, "" },
    { 0 },
};

static const struct ccm_cloud_field cps_fields[] = {
    { "Cps", 'n', NULL, "0" },
    { 0 },
};

static const struct ccm_cloud_field deletion_fields[] = {
    { "Enabled", 'b', "DeletionProtectionEnabled", "false" },
    { "EnabledTime", 's', "DeletionProtectionTime", "" },
    { "Reason", 's', "DeletionProtectionReason", "" },
    { 0 },
};

static const struct ccm_cloud_field modification_fields[] = {
    { "EnabledTime", 's', "ModificationProtectionTime", "" },
    { "Reason", 's', "ModificationProtectionReason", "" },
    { "Status", 's', "ModificationProtectionStatus", "NonProtection" },
    { 0 },
};

static const struct ccm_cloud_field zone_fields[] = {
    { "Status", 's', NULL, "Active" },
    { "VSwitchId", 's', NULL, "" },
    { "ZoneId", 's', NULL, "" },
    { 0 },
};

static const struct ccm_cloud_field address_fields[] = {
    { "AllocationId", 's', NULL, NULL },
    { "EniId", 's', NULL, "" },
    { "Ipv6Address", 's', NULL, NULL },
    { "PrivateIPv4Address", 's', NULL, "" },
    { "PrivateIPv4HcStatus", 's', NULL, "Healthy" },
    { "PrivateIPv6HcStatus", 's', NULL, NULL },
    { "PublicIPv4Address", 's', NULL, NULL },
    { 0 },
};

static void zones_write(struct ccm_jsonw *w, const struct ccm_nlb_lb *lb, bool whole)
{
    ccm_jsonw_open(w, "ZoneMappings", '[');
    for (size_t i = 0; i < lb->zones.len; i++) {
        const struct ccm_cloud_obj *zone = &lb->zones.items[i];

        ccm_jsonw_open(w, NULL, '{');
        ccm_cloud_write_fields(w, zone, zone_fields);
        ccm_jsonw_open(w, "LoadBalancerAddresses", '[');
        ccm_jsonw_open(w, NULL, '{');
        ccm_cloud_write_fields(w, zone, address_fields);
        if (whole) {
            ccm_nlb_list_write(w, "Ipv4LocalAddresses", ccm_cloud_attr(zone, "Ipv4LocalAddresses"));
            ccm_nlb_list_write(w, "Ipv6LocalAddresses", ccm_cloud_attr(zone, "Ipv6LocalAddresses"));
        }
        ccm_jsonw_close(w, '}');
        ccm_jsonw_close(w, ']');
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

/* The members of one load balancer; the attribute action tells a little more than the list. */
static void lb_write(struct ccm_jsonw *w, const struct ccm_nlb_lb *lb, bool whole)
{
    ccm_jsonw_str(w, "LoadBalancerId", lb->obj.id);
    ccm_cloud_write_fields(w, &lb->obj, lb_fields);
    if (whole) {
        ccm_cloud_write_fields(w, &lb->obj, cps_fields);
    }
    ccm_jsonw_open(w, "DeletionProtectionConfig", '{');
    ccm_cloud_write_fields(w, &lb->obj, deletion_fields);
    ccm_jsonw_close(w, '}');
    ccm_jsonw_open(w, "LoadBalancerBillingConfig", '{');
    ccm_jsonw_str(w, "PayType", "PostPay");
    ccm_jsonw_close(w, '}');
    ccm_jsonw_open(w, "ModificationProtectionConfig", '{');
    ccm_cloud_write_fields(w, &lb->obj, modification_fields);
    ccm_jsonw_close(w, '}');
    ccm_jsonw_open(w, "OperationLocks", '[');
    ccm_jsonw_close(w, ']');
    ccm_jsonw_open(w, "SecurityGroupIds", '[');
    for (size_t i = 0; i < lb->security_groups.len; i++) {
        ccm_jsonw_str(w, NULL, lb->security_groups.items[i].name);
    }
    ccm_jsonw_close(w, ']');
    ccm_nlb_tags_write(w, &lb->obj, whole);
    zones_write(w, lb, whole);
}

static int get(struct ccm_cloud_call *call)
{
    struct ccm_nlb_lb *lb = NULL;
    int r = ccm_nlb_lb_of(call, &lb);

    r = r < 0 ? r : ccm_nlb_dry_run(call);
    if (r == 0) {
        lb_write(call->out, lb, true);
    }
    return r;
}

struct filter {
    struct ccm_sim_params ids;
    struct ccm_sim_params names;
    struct ccm_sim_params vpcs;
    struct ccm_sim_params tags;
};

static void filter_fini(struct filter *filter)
{
    ccm_sim_params_fini(&filter->ids);
    ccm_sim_params_fini(&filter->names);
    ccm_sim_params_fini(&filter->vpcs);
    ccm_sim_params_fini(&filter->tags);
}

static bool in_zone(const struct ccm_cloud_call *call, const struct ccm_nlb_lb *lb)
{
    const char *zone = ccm_cloud_text(call, "ZoneId", NULL);

    for (size_t i = 0; zone != NULL && i < lb->zones.len; i++) {
        if (ccm_text_equal(ccm_cloud_attr(&lb->zones.items[i], "ZoneId"), zone)) {
            return true;
        }
    }
    return zone == NULL;
}

static bool lb_fits(const struct ccm_cloud_call *call, const struct filter *filter,
                    const struct ccm_nlb_lb *lb)
{
    static const char *const attrs[] = {
        "AddressIpVersion", "AddressType",        "DNSName",
        "Ipv6AddressType",  "LoadBalancerStatus", "ResourceGroupId",
    };
    const char *business = ccm_cloud_text(call, "LoadBalancerBusinessStatus", "Normal");

    for (size_t i = 0; i < CCM_ARRAY_LEN(attrs); i++) {
        if (!ccm_nlb_attr_fits(call, &lb->obj, attrs[i])) {
            return false;
        }
    }
    return ccm_text_equal_case(business, "Normal") && ccm_nlb_list_has(&filter->ids, lb->obj.id) &&
           ccm_nlb_list_has(&filter->names, ccm_cloud_attr(&lb->obj, "LoadBalancerName")) &&
           ccm_nlb_list_has(&filter->vpcs, ccm_cloud_attr(&lb->obj, "VpcId")) &&
           ccm_cloud_tags_fit(&lb->obj, &filter->tags) && in_zone(call, lb);
}

static void lb_take(struct ccm_cloud_call *call, const struct filter *filter,
                    struct ccm_nlb_page *page, const struct ccm_nlb_lb *lb)
{
    if (lb_fits(call, filter, lb) && ccm_nlb_page_takes(page, lb->obj.seq, 0)) {
        ccm_jsonw_open(call->out, NULL, '{');
        lb_write(call->out, lb, false);
        ccm_jsonw_close(call->out, '}');
    }
}

static int list(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(filter_fini) struct filter filter = { 0 };
    struct ccm_nlb_page page = { 0 };
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = ccm_nlb_page_read(call, 20, &page);

    r = r < 0 ? r : ccm_cloud_list(call, "LoadBalancerIds", &filter.ids);
    r = r < 0 ? r : ccm_cloud_list(call, "LoadBalancerNames", &filter.names);
    r = r < 0 ? r : ccm_cloud_list(call, "VpcIds", &filter.vpcs);
    r = r < 0 ? r : ccm_cloud_tags_read(call, &filter.tags);
    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "LoadBalancers", '[');
    if (filter.ids.len == 1) {
        const struct ccm_nlb_lb *lb = ccm_nlb_lb_get(call->cloud, filter.ids.items[0].value);

        if (lb != NULL) {
            lb_take(call, &filter, &page, lb);
        }
    } else {
        while (ccm_strmap_next(call->cloud->nlb->lbs, &cursor, &id, &value) != 0) {
            lb_take(call, &filter, &page, value);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_nlb_page_write(call, &page);
    return 0;
}

static const struct ccm_cloud_param get_params[] = {
    { .name = "LoadBalancerId", .required = true },
    CCM_NLB_WRITE_ROWS,
    { 0 },
};

static const struct ccm_cloud_param list_params[] = {
    { .name = "AddressIpVersion", .type = CCM_CLOUD_ENUM, .values = "ipv4|DualStack" },
    { .name = "AddressType", .type = CCM_CLOUD_ENUM, .values = "Internet|Intranet" },
    { .name = "DNSName" },
    { .name = "Ipv6AddressType", .type = CCM_CLOUD_ENUM, .values = "Internet|Intranet" },
    { .name = "LoadBalancerBusinessStatus", .type = CCM_CLOUD_ENUM, .values = "Abnormal|Normal" },
    { .name = "LoadBalancerIds.N", .items = 20 },
    { .name = "LoadBalancerNames.N", .items = 20, .invalid = "IllegalParam.loadBalancerName" },
    { .name = "LoadBalancerStatus",
      .type = CCM_CLOUD_ENUM,
      .values = "Inactive|Active|Provisioning|Configuring|Deleting|Deleted" },
    { .name = "LoadBalancerType",
      .type = CCM_CLOUD_ENUM,
      .values = "Network",
      .invalid = "IllegalParam.LoadBalancerType" },
    CCM_NLB_PAGE_ROWS(100),
    { .name = "ResourceGroupId" },
    CCM_NLB_TAG_ROWS,
    { .name = "VpcIds.N", .items = 10 },
    { .name = "ZoneId" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_nlb_lb_read_actions[] = {
    { .name = "GetLoadBalancerAttribute",
      .params = get_params,
      .manner = &ccm_nlb_manner,
      .run = get },
    { .name = "ListLoadBalancers", .params = list_params, .manner = &ccm_nlb_manner, .run = list },
    { 0 },
};
