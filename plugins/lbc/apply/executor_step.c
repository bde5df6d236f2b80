/* What happens to one step: sent, waited for, noted in the mirror, failed. */
#include "lbc/apply/executor_parts.h"
#include "lbc/apply/record.h"
#include "lbc/apply/taken.h"
#include "lbc/model/resolve.h"
#include "lbc/rules/blame.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ADVICE_MAX  600   /* bytes of a remedy and the annotations that it is about */
#define CONFLICT_MS 500   /* until what met a conflict is tried again */
#define REPEATED_MS 4000  /* and once more, at least */
#define JOBS_MS     30000 /* for the jobs of one stage */
#define LAST_MS     1000  /* for the last question about jobs that are late */
#define SEE_CONSOLE "look at the resource in the console of the cloud"

static const struct lbc_step_ops *step_ops(const struct lbc_run *run, const struct lbc_step *step)
{
    return &run->apply->ops->steps[step->type];
}

/* --- failures --- */

static bool refusal_matches(const struct lbc_refusal_row *row, const struct ccm_error *err)
{
    const size_t len = row->code == NULL ? 0 : strcspn(row->code, "*");

    return (row->code == NULL ||
            (row->code[len] == '*' ? strncmp(row->code, err->code, len) == 0
                                   : ccm_text_equal_case(row->code, err->code))) &&
           (row->text == NULL || strstr(err->message, row->text) != NULL) &&
           (row->unless == NULL || strstr(err->message, row->unless) == NULL);
}

bool lbc_refusal_is(const struct lbc_apply_ops *ops, unsigned what, const struct ccm_error *err)
{
    for (const struct lbc_refusal_row *row = ops->refusals; row != NULL && row->means != 0; row++) {
        if ((row->means & what) != 0 && refusal_matches(row, err)) {
            return true;
        }
    }
    return false;
}

int lbc_apply_forgive(const struct lbc_apply *apply, int r, const struct ccm_error *err)
{
    return r < 0 && err->kind == CCM_ERROR_NOT_FOUND &&
                   (apply->forgives_lb || !lbc_refusal_is(apply->ops, LBC_REFUSAL_LB_GONE, err))
               ? 0
               : r;
}

bool lbc_apply_shrink_batch(const struct lbc_apply *apply, size_t count,
                            const struct ccm_error *err)
{
    if (apply->batch == NULL || count <= apply->small_batch ||
        !lbc_refusal_is(apply->ops, LBC_REFUSAL_BATCH, err)) {
        return false;
    }
    atomic_store(apply->batch, (unsigned)apply->small_batch);
    return true;
}

int lbc_run_out_of_memory(const struct lbc_run *run)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = ccm_error_nomem(&err);

    run->apply->surprised = true;
    lbc_problems_add(run->apply->problems, &err, NULL);
    return r;
}

int lbc_run_mark_short(struct lbc_run *run, const struct lbc_group *group, bool partly)
{
    if (ccm_array_grow(&run->short_, &run->short_cap, run->short_count + 1, sizeof(*run->short_)) <
        0) {
        return lbc_run_out_of_memory(run);
    }
    run->short_[run->short_count++] = (struct lbc_short){ .group = group, .partly = partly };
    return 0;
}

/* The mirror may be wrong about this step, and what is known about the interfaces in it. */
static void step_distrust(struct lbc_apply *apply, const struct lbc_step *step)
{
    apply->surprised = true;
    lbc_resolve_forget(apply->cloud, &step->backends);
}

/* What the failure says about the future. */
static uint64_t step_classify_error(const struct lbc_apply *apply, const struct lbc_step *step,
                                    const struct ccm_error *err)
{
    const bool named = (apply->ops->steps[step->type].flags & LBC_NAMED) != 0;

    if (named && step->texts.len > 0 && err->kind == CCM_ERROR_NOT_FOUND &&
        !lbc_refusal_is(apply->ops, LBC_REFUSAL_LB_GONE, err)) {
        return CCM_ERROR_TERMINAL; /* a person named it: no look at the cloud changes that */
    }
    return err->kind == CCM_ERROR_NOT_FOUND ||
                   (err->kind == CCM_ERROR_TERMINAL && apply->surprised && !apply->fresh)
               ? CCM_ERROR_CONFLICT /* our picture may have been wrong: look again soon */
               : err->kind;
}

static void step_report_failure(const struct lbc_run *run, const struct lbc_step *step, int r,
                                struct ccm_error *err, const char *remedy)
{
    const struct lbc_step_table *table = run->plan->table;
    const struct lbc_apply *apply = run->apply;
    const char *name = lbc_step_name(table, step->type);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf advice = { .max = ADVICE_MAX };

    lbc_blame_write(apply->annotations, &apply->service->meta, remedy, err->message, &advice);
    if (step->port != 0) {
        (void)ccm_error_wrap(err, r, "port %u/%s: %s", step->port,
                             table->state->protocol_name(step->protocol), name); /* returns r */
    } else {
        (void)ccm_error_wrap(err, r, "%s", name); /* returns r */
    }
    lbc_problems_add(apply->problems, err, advice.len == 0 ? NULL : ccm_buf_str(&advice));
    run->apply->failed++;
}

/* Whether a conflict is the first one of the key, which is not reported. */
static bool step_hides_conflict(const struct lbc_run *run, const struct lbc_step *step,
                                struct ccm_error *err)
{
    struct lbc_apply *apply = run->apply;

    if (err->kind != CCM_ERROR_CONFLICT || lbc_refusal_is(apply->ops, LBC_REFUSAL_LB_GONE, err) ||
        lbc_refusal_is(apply->ops, LBC_REFUSAL_MEMBER, err)) {
        return false;
    }
    apply->conflicted = true;
    if (!apply->hides_conflict) {
        err->retry_after_ms = err->retry_after_ms > 0 ? err->retry_after_ms : REPEATED_MS;
        return false;
    }
    if (!lbc_cloud_explain(apply->cloud, err).is_wait) {
        step_distrust(apply, step);
    }
    apply->again_ms = err->retry_after_ms > 0 ? err->retry_after_ms : CONFLICT_MS;
    return true;
}

int lbc_run_fail(struct lbc_run *run, const struct lbc_step *step, int r, struct ccm_error *err,
                 const char *remedy)
{
    struct lbc_apply *apply = run->apply;
    const unsigned flags = step_ops(run, step)->flags;
    const bool gone = lbc_refusal_is(apply->ops, LBC_REFUSAL_LB_GONE, err);

    if (step_hides_conflict(run, step, err)) {
        return 0;
    }
    const struct lbc_failure failure = lbc_cloud_explain(apply->cloud, err);

    remedy = remedy != NULL ? remedy : failure.remedy;
    if (*apply->uncertain || !failure.is_wait) {
        step_distrust(apply, step);
    }
    if (gone) {
        apply->lb_gone = true;
        (*apply->attempt)++;
    }
    if (step->type == LBC_STEP_RESTORE_LISTENER && !gone &&
        lbc_taken_is_refused(err, *apply->uncertain)) {
        apply->cannot_restore = true;
        remedy = LBC_TAKEN_REFUSED;
    }
    err->kind = step_classify_error(apply, step, err);
    step_report_failure(run, step, r, err, remedy);
    run->unsecured = run->unsecured || (flags & LBC_SECURES) != 0;
    return gone || err->kind == CCM_ERROR_CANCELLED || (flags & LBC_ENDS_PLAN) != 0 ? r : 0;
}

int lbc_run_check_cancelled(const struct lbc_run *run)
{
    const struct lbc_apply *apply = run->apply;
    struct ccm_error err = CCM_ERROR_INIT;

    if (!apply->host->cancelled(apply->host, apply->req)) {
        return 0;
    }
    (void)ccm_error_set(&err, 0, CCM_ERROR_CANCELLED,
                        "stopped in the middle"); /* the result is the argument */
    lbc_problems_add(apply->problems, &err, NULL);
    return -ECANCELED;
}

/* --- sending --- */

static enum lbc_priority step_choose_priority(const struct lbc_run *run,
                                              const struct lbc_step *step)
{
    const bool retry = run->priority == LBC_PRIO_RETRY;

    switch (step->type) {
    case LBC_STEP_REMOVE:
        return LBC_PRIO_REMOVE;
    case LBC_STEP_DELETE_LB:
        return retry ? LBC_PRIO_RETRY : LBC_PRIO_REMOVE;
    case LBC_STEP_CREATE_LB:
        return retry ? LBC_PRIO_RETRY : LBC_PRIO_NEW;
    default:
        return run->priority;
    }
}

int lbc_run_send(struct lbc_run *run, struct lbc_step *step, struct ccm_error *err)
{
    struct lbc_apply *apply = run->apply;
    int r;

    *apply->priority = step_choose_priority(run, step);
    *apply->uncertain = false;
    lbc_sent_fini(&step->sent);
    r = step_ops(run, step)->send(apply, step, err);
    apply->surprised = apply->surprised || apply->again_ms > 0;
    apply->lost = apply->lost || (r < 0 && *apply->uncertain);
    step->verdict = r < 0 ? LBC_VERDICT_FAILED : LBC_VERDICT_SENT;
    if (step->type == LBC_STEP_CREATE_LB) {
        apply->made_lb = r == 0 || lbc_state_lb(apply->have)->id != NULL;
        apply->asked_lb = apply->made_lb || *apply->uncertain;
    }
    apply->writes += r < 0 ? 0 : 1;
    return r;
}

/* --- the mirror --- */

/* What was made is what later steps are about that could not name it. */
static void plan_link_made(const struct lbc_plan *plan, const struct lbc_step *maker)
{
    if (maker->type != LBC_STEP_CREATE_GROUP && maker->type != LBC_STEP_CREATE_LISTENER) {
        return;
    }
    for (size_t i = 0; i < plan->len; i++) {
        struct lbc_step *step = plan->steps[i];

        if (maker->type == LBC_STEP_CREATE_GROUP && step->group == NULL &&
            step->want == maker->want) {
            step->group = maker->group;
        } else if (maker->type == LBC_STEP_CREATE_LISTENER && step->listener == NULL &&
                   step->port == maker->port && step->protocol == maker->protocol) {
            step->listener = maker->listener;
        }
    }
}

/* What is the same for all products. */
static int step_record_common(const struct lbc_run *run, struct lbc_step *step)
{
    struct lbc_apply *apply = run->apply;
    const struct lbc_state_type *type = run->plan->table->state;

    switch (step->type) {
    case LBC_STEP_TAG:
    case LBC_STEP_UNTAG:
        return lbc_record_tags(step, lbc_state_lb(apply->have));
    case LBC_STEP_CREATE_GROUP:
        lbc_capacity_use(&apply->capacity, step->backends.len);
        return lbc_record_new_group(apply->have, step, type);
    case LBC_STEP_UPDATE_GROUP:
        return lbc_attrs_copy(&step->group->attrs, &step->attrs);
    case LBC_STEP_ADD:
    case LBC_STEP_REMOVE:
    case LBC_STEP_UPDATE:
        return lbc_record_backends(step, &step->backends);
    case LBC_STEP_DELETE_LB:
        return lbc_record_deleted(apply->have, type);
    case LBC_STEP_CREATE_LISTENER:
        return lbc_record_new_listener(apply->have, step, type);
    case LBC_STEP_UPDATE_LISTENER:
    case LBC_STEP_RESTORE_LISTENER:
        return lbc_record_listener(step);
    case LBC_STEP_DELETE_GROUP:
        lbc_capacity_free(&apply->capacity, step->group->backends.len);
        lbc_state_drop_group(apply->have, step->group);
        step->group = NULL;
        return 0;
    case LBC_STEP_DELETE_LISTENER:
        lbc_state_drop_listener(apply->have, step->listener);
        step->listener = NULL;
        return 0;
    default:
        return lbc_record_values(run->plan->table, step, lbc_state_lb(apply->have));
    }
}

static bool step_frees_backends(const struct lbc_step *step)
{
    return step->type == LBC_STEP_REMOVE || step->type == LBC_STEP_DELETE_LISTENER ||
           step->type == LBC_STEP_UPDATE_LISTENER || step->type == LBC_STEP_RESTORE_LISTENER;
}

/* Negative: the cloud has it, our memory has not. Later steps would build on what is not known. */
static int step_record(struct lbc_run *run, struct lbc_step *step)
{
    const struct lbc_step_ops *ops = step_ops(run, step);
    const int r = ops->done != NULL ? ops->done(run->apply, step) : step_record_common(run, step);

    return r < 0 ? lbc_run_out_of_memory(run) : 0;
}

int lbc_run_keep_created(struct lbc_run *run, struct lbc_step *step)
{
    return step->sent.made_id != NULL ? step_record(run, step) : 0;
}

static int step_finish(struct lbc_run *run, struct lbc_step *step)
{
    struct lbc_apply *apply = run->apply;
    const int r = step_record(run, step);

    step->verdict = LBC_VERDICT_DONE;
    plan_link_made(run->plan, step);
    run->freed += step_frees_backends(step) ? 1 : 0;
    if (step->type == LBC_STEP_DELETE_LISTENER) {
        run->no_listener_fits = false;
    }
    /* One that was put back may be taken over by those who had to leave it to this Service. */
    apply->freed = apply->freed || step->type == LBC_STEP_DELETE_LISTENER ||
                   step->type == LBC_STEP_RESTORE_LISTENER;
    return r;
}

/* --- jobs --- */

/* What was accepted but, as far as anybody knows, not carried out. */
static int job_fail(struct lbc_run *run, const struct lbc_step *step, const char *what)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, 0, CCM_ERROR_TRANSIENT, "accepted, but %s", what); /* not an errno */
    ccm_error_add_request_id(&err, step->sent.request_id);
    step_distrust(run->apply, step);
    return lbc_run_fail(run, step, -EIO, &err, SEE_CONSOLE);
}

bool lbc_group_is_draining(const struct lbc_group *group)
{
    bool draining = false;

    for (size_t i = 0; group != NULL && !draining && i < group->attrs.len; i++) {
        const struct lbc_anno *row = group->attrs.items[i].row;

        draining = (row->cloud & LBC_ATTR_DRAINS) != 0 && lbc_attrs_is_on(&group->attrs, row);
    }
    return draining;
}

/* Deleting and draining take as long as they take; everything else is late. */
static int job_fail_late(struct lbc_run *run, const struct lbc_step *step, int r,
                         const struct ccm_error *why)
{
    struct lbc_apply *apply = run->apply;
    struct ccm_error err;

    if (r == -ETIMEDOUT && step->type == LBC_STEP_REMOVE && lbc_group_is_draining(step->group)) {
        step->group->unread = true;
        apply->again_ms = LBC_DELETING_MS;
        return 0;
    }
    step_distrust(apply, step);
    apply->lost = true; /* the job may still do what it was asked for */
    if (r == -ETIMEDOUT && step->type == LBC_STEP_DELETE_LB) {
        apply->again_ms = LBC_DELETING_MS;
        return 0;
    }
    if (r == -ETIMEDOUT) {
        return job_fail(run, step, "its job has not ended in time");
    }
    ccm_error_copy(&err, why);
    return lbc_run_fail(run, step, r, &err, NULL);
}

static bool step_has_job(const struct lbc_step *step)
{
    return step != NULL && step->verdict == LBC_VERDICT_SENT && step->sent.job[0] != '\0';
}

static int job_fail_ended(struct lbc_run *run, const struct lbc_step *step,
                          enum lbc_job_state state)
{
    run->apply->lost = run->apply->lost || state != LBC_JOB_FAILED;
    return job_fail(run, step,
                    state == LBC_JOB_FAILED ? "its job failed, the cloud does not say why"
                                            : "the cloud does not know its job");
}

/* Its job goes on while the pass gives its worker back. */
static int step_leave_underway(struct lbc_run *run, struct lbc_step *step)
{
    run->put_off = true;
    return lbc_underway_add(run->apply->underway, step) < 0 ? lbc_run_out_of_memory(run)
                                                            : step_finish(run, step);
}

static bool run_may_put_off(const struct lbc_run *run, int waited, const struct ccm_error *why)
{
    return waited == -EAGAIN && run->apply->underway != NULL && lbc_error_is_put_off(why);
}

static int step_end(struct lbc_run *run, struct lbc_step *step, const struct lbc_job *job,
                    int waited, const struct ccm_error *why)
{
    int r = 0;

    if (job == NULL || job->state == LBC_JOB_DONE) {
        return step_finish(run, step);
    }
    if (job->state == LBC_JOB_RUNNING && run_may_put_off(run, waited, why)) {
        return step_leave_underway(run, step);
    }
    step->verdict = LBC_VERDICT_FAILED;
    if (step->type == LBC_STEP_ADD && !step->is_exchanged) {
        r = lbc_run_mark_short(run, step->group, false);
    }
    if (r == 0 && job->state != LBC_JOB_FAILED) {
        r = lbc_run_keep_created(run, step);
    }
    if (r < 0) {
        return r;
    }
    if (job->state == LBC_JOB_RUNNING) {
        return job_fail_late(run, step, waited, why);
    }
    return job_fail_ended(run, step, job->state);
}

/* The run ends here, and comes again when the jobs should be asked for. */
static void run_put_off(struct lbc_run *run, const struct ccm_error *why)
{
    run->put_off = true;
    run->apply->again_ms = why->retry_after_ms;
    lbc_problems_add(run->apply->problems, why, NULL);
}

int lbc_run_end(struct lbc_run *run, struct lbc_step *const *steps, size_t count)
{
    CCM_CLEANUP(ccm_freep) struct lbc_job *jobs = calloc(count, sizeof(*jobs));
    struct lbc_apply *apply = run->apply;
    struct ccm_error why = CCM_ERROR_INIT;
    size_t len = 0;
    size_t next = 0;
    int waited = 0;
    int r = 0;

    if (jobs == NULL) {
        return lbc_run_out_of_memory(run);
    }
    for (size_t i = 0; i < count; i++) {
        if (step_has_job(steps[i])) {
            jobs[len++].id = steps[i]->sent.job;
        }
    }
    if (len > 0) {
        waited = apply->ops->wait(apply, jobs, len, JOBS_MS, &why);
        if (run_may_put_off(run, waited, &why)) {
            apply->underway->end_ms = apply->host->now_ms(apply->host) + JOBS_MS;
        }
    }
    *apply->uncertain = false;
    for (size_t i = 0; i < count; i++) {
        const struct lbc_job *job = step_has_job(steps[i]) ? &jobs[next++] : NULL;

        if (steps[i] != NULL && steps[i]->verdict == LBC_VERDICT_SENT) {
            const int one = step_end(run, steps[i], job, waited, &why);

            r = r < 0 ? r : one;
        }
    }
    if (len > 0 && run_may_put_off(run, waited, &why)) {
        run_put_off(run, &why);
    }
    return r;
}

int lbc_run_make_empty(struct lbc_run *run, struct lbc_step *step)
{
    const struct lbc_backends all = step->backends;
    struct ccm_error err = CCM_ERROR_INIT;
    int r;

    memset(&step->backends, 0, sizeof(step->backends));
    r = lbc_run_send(run, step, &err);
    r = r < 0 ? lbc_run_fail(run, step, r, &err, NULL) : lbc_run_end(run, &step, 1);
    step->backends = all;
    return r;
}

/* --- jobs of an earlier run --- */

/* As if its step were of this one. */
static int underway_fail(struct lbc_run *run, const struct lbc_underway_job *job,
                         enum lbc_job_state state, int waited, const struct ccm_error *why)
{
    CCM_CLEANUP(ccm_freep) struct lbc_step *step = calloc(1, run->plan->table->size);

    if (step == NULL) {
        return lbc_run_out_of_memory(run);
    }
    step->type = job->type;
    step->port = job->port;
    step->protocol = job->protocol;
    step->group = lbc_state_group_by_id(run->apply->have, job->group_id);
    step->backends = job->backends; /* borrowed */
    ccm_text_copy(step->sent.request_id, sizeof(step->sent.request_id), job->request_id);
    return state == LBC_JOB_RUNNING ? job_fail_late(run, step, waited, why)
                                    : job_fail_ended(run, step, state);
}

/* keep: out, those that still run. */
static int underway_end_jobs(struct lbc_run *run, const struct lbc_job *jobs, bool *keep,
                             int waited, const struct ccm_error *why)
{
    struct lbc_apply *apply = run->apply;
    const struct lbc_underway *underway = apply->underway;
    const bool late = apply->host->now_ms(apply->host) >= underway->end_ms;
    const bool put_off = run_may_put_off(run, waited, why);
    int r = 0;

    for (size_t i = 0; i < underway->len; i++) {
        keep[i] = jobs[i].state == LBC_JOB_RUNNING && put_off && !late;
        run->put_off = run->put_off || keep[i];
        if (jobs[i].state == LBC_JOB_DONE) {
            apply->writes++;
        } else if (!keep[i] && r == 0) {
            r = underway_fail(run, &underway->items[i], jobs[i].state,
                              put_off ? -ETIMEDOUT : waited, why);
        }
    }
    return r;
}

int lbc_run_settle(struct lbc_run *run)
{
    struct lbc_apply *apply = run->apply;
    struct lbc_underway *underway = apply->underway;
    CCM_CLEANUP(ccm_freep) struct lbc_job *jobs = calloc(underway->len, sizeof(*jobs));
    CCM_CLEANUP(ccm_freep) bool *keep = calloc(underway->len, sizeof(*keep));
    struct ccm_error why = CCM_ERROR_INIT;
    const int64_t left = underway->end_ms - apply->host->now_ms(apply->host);

    if (jobs == NULL || keep == NULL) {
        return lbc_run_out_of_memory(run);
    }
    for (size_t i = 0; i < underway->len; i++) {
        jobs[i].id = underway->items[i].id;
    }
    const int waited =
        apply->ops->wait(apply, jobs, underway->len, left > LAST_MS ? left : LAST_MS, &why);

    *apply->uncertain = false;
    const int r = underway_end_jobs(run, jobs, keep, waited, &why);

    lbc_underway_keep(underway, keep);
    if (run->put_off) {
        run_put_off(run, &why);
    }
    return r;
}
