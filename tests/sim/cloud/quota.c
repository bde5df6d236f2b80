#include "quota.h"

#include "util/cleanup.h"
#include "util/json.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#define BUCKETS_MAX ((size_t)100000)

struct rate {
    int64_t count; /* 0 = no limit */
    int64_t period_ms;
};

struct bucket {
    int64_t start_ms;
    int64_t used;
};

struct ccm_cloud_quota {
    double scale;
    struct ccm_strmap *rates;   /* "slb.CreateVServerGroup" -> struct rate, from a file */
    struct ccm_strmap *buckets; /* "ACCOUNT/slb.CreateVServerGroup" -> struct bucket */
};

/* Shell patterns, the first that fits counts. Published rates come first; for the rest of each
 * product the lowest rate that is known of its kind is assumed. */
static const struct {
    const char *pattern;
    struct rate rate;
} published[] = {
    { "slb.SetLoadBalancerModificationProtection", { 400, 60000 } },
    { "slb.SetDomainExtensionAttribute", { 400, 60000 } },
    { "slb.Describe*", { 3000, 60000 } },
    { "slb.List*", { 3000, 60000 } },
    { "slb.*", { 90, 60000 } },
    { "nlb.UpdateLoadBalancerProtection", { 300, 60000 } },
    { "nlb.GetListenerHealthStatus", { 10, 1000 } },
    { "nlb.List*", { 20, 1000 } },
    { "nlb.Get*", { 20, 1000 } },
    { "nlb.Describe*", { 20, 1000 } },
    { "nlb.*", { 200, 60000 } },
    { "vpc.*", { 300, 60000 } },
    { "ecs.*", { 300, 60000 } },
    { "sts.*", { 100, 1000 } },
    { "*", { 100, 1000 } },
};

struct ccm_cloud_quota *ccm_cloud_quota_new(void)
{
    struct ccm_cloud_quota *quota = calloc(1, sizeof(*quota));

    if (quota == NULL) {
        return NULL;
    }
    quota->scale = 1;
    quota->rates = ccm_strmap_new(free);
    quota->buckets = ccm_strmap_new(free);
    if (quota->rates == NULL || quota->buckets == NULL) {
        ccm_cloud_quota_free(quota);
        return NULL;
    }
    return quota;
}

void ccm_cloud_quota_free(struct ccm_cloud_quota *quota)
{
    if (quota == NULL) {
        return;
    }
    ccm_strmap_free(quota->rates);
    ccm_strmap_free(quota->buckets);
    free(quota);
}

static int rate_load(struct ccm_cloud_quota *quota, const cJSON *item, struct ccm_buf *why)
{
    int64_t count = ccm_json_i64(item, "count", -1);
    int64_t period = ccm_json_i64(item, "period_s", 60);

    if (count < 0 || period < 1 || period > 86400) {
        ccm_buf_addf(why, "rate '%s': count or period_s is missing or bad", item->string);
        return -EINVAL;
    }

    struct rate *rate = malloc(sizeof(*rate));

    if (rate == NULL || ccm_strmap_set(quota->rates, item->string, rate) < 0) {
        free(rate);
        return -ENOMEM;
    }
    *rate = (struct rate){ .count = count, .period_ms = period * 1000 };
    return 0;
}

int ccm_cloud_quota_load(struct ccm_cloud_quota *quota, const cJSON *json, struct ccm_buf *why)
{
    int r = 0;

    if (!cJSON_IsObject(json)) {
        ccm_buf_adds(why, "the quota file must be an object");
        return -EINVAL;
    }
    for (const cJSON *item = json->child; item != NULL && r == 0; item = item->next) {
        if (ccm_text_equal(item->string, "scale") && cJSON_IsNumber(item) &&
            item->valuedouble > 0) {
            quota->scale = item->valuedouble;
        } else if (ccm_text_equal(item->string, "rates") && cJSON_IsObject(item)) {
            for (const cJSON *rate = item->child; rate != NULL && r == 0; rate = rate->next) {
                r = rate_load(quota, rate, why);
            }
        } else {
            ccm_buf_addf(why, "quota member '%s' is not known or has a bad value", item->string);
            r = -EINVAL;
        }
    }
    return r;
}

static struct rate rate_of(const struct ccm_cloud_quota *quota, const char *name)
{
    const struct rate *own = ccm_strmap_get(quota->rates, name);
    struct rate rate = { 0 };

    if (own != NULL) {
        return *own;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(published) && rate.count == 0; i++) {
        if (fnmatch(published[i].pattern, name, 0) == 0) {
            rate = published[i].rate;
        }
    }
    rate.count = (int64_t)((double)rate.count * quota->scale);
    rate.count = rate.count < 1 ? 1 : rate.count;
    return rate;
}

/* NULL when memory ran out. */
static struct bucket *bucket_of(struct ccm_cloud_quota *quota, const char *key)
{
    struct bucket *bucket = ccm_strmap_get(quota->buckets, key);

    if (bucket != NULL) {
        return bucket;
    }
    if (ccm_strmap_len(quota->buckets) >= BUCKETS_MAX) {
        return NULL;
    }
    bucket = calloc(1, sizeof(*bucket));
    if (bucket == NULL || ccm_strmap_set(quota->buckets, key, bucket) < 0) {
        free(bucket);
        return NULL;
    }
    return bucket;
}

bool ccm_cloud_quota_take(struct ccm_cloud_quota *quota, const char *account, const char *product,
                          const char *action, int64_t now_ms)
{
    CCM_CLEANUP(ccm_freep) char *name = ccm_text_format("%s.%s", product, action);
    CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("%s/%s.%s", account, product, action);

    if (name == NULL || key == NULL) {
        return true;
    }

    struct rate rate = rate_of(quota, name);
    struct bucket *bucket = rate.count == 0 ? NULL : bucket_of(quota, key);

    if (bucket == NULL) {
        return true;
    }
    if (bucket->used == 0 || now_ms - bucket->start_ms >= rate.period_ms) {
        *bucket = (struct bucket){ .start_ms = now_ms };
    }
    if (bucket->used >= rate.count) {
        return false;
    }
    bucket->used++;
    return true;
}
