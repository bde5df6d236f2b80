#include "vpc.h"

#include "families.h"
#include "page.h"
#include "plain.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>

static const struct ccm_cloud_field vpc_fields[] = {
    { "CidrBlock", 's', NULL, "" },
    { "CreationTime", 's', NULL, "2026-01-01T00:00:00Z" },
    { "Description", 's', NULL, "" },
    { "DhcpOptionsSetId", 's', NULL, "" },
    { "DhcpOptionsSetStatus", 's', NULL, "" },
    { "DnsHostnameStatus", 's', NULL, "DISABLED" },
    { "EnabledIpv6", 'b', NULL, "false" },
    { "Ipv6CidrBlock", 's', NULL, "" },
    { "IsDefault", 'b', NULL, "false" },
    { "OwnerId", 'n', NULL, "1000000000000001" },
    { "RegionId", 's', NULL, "" },
    { "ResourceGroupId", 's', NULL, "rg-default" },
    { "Status", 's', NULL, "Available" },
    { "VRouterId", 's', NULL, "" },
    { "VpcName", 's', NULL, "" },
    { 0 },
};

/* Only of a single one. */
static const struct ccm_cloud_field vpc_one_fields[] = {
    { "ClassicLinkEnabled", 'b', NULL, "false" },
    { "Ipv4GatewayId", 's', NULL, "" },
    { "SupportIpv4Gateway", 'b', NULL, "true" },
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

void ccm_cloud_vpc_tags_write(struct ccm_jsonw *w, const struct ccm_cloud_obj *obj)
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

void ccm_cloud_vswitch_ids_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud,
                                 const char *attr, const char *wanted)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    ccm_jsonw_open(w, "VSwitchIds", '{');
    ccm_jsonw_open(w, "VSwitchId", '[');
    while (ccm_strmap_next(cloud->vswitches, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_vswitch *vswitch = value;

        if (ccm_text_equal(ccm_cloud_attr(&vswitch->obj, attr), wanted)) {
            ccm_jsonw_str(w, NULL, id);
        }
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

bool ccm_cloud_vpc_is_settled(const struct ccm_cloud *cloud, const char *id)
{
    const struct ccm_cloud_vpc *vpc = ccm_strmap_get(cloud->vpcs, id);
    const char *status = vpc == NULL ? "" : ccm_cloud_attr(&vpc->obj, "Status");

    return ccm_text_empty(status) || ccm_text_equal(status, "Available");
}

int ccm_cloud_vpc_dry_run(struct ccm_cloud_call *call)
{
    return ccm_text_equal(ccm_cloud_text(call, "DryRun", ""), "true")
               ? ccm_cloud_fail(call, 400, "DryRunOperation",
                                "Request validation has been passed with DryRun flag set.")
               : 0;
}

/* Lists that one VPC and a list of VPCs have alike. */
static void vpc_lists_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud,
                            const struct ccm_cloud_vpc *vpc)
{
    ccm_cloud_write_list(w, "SecondaryCidrBlocks", "SecondaryCidrBlock",
                         ccm_cloud_attr(&vpc->obj, "SecondaryCidrBlocks"));
    ccm_cloud_write_list(w, "UserCidrs", "UserCidr", ccm_cloud_attr(&vpc->obj, "UserCidrs"));
    ipv6_blocks_write(w, ccm_cloud_attr(&vpc->obj, "Ipv6CidrBlock"));
    ccm_cloud_vswitch_ids_write(w, cloud, "VpcId", vpc->obj.id);
    ccm_cloud_vpc_tags_write(w, &vpc->obj);
}

static int describe_vpc(struct ccm_cloud_call *call)
{
    const struct ccm_cloud_vpc *vpc =
        ccm_strmap_get(call->cloud->vpcs, ccm_cloud_text(call, "VpcId", ""));
    struct ccm_jsonw *w = call->out;

    if (vpc == NULL) {
        return ccm_cloud_fail(call, 404, "InvalidVpcId.NotFound", "Specified VPC does not exist.");
    }

    int r = ccm_cloud_vpc_dry_run(call);

    if (r < 0) {
        return r;
    }
    if (!ccm_cloud_vpc_is_settled(call->cloud, vpc->obj.id)) {
        return ccm_cloud_fail(call, 400, "IncorrectVpcStatus",
                              "Current VPC status does not support this operation.");
    }
    ccm_jsonw_str(w, "VpcId", vpc->obj.id);
    ccm_cloud_write_fields(w, &vpc->obj, vpc_fields);
    ccm_cloud_write_fields(w, &vpc->obj, vpc_one_fields);
    vpc_lists_write(w, call->cloud, vpc);
    ccm_cloud_write_list(w, "AssociatedCens", "AssociatedCen", "");
    ccm_cloud_write_list(w, "AssociatedPropagationSources", "AssociatedPropagationSources", "");
    ccm_cloud_write_list(w, "CloudResources", "CloudResourceSetType", "");
    return 0;
}

static void tables_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud, const char *vpc)
{
    void *cursor = NULL;

    ccm_jsonw_open(w, "RouterTableIds", '{');
    ccm_jsonw_open(w, "RouterTableIds", '[');
    for (const struct ccm_cloud_obj *table =
             ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE_TABLE, &cursor);
         table != NULL; table = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE_TABLE, &cursor)) {
        if (ccm_text_equal(ccm_cloud_attr(table, "VpcId"), vpc)) {
            ccm_jsonw_str(w, NULL, table->id);
        }
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static bool owner_and_ipv6_fit(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj,
                               const char *owner)
{
    const char *ipv6 =
        ccm_text_equal(ccm_cloud_attr(obj, "EnabledIpv6"), "true") ? "true" : "false";
    const char *own = ccm_cloud_attr(obj, "OwnerId");

    own = ccm_text_empty(own) ? "1000000000000001" : own;
    return ccm_text_equal(ccm_cloud_text(call, "EnableIpv6", ipv6), ipv6) &&
           ccm_text_equal(ccm_cloud_text(call, owner, own), own);
}

static bool vpc_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_vpc *vpc,
                     const struct ccm_sim_params *tags)
{
    static const char *const names[] = { "DhcpOptionsSetId", "ResourceGroupId", "VpcName", NULL };
    const char *ids = ccm_cloud_text(call, "VpcId", NULL);

    return ccm_cloud_params_fit(call, &vpc->obj, names) &&
           owner_and_ipv6_fit(call, &vpc->obj, "VpcOwnerId") &&
           !ccm_text_equal(ccm_cloud_text(call, "IsDefault", ""), "true") &&
           (ids == NULL || ccm_cloud_list_has(ids, vpc->obj.id)) &&
           ccm_cloud_tags_fit(&vpc->obj, tags);
}

static int describe_vpcs(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    struct ccm_cloud_page page = { 0 };
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = ccm_cloud_tags_read(call, &tags);

    r = r < 0 ? r : ccm_cloud_page_read(call, 1, 50, 10, &page);
    r = r < 0 ? r : ccm_cloud_vpc_dry_run(call);
    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "Vpcs", '{');
    ccm_jsonw_open(call->out, "Vpc", '[');
    while (ccm_strmap_next(call->cloud->vpcs, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_vpc *vpc = value;

        if (vpc_fits(call, vpc, &tags) && ccm_cloud_page_takes(&page, vpc->obj.seq)) {
            ccm_jsonw_open(call->out, NULL, '{');
            ccm_jsonw_str(call->out, "VpcId", vpc->obj.id);
            ccm_jsonw_str(call->out, "CenStatus", "Detached");
            ccm_cloud_write_fields(call->out, &vpc->obj, vpc_fields);
            vpc_lists_write(call->out, call->cloud, vpc);
            ccm_cloud_write_list(call->out, "NatGatewayIds", "NatGatewayIds", "");
            tables_write(call->out, call->cloud, vpc->obj.id);
            ccm_jsonw_close(call->out, '}');
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_cloud_page_write(call->out, &page);
    return 0;
}

static void vswitch_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud,
                          const struct ccm_cloud_vswitch *vswitch)
{
    const struct ccm_cloud_obj *table = ccm_cloud_plain_get(
        cloud, CCM_CLOUD_ROUTE_TABLE, ccm_cloud_attr(&vswitch->obj, "RouteTableId"));

    ccm_jsonw_str(w, "VSwitchId", vswitch->obj.id);
    ccm_cloud_write_fields(w, &vswitch->obj, vswitch_fields);
    ccm_jsonw_i64(w, "AvailableIpAddressCount", ccm_cloud_vswitch_available(vswitch));
    ccm_jsonw_open(w, "RouteTable", '{');
    ccm_jsonw_str(w, "RouteTableId", ccm_cloud_attr(&vswitch->obj, "RouteTableId"));
    ccm_jsonw_str(w, "RouteTableType",
                  table == NULL ? "System" : ccm_cloud_attr(table, "RouteTableType"));
    ccm_jsonw_close(w, '}');
    ccm_cloud_vpc_tags_write(w, &vswitch->obj);
}

static bool vswitch_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_vswitch *vswitch,
                         const struct ccm_sim_params *tags)
{
    static const char *const names[] = {
        "ResourceGroupId", "RouteTableId", "VSwitchName", "VpcId", "ZoneId",
    };
    const char *ids = ccm_cloud_text(call, "VSwitchId", NULL);

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        const char *want = ccm_cloud_text(call, names[i], NULL);

        if (want != NULL && !ccm_text_equal(want, ccm_cloud_attr(&vswitch->obj, names[i]))) {
            return false;
        }
    }
    return (ids == NULL || ccm_cloud_list_has(ids, vswitch->obj.id)) &&
           !ccm_text_equal(ccm_cloud_text(call, "IsDefault", ""), "true") &&
           owner_and_ipv6_fit(call, &vswitch->obj, "VSwitchOwnerId") &&
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
    r = ccm_cloud_vpc_dry_run(call);
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
            ccm_jsonw_open(call->out, NULL, '{');
            vswitch_write(call->out, call->cloud, vswitch);
            ccm_jsonw_close(call->out, '}');
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_cloud_page_write(call->out, &page);
    return 0;
}

static int describe_vswitch(struct ccm_cloud_call *call)
{
    const struct ccm_cloud_vswitch *vswitch =
        ccm_strmap_get(call->cloud->vswitches, ccm_cloud_text(call, "VSwitchId", ""));
    int r = 0;

    if (vswitch == NULL) {
        return ccm_cloud_fail(call, 400, "InvalidVSwitchId.NotFound",
                              "Specified VSwitch can not found.");
    }
    r = ccm_cloud_vpc_dry_run(call);
    if (r == 0) {
        vswitch_write(call->out, call->cloud, vswitch);
    }
    return r;
}

static int can_allocate(struct ccm_cloud_call *call)
{
    const struct ccm_cloud_vswitch *vswitch =
        ccm_strmap_get(call->cloud->vswitches, ccm_cloud_text(call, "VSwitchId", ""));
    const char *address = ccm_cloud_text(call, "PrivateIpAddress", "");
    struct ccm_cloud_vswitch *home = ccm_cloud_vswitch_of(call->cloud, address);

    if (vswitch == NULL) {
        return ccm_cloud_fail(call, 400, "ResourceNotFound.VSwitchId",
                              "The specified resource vswitch is not found.");
    }
    if (home != vswitch) {
        return ccm_cloud_fail(call, 400, "IllegalParam.PrivateIpAddress",
                              "The specified PrivateIpAddress is illegal.");
    }
    ccm_jsonw_bool(call->out, "CanAllocate", !ccm_strmap_has(call->cloud->addresses, address));
    return 0;
}

static const struct ccm_cloud_param vpc_params[] = {
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "VpcId", .required = true },
    { .name = "IsDefault", .type = CCM_CLOUD_BOOL },
    { 0 },
};

static const struct ccm_cloud_param vpcs_params[] = {
    { .name = "DhcpOptionsSetId" },
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "EnableIpv6", .type = CCM_CLOUD_BOOL },
    { .name = "IsDefault", .type = CCM_CLOUD_BOOL },
    { .name = "PageNumber", .type = CCM_CLOUD_INT, .min = 1, .max = INT32_MAX },
    { .name = "PageSize", .type = CCM_CLOUD_INT, .min = 1, .max = 50 },
    { .name = "ResourceGroupId" },
    CCM_CLOUD_TAG_ROWS,
    { .name = "VpcId" },
    { .name = "VpcName" },
    { .name = "VpcOwnerId", .type = CCM_CLOUD_INT },
    { 0 },
};

static const struct ccm_cloud_param vswitch_one_params[] = {
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "VSwitchId", .required = true },
    { 0 },
};

static const struct ccm_cloud_param can_allocate_params[] = {
    { .name = "IpVersion",
      .type = CCM_CLOUD_ENUM,
      .values = "ipv4|ipv6",
      .invalid = "PARAMETER_ILLEGAL" },
    { .name = "PrivateIpAddress", .required = true },
    { .name = "VSwitchId", .required = true },
    { 0 },
};

static const struct ccm_cloud_param vswitch_params[] = {
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "EnableIpv6", .type = CCM_CLOUD_BOOL },
    { .name = "IsDefault", .type = CCM_CLOUD_BOOL },
    { .name = "PageNumber", .type = CCM_CLOUD_INT, .min = 1, .max = INT32_MAX },
    { .name = "PageSize", .type = CCM_CLOUD_INT, .min = 1, .max = 50 },
    { .name = "ResourceGroupId" },
    { .name = "RouteTableId" },
    CCM_CLOUD_TAG_ROWS,
    { .name = "VSwitchId" },
    { .name = "VSwitchName", .min = 1, .max = 128 },
    { .name = "VSwitchOwnerId", .type = CCM_CLOUD_INT },
    { .name = "VpcId" },
    { .name = "ZoneId" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_vpc_actions[] = {
    { .name = "DescribeVpcAttribute", .params = vpc_params, .region = true, .run = describe_vpc },
    { .name = "DescribeVSwitches", .params = vswitch_params, .run = describe_vswitches },
    { .name = "DescribeVSwitchAttributes", .params = vswitch_one_params, .run = describe_vswitch },
    { .name = "DescribeVpcs", .params = vpcs_params, .region = true, .run = describe_vpcs },
    { .name = "CheckCanAllocateVpcPrivateIpAddress",
      .params = can_allocate_params,
      .region = true,
      .run = can_allocate },
    { 0 },
};
