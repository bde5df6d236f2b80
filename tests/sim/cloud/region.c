/* Regions, zones and what can be bought there. The zones are those that have a vSwitch. */
#include "families.h"
#include "plain.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

static int zones_read(const struct ccm_cloud *cloud, struct ccm_sim_params *ret)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = 0;

    while (r == 0 && ccm_strmap_next(cloud->vswitches, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_vswitch *vswitch = value;

        r = ccm_sim_params_set(ret, ccm_cloud_attr(&vswitch->obj, "ZoneId"), "");
    }
    return r;
}

static void region_write(struct ccm_cloud_call *call, const char *region, const char *product,
                         bool status)
{
    CCM_CLEANUP(ccm_freep) char *host = ccm_text_format("%s.%s.aliyuncs.com", product, region);

    ccm_jsonw_open(call->out, NULL, '{');
    ccm_jsonw_str(call->out, "LocalName", region);
    ccm_jsonw_str(call->out, "RegionEndpoint", host);
    ccm_jsonw_str(call->out, "RegionId", region);
    if (status) {
        ccm_jsonw_str(call->out, "Status", "available");
    }
    ccm_jsonw_close(call->out, '}');
}

/* The cloud's own region, and others that exist but are not simulated. */
static int regions(struct ccm_cloud_call *call, const char *product, bool status)
{
    static const char *const others[] = { "cn-beijing", "cn-hangzhou", "cn-shanghai",
                                          "ap-southeast-1" };

    ccm_jsonw_open(call->out, "Regions", '{');
    ccm_jsonw_open(call->out, "Region", '[');
    region_write(call, call->cloud->region, product, status);
    for (size_t i = 0; i < CCM_ARRAY_LEN(others); i++) {
        if (!ccm_text_equal(others[i], call->cloud->region)) {
            region_write(call, others[i], product, status);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    return 0;
}

static int slb_regions(struct ccm_cloud_call *call)
{
    return regions(call, "slb", false);
}

static int ecs_regions(struct ccm_cloud_call *call)
{
    return regions(call, "ecs", true);
}

static int vpc_regions(struct ccm_cloud_call *call)
{
    return regions(call, "vpc", false);
}

static void slaves_write(struct ccm_jsonw *w, const struct ccm_sim_params *zones, size_t master)
{
    ccm_jsonw_open(w, "SlaveZones", '{');
    ccm_jsonw_open(w, "SlaveZone", '[');
    for (size_t i = 0; i < zones->len; i++) {
        if (i != master) {
            ccm_jsonw_open(w, NULL, '{');
            ccm_jsonw_str(w, "ZoneId", zones->items[i].name);
            ccm_jsonw_str(w, "LocalName", zones->items[i].name);
            ccm_jsonw_close(w, '}');
        }
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void lists_write(struct ccm_jsonw *w, const struct ccm_cloud_pair *lists, const char *only)
{
    for (const struct ccm_cloud_pair *list = lists; list->name != NULL; list++) {
        ccm_cloud_write_list(w, list->name, list->value, only);
    }
}

/* What a zone of ECS sells; this cloud sells nothing, so one kind of each must do. */
static void ecs_zone_write(struct ccm_jsonw *w)
{
    static const struct ccm_cloud_pair outside[] = {
        { "AvailableDedicatedHostTypes", "DedicatedHostType" },
        { "AvailableVolumeCategories", "VolumeCategories" },
        { "DedicatedHostGenerations", "DedicatedHostGeneration" },
        { 0 },
    };

    ccm_jsonw_str(w, "ZoneType", "AvailabilityZone");
    lists_write(w, outside, "");
    ccm_cloud_write_list(w, "AvailableDiskCategories", "DiskCategories", "cloud_essd");
    ccm_cloud_write_list(w, "AvailableInstanceTypes", "InstanceTypes", "ecs.g7.large");
    ccm_cloud_write_list(w, "AvailableResourceCreation", "ResourceTypes", "VSwitch,Instance,Disk");
    ccm_jsonw_open(w, "AvailableResources", '{');
    ccm_jsonw_open(w, "ResourcesInfo", '[');
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_bool(w, "IoOptimized", true);
    ccm_cloud_write_list(w, "DataDiskCategories", "supportedDataDiskCategory", "cloud_essd");
    ccm_cloud_write_list(w, "InstanceGenerations", "supportedInstanceGeneration", "ecs-5");
    ccm_cloud_write_list(w, "InstanceTypeFamilies", "supportedInstanceTypeFamily", "ecs.g7");
    ccm_cloud_write_list(w, "InstanceTypes", "supportedInstanceType", "ecs.g7.large");
    ccm_cloud_write_list(w, "NetworkTypes", "supportedNetworkCategory", "vpc");
    ccm_cloud_write_list(w, "SystemDiskCategories", "supportedSystemDiskCategory", "cloud_essd");
    ccm_jsonw_close(w, '}');
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static int zones(struct ccm_cloud_call *call, enum ccm_cloud_product product)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params list = { 0 };
    int r = zones_read(call->cloud, &list);

    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "Zones", '{');
    ccm_jsonw_open(call->out, "Zone", '[');
    for (size_t i = 0; i < list.len; i++) {
        ccm_jsonw_open(call->out, NULL, '{');
        ccm_jsonw_str(call->out, "ZoneId", list.items[i].name);
        ccm_jsonw_str(call->out, "LocalName", list.items[i].name);
        if (product == CCM_CLOUD_SLB) {
            slaves_write(call->out, &list, i);
        } else if (product == CCM_CLOUD_ECS) {
            ecs_zone_write(call->out);
        } else {
            ccm_jsonw_str(call->out, "ZoneType", "Zone");
        }
        ccm_jsonw_close(call->out, '}');
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    return 0;
}

static int slb_zones(struct ccm_cloud_call *call)
{
    return zones(call, CCM_CLOUD_SLB);
}

static int ecs_zones(struct ccm_cloud_call *call)
{
    return zones(call, CCM_CLOUD_ECS);
}

static int vpc_zones(struct ccm_cloud_call *call)
{
    return zones(call, CCM_CLOUD_VPC);
}

static void supported_write(struct ccm_cloud_call *call)
{
    static const struct ccm_cloud_pair supported[] = {
        { "vpc", "ipv4" },
        { "classic_internet", "ipv4" },
        { "classic_internet", "ipv6" },
    };
    const char *type = ccm_cloud_text(call, "AddressType", NULL);
    const char *version = ccm_cloud_text(call, "AddressIPVersion", NULL);

    ccm_jsonw_open(call->out, "SupportResources", '{');
    ccm_jsonw_open(call->out, "SupportResource", '[');
    for (size_t i = 0; i < CCM_ARRAY_LEN(supported); i++) {
        if ((type == NULL || ccm_text_equal(type, supported[i].name)) &&
            (version == NULL || ccm_text_equal(version, supported[i].value))) {
            ccm_jsonw_open(call->out, NULL, '{');
            ccm_jsonw_str(call->out, "AddressType", supported[i].name);
            ccm_jsonw_str(call->out, "AddressIPVersion", supported[i].value);
            ccm_jsonw_close(call->out, '}');
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
}

static int available(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params list = { 0 };
    int r = zones_read(call->cloud, &list);

    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "AvailableResources", '{');
    ccm_jsonw_open(call->out, "AvailableResource", '[');
    for (size_t i = 0; i < list.len; i++) {
        ccm_jsonw_open(call->out, NULL, '{');
        ccm_jsonw_str(call->out, "MasterZoneId", list.items[i].name);
        ccm_jsonw_str(call->out, "SlaveZoneId", list.items[(i + 1) % list.len].name);
        supported_write(call);
        ccm_jsonw_close(call->out, '}');
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    return 0;
}

#define ECS_LANGUAGES "zh-CN|zh-TW|en-US|ja|fr|de|ko"

static const struct ccm_cloud_param slb_region_params[] = {
    { .name = "AcceptLanguage", .type = CCM_CLOUD_ENUM, .values = "zh-CN|en-US|ja" },
    { 0 },
};

static const struct ccm_cloud_param slb_zone_params[] = {
    { .name = "AcceptLanguage" },
    { 0 },
};

static const struct ccm_cloud_param available_params[] = {
    { .name = "AddressIPVersion", .type = CCM_CLOUD_ENUM, .values = "ipv4|ipv6" },
    { .name = "AddressType",
      .type = CCM_CLOUD_ENUM,
      .values = "vpc|classic_internet|classic_intranet" },
    { 0 },
};

static const struct ccm_cloud_param ecs_region_params[] = {
    { .name = "AcceptLanguage", .type = CCM_CLOUD_ENUM, .values = ECS_LANGUAGES },
    { .name = "InstanceChargeType",
      .type = CCM_CLOUD_ENUM,
      .values = "PrePaid|PostPaid|SpotWithPriceLimit|SpotAsPriceGo" },
    { .name = "ResourceType",
      .type = CCM_CLOUD_ENUM,
      .values = "instance|disk|reservedinstance|scu" },
    { 0 },
};

static const struct ccm_cloud_param ecs_zone_params[] = {
    { .name = "AcceptLanguage", .type = CCM_CLOUD_ENUM, .values = ECS_LANGUAGES },
    { .name = "InstanceChargeType", .type = CCM_CLOUD_ENUM, .values = "PrePaid|PostPaid" },
    { .name = "SpotStrategy",
      .type = CCM_CLOUD_ENUM,
      .values = "NoSpot|SpotWithPriceLimit|SpotAsPriceGo" },
    { .name = "Verbose", .type = CCM_CLOUD_BOOL },
    { 0 },
};

static const struct ccm_cloud_param vpc_region_params[] = {
    { .name = "AcceptLanguage", .type = CCM_CLOUD_ENUM, .values = "zh-CN|en-US" },
    { .name = "ProductType" },
    { 0 },
};

static const struct ccm_cloud_param vpc_zone_params[] = {
    { .name = "AcceptLanguage", .type = CCM_CLOUD_ENUM, .values = "zh-cn|en-us|ja" },
    { .name = "ZoneType" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_slb_region_actions[] = {
    { .name = "DescribeRegions", .params = slb_region_params, .run = slb_regions },
    { .name = "DescribeZones", .params = slb_zone_params, .region = true, .run = slb_zones },
    { .name = "DescribeAvailableResource",
      .params = available_params,
      .region = true,
      .run = available },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_ecs_region_actions[] = {
    { .name = "DescribeRegions", .params = ecs_region_params, .run = ecs_regions },
    { .name = "DescribeZones", .params = ecs_zone_params, .region = true, .run = ecs_zones },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_vpc_region_actions[] = {
    { .name = "DescribeRegions", .params = vpc_region_params, .run = vpc_regions },
    { .name = "DescribeZones", .params = vpc_zone_params, .region = true, .run = vpc_zones },
    { 0 },
};
