/* Route entries: what they are made of, and the time that changes take. */
#include "route.h"

#include "network6.h"
#include "plain.h"
#include "store.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
    const char *id = NULL;
    void *value = NULL;

    while (cloud->limits.route_ms == 0 && ccm_strmap_next(cloud->vpcs, &cursor, &id, &value) != 0) {
        struct ccm_cloud_vpc *vpc = value;

        vpc->routing_until_ms = 0;
    }
    cursor = NULL;

    for (struct ccm_cloud_obj *route = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE, &cursor);
         route != NULL; route = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE, &cursor)) {
        const struct ccm_cloud_pair done = { "Status", "Available" };
        int64_t until = until_of(route);

        if (until == 0 || (until > now && cloud->limits.route_ms > 0)) {
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

static bool unsettled(const struct ccm_cloud_obj *obj)
{
    const char *status = ccm_cloud_attr(obj, "Status");

    return !ccm_text_empty(status) && !ccm_text_equal(status, "Available");
}

/* Everything around the table is settled. */
static int check_settled(struct ccm_cloud_call *call, const struct ccm_cloud_obj *table,
                         const struct ccm_cloud_vpc *vpc)
{
    const bool whole = ccm_text_equal(call->action->name, "DeleteRouteTable");
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    if (vpc != NULL && unsettled(&vpc->obj)) {
        return ccm_cloud_fail(call, 400, "IncorrectVpcStatus",
                              "Current VPC status does not support this operation.");
    }
    if (unsettled(table)) {
        return whole ? ccm_cloud_fail(call, 400, "IncorrectRouteTableStatus",
                                      "The current status of the route table does not support this "
                                      "operation.")
                     : ccm_cloud_fail(call, 400, "IncorrectStatus.RouteTableStatus",
                                      "The status of the specified RouteTable is incorrect.");
    }
    while (ccm_strmap_next(call->cloud->vswitches, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_vswitch *vswitch = value;

        if (unsettled(&vswitch->obj) && ccm_text_equal(ccm_cloud_attr(&vswitch->obj, "VpcId"),
                                                       ccm_cloud_attr(table, "VpcId"))) {
            return ccm_cloud_fail(call, 400, "IncorrectVSwitchStatus",
                                  "The current virtual switch status does not support this "
                                  "operation.");
        }
    }
    return 0;
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
    return check_settled(call, *ret, vpc);
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

#define KEY_SIZE (CCM_CLOUD_NETWORK_TEXT + 72)

static void key_of(const char *table, const char *network, char key[KEY_SIZE])
{
    (void)snprintf(key, KEY_SIZE, "%.70s %s", table, network); /* ids are shorter */
}

static bool is_at(const struct ccm_cloud_obj *route, const char *table, const char *network)
{
    return route != NULL &&
           ccm_text_equal(ccm_cloud_attr(route, "DestinationCidrBlock"), network) &&
           ccm_text_equal(ccm_cloud_attr(route, "RouteTableId"), table);
}

/* The index leads to the entry that came last; has that gone, an older one may be there. */
struct ccm_cloud_obj *ccm_cloud_route_find(const struct ccm_cloud *cloud, const char *table,
                                           const char *destination)
{
    char wanted[CCM_CLOUD_NETWORK_TEXT];
    char key[KEY_SIZE];
    struct ccm_cloud_obj *route = NULL;
    const char *id = NULL;
    void *cursor = NULL;

    ccm_cloud_network_text(destination, wanted);
    key_of(table, wanted, key);
    id = ccm_strmap_get(cloud->route_ids, key);
    route = id == NULL ? NULL : ccm_cloud_plain_get(cloud, CCM_CLOUD_ROUTE, id);
    if (id == NULL || is_at(route, table, wanted)) {
        return route;
    }
    do {
        route = ccm_cloud_plain_next(cloud, CCM_CLOUD_ROUTE, &cursor);
    } while (route != NULL && !is_at(route, table, wanted));
    return route;
}

bool ccm_cloud_route_has_hop(const struct ccm_cloud_obj *route, const char *id)
{
    CCM_CLEANUP(ccm_freep) char *inside = ccm_text_format("/%s/", id == NULL ? "" : id);

    return ccm_text_empty(id) ||
           (inside != NULL && strstr(ccm_cloud_attr(route, "NextHops"), inside) != NULL);
}

int ccm_cloud_route_put(struct ccm_cloud *cloud, const char *table, const char *id,
                        const struct ccm_cloud_route_wish *wish, struct ccm_cloud_obj **ret)
{
    char destination[CCM_CLOUD_NETWORK_TEXT];
    char key[KEY_SIZE];
    char modified[32];
    char fresh[48];

    ccm_cloud_network_text(wish->destination, destination);
    ccm_cloud_new_id(cloud, "rte", fresh, sizeof(fresh));
    ccm_cloud_format_time(ccm_clock_wall_ms(), true, modified, sizeof(modified));

    const struct ccm_cloud_pair pairs[] = {
        { "Description", wish->description },
        { "DestinationCidrBlock", destination },
        { "GmtModified", modified },
        { "IpVersion", strchr(destination, ':') == NULL ? "ipv4" : "ipv6" },
        { "NextHops", wish->hops },
        { "RouteEntryName", wish->name },
        { "RouteTableId", table },
        { "Type", "Custom" },
        { "Status", "Available" },
    };
    int r = ccm_cloud_plain_new(cloud, CCM_CLOUD_ROUTE, id == NULL ? fresh : id, ret);

    if (r < 0) {
        return r;
    }
    r = ccm_cloud_attrs_set(*ret, pairs, CCM_ARRAY_LEN(pairs));
    key_of(table, destination, key);
    if (r == 0) {
        char *copy = strdup((*ret)->id);

        r = copy == NULL ? -ENOMEM : ccm_strmap_set(cloud->route_ids, key, copy);
        if (r < 0) {
            free(copy);
        }
    }
    if (r < 0) {
        ccm_cloud_plain_del(cloud, CCM_CLOUD_ROUTE, (*ret)->id);
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

static int conflict(struct ccm_cloud_route_trouble *ret)
{
    return trouble(ret, 400, "RouteConflict.AlreadyExist", NULL,
                   "Route conflict exists in routing table.");
}

/* As check_destination(). */
static int check_ipv6(const struct ccm_cloud *cloud, const struct ccm_cloud_obj *table,
                      const char *destination, struct ccm_cloud_route_trouble *ret)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    while (ccm_strmap_next(cloud->vswitches, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_vswitch *vswitch = value;
        const char *block = ccm_cloud_attr(&vswitch->obj, "Ipv6CidrBlock");

        if (ccm_text_equal(ccm_cloud_attr(&vswitch->obj, "VpcId"),
                           ccm_cloud_attr(table, "VpcId")) &&
            ccm_cloud_networks6_meet(destination, block)) {
            return conflict(ret);
        }
    }
    return 0;
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

    if (strchr(wish->destination, ':') != NULL && wish->version != 4 &&
        ccm_cloud_network6_is(wish->destination)) {
        return check_ipv6(cloud, table, wish->destination, ret);
    }
    if (wish->version == 6 || network_parse(wish->destination, &base, &size) < 0) {
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
            return conflict(ret);
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
    if (instance && !ccm_text_equal(ccm_cloud_attr(obj, "Status"), "Running") &&
        !ccm_text_equal(ccm_cloud_attr(obj, "Status"), "Stopped")) {
        return trouble(ret, 400, "IncorrectInstanceStatus", NULL,
                       "Current instance status does not support this operation.");
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

size_t ccm_cloud_route_customs(const struct ccm_cloud *cloud, const char *table)
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
    if (ccm_strmap_len(cloud->plain[CCM_CLOUD_ROUTE]) >= cloud->limits.routes &&
        ccm_cloud_route_customs(cloud, table->id) >= cloud->limits.routes) {
        return trouble(ret, 400, "QuotaExceeded", NULL,
                       "Route entry quota exceeded in this route table.");
    }

    struct ccm_cloud_obj *route = NULL;

    r = ccm_cloud_route_put(cloud, table->id, NULL, wish, &route);
    r = r < 0 ? r : status_set(cloud, route, "Pending");
    if (r == 0) {
        ccm_text_copy(id, 48, route->id);
    }
    return r;
}

int ccm_cloud_route_end(struct ccm_cloud *cloud, struct ccm_cloud_obj *route,
                        struct ccm_cloud_route_trouble *ret)
{
    if (ccm_text_equal(ccm_cloud_attr(route, "ServiceType"), "TR") ||
        ccm_text_equal(ccm_cloud_attr(route, "Managed"), "true")) {
        return trouble(ret, 400, "OperationDenied.DeleteManagedRouteEntry", NULL,
                       "The operation is not allowed because of route entry is managed.");
    }
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
