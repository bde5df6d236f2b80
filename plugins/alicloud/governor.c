#include "alicloud/governor.h"

#include "alicloud/endpoint.h"
#include "alicloud/measure.h"
#include "alicloud/options.h"
#include "alicloud/share.h"
#include "alicloud/window.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"
#include "util/thread.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#define POLL_SLICE_MS   250 /* a waiter looks again at least this often: those ahead may give up */
#define SPARE_PART      60  /* of a window: clocks that differ, counters that count in seconds */
#define SPARE_LEAST_MS  50
#define CAREFUL_WINDOWS 30 /* after a throttled answer */
#define CAREFUL_CALLS   2  /* under way at once */
#define CAREFUL_POLL_MS 20
#define KEPT_MAX        10000  /* places of an action */
#define KEPT_PART       4      /* of a window: how late who has a place may be, */
#define KEPT_LEAST_MS   5000   /* and that at least */
#define RETRY_LOOK_MS   300000 /* a retry asks again: the cloud may be well by then */

/* One action. */
struct bucket {
    enum ali_product product;
    char action[64];
    struct ali_rate rate;
    struct ali_share share;
    struct ali_window window;
    int64_t shown; /* the share as the metric has it */
    struct ali_ticket *first;
    size_t kept; /* of these places */
    bool heals;  /* the last call of ALI_PRIO_RETRY succeeded */
};

struct ali_governor {
    pthread_mutex_t lock; /* guards all of it; a leaf lock */
    struct ccm_strmap *buckets;
    struct ali_quota quotas[ALI_ENDPOINT_PRODUCTS];
    int64_t careful_ms[ALI_ENDPOINT_PRODUCTS]; /* until then */
    int64_t window_ms;                         /* of the quotas */
    bool beyond;                               /* shares may rise above the quotas */
};

static void ticket_free(struct ali_ticket *ticket)
{
    free(ticket->keeper);
    free(ticket);
}

static void bucket_free(void *arg)
{
    struct bucket *bucket = arg;

    if (bucket != NULL) {
        while (bucket->first != NULL) {
            struct ali_ticket *ticket = bucket->first;

            bucket->first = ticket->next;
            if (ticket->keeper != NULL) {
                ticket_free(ticket);
            }
        }
        ali_window_fini(&bucket->window);
        free(bucket);
    }
}

struct ali_governor *ali_governor_new(void)
{
    struct ali_governor *governor = calloc(1, sizeof(*governor));

    if (governor == NULL) {
        return NULL;
    }
    governor->buckets = ccm_strmap_new(bucket_free);
    if (governor->buckets == NULL || pthread_mutex_init(&governor->lock, NULL) != 0) {
        ccm_strmap_free(governor->buckets);
        free(governor);
        return NULL;
    }
    for (size_t i = 0; i < ALI_ENDPOINT_PRODUCTS; i++) {
        governor->quotas[i] = ali_quota_default((enum ali_product)i);
        governor->careful_ms[i] = INT64_MIN;
    }
    governor->window_ms = ALI_QUOTA_WINDOW_MS;
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

/* --- one action --- */

static struct ali_rate bucket_rate(const struct ali_governor *governor, const struct bucket *bucket)
{
    return ali_quota_rate(&governor->quotas[bucket->product], governor->window_ms, bucket->product,
                          bucket->action);
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
    if (bucket == NULL || ali_window_init(&bucket->window) < 0 ||
        ccm_strmap_set(governor->buckets, key, bucket) < 0) {
        bucket_free(bucket);
        return NULL;
    }
    bucket->product = product;
    ccm_text_copy(bucket->action, sizeof(bucket->action), action);
    bucket->rate = bucket_rate(governor, bucket);
    bucket->shown = bucket->rate.count;
    ali_share_init(&bucket->share, bucket->rate.count, now_ms, bucket->rate.window_ms);
    return bucket;
}

/* How long a call counts: its window, and a little more for what we cannot know. */
static int64_t bucket_span(const struct bucket *bucket)
{
    const int64_t spare = bucket->rate.window_ms / SPARE_PART;

    return bucket->rate.window_ms + (spare < SPARE_LEAST_MS ? SPARE_LEAST_MS : spare);
}

/* When the n-th call of the window (from 1 on, oldest first) does not count any more; one that runs
 * is taken to end now. */
static int64_t bucket_free_ms(const struct bucket *bucket, int64_t number, int64_t now_ms)
{
    const int64_t span = bucket_span(bucket);

    return number > bucket->window.ended ? now_ms + span
                                         : ali_window_when_free(&bucket->window, number, span);
}

/* How long until so many calls (from 1 on) have made place where `limit` may be. Beyond those of
 * the window it is the turn of those that wait and get the places before, again and again. */
static int64_t bucket_wait_ms(const struct bucket *bucket, int64_t count, int64_t limit,
                              int64_t now_ms)
{
    const int64_t used = bucket->window.ended + bucket->window.running;
    const int64_t later = count - used - 1;
    const int64_t number = later % limit + used - limit + 1; /* whose place; below 1: a free one */
    int64_t at;

    if (later < 0) {
        at = bucket_free_ms(bucket, count, now_ms);
    } else {
        at = (number < 1 ? now_ms : bucket_free_ms(bucket, number, now_ms)) +
             (1 + later / limit) * bucket_span(bucket);
    }
    return at <= now_ms ? 1 : at - now_ms;
}

/* As ali_governor_poll(), for a ticket that has so many before it. */
static int64_t bucket_poll_ms(struct ali_governor *governor, struct bucket *bucket,
                              enum ali_priority priority, int64_t before, int64_t now_ms)
{
    ali_share_rise(&bucket->share, now_ms, bucket->rate.window_ms, governor->beyond);

    const int64_t allowed = bucket->share.allowed;
    const enum ali_priority counts =
        priority == ALI_PRIO_RETRY && bucket->heals ? ALI_PRIO_AUDIT : priority;
    const int64_t limit = allowed - ali_quota_kept(bucket->action, counts, allowed);
    const int64_t used = ali_window_used(&bucket->window, now_ms, bucket_span(bucket));
    const int64_t over = used + before + 1 - limit;
    const int64_t held = bucket->share.hold_ms - now_ms;
    int64_t wait = 0;

    if (over > 0) {
        wait = bucket_wait_ms(bucket, over, limit, now_ms);
        bucket->share.used_up = bucket->share.used_up || counts != ALI_PRIO_RETRY;
    } else if (now_ms < governor->careful_ms[bucket->product] &&
               bucket->window.running >= CAREFUL_CALLS) {
        wait = CAREFUL_POLL_MS;
    }
    return held > wait ? held : wait;
}

/* --- tickets --- */

/* Where it stands; the place that points to NULL when it is not there. */
static struct ali_ticket **ticket_find(struct bucket *bucket, const struct ali_ticket *ticket,
                                       int64_t *ret_before)
{
    struct ali_ticket **place = &bucket->first;

    *ret_before = 0;
    while (*place != NULL && *place != ticket) {
        place = &(*place)->next;
        ++*ret_before;
    }
    return place;
}

static void ticket_unlink(struct ali_ticket *ticket)
{
    int64_t before = 0;
    struct ali_ticket **place = ticket_find(ticket->bucket, ticket, &before);

    *place = ticket->next;
    ticket->bucket = NULL;
}

/* Takes a place out that was kept. */
static void place_drop(struct bucket *bucket, struct ali_ticket **place)
{
    struct ali_ticket *ticket = *place;

    *place = ticket->next;
    bucket->kept--;
    ticket_free(ticket);
}

static void bucket_drop_old(struct bucket *bucket, int64_t now_ms)
{
    struct ali_ticket **place = &bucket->first;

    while (bucket->kept > 0 && *place != NULL) {
        if ((*place)->keeper != NULL && (*place)->until_ms <= now_ms) {
            place_drop(bucket, place);
        } else {
            place = &(*place)->next;
        }
    }
}

/* The place that is kept for the object; NULL: none is, or it is no better. */
static struct ali_ticket **bucket_find_kept(struct bucket *bucket, const char *object,
                                            enum ali_priority priority, int64_t request)
{
    struct ali_ticket **place = &bucket->first;

    if (object == NULL || bucket->kept == 0) {
        return NULL;
    }
    while (*place != NULL && ((*place)->keeper == NULL || (*place)->request == request ||
                              strcmp((*place)->keeper, object) != 0)) {
        place = &(*place)->next;
    }
    return *place == NULL || (*place)->priority > priority ? NULL : place;
}

static void bucket_enter(struct bucket *bucket, const struct ali_call *call, int64_t request,
                         struct ali_ticket *ticket)
{
    struct ali_ticket **place = bucket_find_kept(bucket, call->object, call->priority, request);

    *ticket =
        (struct ali_ticket){ .bucket = bucket, .priority = call->priority, .request = request };
    if (place != NULL) {
        ticket->priority = (*place)->priority;
        place_drop(bucket, place);
    } else {
        place = &bucket->first;
        while (*place != NULL && (*place)->priority <= call->priority) {
            place = &(*place)->next;
        }
    }
    ticket->next = *place;
    *place = ticket;
}

int ali_governor_enter(struct ali_governor *governor, const struct ali_call *call, int64_t request,
                       int64_t now_ms, struct ali_ticket *ticket)
{
    ccm_lock(&governor->lock);

    struct bucket *bucket = bucket_get_locked(governor, call->product, call->action, now_ms);

    if (bucket != NULL) {
        bucket_drop_old(bucket, now_ms);
        bucket_enter(bucket, call, request, ticket);
    }
    ccm_unlock(&governor->lock);
    return bucket == NULL ? -ENOMEM : 0;
}

int64_t ali_governor_poll(struct ali_governor *governor, struct ali_ticket *ticket, int64_t now_ms,
                          struct ali_turn *ret)
{
    ccm_lock(&governor->lock);

    struct bucket *bucket = ticket->bucket;
    int64_t before = 0;

    bucket_drop_old(bucket, now_ms);
    (void)ticket_find(bucket, ticket, &before); /* it is there */

    const int64_t wait = bucket_poll_ms(governor, bucket, ticket->priority, before, now_ms);

    if (wait == 0) {
        ticket_unlink(ticket);
        ali_window_begin(&bucket->window);
        *ret = (struct ali_turn){
            .bucket = bucket,
            .began_ms = now_ms,
            .priority = ticket->priority,
        };
    }
    ccm_unlock(&governor->lock);
    return wait;
}

void ali_governor_leave(struct ali_governor *governor, struct ali_ticket *ticket)
{
    ccm_lock(&governor->lock);
    if (ticket->bucket != NULL) {
        ticket_unlink(ticket);
    }
    ccm_unlock(&governor->lock);
}

void ali_governor_keep(struct ali_governor *governor, struct ali_ticket *ticket, const char *object,
                       int64_t now_ms, int64_t wait_ms)
{
    struct ali_ticket *kept = calloc(1, sizeof(*kept));
    char *keeper = strdup(object);

    ccm_lock(&governor->lock);

    struct bucket *bucket = ticket->bucket;

    if (kept != NULL && keeper != NULL && bucket->kept < KEPT_MAX) {
        const int64_t late = bucket->rate.window_ms / KEPT_PART;
        int64_t before = 0;
        struct ali_ticket **place = ticket_find(bucket, ticket, &before);

        *kept = *ticket;
        kept->keeper = CCM_STEAL(keeper);
        kept->until_ms = now_ms + wait_ms + (late < KEPT_LEAST_MS ? KEPT_LEAST_MS : late);
        *place = CCM_STEAL(kept);
        ticket->bucket = NULL;
        bucket->kept++;
    } else {
        ticket_unlink(ticket);
    }
    ccm_unlock(&governor->lock);
    free(keeper);
    free(kept);
}

void ali_governor_end(struct ali_governor *governor, struct ali_turn *turn, enum ali_turn_end end,
                      int64_t now_ms, int64_t hint_ms)
{
    struct bucket *bucket = turn->bucket;

    if (bucket == NULL) {
        return;
    }
    turn->bucket = NULL;
    ccm_lock(&governor->lock);
    if (end == ALI_TURN_UNUSED) {
        ali_window_cancel(&bucket->window);
    } else {
        ali_window_end(&bucket->window, now_ms, bucket_span(bucket));
    }
    if (turn->priority == ALI_PRIO_RETRY && end != ALI_TURN_UNUSED) {
        bucket->heals = end == ALI_TURN_TAKEN;
    }
    if (end == ALI_TURN_TAKEN || end == ALI_TURN_FAILED) {
        ali_share_succeed(&bucket->share, turn->began_ms);
    } else if (end == ALI_TURN_THROTTLED) {
        ali_share_fall(&bucket->share, turn->began_ms, now_ms, bucket->rate.window_ms, hint_ms);
        governor->careful_ms[bucket->product] = now_ms + CAREFUL_WINDOWS * governor->window_ms;
    }
    ccm_unlock(&governor->lock);
}

int64_t ali_governor_allowed(struct ali_governor *governor, enum ali_product product,
                             const char *action)
{
    ccm_lock(&governor->lock);

    const struct bucket *bucket = bucket_get_locked(governor, product, action, 0);
    const int64_t allowed = bucket == NULL ? 0 : bucket->share.allowed;

    ccm_unlock(&governor->lock);
    return allowed;
}

/* --- options --- */

static void follow_locked(struct ali_governor *governor)
{
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    while (ccm_strmap_next(governor->buckets, &cursor, &key, &value) != 0) {
        struct bucket *bucket = value;

        bucket->rate = bucket_rate(governor, bucket);
        ali_share_follow(&bucket->share, bucket->rate.count);
    }
}

static int64_t option_value(const struct ccm_host *host, const struct ccm_option *option)
{
    return host->option_int(host, option->group, option->name);
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

    const struct ali_quota given = { .write = option_value(host, rows[product].write),
                                     .read = option_value(host, rows[product].read) };
    const int64_t window_ms = option_value(host, &ali_opt_quota_window) * 1000;
    struct ali_quota *quota = &governor->quotas[product];

    if (given.write <= 0 || given.read <= 0 || window_ms <= 0) {
        return; /* this plugin lists no quotas */
    }
    ccm_lock(&governor->lock);
    governor->beyond = option_value(host, &ali_opt_quota_grow) != 0;
    if (quota->write != given.write || quota->read != given.read ||
        governor->window_ms != window_ms) {
        *quota = given;
        governor->window_ms = window_ms;
        follow_locked(governor);
    }
    ccm_unlock(&governor->lock);
}

/* --- waiting --- */

/* As ali_governor_poll(), with the quotas of this moment. */
static int64_t poll_now(struct ali_governor *governor, const struct ccm_host *host,
                        struct ali_ticket *ticket, enum ali_product product, struct ali_turn *ret)
{
    ali_governor_follow(governor, host, product);
    return ali_governor_poll(governor, ticket, host->now_ms(host), ret);
}

static int call_put_off(const struct ali_call *call, int64_t wait_ms, struct ccm_error *err)
{
    (void)ccm_error_set(err, -EAGAIN, CCM_ERROR_THROTTLED,
                        "%s: held back: its budget of calls is used up for the next %" PRId64 " ms",
                        call->action, wait_ms); /* the result is given below */
    err->retry_after_ms = (uint64_t)wait_ms;
    return -EAGAIN;
}

/* Show the share of the action when it is another one than was shown last. */
static void turn_measure_share(struct ali_governor *governor, const struct ccm_host *host,
                               const struct ali_call *call, const struct ali_turn *turn)
{
    struct bucket *bucket = turn->bucket;
    int64_t allowed = 0;

    ccm_lock(&governor->lock);
    if (bucket->shown != bucket->share.allowed) {
        allowed = bucket->shown = bucket->share.allowed;
    }
    ccm_unlock(&governor->lock);
    if (allowed != 0) {
        ali_measure_share(host, call, allowed);
    }
}

/* 0, or the ticket has left the queue. */
static int ticket_wait(struct ali_governor *governor, const struct ali_ctx *ctx,
                       const struct ali_call *call, struct ali_ticket *ticket, struct ali_turn *ret,
                       struct ccm_error *err)
{
    const struct ccm_host *host = ctx->host;
    const bool keeps = call->patience_ms > 0 && call->object != NULL;
    const int64_t patience = host->now_ms(host) + call->patience_ms;
    const int64_t until = keeps && patience < ctx->deadline_ms ? patience : ctx->deadline_ms;
    int64_t wait = 0;

    while ((wait = poll_now(governor, host, ticket, call->product, ret)) > 0) {
        if (host->now_ms(host) + wait > until) {
            const bool far = ticket->priority == ALI_PRIO_RETRY && wait > RETRY_LOOK_MS;
            const int64_t again = far ? RETRY_LOOK_MS : wait;

            if (keeps) {
                ali_governor_keep(governor, ticket, call->object, host->now_ms(host), again);
            }
            ali_governor_leave(governor, ticket);
            return call_put_off(call, again, err);
        }
        if (host->wait(host, ctx->req, (uint64_t)(wait > POLL_SLICE_MS ? POLL_SLICE_MS : wait)) <
            0) {
            ali_governor_leave(governor, ticket);
            return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "%s: cancelled",
                                 call->action);
        }
    }
    return 0;
}

int ali_governor_acquire(struct ali_governor *governor, const struct ali_ctx *ctx,
                         const struct ali_call *call, struct ali_turn *ret, struct ccm_error *err)
{
    const struct ccm_host *host = ctx->host;
    const int64_t started = host->now_ms(host);
    struct ali_ticket ticket;
    int r = ali_governor_enter(governor, call, ctx->deadline_ms, started, &ticket);

    if (r < 0) {
        return ccm_error_nomem(err);
    }
    r = ticket_wait(governor, ctx, call, &ticket, ret, err);
    if (r == 0) {
        turn_measure_share(governor, host, call, ret);
    }
    if (r != -ECANCELED) {
        ali_measure_wait(host, call, host->now_ms(host) - started, r < 0);
    }
    return r;
}
