/* The actions that make and end route entries, one at a time or in batches. */
#include "families.h"
#include "plain.h"
#include "route.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HOPS                                                                                       \
    "Instance|HaVip|RouterInterface|NetworkInterface|VpnGateway|IPv6Gateway|NatGateway|"           \
    "Attachment|VpcPeer|Ipv4Gateway|GatewayEndpoint|Ecr|GatewayLoadBalancerEndpoint"

/* The most entries that one call can have, whatever the limit is. */
#define ITEMS_MAX 200

static int dry_run(struct ccm_cloud_call *call)
{
    return ccm_text_equal(ccm_cloud_text(call, "DryRun", ""), "true")
               ? ccm_cloud_fail(call, 400, "DryRunOperation",
                                "Request validation has been passed with DryRun flag set.")
               : 0;
}

static int fail_with(struct ccm_cloud_call *call, const struct ccm_cloud_route_trouble *trouble)
{
    return ccm_cloud_fail(call, trouble->http, trouble->code, "%s", trouble->message);
}

/* NAME.INDEX.MEMBER, "" when it is not given. */
static const char *item_text(const struct ccm_cloud_call *call, const char *name, unsigned index,
                             const char *member)
{
    char full[96];

    (void)snprintf(full, sizeof(full), "%s.%u.%s", name, index, member); /* always fits */
    return ccm_cloud_text(call, full, "");
}

/* ---- one ---- */

/* NextHopList, or NextHopId with NextHopType. 0, -EPROTO, -ENOMEM. */
static int hops_read(struct ccm_cloud_call *call, char **ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf hops = { 0 };
    const char *id = ccm_cloud_text(call, "NextHopId", NULL);

    if (id != NULL) {
        ccm_buf_addf(&hops, "%s/%s/100", ccm_cloud_text(call, "NextHopType", "Instance"), id);
    }
    for (unsigned i = 1; i <= 16; i++) {
        const char *item = item_text(call, "NextHopList", i, "NextHopId");
        const char *type = item_text(call, "NextHopList", i, "NextHopType");
        const char *weight = item_text(call, "NextHopList", i, "Weight");

        if (!ccm_text_empty(item)) {
            ccm_buf_addf(&hops, "%s%s/%s/%s", hops.len == 0 ? "" : ",", type, item,
                         ccm_text_empty(weight) ? "100" : weight);
        }
    }
    if (hops.len == 0) {
        return ccm_cloud_fail(call, 400, "InvalidNextHop",
                              "Specified nexthop and nexthop list cannot both null.");
    }
    return ccm_buf_take(&hops, ret);
}

static int create(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_freep) char *hops = NULL;
    struct ccm_cloud_obj *table = NULL;
    struct ccm_cloud_route_trouble trouble = { 0 };
    char id[48];

    ccm_cloud_routes_advance(call->cloud);

    int r = ccm_cloud_route_table_of(call, ccm_cloud_text(call, "RouteTableId", ""), &table);

    r = r < 0 ? r : hops_read(call, &hops);
    r = r < 0 ? r : dry_run(call);
    if (r < 0) {
        return r;
    }

    const struct ccm_cloud_route_wish wish = {
        .destination = ccm_cloud_text(call, "DestinationCidrBlock", ""),
        .hops = hops,
        .name = ccm_cloud_text(call, "RouteEntryName", ""),
        .description = ccm_cloud_text(call, "Description", ""),
    };

    r = ccm_cloud_route_make(call->cloud, table, &wish, id, &trouble);
    if (r == -EPROTO) {
        return fail_with(call, &trouble);
    }
    if (r == 0) {
        ccm_cloud_route_begin(call->cloud, table);
        ccm_jsonw_str(call->out, "RouteEntryId", id);
    }
    return r;
}

/* The entry that RouteEntryId, or table and destination and next hop, name. */
static int entry_of(struct ccm_cloud_call *call, struct ccm_cloud_obj **ret)
{
    const char *id = ccm_cloud_text(call, "RouteEntryId", NULL);
    const char *destination = ccm_cloud_text(call, "DestinationCidrBlock", NULL);
    const char *table = ccm_cloud_text(call, "RouteTableId", NULL);
    CCM_CLEANUP(ccm_freep) char *hops = NULL;

    if (id != NULL && destination != NULL) {
        return ccm_cloud_fail(call, 400,
                              "ParamExclusive.RouteEntryIdAndRouteTableIdOrDestCidrBlock",
                              "RouteEntryId and DestinationCidrBlock cannot both be given.");
    }
    if (id != NULL) {
        *ret = ccm_cloud_plain_get(call->cloud, CCM_CLOUD_ROUTE, id);
        return *ret != NULL ? 0
                            : ccm_cloud_fail(call, 400, "InvalidRouteEntryId.NotFound",
                                             "Specified RouteEntryId does not exist.");
    }
    if (destination == NULL || table == NULL) {
        return ccm_cloud_fail(call, 400, "MissingParameter", "Miss mandatory parameter.");
    }
    if (ccm_cloud_plain_get(call->cloud, CCM_CLOUD_ROUTE_TABLE, table) == NULL) {
        return ccm_cloud_fail(call, 404, "InvalidRouteTableId.NotFound",
                              "Specified route table does not exist.");
    }

    int r = hops_read(call, &hops);

    if (r < 0) {
        return r;
    }
    *ret = ccm_cloud_route_find(call->cloud, table, destination);
    if (*ret == NULL || !ccm_cloud_route_has_hop(*ret, ccm_cloud_text(call, "NextHopId", NULL))) {
        return ccm_cloud_fail(call, 400, "InvalidRouteEntry.NotFound", "Route entry not exists.");
    }
    return 0;
}

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_obj *route = NULL;
    struct ccm_cloud_obj *table = NULL;
    struct ccm_cloud_route_trouble trouble = { 0 };

    ccm_cloud_routes_advance(call->cloud);

    int r = entry_of(call, &route);

    r = r < 0 ? r : ccm_cloud_route_table_of(call, ccm_cloud_attr(route, "RouteTableId"), &table);
    r = r < 0 ? r : dry_run(call);
    if (r < 0) {
        return r;
    }
    r = ccm_cloud_route_end(call->cloud, route, &trouble);
    if (r == -EPROTO) {
        return fail_with(call, &trouble);
    }
    if (r == 0) {
        ccm_cloud_route_begin(call->cloud, table);
    }
    return r;
}

/* ---- batches ---- */

struct batch {
    struct ccm_buf failures; /* JSON list */
    struct ccm_buf ids;      /* JSON list */
    struct ccm_jsonw w_failures;
    struct ccm_jsonw w_ids;
    int64_t good;
    int64_t bad;
};

static void batch_fini(struct batch *batch)
{
    ccm_buf_fini(&batch->failures);
    ccm_buf_fini(&batch->ids);
}

static void batch_fail(struct ccm_cloud_call *call, struct batch *batch, unsigned index,
                       const struct ccm_cloud_route_trouble *trouble)
{
    struct ccm_jsonw *w = &batch->w_failures;
    const char *id = item_text(call, "RouteEntries", index, "RouteEntryId");

    batch->bad++;
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "DstCidrBlock", item_text(call, "RouteEntries", index, "DstCidrBlock"));
    ccm_jsonw_str(w, "NextHop", item_text(call, "RouteEntries", index, "NextHop"));
    if (!ccm_text_empty(id)) {
        ccm_jsonw_str(w, "RouteEntryId", id);
    }
    ccm_jsonw_str(w, "FailedCode", trouble->item_code == NULL ? trouble->code : trouble->item_code);
    ccm_jsonw_str(w, "FailedMessage", trouble->message);
    ccm_jsonw_close(w, '}');
}

/* Every given item needs the member. */
static int check_member(struct ccm_cloud_call *call, unsigned index, const char *member)
{
    if (!ccm_text_empty(item_text(call, "RouteEntries", index, member))) {
        return 0;
    }
    if (ccm_text_equal(member, "RouteTableId")) {
        return ccm_cloud_fail(call, 400, "MissingParam.RouteTableId",
                              "The parameter RouteTableId is missing.");
    }
    return ccm_cloud_fail(call, 400, "MissingParameter",
                          "The parameter RouteEntries.%u.%s is missing.", index, member);
}

static bool item_given(const struct ccm_cloud_call *call, unsigned index)
{
    static const char *const members[] = { "DstCidrBlock", "NextHop",      "NextHopType",
                                           "RouteTableId", "RouteEntryId", "Name" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(members); i++) {
        if (!ccm_text_empty(item_text(call, "RouteEntries", index, members[i]))) {
            return true;
        }
    }
    return false;
}

/* Form, number and tables of all items, before the first is touched. *ret: the first table. */
static int batch_check(struct ccm_cloud_call *call, bool create, struct ccm_cloud_obj **ret)
{
    static const char *const needed[] = { "RouteTableId", "DstCidrBlock", "NextHop",
                                          "NextHopType" };
    size_t members = create ? CCM_ARRAY_LEN(needed) : 1;
    uint32_t n = 0;

    for (unsigned i = 1; i <= ITEMS_MAX; i++) {
        struct ccm_cloud_obj *table = NULL;

        if (!item_given(call, i)) {
            continue;
        }
        n++;
        for (size_t m = 0; m < members; m++) {
            int r = check_member(call, i, needed[m]);

            if (r < 0) {
                return r;
            }
        }

        int r = ccm_cloud_route_table_of(call, item_text(call, "RouteEntries", i, "RouteTableId"),
                                         &table);

        if (r < 0) {
            return r;
        }
        *ret = *ret == NULL ? table : *ret;
    }
    if (n == 0) {
        return ccm_cloud_fail(call, 400, "MissingParam.RouteTableId",
                              "The parameter RouteTableId is missing.");
    }
    if (n > call->cloud->limits.routes_per_call) {
        return ccm_cloud_fail(call, 400, "SizeLimitExceeded.RouteEntries",
                              "The maximum size of RouteEntries is exceeded.");
    }
    return dry_run(call);
}

static int item_create(struct ccm_cloud_call *call, struct batch *batch, unsigned index)
{
    CCM_CLEANUP(ccm_freep)
    char *hops = ccm_text_format("%s/%s/100", item_text(call, "RouteEntries", index, "NextHopType"),
                                 item_text(call, "RouteEntries", index, "NextHop"));
    const struct ccm_cloud_route_wish wish = {
        .destination = item_text(call, "RouteEntries", index, "DstCidrBlock"),
        .hops = hops,
        .name = item_text(call, "RouteEntries", index, "Name"),
        .description = item_text(call, "RouteEntries", index, "Description"),
        .version = ccm_text_equal(item_text(call, "RouteEntries", index, "IpVersion"), "6") ? 6 : 4,
        .batch = true,
    };
    const struct ccm_cloud_obj *table = ccm_cloud_plain_get(
        call->cloud, CCM_CLOUD_ROUTE_TABLE, item_text(call, "RouteEntries", index, "RouteTableId"));
    struct ccm_cloud_route_trouble trouble = { 0 };
    char id[48];

    if (hops == NULL) {
        return -ENOMEM;
    }

    int r = ccm_cloud_route_make(call->cloud, table, &wish, id, &trouble);

    if (r == -EPROTO) {
        batch_fail(call, batch, index, &trouble);
        return 0;
    }
    if (r == 0) {
        batch->good++;
        ccm_jsonw_str(&batch->w_ids, NULL, id);
    }
    return r;
}

static int item_delete(struct ccm_cloud_call *call, struct batch *batch, unsigned index)
{
    static const struct ccm_cloud_route_trouble absent = {
        .http = 400,
        .code = "VPC_ROUTER_ENTRY_NOT_EXIST",
        .message = "The route entry does not exist.",
    };
    const char *id = item_text(call, "RouteEntries", index, "RouteEntryId");
    const char *table = item_text(call, "RouteEntries", index, "RouteTableId");
    struct ccm_cloud_route_trouble trouble = { 0 };
    struct ccm_cloud_obj *route =
        ccm_text_empty(id)
            ? ccm_cloud_route_find(call->cloud, table,
                                   item_text(call, "RouteEntries", index, "DstCidrBlock"))
            : ccm_cloud_plain_get(call->cloud, CCM_CLOUD_ROUTE, id);

    if (route == NULL || !ccm_text_equal(ccm_cloud_attr(route, "RouteTableId"), table) ||
        !ccm_cloud_route_has_hop(route, item_text(call, "RouteEntries", index, "NextHop"))) {
        batch_fail(call, batch, index, &absent);
        return 0;
    }

    int r = ccm_cloud_route_end(call->cloud, route, &trouble);

    if (r == -EPROTO) {
        batch_fail(call, batch, index, &trouble);
        return 0;
    }
    batch->good += r == 0;
    return r;
}

static int batch_run(struct ccm_cloud_call *call, bool create)
{
    CCM_CLEANUP(batch_fini) struct batch batch = { 0 };
    struct ccm_cloud_obj *table = NULL;

    batch.w_failures.buf = &batch.failures;
    batch.w_ids.buf = &batch.ids;
    ccm_cloud_routes_advance(call->cloud);
    ccm_jsonw_open(&batch.w_failures, NULL, '[');
    ccm_jsonw_open(&batch.w_ids, NULL, '[');

    int r = batch_check(call, create, &table);

    for (unsigned i = 1; i <= ITEMS_MAX && r == 0; i++) {
        if (item_given(call, i)) {
            r = create ? item_create(call, &batch, i) : item_delete(call, &batch, i);
        }
    }
    if (r < 0) {
        return r;
    }
    if (batch.good > 0) {
        ccm_cloud_route_begin(call->cloud, table);
    }
    ccm_jsonw_close(&batch.w_failures, ']');
    ccm_jsonw_close(&batch.w_ids, ']');
    ccm_jsonw_i64(call->out, "SuccessCount", batch.good);
    ccm_jsonw_i64(call->out, "FailedCount", batch.bad);
    ccm_jsonw_raw(call->out, "FailedRouteEntries", ccm_buf_str(&batch.failures));
    if (create) {
        ccm_jsonw_raw(call->out, "RouteEntryIds", ccm_buf_str(&batch.ids));
    }
    return 0;
}

static int create_batch(struct ccm_cloud_call *call)
{
    return batch_run(call, true);
}

static int delete_batch(struct ccm_cloud_call *call)
{
    return batch_run(call, false);
}

static const struct ccm_cloud_param create_params[] = {
    { .name = "ClientToken", .min = 1, .max = 64 },
    { .name = "Description", .min = 1, .max = 256 },
    { .name = "DestinationCidrBlock", .required = true },
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "NextHopId" },
    { .name = "NextHopList.N.NextHopId", .items = 16 },
    { .name = "NextHopList.N.NextHopType", .items = 16 },
    { .name = "NextHopList.N.Weight", .type = CCM_CLOUD_INT, .min = 0, .max = 255, .items = 16 },
    { .name = "NextHopType", .type = CCM_CLOUD_ENUM, .values = HOPS },
    { .name = "RouteEntryName", .min = 1, .max = 128 },
    { .name = "RouteTableId", .required = true },
    { 0 },
};

static const struct ccm_cloud_param delete_params[] = {
    { .name = "DestinationCidrBlock" },
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "NextHopId" },
    { .name = "NextHopList.N.NextHopId", .items = 8 },
    { .name = "NextHopList.N.NextHopType", .items = 8 },
    { .name = "RouteEntryId" },
    { .name = "RouteTableId" },
    { 0 },
};

static const struct ccm_cloud_param create_batch_params[] = {
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "RouteEntries.N.Description", .min = 1, .max = 256, .items = ITEMS_MAX },
    { .name = "RouteEntries.N.DstCidrBlock", .required = true, .items = ITEMS_MAX },
    { .name = "RouteEntries.N.IpVersion",
      .type = CCM_CLOUD_ENUM,
      .values = "4|6",
      .items = ITEMS_MAX },
    { .name = "RouteEntries.N.Name", .min = 1, .max = 128, .items = ITEMS_MAX },
    { .name = "RouteEntries.N.NextHop", .required = true, .items = ITEMS_MAX },
    { .name = "RouteEntries.N.NextHopType",
      .type = CCM_CLOUD_ENUM,
      .required = true,
      .values = HOPS "|CenBasic",
      .items = ITEMS_MAX },
    { .name = "RouteEntries.N.RouteTableId",
      .required = true,
      .items = ITEMS_MAX,
      .missing = "MissingParam.RouteTableId" },
    { 0 },
};

static const struct ccm_cloud_param delete_batch_params[] = {
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "RouteEntries.N.DstCidrBlock", .items = ITEMS_MAX },
    { .name = "RouteEntries.N.NextHop", .items = ITEMS_MAX },
    { .name = "RouteEntries.N.RouteEntryId", .items = ITEMS_MAX },
    { .name = "RouteEntries.N.RouteTableId",
      .required = true,
      .items = ITEMS_MAX,
      .missing = "MissingParam.RouteTableId" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_route_actions[] = {
    { .name = "CreateRouteEntry", .params = create_params, .token = true, .run = create },
    { .name = "DeleteRouteEntry", .params = delete_params, .run = del },
    { .name = "CreateRouteEntries",
      .params = create_batch_params,
      .region = true,
      .run = create_batch },
    { .name = "DeleteRouteEntries",
      .params = delete_batch_params,
      .region = true,
      .run = delete_batch },
    { 0 },
};
