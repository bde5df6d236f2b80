/* Instances, listed. */
#include "ecs_query.h"
#include "families.h"
#include "page.h"
#include "plain.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

static const struct ccm_cloud_field instance_fields[] = {
    { "AutoReleaseTime", 's', NULL, "" },
    { "ClusterId", 's', NULL, "" },
    { "Cpu", 'n', NULL, "2" },
    { "CreationTime", 's', NULL, "2026-01-01T00:00Z" },
    { "CreditSpecification", 's', NULL, "" },
    { "DeletionProtection", 'b', NULL, "false" },
    { "DeploymentSetGroupNo", 'n', NULL, "0" },
    { "DeploymentSetId", 's', NULL, "" },
    { "Description", 's', NULL, "" },
    { "DeviceAvailable", 'b', NULL, "true" },
    { "EnableNVS", 'b', NULL, "false" },
    { "ExpiredTime", 's', NULL, "2099-12-31T15:59Z" },
    { "GPUAmount", 'n', NULL, "0" },
    { "GPUSpec", 's', NULL, "" },
    { "HostName", 's', NULL, "" },
    { "HpcClusterId", 's', NULL, "" },
    { "ISP", 's', NULL, "" },
    { "ImageId", 's', NULL, "" },
    { "InstanceChargeType", 's', NULL, "PostPaid" },
    { "InstanceName", 's', NULL, "" },
    { "InstanceNetworkType", 's', NULL, "vpc" },
    { "InstanceType", 's', NULL, "ecs.g7.large" },
    { "InstanceTypeFamily", 's', NULL, "ecs.g7" },
    { "InternetChargeType", 's', NULL, "PayByTraffic" },
    { "InternetMaxBandwidthIn", 'n', NULL, "-1" },
    { "InternetMaxBandwidthOut", 'n', NULL, "0" },
    { "IoOptimized", 'b', NULL, "true" },
    { "KeyPairName", 's', NULL, "" },
    { "LocalStorageAmount", 'n', NULL, "0" },
    { "LocalStorageCapacity", 'n', NULL, "0" },
    { "Memory", 'n', NULL, "8192" },
    { "OSName", 's', NULL, "Linux" },
    { "OSNameEn", 's', NULL, "Linux" },
    { "OSType", 's', NULL, "linux" },
    { "Recyclable", 'b', NULL, "false" },
    { "RegionId", 's', NULL, "" },
    { "ResourceGroupId", 's', NULL, "" },
    { "SaleCycle", 's', NULL, "" },
    { "SerialNumber", 's', NULL, "" },
    { "SpotDuration", 'n', NULL, "0" },
    { "SpotInterruptionBehavior", 's', NULL, "" },
    { "SpotPriceLimit", 'n', NULL, "0" },
    { "SpotStrategy", 's', NULL, "NoSpot" },
    { "StartTime", 's', NULL, "2026-01-01T00:00Z" },
    { "Status", 's', NULL, "Running" },
    { "StoppedMode", 's', NULL, "Not-applicable" },
    { "VlanId", 's', NULL, "" },
    { "ZoneId", 's', NULL, "" },
    { 0 },
};

/* Objects inside an instance, each with the members of its list. */
static const struct {
    const char *name;
    struct ccm_cloud_field fields[9]; /* the last one ends it */
} instance_parts[] = {
    { "AdditionalInfo",
      { { "EnableHighDensityMode", 'b', NULL, "false" },
        { "ManagedHostId", 's', NULL, "" },
        { "NodeSerialNumber", 's', NULL, "" } } },
    { "ClockOptions", { { "PtpStatus", 's', NULL, "" } } },
    { "CpuOptions",
      { { "CoreCount", 'n', NULL, "0" },
        { "EnableVISST", 'b', NULL, "false" },
        { "EnableVRDT", 'b', NULL, "false" },
        { "NestedVirtualization", 's', NULL, "" },
        { "Numa", 's', NULL, "" },
        { "ThreadsPerCore", 'n', NULL, "0" },
        { "TopologyType", 's', NULL, "" },
        { "TurboMode", 's', NULL, "" } } },
    { "DedicatedHostAttribute",
      { { "DedicatedHostClusterId", 's', NULL, "" },
        { "DedicatedHostId", 's', NULL, "" },
        { "DedicatedHostName", 's', NULL, "" } } },
    { "DedicatedInstanceAttribute",
      { { "Affinity", 's', NULL, "" }, { "Tenancy", 's', NULL, "" } } },
    { "EcsCapacityReservationAttr",
      { { "CapacityReservationId", 's', NULL, "" },
        { "CapacityReservationPreference", 's', NULL, "" } } },
    { "HibernationOptions", { { "Configured", 'b', NULL, "false" } } },
    { "ImageOptions",
      { { "CurrentOSNVMeSupported", 'b', NULL, "false" },
        { "LoginAsNonRoot", 'b', NULL, "false" } } },
    { "MetadataOptions",
      { { "HttpEndpoint", 's', NULL, "enabled" },
        { "HttpPutResponseHopLimit", 'n', NULL, "0" },
        { "HttpTokens", 's', NULL, "optional" },
        { "InstanceMetadataTags", 's', NULL, "" } } },
    { "PrivateDnsNameOptions",
      { { "EnableInstanceIdDnsAAAARecord", 'b', NULL, "false" },
        { "EnableInstanceIdDnsARecord", 'b', NULL, "false" },
        { "EnableIpDnsARecord", 'b', NULL, "false" },
        { "EnableIpDnsPtrRecord", 'b', NULL, "false" },
        { "HostnameType", 's', NULL, "" } } },
    { "SecurityOptions", { { "EnableSecureBoot", 'b', NULL, "false" } } },
};

static void instance_enis_write(struct ccm_jsonw *w, const struct ccm_cloud_instance *instance)
{
    ccm_jsonw_open(w, "NetworkInterfaces", '{');
    ccm_jsonw_open(w, "NetworkInterface", '[');
    for (size_t i = 0; i < instance->enis_len; i++) {
        const struct ccm_cloud_eni *eni = instance->enis[i];

        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "NetworkInterfaceId", eni->obj.id);
        ccm_jsonw_str(w, "MacAddress", ccm_cloud_attr(&eni->obj, "MacAddress"));
        ccm_jsonw_str(w, "Type", ccm_cloud_attr(&eni->obj, "Type"));
        ccm_jsonw_str(w, "PrimaryIpAddress", ccm_cloud_attr(&eni->obj, "PrivateIpAddress"));
        ccm_cloud_eni_ips_write(w, eni, false);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

/* The elastic address of an instance, NULL: it has none. */
static const struct ccm_cloud_obj *eip_of(const struct ccm_cloud *cloud, const char *instance)
{
    void *cursor = NULL;

    for (const struct ccm_cloud_obj *eip = ccm_cloud_plain_next(cloud, CCM_CLOUD_EIP, &cursor);
         eip != NULL; eip = ccm_cloud_plain_next(cloud, CCM_CLOUD_EIP, &cursor)) {
        if (ccm_text_equal(ccm_cloud_attr(eip, "InstanceId"), instance)) {
            return eip;
        }
    }
    return NULL;
}

static void eip_write(struct ccm_jsonw *w, const struct ccm_cloud_obj *eip)
{
    static const struct ccm_cloud_field fields[] = {
        { "Bandwidth", 'n', NULL, "5" },
        { "IpAddress", 's', NULL, "" },
        { "InternetChargeType", 's', NULL, "PayByBandwidth" },
        { 0 },
    };
    static const struct ccm_cloud_field none[] = {
        { "Bandwidth", 'n', "None", "0" },
        { "IpAddress", 's', "None", "" },
        { "InternetChargeType", 's', "None", "" },
        { 0 },
    };
    static const struct ccm_cloud_obj empty = { 0 };

    ccm_jsonw_open(w, "EipAddress", '{');
    ccm_jsonw_str(w, "AllocationId", eip == NULL ? "" : eip->id);
    ccm_cloud_write_fields(w, eip == NULL ? &empty : eip, eip == NULL ? none : fields);
    ccm_jsonw_bool(w, "IsSupportUnassociate", true);
    ccm_jsonw_close(w, '}');
}

static void instance_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud,
                           const struct ccm_cloud_instance *instance)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "InstanceId", instance->obj.id);
    ccm_cloud_write_fields(w, &instance->obj, instance_fields);
    ccm_jsonw_open(w, "VpcAttributes", '{');
    ccm_jsonw_str(w, "VpcId", ccm_cloud_attr(&instance->obj, "VpcId"));
    ccm_jsonw_str(w, "VSwitchId", ccm_cloud_attr(&instance->obj, "VSwitchId"));
    ccm_jsonw_str(w, "NatIpAddress", "");
    ccm_cloud_wrapped_write(w, "PrivateIpAddress", "IpAddress",
                            ccm_cloud_attr(&instance->obj, "PrivateIp"));
    ccm_jsonw_close(w, '}');
    ccm_cloud_wrapped_write(w, "InnerIpAddress", "IpAddress",
                            ccm_cloud_attr(&instance->obj, "InnerIp"));
    ccm_cloud_wrapped_write(w, "PublicIpAddress", "IpAddress",
                            ccm_cloud_attr(&instance->obj, "PublicIp"));
    ccm_cloud_wrapped_write(w, "RdmaIpAddress", "IpAddress", "");
    ccm_cloud_write_list(w, "SecurityGroupIds", "SecurityGroupId",
                         ccm_cloud_attr(&instance->obj, "SecurityGroupId"));
    for (size_t i = 0; i < CCM_ARRAY_LEN(instance_parts); i++) {
        ccm_jsonw_open(w, instance_parts[i].name, '{');
        ccm_cloud_write_fields(w, &instance->obj, instance_parts[i].fields);
        ccm_jsonw_close(w, '}');
    }
    eip_write(w, eip_of(cloud, instance->obj.id));
    ccm_cloud_locks_write(w, ccm_cloud_attr(&instance->obj, "LockReason"));
    instance_enis_write(w, instance);
    ccm_cloud_tags_write(w, "Tags", &instance->obj, false);
    ccm_jsonw_close(w, '}');
}

struct instance_filter {
    struct ccm_sim_params ids;
    struct ccm_sim_params ips;
    struct ccm_sim_params eips;
    struct ccm_sim_params ipv6;
    struct ccm_sim_params tags;
    bool by_ids;
    bool by_ips;
    bool by_eips;
    bool none; /* asked for an address that no instance here has */
};

static void instance_filter_fini(struct instance_filter *filter)
{
    ccm_sim_params_fini(&filter->ids);
    ccm_sim_params_fini(&filter->ips);
    ccm_sim_params_fini(&filter->eips);
    ccm_sim_params_fini(&filter->ipv6);
    ccm_sim_params_fini(&filter->tags);
}

static const struct ccm_cloud_period periods[] = {
    { "Creation", "CreationTime", "2026-01-01T00:00Z" },
    { "Expired", "ExpiredTime", "2099-12-31T15:59Z" },
    { 0 },
};

/* Parameters that are attributes; without a value of its own an instance has
 * the one that its answer shows. */
static bool attrs_fit(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *instance)
{
    static const struct ccm_cloud_pair rows[] = {
        { "DeviceAvailable", "true" },
        { "HpcClusterId", "" },
        { "HttpEndpoint", "enabled" },
        { "HttpPutResponseHopLimit", "0" },
        { "HttpTokens", "optional" },
        { "ImageId", "" },
        { "InstanceChargeType", "PostPaid" },
        { "InstanceName", "" },
        { "InstanceNetworkType", "vpc" },
        { "InstanceType", "ecs.g7.large" },
        { "InstanceTypeFamily", "ecs.g7" },
        { "InternetChargeType", "PayByTraffic" },
        { "IoOptimized", "true" },
        { "KeyPairName", "" },
        { "LockReason", "" },
        { "ResourceGroupId", "" },
        { "Status", "Running" },
        { "VSwitchId", "" },
        { "VpcId", "" },
        { "ZoneId", "" },
    };
    const char *group = ccm_cloud_text(call, "SecurityGroupId", NULL);

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        if (!ccm_cloud_attr_fits(call, instance, rows[i].name, rows[i].name, rows[i].value)) {
            return false;
        }
    }
    return group == NULL || ccm_cloud_list_has(ccm_cloud_attr(instance, "SecurityGroupId"), group);
}

static bool has_ipv6(const struct ccm_cloud_instance *instance, const struct ccm_sim_params *asked)
{
    for (size_t i = 0; i < instance->enis_len; i++) {
        for (size_t k = 0; k < instance->enis[i]->ipv6.len; k++) {
            if (ccm_cloud_values_have(asked, instance->enis[i]->ipv6.items[k].name)) {
                return true;
            }
        }
    }
    return false;
}

static bool has_eip(const struct ccm_cloud *cloud, const struct ccm_cloud_instance *instance,
                    const struct ccm_sim_params *asked)
{
    const struct ccm_cloud_obj *eip = eip_of(cloud, instance->obj.id);

    return eip != NULL && ccm_sim_params_get(asked, ccm_cloud_attr(eip, "IpAddress")) != NULL;
}

/* An instance with an owner is seen by that account alone; without one by all. */
static bool owner_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *instance)
{
    CCM_CLEANUP(ccm_cloud_key_fini) struct ccm_cloud_key key = { 0 };
    const char *owner = ccm_cloud_attr(instance, "OwnerId");

    return ccm_text_empty(owner) ||
           (ccm_cloud_accounts_get(call->cloud->accounts, call->key_id, &key) == 0 &&
            ccm_text_equal(key.account, owner));
}

static bool instance_fits(const struct ccm_cloud_call *call,
                          const struct ccm_cloud_instance *instance,
                          const struct instance_filter *filter)
{
    if (filter->none || !attrs_fit(call, &instance->obj) || !owner_fits(call, &instance->obj) ||
        !ccm_cloud_attr_fits(call, &instance->obj, "RegionId", "RegionId", call->cloud->region) ||
        (filter->by_ids && ccm_sim_params_get(&filter->ids, instance->obj.id) == NULL) ||
        (filter->by_ips &&
         ccm_sim_params_get(&filter->ips, ccm_cloud_attr(&instance->obj, "PrivateIp")) == NULL)) {
        return false;
    }
    return (!filter->by_eips || has_eip(call->cloud, instance, &filter->eips)) &&
           (filter->ipv6.len == 0 || has_ipv6(instance, &filter->ipv6)) &&
           ccm_cloud_periods_fit(call, &instance->obj, periods) &&
           ccm_cloud_tags_fit(&instance->obj, &filter->tags);
}

/* Addresses that instances of this cloud never have. */
static int absent_read(struct ccm_cloud_call *call, bool *ret)
{
    static const char *const lists[] = { "InnerIpAddresses", "PublicIpAddresses",
                                         "RdmaIpAddresses" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(lists); i++) {
        CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params list = { 0 };
        bool given = false;
        int r = ccm_cloud_texts_read(call, lists[i], &list, &given);

        if (r < 0) {
            return r;
        }
        *ret = *ret || given;
    }
    return 0;
}

static int filter_read(struct ccm_cloud_call *call, struct instance_filter *filter)
{
    int r = ccm_cloud_texts_read(call, "InstanceIds", &filter->ids, &filter->by_ids);

    r = r < 0 ? r : ccm_cloud_texts_read(call, "PrivateIpAddresses", &filter->ips, &filter->by_ips);
    r = r < 0 ? r : ccm_cloud_texts_read(call, "EipAddresses", &filter->eips, &filter->by_eips);
    r = r < 0 ? r : ccm_cloud_list(call, "Ipv6Address", &filter->ipv6);
    r = r < 0 ? r : absent_read(call, &filter->none);
    r = r < 0 ? r : ccm_cloud_periods_check(call, periods);
    return r < 0 ? r : ccm_cloud_tags_read(call, &filter->tags);
}

static void instance_list(struct ccm_cloud_call *call, const struct ccm_cloud_instance *instance,
                          const struct instance_filter *filter, struct ccm_cloud_page *page)
{
    if (instance_fits(call, instance, filter) && ccm_cloud_page_takes(page, instance->obj.seq)) {
        instance_write(call->out, call->cloud, instance);
    }
}

static int describe_instances(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(instance_filter_fini) struct instance_filter filter = { 0 };
    CCM_CLEANUP(ccm_cloud_named_fini) struct ccm_cloud_named named = { 0 };
    struct ccm_cloud_page page = { 0 };
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = filter_read(call, &filter);

    r = r < 0
            ? r
            : ccm_cloud_page_read(call, ccm_cloud_has(call, "MaxResults") ? 10 : 1, 100, 10, &page);
    if (r < 0) {
        return r;
    }
    if (ccm_text_equal(ccm_cloud_text(call, "DryRun", ""), "true")) {
        return ccm_cloud_fail(call, 400, "DryRunOperation",
                              "Request validation has been passed with DryRun flag set.");
    }
    ccm_jsonw_open(call->out, "Instances", '{');
    ccm_jsonw_open(call->out, "Instance", '[');
    if (filter.by_ids) {
        r = ccm_cloud_named_read(call->cloud->instances, &filter.ids, false, &named);
    }
    for (size_t i = 0; i < named.len; i++) {
        instance_list(call, (const struct ccm_cloud_instance *)(const void *)named.items[i],
                      &filter, &page);
    }
    while (!filter.by_ids && ccm_strmap_next(call->cloud->instances, &cursor, &id, &value) != 0) {
        instance_list(call, value, &filter, &page);
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_cloud_page_write(call->out, &page);
    return r;
}

static const struct ccm_cloud_param instance_params[] = {
    { .name = "AdditionalAttributes.N",
      .type = CCM_CLOUD_ENUM,
      .items = 5,
      .values = "META_OPTIONS|DDH_CLUSTER|NETWORK_PRIMARY_ENI_IP|PRIVATE_DNS_OPTIONS|"
                "CPU_OPTIONS_TOPOLOGY_TYPE|CURRENT_OS_NVME_SUPPORTED|LOGIN_AS_NON_ROOT" },
    { .name = "DeviceAvailable", .type = CCM_CLOUD_BOOL },
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "EipAddresses" },
    { .name = "Filter.N.Key", .items = 5 },
    { .name = "Filter.N.Value", .items = 5 },
    { .name = "HpcClusterId" },
    { .name = "HttpEndpoint", .type = CCM_CLOUD_ENUM, .values = "enabled|disabled" },
    { .name = "HttpPutResponseHopLimit", .type = CCM_CLOUD_INT },
    { .name = "HttpTokens", .type = CCM_CLOUD_ENUM, .values = "optional|required" },
    { .name = "ImageId" },
    { .name = "InnerIpAddresses" },
    { .name = "InstanceChargeType", .type = CCM_CLOUD_ENUM, .values = "PostPaid|PrePaid" },
    { .name = "InstanceIds" },
    { .name = "InstanceName" },
    { .name = "InstanceTypeFamily" },
    { .name = "InternetChargeType",
      .type = CCM_CLOUD_ENUM,
      .values = "PayByBandwidth|PayByTraffic" },
    { .name = "IoOptimized", .type = CCM_CLOUD_BOOL },
    { .name = "Ipv6Address.N", .items = 100 },
    { .name = "KeyPairName" },
    { .name = "LockReason",
      .type = CCM_CLOUD_ENUM,
      .values = "financial|security|Recycling|dedicatedhostfinancial|refunded" },
    { .name = "NeedSaleCycle", .type = CCM_CLOUD_BOOL },
    { .name = "PublicIpAddresses" },
    { .name = "RdmaIpAddresses" },
    { .name = "ResourceGroupId" },
    { .name = "SecurityGroupId" },
    { .name = "InstanceNetworkType", .type = CCM_CLOUD_ENUM, .values = "classic|vpc" },
    { .name = "InstanceType" },
    CCM_CLOUD_ECS_PAGE_ROWS,
    { .name = "PrivateIpAddresses" },
    { .name = "Status",
      .type = CCM_CLOUD_ENUM,
      .values = "Pending|Running|Starting|Stopping|Stopped",
      .invalid = "InvalidStatus.NotFound" },
    CCM_CLOUD_TAG_ROWS,
    { .name = "VSwitchId" },
    { .name = "VpcId" },
    { .name = "ZoneId" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_instance_actions[] = {
    { .name = "DescribeInstances",
      .params = instance_params,
      .region = true,
      .run = describe_instances },
    { 0 },
};
