/* Network interfaces, listed. */
#include "ecs_query.h"
#include "families.h"
#include "page.h"
#include "plain.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/text.h"

static void association_write(struct ccm_jsonw *w)
{
    ccm_jsonw_open(w, "AssociatedPublicIp", '{');
    ccm_jsonw_str(w, "AllocationId", "");
    ccm_jsonw_str(w, "PublicIpAddress", "");
    ccm_jsonw_close(w, '}');
}

void ccm_cloud_eni_ips_write(struct ccm_jsonw *w, const struct ccm_cloud_eni *eni, bool full)
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
    ccm_cloud_eni_ips_write(w, eni, true);
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

/* No address asked for, or one of the interface's own is among those asked for. */
static bool addresses_fit(const struct ccm_sim_params *own, const struct ccm_sim_params *asked)
{
    if (asked->len == 0) {
        return true;
    }
    for (size_t i = 0; i < own->len; i++) {
        if (ccm_cloud_values_have(asked, own->items[i].name)) {
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
        if (!ccm_cloud_attr_fits(call, &eni->obj, names[i], names[i], "")) {
            return false;
        }
    }
    if ((filter->ids.len > 0 && !ccm_cloud_values_have(&filter->ids, eni->obj.id)) ||
        (group != NULL &&
         !ccm_cloud_list_has(ccm_cloud_attr(&eni->obj, "SecurityGroupId"), group))) {
        return false;
    }
    return ccm_cloud_attr_fits(call, &eni->obj, "PrimaryIpAddress", "PrivateIpAddress", "") &&
           ccm_cloud_attr_fits(call, &eni->obj, "ServiceManaged", "ServiceManaged", "false") &&
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
    CCM_CLEANUP(ccm_cloud_named_fini) struct ccm_cloud_named named = { 0 };
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
        r = filter.ids.len > 0
                ? ccm_cloud_named_read(call->cloud->enis, &filter.ids, true, &named)
                : ccm_cloud_named_read(call->cloud->eni_by_ip, &filter.ips, true, &named);
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

static const struct ccm_cloud_param eni_params[] = {
    { .name = "InstanceId" },
    { .name = "Ipv6Address.N", .items = 100 },
    { .name = "NetworkInterfaceId.N", .items = 100 },
    { .name = "NetworkInterfaceName", .min = 2, .max = 128 },
    CCM_CLOUD_ECS_PAGE_ROWS,
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

const struct ccm_cloud_action ccm_cloud_eni_actions[] = {
    { .name = "DescribeNetworkInterfaces",
      .params = eni_params,
      .region = true,
      .run = describe_enis },
    { 0 },
};
