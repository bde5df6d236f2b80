#include "route.h"

#include "families.h"
#include "plain.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- time ---- */

/* Attributes of an entry on its way: when it is done, on the monotonic clock. */
#define UNTIL "UntilMs"

static int64_t until_of(const struct ccm_cloud_obj *route)
{
    int64_t until = 0;

    return ccm_parse_i64(ccm_cloud_attr(route, UNTIL), 1, INT64_MAX, &until) < 0 ? 0 : until;
}

void ccm_cloud_routes_advance(struct ccm_cloud *cloud)
{
    int64_t now = ccm_clock_now_ms();
    void *cursor = NULL;

    for (struct ccm_cloud_obj *route = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE, &cursor);
         route != NULL; route = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE, &cursor)) {
        const struct ccm_cloud_pair done = { "Status", "Available" };
        int64_t until = until_of(route);

        if (until == 0 || until > now) {
            continue;
        }
        if (ccm_text_equal(ccm_cloud_attr(route, "Status"), "Deleting")) {
            ccm_cloud_plain_del(cloud, CCM_CLOUD_ROUTE, route->id);
        } else if (ccm_cloud_attrs_set(route, &done, 1) == 0) {
            ccm_sim_params_del(&route->attrs, UNTIL); /* without memory the next call tries again */
        }
    }
}

static int status_set(const struct ccm_cloud *cloud, struct ccm_cloud_obj *route,
                      const char *status)
{
    char until[24];

    (void)snprintf(until, sizeof(until), "%" PRId64,
                   ccm_clock_now_ms() + cloud->limits.route_ms); /* always fits */

    const struct ccm_cloud_pair pairs[] = {
        { "Status", cloud->limits.route_ms == 0 ? "Available" : status },
        { UNTIL, cloud->limits.route_ms == 0 ? NULL : until },
    };

    return ccm_cloud_attrs_set(route, pairs, CCM_ARRAY_LEN(pairs));
}

void ccm_cloud_route_begin(struct ccm_cloud *cloud, const struct ccm_cloud_obj *table)
{
    struct ccm_cloud_vpc *vpc = ccm_strmap_get(cloud->vpcs, ccm_cloud_attr(table, "VpcId"));

    if (vpc != NULL) {
        vpc->routing_until_ms = ccm_clock_now_ms() + cloud->limits.route_ms;
    }
}

int ccm_cloud_route_table_of(struct ccm_cloud_call *call, const char *id,
                             struct ccm_cloud_obj **ret)
{
    *ret = ccm_cloud_plain_get(call->cloud, CCM_CLOUD_ROUTE_TABLE, id);
    if (*ret == NULL) {
        return ccm_cloud_fail(call, 404, "InvalidRouteTableId.NotFound",
                              "Specified route table does not exist.");
    }

    const struct ccm_cloud_vpc *vpc =
        ccm_strmap_get(call->cloud->vpcs, ccm_cloud_attr(*ret, "VpcId"));

    if (vpc != NULL && call->cloud->limits.route_ms > 0 &&
        ccm_clock_now_ms() < vpc->routing_until_ms) {
        return ccm_cloud_fail(call, 400, "TaskConflict",
                              "The operation is too frequent, please wait a moment and try again.");
    }
    return 0;
}

/* ---- entries ---- */

/* Canonical network of a destination. 0 or -EINVAL. */
static int network_parse(const char *text, uint32_t *ret_base, uint64_t *ret_size)
{
    CCM_CLEANUP(ccm_freep) char *single = NULL;
    uint32_t size = 0;

    if (ccm_text_equal(text, "0.0.0.0/0")) {
        *ret_base = 0;
        *ret_size = UINT64_C(1) << 32;
        return 0;
    }
    if (strchr(text, '/') == NULL) {
        single = ccm_text_format("%s/32", text);
        if (single == NULL) {
            return -EINVAL;
        }
        text = single;
    }

    int r = ccm_cloud_cidr_parse(text, ret_base, &size);

    *ret_size = size;
    return r;
}

static bool network_in(uint32_t base, uint64_t size, uint32_t outer, uint64_t outer_size)
{
    return base >= outer && (uint64_t)base + size <= (uint64_t)outer + outer_size;
}

struct ccm_cloud_obj *ccm_cloud_route_find(const struct ccm_cloud *cloud, const char *table,
                                           const char *destination)
{
    CCM_CLEANUP(ccm_freep)
    char *single = strchr(destination, '/') == NULL ? ccm_text_format("%s/32", destination) : NULL;
    const char *wanted = single == NULL ? destination : single;
    void *cursor = NULL;

    for (struct ccm_cloud_obj *route = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE, &cursor);
         route != NULL; route = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE, &cursor)) {
        if (ccm_text_equal(ccm_cloud_attr(route, "RouteTableId"), table) &&
            ccm_text_equal(ccm_cloud_attr(route, "DestinationCidrBlock"), wanted)) {
            return route;
        }
    }
    return NULL;
}

bool ccm_cloud_route_has_hop(const struct ccm_cloud_obj *route, const char *id)
{
    CCM_CLEANUP(ccm_freep) char *inside = ccm_text_format("/%s/", id == NULL ? "" : id);

    return ccm_text_empty(id) ||
           (inside != NULL && strstr(ccm_cloud_attr(route, "NextHops"), inside) != NULL);
}

static int route_new(struct ccm_cloud *cloud, const char *table, const char *type,
                     const struct ccm_cloud_route_wish *wish, char *id)
{
    CCM_CLEANUP(ccm_freep)
    char *single =
        strchr(wish->destination, '/') == NULL ? ccm_text_format("%s/32", wish->destination) : NULL;
    struct ccm_cloud_obj *route = NULL;
    char modified[32];

    ccm_cloud_new_id(cloud, "rte", id, 48);
    ccm_cloud_format_time(ccm_clock_wall_ms(), true, modified, sizeof(modified));

    const struct ccm_cloud_pair pairs[] = {
        { "Description", wish->description },
        { "DestinationCidrBlock", single == NULL ? wish->destination : single },
        { "GmtModified", modified },
        { "NextHops", wish->hops },
        { "RouteEntryName", wish->name },
        { "RouteTableId", table },
        { "Type", type },
        { "Status", "Available" },
    };
    int r = ccm_cloud_plain_new(cloud, CCM_CLOUD_ROUTE, id, &route);

    r = r < 0 ? r : ccm_cloud_attrs_set(route, pairs, CCM_ARRAY_LEN(pairs));
    if (r == 0 && ccm_text_equal(type, "Custom")) {
        r = status_set(cloud, route, "Pending");
    }
    if (r < 0) {
        ccm_cloud_plain_del(cloud, CCM_CLOUD_ROUTE, id);
    }
    return r;
}

static int trouble(struct ccm_cloud_route_trouble *ret, unsigned http, const char *code,
                   const char *item_code, const char *message)
{
    *ret = (struct ccm_cloud_route_trouble){
        .http = http, .code = code, .item_code = item_code, .message = message
    };
    return -EPROTO;
}

/* Neither the addresses of the provider nor those of a vSwitch. */
static int check_destination(const struct ccm_cloud *cloud, const struct ccm_cloud_obj *table,
                             const struct ccm_cloud_route_wish *wish,
                             struct ccm_cloud_route_trouble *ret)
{
    const uint32_t provider = UINT32_C(100) << 24 | UINT32_C(64) << 16;
    const uint64_t provider_size = UINT64_C(1) << 22;
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    uint32_t base = 0;
    uint64_t size = 0;

    if (network_parse(wish->destination, &base, &size) < 0) {
        return trouble(ret, 400, "InvalidCidrBlock", NULL, "Specified CIDR block is not valid.");
    }
    if ((base == provider && size == provider_size) ||
        (wish->batch && network_in(base, size, provider, provider_size))) {
        return trouble(ret, 400, "InvalidDestinationCidrBlock", NULL,
                       "The specified destinationCidrBlock must not included in black list cidr.");
    }
    while (ccm_strmap_next(cloud->vswitches, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_vswitch *vswitch = value;

        if (!ccm_text_equal(ccm_cloud_attr(&vswitch->obj, "VpcId"),
                            ccm_cloud_attr(table, "VpcId")) ||
            (base == vswitch->base && size == vswitch->size)) {
            continue; /* an equal one is found as a duplicate */
        }
        if (network_in(base, size, vswitch->base, vswitch->size) ||
            (wish->batch && size < UINT64_C(1) << 32 &&
             network_in(vswitch->base, vswitch->size, base, size))) {
            return trouble(ret, 400, "RouteConflict.AlreadyExist", NULL,
                           "Route conflict exists in routing table.");
        }
    }
    return 0;
}

static int check_hop(const struct ccm_cloud *cloud, const char *vpc, const char *type,
                     const char *id, struct ccm_cloud_route_trouble *ret)
{
    bool instance = ccm_text_equal(type, "Instance");
    const struct ccm_cloud_obj *obj = NULL;

    if (instance) {
        obj = ccm_strmap_get(cloud->instances, id);
    } else if (ccm_text_equal(type, "NetworkInterface")) {
        obj = ccm_strmap_get(cloud->enis, id);
        if (obj == NULL) {
            return trouble(ret, 404, "InvalidNetworkInterface.NotFound", NULL,
                           "The specified networkInterface does not exist.");
        }
    }
    if (obj == NULL) {
        return instance ? trouble(ret, 400, "IllegalParam.NextHopId", NULL,
                                  "Instance not exists or not vpc vm.")
                        : trouble(ret, 400, "InvalidNextHop.NotFound", NULL,
                                  "Specified next hop does not exist.");
    }
    if (!ccm_text_equal(ccm_cloud_attr(obj, "VpcId"), vpc)) {
        return trouble(ret, 400, "OperationFailed.InstanceDismatchCurrentVpc", NULL,
                       "The specified instance does not exist in current vpc.");
    }
    return 0;
}

static int check_hops(const struct ccm_cloud *cloud, const struct ccm_cloud_obj *table,
                      const char *hops, struct ccm_cloud_route_trouble *ret)
{
    const char *cursor = hops;
    const char *start = NULL;
    size_t len = 0;
    int r = 0;

    while (r == 0 && ccm_parse_piece(&cursor, ',', &start, &len)) {
        char hop[192];

        if (len >= sizeof(hop)) {
            return trouble(ret, 400, "InvalidNexthop", NULL, "The Specified nexthop illegal.");
        }
        ccm_text_copy(hop, len + 1, start);

        char *id = strchr(hop, '/');
        char *weight = id == NULL ? NULL : strchr(id + 1, '/');

        if (weight == NULL) {
            return trouble(ret, 400, "InvalidNexthop", NULL, "The Specified nexthop illegal.");
        }
        *id = '\0';
        *weight = '\0';
        r = check_hop(cloud, ccm_cloud_attr(table, "VpcId"), hop, id + 1, ret);
    }
    return r;
}

static size_t customs(const struct ccm_cloud *cloud, const char *table)
{
    void *cursor = NULL;
    size_t n = 0;

    for (const struct ccm_cloud_obj *route = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE, &cursor);
         route != NULL; route = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE, &cursor)) {
        n += ccm_text_equal(ccm_cloud_attr(route, "RouteTableId"), table) &&
             ccm_text_equal(ccm_cloud_attr(route, "Type"), "Custom");
    }
    return n;
}

int ccm_cloud_route_make(struct ccm_cloud *cloud, const struct ccm_cloud_obj *table,
                         const struct ccm_cloud_route_wish *wish, char *id,
                         struct ccm_cloud_route_trouble *ret)
{
    int r = check_destination(cloud, table, wish, ret);

    if (r < 0) {
        return r;
    }

    const struct ccm_cloud_obj *old = ccm_cloud_route_find(cloud, table->id, wish->destination);

    if (old != NULL) {
        bool calm = ccm_text_equal(ccm_cloud_attr(old, "Status"), "Available");

        return trouble(ret, 400, "InvalidCIDRBlock.Duplicate",
                       calm ? "VPC_ROUTE_ENTRY_CIDR_BLOCK_DUPLICATE"
                            : "VPC_ROUTE_ENTRY_STATUS_ERROR",
                       "Specified CIDR block is already exists.");
    }
    r = check_hops(cloud, table, wish->hops, ret);
    if (r < 0) {
        return r;
    }
    if (customs(cloud, table->id) >= cloud->limits.routes) {
        return trouble(ret, 400, "QuotaExceeded", NULL,
                       "Route entry quota exceeded in this route table.");
    }
    return route_new(cloud, table->id, "Custom", wish, id);
}

int ccm_cloud_route_end(struct ccm_cloud *cloud, struct ccm_cloud_obj *route,
                        struct ccm_cloud_route_trouble *ret)
{
    if (!ccm_text_equal(ccm_cloud_attr(route, "Type"), "Custom")) {
        return trouble(ret, 400, "OperationDenied", NULL,
                       "Specified operation is denied as route entry type is system.");
    }
    if (!ccm_text_equal(ccm_cloud_attr(route, "Status"), "Available")) {
        return trouble(ret, 400, "IncorrectRouteEntryStatus", "VPC_ROUTE_ENTRY_STATUS_ERROR",
                       "Some route entry status blocked this operation.");
    }
    if (cloud->limits.route_ms == 0) {
        ccm_cloud_plain_del(cloud, CCM_CLOUD_ROUTE, route->id);
        return 0;
    }
    return status_set(cloud, route, "Deleting");
}

/* ---- tables ---- */

static int system_route(struct ccm_cloud *cloud, const char *table, const char *destination)
{
    const struct ccm_cloud_route_wish wish = {
        .destination = destination, .hops = "local//100", .name = "", .description = ""
    };
    char id[48];

    return route_new(cloud, table, "System", &wish, id);
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
    if (customs(call->cloud, table->id) > 0) {
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
