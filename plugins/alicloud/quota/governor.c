#include "alicloud/quota/governor.h"

#include "alicloud/endpoint.h"
#include "alicloud/measure.h"
#include "alicloud/options.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define POLL_SLICE_MS   250  /* a waiter looks again at least this often: those ahead may give up */
#define CAREFUL_WINDOWS 30   /* after a throttled answer */
#define KEPT_PART       4    /* of a window: a place is kept so much longer, */
#define KEPT_LEAST_MS   5000 /* and that at least */
#define LOOK_WINDOWS    5    /* a call that waits is made again after that */
#define LOOK_LEAST_MS   1000

struct ali_governor {
    pthread_mutex_t lock; /* guards all of it; a leaf lock */
    struct ccm_strmap *actions;
    struct ali_quota quotas[ALI_ENDPOINT_PRODUCTS];
    int64_t careful_ms[ALI_ENDPOINT_PRODUCTS]; /* until then */
};

struct ali_governor *ali_governor_new(void)
{
    struct ali_governor *governor = calloc(1, sizeof(*governor));

    if (governor == NULL) {
        return NULL;
    }
    governor->actions = ccm_strmap_new(ali_turns_free);
    if (governor->actions == NULL || pthread_mutex_init(&governor->lock, NULL) != 0) {
        ccm_strmap_free(governor->actions);
        free(governor);
        return NULL;
    }
    for (size_t i = 0; i < ALI_ENDPOINT_PRODUCTS; i++) {
        governor->quotas[i] = ali_quota_default((enum ali_product)i);
        governor->careful_ms[i] = INT64_MIN;
    }
    return governor;
}

void ali_governor_free(struct ali_governor *governor)
{
    if (governor != NULL) {
        ccm_strmap_free(governor->actions);
        ccm_lock_fini(&governor->lock);
        free(governor);
    }
}

/* --- one action --- */

static struct ali_rate turns_rate(const struct ali_governor *governor,
                                  const struct ali_turns *turns)
{
    return ali_quota_rate(&governor->quotas[turns->product], turns->product, turns->action);
}

/* Under the lock; NULL on ENOMEM. */
static struct ali_turns *turns_get_locked(struct ali_governor *governor, enum ali_product product,
                                          const char *action, int64_t now_ms)
{
    char key[96];

    ccm_text_printf(key, sizeof(key), "%d/%s", (int)product, action);

    struct ali_turns *turns = ccm_strmap_get(governor->actions, key);

    if (turns != NULL) {
        return turns;
    }
    turns = ali_turns_new(product, action);
    if (turns == NULL || ccm_strmap_set(governor->actions, key, turns) < 0) {
        ali_turns_free(turns);
        return NULL;
    }
    turns->rate = turns_rate(governor, turns);
    turns->shown = turns->rate.count;
    ali_quota_share_init(&turns->share, turns->rate.count, now_ms, turns->rate.window_ms);
    return turns;
}

/* --- tickets --- */

int ali_governor_enter(struct ali_governor *governor, const struct ali_call *call,
                       const struct ali_request *request, int64_t now_ms, struct ali_ticket *ticket)
{
    int r = -ENOMEM;

    ccm_lock(&governor->lock);

    struct ali_turns *turns = turns_get_locked(governor, call->product, call->action, now_ms);

    if (turns != NULL) {
        r = ali_turns_enter(turns, call, request, now_ms, ticket);
    }
    ccm_unlock(&governor->lock);
    return r;
}

int64_t ali_governor_poll(struct ali_governor *governor, struct ali_ticket *ticket, int64_t now_ms,
                          struct ali_turn *ret)
{
    ccm_lock(&governor->lock);

    struct ali_turns *turns = ticket->turns;
    const bool careful = now_ms < governor->careful_ms[turns->product];
    const int64_t wait = ali_turns_poll(turns, ticket, careful, now_ms);

    if (wait == 0) {
        *ret = (struct ali_turn){ .turns = turns, .began_ms = now_ms, .retry = ticket->retry };
    }
    ccm_unlock(&governor->lock);
    return wait;
}

void ali_governor_leave(struct ali_governor *governor, struct ali_ticket *ticket)
{
    ccm_lock(&governor->lock);
    ali_ticket_leave(ticket);
    ccm_unlock(&governor->lock);
}

void ali_governor_keep(struct ali_governor *governor, struct ali_ticket *ticket, const char *object,
                       int64_t now_ms, int64_t wait_ms)
{
    ccm_lock(&governor->lock);

    const int64_t part = ticket->turns->rate.window_ms / KEPT_PART;
    const int64_t late = part < KEPT_LEAST_MS ? KEPT_LEAST_MS : part;

    ali_ticket_keep(ticket, object, now_ms + wait_ms + late);
    ccm_unlock(&governor->lock);
}

void ali_governor_forget(struct ali_governor *governor, const char *object,
                         const struct ali_request *request)
{
    void *cursor = NULL;
    void *value = NULL;

    ccm_lock(&governor->lock);
    while (ccm_strmap_next(governor->actions, &cursor, NULL, &value) != 0) {
        ali_turns_forget(value, object, request);
    }
    ccm_unlock(&governor->lock);
}

void ali_governor_end(struct ali_governor *governor, struct ali_turn *turn, enum ali_turn_end end,
                      int64_t now_ms, int64_t hint_ms)
{
    struct ali_turns *turns = turn->turns;

    if (turns == NULL) {
        return;
    }
    turn->turns = NULL;
    ccm_lock(&governor->lock);
    if (end == ALI_TURN_UNUSED) {
        turns->running--;
    } else {
        ali_turns_end(turns, turn->began_ms, now_ms);
    }
    if (turn->retry && end != ALI_TURN_UNUSED) {
        turns->heals = end == ALI_TURN_TAKEN;
    }
    if (end == ALI_TURN_TAKEN || end == ALI_TURN_FAILED) {
        ali_quota_share_succeed(&turns->share, turn->began_ms);
    } else if (end == ALI_TURN_THROTTLED) {
        ali_quota_share_fall(&turns->share, turn->began_ms, now_ms, turns->rate.window_ms, hint_ms);
        governor->careful_ms[turns->product] = now_ms + CAREFUL_WINDOWS * ALI_QUOTA_WINDOW_MS;
    }
    ccm_unlock(&governor->lock);
}

void ali_governor_list(struct ali_governor *governor, int64_t now_ms,
                       void (*fn)(void *arg, const struct ali_governor_view *view), void *arg)
{
    void *cursor = NULL;
    void *value = NULL;

    ccm_lock(&governor->lock);
    while (ccm_strmap_next(governor->actions, &cursor, NULL, &value) != 0) {
        struct ali_turns *turns = value;
        struct ali_governor_view view = {
            .product = turns->product,
            .action = turns->action,
            .used =
                turns->running + ali_window_count(&turns->window, now_ms, ali_turns_span(turns)),
            .allowed = turns->share.allowed,
            .quota = turns->rate.count,
            .window_ms = turns->rate.window_ms,
            .held_ms = ali_quota_share_held_ms(&turns->share, now_ms, false),
        };

        for (const struct ali_ticket *one = turns->first; one != NULL; one = one->next) {
            view.waiting++;
        }
        fn(arg, &view);
    }
    ccm_unlock(&governor->lock);
}

int64_t ali_governor_allowed(struct ali_governor *governor, enum ali_product product,
                             const char *action)
{
    ccm_lock(&governor->lock);

    const struct ali_turns *turns = turns_get_locked(governor, product, action, 0);
    const int64_t allowed = turns == NULL ? 0 : turns->share.allowed;

    ccm_unlock(&governor->lock);
    return allowed;
}

/* --- options --- */

static void follow_locked(struct ali_governor *governor)
{
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    while (ccm_strmap_next(governor->actions, &cursor, &key, &value) != 0) {
        struct ali_turns *turns = value;

        turns->rate = turns_rate(governor, turns);
        ali_quota_share_follow(&turns->share, turns->rate.count);
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
    struct ali_quota *quota = &governor->quotas[product];

    if (given.write <= 0 || given.read <= 0) {
        return; /* this plugin lists no quotas */
    }
    ccm_lock(&governor->lock);
    if (quota->write != given.write || quota->read != given.read) {
        *quota = given;
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

/* What it waits for, in words for people. */
static void ticket_explain(struct ali_governor *governor, const struct ali_ticket *ticket,
                           int64_t now_ms, struct ccm_buf *ret)
{
    ccm_lock(&governor->lock);

    const struct ali_turns *turns = ticket->turns;

    if (ticket->priority == ALI_PRIO_RETRY) {
        ccm_buf_adds(ret, "what has failed again and again comes behind everybody else");
    } else if (turns->share.hold_ms > now_ms || turns->share.refusals > 0) {
        ccm_buf_adds(ret, "the cloud throttles this call");
    } else {
        ccm_buf_addf(ret, "%" PRId64 " of these calls are allowed in %" PRId64 " s, all are in use",
                     turns->share.allowed, turns->rate.window_ms / 1000);
    }
    ccm_unlock(&governor->lock);
}

static int call_put_off(const struct ali_call *call, const char *why, int64_t wait_ms,
                        struct ccm_error *err)
{
    char when[200];

    (void)ccm_error_set(err, -EAGAIN, CCM_ERROR_THROTTLED, "%s waits for its turn: %s",
                        call->action, why); /* the result is given below */
    ccm_text_printf(when, sizeof(when),
                    "; that comes in about %" PRId64 " s, by itself. If it lasts, see who else of "
                    "the account makes this call, or have its quota raised",
                    (wait_ms + 999) / 1000);
    ccm_error_add_detail(err, when);
    err->retry_after_ms = (uint64_t)wait_ms;
    return -EAGAIN;
}

/* Show the share of the action when it is another one than was shown last. */
static void turn_measure_share(struct ali_governor *governor, const struct ccm_host *host,
                               const struct ali_call *call, const struct ali_turn *turn)
{
    struct ali_turns *turns = turn->turns;
    int64_t allowed = 0;

    ccm_lock(&governor->lock);
    if (turns->shown != turns->share.allowed) {
        allowed = turns->shown = turns->share.allowed;
    }
    ccm_unlock(&governor->lock);
    if (allowed != 0) {
        ali_measure_share(host, call, allowed);
    }
}

/* When a call that waits so long is to come again. */
static int64_t ticket_again_ms(struct ali_governor *governor, const struct ali_ticket *ticket,
                               int64_t wait_ms, int64_t now_ms)
{
    ccm_lock(&governor->lock);

    const int64_t age = ali_ticket_age_ms(ticket, now_ms);
    const bool ages = age > 0 && age < wait_ms;
    const int64_t most = LOOK_WINDOWS * ALI_QUOTA_WINDOW_MS;

    ccm_unlock(&governor->lock);

    const int64_t again = ages ? age : wait_ms;

    return again < LOOK_LEAST_MS ? LOOK_LEAST_MS : again > most ? most : again;
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
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { .max = 160 };
    int64_t wait = 0;

    while ((wait = poll_now(governor, host, ticket, call->product, ret)) > 0) {
        const int64_t now = host->now_ms(host);

        if (now + wait > until) {
            const int64_t again = ticket_again_ms(governor, ticket, wait, now);

            ticket_explain(governor, ticket, host->now_ms(host), &why);
            if (keeps) {
                ali_governor_keep(governor, ticket, call->object, now, again);
            }
            ali_governor_leave(governor, ticket);
            return call_put_off(call, ccm_buf_str(&why), again, err);
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

struct ali_request ali_governor_request(const struct ali_ctx *ctx)
{
    return (struct ali_request){ .by = ctx->host, .number = ctx->deadline_ms };
}

int ali_governor_acquire(struct ali_governor *governor, const struct ali_ctx *ctx,
                         const struct ali_call *call, struct ali_turn *ret, struct ccm_error *err)
{
    const struct ccm_host *host = ctx->host;
    const int64_t started = host->now_ms(host);
    struct ali_ticket ticket;
    const struct ali_request request = ali_governor_request(ctx);
    int r = ali_governor_enter(governor, call, &request, started, &ticket);

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
