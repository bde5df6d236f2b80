#include "alicloud/governor.h"

#include "alicloud/endpoint.h"
#include "alicloud/measure.h"
#include "alicloud/options.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"
#include "util/thread.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#define WINDOW_MS     60000
#define SLOW_MS       30000 /* quiet time after which a halved rate doubles again */
#define MAX_HOLD_MS   60000
#define MAX_SHIFT     4
#define POLL_SLICE_MS 250 /* a waiter looks again at least this often: those ahead may give up */

/* Tokens count in units of 1/WINDOW_MS call, so that a rate of Q per window adds Q units per ms. */
struct bucket {
    int64_t budget; /* Q */
    int64_t tokens;
    int64_t updated_ms;
    int64_t hold_ms;    /* no turn before this */
    int64_t quiet_ms;   /* when the rate doubles next, while shift > 0 */
    unsigned int shift; /* the rate is halved this often */
    struct ali_governor_ticket *first;
};

struct ali_governor {
    pthread_mutex_t lock; /* guards buckets and tickets; a leaf lock */
    struct ccm_strmap *buckets;
    struct ali_governor_quota quotas[ALI_ENDPOINT_PRODUCTS];
};

static const struct ali_governor_quota defaults[ALI_ENDPOINT_PRODUCTS] = {
    [ALI_SLB] = { .write = 90, .read = 3000 },  [ALI_NLB] = { .write = 200, .read = 1200 },
    [ALI_VPC] = { .write = 300, .read = 300 },  [ALI_ECS] = { .write = 600, .read = 600 },
    [ALI_STS] = { .write = 600, .read = 6000 },
};

/* Actions whose published rate is another; as a factor, so that a configured quota moves them too.
 */
static const struct {
    enum ali_product product;
    const char *action;
    int64_t times;
    int64_t by;
} special[] = {
    { ALI_SLB, "SetLoadBalancerModificationProtection", 40, 9 },
    { ALI_SLB, "SetDomainExtensionAttribute", 40, 9 },
    { ALI_NLB, "UpdateLoadBalancerProtection", 3, 2 },
    { ALI_NLB, "GetListenerHealthStatus", 1, 2 },
};

struct ali_governor *ali_governor_new(const struct ali_governor_quota *quotas, size_t count)
{
    struct ali_governor *governor = calloc(1, sizeof(*governor));

    if (governor == NULL) {
        return NULL;
    }
    governor->buckets = ccm_strmap_new(free);
    if (governor->buckets == NULL || pthread_mutex_init(&governor->lock, NULL) != 0) {
        ccm_strmap_free(governor->buckets);
        free(governor);
        return NULL;
    }
    for (size_t i = 0; i < ALI_ENDPOINT_PRODUCTS; i++) {
        const struct ali_governor_quota *given = i < count ? &quotas[i] : &defaults[i];

        governor->quotas[i].write = given->write > 0 ? given->write : defaults[i].write;
        governor->quotas[i].read = given->read > 0 ? given->read : defaults[i].read;
    }
    return governor;
}

void ali_governor_free(struct ali_governor *governor)
{
    if (governor != NULL) {
        ccm_strmap_free(governor->buckets);
        ccm_lock_fini(&governor->lock);
        free(governor);
    }
}

int64_t ali_governor_budget(const struct ali_governor *governor, enum ali_product product,
                            const char *action)
{
    const struct ali_governor_quota *quota = &governor->quotas[product];
    const bool read = ccm_text_starts(action, "Describe") || ccm_text_starts(action, "List") ||
                      ccm_text_starts(action, "Get");
    int64_t budget = read ? quota->read : quota->write;

    for (size_t i = 0; i < CCM_ARRAY_LEN(special); i++) {
        if (special[i].product == product && strcmp(special[i].action, action) == 0) {
            budget = budget * special[i].times / special[i].by;
        }
    }
    return budget < 1 ? 1 : budget;
}

/* Most tokens the bucket holds; at least one call. */
static int64_t bucket_burst(const struct bucket *bucket)
{
    const int64_t burst = bucket->budget / 3 * WINDOW_MS;

    return burst < WINDOW_MS ? WINDOW_MS : burst;
}

/* Units per ms. What may pass at once comes off the rate, so that no window sees more than Q. */
static int64_t bucket_rate(const struct bucket *bucket)
{
    const int64_t steady = bucket->budget - bucket_burst(bucket) / WINDOW_MS;
    const int64_t rate = (steady < 1 ? 1 : steady) >> bucket->shift;

    return rate < 1 ? 1 : rate;
}

static void bucket_refill(struct bucket *bucket, int64_t now_ms)
{
    while (bucket->shift > 0 && now_ms >= bucket->quiet_ms) {
        bucket->shift--;
        bucket->quiet_ms += SLOW_MS;
    }

    const int64_t burst = bucket_burst(bucket);
    const int64_t elapsed = now_ms - bucket->updated_ms;

    if (elapsed <= 0) {
        return;
    }

    const int64_t rate = bucket_rate(bucket);

    bucket->updated_ms = now_ms;
    /* Written so that a long sleep cannot overflow. */
    if (elapsed >= (burst - bucket->tokens) / rate + 1) {
        bucket->tokens = burst;
    } else {
        bucket->tokens += elapsed * rate;
    }
}

/* Under the lock; NULL on ENOMEM. */
static struct bucket *bucket_get_locked(struct ali_governor *governor, enum ali_product product,
                                        const char *action, int64_t now_ms)
{
    char key[96];

    ccm_text_printf(key, sizeof(key), "%d/%s", (int)product, action);

    struct bucket *bucket = ccm_strmap_get(governor->buckets, key);

    if (bucket != NULL) {
        return bucket;
    }
    bucket = calloc(1, sizeof(*bucket));
    if (bucket == NULL) {
        return NULL;
    }
    bucket->budget = ali_governor_budget(governor, product, action);
    bucket->tokens = bucket_burst(bucket);
    bucket->updated_ms = now_ms;
    bucket->hold_ms = now_ms;
    if (ccm_strmap_set(governor->buckets, key, bucket) < 0) {
        free(bucket);
        return NULL;
    }
    return bucket;
}

int ali_governor_enter(struct ali_governor *governor, enum ali_product product, const char *action,
                       enum ali_priority priority, int64_t now_ms,
                       struct ali_governor_ticket *ticket)
{
    ccm_lock(&governor->lock);

    struct bucket *bucket = bucket_get_locked(governor, product, action, now_ms);

    if (bucket == NULL) {
        ccm_unlock(&governor->lock);
        return -ENOMEM;
    }

    struct ali_governor_ticket **place = &bucket->first;

    while (*place != NULL && (*place)->priority <= priority) {
        place = &(*place)->next;
    }
    *ticket =
        (struct ali_governor_ticket){ .next = *place, .bucket = bucket, .priority = priority };
    *place = ticket;
    ccm_unlock(&governor->lock);
    return 0;
}

/* Number of tickets before this one; unlinks it when asked to. */
static int64_t ticket_place(struct bucket *bucket, struct ali_governor_ticket *ticket, bool unlink)
{
    struct ali_governor_ticket **place = &bucket->first;
    int64_t before = 0;

    while (*place != NULL && *place != ticket) {
        place = &(*place)->next;
        before++;
    }
    if (unlink && *place == ticket) {
        *place = ticket->next;
        ticket->bucket = NULL;
    }
    return before;
}

int64_t ali_governor_poll(struct ali_governor *governor, struct ali_governor_ticket *ticket,
                          int64_t now_ms)
{
    int64_t wait = 0;

    ccm_lock(&governor->lock);

    struct bucket *bucket = ticket->bucket;

    bucket_refill(bucket, now_ms);

    const int64_t before = ticket_place(bucket, ticket, false);
    const int64_t need = (before + 1) * WINDOW_MS;
    const int64_t held = bucket->hold_ms - now_ms;

    if (bucket->tokens < need) {
        const int64_t rate = bucket_rate(bucket);

        wait = (need - bucket->tokens + rate - 1) / rate;
    }
    if (held > 0) {
        wait = held > wait ? held : wait;
    }
    if (wait == 0) {
        (void)ticket_place(bucket, ticket, true); /* its place is known */
        bucket->tokens -= WINDOW_MS;
    }
    ccm_unlock(&governor->lock);
    return wait;
}

void ali_governor_leave(struct ali_governor *governor, struct ali_governor_ticket *ticket)
{
    ccm_lock(&governor->lock);
    if (ticket->bucket != NULL) {
        (void)ticket_place(ticket->bucket, ticket, true); /* its place does not matter any more */
    }
    ccm_unlock(&governor->lock);
}

void ali_governor_throttled(struct ali_governor *governor, enum ali_product product,
                            const char *action, int64_t now_ms, int64_t hint_ms)
{
    ccm_lock(&governor->lock);

    struct bucket *bucket = bucket_get_locked(governor, product, action, now_ms);

    if (bucket != NULL) {
        const int64_t hint = hint_ms > MAX_HOLD_MS ? MAX_HOLD_MS : hint_ms;

        bucket_refill(bucket, now_ms);
        /* Calls that were on their way together are throttled together: that is one event. */
        if (bucket->shift < MAX_SHIFT &&
            (bucket->shift == 0 || now_ms - (bucket->quiet_ms - SLOW_MS) >= 1000)) {
            bucket->shift++;
        }
        bucket->quiet_ms = now_ms + SLOW_MS;
        bucket->tokens = bucket->tokens > 0 ? 0 : bucket->tokens;
        if (bucket->hold_ms < now_ms + hint) {
            bucket->hold_ms = now_ms + hint;
        }
    }
    ccm_unlock(&governor->lock);
}

static void follow_locked(struct ali_governor *governor, enum ali_product product)
{
    const int prefix = (int)product;
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    while (ccm_strmap_next(governor->buckets, &cursor, &key, &value) != 0) {
        const char *slash = strchr(key, '/');

        if (key[0] - '0' == prefix) { /* fewer than ten products */
            ((struct bucket *)value)->budget = ali_governor_budget(governor, product, slash + 1);
        }
    }
}

void ali_governor_follow(struct ali_governor *governor, const struct ccm_host *host,
                         enum ali_product product)
{
    static const struct {
        const struct ccm_option *write;
        const struct ccm_option *read;
    } rows[ALI_ENDPOINT_PRODUCTS] = {
        [ALI_SLB] = { &ali_opt_quota_slb_write, &ali_opt_quota_slb_read },
        [ALI_NLB] = { &ali_opt_quota_nlb_write, &ali_opt_quota_nlb_read },
        [ALI_VPC] = { &ali_opt_quota_vpc, &ali_opt_quota_vpc },
        [ALI_ECS] = { &ali_opt_quota_ecs, &ali_opt_quota_ecs },
    };

    if (rows[product].write == NULL) {
        return;
    }

    const int64_t write =
        host->option_int(host, rows[product].write->group, rows[product].write->name);
    const int64_t read =
        host->option_int(host, rows[product].read->group, rows[product].read->name);
    struct ali_governor_quota *quota = &governor->quotas[product];

    if (write <= 0 || read <= 0) {
        return; /* this plugin lists no quotas */
    }
    ccm_lock(&governor->lock);
    if (quota->write != write || quota->read != read) {
        *quota = (struct ali_governor_quota){ .write = write, .read = read };
        follow_locked(governor, product);
    }
    ccm_unlock(&governor->lock);
}

/* As ali_governor_poll(), with the quotas of this moment. */
static int64_t poll_now(struct ali_governor *governor, const struct ccm_host *host,
                        struct ali_governor_ticket *ticket, enum ali_product product)
{
    ali_governor_follow(governor, host, product);
    return ali_governor_poll(governor, ticket, host->now_ms(host));
}

static int too_long(const struct ali_call *call, int64_t wait_ms, struct ccm_error *err)
{
    (void)ccm_error_set(err, -EAGAIN, CCM_ERROR_THROTTLED,
                        "%s: held back: its budget of calls is used up for the next %" PRId64 " ms",
                        call->action, wait_ms); /* the result is given below */
    err->retry_after_ms = (uint64_t)wait_ms;
    return -EAGAIN;
}

int ali_governor_acquire(struct ali_governor *governor, const struct ccm_host *host,
                         const struct ccm_request *req, int64_t deadline_ms,
                         const struct ali_call *call, struct ccm_error *err)
{
    struct ali_governor_ticket ticket;
    const int64_t started = host->now_ms(host);
    int64_t wait = 0;
    int r =
        ali_governor_enter(governor, call->product, call->action, call->priority, started, &ticket);

    if (r < 0) {
        return ccm_error_nomem(err);
    }
    while ((wait = poll_now(governor, host, &ticket, call->product)) > 0) {
        if (host->now_ms(host) + wait > deadline_ms) {
            r = too_long(call, wait, err);
            break;
        }
        r = host->wait(host, req, (uint64_t)(wait > POLL_SLICE_MS ? POLL_SLICE_MS : wait));
        if (r < 0) {
            r = ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "%s: cancelled", call->action);
            break;
        }
    }
    ali_governor_leave(governor, &ticket);
    if (r != -ECANCELED) {
        ali_measure_wait(host, call, host->now_ms(host) - started, r < 0);
    }
    return r;
}
