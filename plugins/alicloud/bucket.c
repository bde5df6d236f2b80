#include "alicloud/bucket.h"

#include "util/text.h"

#include <stdlib.h>

#define SPARE_PART       60 /* of a window: clocks that differ, counters that count in seconds */
#define SPARE_LEAST_MS   50
#define CAREFUL_CALLS    2 /* under way at once */
#define CAREFUL_LEAST_MS 20
#define TOOK_PART        4 /* of a call's time in the mean of all */
#define AGED_WINDOWS     2 /* so long something that failed again and again waits behind others */

void ali_bucket_free(void *arg)
{
    struct ali_bucket *bucket = arg;

    if (bucket != NULL) {
        ali_line_fini(&bucket->line);
        free(bucket);
    }
}

struct ali_bucket *ali_bucket_new(enum ali_product product, const char *action)
{
    struct ali_bucket *bucket = calloc(1, sizeof(*bucket));

    if (bucket == NULL || ali_line_init(&bucket->line) < 0) {
        ali_bucket_free(bucket);
        return NULL;
    }
    bucket->product = product;
    ccm_text_copy(bucket->action, sizeof(bucket->action), action);
    return bucket;
}

int64_t ali_bucket_span(const struct ali_bucket *bucket)
{
    const int64_t spare = bucket->rate.window_ms / SPARE_PART;

    return bucket->rate.window_ms + (spare < SPARE_LEAST_MS ? SPARE_LEAST_MS : spare);
}

/* When the n-th call of the window (from 1 on, oldest first) does not count any more; one that runs
 * is taken to end now. */
static int64_t bucket_free_ms(struct ali_bucket *bucket, int64_t number, int64_t now_ms)
{
    const int64_t span = ali_bucket_span(bucket);

    return number > bucket->window.ended ? now_ms + span
                                         : ali_window_when_free(&bucket->window, number, span);
}

/* How long until so many calls (from 1 on) have made place where `limit` may be. Beyond those of
 * the window it is the turn of those that wait and get the places before, again and again. */
static int64_t bucket_wait_ms(struct ali_bucket *bucket, int64_t count, int64_t limit,
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
             (1 + later / limit) * ali_bucket_span(bucket);
    }
    return at <= now_ms ? 1 : at - now_ms;
}

/* --- whose turn it is --- */

/* How the calls that may be made now are spread over those that wait, from the first of them on. */
struct spread {
    int64_t allowed;
    int64_t limits[ALI_PRIORITIES][2]; /* calls in the window; beyond the first ones, first ones */
    int64_t used;                      /* with those that get one now */
    int64_t blocked[2];                /* who get none */
    int64_t present;                   /* who get one and are here to make it */
    int64_t retries;                   /* calls of their kind lately, and now */
};

static struct spread spread_begin(struct ali_bucket *bucket, int64_t now_ms)
{
    const int64_t allowed = bucket->share.allowed;
    const int64_t span = ali_bucket_span(bucket);
    struct spread spread = {
        .allowed = allowed,
        .used = ali_window_used(&bucket->window, now_ms, span),
        .retries = ali_lately_count(&bucket->retries, now_ms, span),
    };

    for (int priority = 0; priority < ALI_PRIORITIES; priority++) {
        const enum ali_priority counts = priority == ALI_PRIO_RETRY && bucket->heals
                                             ? ALI_PRIO_AUDIT
                                             : (enum ali_priority)priority;

        for (int first = 0; first < 2; first++) {
            spread.limits[priority][first] =
                allowed - ali_quota_kept(bucket->action, counts, first != 0, allowed);
        }
    }
    ali_tenants_walk(&bucket->line.tenants);
    return spread;
}

/* What the next one in the line gets. */
struct claim {
    bool first;    /* of its namespace */
    bool held;     /* its kind has had its tenth */
    bool gets;     /* a call now */
    int64_t limit; /* of the calls in the window */
};

static struct claim spread_step(struct spread *spread, struct ali_bucket *bucket,
                                const struct ali_ticket *ticket, int64_t now_ms)
{
    const struct ali_lately *had = ali_tenant_had(ticket->tenant, ticket->priority);
    int64_t *ahead = ali_tenant_ahead(&bucket->line.tenants, ticket->tenant, ticket->priority);
    const bool aged = ticket->retry && ticket->priority != ALI_PRIO_RETRY && !bucket->heals;
    struct claim claim = {
        .first = ali_lately_count(had, now_ms, ali_bucket_span(bucket)) + *ahead <
                 ali_quota_firsts(spread->allowed),
        .held = aged && spread->retries >= ali_quota_retries(spread->allowed),
    };

    claim.limit = spread->limits[ticket->priority][claim.first];
    claim.gets = !claim.held && spread->used < claim.limit;
    if (claim.gets) {
        ++*ahead;
        spread->used++;
        spread->present += ticket->keeper == NULL ? 1 : 0;
        spread->retries += ticket->retry ? 1 : 0;
    } else if (!claim.held) {
        spread->blocked[claim.first]++;
    }
    return claim;
}

/* How long until one of those that are under way ends for it. */
static int64_t bucket_careful_ms(const struct ali_bucket *bucket, int64_t over)
{
    const int64_t took = bucket->took_ms < CAREFUL_LEAST_MS ? CAREFUL_LEAST_MS : bucket->took_ms;

    return took * (1 + over / CAREFUL_CALLS);
}

int64_t ali_bucket_poll_ms(struct ali_bucket *bucket, const struct ali_ticket *ticket, bool careful,
                           int64_t now_ms)
{
    ali_share_rise(&bucket->share, now_ms, bucket->rate.window_ms);

    struct spread spread = spread_begin(bucket, now_ms);

    for (const struct ali_ticket *one = bucket->line.first; one != ticket; one = one->next) {
        (void)spread_step(&spread, bucket, one, now_ms); /* the sums are what counts */
    }

    const int64_t over = bucket->window.running + spread.present - CAREFUL_CALLS;
    const struct claim claim = spread_step(&spread, bucket, ticket, now_ms);
    const bool probe = ticket->priority == ALI_PRIO_REMOVE && over < 0;
    const int64_t held = ali_share_held_ms(&bucket->share, now_ms, probe);
    int64_t wait = 0;

    if (claim.held) {
        wait = ali_lately_wait_ms(&bucket->retries, ali_quota_retries(spread.allowed), now_ms,
                                  ali_bucket_span(bucket));
    } else if (!claim.gets) { /* those that may go further stand before others */
        const int64_t behind = spread.blocked[1] + (claim.first ? 0 : spread.blocked[0]);

        wait = bucket_wait_ms(bucket, spread.used + behind - claim.limit, claim.limit, now_ms);
    } else if (careful && over >= 0) {
        wait = bucket_careful_ms(bucket, over);
    }
    return held > wait ? held : wait;
}

/* --- what happens to one --- */

int64_t ali_bucket_age_ms(const struct ali_bucket *bucket, const struct ali_ticket *ticket,
                          int64_t now_ms)
{
    return ticket->priority == ALI_PRIO_RETRY
               ? ticket->since_ms + AGED_WINDOWS * bucket->rate.window_ms - now_ms
               : 0;
}

void ali_bucket_age(struct ali_bucket *bucket, struct ali_ticket *ticket, int64_t now_ms)
{
    if (ticket->priority == ALI_PRIO_RETRY && ali_bucket_age_ms(bucket, ticket, now_ms) <= 0) {
        ali_line_move(&bucket->line, ticket, ali_quota_aged(bucket->action));
    }
}

void ali_bucket_serve(struct ali_bucket *bucket, struct ali_ticket *ticket, int64_t now_ms)
{
    const int64_t span = ali_bucket_span(bucket);

    ali_line_leave(&bucket->line, ticket, true);
    ticket->bucket = NULL;
    ali_lately_add(ali_tenant_had(ticket->tenant, ticket->priority), now_ms, span);
    if (ticket->retry) {
        ali_lately_add(&bucket->retries, now_ms, span);
    }
    ali_share_send(&bucket->share, now_ms);
    ali_window_begin(&bucket->window);
}

void ali_bucket_end(struct ali_bucket *bucket, int64_t took_ms, int64_t now_ms)
{
    ali_window_end(&bucket->window, now_ms, ali_bucket_span(bucket));
    bucket->took_ms += (took_ms - bucket->took_ms) / TOOK_PART;
}
