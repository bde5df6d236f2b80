/*
 * Who waits for an action: by priority, within one by the turns of their namespaces (tenant.h). A
 * place may be kept for somebody who has gone away and comes again.
 *
 * Pure: time is an argument (ms of one monotonic clock). The caller brings the lock.
 */
#ifndef CCM_ALICLOUD_LINE_H
#define CCM_ALICLOUD_LINE_H

#include "alicloud/tenant.h"

#define ALI_LINE_KEPT_MAX 10000 /* places that are kept in a line */

/* Which request of whom a call belongs to: places are kept across the requests of one caller. */
struct ali_request {
    const void *by; /* any pointer that tells callers apart that work on the same objects */
    int64_t number; /* any number that tells the requests for an object apart */
};

/* A place in a line; on the caller's stack between enter and leave. Read only. */
struct ali_ticket {
    struct ali_ticket *next;
    void *bucket; /* whose line it is, for governor.c; NULL = it has left */
    struct ali_tenant *tenant;
    enum ali_priority priority;
    bool retry; /* of ALI_PRIO_RETRY, or it was until it had waited for too long */
    int64_t turn;
    int64_t since_ms; /* it, or the places that were kept for it, have waited */
    struct ali_request request;
    int64_t until_ms; /* a place that is kept: given up then */
    char *keeper;     /* whom it is kept for; owned. NULL = somebody is here */
};

struct ali_line {
    struct ali_ticket *first;
    size_t kept; /* of these places */
    struct ali_tenants tenants;
};

/* Empty. 0 or -ENOMEM. */
CCM_NODISCARD int ali_line_init(struct ali_line *line);
/* Nobody may be here any more; kept places are dropped. */
void ali_line_fini(struct ali_line *line);

/* Come. Takes a place that was kept for the object by an earlier request of the same caller, unless
 * it is worse than that of a newcomer. 0 or -ENOMEM. */
CCM_NODISCARD int ali_line_enter(struct ali_line *line, const struct ali_call *call,
                                 const struct ali_request *request, int64_t now_ms, int64_t span_ms,
                                 struct ali_ticket *ticket);
/* Go. served: because it is its turn. */
void ali_line_leave(struct ali_line *line, struct ali_ticket *ticket, bool served);
/* Go on waiting as one of another priority. */
void ali_line_move(struct ali_line *line, struct ali_ticket *ticket, enum ali_priority priority);

/* Go, and keep the place for the next call for this object; false: without memory, or with
 * ALI_LINE_KEPT_MAX kept places, and nothing has happened. */
bool ali_line_keep(struct ali_line *line, struct ali_ticket *ticket, const char *object,
                   int64_t until_ms);
/* Give places up: those whose time is over; those that the caller keeps for the object by other
 * requests than this one. */
void ali_line_drop_old(struct ali_line *line, int64_t now_ms);
void ali_line_forget(struct ali_line *line, const char *object, const struct ali_request *request);

#endif
