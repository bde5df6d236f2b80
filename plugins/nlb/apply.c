#include "apply.h"

#include "alicloud/error.h"
#include "alicloud/job.h"
#include "apply_exchange.h"
#include "apply_parts.h"
#include "apply_run.h"
#include "lbc/model/resolve.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_MS       30000 /* for the jobs of one stage */
#define BEING_MADE_MS 2000
#define DELETING_MS   5000
#define SEE_CONSOLE   "look at the resource in the console of the cloud"

/* --- one run --- */

static void run_fini(struct nlb_run *run)
{
    lbc_quota_fini(&run->quota);
    nlb_exchanges_fini(run);
    for (size_t i = 0; run->flights != NULL && i < run->plan->len; i++) {
        lbc_sent_fini(&run->flights[i].sent);
    }
    free(run->flights);
}

enum part { PART_LB, PART_SECURITY_GROUP, PART_GROUP, PART_LISTENER };

static enum part part_of(unsigned type)
{
    switch (type) {
    case NLB_STEP_CREATE_SECURITY_GROUP:
    case NLB_STEP_ADD_RULES:
    case NLB_STEP_MODIFY_RULE:
    case NLB_STEP_REMOVE_RULES:
    case NLB_STEP_RENAME_SECURITY_GROUP:
    case NLB_STEP_DELETE_SECURITY_GROUP:
        return PART_SECURITY_GROUP;
    case LBC_STEP_CREATE_GROUP:
    case LBC_STEP_UPDATE_GROUP:
    case LBC_STEP_ADD:
    case LBC_STEP_REMOVE:
    case LBC_STEP_UPDATE:
    case NLB_STEP_UNTAG_GROUP:
    case LBC_STEP_DELETE_GROUP:
        return PART_GROUP;
    case LBC_STEP_DELETE_LISTENER:
    case LBC_STEP_CREATE_LISTENER:
    case LBC_STEP_UPDATE_LISTENER:
    case LBC_STEP_RESTORE_LISTENER:
    case NLB_STEP_ADD_CERTS:
    case NLB_STEP_REMOVE_CERTS:
        return PART_LISTENER;
    default:
        return PART_LB;
    }
}

/* --- before a step --- */

/* Whether an ADD to that group failed in this run. */
static bool add_failed(const struct nlb_run *run, const struct nlb_group *group)
{
    for (size_t i = 0; i < run->plan->len; i++) {
        if (run->flights[i].verdict == NLB_VERDICT_FAILED &&
            run->plan->steps[i]->type == LBC_STEP_ADD &&
            nlb_apply_group(run->apply, nlb_step_at(run->plan, i)) == group) {
            return true;
        }
    }
    return false;
}

/* Removing after a failed add must not leave the group without any server, and nobody is sent to a
 * group that did not get its servers. */
static bool would_starve(const struct nlb_run *run, const struct nlb_step *step)
{
    const struct nlb_group *group = nlb_apply_group(run->apply, step);

    if (step->lbc.type == LBC_STEP_REMOVE) {
        return group->lbc.backends.len <= step->lbc.backends.len && add_failed(run, group);
    }
    return (step->lbc.type == LBC_STEP_UPDATE_LISTENER ||
            step->lbc.type == LBC_STEP_RESTORE_LISTENER) &&
           !ccm_text_equal(nlb_apply_target(run->apply, step)->lbc.group_id, group->lbc.id) &&
           add_failed(run, group);
}

static bool is_blocked(const struct nlb_run *run, const struct nlb_step *step, size_t failed_before)
{
    if ((step->lbc.last && failed_before > 0) || (step->lbc.needs_security && run->unsecured)) {
        return true;
    }
    switch (part_of(step->lbc.type)) {
    case PART_SECURITY_GROUP:
        return nlb_apply_security_group_blocked(run->apply, step);
    case PART_GROUP:
        return nlb_apply_group_blocked(run->apply, step) || would_starve(run, step);
    case PART_LISTENER:
        return nlb_apply_listener_blocked(run->apply, step) || would_starve(run, step);
    default:
        return nlb_apply_lb_blocked(run->apply, step);
    }
}

int nlb_run_check_cancelled(const struct nlb_run *run)
{
    const struct alilb_call *call = &run->apply->call;
    struct ccm_error err = CCM_ERROR_INIT;

    if (!call->host->cancelled(call->host, call->req)) {
        return 0;
    }
    (void)ccm_error_set(&err, 0, CCM_ERROR_CANCELLED,
                        "stopped in the middle"); /* the result is the argument */
    lbc_problems_add(run->apply->problems, &err, NULL);
    return -ECANCELED;
}

/* --- a step --- */

static enum lbc_priority priority_of(const struct nlb_run *run, const struct nlb_step *step)
{
    switch (step->lbc.type) {
    case LBC_STEP_REMOVE:
    case LBC_STEP_DELETE_LB:
        return LBC_PRIO_REMOVE;
    case LBC_STEP_CREATE_LB:
        return LBC_PRIO_NEW;
    default:
        return run->priority;
    }
}

static int send_step(struct nlb_run *run, const struct nlb_step *step, struct lbc_sent *sent,
                     struct ccm_error *err)
{
    struct nlb_apply *apply = run->apply;

    apply->call.priority = priority_of(run, step);
    apply->call.uncertain = false;
    switch (part_of(step->lbc.type)) {
    case PART_SECURITY_GROUP:
        return nlb_apply_security_group_send(apply, step, sent, err);
    case PART_GROUP:
        return nlb_apply_group_send(apply, step, sent, err);
    case PART_LISTENER:
        return nlb_apply_listener_send(apply, step, sent, err);
    default:
        return nlb_apply_lb_send(apply, step, sent, err);
    }
}

int nlb_run_send(struct nlb_run *run, struct nlb_flight *flight, struct ccm_error *err)
{
    const int r = send_step(run, flight->step, &flight->sent, err);

    flight->verdict = r < 0 ? NLB_VERDICT_FAILED : NLB_VERDICT_SENT;
    run->apply->writes += r < 0 ? 0 : 1;
    return r;
}

int nlb_run_out_of_memory(const struct nlb_run *run)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = ccm_error_nomem(&err);

    run->apply->surprised = true;
    lbc_problems_add(run->apply->problems, &err, NULL);
    return r;
}

static bool frees_servers(const struct nlb_step *step)
{
    return step->lbc.type == LBC_STEP_REMOVE || step->lbc.type == LBC_STEP_DELETE_LISTENER ||
           step->lbc.type == LBC_STEP_UPDATE_LISTENER ||
           step->lbc.type == LBC_STEP_RESTORE_LISTENER;
}

/* Negative: the cloud has it, our memory has not. Later steps would build on what is not known. */
static int finish_step(struct nlb_run *run, struct nlb_flight *flight)
{
    const struct nlb_step *step = flight->step;
    struct nlb_apply *apply = run->apply;
    int r = 0;

    switch (part_of(step->lbc.type)) {
    case PART_SECURITY_GROUP:
        r = nlb_apply_security_group_done(apply, step, &flight->sent);
        break;
    case PART_GROUP:
        r = nlb_apply_group_done(apply, step, &flight->sent);
        break;
    case PART_LISTENER:
        r = nlb_apply_listener_done(apply, step, &flight->sent);
        break;
    default:
        r = nlb_apply_lb_done(apply, step);
        break;
    }
    flight->verdict = NLB_VERDICT_DONE;
    nlb_run_record_quota(run, step, NULL);
    run->freed += frees_servers(step) ? 1 : 0;
    return r < 0 ? nlb_run_out_of_memory(run) : 0;
}

/* The same servers were refused for another group: told there, and not asked for again. */
static bool is_known_refusal(const struct nlb_run *run, const struct nlb_step *step)
{
    return run->unknown != NULL && step->lbc.type == LBC_STEP_ADD &&
           lbc_backends_same_servers(&run->unknown->lbc.backends, &step->lbc.backends);
}

static int start_step(struct nlb_run *run, size_t index, size_t failed_before)
{
    const struct nlb_step *step = nlb_step_at(run->plan, index);
    struct nlb_flight *flight = &run->flights[index];
    struct ccm_error err = CCM_ERROR_INIT;
    int r = nlb_run_check_cancelled(run);

    if (r == 0 && step->lbc.needs_security && step->lbc.type != NLB_STEP_LEAVE) {
        r = nlb_run_give_up(run);
    }
    if (r < 0 || flight->verdict == NLB_VERDICT_EXCHANGED || is_blocked(run, step, failed_before) ||
        nlb_run_leaves_out(run, step)) {
        return r;
    }
    if (is_known_refusal(run, step)) {
        flight->verdict = NLB_VERDICT_FAILED;
        return 0;
    }
    r = nlb_run_send(run, flight, &err);
    if (r == 0) {
        return 0;
    }
    if (step->lbc.type == LBC_STEP_ADD && alilb_cloud_ops.is_unknown_backend(&err)) {
        run->unknown = step;
    }
    nlb_run_record_quota(run, step, &err);
    if (nlb_exchange_is_full(step, &err)) {
        return nlb_exchange_begin(run, index, &err);
    }
    return nlb_run_defer(run, step, r, &err)
               ? 0
               : nlb_run_fail(run, step, r, &err, ali_error_remedy(&err));
}

/* --- jobs --- */

struct jobs {
    struct ali_job *items;
    size_t len;
};

static void jobs_fini(struct jobs *jobs)
{
    free(jobs->items);
}

/* What was accepted but, as far as anybody knows, not carried out. */
static int fail_job(struct nlb_run *run, const struct nlb_flight *flight, const char *what)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, 0, CCM_ERROR_TRANSIENT, "accepted, but %s (RequestId %s)", what,
                        flight->sent.request_id); /* not an errno */
    ccm_text_copy(err.request_id, sizeof(err.request_id), flight->sent.request_id);
    nlb_run_distrust(run->apply, flight->step);
    return nlb_run_fail(run, flight->step, -EIO, &err, SEE_CONSOLE);
}

bool nlb_run_is_draining(const struct nlb_group *group)
{
    return ccm_text_equal(
        lbc_attrs_get(&group->lbc.attrs, nlb_group_field("ConnectionDrainEnabled")), "true");
}

/* Servers of such a group may stay until their connections have ended. */
static struct nlb_group *draining_group(const struct nlb_run *run, const struct nlb_step *step)
{
    struct nlb_group *group =
        step->lbc.type == LBC_STEP_REMOVE ? nlb_apply_group(run->apply, step) : NULL;

    return group != NULL && nlb_run_is_draining(group) ? group : NULL;
}

/* Deleting and draining take as long as they take; everything else is late. */
static int fail_late(struct nlb_run *run, const struct nlb_flight *flight, int r,
                     const struct ccm_error *why)
{
    const struct nlb_step *step = flight->step;
    struct nlb_apply *apply = run->apply;
    struct ccm_error err;

    struct nlb_group *draining = draining_group(run, step);

    if (draining != NULL && r == -ETIMEDOUT) {
        draining->lbc.unread = true;
        apply->again_ms = DELETING_MS;
        return 0;
    }
    nlb_run_distrust(apply, step);
    if (step->lbc.type == LBC_STEP_DELETE_LB && r == -ETIMEDOUT) {
        apply->again_ms = DELETING_MS;
        return 0;
    }
    if (r == -ETIMEDOUT) {
        return fail_job(run, flight, "its job has not ended in time");
    }
    ccm_error_copy(&err, why);
    return nlb_run_fail(run, step, r, &err, ali_error_remedy(why));
}

static const char *job_describe_failure(const struct ali_job *job)
{
    return job->state == ALI_JOB_FAILED ? "its job failed, the cloud does not say why"
                                        : "the cloud does not know its job";
}

static int end_step(struct nlb_run *run, struct nlb_flight *flight, const struct ali_job *job,
                    int waited, const struct ccm_error *why)
{
    if (job != NULL && job->state != ALI_JOB_DONE) {
        flight->verdict = NLB_VERDICT_FAILED;
        return job->state == ALI_JOB_RUNNING ? fail_late(run, flight, waited, why)
                                             : fail_job(run, flight, job_describe_failure(job));
    }
    return finish_step(run, flight);
}

static bool has_job(const struct nlb_flight *flight)
{
    return flight->verdict == NLB_VERDICT_SENT && flight->sent.job[0] != '\0';
}

int nlb_run_end(struct nlb_run *run, struct nlb_flight *flights, size_t count)
{
    CCM_CLEANUP(jobs_fini) struct jobs jobs = { .items = calloc(count, sizeof(*jobs.items)) };
    struct alilb_call *call = &run->apply->call;
    struct ccm_error why = CCM_ERROR_INIT;
    size_t next = 0;
    int waited;
    int r = 0;

    if (jobs.items == NULL) {
        return nlb_run_out_of_memory(run);
    }
    for (size_t i = 0; i < count; i++) {
        if (has_job(&flights[i])) {
            ccm_text_copy(jobs.items[jobs.len].id, sizeof(jobs.items[0].id), flights[i].sent.job);
            jobs.len++;
        }
    }
    waited = ali_job_wait(&(const struct ali_caller){ call->ali, call->host, call->req },
                          jobs.items, jobs.len, JOBS_MS, &why);
    call->uncertain = false;
    for (size_t i = 0; i < count; i++) {
        const struct ali_job *job = has_job(&flights[i]) ? &jobs.items[next++] : NULL;

        if (flights[i].verdict == NLB_VERDICT_SENT) {
            const int one = end_step(run, &flights[i], job, waited, &why);

            r = r < 0 ? r : one;
        }
    }
    return r;
}

/* --- stages --- */

/* Once more, now that there is room; a stage of its own. */
static int run_retry_deferred(struct nlb_run *run, struct nlb_deferred *slot)
{
    const struct nlb_step *step = slot->step;
    const size_t index = nlb_run_find_step(run, step);

    slot->step = NULL;
    run->flights[index].verdict = NLB_VERDICT_OPEN;

    const int r = start_step(run, index, run->failed);

    return r < 0 ? r : nlb_run_end(run, &run->flights[index], 1);
}

static int retry_after(struct nlb_run *run, size_t from, size_t to)
{
    int r = 0;

    for (size_t i = from; r == 0 && i < to; i++) {
        const unsigned type = run->plan->steps[i]->type;

        if (run->flights[i].verdict != NLB_VERDICT_DONE) {
            continue;
        }
        if (type == NLB_STEP_REMOVE_RULES && run->rules.step != NULL) {
            r = run_retry_deferred(run, &run->rules);
        } else if (type == NLB_STEP_LEAVE && run->join.step != NULL) {
            r = run_retry_deferred(run, &run->join);
        }
    }
    return r;
}

static int run_send_stage(struct nlb_run *run, size_t from, size_t to)
{
    const size_t failed_before = run->failed;
    int r = 0;

    for (size_t i = from; r == 0 && i < to; i++) {
        r = start_step(run, i, failed_before);
    }
    if (r < 0) {
        for (size_t i = from; i < to; i++) {
            run->apply->surprised =
                run->apply->surprised || run->flights[i].verdict == NLB_VERDICT_SENT;
        }
        return r;
    }
    r = nlb_run_end(run, &run->flights[from], to - from);
    r = r < 0 ? r : retry_after(run, from, to);
    return r < 0 ? r : nlb_exchanges_run(run);
}

static size_t stage_end(const struct lbc_plan *plan, size_t from)
{
    size_t to = from + 1;

    while (to < plan->len && plan->steps[to]->stage == plan->steps[from]->stage) {
        to++;
    }
    return to;
}

/* Nothing can be done with one that is still being made, or is on its way out. */
static bool is_unready(struct nlb_apply *apply)
{
    const char *status = apply->have->lb.id == NULL ? NULL : apply->have->lb.status;

    if (status != NULL && ccm_text_equal_case(status, "Provisioning")) {
        apply->again_ms = BEING_MADE_MS;
    } else if (status != NULL && ccm_text_equal_case(status, "Deleting")) {
        apply->surprised = true;
        apply->again_ms = DELETING_MS;
    }
    return apply->again_ms > 0;
}

int nlb_apply_run(struct nlb_apply *apply, const struct lbc_plan *plan)
{
    CCM_CLEANUP(run_fini)
    struct nlb_run run = {
        .apply = apply, .plan = plan, .priority = apply->call.priority, .quota = LBC_QUOTA_INIT
    };
    size_t to = 0;
    int r = 0;

    if (plan->len == 0 || is_unready(apply)) {
        return 0;
    }
    run.flights = calloc(plan->len, sizeof(*run.flights));
    if (run.flights == NULL) {
        return nlb_run_out_of_memory(&run);
    }
    for (size_t i = 0; i < plan->len; i++) {
        run.flights[i].step = nlb_step_at(plan, i);
    }
    for (size_t from = 0; r == 0 && apply->again_ms == 0 && from < plan->len; from = to) {
        to = stage_end(plan, from);
        r = run_send_stage(&run, from, to);
    }
    lbc_quota_report(&run.quota, nlb_steps.names[LBC_STEP_CREATE_LISTENER], apply->problems);
    r = r < 0 ? r : nlb_run_give_up(&run);
    return r < 0 ? r : nlb_exchanges_finish(&run);
}
