#include "alicloud/line.h"

#include "util/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ali_line_init(struct ali_line *line)
{
    *line = (struct ali_line){ 0 };
    return ali_tenants_init(&line->tenants);
}

static void ticket_free(struct ali_ticket *ticket)
{
    free(ticket->keeper);
    free(ticket);
}

void ali_line_fini(struct ali_line *line)
{
    while (line->first != NULL) {
        struct ali_ticket *ticket = line->first;

        line->first = ticket->next;
        if (ticket->keeper != NULL) {
            ticket_free(ticket);
        }
    }
    ali_tenants_fini(&line->tenants);
}

/* Where it stands. */
static struct ali_ticket **ticket_find(struct ali_line *line, const struct ali_ticket *ticket)
{
    struct ali_ticket **place = &line->first;

    while (*place != ticket) {
        place = &(*place)->next;
    }
    return place;
}

/* By its priority and turn, which are set. */
static void ticket_insert(struct ali_line *line, struct ali_ticket *ticket)
{
    struct ali_ticket **place = &line->first;

    while (*place != NULL &&
           ((*place)->priority < ticket->priority ||
            ((*place)->priority == ticket->priority && (*place)->turn <= ticket->turn))) {
        place = &(*place)->next;
    }
    ticket->next = *place;
    *place = ticket;
}

/* --- places that are kept --- */

/* Takes it out; its tenant may go on waiting in another ticket. */
static void place_drop(struct ali_line *line, struct ali_ticket **place, bool leaves)
{
    struct ali_ticket *ticket = *place;

    *place = ticket->next;
    line->kept--;
    if (leaves) {
        ali_tenants_leave(&line->tenants, ticket->tenant, ticket->priority, ticket->turn, false);
    }
    ticket_free(ticket);
}

void ali_line_drop_old(struct ali_line *line, int64_t now_ms)
{
    struct ali_ticket **place = &line->first;

    while (line->kept > 0 && *place != NULL) {
        if ((*place)->keeper != NULL && (*place)->until_ms <= now_ms) {
            place_drop(line, place, true);
        } else {
            place = &(*place)->next;
        }
    }
}

/* Whether it is kept for the object, by another request of the caller. */
static bool place_is_earlier(const struct ali_ticket *ticket, const char *object,
                             const struct ali_request *request)
{
    return ticket->keeper != NULL && ticket->request.by == request->by &&
           ticket->request.number != request->number && strcmp(ticket->keeper, object) == 0;
}

void ali_line_forget(struct ali_line *line, const char *object, const struct ali_request *request)
{
    struct ali_ticket **place = &line->first;

    while (line->kept > 0 && *place != NULL) {
        if (place_is_earlier(*place, object, request)) {
            place_drop(line, place, true);
        } else {
            place = &(*place)->next;
        }
    }
}

/* The place that is kept for the object; NULL: none is, or it is no better. */
static struct ali_ticket **line_find_kept(struct ali_line *line, const struct ali_call *call,
                                          const struct ali_request *request)
{
    struct ali_ticket **place = &line->first;

    if (call->object == NULL || line->kept == 0) {
        return NULL;
    }
    while (*place != NULL && !place_is_earlier(*place, call->object, request)) {
        place = &(*place)->next;
    }
    return *place == NULL || (*place)->priority > call->priority ? NULL : place;
}

/* --- coming and going --- */

int ali_line_enter(struct ali_line *line, const struct ali_call *call,
                   const struct ali_request *request, int64_t now_ms, int64_t span_ms,
                   struct ali_ticket *ticket)
{
    struct ali_ticket **kept = line_find_kept(line, call, request);

    *ticket = (struct ali_ticket){
        .tenant = ali_tenants_get(&line->tenants, call->object, now_ms, span_ms),
        .priority = call->priority,
        .retry = call->priority == ALI_PRIO_RETRY,
        .since_ms = now_ms,
        .request = *request,
    };
    if (ticket->tenant == NULL) {
        return -ENOMEM;
    }
    if (kept == NULL) {
        ticket->turn = ali_tenants_enter(&line->tenants, ticket->tenant, ticket->priority);
        ticket_insert(line, ticket);
        return 0;
    }
    ticket->priority = (*kept)->priority;
    ticket->retry = (*kept)->retry;
    ticket->turn = (*kept)->turn;
    ticket->since_ms = (*kept)->since_ms;
    place_drop(line, kept, false);
    ticket->next = *kept;
    *kept = ticket;
    return 0;
}

void ali_line_leave(struct ali_line *line, struct ali_ticket *ticket, bool served)
{
    struct ali_ticket **place = ticket_find(line, ticket);

    *place = ticket->next;
    ali_tenants_leave(&line->tenants, ticket->tenant, ticket->priority, ticket->turn, served);
}

void ali_line_move(struct ali_line *line, struct ali_ticket *ticket, enum ali_priority priority)
{
    ali_line_leave(line, ticket, false);
    ticket->priority = priority;
    ticket->turn = ali_tenants_enter(&line->tenants, ticket->tenant, priority);
    ticket_insert(line, ticket);
}

bool ali_line_keep(struct ali_line *line, struct ali_ticket *ticket, const char *object,
                   int64_t until_ms)
{
    struct ali_ticket *kept = calloc(1, sizeof(*kept));
    char *keeper = strdup(object);

    if (kept == NULL || keeper == NULL || line->kept >= ALI_LINE_KEPT_MAX) {
        free(kept);
        free(keeper);
        return false;
    }
    *kept = *ticket;
    kept->keeper = keeper;
    kept->until_ms = until_ms;
    *ticket_find(line, ticket) = kept;
    line->kept++;
    return true;
}
