#include "families.h"
#include "lb.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* Most ids or names that one call takes. */
#define IDS_MAX 10

/* Members that both read actions have. */
static const struct ccm_cloud_field fields[] = {
    { "Address", 's', NULL, "" },
    { "AddressIPVersion", 's', NULL, "ipv4" },
    { "AddressType", 's', NULL, "" },
    { "Bandwidth", 'n', NULL, "0" },
    { "CreateTime", 's', NULL, "" },
    { "CreateTimeStamp", 'n', NULL, "0" },
    { "DeleteProtection", 's', NULL, "off" },
    { "InstanceChargeType", 's', NULL, "" },
    { "InternetChargeType", 's', NULL, "" },
    { "LoadBalancerName", 's', NULL, "" },
    { "LoadBalancerSpec", 's', NULL, "" },
    { "LoadBalancerStatus", 's', NULL, "active" },
    { "MasterZoneId", 's', NULL, "" },
    { "ModificationProtectionReason", 's', NULL, "" },
    { "ModificationProtectionStatus", 's', NULL, "NonProtection" },
    { "NetworkType", 's', NULL, "" },
    { "PayType", 's', NULL, "PayOnDemand" },
    { "RegionId", 's', NULL, "" },
    { "RegionIdAlias", 's', "RegionId", "" },
    { "ResourceGroupId", 's', NULL, "" },
    { "SlaveZoneId", 's', NULL, "" },
    { "VSwitchId", 's', NULL, "" },
    { "VpcId", 's', NULL, "" },
    { 0 },
};

static const struct ccm_cloud_field list_fields[] = {
    { "InternetChargeTypeAlias", 's', "InternetChargeType", "" },
    { 0 },
};

static const struct ccm_cloud_field attribute_fields[] = {
    { "EndTime", 's', NULL, "2999-09-08T16:00Z" },
    { "EndTimeStamp", 'n', NULL, "32493801600000" },
    { "AutoReleaseTime", 'n', NULL, NULL },
    { "RenewalStatus", 's', NULL, NULL },
    { "RenewalCycUnit", 's', NULL, NULL },
    { "RenewalDuration", 'n', NULL, NULL },
    { 0 },
};

static void lb_write(struct ccm_jsonw *w, const struct ccm_cloud_lb *lb)
{
    ccm_jsonw_str(w, "LoadBalancerId", lb->obj.id);
    ccm_cloud_write_fields(w, &lb->obj, fields);
    ccm_cloud_tags_write(w, "Tags", &lb->obj, false);
}

struct filter {
    const char *ids;   /* comma list or NULL */
    const char *names; /* comma list or NULL */
    const char *server_id;
    const char *server_ip;
    struct ccm_sim_params tags;
};

static void filter_fini(struct filter *filter)
{
    ccm_sim_params_fini(&filter->tags);
}

static bool list_has(const char *list, const char *text)
{
    const char *cursor = list;
    const char *start = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        if (strlen(text) == len && strncmp(start, text, len) == 0) {
            return true;
        }
    }
    return false;
}

static size_t list_len(const char *list)
{
    const char *cursor = list;
    const char *start = NULL;
    size_t len = 0;
    size_t n = 0;

    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        n++;
    }
    return n;
}

/* Tags=[{"TagKey":"a","TagValue":"b"}], names in any case. */
static int tags_json(struct ccm_cloud_call *call, struct ccm_sim_params *ret)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const char *text = ccm_cloud_text(call, "Tags", NULL);

    if (text == NULL) {
        return 0;
    }
    if (ccm_json_parse(text, strlen(text), &json) < 0 || !cJSON_IsArray(json) ||
        cJSON_GetArraySize(json) > 10) {
        return ccm_cloud_fail(call, 400, "InvalidTag", "The specified tags is invalid.");
    }
    for (const cJSON *item = json->child; item != NULL; item = item->next) {
        const cJSON *key = cJSON_GetObjectItem(item, "TagKey");
        const cJSON *value = cJSON_GetObjectItem(item, "TagValue");

        if (!cJSON_IsString(key) || key->valuestring[0] == '\0' ||
            (value != NULL && !cJSON_IsString(value))) {
            return ccm_cloud_fail(call, 400, "InvalidTag", "The specified tags is invalid.");
        }

        int r = ccm_sim_params_set(ret, key->valuestring, value == NULL ? "" : value->valuestring);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int filter_read(struct ccm_cloud_call *call, struct filter *filter)
{
    filter->ids = ccm_cloud_text(call, "LoadBalancerId", NULL);
    filter->names = ccm_cloud_text(call, "LoadBalancerName", NULL);
    filter->server_id = ccm_cloud_text(call, "ServerId", NULL);
    filter->server_ip = ccm_cloud_text(call, "ServerIntranetAddress", NULL);
    if ((filter->ids != NULL && list_len(filter->ids) > IDS_MAX) ||
        (filter->names != NULL && list_len(filter->names) > IDS_MAX)) {
        return ccm_cloud_fail(call, 400, "InvalidParameter",
                              "The number of load balancers in the parameter exceeds 10.");
    }

    int r = ccm_cloud_tags_read(call, &filter->tags);

    return r < 0 ? r : tags_json(call, &filter->tags);
}

static bool has_backend(const struct ccm_cloud *cloud, const struct ccm_cloud_lb *lb,
                        const struct filter *filter)
{
    for (size_t g = 0; g < lb->vgroups_len; g++) {
        for (size_t i = 0; i < lb->vgroups[g]->len; i++) {
            const struct ccm_cloud_backend *backend = &lb->vgroups[g]->backends[i];
            const struct ccm_cloud_instance *instance =
                ccm_strmap_get(cloud->instances, backend->server_id);
            const char *ip =
                instance == NULL ? backend->server_ip : ccm_cloud_attr(&instance->obj, "PrivateIp");

            if ((filter->server_id == NULL ||
                 ccm_text_equal(filter->server_id, backend->server_id)) &&
                (filter->server_ip == NULL || ccm_text_equal(filter->server_ip, ip))) {
                return true;
            }
        }
    }
    return false;
}

/* Filters that are an attribute of the same name. */
static bool attrs_fit(const struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb)
{
    static const char *const names[] = {
        "Address",
        "AddressIPVersion",
        "AddressType",
        "InternetChargeType",
        "LoadBalancerStatus",
        "MasterZoneId",
        "NetworkType",
        "PayType",
        "ResourceGroupId",
        "SlaveZoneId",
        "VSwitchId",
        "VpcId",
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        const char *want = ccm_cloud_text(call, names[i], NULL);

        if (want != NULL && !ccm_text_equal(want, ccm_cloud_attr(&lb->obj, names[i]))) {
            return false;
        }
    }
    return true;
}

static bool fits(const struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                 const struct filter *filter)
{
    if (filter->ids != NULL && !list_has(filter->ids, lb->obj.id)) {
        return false;
    }
    if (filter->names != NULL &&
        !list_has(filter->names, ccm_cloud_attr(&lb->obj, "LoadBalancerName"))) {
        return false;
    }
    if ((filter->server_id != NULL || filter->server_ip != NULL) &&
        !has_backend(call->cloud, lb, filter)) {
        return false;
    }
    return ccm_cloud_tags_fit(&lb->obj, &filter->tags) && attrs_fit(call, lb);
}

struct page {
    int64_t number;
    int64_t size;
    int64_t total;
};

static void lb_list(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                    const struct filter *filter, struct page *page)
{
    if (!fits(call, lb, filter)) {
        return;
    }
    if (page->total >= (page->number - 1) * page->size && page->total < page->number * page->size) {
        ccm_jsonw_open(call->out, NULL, '{');
        lb_write(call->out, lb);
        ccm_cloud_write_fields(call->out, &lb->obj, list_fields);
        ccm_jsonw_close(call->out, '}');
    }
    page->total++;
}

static int compare_seq(const void *a, const void *b)
{
    const struct ccm_cloud_lb *const *left = a;
    const struct ccm_cloud_lb *const *right = b;

    if ((*left)->obj.seq == (*right)->obj.seq) {
        return 0;
    }
    return (*left)->obj.seq < (*right)->obj.seq ? -1 : 1;
}

/* Those that are named, in order of creation, each once, without a walk over all. */
static void list_named(struct ccm_cloud_call *call, const struct filter *filter, struct page *page)
{
    const struct ccm_cloud_lb *found[IDS_MAX] = { NULL };
    size_t len = 0;
    const char *cursor = filter->ids;
    const char *start = NULL;
    size_t piece = 0;

    while (len < IDS_MAX && ccm_parse_piece(&cursor, ',', &start, &piece)) {
        char id[128];

        ccm_text_copy(id, piece < sizeof(id) ? piece + 1 : sizeof(id), start);
        found[len] = ccm_cloud_lb_get(call->cloud, id);
        len += found[len] != NULL;
    }
    qsort(found, len, sizeof(const struct ccm_cloud_lb *), compare_seq);
    for (size_t i = 0; i < len; i++) {
        if (i == 0 || found[i] != found[i - 1]) {
            lb_list(call, found[i], filter, page);
        }
    }
}

static int describe_all(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(filter_fini) struct filter filter = { 0 };
    struct page page = {
        .number = ccm_cloud_int(call, "PageNumber", 0),
        .size = ccm_cloud_int(call, "PageSize", 10),
    };
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = filter_read(call, &filter);

    if (r < 0) {
        return r;
    }
    if (page.number == 0 && ccm_cloud_has(call, "PageSize")) {
        return ccm_cloud_fail(call, 400, "MissingPageNumber",
                              "PageNumber is mandatory for this action.");
    }
    /* Without paging everything comes at once, up to the largest page. */
    page.size = page.number == 0 ? 100 : page.size;
    page.number = page.number == 0 ? 1 : page.number;
    ccm_jsonw_open(call->out, "LoadBalancers", '{');
    ccm_jsonw_open(call->out, "LoadBalancer", '[');
    if (filter.ids != NULL) {
        list_named(call, &filter, &page);
    }
    while (filter.ids == NULL && ccm_strmap_next(call->cloud->lbs, &cursor, &id, &value) != 0) {
        lb_list(call, value, &filter, &page);
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_jsonw_i64(call->out, "PageNumber", page.number);
    ccm_jsonw_i64(call->out, "PageSize", page.size);
    ccm_jsonw_i64(call->out, "TotalCount", page.total);
    return 0;
}

static void ports_write(struct ccm_jsonw *w, const struct ccm_cloud_lb *lb)
{
    ccm_jsonw_open(w, "ListenerPorts", '{');
    ccm_jsonw_open(w, "ListenerPort", '[');
    for (size_t i = 0; i < lb->listeners_len; i++) {
        ccm_jsonw_i64(w, NULL, lb->listeners[i]->port);
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
    ccm_jsonw_open(w, "ListenerPortsAndProtocal", '{');
    ccm_jsonw_open(w, "ListenerPortAndProtocal", '[');
    for (size_t i = 0; i < lb->listeners_len; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_i64(w, "ListenerPort", lb->listeners[i]->port);
        ccm_jsonw_str(w, "ListenerProtocal", lb->listeners[i]->protocol);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
    ccm_jsonw_open(w, "ListenerPortsAndProtocol", '{');
    ccm_jsonw_open(w, "ListenerPortAndProtocol", '[');
    for (size_t i = 0; i < lb->listeners_len; i++) {
        const struct ccm_cloud_listener *listener = lb->listeners[i];

        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "Description", ccm_cloud_attr(&listener->obj, "Description"));
        ccm_jsonw_i64(w, "ListenerPort", listener->port);
        ccm_jsonw_str(w, "ListenerProtocol", listener->protocol);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static int describe_one(struct ccm_cloud_call *call)
{
    struct ccm_cloud_lb *lb = NULL;
    int r = ccm_cloud_lb_of(call, &lb);

    if (r < 0) {
        return r;
    }
    lb_write(call->out, lb);
    ccm_cloud_write_fields(call->out, &lb->obj, attribute_fields);
    ports_write(call->out, lb);
    /* The default group, which vServer groups leave empty. */
    ccm_jsonw_open(call->out, "BackendServers", '{');
    ccm_jsonw_open(call->out, "BackendServer", '[');
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    return 0;
}

static const struct ccm_cloud_param list_params[] = {
    { .name = "Address" },
    { .name = "AddressIPVersion", .type = CCM_CLOUD_ENUM, .values = "ipv4|ipv6" },
    { .name = "AddressType", .type = CCM_CLOUD_ENUM, .values = "internet|intranet" },
    { .name = "InternetChargeType",
      .type = CCM_CLOUD_ENUM,
      .values = "paybytraffic|paybybandwidth" },
    { .name = "LoadBalancerId" },
    { .name = "LoadBalancerName" },
    { .name = "LoadBalancerStatus", .type = CCM_CLOUD_ENUM, .values = "inactive|active|locked" },
    { .name = "MasterZoneId" },
    { .name = "NetworkType", .type = CCM_CLOUD_ENUM, .values = "vpc|classic" },
    { .name = "PageNumber", .type = CCM_CLOUD_INT, .min = 1, .max = 1000 },
    { .name = "PageSize", .type = CCM_CLOUD_INT, .min = 1, .max = 100 },
    { .name = "PayType", .type = CCM_CLOUD_ENUM, .values = "PayOnDemand|PrePay" },
    { .name = "ResourceGroupId" },
    { .name = "ServerId" },
    { .name = "ServerIntranetAddress" },
    { .name = "SlaveZoneId" },
    CCM_CLOUD_TAG_ROWS,
    { .name = "Tags" },
    { .name = "VSwitchId" },
    { .name = "VpcId" },
    { 0 },
};

static const struct ccm_cloud_param one_params[] = {
    { .name = "LoadBalancerId", .required = true },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_lb_read_actions[] = {
    { .name = "DescribeLoadBalancers", .params = list_params, .region = true, .run = describe_all },
    { .name = "DescribeLoadBalancerAttribute", .params = one_params, .run = describe_one },
    { 0 },
};
