#include "alicloud/eni.h"

#include "alicloud/ali.h"
#include "alicloud/eni_cache.h"
#include "alicloud/params.h"
#include "util/cleanup.h"
#include "util/text.h"

#define CHUNK     100
#define MAX_PAGES 50
#define FOUND_MS  600000
#define NOT_MS    30000 /* at most; a pod whose interface is late has to get in soon */
#define MISS_MS   1000  /* the first time, doubling */
#define VPC_MS    600000

/* One address that the cache did not know. */
struct query {
    struct ccm_ip ip;
    uint64_t owner;
    struct ali_eni eni; /* MISSING until an interface turns up */
    bool settled;       /* FOUND, or its state was decided */
};

/* Unknown addresses of one resolve call: sorted, each once. */
struct queries {
    struct query *items;
    size_t len;
};

static void queries_fini(struct queries *queries)
{
    free(queries->items);
}

static int by_ip(const void *a, const void *b)
{
    const struct query *left = a;
    const struct query *right = b;

    return memcmp(&left->ip, &right->ip, sizeof(left->ip));
}

static struct query *query_find(const struct queries *queries, const struct ccm_ip *ip)
{
    const struct query key = { .ip = *ip };

    if (queries->len == 0) {
        return NULL;
    }
    return bsearch(&key, queries->items, queries->len, sizeof(key), by_ip);
}

/* Fill in what is known, collect the rest. */
static int queries_collect_unknown(const struct ali_caller *by,
                                   const struct ali_eni_addresses *addresses, struct ali_eni *ret,
                                   struct queries *queries)
{
    const int64_t now = by->host->now_ms(by->host);
    const size_t count = addresses->count;

    queries->items = calloc(count == 0 ? 1 : count, sizeof(*queries->items));
    if (queries->items == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t owner = addresses->owners == NULL ? 0 : addresses->owners[i];
        struct ccm_ip ip;

        ret[i] = (struct ali_eni){ .state = ALI_ENI_FOREIGN };
        if (ccm_ip_parse(addresses->items[i], &ip) < 0) {
            continue; /* what is no address lies in no network */
        }
        if (addresses->anew || !ali_eni_cache_get(by->client->eni, &ip, owner, now, &ret[i])) {
            queries->items[queries->len++] =
                (struct query){ .ip = ip, .owner = owner, .eni = { .state = ALI_ENI_MISSING } };
        }
    }
    qsort(queries->items, queries->len, sizeof(*queries->items), by_ip);

    size_t kept = 0;

    for (size_t i = 0; i < queries->len; i++) {
        if (kept == 0 || by_ip(&queries->items[kept - 1], &queries->items[i]) != 0) {
            queries->items[kept++] = queries->items[i];
        }
    }
    queries->len = kept;
    return 0;
}

static int eni_call_cloud(const struct ali_caller *by, enum ali_product product, const char *action,
                          const struct ali_params *params, cJSON **ret, struct ccm_error *err)
{
    const bool waits = by->req == NULL || by->req->key_count != 1 || by->host->dry_run(by->host);
    const struct ali_call request = {
        .product = product,
        .action = action,
        .params = params,
        .priority = ALI_PRIO_SPEC,
        .repeat = ALI_READ,
        .object = waits ? NULL : by->req->keys[0],
        .patience_ms = waits ? 0 : ALI_PATIENCE_MS,
    };

    if (params->error == -ENOMEM) {
        return ccm_error_nomem(err);
    }
    return ali_call(by, &request, ret, NULL, err);
}

/* An address that an interface carries: note it when we asked for it. */
static void queries_match_address(const struct queries *queries, const char *address,
                                  const struct ali_eni *eni)
{
    struct ccm_ip ip;

    if (address == NULL || eni->id[0] == '\0' || ccm_ip_parse(address, &ip) < 0) {
        return;
    }

    struct query *query = query_find(queries, &ip);

    if (query != NULL) {
        query->eni = *eni;
        query->settled = true;
    }
}

/* The interface of an item, "" as id where that is none or too long. 0 or -ENOMEM. */
static int read_interface(const struct ali_caller *by, const cJSON *item, struct ali_eni *ret)
{
    const struct ccm_object *const *nodes = NULL;
    const char *id = ccm_json_text(item, "NetworkInterfaceId");
    const char *instance = ccm_json_text(item, "InstanceId");
    size_t count = 0;

    *ret = (struct ali_eni){ .state = ALI_ENI_FOUND };
    if (strlen(id) < sizeof(ret->id)) {
        ccm_text_copy(ret->id, sizeof(ret->id), id);
    }
    if (strcmp(ccm_json_text(item, "Type"), "Primary") != 0 || instance[0] == '\0') {
        return 0;
    }
    if (by->host->list(by->host, CCM_KIND_NODE, "server", instance, &nodes, &count) < 0) {
        return -ENOMEM;
    }
    by->host->release_list(by->host, nodes, count);
    ret->state = count > 0 ? ALI_ENI_NODE : ALI_ENI_FOUND;
    return 0;
}

/* Interfaces of one page. -EBADMSG: it has not the form of a list, so it says nothing; or -ENOMEM.
 */
static int read_page(const struct ali_caller *by, const cJSON *answer,
                     const struct queries *queries)
{
    const cJSON *list = ccm_json_path(answer, "NetworkInterfaceSets", "NetworkInterfaceSet", NULL);

    if (!cJSON_IsArray(list)) {
        return -EBADMSG;
    }
    for (const cJSON *item = ccm_json_elements(list); item != NULL; item = item->next) {
        struct ali_eni eni;

        if (read_interface(by, item, &eni) < 0) {
            return -ENOMEM;
        }
        queries_match_address(queries, ccm_json_str(item, "PrivateIpAddress"), &eni);
        for (const cJSON *ip = ccm_json_items(ccm_json_get(item, "PrivateIpSets"), "PrivateIpSet");
             ip != NULL; ip = ip->next) {
            queries_match_address(queries, ccm_json_str(ip, "PrivateIpAddress"), &eni);
        }
        for (const cJSON *ip = ccm_json_items(ccm_json_get(item, "Ipv6Sets"), "Ipv6Set");
             ip != NULL; ip = ip->next) {
            queries_match_address(queries, ccm_json_str(ip, "Ipv6Address"), &eni);
        }
    }
    return 0;
}

static void page_params(const struct ali_caller *by, const struct queries *queries, size_t first,
                        size_t count, const char *token, struct ali_params *params)
{
    const bool v4 = ccm_ip_is_v4(&queries->items[first].ip);

    ali_param_add(params, "VpcId", by->client->vpc_id);
    ali_param_add(params, "Status", "InUse");
    ali_param_i64(params, "MaxResults", CHUNK);
    ali_param_opt(params, "NextToken", token);
    for (size_t i = 0; i < count; i++) {
        char name[40];
        char text[CCM_IP_TEXT];

        ccm_text_printf(name, sizeof(name), "%s.%zu", v4 ? "PrivateIpAddress" : "Ipv6Address",
                        i + 1);
        ccm_ip_format(&queries->items[first + i].ip, text);
        ali_param_add(params, name, text);
    }
}

/* Ask for one chunk, all its pages. */
static int read_chunk(const struct ali_caller *by, const struct queries *queries, size_t first,
                      size_t count, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *token = strdup("");

    for (int page = 0; token != NULL; page++) {
        CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
        CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;

        if (page == MAX_PAGES) {
            return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TRANSIENT,
                                 "DescribeNetworkInterfaces: the list does not end");
        }
        page_params(by, queries, first, count, token, &params);

        int r = eni_call_cloud(by, ALI_ECS, "DescribeNetworkInterfaces", &params, &answer, err);

        if (r < 0) {
            return r;
        }
        r = read_page(by, answer, queries);
        if (r == -ENOMEM) {
            return ccm_error_nomem(err);
        }
        if (r < 0) {
            (void)ccm_error_set(err, 0, CCM_ERROR_TRANSIENT,
                                "DescribeNetworkInterfaces: no list in the answer"); /* below */
            ccm_error_add_request_id(err, ccm_json_text(answer, "RequestId"));
            return -EBADMSG;
        }

        const char *next = ccm_json_text(answer, "NextToken");

        if (next[0] == '\0') {
            return 0;
        }
        free(token);
        token = strdup(next);
    }
    return ccm_error_nomem(err);
}

/* Chunks of one address family each: IPv4 sorts behind or among IPv6, so a chunk ends where the
 * family changes. */
static int read_interfaces(const struct ali_caller *by, const struct queries *queries,
                           struct ccm_error *err)
{
    size_t first = 0;

    while (first < queries->len) {
        const bool v4 = ccm_ip_is_v4(&queries->items[first].ip);
        size_t count = 1;

        while (count < CHUNK && first + count < queries->len &&
               ccm_ip_is_v4(&queries->items[first + count].ip) == v4) {
            count++;
        }

        const int r = read_chunk(by, queries, first, count, err);

        if (r < 0) {
            return r;
        }
        first += count;
    }
    return 0;
}

static void add_cidr(struct ccm_cidr *cidrs, int *count, const char *text)
{
    if (text != NULL && *count < ALI_ENI_CIDRS_MAX && ccm_cidr_parse(text, &cidrs[*count]) == 0) {
        (*count)++;
    }
}

/* Blocks of the VPC, from the cache or the cloud. */
static int read_cidrs(const struct ali_caller *by, struct ccm_cidr *cidrs, int *ret_count,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int count = ali_eni_cache_cidrs_get(by->client->eni, by->host->now_ms(by->host), cidrs);

    if (count >= 0) {
        *ret_count = count;
        return 0;
    }
    ali_param_add(&params, "VpcId", by->client->vpc_id);

    const int r = eni_call_cloud(by, ALI_VPC, "DescribeVpcAttribute", &params, &answer, err);

    if (r < 0) {
        return r;
    }
    count = 0;
    add_cidr(cidrs, &count, ccm_json_str(answer, "CidrBlock"));
    add_cidr(cidrs, &count, ccm_json_str(answer, "Ipv6CidrBlock"));
    for (const cJSON *item =
             ccm_json_items(ccm_json_get(answer, "SecondaryCidrBlocks"), "SecondaryCidrBlock");
         item != NULL; item = item->next) {
        add_cidr(cidrs, &count, cJSON_GetStringValue(item));
    }
    for (const cJSON *item =
             ccm_json_items(ccm_json_get(answer, "Ipv6CidrBlocks"), "Ipv6CidrBlock");
         item != NULL; item = item->next) {
        add_cidr(cidrs, &count, ccm_json_str(item, "Ipv6CidrBlock"));
    }
    if (count == 0) {
        (void)ccm_error_set(err, 0, CCM_ERROR_TRANSIENT,
                            "DescribeVpcAttribute: no address block in the answer"); /* below */
        ccm_error_add_request_id(err, ccm_json_text(answer, "RequestId"));
        return -EBADMSG;
    }
    ali_eni_cache_cidrs_put(by->client->eni, cidrs, count, by->host->now_ms(by->host) + VPC_MS);
    *ret_count = count;
    return 0;
}

/* Missing or foreign, for the addresses that no interface has. */
static int settle_rest(const struct ali_caller *by, const struct queries *queries,
                       struct ccm_error *err)
{
    struct ccm_cidr cidrs[ALI_ENI_CIDRS_MAX];
    int count = -1;

    for (size_t i = 0; i < queries->len; i++) {
        struct query *query = &queries->items[i];

        if (query->settled) {
            continue;
        }
        if (count < 0) {
            const int r = read_cidrs(by, cidrs, &count, err);

            if (r < 0) {
                return r;
            }
        }
        query->eni.state = ALI_ENI_FOREIGN;
        for (int k = 0; k < count; k++) {
            if (ccm_cidr_contains(&cidrs[k], &query->ip)) {
                query->eni.state = ALI_ENI_MISSING;
            }
        }
    }
    return 0;
}

/* How long to believe it. */
static int64_t life_ms(const struct ali_caller *by, const struct query *query)
{
    int64_t life = MISS_MS;

    if (query->eni.state == ALI_ENI_FOUND || query->eni.state == ALI_ENI_NODE) {
        return FOUND_MS;
    }
    if (query->eni.state == ALI_ENI_FOREIGN) {
        return NOT_MS;
    }
    for (unsigned n = ali_eni_cache_misses(by->client->eni, &query->ip, query->owner);
         n > 0 && life < NOT_MS; n--) {
        life *= 2;
    }
    return life < NOT_MS ? life : NOT_MS;
}

static void hand_out(const struct ali_caller *by, const struct queries *queries,
                     const struct ali_eni_addresses *addresses, struct ali_eni *ret)
{
    const int64_t now = by->host->now_ms(by->host);

    for (size_t i = 0; i < queries->len; i++) {
        const struct query *query = &queries->items[i];

        ali_eni_cache_put(by->client->eni, &query->ip, query->owner, &query->eni, now,
                          now + life_ms(by, query));
    }
    for (size_t i = 0; i < addresses->count; i++) {
        struct ccm_ip ip;

        if (ccm_ip_parse(addresses->items[i], &ip) == 0) {
            const struct query *query = query_find(queries, &ip);

            ret[i] = query != NULL ? query->eni : ret[i];
        }
    }
}

int ali_eni_resolve(const struct ali_caller *by, const struct ali_eni_addresses *addresses,
                    struct ali_eni *ret, struct ccm_error *err)
{
    CCM_CLEANUP(queries_fini) struct queries queries = { 0 };
    const struct ali_client *ali = by->client;
    int r = queries_collect_unknown(by, addresses, ret, &queries);

    if (r < 0) {
        return ccm_error_nomem(err);
    }
    if (queries.len == 0) {
        return 0;
    }
    if (!atomic_load(&ali->started)) {
        return ccm_error_set(err, -EAGAIN, CCM_ERROR_TRANSIENT,
                             "interfaces of pods cannot be looked up: the VPC is not known yet");
    }
    if (ali->vpc_id[0] == '\0') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "interfaces of pods cannot be looked up: alicloud.vpc_id is not set");
    }
    r = read_interfaces(by, &queries, err);
    if (r == 0) {
        r = settle_rest(by, &queries, err);
    }
    if (r < 0) {
        return r;
    }
    hand_out(by, &queries, addresses, ret);
    return 0;
}

void ali_eni_forget(struct ali_client *ali, const char *address)
{
    struct ccm_ip ip;

    if (ccm_ip_parse(address, &ip) == 0) {
        ali_eni_cache_del(ali->eni, &ip);
    }
}
