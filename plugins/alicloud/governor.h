/*
 * Rate governor: one token bucket per product and action, waiters served by priority and in order
 * of arrival within one. A bucket of Q calls per 60 s lets Q/3 through at once and the rest evenly,
 * so that no window of 60 s ever sees more than Q. A throttled answer halves the rate of its bucket
 * (down to 1/16) and empties it; every quiet half minute doubles it again. Whether and when the
 * throttled call itself is tried again: client.c:next_try().
 *
 * The ticket functions read no clock and never block: time is an argument (monotonic ms). Every
 * thread.
 */
#ifndef CCM_ALICLOUD_GOVERNOR_H
#define CCM_ALICLOUD_GOVERNOR_H

#include "alicloud/client.h"

struct ali_governor;

struct ali_governor_quota {
    int64_t write; /* calls per 60 s of each changing action */
    int64_t read;  /* the same for Describe..., List..., Get... */
};

/* Indexed by enum ali_product; values below 1 mean the built-in default. NULL on ENOMEM. */
struct ali_governor *ali_governor_new(const struct ali_governor_quota *quotas, size_t count);
void ali_governor_free(struct ali_governor *governor);

/* Calls per 60 s that the action gets by default, for quotas as passed to ali_governor_new(). */
int64_t ali_governor_budget(const struct ali_governor *governor, enum ali_product product,
                            const char *action);

/* Take over the options alicloud.quotas.* of the product if they are others now; waiters have the
 * new rate from their next poll on. */
void ali_governor_follow(struct ali_governor *governor, const struct ccm_host *host,
                         enum ali_product product);

/* A place in the queue of a bucket; lives on the caller's stack between enter and leave. */
struct ali_governor_ticket {
    struct ali_governor_ticket *next;
    void *bucket;
    enum ali_priority priority;
};

/* Queue up. 0 or -ENOMEM. */
CCM_NODISCARD int ali_governor_enter(struct ali_governor *governor, enum ali_product product,
                                     const char *action, enum ali_priority priority, int64_t now_ms,
                                     struct ali_governor_ticket *ticket);

/* 0: the call may be made, the ticket has left the queue. Otherwise ms after which to ask again; no
 * turn comes earlier, unless somebody before us leaves. */
int64_t ali_governor_poll(struct ali_governor *governor, struct ali_governor_ticket *ticket,
                          int64_t now_ms);

/* Give up the place; nothing happens after a poll that answered 0. */
void ali_governor_leave(struct ali_governor *governor, struct ali_governor_ticket *ticket);

/* The cloud throttled this action. hint_ms: its wish when to come back, 0 = none. */
void ali_governor_throttled(struct ali_governor *governor, enum ali_product product,
                            const char *action, int64_t now_ms, int64_t hint_ms);

/*
 * Wait for a turn through host->wait(), following the quotas as the host tells them. deadline_ms is
 * monotonic. 0; -EAGAIN (CCM_ERROR_THROTTLED with retry_after_ms) at once when the turn cannot come
 * before the deadline; -ECANCELED.
 */
CCM_NODISCARD int ali_governor_acquire(struct ali_governor *governor, const struct ccm_host *host,
                                       const struct ccm_request *req, int64_t deadline_ms,
                                       const struct ali_call *call, struct ccm_error *err);

#endif
