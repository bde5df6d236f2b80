#include "families.h"
#include "nlb.h"
#include "page.h"
#include "plain.h"
#include "route.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"
#include "vpc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- entries ---- */

static void hop_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud, const char *type,
                      const char *id, const char *weight)
{
    int64_t number = 0;

    if (ccm_parse_i64(weight, 0, INT32_MAX, &number) < 0) {
        number = 0; /* made by a console edit */
    }
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_i64(w, "Enabled", 1);
    ccm_jsonw_str(w, "NextHopId", id);
    ccm_jsonw_str(w, "NextHopRegionId", cloud->region);
    ccm_jsonw_open(w, "NextHopRelatedInfo", '{');
    ccm_jsonw_str(w, "InstanceId", "");
    ccm_jsonw_str(w, "InstanceType", "");
    ccm_jsonw_str(w, "RegionId", "");
    ccm_jsonw_close(w, '}');
    ccm_jsonw_str(w, "NextHopType", type);
    ccm_jsonw_i64(w, "Weight", number);
    ccm_jsonw_close(w, '}');
}

static void hops_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud, const char *hops)
{
    const char *cursor = hops;
    const char *start = NULL;
    size_t len = 0;

    ccm_jsonw_open(w, "NextHops", '{');
    ccm_jsonw_open(w, "NextHop", '[');
    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        char hop[192];

        ccm_text_copy(hop, len < sizeof(hop) ? len + 1 : sizeof(hop), start);

        char *id = strchr(hop, '/');
        char *weight = id == NULL ? NULL : strchr(id + 1, '/');

        if (weight != NULL) {
            *id = '\0';
            *weight = '\0';
            hop_write(w, cloud, hop, id + 1, weight + 1);
        }
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static const struct ccm_cloud_field route_fields[] = {
    { "Description", 's', NULL, "" },
    { "DestinationCidrBlock", 's', NULL, "" },
    { "GmtModified", 's', NULL, "" },
    { "IpVersion", 's', NULL, "ipv4" },
    { "Origin", 's', NULL, "" },
    { "RouteEntryName", 's', NULL, "" },
    { "RouteTableId", 's', NULL, "" },
    { "ServiceType", 's', NULL, "" },
    { "Status", 's', NULL, "Available" },
    { "Type", 's', NULL, "Custom" },
    { 0 },
};

static void route_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud,
                        const struct ccm_cloud_obj *route)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "RouteEntryId", route->id);
    ccm_cloud_write_fields(w, route, route_fields);
    hops_write(w, cloud, ccm_cloud_attr(route, "NextHops"));
    ccm_jsonw_close(w, '}');
}

static bool hop_type_fits(const struct ccm_cloud_obj *route, const char *type)
{
    const char *cursor = ccm_cloud_attr(route, "NextHops");
    const char *start = NULL;
    size_t len = 0;

    while (type != NULL && ccm_parse_piece(&cursor, ',', &start, &len)) {
        if (len > strlen(type) && strncmp(start, type, strlen(type)) == 0 &&
            start[strlen(type)] == '/') {
            return true;
        }
    }
    return type == NULL;
}

static bool has_value(const struct ccm_sim_params *list, const char *value)
{
    for (size_t i = 0; i < list->len; i++) {
        if (ccm_text_equal(list->items[i].value, value)) {
            return true;
        }
    }
    return list->len == 0;
}

static bool route_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *route,
                       const struct ccm_sim_params *destinations)
{
    static const char *const names[] = { "DestinationCidrBlock", "RouteEntryName", "RouteTableId",
                                         "ServiceType", NULL };
    const char *type = ccm_cloud_text(call, "RouteEntryType", NULL);
    const char *id = ccm_cloud_text(call, "RouteEntryId", NULL);
    const char *version = ccm_cloud_attr(route, "IpVersion");

    return ccm_cloud_params_fit(call, route, names) &&
           (type == NULL || ccm_text_equal(type, ccm_cloud_attr(route, "Type"))) &&
           (id == NULL || ccm_text_equal(id, route->id)) &&
           ccm_text_equal(ccm_cloud_text(call, "IpVersion", "ipv4"),
                          ccm_text_empty(version) ? "ipv4" : version) &&
           ccm_cloud_route_has_hop(route, ccm_cloud_text(call, "NextHopId", NULL)) &&
           hop_type_fits(route, ccm_cloud_text(call, "NextHopType", NULL)) &&
           has_value(destinations, ccm_cloud_attr(route, "DestinationCidrBlock"));
}

/* "EPOCH.SEQ": tokens of an older epoch have expired. */
static int token_read(struct ccm_cloud_call *call, int64_t *ret_after)
{
    const char *token = ccm_cloud_text(call, "NextToken", NULL);
    const char *dot = token == NULL ? NULL : strchr(token, '.');
    char head[24];
    int64_t epoch = 0;

    if (token == NULL) {
        return 0;
    }
    ccm_text_copy(head, sizeof(head), token);
    head[strcspn(head, ".")] = '\0';
    if (dot == NULL || ccm_parse_i64(head, 0, INT64_MAX, &epoch) < 0 ||
        ccm_parse_i64(dot + 1, 1, INT64_MAX, ret_after) < 0) {
        return ccm_cloud_fail(call, 400, "IllegalParam.NextToken", "User nextToken is illegal.");
    }
    return (uint64_t)epoch == call->cloud->nlb->page_epoch
               ? 0
               : ccm_cloud_fail(call, 400, "IllegalParam.NextTokenExpired",
                                "The parameter of NextTokenExpired is illegal.");
}

static int check_list(struct ccm_cloud_call *call, int64_t *ret_after)
{
    *ret_after = 0;
    if (ccm_cloud_plain_get(call->cloud, CCM_CLOUD_ROUTE_TABLE,
                            ccm_cloud_text(call, "RouteTableId", "")) == NULL) {
        return ccm_cloud_fail(call, 400, "InvalidRouteTable.NotFound",
                              "The specified RouteTable was not found.");
    }
    int r = token_read(call, ret_after);

    if (r < 0) {
        return r;
    }
    if ((ccm_cloud_has(call, "RouteEntryId") || ccm_cloud_has(call, "RouteEntryName")) &&
        !ccm_text_equal(ccm_cloud_text(call, "RouteEntryType", "Custom"), "Custom")) {
        return ccm_cloud_fail(call, 400, "OperationFailed.FilterParamUnderWrongRouteType",
                              "Operation failed  because only custom type support filter by "
                              "routeEntryId or routeEntryName");
    }
    return 0;
}

static int list_entries(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params destinations = { 0 };
    int64_t size = ccm_cloud_int(call, "MaxResult", 10);
    int64_t after = 0;
    struct ccm_cloud_page page = { .by_token = true };
    char token[48] = "";
    void *cursor = NULL;
    int r = check_list(call, &after);

    r = r < 0 ? r : ccm_cloud_list(call, "DestCidrBlockList", &destinations);
    if (r < 0) {
        return r;
    }
    page.size = size > (int64_t)call->cloud->limits.route_page
                    ? (int64_t)call->cloud->limits.route_page
                    : size;
    page.after = (uint64_t)after;
    ccm_cloud_routes_advance(call->cloud);
    ccm_jsonw_open(call->out, "RouteEntrys", '{');
    ccm_jsonw_open(call->out, "RouteEntry", '[');
    for (const struct ccm_cloud_obj *route =
             ccm_cloud_plain_next(call->cloud, CCM_CLOUD_ROUTE, &cursor);
         route != NULL; route = ccm_cloud_plain_next(call->cloud, CCM_CLOUD_ROUTE, &cursor)) {
        if (route_fits(call, route, &destinations) && ccm_cloud_page_takes(&page, route->seq)) {
            route_write(call->out, call->cloud, route);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    if (page.more) {
        (void)snprintf(token, sizeof(token), "%" PRIu64 ".%" PRIu64, call->cloud->nlb->page_epoch,
                       page.last); /* always fits */
    }
    ccm_jsonw_str(call->out, "NextToken", token);
    ccm_jsonw_i64(call->out, "TotalCount", page.total);
    return 0;
}

/* ---- tables ---- */

static const struct ccm_cloud_field table_fields[] = {
    { "AssociateType", 's', NULL, "VSwitch" },
    { "CreationTime", 's', NULL, "" },
    { "Description", 's', NULL, "" },
    { "OwnerId", 'n', NULL, "1000000000000001" },
    { "ResourceGroupId", 's', NULL, "rg-default" },
    { "RoutePropagationEnable", 'b', NULL, "true" },
    { "RouteTableName", 's', NULL, "" },
    { "RouteTableType", 's', NULL, "" },
    { "RouterId", 's', NULL, "" },
    { "RouterType", 's', NULL, "VRouter" },
    { "Status", 's', NULL, "Available" },
    { "VpcId", 's', NULL, "" },
    { 0 },
};

static void table_write(struct ccm_cloud_call *call, const struct ccm_cloud_obj *table)
{
    ccm_jsonw_open(call->out, NULL, '{');
    ccm_jsonw_str(call->out, "RouteTableId", table->id);
    ccm_cloud_write_fields(call->out, table, table_fields);
    ccm_cloud_write_list(call->out, "GatewayIds", "GatewayIds", "");
    ccm_cloud_vswitch_ids_write(call->out, call->cloud, "RouteTableId", table->id);
    ccm_cloud_vpc_tags_write(call->out, table);
    ccm_jsonw_close(call->out, '}');
}

static int list_tables(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "ResourceGroupId",
                                         "RouteTableName",
                                         "RouteTableType",
                                         "RouterId",
                                         "RouterType",
                                         "VpcId",
                                         NULL };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    const char *id = ccm_cloud_text(call, "RouteTableId", NULL);
    struct ccm_cloud_page page = { 0 };
    void *cursor = NULL;
    int r = ccm_cloud_tags_read(call, &tags);

    r = r < 0 ? r : ccm_cloud_page_read(call, 1, 50, 10, &page);
    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "RouterTableList", '{');
    ccm_jsonw_open(call->out, "RouterTableListType", '[');
    for (const struct ccm_cloud_obj *table =
             ccm_cloud_plain_next(call->cloud, CCM_CLOUD_ROUTE_TABLE, &cursor);
         table != NULL; table = ccm_cloud_plain_next(call->cloud, CCM_CLOUD_ROUTE_TABLE, &cursor)) {
        if ((id == NULL || ccm_text_equal(id, table->id)) &&
            ccm_cloud_params_fit(call, table, names) && ccm_cloud_tags_fit(table, &tags) &&
            ccm_cloud_page_takes(&page, table->seq)) {
            table_write(call, table);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_cloud_page_write(call->out, &page);
    return 0;
}

static const struct ccm_cloud_param entry_params[] = {
    { .name = "DestCidrBlockList.N", .items = 20 },
    { .name = "DestinationCidrBlock" },
    { .name = "IpVersion",
      .type = CCM_CLOUD_ENUM,
      .values = "ipv4|ipv6",
      .invalid = "IllegalParam.IpVersion" },
    /* Up to 500 is taken, but no page is longer than limits.route_page. */
    { .name = "MaxResult", .type = CCM_CLOUD_INT, .min = 1, .max = 500 },
    { .name = "NextHopId" },
    { .name = "NextHopType",
      .type = CCM_CLOUD_ENUM,
      .values = "Instance|HaVip|VpnGateway|NatGateway|NetworkInterface|RouterInterface|IPv6Gateway|"
                "Attachment|Ipv4Gateway|GatewayEndpoint|Ecr" },
    { .name = "NextToken" },
    { .name = "RouteEntryId" },
    { .name = "RouteEntryName", .min = 1, .max = 128 },
    { .name = "RouteEntryType",
      .type = CCM_CLOUD_ENUM,
      .values = "Custom|System|BGP|CEN|ECR",
      .invalid = "IllegalParam.RouteEntryType" },
    { .name = "RouteTableId", .required = true },
    { .name = "ServiceType" },
    { 0 },
};

static const struct ccm_cloud_param table_params[] = {
    { .name = "PageNumber", .type = CCM_CLOUD_INT, .min = 1, .max = INT32_MAX },
    { .name = "PageSize", .type = CCM_CLOUD_INT, .min = 1, .max = 50 },
    { .name = "ResourceGroupId" },
    { .name = "RouteTableId" },
    { .name = "RouteTableName" },
    { .name = "RouteTableType", .type = CCM_CLOUD_ENUM, .values = "System|Custom" },
    { .name = "RouterId" },
    { .name = "RouterType", .type = CCM_CLOUD_ENUM, .values = "VRouter|VBR" },
    CCM_CLOUD_TAG_ROWS,
    { .name = "VpcId" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_route_read_actions[] = {
    { .name = "DescribeRouteEntryList",
      .params = entry_params,
      .region = true,
      .run = list_entries },
    { .name = "DescribeRouteTableList",
      .params = table_params,
      .region = true,
      .run = list_tables },
    { 0 },
};
