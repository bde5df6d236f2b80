/* Elastic addresses. Nothing but a console edit or a load balancer binds them. */
#include "ecs_query.h"
#include "families.h"
#include "page.h"
#include "plain.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"
#include "vpc.h"

#include <errno.h>

#define ISPS                                                                                       \
    "BGP|BGP_PRO|ChinaTelecom|ChinaUnicom|ChinaMobile|ChinaTelecom_L2|ChinaUnicom_L2|"             \
    "ChinaMobile_L2"

static int eip_fill(struct ccm_cloud_call *call, struct ccm_cloud_obj *eip, const char *address)
{
    static const char *const names[] = { "Description", "Name", "Zone", NULL };
    char created[32];

    ccm_cloud_format_time(ccm_clock_wall_ms(), true, created, sizeof(created));

    const struct ccm_cloud_pair pairs[] = {
        { "AllocationTime", created },
        { "Bandwidth", ccm_cloud_text(call, "Bandwidth", "5") },
        { "ChargeType", ccm_cloud_text(call, "InstanceChargeType", "PostPaid") },
        { "ISP", ccm_cloud_text(call, "ISP", "BGP") },
        { "InternetChargeType", ccm_cloud_text(call, "InternetChargeType", "PayByBandwidth") },
        { "IpAddress", address },
        { "RegionId", call->cloud->region },
        { "ResourceGroupId", ccm_cloud_text(call, "ResourceGroupId", "rg-default") },
        { "Status", "Available" },
    };
    int r = ccm_cloud_attrs_set(eip, pairs, CCM_ARRAY_LEN(pairs));

    return r < 0 ? r : ccm_cloud_copy_params(call, eip, names);
}

static int allocate(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    struct ccm_cloud_obj *eip = NULL;
    char id[48];
    char address[48];
    int r = ccm_cloud_tags_read(call, &tags);

    if (r < 0) {
        return r;
    }
    if (ccm_strmap_len(call->cloud->plain[CCM_CLOUD_EIP]) >= call->cloud->limits.eips) {
        return ccm_cloud_fail(call, 400, "QuotaExceeded.Eip", "Elastic IP address quota exceeded");
    }
    r = ccm_cloud_address_take_public(call->cloud, address);
    if (r < 0) {
        return ccm_cloud_fail(call, 400, "OperationFailed.InsufficientEIP",
                              "Eip resource is not enough.");
    }
    ccm_cloud_new_id(call->cloud, "eip", id, sizeof(id));
    r = ccm_cloud_plain_new(call->cloud, CCM_CLOUD_EIP, id, &eip);
    r = r < 0 ? r : eip_fill(call, eip, address);
    r = r < 0 ? r : ccm_cloud_tags_put(call, eip, &tags);
    if (r < 0) {
        ccm_cloud_plain_del(call->cloud, CCM_CLOUD_EIP, id);
        ccm_cloud_address_give_back(call->cloud, address);
        return r;
    }
    ccm_jsonw_str(call->out, "AllocationId", id);
    ccm_jsonw_str(call->out, "EipAddress", address);
    ccm_jsonw_i64(call->out, "OrderId", 0);
    ccm_jsonw_str(call->out, "ResourceGroupId", ccm_cloud_attr(eip, "ResourceGroupId"));
    return 0;
}

static int release(struct ccm_cloud_call *call)
{
    struct ccm_cloud_obj *eip =
        ccm_cloud_plain_get(call->cloud, CCM_CLOUD_EIP, ccm_cloud_text(call, "AllocationId", ""));

    if (eip == NULL) {
        return ccm_cloud_fail(call, 404, "InvalidAllocationId.NotFound",
                              "Specified allocation ID is not found.");
    }
    if (!ccm_text_equal(ccm_cloud_attr(eip, "Status"), "Available")) {
        return ccm_cloud_fail(call, 400, "IncorrectEipStatus",
                              "Current elastic IP status does not support this operation.");
    }
    if (ccm_text_equal(ccm_cloud_attr(eip, "DeletionProtection"), "true")) {
        return ccm_cloud_fail(call, 400, "InvalidOperation.DeletionProtection",
                              "The instance cannnot delete because of deletion protecion.");
    }
    if (ccm_text_equal(ccm_cloud_attr(eip, "ChargeType"), "PrePaid")) {
        return ccm_cloud_fail(call, 400, "Forbidden.ChargeTypeIsPrepaid",
                              "It's forbidden to release a prepaid EIP");
    }
    ccm_cloud_address_give_back(call->cloud, ccm_cloud_attr(eip, "IpAddress"));
    ccm_cloud_plain_del(call->cloud, CCM_CLOUD_EIP, eip->id);
    return 0;
}

/* What an address may be bound to, and how its id begins. */
static const struct ccm_cloud_pair holders[] = {
    { "EcsInstance", "i-" }, { "SlbInstance", "lb-" },       { "Nat", "ngw-" },
    { "HaVip", "havip-" },   { "NetworkInterface", "eni-" },
};

static bool has_eip(const struct ccm_cloud *cloud, const char *instance)
{
    return ccm_cloud_plain_count(cloud, CCM_CLOUD_EIP, "InstanceId", instance) > 0;
}

static int check_holder(struct ccm_cloud_call *call, const char *instance, const char *type)
{
    const char *prefix = NULL;

    for (size_t i = 0; i < CCM_ARRAY_LEN(holders); i++) {
        prefix = ccm_text_equal(holders[i].name, type) ? holders[i].value : prefix;
    }
    if (prefix == NULL || strncmp(instance, prefix, strlen(prefix)) != 0 ||
        (ccm_text_equal(type, "SlbInstance") && !ccm_strmap_has(call->cloud->lbs, instance))) {
        return ccm_cloud_fail(call, 404, "InvalidInstanceId.NotFound",
                              "The specified InstanceId is not found.");
    }
    return has_eip(call->cloud, instance)
               ? ccm_cloud_fail(call, 400, "InvalidAssociation.Duplicated",
                                "Specified instance has already associated with an EIP.")
               : 0;
}

static int associate(struct ccm_cloud_call *call)
{
    struct ccm_cloud_obj *eip =
        ccm_cloud_plain_get(call->cloud, CCM_CLOUD_EIP, ccm_cloud_text(call, "AllocationId", ""));
    const struct ccm_cloud_pair pairs[] = {
        { "Status", "InUse" },
        { "InstanceId", ccm_cloud_text(call, "InstanceId", "") },
        { "InstanceType", ccm_cloud_text(call, "InstanceType", "EcsInstance") },
    };

    if (eip == NULL) {
        return ccm_cloud_fail(call, 404, "InvalidAllocationId.NotFound",
                              "Specified allocation ID is not found.");
    }
    if (!ccm_text_equal(ccm_cloud_attr(eip, "Status"), "Available")) {
        return ccm_cloud_fail(call, 400, "IncorrectEipStatus",
                              "Current elastic IP status does not support this operation.");
    }
    const int r = check_holder(call, pairs[1].value, pairs[2].value);

    return r < 0 ? r : ccm_cloud_attrs_set(eip, pairs, CCM_ARRAY_LEN(pairs));
}

static const struct ccm_cloud_field fields[] = {
    { "AllocationTime", 's', NULL, "2026-01-01T00:00:00Z" },
    { "Bandwidth", 's', NULL, "5" },
    { "BandwidthPackageBandwidth", 's', NULL, "" },
    { "BandwidthPackageId", 's', NULL, "" },
    { "BandwidthPackageType", 's', NULL, "" },
    { "BizType", 's', NULL, "" },
    { "BusinessStatus", 's', NULL, "Normal" },
    { "ChargeType", 's', NULL, "PostPaid" },
    { "DeletionProtection", 'b', NULL, "false" },
    { "Description", 's', NULL, "" },
    { "EipBandwidth", 's', "Bandwidth", "5" },
    { "ExpiredTime", 's', NULL, "" },
    { "HDMonitorStatus", 's', NULL, "OFF" },
    { "HasReservationData", 's', NULL, "false" },
    { "ISP", 's', NULL, "BGP" },
    { "InstanceId", 's', NULL, "" },
    { "InstanceRegionId", 's', NULL, "" },
    { "InstanceType", 's', NULL, "" },
    { "InternetChargeType", 's', NULL, "PayByBandwidth" },
    { "IpAddress", 's', NULL, "" },
    { "Mode", 's', NULL, "NAT" },
    { "Name", 's', NULL, "" },
    { "Netmode", 's', NULL, "public" },
    { "PrivateIpAddress", 's', NULL, "" },
    { "PublicIpAddressPoolId", 's', NULL, "" },
    { "RegionId", 's', NULL, "" },
    { "ResourceGroupId", 's', NULL, "rg-default" },
    { "SecondLimited", 'b', NULL, "false" },
    { "SegmentInstanceId", 's', NULL, "" },
    { "ServiceManaged", 'n', NULL, "0" },
    { "Status", 's', NULL, "Available" },
    { "VpcId", 's', NULL, "" },
    { "Zone", 's', NULL, "" },
    { 0 },
};

static void eip_write(struct ccm_jsonw *w, const struct ccm_cloud_obj *eip)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "AllocationId", eip->id);
    ccm_cloud_write_fields(w, eip, fields);
    ccm_cloud_locks_write(w, ccm_cloud_attr(eip, "LockReason"));
    ccm_cloud_write_list(w, "SecurityProtectionTypes", "SecurityProtectionType",
                         ccm_cloud_attr(eip, "SecurityProtectionTypes"));
    ccm_cloud_vpc_tags_write(w, eip);
    ccm_jsonw_close(w, '}');
}

static const struct ccm_cloud_period periods[] = {
    { "Creation", "AllocationTime", "2026-01-01T00:00:00Z" },
    { 0 },
};

/* Comma lists, or a single value. */
static bool flags_fit(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *eip)
{
    const char *managed =
        ccm_text_equal(ccm_cloud_attr(eip, "ServiceManaged"), "1") ? "true" : "false";
    const char *secured =
        ccm_text_empty(ccm_cloud_attr(eip, "SecurityProtectionTypes")) ? "false" : "true";

    return ccm_text_equal(ccm_cloud_text(call, "ServiceManaged", managed), managed) &&
           ccm_text_equal(ccm_cloud_text(call, "SecurityProtectionEnabled", secured), secured);
}

static bool eip_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *eip)
{
    static const char *const names[] = { "ChargeType",      "ISP",
                                         "LockReason",      "PublicIpAddressPoolId",
                                         "ResourceGroupId", "SegmentInstanceId",
                                         "Status",          NULL };
    const char *ids = ccm_cloud_text(call, "AllocationId", NULL);
    const char *addresses = ccm_cloud_text(call, "EipAddress", NULL);
    const char *name = ccm_cloud_text(call, "EipName", NULL);
    const char *instance = ccm_cloud_text(call, "AssociatedInstanceId", NULL);
    const char *type = ccm_cloud_text(call, "AssociatedInstanceType", NULL);

    return ccm_cloud_params_fit(call, eip, names) &&
           (ids == NULL || ccm_cloud_list_has(ids, eip->id)) &&
           (addresses == NULL || ccm_cloud_list_has(addresses, ccm_cloud_attr(eip, "IpAddress"))) &&
           (name == NULL || ccm_text_equal(name, ccm_cloud_attr(eip, "Name"))) &&
           (instance == NULL || ccm_text_equal(instance, ccm_cloud_attr(eip, "InstanceId"))) &&
           (type == NULL || ccm_text_equal(type, ccm_cloud_attr(eip, "InstanceType"))) &&
           flags_fit(call, eip) && ccm_cloud_periods_fit(call, eip, periods);
}

static int describe(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    struct ccm_cloud_page page = { 0 };
    void *cursor = NULL;
    int r = ccm_cloud_tags_read(call, &tags);

    r = r < 0 ? r : ccm_cloud_page_read(call, 1, 100, 10, &page);
    r = r < 0 ? r : ccm_cloud_periods_check(call, periods);
    r = r < 0 ? r : ccm_cloud_vpc_dry_run(call);
    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "EipAddresses", '{');
    ccm_jsonw_open(call->out, "EipAddress", '[');
    for (const struct ccm_cloud_obj *eip =
             ccm_cloud_plain_next(call->cloud, CCM_CLOUD_EIP, &cursor);
         eip != NULL; eip = ccm_cloud_plain_next(call->cloud, CCM_CLOUD_EIP, &cursor)) {
        if (eip_fits(call, eip) && ccm_cloud_tags_fit(eip, &tags) &&
            ccm_cloud_page_takes(&page, eip->seq)) {
            eip_write(call->out, eip);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_cloud_page_write(call->out, &page);
    return 0;
}

static const struct ccm_cloud_param allocate_params[] = {
    { .name = "ActivityId", .type = CCM_CLOUD_INT },
    { .name = "AutoPay", .type = CCM_CLOUD_BOOL },
    { .name = "Bandwidth", .type = CCM_CLOUD_INT, .min = 1, .max = 500 },
    { .name = "ClientToken", .min = 1, .max = 64 },
    { .name = "Description", .max = 256, .invalid = "InvalidDescription.Malformed" },
    { .name = "ISP", .type = CCM_CLOUD_ENUM, .values = ISPS },
    { .name = "InstanceChargeType", .type = CCM_CLOUD_ENUM, .values = "PrePaid|PostPaid" },
    { .name = "InstanceId" },
    { .name = "InternetChargeType",
      .type = CCM_CLOUD_ENUM,
      .values = "PayByBandwidth|PayByTraffic",
      .invalid = "InvalidParameter" },
    { .name = "IpAddress" },
    { .name = "Name", .max = 128, .invalid = "InvalidName.Malformed" },
    { .name = "Netmode" },
    { .name = "Period", .type = CCM_CLOUD_INT, .min = 1, .max = 9 },
    { .name = "PricingCycle", .type = CCM_CLOUD_ENUM, .values = "Month|Year" },
    { .name = "PublicIpAddressPoolId" },
    { .name = "ResourceGroupId" },
    { .name = "SecurityProtectionTypes.N", .items = 10 },
    CCM_CLOUD_TAG_ROWS,
    { .name = "Zone" },
    { 0 },
};

static const struct ccm_cloud_param id_params[] = {
    { .name = "AllocationId", .required = true },
    { 0 },
};

static const struct ccm_cloud_param associate_params[] = {
    { .name = "AllocationId", .required = true },
    { .name = "ClientToken", .min = 1, .max = 64 },
    { .name = "InstanceId", .required = true },
    { .name = "InstanceRegionId" },
    { .name = "InstanceType",
      .type = CCM_CLOUD_ENUM,
      .values = "EcsInstance|SlbInstance|Nat|HaVip|NetworkInterface" },
    { .name = "PrivateIpAddress" },
    { 0 },
};

static const struct ccm_cloud_param list_params[] = {
    { .name = "AllocationId" },
    { .name = "AssociatedInstanceId" },
    { .name = "AssociatedInstanceType",
      .type = CCM_CLOUD_ENUM,
      .values = "EcsInstance|SlbInstance|Nat|HaVip|NetworkInterface|IpAddress" },
    { .name = "ChargeType", .type = CCM_CLOUD_ENUM, .values = "PostPaid|PrePaid" },
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "EipAddress" },
    { .name = "EipName", .min = 1, .max = 128 },
    { .name = "Filter.N.Key", .items = 5 },
    { .name = "Filter.N.Value", .items = 5 },
    { .name = "ISP", .type = CCM_CLOUD_ENUM, .values = ISPS },
    { .name = "IncludeReservationData", .type = CCM_CLOUD_BOOL },
    { .name = "LockReason", .type = CCM_CLOUD_ENUM, .values = "financial|security" },
    { .name = "PageNumber", .type = CCM_CLOUD_INT, .min = 1, .max = INT32_MAX },
    { .name = "PageSize", .type = CCM_CLOUD_INT, .min = 1, .max = 100 },
    { .name = "PublicIpAddressPoolId" },
    { .name = "ResourceGroupId" },
    { .name = "SecurityProtectionEnabled", .type = CCM_CLOUD_BOOL },
    { .name = "SegmentInstanceId" },
    { .name = "ServiceManaged", .type = CCM_CLOUD_BOOL },
    { .name = "Status",
      .type = CCM_CLOUD_ENUM,
      .values = "Associating|Unassociating|InUse|Available|Releasing" },
    CCM_CLOUD_TAG_ROWS,
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_eip_actions[] = {
    { .name = "AllocateEipAddress",
      .params = allocate_params,
      .region = true,
      .token = true,
      .run = allocate },
    { .name = "AssociateEipAddress", .params = associate_params, .token = true, .run = associate },
    { .name = "ReleaseEipAddress", .params = id_params, .run = release },
    { .name = "DescribeEipAddresses", .params = list_params, .region = true, .run = describe },
    { 0 },
};
