#include "families.h"
#include "page.h"
#include "plain.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* Whether an attribute equals a parameter that is given. */
static bool attr_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj,
                      const char *param, const char *attr)
{
    const char *want = ccm_cloud_text(call, param, NULL);

    return want == NULL || ccm_text_equal(want, ccm_cloud_attr(obj, attr));
}

/* A parameter that is JSON text of a list of texts, as sorted names. *ret_given: it is there at
 * all. */
static int texts_read(struct ccm_cloud_call *call, const char *name, struct ccm_sim_params *ret,
                      bool *ret_given)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const char *text = ccm_cloud_text(call, name, NULL);

    *ret_given = text != NULL;
    if (text == NULL) {
        return 0;
    }
    if (ccm_json_parse(text, strlen(text), &json) < 0 || !cJSON_IsArray(json) ||
        cJSON_GetArraySize(json) > 100) {
        return ccm_cloud_fail(call, 400, "InvalidParameter",
                              "The specified parameter %s is not valid.", name);
    }
    for (const cJSON *item = json->child; item != NULL; item = item->next) {
        int r = cJSON_IsString(item)
                    ? ccm_sim_params_set(ret, item->valuestring, "")
                    : ccm_cloud_fail(call, 400, "InvalidParameter",
                                     "The specified parameter %s is not valid.", name);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

/* Resources that a call names by id or address, in order of creation, each once. */
struct named {
    const struct ccm_cloud_obj **items;
    size_t len;
};

static void named_fini(struct named *named)
{
    free(named->items);
}

static int compare_seq(const void *a, const void *b)
{
    const struct ccm_cloud_obj *const *left = a;
    const struct ccm_cloud_obj *const *right = b;

    if ((*left)->seq == (*right)->seq) {
        return 0;
    }
    return (*left)->seq < (*right)->seq ? -1 : 1;
}

/* values: the names are in the values of the list, else in its names. The map's values begin with
 * their object. */
static int named_read(const struct ccm_strmap *map, const struct ccm_sim_params *list, bool values,
                      struct named *ret)
{
    size_t len = 0;

    ret->items = calloc(list->len + 1, sizeof(const struct ccm_cloud_obj *));
    if (ret->items == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < list->len; i++) {
        ret->items[len] = ccm_strmap_get(map, values ? list->items[i].value : list->items[i].name);
        len += ret->items[len] != NULL;
    }
    qsort(ret->items, len, sizeof(const struct ccm_cloud_obj *), compare_seq);
    for (size_t i = 0; i < len; i++) {
        if (i == 0 || ret->items[i] != ret->items[i - 1]) {
            ret->items[ret->len++] = ret->items[i];
        }
    }
    return 0;
}

/* ---- instances ---- */

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

static void wrapped_text(struct ccm_jsonw *w, const char *outer, const char *inner,
                         const char *text)
{
    ccm_jsonw_open(w, outer, '{');
    ccm_jsonw_open(w, inner, '[');
    if (!ccm_text_empty(text)) {
        ccm_jsonw_str(w, NULL, text);
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void association_write(struct ccm_jsonw *w)
{
    ccm_jsonw_open(w, "AssociatedPublicIp", '{');
    ccm_jsonw_str(w, "AllocationId", "");
    ccm_jsonw_str(w, "PublicIpAddress", "");
    ccm_jsonw_close(w, '}');
}

/* full: as the interface itself is described, not its instance. */
static void private_ips_write(struct ccm_jsonw *w, const struct ccm_cloud_eni *eni, bool full)
{
    ccm_cloud_write_list(w, "Ipv4PrefixSets", "Ipv4PrefixSet", "");
    ccm_cloud_write_list(w, "Ipv6PrefixSets", "Ipv6PrefixSet", "");
    ccm_jsonw_open(w, "PrivateIpSets", '{');
    ccm_jsonw_open(w, "PrivateIpSet", '[');
    for (size_t i = 0; i < eni->ips.len; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "PrivateIpAddress", eni->ips.items[i].name);
        ccm_jsonw_str(w, "PrivateDnsName", "");
        if (full) {
            association_write(w);
        }
        ccm_jsonw_bool(w, "Primary", ccm_text_equal(eni->ips.items[i].value, "true"));
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
    ccm_jsonw_open(w, "Ipv6Sets", '{');
    ccm_jsonw_open(w, "Ipv6Set", '[');
    for (size_t i = 0; i < eni->ipv6.len; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "Ipv6Address", eni->ipv6.items[i].name);
        ccm_jsonw_bool(w, "Primary", false);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void instance_enis_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud,
                                const struct ccm_cloud_instance *instance)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    ccm_jsonw_open(w, "NetworkInterfaces", '{');
    ccm_jsonw_open(w, "NetworkInterface", '[');
    while (ccm_strmap_next(cloud->enis, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_eni *eni = value;

        if (ccm_text_equal(ccm_cloud_attr(&eni->obj, "InstanceId"), instance->obj.id)) {
            ccm_jsonw_open(w, NULL, '{');
            ccm_jsonw_str(w, "NetworkInterfaceId", eni->obj.id);
            ccm_jsonw_str(w, "MacAddress", ccm_cloud_attr(&eni->obj, "MacAddress"));
            ccm_jsonw_str(w, "Type", ccm_cloud_attr(&eni->obj, "Type"));
            ccm_jsonw_str(w, "PrimaryIpAddress", ccm_cloud_attr(&eni->obj, "PrivateIpAddress"));
            private_ips_write(w, eni, false);
            ccm_jsonw_close(w, '}');
        }
    }
    ccm_jsonw_close(w, ']');
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
    wrapped_text(w, "PrivateIpAddress", "IpAddress", ccm_cloud_attr(&instance->obj, "PrivateIp"));
    ccm_jsonw_close(w, '}');
    wrapped_text(w, "InnerIpAddress", "IpAddress", "");
    wrapped_text(w, "PublicIpAddress", "IpAddress", "");
    wrapped_text(w, "RdmaIpAddress", "IpAddress", "");
    ccm_cloud_write_list(w, "SecurityGroupIds", "SecurityGroupId",
                         ccm_cloud_attr(&instance->obj, "SecurityGroupId"));
    for (size_t i = 0; i < CCM_ARRAY_LEN(instance_parts); i++) {
        ccm_jsonw_open(w, instance_parts[i].name, '{');
        ccm_cloud_write_fields(w, &instance->obj, instance_parts[i].fields);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_open(w, "EipAddress", '{');
    ccm_jsonw_str(w, "AllocationId", "");
    ccm_jsonw_i64(w, "Bandwidth", 0);
    ccm_jsonw_str(w, "IpAddress", "");
    ccm_jsonw_str(w, "InternetChargeType", "");
    ccm_jsonw_bool(w, "IsSupportUnassociate", true);
    ccm_jsonw_close(w, '}');
    ccm_jsonw_open(w, "OperationLocks", '{');
    ccm_jsonw_open(w, "LockReason", '[');
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
    instance_enis_write(w, cloud, instance);
    ccm_cloud_tags_write(w, "Tags", &instance->obj, false);
    ccm_jsonw_close(w, '}');
}

struct instance_filter {
    struct ccm_sim_params ids;
    struct ccm_sim_params ips;
    struct ccm_sim_params tags;
    bool by_ids;
    bool by_ips;
    bool none; /* asked for an address or a lock that no instance here has */
};

static void instance_filter_fini(struct instance_filter *filter)
{
    ccm_sim_params_fini(&filter->ids);
    ccm_sim_params_fini(&filter->ips);
    ccm_sim_params_fini(&filter->tags);
}

static bool instance_fits(const struct ccm_cloud_call *call,
                          const struct ccm_cloud_instance *instance,
                          const struct instance_filter *filter)
{
    static const char *const names[] = {
        "HpcClusterId",
        "ImageId",
        "InstanceChargeType",
        "InstanceName",
        "InstanceNetworkType",
        "InstanceType",
        "InstanceTypeFamily",
        "InternetChargeType",
        "KeyPairName",
        "ResourceGroupId",
        "Status",
        "VSwitchId",
        "VpcId",
        "ZoneId",
    };
    /* Without a value of its own an instance has the one that its answer shows. */
    static const struct ccm_cloud_pair usual[] = {
        { "InstanceChargeType", "PostPaid" },     { "InstanceNetworkType", "vpc" },
        { "InstanceType", "ecs.g7.large" },       { "InstanceTypeFamily", "ecs.g7" },
        { "InternetChargeType", "PayByTraffic" },
    };
    const char *group = ccm_cloud_text(call, "SecurityGroupId", NULL);

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        const char *own = ccm_cloud_attr(&instance->obj, names[i]);

        for (size_t k = 0; ccm_text_empty(own) && k < CCM_ARRAY_LEN(usual); k++) {
            own = ccm_text_equal(usual[k].name, names[i]) ? usual[k].value : own;
        }
        if (ccm_cloud_has(call, names[i]) &&
            !ccm_text_equal(ccm_cloud_text(call, names[i], ""), own)) {
            return false;
        }
    }
    if (filter->none ||
        (group != NULL &&
         !ccm_cloud_list_has(ccm_cloud_attr(&instance->obj, "SecurityGroupId"), group))) {
        return false;
    }
    if (filter->by_ids && ccm_sim_params_get(&filter->ids, instance->obj.id) == NULL) {
        return false;
    }
    if (filter->by_ips &&
        ccm_sim_params_get(&filter->ips, ccm_cloud_attr(&instance->obj, "PrivateIp")) == NULL) {
        return false;
    }
    return ccm_cloud_tags_fit(&instance->obj, &filter->tags);
}

/* Addresses and states that instances of this cloud never have. */
static int absent_read(struct ccm_cloud_call *call, bool *ret)
{
    static const char *const lists[] = { "EipAddresses", "InnerIpAddresses", "PublicIpAddresses",
                                         "RdmaIpAddresses" };
    static const char *const others[] = { "Ipv6Address.1", "LockReason" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(lists); i++) {
        CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params list = { 0 };
        bool given = false;
        int r = texts_read(call, lists[i], &list, &given);

        if (r < 0) {
            return r;
        }
        *ret = *ret || given;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(others); i++) {
        *ret = *ret || ccm_cloud_has(call, others[i]);
    }
    return 0;
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
    CCM_CLEANUP(named_fini) struct named named = { 0 };
    struct ccm_cloud_page page = { 0 };
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = texts_read(call, "InstanceIds", &filter.ids, &filter.by_ids);

    r = r < 0 ? r : texts_read(call, "PrivateIpAddresses", &filter.ips, &filter.by_ips);
    r = r < 0 ? r : absent_read(call, &filter.none);
    r = r < 0 ? r : ccm_cloud_tags_read(call, &filter.tags);
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
        r = named_read(call->cloud->instances, &filter.ids, false, &named);
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

/* ---- network interfaces ---- */

static const struct ccm_cloud_field eni_fields[] = {
    { "CreationTime", 's', NULL, "2026-01-01T00:00:00Z" },
    { "DeleteOnRelease", 'b', NULL, "true" },
    { "Description", 's', NULL, "" },
    { "InstanceId", 's', NULL, "" },
    { "MacAddress", 's', NULL, "" },
    { "NetworkInterfaceName", 's', NULL, "" },
    { "NetworkInterfaceTrafficMode", 's', NULL, "Standard" },
    { "OwnerId", 's', NULL, "1000000000000001" },
    { "PrivateIpAddress", 's', NULL, "" },
    { "ResourceGroupId", 's', NULL, "" },
    { "ServiceManaged", 'b', NULL, "false" },
    { "SourceDestCheck", 'b', NULL, "false" },
    { "Status", 's', NULL, "InUse" },
    { "Type", 's', NULL, "Secondary" },
    { "VSwitchId", 's', NULL, "" },
    { "VpcId", 's', NULL, "" },
    { "ZoneId", 's', NULL, "" },
    { "QueueNumber", 'n', NULL, "2" },
    { "QueuePairNumber", 'n', NULL, "0" },
    { "ServiceID", 'n', NULL, "0" },
    { 0 },
};

static void eni_write(struct ccm_jsonw *w, const struct ccm_cloud_eni *eni)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "NetworkInterfaceId", eni->obj.id);
    ccm_cloud_write_fields(w, &eni->obj, eni_fields);
    private_ips_write(w, eni, true);
    ccm_jsonw_open(w, "Attachment", '{');
    ccm_jsonw_i64(w, "DeviceIndex", 0);
    ccm_jsonw_str(w, "InstanceId", ccm_cloud_attr(&eni->obj, "InstanceId"));
    ccm_jsonw_i64(w, "NetworkCardIndex", 0);
    ccm_jsonw_str(w, "TrunkNetworkInterfaceId", "");
    ccm_jsonw_close(w, '}');
    association_write(w);
    ccm_cloud_write_list(w, "SecurityGroupIds", "SecurityGroupId",
                         ccm_cloud_attr(&eni->obj, "SecurityGroupId"));
    ccm_cloud_tags_write(w, "Tags", &eni->obj, false);
    ccm_jsonw_close(w, '}');
}

struct eni_filter {
    struct ccm_sim_params ids;
    struct ccm_sim_params ips;
    struct ccm_sim_params ipv6;
    struct ccm_sim_params tags;
};

static void eni_filter_fini(struct eni_filter *filter)
{
    ccm_sim_params_fini(&filter->ids);
    ccm_sim_params_fini(&filter->ips);
    ccm_sim_params_fini(&filter->ipv6);
    ccm_sim_params_fini(&filter->tags);
}

static bool has_value(const struct ccm_sim_params *list, const char *value)
{
    for (size_t i = 0; i < list->len; i++) {
        if (ccm_text_equal(list->items[i].value, value)) {
            return true;
        }
    }
    return false;
}

/* No address asked for, or one of the interface's own is among those asked for. */
static bool addresses_fit(const struct ccm_sim_params *own, const struct ccm_sim_params *asked)
{
    if (asked->len == 0) {
        return true;
    }
    for (size_t i = 0; i < own->len; i++) {
        if (has_value(asked, own->items[i].name)) {
            return true;
        }
    }
    return false;
}

static bool eni_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_eni *eni,
                     const struct eni_filter *filter)
{
    static const char *const names[] = {
        "InstanceId", "NetworkInterfaceName", "ResourceGroupId", "Status", "Type", "VSwitchId",
        "VpcId",
    };
    const char *group = ccm_cloud_text(call, "SecurityGroupId", NULL);

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        if (!attr_fits(call, &eni->obj, names[i], names[i])) {
            return false;
        }
    }
    if ((filter->ids.len > 0 && !has_value(&filter->ids, eni->obj.id)) ||
        (group != NULL &&
         !ccm_cloud_list_has(ccm_cloud_attr(&eni->obj, "SecurityGroupId"), group)) ||
        ccm_text_equal(ccm_cloud_text(call, "ServiceManaged", ""), "true")) {
        return false;
    }
    return attr_fits(call, &eni->obj, "PrimaryIpAddress", "PrivateIpAddress") &&
           addresses_fit(&eni->ips, &filter->ips) && addresses_fit(&eni->ipv6, &filter->ipv6) &&
           ccm_cloud_tags_fit(&eni->obj, &filter->tags);
}

static void eni_list(struct ccm_cloud_call *call, const struct ccm_cloud_eni *eni,
                     const struct eni_filter *filter, struct ccm_cloud_page *page)
{
    if (eni_fits(call, eni, filter) && ccm_cloud_page_takes(page, eni->obj.seq)) {
        eni_write(call->out, eni);
    }
}

static int describe_enis(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(eni_filter_fini) struct eni_filter filter = { 0 };
    CCM_CLEANUP(named_fini) struct named named = { 0 };
    struct ccm_cloud_page page = { 0 };
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = ccm_cloud_list(call, "NetworkInterfaceId", &filter.ids);

    r = r < 0 ? r : ccm_cloud_list(call, "PrivateIpAddress", &filter.ips);
    r = r < 0 ? r : ccm_cloud_list(call, "Ipv6Address", &filter.ipv6);
    r = r < 0 ? r : ccm_cloud_tags_read(call, &filter.tags);
    r = r < 0
            ? r
            : ccm_cloud_page_read(call, ccm_cloud_has(call, "MaxResults") ? 10 : 1, 500, 10, &page);
    if (r < 0) {
        return r;
    }
    bool by_name = filter.ids.len > 0 || filter.ips.len > 0;

    ccm_jsonw_open(call->out, "NetworkInterfaceSets", '{');
    ccm_jsonw_open(call->out, "NetworkInterfaceSet", '[');
    if (by_name) {
        r = filter.ids.len > 0 ? named_read(call->cloud->enis, &filter.ids, true, &named)
                               : named_read(call->cloud->eni_by_ip, &filter.ips, true, &named);
    }
    for (size_t i = 0; i < named.len; i++) {
        eni_list(call, (const struct ccm_cloud_eni *)(const void *)named.items[i], &filter, &page);
    }
    while (!by_name && ccm_strmap_next(call->cloud->enis, &cursor, &id, &value) != 0) {
        eni_list(call, value, &filter, &page);
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_cloud_page_write(call->out, &page);
    return r;
}

#define PAGE_ROWS                                                                                  \
    { .name = "MaxResults", .type = CCM_CLOUD_INT }, { .name = "NextToken" },                      \
        { .name = "PageNumber", .type = CCM_CLOUD_INT, .min = 1, .max = INT32_MAX },               \
    {                                                                                              \
        .name = "PageSize", .type = CCM_CLOUD_INT, .min = 1, .max = 100                            \
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
    PAGE_ROWS,
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

static const struct ccm_cloud_param eni_params[] = {
    { .name = "InstanceId" },
    { .name = "Ipv6Address.N", .items = 100 },
    { .name = "NetworkInterfaceId.N", .items = 100 },
    { .name = "NetworkInterfaceName", .min = 2, .max = 128 },
    PAGE_ROWS,
    { .name = "PrimaryIpAddress" },
    { .name = "ResourceGroupId" },
    { .name = "ServiceManaged", .type = CCM_CLOUD_BOOL },
    { .name = "PrivateIpAddress.N", .items = 100 },
    { .name = "SecurityGroupId" },
    { .name = "Status",
      .type = CCM_CLOUD_ENUM,
      .values = "Available|Attaching|InUse|Detaching|Deleting" },
    CCM_CLOUD_TAG_ROWS,
    { .name = "Type", .type = CCM_CLOUD_ENUM, .values = "Primary|Secondary" },
    { .name = "VSwitchId" },
    { .name = "VpcId" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_ecs_actions[] = {
    { .name = "DescribeInstances",
      .params = instance_params,
      .region = true,
      .run = describe_instances },
    { .name = "DescribeNetworkInterfaces",
      .params = eni_params,
      .region = true,
      .run = describe_enis },
    { 0 },
};
