/* Load balancers come and go; names, status, protections. */
#include "lb.h"

#include "families.h"
#include "plain.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int ccm_cloud_lb_of(struct ccm_cloud_call *call, struct ccm_cloud_lb **ret)
{
    *ret = ccm_cloud_lb_get(call->cloud, ccm_cloud_text(call, "LoadBalancerId", ""));
    return *ret != NULL ? 0
                        : ccm_cloud_fail(call, 404, "InvalidLoadBalancerId.NotFound",
                                         "The specified LoadBalancerId does not exist.");
}

int ccm_cloud_vgroup_of(struct ccm_cloud_call *call, struct ccm_cloud_vgroup **ret)
{
    *ret = ccm_cloud_vgroup_get(call->cloud, ccm_cloud_text(call, "VServerGroupId", ""));
    return *ret != NULL ? 0
                        : ccm_cloud_fail(call, 404, "InvalidParameter",
                                         "The specified VServerGroupId does not exist.");
}

bool ccm_cloud_lb_is_shared(const struct ccm_cloud_lb *lb)
{
    const char *spec = ccm_cloud_attr(&lb->obj, "LoadBalancerSpec");

    return ccm_text_equal(ccm_cloud_attr(&lb->obj, "InstanceChargeType"), "PayBySpec") &&
           (ccm_text_empty(spec) || ccm_text_equal(spec, "slb.s0.share"));
}

/* What creation has found out about the network of the new load balancer. */
struct place {
    bool intranet;
    struct ccm_cloud_vswitch *vswitch; /* NULL: none */
    const char *vpc;                   /* "" = none */
    char address[48];
};

static int place_find(struct ccm_cloud_call *call, struct place *place)
{
    const char *vswitch = ccm_cloud_text(call, "VSwitchId", "");

    /* A vSwitch makes it an internal one, whatever else is said. */
    place->intranet = !ccm_text_empty(vswitch) ||
                      ccm_text_equal(ccm_cloud_text(call, "AddressType", ""), "intranet");
    place->vpc = ccm_cloud_text(call, "VpcId", "");
    if (!ccm_text_empty(place->vpc) && !ccm_strmap_has(call->cloud->vpcs, place->vpc)) {
        return ccm_cloud_fail(call, 400, "InvalidVpcId.NotExist", "The specified VPC not exist.");
    }
    if (!place->intranet) {
        place->vpc = "";
        return 0;
    }
    if (ccm_text_empty(vswitch)) {
        return ccm_cloud_fail(call, 400, "MissingParam.VSwitchId",
                              "The parameter VSwitchId is required.");
    }
    place->vswitch = ccm_strmap_get(call->cloud->vswitches, vswitch);
    if (place->vswitch == NULL) {
        return ccm_cloud_fail(call, 400, "VSwitchNotExist",
                              "The specified VSwitch does not exist.");
    }

    const char *home = ccm_cloud_attr(&place->vswitch->obj, "VpcId");

    if (!ccm_text_empty(place->vpc) && !ccm_text_equal(place->vpc, home)) {
        return ccm_cloud_fail(call, 400, "InvalidVSwitchId.NotFound",
                              "The specified vSwitch instance is invalid.");
    }
    place->vpc = home;
    if (ccm_text_equal(ccm_cloud_text(call, "AddressIPVersion", ""), "ipv6")) {
        return ccm_cloud_fail(call, 400, "InvalidParameter.Mismatch",
                              "AddressType and IpVersion is conflict, IPv6 does not support "
                              "intranet instance.");
    }
    return 0;
}

static int place_address(struct ccm_cloud_call *call, struct place *place)
{
    const char *wanted = ccm_cloud_text(call, "Address", "");
    int r = 0;

    if (ccm_text_equal(ccm_cloud_text(call, "AddressIPVersion", ""), "ipv6")) {
        (void)snprintf(place->address, sizeof(place->address), "2408:4000::%" PRIx64,
                       ++call->cloud->last_seq); /* always fits */
        return 0;
    }
    r = place->vswitch == NULL
            ? ccm_cloud_address_take_public(call->cloud, place->address)
            : ccm_cloud_address_take(call->cloud, place->vswitch, wanted, place->address);
    switch (r) {
    case -ENOSPC:
        return ccm_cloud_fail(call, 400, "VSwitchAvailableIpNotExist",
                              "The specified VSwitch has no availabe ip.");
    case -EINVAL:
        return ccm_cloud_fail(call, 400, "InvalidParameter",
                              "Illegal parameter. The IP address is not in subnet.");
    case -EADDRINUSE:
        return ccm_cloud_fail(call, 400, "AssociateIpFail",
                              "The instance associating ip is failed.");
    default:
        return r;
    }
}

static int check_sale(struct ccm_cloud_call *call)
{
    const char *charge = ccm_cloud_text(call, "InstanceChargeType", "PayBySpec");

    if (ccm_text_equal(charge, "PayBySpec") && !ccm_cloud_has(call, "LoadBalancerSpec")) {
        return ccm_cloud_fail(call, 400, "ShareSlbHaltSales",
                              "The share instance has been discontinued.");
    }
    if (ccm_text_equal(ccm_cloud_text(call, "InternetChargeType", ""), "paybybandwidth") &&
        !ccm_cloud_has(call, "Bandwidth")) {
        return ccm_cloud_fail(call, 400, "InvalidParameter.Bandwidth",
                              "The param Bandwidth is invalid.");
    }
    if (ccm_strmap_len(call->cloud->lbs) >= call->cloud->limits.load_balancers) {
        return ccm_cloud_fail(call, 400, "ORDER.QUANTITY_INVALID",
                              "The maximum number of SLB instances is exceeded.");
    }
    return 0;
}

/* A region has the zones REGION-a to REGION-k. */
static bool is_zone(const struct ccm_cloud *cloud, const char *zone)
{
    const size_t len = strlen(cloud->region);

    return strncmp(zone, cloud->region, len) == 0 && zone[len] == '-' && zone[len + 1] >= 'a' &&
           zone[len + 1] <= 'k' && zone[len + 2] == '\0';
}

static int check_zones(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "MasterZoneId", "SlaveZoneId" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        const char *zone = ccm_cloud_text(call, names[i], "");

        if (zone[0] != '\0' && !is_zone(call->cloud, zone)) {
            return ccm_cloud_fail(call, 400, "InvalidParameter",
                                  "The specified zone %s does not exist.", zone);
        }
    }
    return 0;
}

static int lb_fill(const struct ccm_cloud_call *call, const struct place *place,
                   struct ccm_cloud_lb *lb)
{
    const struct ccm_cloud *cloud = call->cloud;
    bool by_lcu =
        ccm_text_equal(ccm_cloud_text(call, "InstanceChargeType", "PayBySpec"), "PayByCLCU");
    const char *zone = place->vswitch == NULL ? "" : ccm_cloud_attr(&place->vswitch->obj, "ZoneId");
    char created[32];
    char stamp[32];
    int64_t now = ccm_clock_wall_ms();

    ccm_cloud_format_time(now, false, created, sizeof(created));
    (void)snprintf(stamp, sizeof(stamp), "%" PRId64, now); /* always fits */

    const struct ccm_cloud_pair pairs[] = {
        { "Address", place->address },
        { "AddressIPVersion", ccm_cloud_text(call, "AddressIPVersion", "ipv4") },
        { "AddressType", place->intranet ? "intranet" : "internet" },
        { "Bandwidth", ccm_cloud_text(call, "Bandwidth", "5120") },
        { "CreateTime", created },
        { "CreateTimeStamp", stamp },
        { "DeleteProtection", ccm_cloud_text(call, "DeleteProtection", "off") },
        { "InstanceChargeType", by_lcu ? "PayByCLCU" : "PayBySpec" },
        { "InternetChargeType", ccm_cloud_text(call, "InternetChargeType", "paybytraffic") },
        { "LoadBalancerName", ccm_cloud_text(call, "LoadBalancerName", lb->obj.id) },
        { "LoadBalancerSpec", ccm_cloud_text(call, "LoadBalancerSpec", by_lcu ? "" : NULL) },
        { "LoadBalancerStatus", "active" },
        { "MasterZoneId", ccm_cloud_text(call, "MasterZoneId", zone) },
        { "SlaveZoneId", ccm_cloud_text(call, "SlaveZoneId", zone) },
        { "ModificationProtectionReason",
          ccm_cloud_text(call, "ModificationProtectionReason", "") },
        { "ModificationProtectionStatus",
          ccm_cloud_text(call, "ModificationProtectionStatus", "NonProtection") },
        { "NetworkType", ccm_text_empty(place->vpc) ? "classic" : "vpc" },
        { "PayType", ccm_cloud_text(call, "PayType", "PayOnDemand") },
        { "RegionId", cloud->region },
        { "ResourceGroupId", ccm_cloud_text(call, "ResourceGroupId", "rg-default") },
        { "VSwitchId", place->vswitch == NULL ? "" : place->vswitch->obj.id },
        { "VpcId", place->vpc },
    };

    return ccm_cloud_attrs_set(&lb->obj, pairs, CCM_ARRAY_LEN(pairs));
}

static const struct ccm_cloud_field created_fields[] = {
    { "Address", 's', NULL, "" },
    { "AddressIPVersion", 's', NULL, "" },
    { "LoadBalancerName", 's', NULL, "" },
    { "NetworkType", 's', NULL, "" },
    { "ResourceGroupId", 's', NULL, "" },
    { "VSwitchId", 's', NULL, "" },
    { "VpcId", 's', NULL, "" },
    { 0 },
};

static int create(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    struct place place = { 0 };
    struct ccm_cloud_lb *lb = NULL;
    char id[48];
    int r = check_sale(call);

    r = r < 0 ? r : check_zones(call);
    r = r < 0 ? r : ccm_cloud_tags_read(call, &tags);
    r = r < 0 ? r : place_find(call, &place);
    r = r < 0 ? r : place_address(call, &place);
    if (r < 0) {
        return r;
    }
    ccm_cloud_new_id(call->cloud, "lb", id, sizeof(id));
    r = ccm_cloud_lb_new(call->cloud, id, &lb);
    if (r < 0) {
        ccm_cloud_address_give_back(call->cloud, place.address);
        return r;
    }
    r = lb_fill(call, &place, lb);
    r = r < 0 ? r : ccm_cloud_tags_put(call, &lb->obj, &tags);
    if (r < 0) {
        ccm_cloud_lb_del(call->cloud, lb);
        return r;
    }
    ccm_jsonw_str(call->out, "LoadBalancerId", id);
    ccm_cloud_write_fields(call->out, &lb->obj, created_fields);
    ccm_jsonw_i64(call->out, "OrderId", 0);
    return 0;
}

/* They are not sold any more; old ones exist. */
static bool prepaid(const struct ccm_cloud_lb *lb)
{
    return ccm_text_equal(ccm_cloud_attr(&lb->obj, "PayType"), "PrePay");
}

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_lb *lb = NULL;
    int r = ccm_cloud_lb_of(call, &lb);

    if (r < 0) {
        return r;
    }
    if (prepaid(lb)) {
        return ccm_cloud_fail(call, 400, "InvalidChargeType",
                              "The prepay loadBalancer does not support this action.");
    }
    if (ccm_text_equal(ccm_cloud_attr(&lb->obj, "DeleteProtection"), "on")) {
        return ccm_cloud_fail(call, 400, "OperationDenied.DeleteProtectionIsOn",
                              "The loadbalancer can not be deleted due to DeleteProtection is "
                              "enabled.");
    }
    ccm_cloud_lb_del(call->cloud, lb);
    return 0;
}

static int set_delete_protection(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "DeleteProtection", NULL };
    struct ccm_cloud_lb *lb = NULL;
    int r = ccm_cloud_lb_of(call, &lb);

    if (r == 0 && prepaid(lb)) {
        r = ccm_cloud_fail(call, 400, "OperationUnsupported.DeleteProtectionForPrePayInstance",
                           "The operation failed because prepay instance does not support delete "
                           "protection.");
    }
    return r < 0 ? r : ccm_cloud_copy_params(call, &lb->obj, names);
}

static int set_modification_protection(struct ccm_cloud_call *call)
{
    struct ccm_cloud_lb *lb = NULL;
    const char *status = ccm_cloud_text(call, "ModificationProtectionStatus", "");
    const char *reason = ccm_cloud_text(call, "ModificationProtectionReason", "");
    bool on = ccm_text_equal(status, "ConsoleProtection");
    int r = ccm_cloud_lb_of(call, &lb);
    const struct ccm_cloud_pair pairs[] = {
        { "ModificationProtectionStatus", status },
        { "ModificationProtectionReason", on ? reason : "" },
    };

    return r < 0 ? r : ccm_cloud_attrs_set(&lb->obj, pairs, CCM_ARRAY_LEN(pairs));
}

static int set_status(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "LoadBalancerStatus", NULL };
    struct ccm_cloud_lb *lb = NULL;
    int r = ccm_cloud_lb_of(call, &lb);

    return r < 0 ? r : ccm_cloud_copy_params(call, &lb->obj, names);
}

static int set_name(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "LoadBalancerName", NULL };
    struct ccm_cloud_lb *lb = NULL;
    int r = ccm_cloud_lb_of(call, &lb);

    return r < 0 ? r : ccm_cloud_copy_params(call, &lb->obj, names);
}

static const struct ccm_cloud_param create_params[] = {
    { .name = "Address" },
    { .name = "AddressIPVersion", .type = CCM_CLOUD_ENUM, .values = "ipv4|ipv6" },
    { .name = "AddressType", .type = CCM_CLOUD_ENUM, .values = "internet|intranet" },
    { .name = "AutoPay", .type = CCM_CLOUD_BOOL },
    { .name = "Bandwidth",
      .type = CCM_CLOUD_INT,
      .min = -1,
      .max = 5120,
      .invalid = "InvalidParameter.Bandwidth" },
    { .name = "ClientToken", .min = 1, .max = 64 },
    { .name = "DeleteProtection", .type = CCM_CLOUD_ENUM, .values = "on|off" },
    { .name = "Duration", .type = CCM_CLOUD_INT, .min = 1, .max = 9 },
    { .name = "InstanceChargeType",
      .type = CCM_CLOUD_ENUM,
      .values = "PayBySpec|PayByCLCU",
      .invalid = "IllegalParam.InstanceChargeType" },
    { .name = "InternetChargeType",
      .type = CCM_CLOUD_ENUM,
      .values = "paybytraffic|paybybandwidth" },
    { .name = "LoadBalancerName", .min = 1, .max = 80 },
    { .name = "LoadBalancerSpec", .type = CCM_CLOUD_ENUM, .values = CCM_CLOUD_LB_SPECS },
    { .name = "MasterZoneId" },
    { .name = "ModificationProtectionReason",
      .min = 1,
      .max = 80,
      .invalid = "InvalidParam.ModificationProtectionReason" },
    { .name = "ModificationProtectionStatus",
      .type = CCM_CLOUD_ENUM,
      .values = "NonProtection|ConsoleProtection",
      .invalid = "InvalidParam.ModificationProtectionStatus" },
    { .name = "PayType", .type = CCM_CLOUD_ENUM, .values = "PayOnDemand" },
    { .name = "PricingCycle", .type = CCM_CLOUD_ENUM, .values = "month|year" },
    { .name = "ResourceGroupId" },
    { .name = "SlaveZoneId" },
    CCM_CLOUD_TAG_ROWS,
    { .name = "VSwitchId" },
    { .name = "VpcId" },
    { 0 },
};

static const struct ccm_cloud_param id_params[] = { CCM_CLOUD_LB_ID_ROW, { 0 } };

static const struct ccm_cloud_param delete_protection_params[] = {
    CCM_CLOUD_LB_ID_ROW,
    { .name = "DeleteProtection", .type = CCM_CLOUD_ENUM, .required = true, .values = "on|off" },
    { 0 },
};

static const struct ccm_cloud_param modification_params[] = {
    CCM_CLOUD_LB_ID_ROW,
    { .name = "ModificationProtectionStatus",
      .type = CCM_CLOUD_ENUM,
      .required = true,
      .values = "NonProtection|ConsoleProtection",
      .invalid = "InvalidParam.ModificationProtectionStatus" },
    { .name = "ModificationProtectionReason",
      .min = 1,
      .max = 80,
      .invalid = "InvalidParam.ModificationProtectionReason" },
    { 0 },
};

static const struct ccm_cloud_param name_params[] = {
    CCM_CLOUD_LB_ID_ROW,
    { .name = "LoadBalancerName", .required = true, .min = 1, .max = 80 },
    { 0 },
};

static const struct ccm_cloud_param status_params[] = {
    CCM_CLOUD_LB_ID_ROW,
    { .name = "LoadBalancerStatus",
      .type = CCM_CLOUD_ENUM,
      .required = true,
      .values = "active|inactive" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_lb_actions[] = {
    { .name = "CreateLoadBalancer",
      .params = create_params,
      .region = true,
      .token = true,
      .run = create },
    { .name = "DeleteLoadBalancer",
      .params = id_params,
      .run = del,
      .change = CCM_CLOUD_CHANGE_LB },
    { .name = "SetLoadBalancerDeleteProtection",
      .params = delete_protection_params,
      .region = true,
      .run = set_delete_protection,
      .change = CCM_CLOUD_CHANGE_LABEL },
    { .name = "SetLoadBalancerModificationProtection",
      .params = modification_params,
      .region = true,
      .run = set_modification_protection,
      .change = CCM_CLOUD_CHANGE_LABEL },
    { .name = "SetLoadBalancerName",
      .params = name_params,
      .run = set_name,
      .change = CCM_CLOUD_CHANGE_LABEL },
    { .name = "SetLoadBalancerStatus",
      .params = status_params,
      .run = set_status,
      .change = CCM_CLOUD_CHANGE_LB },
    { 0 },
};
