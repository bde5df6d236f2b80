#include "quota.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#define BUCKETS_MAX ((size_t)100000)

struct rate {
    const char *pattern;
    int64_t count; /* 0 = no limit */
    int64_t period_ms;
};

static const struct rate unlimited = { 0 };

/* Of a file, in its order; the patterns are copies. */
struct rates {
    struct rate *items;
    size_t len;
    size_t cap;
};

struct bucket {
    int64_t start_ms;
    int64_t used;
};

struct ccm_cloud_quota {
    double scale;
    bool hints;
    struct rates own;
    struct rates api;
    struct rates account;
    struct rates concurrent;    /* without period */
    struct ccm_strmap *buckets; /* "ACCOUNT/slb.CreateVServerGroup" -> struct bucket */
    struct ccm_strmap *running; /* the same -> struct bucket, `used` = under way */
};

/* Published rates come first; for the rest of each product the lowest rate that is known of its
 * kind is assumed. */
static const struct rate published[] = {
    { "slb.SetLoadBalancerModificationProtection", 400, 60000 },
    { "slb.SetDomainExtensionAttribute", 400, 60000 },
    { "slb.Describe*", 3000, 60000 },
    { "slb.List*", 3000, 60000 },
    { "slb.*", 90, 60000 },
    { "nlb.UpdateLoadBalancerProtection", 300, 60000 },
    { "nlb.GetListenerHealthStatus", 10, 1000 },
    { "nlb.List*", 20, 1000 },
    { "nlb.Get*", 20, 1000 },
    { "nlb.Describe*", 20, 1000 },
    { "nlb.*", 200, 60000 },
    { "vpc.*", 300, 60000 },
    { "ecs.*", 300, 60000 },
    { "eflo.*", 300, 60000 },
    { "cas.Describe*", 300, 60000 },
    { "cas.*", 60, 60000 },
    { "sts.*", 100, 1000 },
    { "*", 100, 1000 },
};

struct ccm_cloud_quota *ccm_cloud_quota_new(void)
{
    struct ccm_cloud_quota *quota = calloc(1, sizeof(*quota));

    if (quota == NULL) {
        return NULL;
    }
    quota->scale = 1;
    quota->hints = true;
    quota->buckets = ccm_strmap_new(free);
    quota->running = ccm_strmap_new(free);
    if (quota->buckets == NULL || quota->running == NULL) {
        ccm_cloud_quota_free(quota);
        return NULL;
    }
    return quota;
}

static void rates_fini(struct rates *rates)
{
    for (size_t i = 0; i < rates->len; i++) {
        union {
            const char *from;
            void *to;
        } pattern = { .from = rates->items[i].pattern };

        free(pattern.to);
    }
    free(rates->items);
}

void ccm_cloud_quota_free(struct ccm_cloud_quota *quota)
{
    if (quota == NULL) {
        return;
    }
    rates_fini(&quota->own);
    rates_fini(&quota->api);
    rates_fini(&quota->account);
    rates_fini(&quota->concurrent);
    ccm_strmap_free(quota->buckets);
    ccm_strmap_free(quota->running);
    free(quota);
}

/* ---- files ---- */

static int rate_load(struct rates *rates, const cJSON *item, struct ccm_buf *why)
{
    int64_t count =
        cJSON_IsNumber(item) ? (int64_t)item->valuedouble : ccm_json_i64(item, "count", -1);
    int64_t period = ccm_json_i64(item, "period_s", 60);

    if (count < 0 || period < 1 || period > 86400) {
        ccm_buf_addf(why, "rate '%s': count or period_s is missing or bad", item->string);
        return -EINVAL;
    }

    char *pattern = strdup(item->string);

    if (pattern == NULL ||
        ccm_array_grow(&rates->items, &rates->cap, rates->len + 1, sizeof(*rates->items)) < 0) {
        free(pattern);
        return -ENOMEM;
    }
    rates->items[rates->len++] =
        (struct rate){ .pattern = pattern, .count = count, .period_ms = period * 1000 };
    return 0;
}

static int member_load(struct ccm_cloud_quota *quota, const cJSON *item, struct ccm_buf *why)
{
    const struct {
        const char *name;
        struct rates *rates;
    } lists[] = {
        { "rates", &quota->own },
        { "api", &quota->api },
        { "account", &quota->account },
        { "concurrent", &quota->concurrent },
    };

    if (ccm_text_equal(item->string, "scale") && cJSON_IsNumber(item) && item->valuedouble > 0) {
        quota->scale = item->valuedouble;
        return 0;
    }
    if (ccm_text_equal(item->string, "hints") && cJSON_IsBool(item)) {
        quota->hints = cJSON_IsTrue(item);
        return 0;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(lists); i++) {
        if (ccm_text_equal(item->string, lists[i].name) && cJSON_IsObject(item)) {
            int r = 0;

            for (const cJSON *rate = item->child; rate != NULL && r == 0; rate = rate->next) {
                r = rate_load(lists[i].rates, rate, why);
            }
            return r;
        }
    }
    ccm_buf_addf(why, "quota member '%s' is not known or has a bad value", item->string);
    return -EINVAL;
}

int ccm_cloud_quota_load(struct ccm_cloud_quota *quota, const cJSON *json, struct ccm_buf *why)
{
    int r = 0;

    if (!cJSON_IsObject(json)) {
        ccm_buf_adds(why, "the quota file must be an object");
        return -EINVAL;
    }
    for (const cJSON *item = json->child; item != NULL && r == 0; item = item->next) {
        r = member_load(quota, item, why);
    }
    return r;
}

/* ---- counting ---- */

static const struct rate *rate_find(const struct rate *rates, size_t len, const char *name)
{
    for (size_t i = 0; i < len; i++) {
        if (fnmatch(rates[i].pattern, name, 0) == 0) {
            return &rates[i];
        }
    }
    return NULL;
}

static struct rate listed(const struct rates *rates, const char *name)
{
    const struct rate *rate = rate_find(rates->items, rates->len, name);

    return rate == NULL ? unlimited : *rate;
}

static struct rate own_rate(const struct ccm_cloud_quota *quota, const char *name)
{
    const struct rate *own = rate_find(quota->own.items, quota->own.len, name);

    if (own != NULL) {
        return *own;
    }

    const struct rate *given = rate_find(published, CCM_ARRAY_LEN(published), name);
    struct rate rate = given == NULL ? unlimited : *given;

    rate.count = (int64_t)((double)rate.count * quota->scale);
    rate.count = rate.count < 1 ? 1 : rate.count;
    return rate;
}

/* NULL when memory ran out. */
static struct bucket *bucket_of(struct ccm_strmap *map, const char *key)
{
    struct bucket *bucket = ccm_strmap_get(map, key);

    if (bucket != NULL) {
        return bucket;
    }
    if (ccm_strmap_len(map) >= BUCKETS_MAX) {
        return NULL;
    }
    bucket = calloc(1, sizeof(*bucket));
    if (bucket == NULL || ccm_strmap_set(map, key, bucket) < 0) {
        free(bucket);
        return NULL;
    }
    return bucket;
}

/* The bucket of a rate, at the start of a window if the last one is over; NULL: no limit. */
static struct bucket *window(struct ccm_cloud_quota *quota, const struct rate *rate,
                             const char *key, int64_t now_ms)
{
    struct bucket *bucket = rate->count == 0 ? NULL : bucket_of(quota->buckets, key);

    if (bucket != NULL && (bucket->used == 0 || now_ms - bucket->start_ms >= rate->period_ms)) {
        *bucket = (struct bucket){ .start_ms = now_ms };
    }
    return bucket;
}

bool ccm_cloud_quota_take(struct ccm_cloud_quota *quota, const char *account, const char *product,
                          const char *action, int64_t now_ms, struct ccm_cloud_throttle *ret)
{
    CCM_CLEANUP(ccm_freep) char *name = ccm_text_format("%s.%s", product, action);
    CCM_CLEANUP(ccm_freep) char *own = ccm_text_format("%s/%s.%s", account, product, action);
    CCM_CLEANUP(ccm_freep) char *all = ccm_text_format("*/%s.%s", product, action);
    CCM_CLEANUP(ccm_freep) char *whole = ccm_text_format("%s/%s", account, product);

    if (name == NULL || own == NULL || all == NULL || whole == NULL) {
        return true;
    }

    const struct {
        struct rate rate;
        const char *key;
        const char *code;
        const char *message;
    } checks[] = {
        { own_rate(quota, name), own, "Throttling.User",
          ccm_text_equal(product, "nlb") ? "Request was denied due to api flow control."
                                         : "Request was denied due to user flow control." },
        { listed(&quota->api, name), all, "Throttling.Api",
          "Request was denied due to api flow control." },
        { listed(&quota->account, product), whole, "Throttling",
          "Request was denied due to request throttling." },
    };
    struct bucket *buckets[CCM_ARRAY_LEN(checks)];

    /* A call that is refused does not count. */
    for (size_t i = 0; i < CCM_ARRAY_LEN(checks); i++) {
        const struct rate *rate = &checks[i].rate;

        buckets[i] = window(quota, rate, checks[i].key, now_ms);
        if (buckets[i] != NULL && buckets[i]->used >= rate->count) {
            *ret = (struct ccm_cloud_throttle){
                .code = checks[i].code,
                .message = checks[i].message,
                .count = quota->hints ? rate->count : 0,
                .period_ms = rate->period_ms,
                .left_ms = buckets[i]->start_ms + rate->period_ms - now_ms,
            };
            return false;
        }
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(checks); i++) {
        if (buckets[i] != NULL) {
            buckets[i]->used++;
        }
    }
    return true;
}

/* ---- at the same time ---- */

/* The counter of an API, NULL: it has no limit, or memory ran out. */
static struct bucket *crowd(struct ccm_cloud_quota *quota, const char *account, const char *product,
                            const char *action, int64_t *ret_limit)
{
    CCM_CLEANUP(ccm_freep) char *name = ccm_text_format("%s.%s", product, action);
    CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("%s/%s.%s", account, product, action);

    *ret_limit = name == NULL || key == NULL ? 0 : listed(&quota->concurrent, name).count;
    return *ret_limit == 0 ? NULL : bucket_of(quota->running, key);
}

void ccm_cloud_quota_enter(struct ccm_cloud_quota *quota, const char *account, const char *product,
                           const char *action)
{
    int64_t limit = 0;
    struct bucket *bucket = crowd(quota, account, product, action, &limit);

    if (bucket != NULL) {
        bucket->used++;
    }
}

void ccm_cloud_quota_leave(struct ccm_cloud_quota *quota, const char *account, const char *product,
                           const char *action)
{
    int64_t limit = 0;
    struct bucket *bucket = crowd(quota, account, product, action, &limit);

    if (bucket != NULL && bucket->used > 0) {
        bucket->used--;
    }
}

bool ccm_cloud_quota_crowded(struct ccm_cloud_quota *quota, const char *account,
                             const char *product, const char *action,
                             struct ccm_cloud_throttle *ret)
{
    int64_t limit = 0;
    const struct bucket *bucket = crowd(quota, account, product, action, &limit);

    if (bucket == NULL || bucket->used <= limit) {
        return false;
    }
    *ret = (struct ccm_cloud_throttle){
        .code = "Throttling.ConcurrentLimitExceeded",
        .message = "The number of concurrent requests exceeds the limit.",
    };
    return true;
}
