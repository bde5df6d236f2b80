#include "api.h"

#include "alicloud/error.h"
#include "alicloud/params.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAGE_SIZE 100 /* what is documented for entries; longer pages are not promised */
#define TABLES    50

enum route_outcome route_outcome_of(const char *code, const char *message, bool create)
{
    static const struct {
        const char *code;
        enum route_outcome create;
        enum route_outcome del;
    } known[] = {
        { "VPC_ROUTE_ENTRY_CIDR_BLOCK_DUPLICATE", ROUTE_TAKEN, ROUTE_FAILED },
        { "InvalidCIDRBlock.Duplicate", ROUTE_TAKEN, ROUTE_FAILED },
        { "InvalidRouteEntry.Duplicate", ROUTE_TAKEN, ROUTE_FAILED },
        { "RouteConflict.AlreadyExist", ROUTE_TAKEN, ROUTE_FAILED },
        { "Duplicated.VpcNextHop", ROUTE_TAKEN, ROUTE_FAILED },
        { "RouterEntryConflict.Duplicated", ROUTE_TAKEN, ROUTE_FAILED },
        { "VPC_ROUTE_ENTRY_STATUS_ERROR", ROUTE_MOVING, ROUTE_MOVING },
        { "IncorrectRouteEntryStatus", ROUTE_MOVING, ROUTE_MOVING },
        { "IncorrcetRouteEntryStatus", ROUTE_MOVING, ROUTE_MOVING },
        { "VPC_ROUTER_ENTRY_NOT_EXIST", ROUTE_FAILED, ROUTE_GONE },
        { "InvalidRouteEntry.NotFound", ROUTE_FAILED, ROUTE_GONE },
        { "InvalidRouteEntryId.NotFound", ROUTE_FAILED, ROUTE_GONE },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(known); i++) {
        if (ccm_text_equal(known[i].code, code)) {
            return create ? known[i].create : known[i].del;
        }
    }
    return create && ali_error_find(code, message, 400)->class_ == ALI_CLASS_QUOTA ? ROUTE_FULL
                                                                                   : ROUTE_FAILED;
}

static int api_send_vpc(struct route_call *call, const char *action,
                        const struct ali_params *params, enum ali_repeat repeat, cJSON **ret,
                        struct ccm_error *err)
{
    const struct ali_call request = {
        .product = ALI_VPC,
        .action = action,
        .params = params,
        .priority = call->priority,
        .repeat = repeat,
        .object = call->object,
        .patience_ms = call->object == NULL ? 0 : ALI_PATIENCE_MS,
    };

    call->uncertain = false;
    return ali_call(&(const struct ali_caller){ call->ali, call->host, call->req }, &request, ret,
                    &call->uncertain, err);
}

int route_api_tables(struct route_call *call, const char *vpc, int64_t page, cJSON **ret,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "VpcId", vpc);
    ali_param_i64(&params, "PageSize", TABLES);
    ali_param_i64(&params, "PageNumber", page);
    return api_send_vpc(call, "DescribeRouteTableList", &params, ALI_READ, ret, err);
}

int route_api_entries(struct route_call *call, const char *table, const char *version,
                      const char *token, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "RouteTableId", table);
    ali_param_add(&params, "RouteEntryType", "Custom");
    ali_param_opt(&params, "IpVersion", version);
    ali_param_i64(&params, "MaxResult", PAGE_SIZE);
    ali_param_opt(&params, "NextToken", token);
    return api_send_vpc(call, "DescribeRouteEntryList", &params, ALI_READ, ret, err);
}

static void add_member(struct ali_params *params, size_t n, const char *member, const char *value)
{
    char name[48];

    ccm_text_printf(name, sizeof(name), "RouteEntries.%zu.%s", n, member);
    ali_param_add(params, name, value);
}

static void add_item(struct ali_params *params, size_t n, bool create, const char *table,
                     const struct route_item *item)
{
    char net[ROUTE_NET_TEXT];

    route_net_format(&item->net, net);
    add_member(params, n, "RouteTableId", table);
    add_member(params, n, "DstCidrBlock", net);
    add_member(params, n, "NextHop", item->instance);
    if (create) {
        add_member(params, n, "NextHopType", "Instance");
        if (!route_net_is_v4(&item->net)) {
            add_member(params, n, "IpVersion", "6");
        }
    }
}

/* The item that a failure is about, by both of its names: instances may have several networks. */
static struct route_item *item_of(struct route_item *items, size_t count, const cJSON *failure)
{
    struct ccm_cidr net;

    if (route_net_parse(ccm_json_text(failure, "DstCidrBlock"), &net) < 0) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (route_net_compare(&items[i].net, &net) == 0 &&
            strcmp(items[i].instance, ccm_json_text(failure, "NextHop")) == 0) {
            return &items[i];
        }
    }
    return NULL;
}

static void fail_item(struct route_item *item, bool create, const cJSON *failure,
                      const char *request_id)
{
    const char *code = ccm_json_text(failure, "FailedCode");
    const char *message = ccm_json_text(failure, "FailedMessage");

    item->outcome = route_outcome_of(code, message, create);
    (void)ccm_error_set(&item->err, 0, ali_error_kind(ali_error_find(code, message, 400)->class_),
                        "%s: %.90s: %.400s", create ? "CreateRouteEntries" : "DeleteRouteEntries",
                        code, message); /* the outcome tells more than a result */
    ccm_error_add_request_id(&item->err, request_id);
    ccm_text_copy(item->err.code, sizeof(item->err.code), code);
    item->err.http_status = 400;
}

static void read_outcomes(bool create, struct route_item *items, size_t count, const cJSON *answer)
{
    const char *request_id = ccm_json_text(answer, "RequestId");
    size_t failed = 0;

    for (size_t i = 0; i < count; i++) {
        items[i].outcome = ROUTE_DONE;
        ccm_error_clear(&items[i].err);
    }
    for (const cJSON *failure = ccm_json_items(answer, "FailedRouteEntries"); failure != NULL;
         failure = failure->next) {
        struct route_item *item = item_of(items, count, failure);

        if (item != NULL && item->outcome == ROUTE_DONE) {
            fail_item(item, create, failure, request_id);
            failed++;
        }
    }
    /* A failure that fits no item may be that of any. */
    for (size_t i = 0; ccm_json_i64(answer, "FailedCount", 0) > (int64_t)failed && i < count; i++) {
        items[i].outcome = items[i].outcome == ROUTE_DONE ? ROUTE_UNSURE : items[i].outcome;
    }
}

int route_api_batch(struct route_call *call, bool create, const char *table,
                    struct route_item *items, size_t count, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r;

    for (size_t i = 0; i < count; i++) {
        add_item(&params, i + 1, create, table, &items[i]);
    }
    r = api_send_vpc(call, create ? "CreateRouteEntries" : "DeleteRouteEntries", &params,
                     create ? ALI_ONCE : ALI_IDEMPOTENT, &answer, err);
    if (r == 0) {
        read_outcomes(create, items, count, answer);
    }
    return r;
}

int route_api_single(struct route_call *call, bool create, const char *table,
                     struct route_item *item)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    char net[ROUTE_NET_TEXT];
    int r;

    route_net_format(&item->net, net);
    ccm_error_clear(&item->err);
    ali_param_add(&params, "RouteTableId", table);
    ali_param_add(&params, "DestinationCidrBlock", net);
    ali_param_add(&params, "NextHopId", item->instance);
    ali_param_opt(&params, "NextHopType", create ? "Instance" : NULL);
    r = api_send_vpc(call, create ? "CreateRouteEntry" : "DeleteRouteEntry", &params,
                     create ? ALI_ONCE : ALI_IDEMPOTENT, NULL, &item->err);
    item->outcome =
        r == 0 ? ROUTE_DONE : route_outcome_of(item->err.code, item->err.message, create);
    return r;
}
