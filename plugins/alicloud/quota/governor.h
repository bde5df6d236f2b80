/*
 * Rate governor: when each call may be made. Each action of a product has its quota, a sliding
 * window (window.h): never more than Q calls in any of them, all at once when they are there. Calls
 * that have to wait are served by priority, and within one the namespaces take turns (turn.h).
 * The last calls of a window are kept for removals, and for namespaces that have had next to
 * nothing of it (rate.h): however many calls one of them waits for, another one's first calls
 * wait for nothing.
 *
 * What has failed again and again gets a tenth of a window, and only where other calls have not
 * used more. As soon as one of its calls succeeds (the cloud is well again) it is served like any
 * other, until one fails. A call that has waited for two windows that way waits like any other from
 * then on, still for that tenth.
 *
 * A throttled answer stops its action for as long as the cloud says and takes half of its quota
 * away, which comes back slowly (share.h); a removal is sent meanwhile, one at a time and
 * while that works. For half an hour no more than two calls of an action of that product are then
 * under way at once, in the order of their turns. Whether and when the
 * throttled call itself is tried again: client.c:next_try().
 *
 * Turns that are waited for are tickets: those functions read no clock and never block, time is an
 * argument (monotonic ms). Every thread.
 */
#ifndef CCM_ALICLOUD_QUOTA_GOVERNOR_H
#define CCM_ALICLOUD_QUOTA_GOVERNOR_H

#include "alicloud/ctx.h"
#include "alicloud/quota/turn.h"

struct ali_governor;

/* With the published quotas. NULL on ENOMEM. */
struct ali_governor *ali_governor_new(void);
void ali_governor_free(struct ali_governor *governor);

/* Take over the options alicloud.quotas.* as far as they are others now; waiters have the new
 * rates from their next poll on. */
void ali_governor_follow(struct ali_governor *governor, const struct ccm_host *host,
                         enum ali_product product);

/* A call that may be made, and has to be ended. */
struct ali_turn {
    struct ali_turns *turns; /* NULL: has ended */
    int64_t began_ms;
    bool retry; /* of what has failed again and again */
};

/* Queue up, or take a place that was kept for the object of the call, see ali_turns_enter(). 0 or
 * -ENOMEM. */
CCM_NODISCARD int ali_governor_enter(struct ali_governor *governor, const struct ali_call *call,
                                     const struct ali_request *request, int64_t now_ms,
                                     struct ali_ticket *ticket);

/* 0: the call may be made, *ret is set, and the ticket has left the queue. Otherwise ms after which
 * to ask again; as far as is known no turn comes earlier, unless a ticket before it leaves. */
int64_t ali_governor_poll(struct ali_governor *governor, struct ali_ticket *ticket, int64_t now_ms,
                          struct ali_turn *ret);

/* Give up the place; nothing happens after a poll that answered 0. */
void ali_governor_leave(struct ali_governor *governor, struct ali_ticket *ticket);

/*
 * Leave, but keep the place for the next call of the action for this object: it is served as if it
 * had stood there all the time. wait_ms: when to come again; the place is given up when no
 * such call has come a quarter of a window (at least 5 s) after that. Without memory, or with
 * ALI_TURN_KEPT_MAX places kept for an action, the place is lost.
 */
void ali_governor_keep(struct ali_governor *governor, struct ali_ticket *ticket, const char *object,
                       int64_t now_ms, int64_t wait_ms);

/* Give up what is kept for the object by other requests of the caller than this one: they wanted
 * what this one did not ask for any more. */
void ali_governor_forget(struct ali_governor *governor, const char *object,
                         const struct ali_request *request);

/* What became of a turn. */
enum ali_turn_end {
    ALI_TURN_UNUSED, /* nothing was sent: it does not count */
    ALI_TURN_TAKEN,
    ALI_TURN_FAILED, /* as taken; but it came to nothing */
    ALI_TURN_THROTTLED,
};

/* The call is over. hint_ms: when throttled, the wish of the cloud when to come back, 0 = none.
 * Nothing happens with a turn that has ended. */
void ali_governor_end(struct ali_governor *governor, struct ali_turn *turn, enum ali_turn_end end,
                      int64_t now_ms, int64_t hint_ms);

/* One action, for people. */
struct ali_governor_view {
    enum ali_product product;
    const char *action;
    int64_t used;    /* calls that count now */
    int64_t allowed; /* of so many in a window */
    int64_t quota;   /* that the options say */
    int64_t window_ms;
    size_t waiting;  /* calls that wait, and places that are kept */
    int64_t held_ms; /* nothing is sent for so long, because the cloud has throttled it */
};

/* Call fn for each action that was called, under the lock: it may only copy. */
void ali_governor_list(struct ali_governor *governor, int64_t now_ms,
                       void (*fn)(void *arg, const struct ali_governor_view *view), void *arg);

/* Calls per window that the action has now. */
int64_t ali_governor_allowed(struct ali_governor *governor, enum ali_product product,
                             const char *action);

/*
 * Wait for a turn through host->wait(), following the quotas of the options. deadline_ms is
 * monotonic. 0, then *ret has to be ended; -EAGAIN (CCM_ERROR_THROTTLED with retry_after_ms, from a
 * second to five windows of the quotas) at once when the turn cannot come before the deadline, or
 * within the patience of the call: then its place is kept, for the host and the request of ctx;
 * -ECANCELED.
 */
CCM_NODISCARD int ali_governor_acquire(struct ali_governor *governor, const struct ali_ctx *ctx,
                                       const struct ali_call *call, struct ali_turn *ret,
                                       struct ccm_error *err);

/* The request of ctx, as places are kept for it. */
struct ali_request ali_governor_request(const struct ali_ctx *ctx);

#endif
