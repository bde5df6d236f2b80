#include "lbc/apply/executor_exchange.h"

#include "lbc/apply/exchange.h"
#include "lbc/apply/executor_members.h"
#include "util/array.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DRAINED_MS 5000 /* until backends that are being taken out are looked at again */

/* The exchange of one group. */
struct lbc_exchanging {
    struct lbc_step *step; /* the next call; borrows what the refused step owns, but for `sent` */
    struct lbc_backends part;
    enum lbc_exchange_move move;
    struct lbc_exchange way;
    struct lbc_capacity capacity; /* the group's, unless that of the load balancer is meant */
    struct ccm_error own_why;
    struct ccm_error *why; /* the last refusal */
    size_t batch;          /* backends per call, unless one of them is at fault */
    bool has_ended;
    bool is_wide;    /* it is the load balancer that is full: others may make place */
    bool is_waiting; /* backends that are on their way out still count */
    size_t freed;    /* run->freed when it ended */
};

static void exchange_free(struct lbc_exchanging *exchange)
{
    lbc_backends_fini(&exchange->part);
    lbc_exchange_fini(&exchange->way);
    if (exchange->step != NULL) {
        lbc_sent_fini(&exchange->step->sent);
    }
    free(exchange->step);
    free(exchange);
}

void lbc_exchanges_fini(struct lbc_run *run)
{
    for (size_t i = 0; i < run->exchange_count; i++) {
        exchange_free(run->exchanges[i]);
    }
    free(run->exchanges);
}

/* What is known about the capacity holds for all groups. */
static bool capacity_is_shared(const struct lbc_run *run)
{
    const struct lbc_refusal_row *row = run->apply->ops->refusals;

    while (row != NULL && row->means != 0 && (row->means & LBC_REFUSAL_LB_FULL) == 0) {
        row++;
    }
    return row == NULL || row->means == 0;
}

static bool step_adds_backends(const struct lbc_step *step)
{
    return (step->type == LBC_STEP_ADD || step->type == LBC_STEP_CREATE_GROUP) &&
           step->backends.len > 0;
}

bool lbc_exchanges_is_due(const struct lbc_run *run, const struct lbc_step *step)
{
    return step_adds_backends(step) &&
           lbc_capacity_lacks(&run->apply->capacity, step->backends.len);
}

bool lbc_exchanges_is_full(const struct lbc_run *run, const struct lbc_step *step,
                           const struct ccm_error *err)
{
    return step_adds_backends(step) && lbc_refusal_is(run->apply->ops, LBC_REFUSAL_GROUP_FULL, err);
}

static struct lbc_exchanging *exchange_new(struct lbc_run *run, const struct lbc_step *step)
{
    const size_t size = run->plan->table->size;
    struct lbc_exchanging *fresh = NULL;

    if (ccm_array_grow(&run->exchanges, &run->exchange_cap, run->exchange_count + 1,
                       sizeof(struct lbc_exchanging *)) < 0) {
        return NULL;
    }
    fresh = calloc(1, sizeof(*fresh));
    if (fresh == NULL) {
        return NULL;
    }
    run->exchanges[run->exchange_count++] = fresh;
    fresh->way.capacity = capacity_is_shared(run) ? &run->apply->capacity : &fresh->capacity;
    fresh->why = capacity_is_shared(run) ? &run->full : &fresh->own_why;
    fresh->step = malloc(size);
    if (fresh->step == NULL) {
        return NULL;
    }
    memcpy(fresh->step, step, size);
    memset(&fresh->step->sent, 0, sizeof(fresh->step->sent));
    fresh->step->is_exchanged = true;
    return fresh;
}

/* --- refusals --- */

static size_t exchange_choose_batch(const struct lbc_run *run, size_t planned)
{
    const size_t batch = run->apply->batch == NULL ? 0 : atomic_load(run->apply->batch);

    return batch == 0 ? planned : batch;
}

/* Of a step that goes out in several portions, the one that was refused has as many as a call. */
static size_t exchange_count_asked(const struct lbc_run *run, const struct lbc_step *step)
{
    const size_t batch = exchange_choose_batch(run, step->backends.len);
    size_t missing = 0;

    for (size_t i = 0; i < step->backends.len; i++) {
        missing += step->group == NULL ||
                   lbc_backends_find(&step->group->backends, &step->backends.items[i]) == NULL;
    }
    return missing < batch ? missing : batch;
}

static void exchange_record_why(const struct lbc_run *run, struct lbc_exchanging *exchange,
                                const struct ccm_error *err)
{
    ccm_error_copy(exchange->why, err);
    exchange->is_wide =
        capacity_is_shared(run) || lbc_refusal_is(run->apply->ops, LBC_REFUSAL_LB_FULL, err);
}

/* The refusal that an exchange begins with. */
static void exchange_record_first(const struct lbc_run *run, struct lbc_exchanging *exchange,
                                  size_t asked, const struct ccm_error *err)
{
    struct lbc_capacity *capacity = exchange->way.capacity;
    struct lbc_usage usage = { 0 };

    if (lbc_capacity_parse(err->message, &usage) && usage.used + asked > usage.most) {
        lbc_capacity_set(capacity, &usage);
    } else {
        lbc_capacity_refuse(capacity, asked);
    }
    exchange_record_why(run, exchange, err);
}

static void exchange_record_refusal(const struct lbc_run *run, struct lbc_exchanging *exchange,
                                    const struct ccm_error *err)
{
    struct lbc_usage usage = { 0 };
    const bool has_usage = lbc_capacity_parse(err->message, &usage);

    lbc_exchange_refuse(&exchange->way, &exchange->part, has_usage ? &usage : NULL);
    exchange_record_why(run, exchange, err);
}

/* --- what is to be done --- */

/* Backends of one step that are still to come or to go. */
static int exchange_collect_step(struct lbc_exchange *to, const struct lbc_group *group,
                                 const struct lbc_step *step)
{
    const struct lbc_backends *set = &step->backends;
    const bool removes = step->type == LBC_STEP_REMOVE;
    int r = 0;

    for (size_t i = 0; r == 0 && i < set->len; i++) {
        if (removes == (lbc_backends_find(&group->backends, &set->items[i]) != NULL)) {
            r = lbc_backends_put(removes ? &to->remove : &to->add, &set->items[i]);
        }
    }
    return r;
}

/* Ports that have chosen the same group describe their backends each in its own way. */
static bool exchange_includes_step(const struct lbc_step *first, const struct lbc_step *step)
{
    return (step->type == LBC_STEP_REMOVE ||
            (step->type == LBC_STEP_ADD &&
             ccm_text_equal(lbc_group_key(step->want), lbc_group_key(first->want)))) &&
           step->verdict == LBC_VERDICT_OPEN && !step->last && step->group == first->group;
}

static int exchange_drop_known(struct lbc_run *run, struct lbc_exchanging *exchange)
{
    size_t count = 0;
    const int r = lbc_members_drop(run, &exchange->way.add, &count);

    exchange->way.lacks = exchange->way.lacks || count > 0;
    return r;
}

static int exchange_collect(struct lbc_run *run, struct lbc_exchanging *exchange, size_t index)
{
    const struct lbc_step *first = run->plan->steps[index];
    const struct lbc_group *group = first->group;
    size_t planned = 0;
    size_t leaving = 0;
    int r = 0;

    for (size_t i = index; r == 0 && i < run->plan->len; i++) {
        struct lbc_step *step = run->plan->steps[i];

        if (step == first || exchange_includes_step(first, step)) {
            r = exchange_collect_step(&exchange->way, group, step);
            planned = planned > step->backends.len ? planned : step->backends.len;
            exchange->way.lacks = exchange->way.lacks || step->lacks;
            step->verdict = LBC_VERDICT_EXCHANGED;
        }
    }
    r = r < 0 ? r : exchange_drop_known(run, exchange);
    for (size_t i = 0; i < group->backends.len; i++) {
        leaving += group->backends.items[i].leaving ? 1 : 0;
    }
    exchange->batch = exchange_choose_batch(run, planned);
    exchange->way.batch = exchange->batch;
    exchange->way.stays = group->backends.len - leaving - exchange->way.remove.len;
    exchange->is_waiting = leaving > 0;
    exchange->way.is_robbed = leaving > 0; /* they make place when they are gone */
    return r;
}

int lbc_exchanges_begin(struct lbc_run *run, size_t index, const struct ccm_error *err)
{
    struct lbc_step *step = run->plan->steps[index];
    struct lbc_exchanging *exchange = NULL;
    const size_t asked = exchange_count_asked(run, step);
    int r = 0;

    if (step->type == LBC_STEP_CREATE_GROUP && step->group == NULL) {
        r = lbc_run_make_empty(run, step); /* an earlier one may have to go before they fit */
    }
    if (r < 0 || step->group == NULL) {
        return r; /* told there */
    }
    exchange = exchange_new(run, step);
    if (exchange == NULL) {
        return lbc_run_out_of_memory(run);
    }
    if (err != NULL) {
        exchange_record_first(run, exchange, asked, err);
    }
    return exchange_collect(run, exchange, index) < 0 ? lbc_run_out_of_memory(run) : 0;
}

/* --- doing it --- */

/* One of its backends is at fault: that one is left out, or looked for in smaller portions. */
static int exchange_sift(struct lbc_run *run, struct lbc_exchanging *exchange,
                         const struct ccm_error *err)
{
    const struct lbc_backends *part = &exchange->part;
    size_t found = 0;
    int r = part->len > 1 ? lbc_members_ask(run, part, err, &found) : 0;

    if (r == 0 && found == 0 && part->len > 1) {
        exchange->way.batch = part->len / 2;
        return 0;
    }
    if (r == 0 && found == 0) {
        r = lbc_members_leave_out(run, &part->items[0], false, err);
    }
    exchange->way.batch = lbc_members_are_dense(run) ? 1 : exchange->batch;
    return r < 0 ? r : exchange_drop_known(run, exchange);
}

/* A call was refused. 0 and the exchange goes on, or negative when the rest of the plan makes no
 * sense. */
static int exchange_fail_call(struct lbc_run *run, struct lbc_exchanging *exchange, int r,
                              struct ccm_error *err)
{
    if (lbc_apply_shrink_batch(run->apply, exchange->part.len, err)) {
        exchange->batch = exchange_choose_batch(run, exchange->batch);
        exchange->way.batch = exchange->batch;
        return 0;
    }
    if (exchange->move == LBC_EXCHANGE_ADD && lbc_members_is_refused(run, exchange->step, err)) {
        return exchange_sift(run, exchange, err);
    }
    if (lbc_exchanges_is_full(run, exchange->step, err)) {
        exchange_record_refusal(run, exchange, err);
        return 0;
    }
    lbc_members_put_off(run, exchange->step, err);
    lbc_exchange_fail(&exchange->way, exchange->move);
    return lbc_run_fail(run, exchange->step, r, err, NULL);
}

/* The next call of an exchange; *ret_sent false: there is none. */
static int exchange_send(struct lbc_run *run, struct lbc_exchanging *exchange, bool *ret_sent)
{
    struct lbc_step *step = exchange->step;
    int r = 0;

    *ret_sent = false;
    while (r == 0) {
        struct ccm_error err = CCM_ERROR_INIT;

        r = lbc_run_check_cancelled(run);
        lbc_backends_fini(&exchange->part);
        if (r < 0) {
            return r;
        }
        if (lbc_exchange_next(&exchange->way, &exchange->move, &exchange->part) < 0) {
            return lbc_run_out_of_memory(run);
        }
        if (exchange->move == LBC_EXCHANGE_END) {
            exchange->has_ended = true;
            exchange->freed = run->freed;
            return 0;
        }
        step->type = exchange->move == LBC_EXCHANGE_ADD ? LBC_STEP_ADD : LBC_STEP_REMOVE;
        step->backends = exchange->part; /* borrowed */
        r = lbc_run_send(run, step, &err);
        if (r == 0) {
            *ret_sent = true;
            return 0;
        }
        r = exchange_fail_call(run, exchange, r, &err);
    }
    return r;
}

/* What came of a call that was sent. */
static void exchange_settle(struct lbc_run *run, struct lbc_exchanging *exchange)
{
    struct lbc_exchange *way = &exchange->way;

    if (exchange->step->verdict == LBC_VERDICT_DONE) {
        lbc_exchange_done(way, exchange->move, &exchange->part);
        way->batch = way->batch * 2 < exchange->batch ? way->batch * 2 : exchange->batch;
        run->found_in_a_row = 0;
    } else {
        lbc_exchange_fail(&exchange->way, exchange->move);
    }
    lbc_sent_fini(&exchange->step->sent);
}

/* One call for each group, then their jobs together; without jobs, all of one group. `sent` is as
 * long as there are exchanges. *ret_sent: how many calls there were. */
static int exchanges_run_round(struct lbc_run *run, struct lbc_step **sent, size_t *ret_sent)
{
    const bool alone = run->apply->ops->wait == NULL;
    int r = 0;

    *ret_sent = 0;
    memset(sent, 0, run->exchange_count * sizeof(struct lbc_step *));
    for (size_t i = 0; r == 0 && i < run->exchange_count && !(alone && *ret_sent > 0); i++) {
        bool is_sent = false;

        if (!run->exchanges[i]->has_ended) {
            r = exchange_send(run, run->exchanges[i], &is_sent);
        }
        if (is_sent) {
            sent[i] = run->exchanges[i]->step;
            ++*ret_sent;
        }
    }
    if (r < 0) {
        run->apply->surprised = run->apply->surprised || *ret_sent > 0;
    } else if (*ret_sent > 0) {
        r = lbc_run_end(run, sent, run->exchange_count);
    }
    for (size_t i = 0; i < run->exchange_count; i++) {
        if (sent[i] != NULL) {
            exchange_settle(run, run->exchanges[i]);
        }
    }
    return r;
}

/* What the steps of ended exchanges have come to: a group that got none of its backends did not get
 * them, any other has what fits. */
static int exchanges_close_steps(struct lbc_run *run)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < run->plan->len; i++) {
        struct lbc_step *step = run->plan->steps[i];

        if (step->verdict == LBC_VERDICT_EXCHANGED && step_adds_backends(step)) {
            step->verdict = LBC_VERDICT_DONE;
            if (step->group->backends.len == 0) {
                step->verdict = LBC_VERDICT_FAILED;
                r = lbc_run_mark_short(run, step->group, false);
            }
        }
    }
    return r;
}

int lbc_exchanges_run(struct lbc_run *run)
{
    struct lbc_step **sent = NULL;
    size_t count = 1;
    int r = 0;

    if (run->exchange_count == 0) {
        return 0;
    }
    sent = calloc(run->exchange_count, sizeof(struct lbc_step *));
    if (sent == NULL) {
        return lbc_run_out_of_memory(run);
    }
    while (r == 0 && count > 0 && run->apply->again_ms == 0) {
        r = exchanges_run_round(run, sent, &count);
    }
    free(sent);
    return r < 0 ? r : exchanges_close_steps(run);
}

/* --- in the end --- */

static bool exchange_is_short(const struct lbc_exchanging *exchange)
{
    return exchange->way.add.len > 0 && !exchange->way.is_failed;
}

/* Those that were to come were left out, and nothing else would stay. */
static bool exchange_is_left(const struct lbc_exchanging *exchange)
{
    return exchange->has_ended && exchange->way.lacks && exchange->way.add.len == 0 &&
           exchange->way.stays == 0;
}

/* Whether there may be place by now. */
static bool exchange_may_go_on(const struct lbc_run *run, const struct lbc_exchanging *exchange)
{
    if (!exchange_is_short(exchange)) {
        return false;
    }
    return capacity_is_shared(run) ? !lbc_capacity_lacks(exchange->way.capacity, 1)
                                   : exchange->is_wide && run->freed > exchange->freed;
}

static void exchange_renew(struct lbc_exchanging *exchange)
{
    lbc_exchange_renew(&exchange->way);
    exchange->capacity = (struct lbc_capacity){ 0 };
    exchange->has_ended = false;
}

/* One after the other where they take the capacity from one another. */
static int exchanges_go_on(struct lbc_run *run)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < run->exchange_count; i++) {
        if (exchange_may_go_on(run, run->exchanges[i])) {
            exchange_renew(run->exchanges[i]);
            r = capacity_is_shared(run) ? lbc_exchanges_run(run) : 0;
        }
    }
    return r < 0 || run->apply->again_ms > 0 ? r : lbc_exchanges_run(run);
}

static int exchange_report_rest(struct lbc_run *run, struct lbc_exchanging *exchange)
{
    const struct lbc_exchange *way = &exchange->way;
    struct ccm_error err;
    int r;

    exchange->step->type = LBC_STEP_ADD;
    exchange->step->backends = way->add; /* borrowed */
    *run->apply->uncertain = false;
    ccm_error_copy(&err, exchange->why);
    r = ccm_error_wrap(&err, -ENOSPC, "%zu of %zu %s fit", way->stays, way->stays + way->add.len,
                       run->apply->ops->backends_name);
    return lbc_run_fail(run, exchange->step, r, &err, NULL);
}

/* Backends on their way out take up place until their connections have ended. */
static bool exchange_awaits_drain(const struct lbc_exchanging *exchange)
{
    return exchange->way.is_robbed &&
           (exchange->is_waiting || lbc_group_is_draining(exchange->step->group));
}

int lbc_exchanges_finish(struct lbc_run *run)
{
    int r = exchanges_go_on(run);

    for (size_t i = 0; r == 0 && i < run->exchange_count; i++) {
        struct lbc_exchanging *exchange = run->exchanges[i];

        if (exchange_is_left(exchange)) {
            exchange->step->type = exchange->way.remove.len > 0 ? LBC_STEP_REMOVE : LBC_STEP_ADD;
            r = lbc_members_fail(run, exchange->step);
        }
        if (!exchange_is_short(exchange) || !exchange->has_ended) {
            continue; /* complete, told, or to be gone on with by the next pass */
        }
        if (exchange_awaits_drain(exchange)) {
            exchange->step->group->unread = true;
            run->apply->again_ms = DRAINED_MS;
        } else {
            r = exchange_report_rest(run, exchange);
        }
    }
    return r;
}
