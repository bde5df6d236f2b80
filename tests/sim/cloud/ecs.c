#include "families.h"
#include "page.h"
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

/* ---- instances ---- */

static const struct ccm_cloud_field instance_fields[] = {
    { "CreationTime", 's', NULL, "2026-01-01T00:00Z" },
    { "DeletionProtection", 'b', NULL, "false" },
    { "Description", 's', NULL, "" },
    { "HostName", 's', NULL, "" },
    { "InstanceChargeType", 's', NULL, "PostPaid" },
    { "InstanceName", 's', NULL, "" },
    { "InstanceNetworkType", 's', NULL, "vpc" },
    { "InstanceType", 's', NULL, "ecs.g7.large" },
    { "InstanceTypeFamily", 's', NULL, "ecs.g7" },
    { "OSType", 's', NULL, "linux" },
    { "RegionId", 's', NULL, "" },
    { "ResourceGroupId", 's', NULL, "" },
    { "SerialNumber", 's', NULL, "" },
    { "SpotStrategy", 's', NULL, "NoSpot" },
    { "Status", 's', NULL, "Running" },
    { "ZoneId", 's', NULL, "" },
    { "Cpu", 'n', NULL, "2" },
    { "Memory", 'n', NULL, "8192" },
    { 0 },
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

static void private_ips_write(struct ccm_jsonw *w, const struct ccm_cloud_eni *eni)
{
    ccm_jsonw_open(w, "PrivateIpSets", '{');
    ccm_jsonw_open(w, "PrivateIpSet", '[');
    for (size_t i = 0; i < eni->ips.len; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "PrivateIpAddress", eni->ips.items[i].name);
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
            private_ips_write(w, eni);
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
    wrapped_text(w, "SecurityGroupIds", "SecurityGroupId",
                 ccm_cloud_attr(&instance->obj, "SecurityGroupId"));
    ccm_jsonw_open(w, "EipAddress", '{');
    ccm_jsonw_str(w, "AllocationId", "");
    ccm_jsonw_str(w, "IpAddress", "");
    ccm_jsonw_str(w, "InternetChargeType", "");
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
        "InstanceName", "InstanceNetworkType", "InstanceType", "Status", "VSwitchId", "VpcId",
        "ZoneId",
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        if (!attr_fits(call, &instance->obj, names[i], names[i])) {
            return false;
        }
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

static int describe_instances(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(instance_filter_fini) struct instance_filter filter = { 0 };
    struct ccm_cloud_page page = { 0 };
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = texts_read(call, "InstanceIds", &filter.ids, &filter.by_ids);

    r = r < 0 ? r : texts_read(call, "PrivateIpAddresses", &filter.ips, &filter.by_ips);
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
    while (ccm_strmap_next(call->cloud->instances, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_instance *instance = value;

        if (instance_fits(call, instance, &filter) &&
            ccm_cloud_page_takes(&page, instance->obj.seq)) {
            instance_write(call->out, call->cloud, instance);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_cloud_page_write(call->out, &page);
    return 0;
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
    { 0 },
};

static void eni_write(struct ccm_jsonw *w, const struct ccm_cloud_eni *eni)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "NetworkInterfaceId", eni->obj.id);
    ccm_cloud_write_fields(w, &eni->obj, eni_fields);
    private_ips_write(w, eni);
    ccm_jsonw_open(w, "Attachment", '{');
    ccm_jsonw_str(w, "InstanceId", ccm_cloud_attr(&eni->obj, "InstanceId"));
    ccm_jsonw_close(w, '}');
    ccm_jsonw_open(w, "AssociatedPublicIp", '{');
    ccm_jsonw_close(w, '}');
    wrapped_text(w, "SecurityGroupIds", "SecurityGroupId",
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
        "InstanceId", "NetworkInterfaceName", "SecurityGroupId", "Status", "Type", "VSwitchId",
        "VpcId",
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        if (!attr_fits(call, &eni->obj, names[i], names[i])) {
            return false;
        }
    }
    if (filter->ids.len > 0 && !has_value(&filter->ids, eni->obj.id)) {
        return false;
    }
    return attr_fits(call, &eni->obj, "PrimaryIpAddress", "PrivateIpAddress") &&
           addresses_fit(&eni->ips, &filter->ips) && addresses_fit(&eni->ipv6, &filter->ipv6) &&
           ccm_cloud_tags_fit(&eni->obj, &filter->tags);
}

static int describe_enis(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(eni_filter_fini) struct eni_filter filter = { 0 };
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
    ccm_jsonw_open(call->out, "NetworkInterfaceSets", '{');
    ccm_jsonw_open(call->out, "NetworkInterfaceSet", '[');
    while (ccm_strmap_next(call->cloud->enis, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_eni *eni = value;

        if (eni_fits(call, eni, &filter) && ccm_cloud_page_takes(&page, eni->obj.seq)) {
            eni_write(call->out, eni);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_cloud_page_write(call->out, &page);
    return 0;
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
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "InstanceIds" },
    { .name = "InstanceName" },
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
