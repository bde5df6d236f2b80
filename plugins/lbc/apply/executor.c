#include "lbc/apply/executor.h"

#include "lbc/apply/executor_exchange.h"
#include "lbc/apply/executor_members.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

#define MAKING_MS 1000 /* where a product does not say when to look again */

static void run_fini(struct lbc_run *run)
{
    ccm_buf_fini(&run->left_out);
    lbc_exchanges_fini(run);
    free(run->deferred);
    free(run->short_);
}

/* --- before a step --- */

static bool group_is_short(const struct lbc_run *run, const struct lbc_group *group, bool partly)
{
    for (size_t i = 0; i < run->short_count; i++) {
        if (run->short_[i].group == group && run->short_[i].partly == partly) {
            return true;
        }
    }
    return false;
}

static bool step_empties_group(const struct lbc_step *step)
{
    return step->type == LBC_STEP_REMOVE && step->group->backends.len <= step->backends.len;
}

/* Removing after a failed addition must not leave the group without any backend, and nobody is sent
 * to a group that did not get its backends. */
static bool step_would_starve(const struct lbc_run *run, const struct lbc_step *step)
{
    return (step_empties_group(step) || step->needs_backends) &&
           group_is_short(run, step->group, false);
}

/* A listener that had to go first is still there. */
static bool port_is_occupied(const struct lbc_state *have, const struct lbc_listener *to)
{
    for (size_t i = 0; i < have->listener_count; i++) {
        const struct lbc_listener *one = have->listeners[i];

        if (one->protocol != LBC_OTHER && lbc_listener_clash(one, to)) {
            return true;
        }
    }
    return false;
}

/* What the step needs is missing because an earlier step failed, which was reported there. */
static bool step_is_blocked(const struct lbc_run *run, const struct lbc_step *step,
                            size_t failed_before)
{
    const struct lbc_apply *apply = run->apply;
    const unsigned flags = apply->ops->steps[step->type].flags;

    if ((step->last && failed_before > 0) || (step->needs_security && run->unsecured) ||
        ((flags & LBC_NEEDS_GROUP) != 0 && step->group == NULL) ||
        ((flags & LBC_NEEDS_LISTENER) != 0 && step->listener == NULL) ||
        ((flags & LBC_NEEDS_LB) != 0 && lbc_state_lb(apply->have)->id == NULL)) {
        return true;
    }
    if (step->type == LBC_STEP_CREATE_LISTENER && port_is_occupied(apply->have, step->to)) {
        return true;
    }
    return (apply->ops->is_blocked != NULL && apply->ops->is_blocked(apply, step)) ||
           step_would_starve(run, step);
}

/* --- creations that are left out: the first refusal for lack of place stands for all --- */

static void run_leave_out(struct lbc_run *run, const char *name)
{
    if (run->left_out_more > 0 || run->left_out.len + strlen(name) + 2 > run->left_out.max) {
        run->left_out_more++;
        return;
    }
    ccm_buf_addf(&run->left_out, "%s%s", run->left_out.len == 0 ? "" : ", ", name);
}

static bool step_is_left_out(struct lbc_run *run, const struct lbc_step *step)
{
    const char *protocol = run->plan->table->state->protocol_name(step->protocol);
    char name[48];

    if (!run->no_listener_fits || step->type != LBC_STEP_CREATE_LISTENER) {
        return false;
    }
    if (step->to->last_port > step->to->port) {
        ccm_text_printf(name, sizeof(name), "%u-%u/%s", step->to->port, step->to->last_port,
                        protocol);
    } else {
        ccm_text_printf(name, sizeof(name), "%u/%s", step->port, protocol);
    }
    run_leave_out(run, name);
    return true;
}

/* All of them as one problem. */
static void run_report_left_out(const struct lbc_run *run)
{
    struct ccm_error err = run->no_listener_err;
    char more[40] = "";

    if (run->left_out.len == 0 && run->left_out_more == 0) {
        return;
    }
    if (run->left_out_more > 0) {
        ccm_text_printf(more, sizeof(more), " and %zu more", run->left_out_more);
    }
    (void)ccm_error_set(&err, 0, err.kind, "%s: left out for the same lack of room: %s%s",
                        lbc_step_name(run->plan->table, LBC_STEP_CREATE_LISTENER),
                        ccm_buf_str(&run->left_out), more); /* the text is what counts */
    lbc_problems_add(run->apply->problems, &err, NULL);
}

/* --- what waits for place --- */

static bool comes_later(const struct lbc_run *run, const struct lbc_step *step, unsigned type)
{
    for (size_t i = run->plan->len; i > 0 && run->plan->steps[i - 1] != step; i--) {
        if (run->plan->steps[i - 1]->type == type) {
            return true;
        }
    }
    return false;
}

static struct lbc_deferred *deferred_for(const struct lbc_run *run, unsigned maker)
{
    for (size_t i = 0; i < run->deferred_count; i++) {
        if (run->deferred[i].step != NULL && run->deferred[i].maker == maker) {
            return &run->deferred[i];
        }
    }
    return NULL;
}

/* Whether a refusal is put off, because a later step makes place for this one. */
static bool step_defer(struct lbc_run *run, struct lbc_step *step, int r,
                       const struct ccm_error *err)
{
    const struct lbc_apply_ops *ops = run->apply->ops;
    const unsigned maker = ops->steps[step->type].makes_room;

    if (maker == 0 || !lbc_refusal_is(ops, LBC_REFUSAL_NO_ROOM, err) ||
        deferred_for(run, maker) != NULL || !comes_later(run, step, maker) ||
        ccm_array_grow(&run->deferred, &run->deferred_cap, run->deferred_count + 1,
                       sizeof(*run->deferred)) < 0) {
        return false;
    }
    struct lbc_deferred *deferred = &run->deferred[run->deferred_count++];

    deferred->step = step;
    deferred->maker = maker;
    deferred->result = r;
    ccm_error_copy(&deferred->err, err);
    return true;
}

/* No place was made: what was refused has failed. */
static int deferred_give_up(struct lbc_run *run)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < run->deferred_count; i++) {
        struct lbc_deferred *deferred = &run->deferred[i];

        if (deferred->step != NULL) {
            *run->apply->uncertain = false;
            r = lbc_run_fail(run, deferred->step, deferred->result, &deferred->err, NULL);
            deferred->step = NULL;
        }
    }
    return r;
}

/* --- a step --- */

static bool step_adds_backends(const struct lbc_step *step)
{
    return step->type == LBC_STEP_ADD || step->type == LBC_STEP_CREATE_GROUP;
}

/* Without those that are known to be refused. *ret_done: nothing is left to be sent. */
static int step_leave_out(struct lbc_run *run, struct lbc_step *step, bool *ret_done)
{
    size_t count = 0;
    int r = 0;

    if (step_adds_backends(step) && step->backends.len > 0) {
        r = lbc_members_drop(run, &step->backends, &count);
        step->lacks = step->lacks || count > 0;
        *ret_done = step->type == LBC_STEP_ADD && step->backends.len == 0;
    }
    return r;
}

/* A step was refused. Negative when the rest of the plan makes no sense. */
static int step_record_refusal(struct lbc_run *run, size_t index, int r, struct ccm_error *err)
{
    struct lbc_step *step = run->plan->steps[index];
    const struct lbc_apply *apply = run->apply;

    if (lbc_members_is_refused(run, step, err)) {
        const int ended = lbc_members_sift(run, step, &r, err);

        if (ended < 0 || r == 0) {
            return ended;
        }
    }
    if (step->type == LBC_STEP_CREATE_LISTENER &&
        lbc_refusal_is(apply->ops, LBC_REFUSAL_LISTENERS_FULL, err)) {
        run->no_listener_fits = true;
        ccm_error_copy(&run->no_listener_err, err);
    }
    if (lbc_exchanges_is_full(run, step, err)) {
        return lbc_exchanges_begin(run, index, err);
    }
    if (step_defer(run, step, r, err)) {
        return 0;
    }
    lbc_members_put_off(run, step, err);
    if (step_adds_backends(step) && step->group != NULL) {
        const int marked = lbc_run_mark_short(run, step->group, false);

        if (marked < 0) {
            return marked;
        }
    }
    return lbc_run_fail(run, step, r, err, NULL);
}

static int step_start(struct lbc_run *run, size_t index, size_t failed_before)
{
    struct lbc_step *step = run->plan->steps[index];
    struct ccm_error err = CCM_ERROR_INIT;
    bool is_done = false;
    int r = lbc_run_check_cancelled(run);

    if (r == 0 && step->needs_security && deferred_for(run, step->type) == NULL) {
        r = deferred_give_up(run);
    }
    if (r < 0 || step->verdict == LBC_VERDICT_EXCHANGED ||
        step_is_blocked(run, step, failed_before) || step_is_left_out(run, step)) {
        return r;
    }
    if (step_empties_group(step) && group_is_short(run, step->group, true)) {
        return lbc_members_fail(run, step);
    }
    r = step_leave_out(run, step, &is_done);
    if (r < 0 || is_done) {
        step->verdict = LBC_VERDICT_DONE;
        return r;
    }
    if (lbc_exchanges_is_due(run, step)) {
        return lbc_exchanges_begin(run, index, NULL);
    }
    r = lbc_run_send(run, step, &err);
    return r < 0 ? step_record_refusal(run, index, r, &err) : 0;
}

/* --- stages --- */

/* Once more, now that there is place; a stage of its own. */
static int deferred_retry(struct lbc_run *run, struct lbc_deferred *deferred)
{
    struct lbc_step *step = deferred->step;
    size_t index = 0;
    int r;

    deferred->step = NULL;
    step->verdict = LBC_VERDICT_OPEN;
    while (run->plan->steps[index] != step) {
        index++;
    }
    r = step_start(run, index, run->apply->failed);
    return r < 0 ? r : lbc_run_end(run, &run->plan->steps[index], 1);
}

static int stage_retry_deferred(struct lbc_run *run, size_t from, size_t to)
{
    int r = 0;

    for (size_t i = from; r == 0 && i < to; i++) {
        const struct lbc_step *step = run->plan->steps[i];
        struct lbc_deferred *deferred =
            step->verdict == LBC_VERDICT_DONE ? deferred_for(run, step->type) : NULL;

        if (deferred != NULL) {
            r = deferred_retry(run, deferred);
        }
    }
    return r;
}

static bool run_met_conflict(const struct lbc_run *run)
{
    return run->apply->conflicted && run->apply->hides_conflict;
}

/* After a failure that ends the plan. */
static int stage_abandon(struct lbc_run *run, size_t from, size_t to, int r)
{
    for (size_t i = from; i < to; i++) {
        struct lbc_step *step = run->plan->steps[i];

        if (step->verdict == LBC_VERDICT_SENT) {
            run->apply->surprised = true;
            r = lbc_run_keep_created(run, step) < 0 ? -ENOMEM : r;
        }
    }
    return r;
}

static int run_stage(struct lbc_run *run, size_t from, size_t to)
{
    const size_t failed_before = run->apply->failed;
    int r = 0;

    for (size_t i = from; r == 0 && i < to && !run_met_conflict(run); i++) {
        r = step_start(run, i, failed_before);
    }
    if (r < 0) {
        return stage_abandon(run, from, to, r);
    }
    r = lbc_run_end(run, &run->plan->steps[from], to - from);
    for (size_t i = from; r == 0 && i < to; i++) {
        r = lbc_members_settle(run, run->plan->steps[i]);
    }
    if (r == 0) {
        r = stage_retry_deferred(run, from, to);
    }
    return r < 0 ? r : lbc_exchanges_run(run);
}

static size_t stage_end(const struct lbc_plan *plan, size_t from)
{
    size_t to = from + 1;

    while (to < plan->len && plan->steps[to]->stage == plan->steps[from]->stage) {
        to++;
    }
    return to;
}

enum lbc_lb_ready lbc_apply_lb_ready(const struct lbc_apply_ops *ops, const struct lbc_state *have,
                                     uint64_t *ret_again_ms, struct ccm_error *err)
{
    const char *id = lbc_state_lb(have)->id;

    if (id == NULL || ops->lb_ready == NULL) {
        return LBC_LB_READY;
    }
    *ret_again_ms = MAKING_MS;
    (void)ccm_error_set(err, 0, CCM_ERROR_AUTH,
                        "load balancer %s is broken, says the cloud: look for the cause in its "
                        "console, and delete it there to have another one created",
                        id); /* the result is the argument */

    const enum lbc_lb_ready ready = ops->lb_ready(have, ret_again_ms, err);

    if (ready != LBC_LB_BROKEN) {
        ccm_error_clear(err);
    }
    return ready;
}

/* Its state comes from the cloud, so what the mirror has of it is no good to the next run. */
static bool run_must_end(struct lbc_apply *apply)
{
    struct ccm_error err = CCM_ERROR_INIT;
    uint64_t again_ms = 0;

    if (apply->again_ms > 0) {
        return true;
    }
    switch (apply->insists ? LBC_LB_READY
                           : lbc_apply_lb_ready(apply->ops, apply->have, &again_ms, &err)) {
    case LBC_LB_MAKING:
        apply->again_ms = again_ms;
        break;
    case LBC_LB_BROKEN:
        if (apply->model == NULL) {
            return false; /* a release deletes it */
        }
        lbc_problems_add(apply->problems, &err, NULL);
        break;
    case LBC_LB_READY:
    default:
        return false;
    }
    apply->surprised = true;
    return true;
}

int lbc_apply_run(struct lbc_apply *apply, struct lbc_plan *plan)
{
    CCM_CLEANUP(run_fini)
    struct lbc_run run = {
        .apply = apply,
        .plan = plan,
        .priority = *apply->priority,
        .no_listener_err = CCM_ERROR_INIT,
        .left_out = { .max = 560 },
        .full = CCM_ERROR_INIT,
    };
    size_t to = 0;
    int r = 0;

    if (apply->underway != NULL && apply->underway->len > 0) {
        const size_t before = apply->problems->count;

        r = lbc_run_settle(&run);
        if (r < 0 || apply->problems->count > before || apply->again_ms > 0) {
            return r;
        }
    }
    if (plan->len == 0 || run_must_end(apply)) {
        return 0;
    }
    if (apply->sifting != NULL) {
        run.goes_on = *apply->sifting;
        *apply->sifting = false;
    }
    apply->failed = apply->counts_problems ? apply->problems->count : 0;
    for (size_t from = 0; r == 0 && from < plan->len && !run_must_end(apply); from = to) {
        to = stage_end(plan, from);
        r = run_stage(&run, from, to);
    }
    run_report_left_out(&run);
    if (r < 0 || run.put_off) {
        return r;
    }
    r = deferred_give_up(&run);
    return r < 0 ? r : lbc_exchanges_finish(&run);
}
