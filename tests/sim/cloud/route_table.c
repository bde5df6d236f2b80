/* Route tables. */
#include "families.h"
#include "plain.h"
#include "route.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

static int system_route(struct ccm_cloud *cloud, const char *table, const char *destination)
{
    const struct ccm_cloud_route_wish wish = {
        .destination = destination, .hops = "local//100", .name = "", .description = ""
    };
    const struct ccm_cloud_pair system = { "Type", "System" };
    struct ccm_cloud_obj *route = NULL;
    int r = ccm_cloud_route_put(cloud, table, NULL, &wish, &route);

    return r < 0 ? r : ccm_cloud_attrs_set(route, &system, 1);
}

int ccm_cloud_routes_of_vswitch(struct ccm_cloud *cloud, const struct ccm_cloud_vswitch *vswitch)
{
    void *cursor = NULL;
    int r = 0;

    for (const struct ccm_cloud_obj *table =
             ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE_TABLE, &cursor);
         table != NULL && r == 0;
         table = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE_TABLE, &cursor)) {
        if (ccm_text_equal(ccm_cloud_attr(table, "VpcId"),
                           ccm_cloud_attr(&vswitch->obj, "VpcId"))) {
            r = system_route(cloud, table->id, ccm_cloud_attr(&vswitch->obj, "CidrBlock"));
        }
    }
    return r;
}

int ccm_cloud_route_table_new(struct ccm_cloud *cloud, const char *vpc, const char *id,
                              const char *type, struct ccm_cloud_obj **ret)
{
    void *cursor = NULL;
    const char *vswitch_id = NULL;
    void *value = NULL;
    char created[32];

    ccm_cloud_format_time(ccm_clock_wall_ms(), true, created, sizeof(created));

    CCM_CLEANUP(ccm_freep) char *router = ccm_text_format("vrt-%s", vpc);
    const struct ccm_cloud_pair pairs[] = {
        { "AssociateType", "VSwitch" },
        { "CreationTime", created },
        { "RouteTableType", type },
        { "RouterId", router },
        { "RouterType", "VRouter" },
        { "Status", "Available" },
        { "VpcId", vpc },
    };
    int r = ccm_cloud_plain_new(cloud, CCM_CLOUD_ROUTE_TABLE, id, ret);

    if (r < 0) {
        return r;
    }
    r = router == NULL ? -ENOMEM : ccm_cloud_attrs_set(*ret, pairs, CCM_ARRAY_LEN(pairs));
    r = r < 0 ? r : system_route(cloud, id, "100.64.0.0/10");
    while (r == 0 && ccm_strmap_next(cloud->vswitches, &cursor, &vswitch_id, &value) != 0) {
        const struct ccm_cloud_vswitch *vswitch = value;

        if (ccm_text_equal(ccm_cloud_attr(&vswitch->obj, "VpcId"), vpc)) {
            r = system_route(cloud, id, ccm_cloud_attr(&vswitch->obj, "CidrBlock"));
        }
    }
    return r;
}

static void table_drop(struct ccm_cloud *cloud, const char *id)
{
    void *cursor = NULL;

    for (struct ccm_cloud_obj *route = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE, &cursor);
         route != NULL; route = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE, &cursor)) {
        if (ccm_text_equal(ccm_cloud_attr(route, "RouteTableId"), id)) {
            ccm_cloud_plain_del(cloud, CCM_CLOUD_ROUTE, route->id);
        }
    }
    ccm_cloud_plain_del(cloud, CCM_CLOUD_ROUTE_TABLE, id);
}

static size_t custom_tables(const struct ccm_cloud *cloud, const char *vpc)
{
    void *cursor = NULL;
    size_t n = 0;

    for (const struct ccm_cloud_obj *table =
             ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE_TABLE, &cursor);
         table != NULL; table = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE_TABLE, &cursor)) {
        n += ccm_text_equal(ccm_cloud_attr(table, "VpcId"), vpc) &&
             ccm_text_equal(ccm_cloud_attr(table, "RouteTableType"), "Custom");
    }
    return n;
}

static int create_table(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "AssociateType", "Description", "RouteTableName", NULL };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    const char *vpc = ccm_cloud_text(call, "VpcId", "");
    struct ccm_cloud_obj *table = NULL;
    char id[48];
    int r = ccm_cloud_tags_read(call, &tags);

    if (r < 0) {
        return r;
    }
    if (!ccm_strmap_has(call->cloud->vpcs, vpc)) {
        return ccm_cloud_fail(call, 404, "InvalidVpcId.NotFound", "Specified VPC does not exist.");
    }
    if (custom_tables(call->cloud, vpc) >= call->cloud->limits.route_tables) {
        return ccm_cloud_fail(call, 400, "QuotaExceeded.RouteTable",
                              "VPC RouteTable quota exceeded.");
    }
    ccm_cloud_new_id(call->cloud, "vtb", id, sizeof(id));
    r = ccm_cloud_route_table_new(call->cloud, vpc, id, "Custom", &table);
    r = r < 0 ? r : ccm_cloud_copy_params(call, table, names);
    r = r < 0 ? r : ccm_cloud_tags_put(call, table, &tags);
    if (r < 0) {
        table_drop(call->cloud, id);
        return r;
    }
    ccm_jsonw_str(call->out, "RouteTableId", id);
    return 0;
}

static int delete_table(struct ccm_cloud_call *call)
{
    struct ccm_cloud_obj *table = NULL;
    void *cursor = NULL;
    const char *vswitch_id = NULL;
    void *value = NULL;
    int r = 0;

    ccm_cloud_routes_advance(call->cloud);
    r = ccm_cloud_route_table_of(call, ccm_cloud_text(call, "RouteTableId", ""), &table);
    if (r < 0) {
        return r;
    }
    if (!ccm_text_equal(ccm_cloud_attr(table, "RouteTableType"), "Custom")) {
        return ccm_cloud_fail(call, 400, "IncorrectRouteTableType",
                              "Route table can be deleted by this action only when it's type is "
                              "custom.");
    }
    if (ccm_cloud_route_customs(call->cloud, table->id) > 0) {
        return ccm_cloud_fail(call, 400, "DependencyViolation.RouteEntry",
                              "Vpc route table has route entry.");
    }
    while (ccm_strmap_next(call->cloud->vswitches, &cursor, &vswitch_id, &value) != 0) {
        const struct ccm_cloud_vswitch *vswitch = value;

        if (ccm_text_equal(ccm_cloud_attr(&vswitch->obj, "RouteTableId"), table->id)) {
            return ccm_cloud_fail(call, 400, "IncorrectRouteTableStatus",
                                  "The current status of the route table does not support this "
                                  "operation.");
        }
    }

    CCM_CLEANUP(ccm_freep) char *id = strdup(table->id);

    if (id == NULL) {
        return -ENOMEM;
    }
    table_drop(call->cloud, id);
    return 0;
}

static const struct ccm_cloud_param create_params[] = {
    { .name = "AssociateType", .type = CCM_CLOUD_ENUM, .values = "VSwitch|Gateway" },
    { .name = "ClientToken", .min = 1, .max = 64 },
    { .name = "Description", .min = 1, .max = 256 },
    { .name = "RouteTableName", .min = 1, .max = 128 },
    CCM_CLOUD_TAG_ROWS,
    { .name = "VpcId", .required = true, .missing = "MissingParam.vpcId" },
    { 0 },
};

static const struct ccm_cloud_param delete_params[] = {
    { .name = "RouteTableId", .required = true, .missing = "MissingParam.RouteTableId" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_route_table_actions[] = {
    { .name = "CreateRouteTable",
      .params = create_params,
      .region = true,
      .token = true,
      .run = create_table },
    { .name = "DeleteRouteTable", .params = delete_params, .region = true, .run = delete_table },
    { 0 },
};
