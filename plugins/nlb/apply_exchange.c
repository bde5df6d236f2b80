#include "apply_exchange.h"

#include "alicloud/error.h"
#include "apply_parts.h"
#include "lbc/apply/capacity.h"
#include "util/array.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DRAINED_MS 5000 /* until servers that are being taken out are looked at again */

struct nlb_exchange {
    struct nlb_step step; /* the next call; borrows from the step that was refused */
    struct lbc_backends part;
    enum lbc_exchange_move move;
    struct lbc_exchange way;
    struct lbc_capacity capacity;
    struct ccm_error why; /* the last refusal */
    bool has_ended;
    bool is_wide;    /* it is the load balancer that is full: others may make room */
    bool is_waiting; /* servers that are on their way out still count */
    size_t freed;    /* run->freed when it ended */
};

static void exchange_free(struct nlb_exchange *exchange)
{
    lbc_backends_fini(&exchange->part);
    lbc_exchange_fini(&exchange->way);
    free(exchange);
}

void nlb_exchanges_fini(struct nlb_run *run)
{
    for (size_t i = 0; i < run->exchange_count; i++) {
        exchange_free(run->exchanges[i]);
    }
    free(run->exchanges);
}

/* A server that is in as many groups as it may be says nothing about the others. */
bool nlb_exchange_is_full(const struct nlb_step *step, const struct ccm_error *err)
{
    return step->lbc.type == LBC_STEP_ADD && ccm_text_starts(err->code, "QuotaExceed") &&
           strstr(err->message, "server_added_num") == NULL;
}

static struct nlb_exchange *exchange_new(struct nlb_run *run)
{
    struct nlb_exchange *fresh = NULL;

    if (ccm_array_grow(&run->exchanges, &run->exchange_cap, run->exchange_count + 1,
                       sizeof(struct nlb_exchange *)) < 0) {
        return NULL;
    }
    fresh = calloc(1, sizeof(*fresh));
    if (fresh != NULL) {
        fresh->way.capacity = &fresh->capacity;
        run->exchanges[run->exchange_count++] = fresh;
    }
    return fresh;
}

static void exchange_record_refusal(struct nlb_exchange *exchange, const struct lbc_backends *part,
                                    const struct ccm_error *err)
{
    struct lbc_usage usage = { 0 };
    const bool has_usage = lbc_capacity_parse(err->message, &usage);

    lbc_exchange_refuse(&exchange->way, part, has_usage ? &usage : NULL);
    ccm_error_copy(&exchange->why, err);
    exchange->is_wide = strstr(err->message, "loadbalancer_servers_num") != NULL;
}

/* --- what is to be done --- */

/* Servers of one step that are still to come or to go. */
static int exchange_collect_step(struct lbc_exchange *to, const struct nlb_group *group,
                                 const struct nlb_step *step)
{
    const struct lbc_backends *set = &step->lbc.backends;
    const bool removes = step->lbc.type == LBC_STEP_REMOVE;
    int r = 0;

    for (size_t i = 0; r == 0 && i < set->len; i++) {
        if (removes == (lbc_backends_find(&group->lbc.backends, &set->items[i]) != NULL)) {
            r = lbc_backends_put(removes ? &to->remove : &to->add, &set->items[i]);
        }
    }
    return r;
}

/* Ports that have chosen the same group describe their servers each in its own way. */
static bool exchange_includes_step(const struct nlb_run *run, const struct nlb_group *group,
                                   const struct nlb_step *first, const struct nlb_step *step)
{
    return (step->lbc.type == LBC_STEP_REMOVE ||
            (step->lbc.type == LBC_STEP_ADD &&
             ccm_text_equal(lbc_group_key(step->lbc.want), lbc_group_key(first->lbc.want)))) &&
           !step->lbc.last && nlb_apply_group(run->apply, step) == group;
}

static int exchange_collect(struct nlb_run *run, struct nlb_exchange *exchange,
                            const struct nlb_group *group, size_t index)
{
    const struct nlb_step *first = nlb_step_at(run->plan, index);
    size_t leaving = 0;
    int r = 0;

    for (size_t i = index; r == 0 && i < run->plan->len; i++) {
        const struct nlb_step *step = nlb_step_at(run->plan, i);

        if (i == index || (run->flights[i].verdict == NLB_VERDICT_OPEN &&
                           exchange_includes_step(run, group, first, step))) {
            r = exchange_collect_step(&exchange->way, group, step);
            exchange->way.batch = exchange->way.batch > step->lbc.backends.len
                                      ? exchange->way.batch
                                      : step->lbc.backends.len;
            run->flights[i].verdict = NLB_VERDICT_EXCHANGED;
        }
    }
    for (size_t i = 0; i < group->lbc.backends.len; i++) {
        leaving += group->lbc.backends.items[i].leaving ? 1 : 0;
    }
    exchange->way.stays = group->lbc.backends.len - leaving - exchange->way.remove.len;
    exchange->is_waiting = leaving > 0;
    exchange->way.is_robbed = leaving > 0; /* they make room when they are gone */
    return r;
}

int nlb_exchange_begin(struct nlb_run *run, size_t index, const struct ccm_error *err)
{
    const struct nlb_step *step = nlb_step_at(run->plan, index);
    const struct nlb_group *group = nlb_apply_group(run->apply, step);
    struct nlb_exchange *exchange = exchange_new(run);
    int r = exchange == NULL ? -ENOMEM : 0;

    if (r == 0) {
        exchange->step = *step; /* borrows */
        exchange_record_refusal(exchange, &step->lbc.backends, err);
        r = exchange_collect(run, exchange, group, index);
    }
    return r < 0 ? nlb_run_out_of_memory(run) : 0;
}

/* --- doing it --- */

/* The next call of an exchange; 0 and no flight when there is none. */
static int exchange_send(struct nlb_run *run, struct nlb_exchange *exchange,
                         struct nlb_flight *flight)
{
    struct lbc_exchange *way = &exchange->way;

    for (;;) {
        struct ccm_error err = CCM_ERROR_INIT;
        int r = nlb_run_check_cancelled(run);

        lbc_backends_fini(&exchange->part);
        if (r < 0) {
            return r;
        }
        if (lbc_exchange_next(way, &exchange->move, &exchange->part) < 0) {
            return nlb_run_out_of_memory(run);
        }
        if (exchange->move == LBC_EXCHANGE_END) {
            exchange->has_ended = true;
            exchange->freed = run->freed;
            return 0;
        }
        exchange->step.lbc.type =
            exchange->move == LBC_EXCHANGE_ADD ? LBC_STEP_ADD : LBC_STEP_REMOVE;
        exchange->step.lbc.backends = exchange->part; /* borrowed */
        flight->step = &exchange->step;
        r = nlb_run_send(run, flight, &err);
        if (r == 0) {
            return 0;
        }
        flight->step = NULL;
        if (nlb_exchange_is_full(&exchange->step, &err)) {
            exchange_record_refusal(exchange, &exchange->part, &err);
            continue;
        }
        lbc_exchange_fail(way, exchange->move);
        r = nlb_run_fail(run, &exchange->step, r, &err, ali_error_remedy(&err));
        if (r < 0) {
            return r;
        }
    }
}

static void exchange_settle(struct nlb_exchange *exchange, const struct nlb_flight *flight)
{
    if (flight->verdict == NLB_VERDICT_DONE) {
        lbc_exchange_done(&exchange->way, exchange->move, &exchange->part);
    } else if (flight->step != NULL) {
        lbc_exchange_fail(&exchange->way, exchange->move);
    }
}

/* One call for each group, then their jobs together. *ret_sent: how many calls there were. */
static int exchanges_run_round(struct nlb_run *run, struct nlb_flight *flights, size_t *ret_sent)
{
    int r = 0;

    *ret_sent = 0;
    for (size_t i = 0; r == 0 && i < run->exchange_count; i++) {
        flights[i] = (struct nlb_flight){ .verdict = NLB_VERDICT_OPEN };
        if (!run->exchanges[i]->has_ended) {
            r = exchange_send(run, run->exchanges[i], &flights[i]);
            *ret_sent += flights[i].verdict == NLB_VERDICT_SENT ? 1 : 0;
        }
    }
    if (r < 0) {
        run->apply->surprised = run->apply->surprised || *ret_sent > 0;
    } else if (*ret_sent > 0) {
        r = nlb_run_end(run, flights, run->exchange_count);
    }
    for (size_t i = 0; i < run->exchange_count; i++) {
        exchange_settle(run->exchanges[i], &flights[i]);
        lbc_sent_fini(&flights[i].sent);
    }
    return r;
}

/* What the steps of ended exchanges have come to: a group that got none of its servers did not get
 * them, any other has what fits. */
static void exchanges_close_steps(struct nlb_run *run)
{
    for (size_t i = 0; i < run->plan->len; i++) {
        const struct nlb_step *step = nlb_step_at(run->plan, i);

        if (run->flights[i].verdict == NLB_VERDICT_EXCHANGED && step->lbc.type == LBC_STEP_ADD) {
            const struct nlb_group *group = nlb_apply_group(run->apply, step);

            run->flights[i].verdict = group == NULL || group->lbc.backends.len == 0
                                          ? NLB_VERDICT_FAILED
                                          : NLB_VERDICT_DONE;
        }
    }
}

int nlb_exchanges_run(struct nlb_run *run)
{
    struct nlb_flight *flights = NULL;
    size_t sent = 1;
    int r = 0;

    if (run->exchange_count == 0) {
        return 0;
    }
    flights = calloc(run->exchange_count, sizeof(*flights));
    if (flights == NULL) {
        return nlb_run_out_of_memory(run);
    }
    while (r == 0 && sent > 0 && run->apply->again_ms == 0) {
        r = exchanges_run_round(run, flights, &sent);
    }
    free(flights);
    exchanges_close_steps(run);
    return r;
}

/* --- in the end --- */

static bool exchange_is_short(const struct nlb_exchange *exchange)
{
    return exchange->way.add.len > 0 && !exchange->way.is_failed;
}

static int exchange_report_rest(struct nlb_run *run, struct nlb_exchange *exchange)
{
    const struct lbc_exchange *way = &exchange->way;
    int r;

    exchange->step.lbc.type = LBC_STEP_ADD;
    exchange->step.lbc.backends = way->add; /* borrowed */
    run->apply->call.uncertain = false;
    r = ccm_error_wrap(&exchange->why, -ENOSPC, "%zu of %zu servers fit", way->stays,
                       way->stays + way->add.len);
    return nlb_run_fail(run, &exchange->step, r, &exchange->why, ali_error_remedy(&exchange->why));
}

/* Servers on their way out take up room until their connections have ended. */
static void exchange_wait_for_drain(struct nlb_run *run, const struct nlb_exchange *exchange)
{
    struct nlb_group *group = nlb_apply_group(run->apply, &exchange->step);

    if (group != NULL) {
        group->lbc.unread = true;
    }
    run->apply->again_ms = DRAINED_MS;
}

static bool exchange_awaits_drain(const struct nlb_run *run, const struct nlb_exchange *exchange)
{
    const struct nlb_group *group = nlb_apply_group(run->apply, &exchange->step);

    return exchange->way.is_robbed &&
           (exchange->is_waiting || (group != NULL && nlb_run_is_draining(group)));
}

int nlb_exchanges_finish(struct nlb_run *run)
{
    int r = 0;

    for (size_t i = 0; i < run->exchange_count; i++) {
        struct nlb_exchange *exchange = run->exchanges[i];

        if (exchange_is_short(exchange) && exchange->is_wide && run->freed > exchange->freed) {
            lbc_exchange_renew(&exchange->way);
            exchange->capacity = (struct lbc_capacity){ 0 };
            exchange->has_ended = false;
        }
    }
    if (run->apply->again_ms == 0) {
        r = nlb_exchanges_run(run);
    }
    for (size_t i = 0; r == 0 && i < run->exchange_count; i++) {
        struct nlb_exchange *exchange = run->exchanges[i];

        if (!exchange_is_short(exchange) || !exchange->has_ended) {
            continue; /* complete, told, or to be gone on with by the next pass */
        }
        if (exchange_awaits_drain(run, exchange)) {
            exchange_wait_for_drain(run, exchange);
        } else {
            r = exchange_report_rest(run, exchange);
        }
    }
    return r;
}
