#include "apply.h"

#include "alicloud/error.h"
#include "api.h"
#include "events.h"
#include "measure.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FULL_MS    600000 /* how long a table that took no more is left alone */
#define SINGLES_MS 600000 /* how long a denied batch action is not tried again */
#define LEAST_MS   10000  /* a call that has less time than this begins nothing more */

/* Steps of one type in one table. */
struct work {
    struct route_run *run;
    struct route_table *table;
    size_t table_index;
    enum route_step_type type;
    struct ccm_error stopped; /* kind not 0: no more calls, this is why */

    /* What the table holds, listed because of destinations that were refused as taken, for one
     * batch; the table itself stays as it is, since steps borrow from it. */
    struct route_table second;
    bool read_again;
    struct ccm_error blind; /* kind not 0: it cannot be listed */
};

static bool work_is_creation(const struct work *work)
{
    return work->type == ROUTE_STEP_CREATE;
}

static struct route_verdict *work_verdict_of(const struct work *work, const struct route_item *item)
{
    const struct route_run *run = work->run;

    return &run->verdicts[route_run_step_key(run, &run->plan.steps[item->step])];
}

/* ---- outcomes ---- */

static void mark_full(struct work *work, const struct ccm_error *err)
{
    struct route_table *table = work->table;
    const struct ccm_host *host = work->run->route->host;

    table->full = true;
    table->full_until_ms = host->now_ms(host) + FULL_MS;
    table->full_len = 0;
    ccm_error_copy(&table->full_why, err);
    ccm_error_copy(&work->stopped, err);
    ccm_error_copy(&work->run->sync, err);
    work->run->sync_table = work->table_index;
}

static void work_read_again(struct work *work)
{
    struct route_run *run = work->run;

    if (work->read_again) {
        return;
    }
    work->read_again = true;
    ccm_error_clear(&work->blind);
    work->second.id = work->table->id;
    if (route_read_again(run->route, run->req, &work->second, &work->blind) < 0 &&
        work->blind.kind == CCM_ERROR_NONE) {
        work->blind.kind = CCM_ERROR_TRANSIENT;
    }
}

static void work_drop_second(struct work *work)
{
    work->second.id = NULL; /* of the table itself */
    route_table_fini(&work->second);
    work->read_again = false;
}

/* Somebody has the destination, but the list did not show it: it is too old, or it will never do.
 */
static void after_taken(struct work *work, const struct route_item *item)
{
    struct route_verdict *verdict = work_verdict_of(work, item);
    const struct route_entry *entry = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    if (work->table->listed_ms < work->run->started_ms) {
        verdict->again = true;
        return;
    }
    work_read_again(work);
    if (ali_error_is_put_off(&work->blind)) {
        route_run_wait(work->run, verdict, &work->blind);
        return;
    }
    if (work->blind.kind != CCM_ERROR_NONE) {
        route_verdict_fail(verdict, &work->blind);
        return;
    }
    if (route_table_find(&work->second, &item->net, NULL, &entry) == 0 && entry != NULL) {
        verdict->again = true;
        return;
    }
    ccm_error_copy(&err, &item->err);
    err.kind = CCM_ERROR_TERMINAL;
    (void)ccm_error_wrap(&err, 0,
                         "the destination is taken by what is no custom entry, such as a "
                         "vSwitch"); /* the fate has it */
    route_verdict_fail(verdict, &err);
}

static void after_create(struct work *work, const struct route_item *item)
{
    struct route_run *run = work->run;
    struct route_verdict *verdict = work_verdict_of(work, item);

    switch (item->outcome) {
    case ROUTE_DONE:
        verdict->made++;
        run->plan.nodes[run->plan.steps[item->step].node].missing--;
        if (route_table_created(work->table, &item->net, item->instance) < 0) {
            work->table->valid = false;
        }
        return;
    case ROUTE_TAKEN:
        after_taken(work, item);
        break;
    case ROUTE_MOVING:
    case ROUTE_UNSURE:
        verdict->look = true;
        break;
    case ROUTE_FULL:
        route_verdict_fail(verdict, &item->err);
        verdict->shared = true;
        mark_full(work, &item->err);
        break;
    case ROUTE_GONE:
    case ROUTE_FAILED:
        route_verdict_fail(verdict, &item->err);
        break;
    }
    work->table->valid = false;
}

static void after_delete(struct work *work, const struct route_item *item)
{
    struct route_run *run = work->run;
    const struct route_step *step = &run->plan.steps[item->step];
    struct route_verdict *verdict = work_verdict_of(work, item);

    if (item->outcome != ROUTE_DONE && item->outcome != ROUTE_GONE) {
        work->table->valid = false;
        if (item->outcome == ROUTE_FAILED) {
            route_verdict_fail(verdict, &item->err);
        } else {
            verdict->look = true;
        }
        return;
    }
    route_table_deleted(work->table, &item->net, item->instance);
    if (step->counts) {
        ccm_removal_record(&work->table->budget, &run->route->rule, 0, 1,
                           run->route->host->now_ms(run->route->host));
    }
    run->has_capacity = run->has_capacity || work->table->full;
    work->table->full = false;
    if (step->past != ROUTE_NOBODY) {
        run->plan.past_left[step->past]--;
    }
    if (step->type == ROUTE_STEP_CLEAR) {
        /* The place is free when the list says so. */
        work->table->valid = false;
        verdict->look = true;
    }
}

static void fail_all(struct work *work, const struct route_item *items, size_t count,
                     const struct ccm_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct route_verdict *verdict = work_verdict_of(work, &items[i]);

        if (ali_error_is_put_off(err)) {
            route_run_wait(work->run, verdict, err);
            continue;
        }
        route_verdict_fail(verdict, err);
        verdict->shared = true;
    }
}

/* ---- calls ---- */

static bool is_denied(const struct ccm_error *err)
{
    return ali_error_find(err->code, err->message, err->http_status)->class_ ==
               ALI_CLASS_PERMISSION ||
           ccm_text_equal(err->code, "InvalidAction.NotFound") ||
           ccm_text_equal(err->code, "InvalidApi.NotFound");
}

/* The failure is not about the items: nothing better is to be expected of the next call. */
static void stop_all(struct work *work, const struct route_item *items, size_t count,
                     const struct ccm_error *err)
{
    ccm_error_copy(&work->stopped, err);
    if (ali_error_is_put_off(err)) {
        route_emit_wait(work->run->route, err);
    } else {
        ccm_error_copy(&work->run->sync, err);
        work->run->sync_table = work->table_index;
        work->table->valid = false;
    }
    fail_all(work, items, count, err);
}

static void work_settle_items(struct work *work, const struct route_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (work_is_creation(work)) {
            after_create(work, &items[i]);
        } else {
            after_delete(work, &items[i]);
        }
    }
    work_drop_second(work);
}

static void call_singly(struct work *work, struct route_call *call, struct route_item *items,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct route_item *item = &items[i];

        if (work->stopped.kind != CCM_ERROR_NONE) {
            fail_all(work, item, 1, &work->stopped);
        } else if (route_api_single(call, work_is_creation(work), work->table->id, item) < 0 &&
                   item->outcome == ROUTE_FAILED &&
                   (call->uncertain || item->err.kind == CCM_ERROR_CANCELLED ||
                    item->err.kind == CCM_ERROR_THROTTLED || is_denied(&item->err))) {
            stop_all(work, item, 1, &item->err);
        } else {
            work_settle_items(work, item, 1);
        }
    }
}

static void call_batch(struct work *work, struct route_item *items, size_t count)
{
    struct route *route = work->run->route;
    struct route_call call = {
        .ali = route->ali,
        .host = route->host,
        .req = work->run->req,
        .priority = work_is_creation(work) ? ALI_PRIO_NEW : ALI_PRIO_REMOVE,
        .object = work->table->id,
    };
    const int64_t now = route->host->now_ms(route->host);
    struct ccm_error err = CCM_ERROR_INIT;

    if (now < route->singles_until_ms) {
        call_singly(work, &call, items, count);
        return;
    }
    if (route_api_batch(&call, work_is_creation(work), work->table->id, items, count, &err) == 0) {
        if (work_is_creation(work)) {
            route_measure_creation(route, now);
        }
        work_settle_items(work, items, count);
        return;
    }
    if (is_denied(&err)) {
        route->host->log(route->host, CCM_LEVEL_WARN, NULL,
                         "%s; one entry per call instead, which is slow: see etc/ram/route.json",
                         err.message);
        route->singles_until_ms = now + SINGLES_MS;
        call_singly(work, &call, items, count);
        return;
    }
    stop_all(work, items, count, &err);
}

/* ---- steps ---- */

/* What a node had goes after its new entry is there; from a full table before, since nothing comes
 * in otherwise. */
static bool may_retire(const struct work *work, const struct route_step *step)
{
    const struct route_outlook *outlook =
        step->node == ROUTE_NOBODY ? NULL : &work->run->plan.nodes[step->node];

    return outlook == NULL || work->table->full || (outlook->missing == 0 && !outlook->stuck);
}

static bool is_due(const struct work *work, const struct route_step *step)
{
    return step->type == work->type && step->table == work->table_index &&
           route_run_step_key(work->run, step) != ROUTE_NOBODY &&
           (step->type != ROUTE_STEP_RETIRE || may_retire(work, step));
}

static bool has_time(const struct work *work)
{
    const struct ccm_host *host = work->run->route->host;
    const struct ccm_request *req = work->run->req;

    return !host->cancelled(host, req) && req->deadline_ms - host->now_ms(host) > LEAST_MS;
}

static void work_send_batch(struct work *work, struct route_item *items, size_t count)
{
    if (work->stopped.kind != CCM_ERROR_NONE) {
        fail_all(work, items, count, &work->stopped);
        return;
    }
    if (!has_time(work)) {
        for (size_t i = 0; i < count; i++) {
            work_verdict_of(work, &items[i])->again = true;
        }
        return;
    }
    call_batch(work, items, count);
}

static int work_run_type(struct route_run *run, size_t table, enum route_step_type type)
{
    const size_t batch = ROUTE_BATCH_MAX;
    CCM_CLEANUP(ccm_freep) struct route_item *items = calloc(batch, sizeof(*items));
    struct work work = {
        .run = run,
        .table = &run->route->tables[table],
        .table_index = table,
        .type = type,
        .stopped = CCM_ERROR_INIT,
        .blind = CCM_ERROR_INIT,
    };
    size_t count = 0;

    if (items == NULL) {
        return -ENOMEM;
    }
    const bool was_full = work.table->full;

    if (work_is_creation(&work) && was_full) {
        ccm_error_copy(&work.stopped, &work.table->full_why);
    }
    for (size_t i = 0; i < run->plan.len; i++) {
        const struct route_step *step = &run->plan.steps[i];

        if (is_due(&work, step)) {
            items[count++] =
                (struct route_item){ .net = step->net, .instance = step->instance, .step = i };
        }
        if (count == batch || (count > 0 && i + 1 == run->plan.len)) {
            work_send_batch(&work, items, count);
            count = 0;
        }
    }
    if (!was_full && work.table->full) {
        /* What is leaving may have counted. */
        work.table->full_len = work.table->len;
    }
    return 0;
}

int route_apply(struct route_run *run, bool orphans)
{
    static const enum route_step_type order[] = { ROUTE_STEP_CLEAR, ROUTE_STEP_CREATE,
                                                  ROUTE_STEP_RETIRE };

    for (size_t i = 0; i < CCM_ARRAY_LEN(order); i++) {
        for (size_t t = 0; t < run->route->table_count; t++) {
            const int r = work_run_type(run, t, order[i]);

            if (r < 0) {
                return r;
            }
        }
    }
    for (size_t t = 0; orphans && t < run->route->table_count; t++) {
        const int r = work_run_type(run, t, ROUTE_STEP_ORPHAN);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}
