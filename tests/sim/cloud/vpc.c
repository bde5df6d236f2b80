#include "families.h"
#include "page.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>

static const struct ccm_cloud_field vpc_fields[] = {
    { "CidrBlock", 's', NULL, "" },
    { "ClassicLinkEnabled", 'b', NULL, "false" },
    { "CreationTime", 's', NULL, "2026-01-01T00:00:00Z" },
    { "Description", 's', NULL, "" },
    { "DhcpOptionsSetId", 's', NULL, "" },
    { "DhcpOptionsSetStatus", 's', NULL, "" },
    { "DnsHostnameStatus", 's', NULL, "DISABLED" },
    { "EnabledIpv6", 'b', NULL, "false" },
    { "Ipv4GatewayId", 's', NULL, "" },
    { "Ipv6CidrBlock", 's', NULL, "" },
    { "IsDefault", 'b', NULL, "false" },
    { "OwnerId", 'n', NULL, "1000000000000001" },
    { "RegionId", 's', NULL, "" },
    { "ResourceGroupId", 's', NULL, "rg-default" },
    { "Status", 's', NULL, "Available" },
    { "SupportIpv4Gateway", 'b', NULL, "true" },
    { "VRouterId", 's', NULL, "" },
    { "VpcName", 's', NULL, "" },
    { 0 },
};

static const struct ccm_cloud_field vswitch_fields[] = {
    { "CidrBlock", 's', NULL, "" },
    { "CreationTime", 's', NULL, "2026-01-01T00:00:00Z" },
    { "Description", 's', NULL, "" },
    { "EnabledIpv6", 'b', NULL, "false" },
    { "Ipv6CidrBlock", 's', NULL, "" },
    { "IsDefault", 'b', NULL, "false" },
    { "NetworkAclId", 's', NULL, "" },
    { "OwnerId", 'n', NULL, "1000000000000001" },
    { "ResourceGroupId", 's', NULL, "rg-default" },
    { "ShareType", 's', NULL, "" },
    { "Status", 's', NULL, "Available" },
    { "VSwitchName", 's', NULL, "" },
    { "VpcId", 's', NULL, "" },
    { "ZoneId", 's', NULL, "" },
    { 0 },
};

/* Comma list of an attribute as {"outer":{"inner":[...]}}. */
static void list_write(struct ccm_jsonw *w, const char *outer, const char *inner, const char *list)
{
    const char *cursor = list;
    const char *start = NULL;
    size_t len = 0;

    ccm_jsonw_open(w, outer, '{');
    ccm_jsonw_open(w, inner, '[');
    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        char piece[64];

        if (len > 0 && len < sizeof(piece)) {
            ccm_text_copy(piece, len + 1, start);
            ccm_jsonw_str(w, NULL, piece);
        }
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void empty_write(struct ccm_jsonw *w, const char *outer, const char *inner)
{
    ccm_jsonw_open(w, outer, '{');
    ccm_jsonw_open(w, inner, '[');
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

/* VPC answers spell tags differently from the others. */
static void tags_write(struct ccm_jsonw *w, const struct ccm_cloud_obj *obj)
{
    ccm_jsonw_open(w, "Tags", '{');
    ccm_jsonw_open(w, "Tag", '[');
    for (size_t i = 0; i < obj->tags.len; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "Key", obj->tags.items[i].name);
        ccm_jsonw_str(w, "Value", obj->tags.items[i].value);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void ipv6_blocks_write(struct ccm_jsonw *w, const char *block)
{
    ccm_jsonw_open(w, "Ipv6CidrBlocks", '{');
    ccm_jsonw_open(w, "Ipv6CidrBlock", '[');
    if (!ccm_text_empty(block)) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "Ipv6CidrBlock", block);
        ccm_jsonw_str(w, "Ipv6Isp", "BGP");
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void vswitch_ids_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud, const char *vpc)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    ccm_jsonw_open(w, "VSwitchIds", '{');
    ccm_jsonw_open(w, "VSwitchId", '[');
    while (ccm_strmap_next(cloud->vswitches, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_vswitch *vswitch = value;

        if (ccm_text_equal(ccm_cloud_attr(&vswitch->obj, "VpcId"), vpc)) {
            ccm_jsonw_str(w, NULL, id);
        }
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static int describe_vpc(struct ccm_cloud_call *call)
{
    const struct ccm_cloud_vpc *vpc =
        ccm_strmap_get(call->cloud->vpcs, ccm_cloud_text(call, "VpcId", ""));
    struct ccm_jsonw *w = call->out;

    if (vpc == NULL) {
        return ccm_cloud_fail(call, 404, "InvalidVpcId.NotFound", "Specified VPC does not exist.");
    }
    ccm_jsonw_str(w, "VpcId", vpc->obj.id);
    ccm_cloud_write_fields(w, &vpc->obj, vpc_fields);
    list_write(w, "SecondaryCidrBlocks", "SecondaryCidrBlock",
               ccm_cloud_attr(&vpc->obj, "SecondaryCidrBlocks"));
    list_write(w, "UserCidrs", "UserCidr", ccm_cloud_attr(&vpc->obj, "UserCidrs"));
    ipv6_blocks_write(w, ccm_cloud_attr(&vpc->obj, "Ipv6CidrBlock"));
    vswitch_ids_write(w, call->cloud, vpc->obj.id);
    empty_write(w, "AssociatedCens", "AssociatedCen");
    empty_write(w, "AssociatedPropagationSources", "AssociatedPropagationSources");
    empty_write(w, "CloudResources", "CloudResourceSetType");
    tags_write(w, &vpc->obj);
    return 0;
}

static void vswitch_write(struct ccm_jsonw *w, const struct ccm_cloud_vswitch *vswitch)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "VSwitchId", vswitch->obj.id);
    ccm_cloud_write_fields(w, &vswitch->obj, vswitch_fields);
    ccm_jsonw_i64(w, "AvailableIpAddressCount", ccm_cloud_vswitch_available(vswitch));
    ccm_jsonw_open(w, "RouteTable", '{');
    ccm_jsonw_str(w, "RouteTableId", ccm_cloud_attr(&vswitch->obj, "RouteTableId"));
    ccm_jsonw_str(w, "RouteTableType", "System");
    ccm_jsonw_close(w, '}');
    tags_write(w, &vswitch->obj);
    ccm_jsonw_close(w, '}');
}

static bool vswitch_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_vswitch *vswitch,
                         const struct ccm_sim_params *tags)
{
    static const char *const names[] = {
        "IsDefault", "ResourceGroupId", "RouteTableId", "VSwitchName", "VpcId", "ZoneId",
    };
    const char *ids = ccm_cloud_text(call, "VSwitchId", NULL);

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        const char *want = ccm_cloud_text(call, names[i], NULL);

        if (want != NULL && !ccm_text_equal(want, ccm_cloud_attr(&vswitch->obj, names[i]))) {
            return false;
        }
    }
    return (ids == NULL || ccm_text_equal(ids, vswitch->obj.id)) &&
           ccm_cloud_tags_fit(&vswitch->obj, tags);
}

static int describe_vswitches(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    struct ccm_cloud_page page = { 0 };
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = ccm_cloud_tags_read(call, &tags);

    r = r < 0 ? r : ccm_cloud_page_read(call, 1, 50, 10, &page);
    if (r < 0) {
        return r;
    }
    if (!ccm_cloud_has(call, "RegionId") && !ccm_cloud_has(call, "VpcId")) {
        return ccm_cloud_fail(call, 400, "MissingParameter",
                              "The parameter RegionId or VpcId is required.");
    }
    ccm_jsonw_open(call->out, "VSwitches", '{');
    ccm_jsonw_open(call->out, "VSwitch", '[');
    while (ccm_strmap_next(call->cloud->vswitches, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_vswitch *vswitch = value;

        if (vswitch_fits(call, vswitch, &tags) && ccm_cloud_page_takes(&page, vswitch->obj.seq)) {
            vswitch_write(call->out, vswitch);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_cloud_page_write(call->out, &page);
    return 0;
}

static const struct ccm_cloud_param vpc_params[] = {
    { .name = "VpcId", .required = true },
    { .name = "IsDefault", .type = CCM_CLOUD_BOOL },
    { 0 },
};

static const struct ccm_cloud_param vswitch_params[] = {
    { .name = "IsDefault", .type = CCM_CLOUD_BOOL },
    { .name = "PageNumber", .type = CCM_CLOUD_INT, .min = 1, .max = INT32_MAX },
    { .name = "PageSize", .type = CCM_CLOUD_INT, .min = 1, .max = 50 },
    { .name = "ResourceGroupId" },
    { .name = "RouteTableId" },
    CCM_CLOUD_TAG_ROWS,
    { .name = "VSwitchId" },
    { .name = "VSwitchName", .min = 1, .max = 128 },
    { .name = "VpcId" },
    { .name = "ZoneId" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_vpc_actions[] = {
    { .name = "DescribeVpcAttribute", .params = vpc_params, .region = true, .run = describe_vpc },
    { .name = "DescribeVSwitches", .params = vswitch_params, .run = describe_vswitches },
    { 0 },
};
