/* Where load balancers live: zones, vSwitches, addresses. */
#include "nlb.h"
#include "plain.h"
#include "store.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- addresses ---- */

static const struct ccm_cloud_obj *zone_find(const struct ccm_nlb_zones *zones, const char *zone)
{
    for (size_t i = 0; zones != NULL && i < zones->len; i++) {
        if (ccm_text_equal(ccm_cloud_attr(&zones->items[i], "ZoneId"), zone)) {
            return &zones->items[i];
        }
    }
    return NULL;
}

/* Whether the zone has an address of its own, not the one that `keep` has. */
static bool owns(const struct ccm_cloud_obj *zone, const struct ccm_cloud_obj *keep,
                 const char *attr)
{
    const char *value = ccm_cloud_attr(zone, attr);

    return !ccm_text_empty(value) &&
           (keep == NULL || !ccm_text_equal(value, ccm_cloud_attr(keep, attr)));
}

static void public_release(struct ccm_cloud *cloud, const struct ccm_cloud_obj *zone)
{
    struct ccm_cloud_obj *eip =
        ccm_cloud_plain_get(cloud, CCM_CLOUD_EIP, ccm_cloud_attr(zone, "AllocationId"));

    if (eip == NULL) {
        ccm_cloud_address_give_back(cloud, ccm_cloud_attr(zone, "PublicIPv4Address"));
        return;
    }
    ccm_sim_params_del(&eip->attrs, "InstanceId");
    ccm_sim_params_del(&eip->attrs, "InstanceType");
    ccm_nlb_status_set(eip, "Status", "Available");
}

void ccm_nlb_zones_release(struct ccm_cloud *cloud, const struct ccm_nlb_zones *zones,
                           const struct ccm_nlb_zones *keep)
{
    for (size_t i = 0; i < zones->len; i++) {
        const struct ccm_cloud_obj *zone = &zones->items[i];
        const struct ccm_cloud_obj *kept = zone_find(keep, ccm_cloud_attr(zone, "ZoneId"));

        if (owns(zone, kept, "PrivateIPv4Address")) {
            ccm_cloud_address_give_back(cloud, ccm_cloud_attr(zone, "PrivateIPv4Address"));
        }
        if (owns(zone, kept, "PublicIPv4Address")) {
            public_release(cloud, zone);
        }
    }
}

static int fail_address(struct ccm_cloud_call *call, int r)
{
    switch (r) {
    case -ENOSPC:
        return ccm_cloud_fail(call, 400, "ResourceNotEnough.VSwitchIp",
                              "The specified resource of VSwitchIp is not enough.");
    case -EADDRINUSE:
        return ccm_cloud_fail(call, 400, "ResourceInUse.IP",
                              "The specified resource of IP is in use.");
    case -EINVAL:
        return ccm_nlb_fail_illegal(call, "IllegalParam", "PrivateIPv4Address");
    default:
        return r;
    }
}

static int private_take(struct ccm_cloud_call *call, uint32_t index, struct ccm_cloud_obj *zone)
{
    const char *wanted = ccm_nlb_member(call, "ZoneMappings", index, "PrivateIPv4Address");
    struct ccm_cloud_vswitch *vswitch =
        ccm_strmap_get(call->cloud->vswitches, ccm_cloud_attr(zone, "VSwitchId"));
    char address[INET_ADDRSTRLEN];
    char eni[48];
    int r = ccm_cloud_address_take(call->cloud, vswitch, wanted, address);

    if (r < 0) {
        return fail_address(call, r);
    }
    r = ccm_sim_params_set(&zone->attrs, "PrivateIPv4Address", address);
    if (r < 0) {
        ccm_cloud_address_give_back(call->cloud, address);
        return r;
    }
    ccm_cloud_new_id(call->cloud, "eni", eni, sizeof(eni));
    return ccm_sim_params_set(&zone->attrs, "EniId", eni);
}

/* A public address for the zone: of the elastic IP that is named, or a new one. */
int ccm_nlb_public_take(struct ccm_cloud_call *call, const char *lb, const char *allocation,
                        struct ccm_cloud_obj *zone)
{
    char address[INET_ADDRSTRLEN];
    char id[48];

    if (ccm_text_empty(allocation)) {
        int r = ccm_cloud_address_take_public(call->cloud, address);

        if (r < 0) {
            return fail_address(call, r);
        }
        ccm_cloud_new_id(call->cloud, "eip", id, sizeof(id));
        r = ccm_sim_params_set(&zone->attrs, "PublicIPv4Address", address);
        if (r < 0) {
            ccm_cloud_address_give_back(call->cloud, address);
            return r;
        }
        return ccm_sim_params_set(&zone->attrs, "AllocationId", id);
    }

    struct ccm_cloud_obj *eip = ccm_cloud_plain_get(call->cloud, CCM_CLOUD_EIP, allocation);
    const struct ccm_cloud_pair pairs[] = {
        { "Status", "InUse" },
        { "InstanceId", lb },
        { "InstanceType", "Nlb" },
    };
    int r = ccm_sim_params_set(&zone->attrs, "AllocationId", allocation);

    r = r < 0 ? r
              : ccm_sim_params_set(&zone->attrs, "PublicIPv4Address",
                                   ccm_cloud_attr(eip, "IpAddress"));
    return r < 0 ? r : ccm_cloud_attrs_set(eip, pairs, CCM_ARRAY_LEN(pairs));
}

static int ipv6_take(struct ccm_cloud_call *call, uint32_t index, struct ccm_cloud_obj *zone)
{
    const char *wanted = ccm_nlb_member(call, "ZoneMappings", index, "Ipv6Address");
    char address[INET6_ADDRSTRLEN];

    if (ccm_sim_params_set(&zone->attrs, "PrivateIPv6HcStatus", "Healthy") < 0) {
        return -ENOMEM;
    }
    if (!ccm_text_empty(wanted)) {
        return ccm_sim_params_set(&zone->attrs, "Ipv6Address", wanted);
    }

    uint64_t number = ++call->cloud->last_seq;

    (void)snprintf(address, sizeof(address), "2408:4005::%" PRIx64 ":%" PRIx64,
                   (number >> 16) & 0xFFFF, number & 0xFFFF); /* always fits */
    return ccm_sim_params_set(&zone->attrs, "Ipv6Address", address);
}

/* ---- zone mappings ---- */

size_t ccm_nlb_region_zones(const struct ccm_cloud *cloud, struct ccm_sim_params *ret)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    while (ccm_strmap_next(cloud->vswitches, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_vswitch *vswitch = value;

        if (ccm_sim_params_set(ret, ccm_cloud_attr(&vswitch->obj, "ZoneId"), "") < 0) {
            break; /* out of memory: fewer zones are known, nothing worse */
        }
    }
    return ret->len;
}

int ccm_nlb_allocation_check(struct ccm_cloud_call *call, const struct ccm_nlb_place *place,
                             const char *id, const struct ccm_nlb_zones *before)
{
    const struct ccm_cloud_obj *eip = ccm_cloud_plain_get(call->cloud, CCM_CLOUD_EIP, id);

    if (!place->internet) {
        return ccm_nlb_fail_illegal(call, "IllegalParam", "AllocationId");
    }
    for (size_t i = 0; i < before->len; i++) {
        if (ccm_text_equal(ccm_cloud_attr(&before->items[i], "Wanted"), id)) {
            return ccm_cloud_fail(call, 400, "DuplicatedParam.AllocationId",
                                  "The param of AllocationId is duplicated.");
        }
    }
    if (eip == NULL) {
        return ccm_nlb_fail_absent(call, "AllocationId");
    }
    if (ccm_text_equal(ccm_cloud_attr(eip, "InternetChargeType"), "PayByBandwidth")) {
        return ccm_nlb_fail_denied(call, "OnlyPayByTrafficSupported");
    }
    if (ccm_text_equal(ccm_cloud_attr(eip, "ChargeType"), "PrePaid")) {
        return ccm_nlb_fail_denied(call, "OnlyPostPaidSupported");
    }
    if (!ccm_text_empty(ccm_cloud_attr(eip, "InstanceId"))) {
        return ccm_cloud_fail(call, 400, "ResourceAlreadyAssociated.AllocationId",
                              "The specified resource of AllocationId is already associated.");
    }
    return 0;
}

static int check_vswitch(struct ccm_cloud_call *call, const struct ccm_nlb_place *place,
                         const char *zone, const char *id)
{
    const struct ccm_cloud_vswitch *vswitch = ccm_strmap_get(call->cloud->vswitches, id);

    if (vswitch == NULL) {
        return ccm_nlb_fail_absent(call, "VSwitch");
    }
    if (!ccm_text_equal(ccm_cloud_attr(&vswitch->obj, "VpcId"), place->vpc)) {
        return ccm_nlb_fail_mismatch(call, "VpcId", place->vpc, id);
    }
    if (!ccm_text_equal(ccm_cloud_attr(&vswitch->obj, "ZoneId"), zone)) {
        return ccm_nlb_fail_mismatch(call, "ZoneIdAndVswitchId", zone, id);
    }
    if (place->dual && ccm_text_empty(ccm_cloud_attr(&vswitch->obj, "Ipv6CidrBlock"))) {
        return ccm_cloud_fail(call, 400, "OperationFailed.vSwitchNotSupportIpv6",
                              "The operation failed because of vSwitchNotSupportIpv6.");
    }
    return 0;
}

/* A zone that the load balancer has already: nothing of it may change. */
static int check_same(struct ccm_cloud_call *call, uint32_t index, const struct ccm_cloud_obj *now)
{
    static const struct {
        const char *member;
        const char *why;
    } rows[] = {
        { "VSwitchId", "ZoneVSwitchChanged" },
        { "PrivateIPv4Address", "ProtectedPrivateIPv4AddressChanged" },
        { "AllocationId", "ZoneAllocationIdChanged" },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const char *want = ccm_nlb_member(call, "ZoneMappings", index, rows[i].member);

        if (!ccm_text_empty(want) && !ccm_text_equal(want, ccm_cloud_attr(now, rows[i].member))) {
            return ccm_nlb_fail_denied(call, rows[i].why);
        }
    }
    return 0;
}

int ccm_nlb_attrs_copy(const struct ccm_cloud_obj *from, struct ccm_cloud_obj *to)
{
    int r = 0;

    for (size_t i = 0; i < from->attrs.len && r == 0; i++) {
        r = ccm_sim_params_set(&to->attrs, from->attrs.items[i].name, from->attrs.items[i].value);
    }
    return r;
}

/* One mapping, checked; addresses come later. */
static int zone_read(struct ccm_cloud_call *call, const struct ccm_nlb_place *place, uint32_t index,
                     struct ccm_nlb_zones *zones)
{
    const char *id = ccm_nlb_member(call, "ZoneMappings", index, "ZoneId");
    const char *vswitch = ccm_nlb_member(call, "ZoneMappings", index, "VSwitchId");
    const char *allocation = ccm_nlb_member(call, "ZoneMappings", index, "AllocationId");
    const struct ccm_cloud_obj *now = zone_find(place->now, id);
    int r = 0;

    if (zone_find(zones, id) != NULL) {
        return place->now == NULL
                   ? ccm_cloud_fail(call, 400, "OperationFailed.DuplicateZones.",
                                    "The operation failed because of Can not Specify duplicate "
                                    "zones.")
                   : ccm_cloud_fail(call, 400, "InvalidZones", "The current zone list is illegal.");
    }
    if (zones->len == CCM_NLB_ZONES_MAX) {
        return ccm_nlb_fail_illegal(call, "IllegalParamSize.ZoneMappings", "ZoneMappings");
    }
    r = check_vswitch(call, place, id, vswitch);
    if (r == 0 && now != NULL) {
        r = check_same(call, index, now);
    } else if (r == 0 && !ccm_text_empty(allocation)) {
        r = ccm_nlb_allocation_check(call, place, allocation, zones);
    }
    if (r < 0) {
        return r;
    }

    const struct ccm_cloud_pair pairs[] = {
        { "ZoneId", id },
        { "VSwitchId", vswitch },
        { "Wanted", now == NULL ? allocation : "" },
        { "Status", "Active" },
    };
    struct ccm_cloud_obj *zone = &zones->items[zones->len++];

    r = now == NULL ? 0 : ccm_nlb_attrs_copy(now, zone);
    return r < 0 ? r : ccm_cloud_attrs_set(zone, pairs, CCM_ARRAY_LEN(pairs));
}

static int locals_read(struct ccm_cloud_call *call, uint32_t index, const char *attr,
                       struct ccm_cloud_obj *zone)
{
    CCM_CLEANUP(ccm_freep) char *list = NULL;
    char prefix[64];

    (void)snprintf(prefix, sizeof(prefix), "ZoneMappings.%u.%s", index, attr); /* always fits */

    int r = ccm_nlb_join(call, prefix, &list);

    return r < 0 ? r : ccm_sim_params_set(&zone->attrs, attr, list);
}

static int zone_take(struct ccm_cloud_call *call, const struct ccm_nlb_place *place, uint32_t index,
                     struct ccm_cloud_obj *zone)
{
    int r = private_take(call, index, zone);

    if (r == 0 && place->internet) {
        r = ccm_nlb_public_take(call, place->lb, ccm_cloud_attr(zone, "Wanted"), zone);
    }
    if (r == 0 && place->dual) {
        r = ipv6_take(call, index, zone);
    }
    r = r < 0 ? r : locals_read(call, index, "Ipv4LocalAddresses", zone);
    return r < 0 ? r : locals_read(call, index, "Ipv6LocalAddresses", zone);
}

int ccm_nlb_zones_read(struct ccm_cloud_call *call, const struct ccm_nlb_place *place,
                       struct ccm_nlb_zones *ret)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params region = { 0 };
    int r = 0;
    size_t i = 0;

    for (uint32_t index = ccm_nlb_next_index(call, "ZoneMappings", 0); index != 0 && r == 0;
         index = ccm_nlb_next_index(call, "ZoneMappings", index)) {
        r = zone_read(call, place, index, ret);
    }
    if (r == 0 && ret->len < 2 && ccm_nlb_region_zones(call->cloud, &region) >= 2) {
        r = ccm_cloud_fail(call, 400, "InvalidZones", "The current zone list is illegal.");
    }
    for (uint32_t index = ccm_nlb_next_index(call, "ZoneMappings", 0);
         index != 0 && r == 0 && place->lb != NULL;
         index = ccm_nlb_next_index(call, "ZoneMappings", index)) {
        struct ccm_cloud_obj *zone = &ret->items[i++];

        r = zone_find(place->now, ccm_cloud_attr(zone, "ZoneId")) != NULL
                ? 0
                : zone_take(call, place, index, zone);
        ccm_sim_params_del(&zone->attrs, "Wanted");
    }
    if (r < 0) {
        ccm_nlb_zones_release(call->cloud, ret, place->now);
        ccm_nlb_zones_fini(ret);
    }
    return r;
}
