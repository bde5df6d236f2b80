/*
 * The turns of one action: the calls of its window, the calls that wait for it, and which
 * of these is next. A call that waits has a ticket. Tickets are served by priority, within one the
 * namespaces take turns, one call each, however many calls one of them waits for; a namespace that
 * has waited for nothing has the turn after the one that was served last. New objects of a
 * namespace (ALI_PRIO_NEW) count apart from all else that it does. A place may be kept for a caller
 * that comes again later.
 *
 * Pure: time is an argument (ms of one monotonic clock). The caller brings the lock.
 */
#ifndef CCM_ALICLOUD_QUOTA_TURN_H
#define CCM_ALICLOUD_QUOTA_TURN_H

#include "alicloud/client.h"
#include "alicloud/quota/rate.h"
#include "alicloud/quota/share.h"
#include "alicloud/quota/window.h"

#define ALI_PRIORITIES    (ALI_PRIO_RETRY + 1)
#define ALI_TURN_KEPT_MAX 10000 /* places that are kept for an action */
#define ALI_TURN_SLOTS    64    /* of its window */
#define ALI_LATELY_SLOTS  5     /* of a window that need not be exact */

/* Which request of which caller a call belongs to: places are kept across the requests of one
 * caller. */
struct ali_request {
    const void *by; /* any pointer that tells callers apart that work on the same objects */
    int64_t number; /* any number that tells the requests for an object apart */
};

struct ali_tenant;

/* A place; on the caller's stack between enter and leave. Read only. */
struct ali_ticket {
    struct ali_ticket *next;
    struct ali_turns *turns; /* NULL = it has left */
    struct ali_tenant *tenant;
    enum ali_priority priority;
    bool retry;       /* of ALI_PRIO_RETRY, or it was until it had waited for too long */
    int64_t turn;     /* within its priority: lower ones are served first */
    int64_t since_ms; /* it, or the places that were kept for it, have waited */
    struct ali_request request;
    char *keeper;     /* owned; the object that the place is kept for, NULL = the caller waits */
    int64_t until_ms; /* a place that is kept: it is given up then */
};

struct ali_turns {
    enum ali_product product;
    char action[64];
    struct ali_rate rate;
    struct ali_quota_share share;
    struct ali_window window; /* calls that have ended */
    struct ali_window_slot slots[ALI_TURN_SLOTS];
    int64_t running; /* calls that have begun and not ended */
    struct ali_ticket *first;
    size_t kept; /* places that are kept */
    struct ccm_strmap *tenants;
    size_t sweep_at;                /* so many tenants: those of which nothing is known are freed */
    int64_t served[ALI_PRIORITIES]; /* turn of the ticket that was served last */
    struct ali_window retries;      /* calls of what failed again and again */
    struct ali_window_slot retry_slots[ALI_LATELY_SLOTS];
    int64_t shown;   /* the share as the metric has it */
    int64_t took_ms; /* a call, in the mean */
    bool heals;      /* the last call of what failed again and again succeeded */
};

/* NULL on ENOMEM. */
struct ali_turns *ali_turns_new(enum ali_product product, const char *action);
/* A struct ali_turns, or NULL. Its tickets may not be used any more; kept places are dropped. */
void ali_turns_free(void *turns);
/* How long a call counts: its window, and a little more for what we cannot know. */
int64_t ali_turns_span(const struct ali_turns *turns);

/* Wait. Takes a place that was kept for the object by an earlier request of the same caller, unless
 * it is worse than that of a newcomer. 0 or -ENOMEM. */
CCM_NODISCARD int ali_turns_enter(struct ali_turns *turns, const struct ali_call *call,
                                  const struct ali_request *request, int64_t now_ms,
                                  struct ali_ticket *ticket);
/* Ms until the turn of the ticket. 0 = now: the ticket has left, and its call is one of the window
 * until ali_turns_end(). careful: with no more than two calls under way. */
int64_t ali_turns_poll(struct ali_turns *turns, struct ali_ticket *ticket, bool careful,
                       int64_t now_ms);
/* How long what has failed again and again still waits behind all others; 0 or less: it does not.
 */
int64_t ali_ticket_age_ms(const struct ali_ticket *ticket, int64_t now_ms);
/* Nothing happens when it has left. */
void ali_ticket_leave(struct ali_ticket *ticket);
/* Leave, and keep the place for the next call for this object; without memory, or with
 * ALI_TURN_KEPT_MAX kept places, the place is lost. */
void ali_ticket_keep(struct ali_ticket *ticket, const char *object, int64_t until_ms);
/* Give up what the caller keeps for the object by other requests than this one. */
void ali_turns_forget(struct ali_turns *turns, const char *object,
                      const struct ali_request *request);

/* The call that began at began_ms is over. It arrived at the cloud at some time in between, so it
 * counts from its begin on and until the span is over after its end. */
void ali_turns_end(struct ali_turns *turns, int64_t began_ms, int64_t now_ms);

#endif
