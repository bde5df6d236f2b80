/* Changes of the zones and of the kind of address; what zones and regions there are. */
#include "families.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

/* ---- changes of a load balancer's place ---- */

static void zones_free(void *data)
{
    ccm_nlb_zones_fini(data);
    free(data);
}

/* The zones in job->data take the place of the present ones. */
static int place_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_lb *lb = ccm_nlb_lb_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));
    struct ccm_nlb_zones *next = job->data;

    if (lb == NULL) {
        ccm_nlb_zones_release(cloud, next, NULL);
        return -ENOENT;
    }
    ccm_nlb_status_set(&lb->obj, "LoadBalancerStatus", ccm_cloud_attr(&job->obj, "Before"));
    if (!ok) {
        ccm_nlb_zones_release(cloud, next, &lb->zones);
        return 0;
    }
    ccm_nlb_zones_release(cloud, &lb->zones, next);

    struct ccm_nlb_zones old = lb->zones;

    lb->zones = *next;
    *next = old; /* freed with the job */
    return ccm_nlb_job_apply(job, &lb->obj);
}

/* Hand the new zones over to a job. They are released when that fails. */
static int place_start(struct ccm_cloud_call *call, struct ccm_nlb_lb *lb,
                       struct ccm_nlb_zones *next, struct ccm_cloud_job **ret)
{
    struct ccm_nlb_zones *copy = calloc(1, sizeof(*copy));
    int r = copy == NULL
                ? -ENOMEM
                : ccm_nlb_job(call, &lb->obj, "LoadBalancerStatus", "Configuring", place_end, ret);

    if (r < 0) {
        ccm_nlb_zones_release(call->cloud, next, &lb->zones);
        ccm_nlb_zones_fini(next);
        free(copy);
        return r;
    }
    *copy = *next;
    *next = (struct ccm_nlb_zones){ 0 };
    (*ret)->data = copy;
    (*ret)->free_data = zones_free;
    return 0;
}

static struct ccm_nlb_place place_of(const struct ccm_nlb_lb *lb)
{
    return (struct ccm_nlb_place){
        .vpc = ccm_cloud_attr(&lb->obj, "VpcId"),
        .internet = ccm_text_equal(ccm_cloud_attr(&lb->obj, "AddressType"), "Internet"),
        .dual = ccm_text_equal(ccm_cloud_attr(&lb->obj, "AddressIpVersion"), "DualStack"),
        .now = &lb->zones,
    };
}

static int update_zones(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_nlb_zones_fini) struct ccm_nlb_zones checked = { 0 };
    CCM_CLEANUP(ccm_nlb_zones_fini) struct ccm_nlb_zones next = { 0 };
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_lb *lb = NULL;
    int r = ccm_nlb_lb_for_change(call, &lb);

    if (r < 0) {
        return r;
    }

    struct ccm_nlb_place place = place_of(lb);

    r = ccm_nlb_zones_read(call, &place, &checked);
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    place.lb = lb->obj.id;
    r = r < 0 ? r : ccm_nlb_zones_read(call, &place, &next);
    return r < 0 ? r : place_start(call, lb, &next, &job);
}

/* The elastic IP that the request names for a zone; *ret "" = none. */
static int allocation_of(struct ccm_cloud_call *call, const struct ccm_cloud_obj *zone,
                         const char **ret)
{
    const char *id = ccm_cloud_attr(zone, "ZoneId");

    *ret = "";
    for (uint32_t i = ccm_nlb_next_index(call, "ZoneMappings", 0); i != 0;
         i = ccm_nlb_next_index(call, "ZoneMappings", i)) {
        const char *vswitch = ccm_nlb_member(call, "ZoneMappings", i, "VSwitchId");

        if (!ccm_text_equal(ccm_nlb_member(call, "ZoneMappings", i, "ZoneId"), id)) {
            continue;
        }
        if (!ccm_text_empty(vswitch) &&
            !ccm_text_equal(vswitch, ccm_cloud_attr(zone, "VSwitchId"))) {
            return ccm_nlb_fail_mismatch(call, "ZoneIdAndVswitchId", id, vswitch);
        }
        *ret = ccm_nlb_member(call, "ZoneMappings", i, "AllocationId");
    }
    return 0;
}

/* Zones as they are after the change of the address type. `lb` NULL: only the checks. */
static int retype(struct ccm_cloud_call *call, const struct ccm_nlb_lb *lb, bool internet,
                  bool take, struct ccm_nlb_zones *ret)
{
    const struct ccm_nlb_place place = { .internet = internet };
    int r = 0;

    for (size_t i = 0; i < lb->zones.len && r == 0; i++) {
        const char *allocation = "";

        r = allocation_of(call, &lb->zones.items[i], &allocation);
        if (r == 0 && !ccm_text_empty(allocation)) {
            r = ccm_nlb_allocation_check(call, &place, allocation, ret);
        }

        struct ccm_cloud_obj *zone = &ret->items[ret->len++];

        r = r < 0 ? r : ccm_nlb_attrs_copy(&lb->zones.items[i], zone);
        r = r < 0 ? r : ccm_sim_params_set(&zone->attrs, "Wanted", allocation);
        ccm_sim_params_del(&zone->attrs, "PublicIPv4Address");
        ccm_sim_params_del(&zone->attrs, "AllocationId");
        if (r == 0 && internet && take) {
            r = ccm_nlb_public_take(call, lb->obj.id, allocation, zone);
        }
    }
    for (size_t i = 0; i < ret->len; i++) {
        ccm_sim_params_del(&ret->items[i].attrs, "Wanted");
    }
    if (r < 0) {
        ccm_nlb_zones_release(call->cloud, ret, &lb->zones);
        ccm_nlb_zones_fini(ret);
    }
    return r;
}

static int update_address_type(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_nlb_zones_fini) struct ccm_nlb_zones checked = { 0 };
    CCM_CLEANUP(ccm_nlb_zones_fini) struct ccm_nlb_zones next = { 0 };
    const char *type = ccm_nlb_enum(call, "AddressType", "");
    bool internet = ccm_text_equal(type, "Internet");
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_lb *lb = NULL;
    int r = ccm_nlb_lb_for_change(call, &lb);

    if (r < 0) {
        return r;
    }
    if (ccm_text_equal(ccm_cloud_attr(&lb->obj, "AddressType"), type)) {
        return ccm_nlb_fail_denied(call, "AddressTypeNotChanged");
    }
    r = retype(call, lb, internet, false, &checked);
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    r = r < 0 ? r : retype(call, lb, internet, true, &next);
    r = r < 0 ? r : place_start(call, lb, &next, &job);
    return r < 0 ? r : ccm_sim_params_set(&job->set, "AddressType", type);
}

/* ---- IPv6, zones, regions ---- */

static int ipv6_set(struct ccm_cloud_call *call, const char *type)
{
    struct ccm_nlb_lb *lb = NULL;
    int r = ccm_nlb_lb_for_change(call, &lb);

    if (r < 0) {
        return r;
    }
    if (!ccm_text_equal(ccm_cloud_attr(&lb->obj, "AddressIpVersion"), "DualStack")) {
        return ccm_nlb_fail_denied(call, "NonDualStackInstance");
    }
    if (ccm_text_equal(type, "Intranet") &&
        ccm_text_equal(ccm_cloud_attr(&lb->obj, "Ipv6AddressType"), "Intranet")) {
        return ccm_nlb_fail_denied(call, "Ipv6IntranetInstance");
    }
    r = ccm_nlb_dry_run(call);
    return r < 0 ? r : ccm_sim_params_set(&lb->obj.attrs, "Ipv6AddressType", type);
}

static int ipv6_enable(struct ccm_cloud_call *call)
{
    return ipv6_set(call, "Internet");
}

static int ipv6_disable(struct ccm_cloud_call *call)
{
    return ipv6_set(call, "Intranet");
}

static int describe_zones(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params zones = { 0 };
    size_t len = ccm_nlb_region_zones(call->cloud, &zones);

    ccm_jsonw_open(call->out, "Zones", '[');
    for (size_t i = 0; i < len; i++) {
        ccm_jsonw_open(call->out, NULL, '{');
        ccm_jsonw_str(call->out, "LocalName", zones.items[i].name);
        ccm_jsonw_str(call->out, "ZoneId", zones.items[i].name);
        ccm_jsonw_close(call->out, '}');
    }
    ccm_jsonw_close(call->out, ']');
    return 0;
}

static int describe_regions(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_freep) char *host = ccm_text_format("nlb.%s.aliyuncs.com", call->cloud->region);

    if (host == NULL) {
        return -ENOMEM;
    }
    ccm_jsonw_open(call->out, "Regions", '[');
    ccm_jsonw_open(call->out, NULL, '{');
    ccm_jsonw_str(call->out, "LocalName", call->cloud->region);
    ccm_jsonw_str(call->out, "RegionEndpoint", host);
    ccm_jsonw_str(call->out, "RegionId", call->cloud->region);
    ccm_jsonw_close(call->out, '}');
    ccm_jsonw_close(call->out, ']');
    return 0;
}

#define LB_ROW                                                                                     \
    {                                                                                              \
        .name = "LoadBalancerId", .required = true                                                 \
    }

#define EIP_TYPE_ROW                                                                               \
    {                                                                                              \
        .name = "ZoneMappings.N.EipType", .type = CCM_CLOUD_ENUM, .items = CCM_NLB_ZONES_MAX,      \
        .values = "Common|Anycast"                                                                 \
    }

static const struct ccm_cloud_param zones_params[] = {
    LB_ROW,
    CCM_NLB_WRITE_ROWS,
    { .name = "ZoneMappings.N.ZoneId", .required = true, .items = CCM_NLB_ZONES_MAX },
    { .name = "ZoneMappings.N.VSwitchId", .required = true, .items = CCM_NLB_ZONES_MAX },
    { .name = "ZoneMappings.N.AllocationId", .items = CCM_NLB_ZONES_MAX },
    { .name = "ZoneMappings.N.PrivateIPv4Address", .items = CCM_NLB_ZONES_MAX },
    EIP_TYPE_ROW,
    { 0 },
};

static const struct ccm_cloud_param address_type_params[] = {
    LB_ROW,
    CCM_NLB_WRITE_ROWS,
    { .name = "AddressType",
      .type = CCM_CLOUD_ENUM,
      .required = true,
      .values = "Internet|Intranet" },
    { .name = "ZoneMappings.N.ZoneId", .items = CCM_NLB_ZONES_MAX },
    { .name = "ZoneMappings.N.VSwitchId", .items = CCM_NLB_ZONES_MAX },
    { .name = "ZoneMappings.N.AllocationId", .items = CCM_NLB_ZONES_MAX },
    EIP_TYPE_ROW,
    { 0 },
};

static const struct ccm_cloud_param id_params[] = { LB_ROW, CCM_NLB_WRITE_ROWS, { 0 } };

static const struct ccm_cloud_param place_params[] = {
    { .name = "AcceptLanguage", .type = CCM_CLOUD_ENUM, .values = "zh-CN|en-US|ja" },
    CCM_NLB_TOKEN_ROW,
    { .name = "ServiceCode" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_nlb_zone_actions[] = {
    { .name = "UpdateLoadBalancerZones",
      .params = zones_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = update_zones },
    { .name = "UpdateLoadBalancerAddressTypeConfig",
      .params = address_type_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = update_address_type },
    { .name = "EnableLoadBalancerIpv6Internet",
      .params = id_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = ipv6_enable },
    { .name = "DisableLoadBalancerIpv6Internet",
      .params = id_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = ipv6_disable },
    { .name = "DescribeZones",
      .params = place_params,
      .manner = &ccm_nlb_manner,
      .run = describe_zones },
    { .name = "DescribeRegions",
      .params = place_params,
      .manner = &ccm_nlb_manner,
      .run = describe_regions },
    { 0 },
};
