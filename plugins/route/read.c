#include "read.h"

#include "alicloud/error.h"
#include "api.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRESH_MS      2000 /* a listing that was made so short before a pass counts for it */
#define REDISCOVER_MS 3600000
#define RESUME_MS     120000 /* so long a list that was put off can go on where it was */
#define PAGES_MAX     10000  /* a server that never ends is ended */

struct route_table_list {
    struct route_found_table *items; /* texts belong to the list */
    size_t len;
    size_t cap;
};

static void list_fini(struct route_table_list *list)
{
    for (size_t i = 0; i < list->len; i++) {
        free((char *)list->items[i].id);
        free((char *)list->items[i].type);
    }
    free(list->items);
}

static struct route_call read_call(const struct route *route, const struct ccm_request *req,
                                   bool pass)
{
    return (struct route_call){
        .ali = route->ali,
        .host = route->host,
        .req = req,
        .priority = pass ? ALI_PRIO_AUDIT : ALI_PRIO_NEW,
    };
}

/* Nobody comes again in a dry run. */
static void call_set_object(const struct route *route, struct route_call *call, const char *object)
{
    call->object = route->host->dry_run(route->host) ? NULL : object;
}

/* ---- which tables ---- */

static void forget_tables(struct route *route)
{
    for (size_t i = 0; i < route->table_count; i++) {
        route_table_fini(&route->tables[i]);
    }
    free(route->tables);
    route->tables = NULL;
    route->table_count = 0;
}

/* Tables of which nothing but the ids is known; NULL on ENOMEM. */
static struct route_table *make_tables(const char *const *ids, size_t count)
{
    struct route_table *tables = calloc(count + 1, sizeof(*tables));

    for (size_t i = 0; tables != NULL && i < count; i++) {
        tables[i].id = strdup(ids[i]);
        if (tables[i].id == NULL) {
            while (i > 0) {
                route_table_fini(&tables[--i]);
            }
            free(tables);
            return NULL;
        }
    }
    return tables;
}

/* Exactly these; what is known of one that stays is kept. */
static int set_tables(struct route *route, const char *const *ids, size_t count)
{
    struct route_table *tables = make_tables(ids, count);

    if (tables == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < route->table_count; k++) {
            if (ccm_text_equal(route->tables[k].id, tables[i].id)) {
                const struct route_table kept = route->tables[k];

                route->tables[k] = tables[i];
                tables[i] = kept;
            }
        }
    }
    forget_tables(route);
    route->tables = tables;
    route->table_count = count;
    return 0;
}

static int add_found(struct route_table_list *list, const cJSON *json)
{
    struct route_found_table found = {
        .id = strdup(ccm_json_text(json, "RouteTableId")),
        .type = strdup(ccm_json_text(json, "RouteTableType")),
    };

    for (const cJSON *item = ccm_json_items(ccm_json_get(json, "VSwitchIds"), "VSwitchId");
         item != NULL; item = item->next) {
        found.vswitches++;
    }
    if (found.id == NULL || found.type == NULL ||
        ccm_array_grow(&list->items, &list->cap, list->len + 1, sizeof(*list->items)) < 0) {
        free((char *)found.id);
        free((char *)found.type);
        return -ENOMEM;
    }
    list->items[list->len++] = found;
    return 0;
}

/* All pages. */
static int list_tables(struct route *route, const struct ccm_request *req,
                       struct route_table_list *list, struct ccm_error *err)
{
    struct route_call call = read_call(route, req, false);
    bool more = true;

    call_set_object(route, &call, ali_vpc_id(route->ali));
    for (int64_t page = 1; more && page <= PAGES_MAX; page++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
        const size_t before = list->len;
        const cJSON *item = NULL;
        const int r = route_api_tables(&call, ali_vpc_id(route->ali), page, &answer, err);

        if (r < 0) {
            return r;
        }
        item = ccm_json_items(ccm_json_get(answer, "RouterTableList"), "RouterTableListType");
        for (; item != NULL; item = item->next) {
            if (add_found(list, item) < 0) {
                return ccm_error_nomem(err);
            }
        }
        more = list->len > before &&
               (int64_t)list->len < ccm_json_i64(answer, "TotalCount", (int64_t)list->len);
    }
    return 0;
}

static int read_discover_table(struct route *route, const struct ccm_request *req,
                               struct ccm_error *err)
{
    CCM_CLEANUP(list_fini) struct route_table_list list = { 0 };
    size_t chosen = 0;
    int r = list_tables(route, req, &list, err);

    if (r == 0) {
        r = route_tables_choose(list.items, list.len, ali_vpc_id(route->ali), &chosen, err);
    }
    if (r == 0 && set_tables(route, &list.items[chosen].id, 1) < 0) {
        r = ccm_error_nomem(err);
    }
    if (r < 0 && !ali_error_is_put_off(err)) {
        /* A VPC that has several now had one before: nobody knows any more which is meant. */
        forget_tables(route);
    }
    if (r < 0) {
        return r;
    }
    route->discovered_ms = route->host->now_ms(route->host);
    return 0;
}

static int find_tables(struct route *route, const struct ccm_request *req, bool pass,
                       struct ccm_error *err)
{
    const int64_t now = route->host->now_ms(route->host);
    size_t count = 0;

    while (route->table_ids[count] != NULL) {
        count++;
    }
    if (count > 0 && route->table_count == 0) {
        return set_tables(route, (const char *const *)route->table_ids, count) < 0
                   ? ccm_error_nomem(err)
                   : 0;
    }
    if (count == 0 &&
        (route->table_count == 0 || (pass && now - route->discovered_ms >= REDISCOVER_MS))) {
        return read_discover_table(route, req, err);
    }
    return 0;
}

/* ---- what they hold ---- */

static enum route_status status_of(const char *text)
{
    if (text[0] == '\0' || ccm_text_equal(text, "Available")) {
        return ROUTE_SETTLED;
    }
    return ccm_text_equal(text, "Deleting") ? ROUTE_LEAVING : ROUTE_COMING;
}

static bool is_default_route(const struct ccm_cidr *net)
{
    char text[ROUTE_NET_TEXT];

    route_net_format(net, text);
    return ccm_text_equal(text, "0.0.0.0/0") || ccm_text_equal(text, "::/0");
}

/* An entry with a destination that is no network (a prefix list) cannot meet one of ours. */
static int read_entry(struct route_table *table, const cJSON *json)
{
    const cJSON *hop = ccm_json_items(ccm_json_get(json, "NextHops"), "NextHop");
    const char *type = ccm_json_text(hop, "NextHopType");
    const char *id = ccm_json_text(hop, "NextHopId");
    const bool single = hop != NULL && hop->next == NULL;
    const bool instance = single && ccm_text_equal_case(type, "Instance");
    const bool custom = ccm_text_equal_case(ccm_json_text(json, "Type"), "Custom");
    struct ccm_cidr net;
    char other[160];

    if (route_net_parse(ccm_json_text(json, "DestinationCidrBlock"), &net) < 0) {
        return 0;
    }
    ccm_text_printf(other, sizeof(other), "%s entry to %.48s %.64s%s", custom ? "an" : "a system",
                    type, id, single ? "" : " and others");
    return route_table_add(table, &net, instance ? id : other,
                           custom && instance && id[0] != '\0' && !is_default_route(&net),
                           status_of(ccm_json_text(json, "Status")));
}

int route_read_page(struct route_table *table, const cJSON *page, const char **ret_token)
{
    for (const cJSON *item = ccm_json_items(ccm_json_get(page, "RouteEntrys"), "RouteEntry");
         item != NULL; item = item->next) {
        if (read_entry(table, item) < 0) {
            return -ENOMEM;
        }
    }
    *ret_token = ccm_json_text(page, "NextToken");
    return 0;
}

/* It goes on with that page, which is taken over. */
static void table_put_off(struct route_table *table, char *token)
{
    free(table->listing.token);
    table->listing.token = token;
}

static int read_family(struct route_call *call, struct route_table *table, const char *version,
                       struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep)
    char *token = table->listing.token != NULL ? CCM_STEAL(table->listing.token) : strdup("");

    for (size_t page = 0; token != NULL && page < PAGES_MAX; page++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
        const char *next = "";
        const int r = route_api_entries(call, table->id, version, token, &answer, err);

        if (r < 0) {
            if (ali_error_is_put_off(err)) {
                table_put_off(table, CCM_STEAL(token));
            }
            return r;
        }
        if (ccm_json_get(answer, "RouteEntrys") == NULL) {
            return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                                 "DescribeRouteEntryList: the answer holds no list");
        }
        if (route_read_page(table, answer, &next) < 0) {
            return ccm_error_nomem(err);
        }
        if (next[0] == '\0') {
            return 0;
        }
        free(token);
        token = strdup(next);
    }
    return token == NULL ? ccm_error_nomem(err)
                         : ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TRANSIENT,
                                         "DescribeRouteEntryList: there is no last page");
}

/* A table that took no more takes some again when one has gone. */
static void table_check_capacity(struct route_table *table, int64_t now_ms)
{
    if (table->full && (table->len < table->full_len || now_ms >= table->full_until_ms)) {
        table->full = false;
    }
}

/* All or nothing: a failed read is never an empty table. One that is put off goes on later. */
static int read_table(struct route *route, struct route_call *call, struct route_table *table,
                      struct ccm_error *err)
{
    const int64_t now = route->host->now_ms(route->host);
    struct route_listing *listing = &table->listing;
    int r = 0;

    if (listing->token == NULL || now - listing->begun_ms >= RESUME_MS) {
        route_table_clear(table);
        listing->begun_ms = now;
    }
    call_set_object(route, call, table->id);
    if (!listing->second) {
        r = read_family(call, table, route->ipv6 ? "ipv4" : NULL, err);
        listing->second = r == 0;
    }
    if (r == 0 && route->ipv6) {
        r = read_family(call, table, "ipv6", err);
    }
    if (r < 0) {
        if (!ali_error_is_put_off(err)) {
            route_table_clear(table);
        }
        return ccm_error_wrap(err, r, "table %s get route entries error", table->id);
    }
    route_table_sort(table);
    table->valid = true;
    table->listed_ms = listing->begun_ms;
    *listing = (struct route_listing){ .token = NULL };
    table_check_capacity(table, now);
    return 0;
}

int route_read_again(struct route *route, const struct ccm_request *req, struct route_table *table,
                     struct ccm_error *err)
{
    struct route_call call = read_call(route, req, false);

    return read_table(route, &call, table, err);
}

/* Those that cannot be believed any more, and in a pass those that are not fresh. */
static int read_stale_tables(struct route *route, const struct ccm_request *req, bool pass,
                             struct ccm_error *err)
{
    const int64_t fresh_ms = route->period_ms / 2 < FRESH_MS ? route->period_ms / 2 : FRESH_MS;
    struct route_call call = read_call(route, req, pass);

    for (size_t i = 0; i < route->table_count; i++) {
        struct route_table *table = &route->tables[i];
        const int64_t age = route->host->now_ms(route->host) - table->listed_ms;

        if (!table->valid || (pass && age >= fresh_ms)) {
            const int r = read_table(route, &call, table, err);

            if (r < 0) {
                return r;
            }
        }
    }
    return 0;
}

int route_read(struct route *route, const struct ccm_request *req, bool pass, struct ccm_error *err)
{
    int r = find_tables(route, req, pass, err);

    if (r == 0) {
        r = read_stale_tables(route, req, pass, err);
    }
    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        if (route->table_ids[0] == NULL) {
            forget_tables(route); /* it is gone: look for the one there is now */
        } else {
            err->kind = CCM_ERROR_AUTH; /* somebody has to correct the option */
        }
    }
    return r;
}
