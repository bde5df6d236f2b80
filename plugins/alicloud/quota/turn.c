#include "alicloud/quota/turn.h"

#include "util/attr.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPARE_PART       60 /* of a window: clocks that differ, counters that count in seconds */
#define SPARE_LEAST_MS   50
#define CAREFUL_CALLS    2 /* under way at once */
#define CAREFUL_LEAST_MS 20
#define TOOK_PART        4 /* of a call's time in the mean of all */
#define AGED_WINDOWS     2 /* so long something that failed again and again waits behind others */
#define SWEEP_LEAST      64
#define NAMESPACE_MAX    256 /* of a namespace: 63 bytes in Kubernetes */

/* What a tenant has apart for new objects and for all others. */
struct part {
    struct ali_window had; /* calls lately */
    struct ali_window_slot slots[ALI_LATELY_SLOTS];
    int64_t ahead; /* calls that it gets before the next ticket: while poll() counts */
};

/* One namespace. Lives as long as a call of it waits; else until the next tenant_obtain(). */
struct ali_tenant {
    struct part parts[2];
    int64_t last[ALI_PRIORITIES]; /* the latest turn of its tickets, while one waits */
    size_t waiting[ALI_PRIORITIES];
};

/* --- namespaces --- */

static struct part *tenant_part(struct ali_tenant *tenant, enum ali_priority priority)
{
    return &tenant->parts[priority == ALI_PRIO_NEW ? 0 : 1];
}

static bool tenant_is_idle(struct ali_tenant *tenant, int64_t now_ms, int64_t span_ms)
{
    for (int i = 0; i < ALI_PRIORITIES; i++) {
        if (tenant->waiting[i] > 0) {
            return false;
        }
    }
    return ali_window_count(&tenant->parts[0].had, now_ms, span_ms) == 0 &&
           ali_window_count(&tenant->parts[1].had, now_ms, span_ms) == 0;
}

static void turns_sweep_tenants(struct ali_turns *turns, int64_t now_ms)
{
    void *cursor = NULL;
    const char *name = NULL;
    void *value = NULL;

    while (ccm_strmap_next(turns->tenants, &cursor, &name, &value)) {
        if (tenant_is_idle(value, now_ms, ali_turns_span(turns))) {
            ccm_strmap_del(turns->tenants, name);
        }
    }
    turns->sweep_at = 2 * ccm_strmap_len(turns->tenants);
    turns->sweep_at = turns->sweep_at < SWEEP_LEAST ? SWEEP_LEAST : turns->sweep_at;
}

/* The namespace of an object ("namespace/name"); whatever has none is one tenant. NULL on ENOMEM.
 */
static struct ali_tenant *turns_obtain_tenant(struct ali_turns *turns, const char *object,
                                              int64_t now_ms)
{
    const char *end = object == NULL ? NULL : strchr(object, '/');
    char name[NAMESPACE_MAX] = "";
    struct ali_tenant *tenant = NULL;

    if (end != NULL) {
        ccm_text_printf(name, sizeof(name), "%.*s", (int)(end - object), object);
    }
    tenant = ccm_strmap_get(turns->tenants, name);
    if (tenant != NULL) {
        return tenant;
    }
    if (ccm_strmap_len(turns->tenants) >= turns->sweep_at) {
        turns_sweep_tenants(turns, now_ms);
    }
    tenant = calloc(1, sizeof(*tenant));
    if (tenant == NULL || ccm_strmap_set(turns->tenants, name, tenant) < 0) {
        free(tenant);
        return NULL;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(tenant->parts); i++) {
        ali_window_init(&tenant->parts[i].had, tenant->parts[i].slots, ALI_LATELY_SLOTS);
    }
    return tenant;
}

/* --- tickets --- */

struct ali_turns *ali_turns_new(enum ali_product product, const char *action)
{
    struct ali_turns *turns = calloc(1, sizeof(*turns));

    if (turns == NULL || (turns->tenants = ccm_strmap_new(free)) == NULL) {
        free(turns);
        return NULL;
    }
    turns->product = product;
    turns->sweep_at = SWEEP_LEAST;
    ali_window_init(&turns->window, turns->slots, ALI_TURN_SLOTS);
    ali_window_init(&turns->retries, turns->retry_slots, ALI_LATELY_SLOTS);
    ccm_text_copy(turns->action, sizeof(turns->action), action);
    return turns;
}

static void kept_free(struct ali_turns *turns, struct ali_ticket *kept)
{
    turns->kept--;
    free(kept->keeper);
    free(kept);
}

void ali_turns_free(void *arg)
{
    struct ali_turns *turns = arg;

    if (turns == NULL) {
        return;
    }
    while (turns->first != NULL) {
        struct ali_ticket *ticket = turns->first;

        turns->first = ticket->next;
        if (ticket->keeper != NULL) {
            kept_free(turns, ticket);
        }
    }
    ccm_strmap_free(turns->tenants);
    free(turns);
}

int64_t ali_turns_span(const struct ali_turns *turns)
{
    const int64_t spare = turns->rate.window_ms / SPARE_PART;

    return turns->rate.window_ms + (spare < SPARE_LEAST_MS ? SPARE_LEAST_MS : spare);
}

/* At the end of its priority, as far as the turns of namespaces let it. */
static void turns_insert(struct ali_turns *turns, struct ali_ticket *ticket)
{
    const enum ali_priority priority = ticket->priority;
    struct ali_tenant *tenant = ticket->tenant;
    const int64_t last = tenant->waiting[priority]++ == 0 ? 0 : tenant->last[priority];
    const int64_t served = turns->served[priority];
    struct ali_ticket **place = &turns->first;

    ticket->turn = tenant->last[priority] = (last > served ? last : served) + 1;
    while (*place != NULL && ((*place)->priority < priority ||
                              ((*place)->priority == priority && (*place)->turn <= ticket->turn))) {
        place = &(*place)->next;
    }
    ticket->next = *place;
    *place = ticket;
}

static struct ali_ticket **ticket_find(const struct ali_ticket *ticket)
{
    struct ali_ticket **place = &ticket->turns->first;

    while (*place != ticket) {
        place = &(*place)->next;
    }
    return place;
}

/* Take the ticket out that stands there. served: because it is its turn. */
static void turns_remove(struct ali_turns *turns, struct ali_ticket **place, bool served)
{
    struct ali_ticket *ticket = *place;
    const enum ali_priority priority = ticket->priority;
    struct ali_tenant *tenant = ticket->tenant;

    *place = ticket->next;
    ticket->turns = NULL;
    tenant->waiting[priority]--;
    if (served && ticket->turn > turns->served[priority]) {
        turns->served[priority] = ticket->turn;
    }
    if (!served && ticket->turn == tenant->last[priority]) {
        tenant->last[priority]--;
    }
}

void ali_ticket_leave(struct ali_ticket *ticket)
{
    if (ticket->turns != NULL) {
        turns_remove(ticket->turns, ticket_find(ticket), false);
    }
}

/* --- places that are kept --- */

/* Whether it is kept for the object, by another request of the caller. */
static bool kept_is_earlier(const struct ali_ticket *ticket, const char *object,
                            const struct ali_request *request)
{
    return ticket->keeper != NULL && ticket->request.by == request->by &&
           ticket->request.number != request->number && strcmp(ticket->keeper, object) == 0;
}

/* Give up the kept places whose time is over; with an object, those of earlier requests for it. */
static void turns_drop_kept(struct ali_turns *turns, int64_t now_ms, const char *object,
                            const struct ali_request *request)
{
    struct ali_ticket **place = &turns->first;

    while (turns->kept > 0 && *place != NULL) {
        struct ali_ticket *ticket = *place;
        const bool old = ticket->keeper != NULL && ticket->until_ms <= now_ms;

        if (object == NULL ? old : kept_is_earlier(ticket, object, request)) {
            turns_remove(turns, place, false);
            kept_free(turns, ticket);
        } else {
            place = &ticket->next;
        }
    }
}

void ali_turns_forget(struct ali_turns *turns, const char *object,
                      const struct ali_request *request)
{
    turns_drop_kept(turns, 0, object, request);
}

/* Stand in the place that is kept for the object. false: none is, or it is no better. */
static bool turns_take_kept(struct ali_turns *turns, const struct ali_call *call,
                            struct ali_ticket *ticket)
{
    struct ali_ticket **place = &turns->first;

    if (call->object == NULL || turns->kept == 0) {
        return false;
    }
    while (*place != NULL && !kept_is_earlier(*place, call->object, &ticket->request)) {
        place = &(*place)->next;
    }

    struct ali_ticket *kept = *place;

    if (kept == NULL || kept->priority > call->priority) {
        return false;
    }
    ticket->priority = kept->priority;
    ticket->retry = kept->retry;
    ticket->turn = kept->turn;
    ticket->since_ms = kept->since_ms;
    ticket->next = kept->next;
    *place = ticket;
    kept_free(turns, kept);
    return true;
}

void ali_ticket_keep(struct ali_ticket *ticket, const char *object, int64_t until_ms)
{
    struct ali_turns *turns = ticket->turns;
    struct ali_ticket *kept = calloc(1, sizeof(*kept));
    char *keeper = strdup(object);

    if (kept == NULL || keeper == NULL || turns->kept >= ALI_TURN_KEPT_MAX) {
        free(kept);
        free(keeper);
        ali_ticket_leave(ticket);
        return;
    }
    *kept = *ticket;
    kept->keeper = keeper;
    kept->until_ms = until_ms;
    *ticket_find(ticket) = kept;
    ticket->turns = NULL;
    turns->kept++;
}

int ali_turns_enter(struct ali_turns *turns, const struct ali_call *call,
                    const struct ali_request *request, int64_t now_ms, struct ali_ticket *ticket)
{
    turns_drop_kept(turns, now_ms, NULL, NULL);
    *ticket = (struct ali_ticket){
        .turns = turns,
        .tenant = turns_obtain_tenant(turns, call->object, now_ms),
        .priority = call->priority,
        .retry = call->priority == ALI_PRIO_RETRY,
        .since_ms = now_ms,
        .request = *request,
    };
    if (ticket->tenant == NULL) {
        ticket->turns = NULL;
        return -ENOMEM;
    }
    if (!turns_take_kept(turns, call, ticket)) {
        turns_insert(turns, ticket);
    }
    return 0;
}

/* --- which tickets get the calls that are free --- */

/* When the n-th call of the window (from 1 on, oldest first) does not count any more; one that runs
 * is taken to end now. */
static int64_t turns_free_ms(struct ali_turns *turns, int64_t number, int64_t now_ms)
{
    const int64_t span = ali_turns_span(turns);

    return number > turns->window.calls ? now_ms + span
                                        : ali_window_when_free(&turns->window, number, span);
}

/* How long until so many calls (from 1 on) have made place where `limit` may be. Beyond those of
 * the window it is the turn of those that wait and get the places before, again and again. */
static int64_t turns_wait_ms(struct ali_turns *turns, int64_t count, int64_t limit, int64_t now_ms)
{
    const int64_t used = turns->window.calls + turns->running;
    const int64_t later = count - used - 1;
    const int64_t number = later % limit + used - limit + 1; /* whose place; below 1: a free one */
    int64_t at;

    if (later < 0) {
        at = turns_free_ms(turns, count, now_ms);
    } else {
        at = (number < 1 ? now_ms : turns_free_ms(turns, number, now_ms)) +
             (1 + later / limit) * ali_turns_span(turns);
    }
    return at <= now_ms ? 1 : at - now_ms;
}

/* How the calls that may be made now are spread over those that wait, from the first of them on. */
struct spread {
    int64_t allowed;
    int64_t limits[ALI_PRIORITIES][2]; /* calls in the window; beyond the first ones, first ones */
    int64_t used;                      /* with those that get one now */
    int64_t blocked[2];                /* tickets that get none */
    int64_t present;                   /* tickets that get one, and whose caller waits */
    int64_t retries;                   /* calls of their kind lately, and now */
};

static struct spread spread_begin(struct ali_turns *turns, int64_t now_ms)
{
    const int64_t allowed = turns->share.allowed;
    const int64_t span = ali_turns_span(turns);
    struct spread spread = {
        .allowed = allowed,
        .used = ali_window_count(&turns->window, now_ms, span) + turns->running,
        .retries = ali_window_count(&turns->retries, now_ms, span),
    };

    for (int priority = 0; priority < ALI_PRIORITIES; priority++) {
        const enum ali_priority counts = priority == ALI_PRIO_RETRY && turns->heals
                                             ? ALI_PRIO_AUDIT
                                             : (enum ali_priority)priority;

        for (int first = 0; first < 2; first++) {
            spread.limits[priority][first] =
                allowed - ali_quota_kept(turns->action, counts, first != 0, allowed);
        }
    }
    for (const struct ali_ticket *one = turns->first; one != NULL; one = one->next) {
        one->tenant->parts[0].ahead = one->tenant->parts[1].ahead = 0;
    }
    return spread;
}

/* What the next ticket gets. */
struct claim {
    bool first;    /* of its namespace */
    bool held;     /* its kind has had its tenth */
    bool gets;     /* a call now */
    int64_t limit; /* of the calls in the window */
};

static struct claim spread_step(struct spread *spread, struct ali_turns *turns,
                                const struct ali_ticket *ticket, int64_t now_ms)
{
    struct part *part = tenant_part(ticket->tenant, ticket->priority);
    const bool aged = ticket->retry && ticket->priority != ALI_PRIO_RETRY && !turns->heals;
    struct claim claim = {
        .first = ali_window_count(&part->had, now_ms, ali_turns_span(turns)) + part->ahead <
                 ali_quota_firsts(spread->allowed),
        .held = aged && spread->retries >= ali_quota_retries(spread->allowed),
    };

    claim.limit = spread->limits[ticket->priority][claim.first];
    claim.gets = !claim.held && spread->used < claim.limit;
    if (claim.gets) {
        part->ahead++;
        spread->used++;
        spread->present += ticket->keeper == NULL ? 1 : 0;
        spread->retries += ticket->retry ? 1 : 0;
    } else if (!claim.held) {
        spread->blocked[claim.first]++;
    }
    return claim;
}

/* How long until one of those that are under way ends for it. */
static int64_t turns_careful_ms(const struct ali_turns *turns, int64_t over)
{
    const int64_t took = turns->took_ms < CAREFUL_LEAST_MS ? CAREFUL_LEAST_MS : turns->took_ms;

    return took * (1 + over / CAREFUL_CALLS);
}

/* How long until so many calls of what failed again and again do not count any more. Beyond those
 * that were made they are made now. */
static int64_t turns_retry_ms(const struct ali_turns *turns, int64_t count, int64_t now_ms)
{
    const int64_t span = ali_turns_span(turns);
    const int64_t wait = ali_window_when_free(&turns->retries, count, span) - now_ms;

    return count > turns->retries.calls ? span : wait < 1 ? 1 : wait;
}

static int64_t ticket_wait_ms(struct ali_turns *turns, const struct ali_ticket *ticket,
                              bool careful, int64_t now_ms)
{
    ali_quota_share_rise(&turns->share, now_ms, turns->rate.window_ms);

    struct spread spread = spread_begin(turns, now_ms);

    for (const struct ali_ticket *one = turns->first; one != ticket; one = one->next) {
        (void)spread_step(&spread, turns, one, now_ms); /* the sums are what counts */
    }

    const int64_t over = turns->running + spread.present - CAREFUL_CALLS;
    const struct claim claim = spread_step(&spread, turns, ticket, now_ms);
    const bool probe = ticket->priority == ALI_PRIO_REMOVE && over < 0;
    const int64_t held = ali_quota_share_held_ms(&turns->share, now_ms, probe);
    int64_t wait = 0;

    if (claim.held) {
        wait =
            turns_retry_ms(turns, spread.retries - ali_quota_retries(spread.allowed) + 1, now_ms);
    } else if (!claim.gets) { /* those that may go further stand before others */
        const int64_t behind = spread.blocked[1] + (claim.first ? 0 : spread.blocked[0]);

        wait = turns_wait_ms(turns, spread.used + behind - claim.limit, claim.limit, now_ms);
    } else if (careful && over >= 0) {
        wait = turns_careful_ms(turns, over);
    }
    return held > wait ? held : wait;
}

int64_t ali_ticket_age_ms(const struct ali_ticket *ticket, int64_t now_ms)
{
    return ticket->priority == ALI_PRIO_RETRY
               ? ticket->since_ms + AGED_WINDOWS * ticket->turns->rate.window_ms - now_ms
               : 0;
}

/* What has waited behind all others for long enough does not any more. */
static void turns_age_ticket(struct ali_turns *turns, struct ali_ticket *ticket, int64_t now_ms)
{
    if (ticket->priority == ALI_PRIO_RETRY && ali_ticket_age_ms(ticket, now_ms) <= 0) {
        turns_remove(turns, ticket_find(ticket), false);
        ticket->turns = turns;
        ticket->priority = ali_quota_aged(turns->action);
        turns_insert(turns, ticket);
    }
}

int64_t ali_turns_poll(struct ali_turns *turns, struct ali_ticket *ticket, bool careful,
                       int64_t now_ms)
{
    const int64_t span = ali_turns_span(turns);

    turns_drop_kept(turns, now_ms, NULL, NULL);
    turns_age_ticket(turns, ticket, now_ms);

    const int64_t wait = ticket_wait_ms(turns, ticket, careful, now_ms);

    if (wait == 0) {
        ali_window_add(&tenant_part(ticket->tenant, ticket->priority)->had, now_ms, span);
        if (ticket->retry) {
            ali_window_add(&turns->retries, now_ms, span);
        }
        ali_quota_share_send(&turns->share, now_ms);
        turns->running++;
        turns_remove(turns, ticket_find(ticket), true);
    }
    return wait;
}

void ali_turns_end(struct ali_turns *turns, int64_t began_ms, int64_t now_ms)
{
    turns->running--;
    ali_window_add(&turns->window, now_ms, ali_turns_span(turns));
    turns->took_ms += (now_ms - began_ms - turns->took_ms) / TOOK_PART;
}
