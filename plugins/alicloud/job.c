#include "alicloud/job.h"

#include "alicloud/ali.h"
#include "alicloud/error.h"
#include "alicloud/params.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"
#include "util/thread.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK     20      /* ids per ListAsynJobs */
#define ROUND_MS  2200    /* the longest pause between two questions */
#define FIRST_MS  250     /* a job is first asked for so long after it was started */
#define CROWD     16      /* from so many waiters on rounds are ROUND_MS apart */
#define SLICE_MS  100     /* a sleeper looks up this often: for cancellation and new jobs */
#define MISSES    4       /* rounds without a job in the answer before it counts as unknown */
#define DENIED_MS 3600000 /* after a refusal ListAsynJobs is left alone for so long */
#define AWAY_MS   60000   /* who was put off and does not come again is forgotten then */
#define AWAY_MAX  10000

/* Somebody who waits; on the stack of the waiting thread, or on the heap while it is away. */
struct waiter {
    struct waiter *next;
    struct ali_job *jobs;
    size_t count;
    int64_t patient_ms; /* it is put off then; 0 = it stays to the end */
    int64_t forget_ms;  /* it is away, for no longer than that; 0 = it is here */
    int64_t since_ms;
    int64_t due_ms; /* when its jobs should be asked for */
    int64_t end_ms;
    unsigned int asked;
    uint64_t round; /* the last one that was about it */
};

struct ali_jobs {
    pthread_mutex_t lock; /* guards all below and the jobs of all waiters; no call is made under it
                           */
    pthread_cond_t news;  /* states have changed, or the leader has left */
    struct waiter *waiters;
    size_t away;
    const struct waiter *leader; /* the one that polls for all; NULL = nobody */
    uint64_t round;
    int64_t asked_ms; /* when the last round began */
    int64_t denied_until_ms;
    int failed; /* what the last poll came to, 0 = well */
    struct ccm_error failure;
    atomic_bool degraded;
};

/* On whose behalf a thread waits. */
struct turn {
    const struct ali_caller *by;
    struct ali_jobs *jobs;
    struct waiter *self;
};

struct ali_jobs *ali_jobs_new(void)
{
    struct ali_jobs *jobs = calloc(1, sizeof(*jobs));

    if (jobs == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&jobs->lock, NULL) != 0) {
        free(jobs);
        return NULL;
    }
    if (ccm_clock_cond_init(&jobs->news) < 0) {
        ccm_lock_fini(&jobs->lock);
        free(jobs);
        return NULL;
    }
    atomic_init(&jobs->degraded, false);
    jobs->asked_ms = INT64_MIN / 2;
    return jobs;
}

void ali_jobs_free(struct ali_jobs *jobs)
{
    if (jobs == NULL) {
        return;
    }
    while (jobs->waiters != NULL) {
        struct waiter *away = jobs->waiters;

        jobs->waiters = away->next;
        free(away);
    }
    ccm_cond_fini(&jobs->news);
    ccm_lock_fini(&jobs->lock);
    free(jobs);
}

/* --- states --- */

static const struct ali_job *first_running(const struct waiter *waiter)
{
    for (size_t i = 0; i < waiter->count; i++) {
        if (waiter->jobs[i].state == ALI_JOB_RUNNING) {
            return &waiter->jobs[i];
        }
    }
    return NULL;
}

static void end_job(struct ali_job *job, const char *status)
{
    job->missed = 0;
    if (ccm_text_equal_case(status, "Succeeded")) {
        job->state = ALI_JOB_DONE;
    } else if (ccm_text_equal_case(status, "Failed")) {
        job->state = ALI_JOB_FAILED;
    }
}

/* What was said about an id; status NULL: nothing, although it was asked for. */
static void jobs_record_status_locked(struct ali_jobs *jobs, const char *id, const char *status)
{
    for (struct waiter *waiter = jobs->waiters; waiter != NULL; waiter = waiter->next) {
        for (size_t i = 0; i < waiter->count; i++) {
            struct ali_job *job = &waiter->jobs[i];

            if (job->state != ALI_JOB_RUNNING || job->round != jobs->round ||
                strcmp(job->id, id) != 0) {
                continue;
            }
            if (status != NULL) {
                end_job(job, status);
            } else if (++job->missed >= MISSES) {
                job->state = ALI_JOB_UNKNOWN;
            }
        }
    }
}

/* --- when --- */

/* Between the beginnings of two rounds. A few waiters are served soon, many share their questions.
 */
static int64_t gap_ms_locked(const struct ali_jobs *jobs)
{
    int64_t waiting = 0;
    int64_t gap;

    for (const struct waiter *waiter = jobs->waiters; waiter != NULL; waiter = waiter->next) {
        waiting += first_running(waiter) != NULL ? 1 : 0;
    }
    gap = ROUND_MS * (waiting < CROWD ? waiting : CROWD) / CROWD;
    return gap > FIRST_MS ? gap : FIRST_MS;
}

/* Ms until the next round, 0 = now. */
static int64_t next_round_locked(const struct ali_jobs *jobs, int64_t now)
{
    int64_t due = INT64_MAX;

    for (const struct waiter *waiter = jobs->waiters; waiter != NULL; waiter = waiter->next) {
        if (waiter->due_ms < due && first_running(waiter) != NULL) {
            due = waiter->due_ms;
        }
    }
    if (due < jobs->asked_ms + gap_ms_locked(jobs)) {
        due = jobs->asked_ms + gap_ms_locked(jobs);
    }
    return due > now ? due - now : 0;
}

/* --- one round --- */

struct chunk {
    char ids[CHUNK][ALI_JOB_ID];
    size_t len;
};

/* A round begins: all that are due, and those that would be before the next one. */
static void begin_round_locked(struct ali_jobs *jobs, int64_t began)
{
    const int64_t soon = began + gap_ms_locked(jobs) / 2;

    jobs->round++;
    jobs->asked_ms = began;
    for (struct waiter *waiter = jobs->waiters; waiter != NULL; waiter = waiter->next) {
        if (waiter->due_ms <= soon) {
            waiter->round = jobs->round;
        }
    }
}

/* The next ids of this round. */
static void pick_locked(struct ali_jobs *jobs, size_t most, struct chunk *ret)
{
    ret->len = 0;
    for (struct waiter *waiter = jobs->waiters; waiter != NULL; waiter = waiter->next) {
        for (size_t i = 0; waiter->round == jobs->round && i < waiter->count; i++) {
            struct ali_job *job = &waiter->jobs[i];

            if (ret->len == most) {
                return;
            }
            if (job->state == ALI_JOB_RUNNING && job->round != jobs->round) {
                job->round = jobs->round;
                ccm_text_copy(ret->ids[ret->len++], ALI_JOB_ID, job->id);
            }
        }
    }
}

static int call_cloud(const struct turn *turn, const char *action, const struct ali_params *query,
                      cJSON **ret, struct ccm_error *err)
{
    const struct ali_call call = {
        .product = ALI_NLB,
        .action = action,
        .query = query,
        .priority = ALI_PRIO_REMOVE, /* others wait for its answer */
        .repeat = ALI_READ,
        .object = "jobs",
        .patience_ms = turn->self->patient_ms > 0 ? ALI_PATIENCE_MS : 0,
    };

    return ali_call(turn->by, &call, ret, NULL, err);
}

static const char *status_in(const cJSON *list, const char *id)
{
    for (const cJSON *one = list->child; one != NULL; one = one->next) {
        if (strcmp(ccm_json_text(one, "Id"), id) == 0) {
            return ccm_json_text(one, "Status");
        }
    }
    return NULL;
}

static int ask_together(const struct turn *turn, const struct chunk *chunk, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    const cJSON *list;

    for (size_t i = 0; i < chunk->len; i++) {
        ali_param_item(&params, "JobIds", i + 1, chunk->ids[i]);
    }

    const int r = call_cloud(turn, "ListAsynJobs", &params, &answer, err);

    if (r < 0) {
        return r;
    }
    list = ccm_json_get(answer, "Jobs");
    if (!cJSON_IsArray(list)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "ListAsynJobs: the answer has no list");
    }
    ccm_lock(&turn->jobs->lock);
    for (size_t i = 0; i < chunk->len; i++) {
        jobs_record_status_locked(turn->jobs, chunk->ids[i], status_in(list, chunk->ids[i]));
    }
    ccm_unlock(&turn->jobs->lock);
    return 0;
}

static int ask_single(const struct turn *turn, const char *id, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;

    ali_param_add(&params, "JobId", id);

    const int r = call_cloud(turn, "GetJobStatus", &params, &answer, err);

    if (r < 0 && err->kind != CCM_ERROR_NOT_FOUND) {
        return r;
    }
    ccm_lock(&turn->jobs->lock);
    jobs_record_status_locked(turn->jobs, id, r < 0 ? NULL : ccm_json_text(answer, "Status"));
    ccm_unlock(&turn->jobs->lock);
    return 0;
}

static bool is_denied(const struct ccm_error *err)
{
    return ali_error_find(err->code, err->message, err->http_status)->class_ ==
           ALI_CLASS_PERMISSION;
}

/* ListAsynJobs is not allowed: remember it for a while. */
static void jobs_set_degraded(const struct turn *turn, const struct ccm_error *err)
{
    ccm_lock(&turn->jobs->lock);
    turn->jobs->denied_until_ms = turn->by->host->now_ms(turn->by->host) + DENIED_MS;
    ccm_unlock(&turn->jobs->lock);
    if (!atomic_exchange(&turn->jobs->degraded, true)) {
        turn->by->host->log(turn->by->host, CCM_LEVEL_WARN, NULL,
                            "jobs are asked for one by one with GetJobStatus: %s", err->message);
    }
}

static int jobs_ask_chunk(const struct turn *turn, const struct chunk *chunk, bool together,
                          struct ccm_error *err)
{
    if (together) {
        const int r = ask_together(turn, chunk, err);

        if (r == 0) {
            atomic_store(&turn->jobs->degraded, false);
        }
        if (r == 0 || !is_denied(err)) {
            return r;
        }
        jobs_set_degraded(turn, err);
        ccm_error_clear(err);
    }
    for (size_t i = 0; i < chunk->len; i++) {
        const int r = ask_single(turn, chunk->ids[i], err);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

/* When those that were asked for should be asked for again: each pause is twice the one before. */
static void set_due_locked(struct ali_jobs *jobs, int64_t now)
{
    for (struct waiter *waiter = jobs->waiters; waiter != NULL; waiter = waiter->next) {
        if (waiter->round == jobs->round) {
            waiter->asked += waiter->asked < 16 ? 1 : 0;

            const int64_t pause = FIRST_MS << waiter->asked;

            waiter->due_ms = now + (pause < ROUND_MS ? pause : ROUND_MS);
        }
    }
}

/* The result of a poll, for those whose time runs out. A leader that was called off says nothing
 * about the cloud. */
static void jobs_record_result_locked(struct ali_jobs *jobs, int r, const struct ccm_error *err)
{
    if (r == 0 || err->kind != CCM_ERROR_CANCELLED) {
        jobs->failed = r;
        ccm_error_copy(&jobs->failure, err);
    }
    ccm_wake_all(&jobs->news);
}

/* Ask for all jobs once. Called and left with the lock held, which is given up for the calls. */
static void run_round_locked(const struct turn *turn, int64_t began)
{
    struct ali_jobs *jobs = turn->jobs;
    int r = 0;

    begin_round_locked(jobs, began);
    while (r == 0) {
        struct ccm_error err = CCM_ERROR_INIT;
        struct chunk chunk;
        const bool together = began >= jobs->denied_until_ms;

        pick_locked(jobs, CHUNK, &chunk);
        if (chunk.len == 0) {
            break;
        }
        ccm_unlock(&jobs->lock);
        r = jobs_ask_chunk(turn, &chunk, together, &err);
        ccm_lock(&jobs->lock);
        jobs_record_result_locked(jobs, r, &err);
    }
    set_due_locked(jobs, turn->by->host->now_ms(turn->by->host));
}

/* --- waiting --- */

/* The leader sleeps or polls; with the lock held at both ends. */
static void lead_locked(const struct turn *turn, int64_t now)
{
    const int64_t left = turn->self->end_ms - now;
    int64_t ms = next_round_locked(turn->jobs, now);

    if (ms == 0) {
        run_round_locked(turn, now);
        return;
    }
    ms = ms < SLICE_MS ? ms : SLICE_MS;
    ms = ms < left ? ms : left;
    ccm_unlock(&turn->jobs->lock);
    (void)turn->by->host->wait(turn->by->host, turn->by->req,
                               (uint64_t)ms); /* the caller looks why it woke */
    ccm_lock(&turn->jobs->lock);
}

/* Whether it is put off, and until when: others ask, or it is not yet time to ask. */
static bool turn_is_over(const struct turn *turn, int64_t now, int64_t *ret_ms)
{
    const struct ali_jobs *jobs = turn->jobs;
    const struct waiter *self = turn->self;
    const bool leads = jobs->leader == NULL || jobs->leader == self;
    int64_t again = jobs->asked_ms + gap_ms_locked(jobs);

    if (self->patient_ms == 0 || now < self->patient_ms ||
        (leads && next_round_locked(jobs, now) == 0)) {
        return false;
    }
    again = again > self->due_ms ? again : self->due_ms;
    *ret_ms = again - now > FIRST_MS ? again - now : FIRST_MS;
    return true;
}

static int turn_put_off(const struct ali_job *running, int64_t ms, struct ccm_error *err)
{
    const int r =
        ccm_error_set(err, -EAGAIN, CCM_ERROR_THROTTLED, "job %s still runs", running->id);

    err->retry_after_ms = (uint64_t)ms;
    return r;
}

/* 1: go on waiting; else the end, with err when negative. */
static int step_locked(const struct turn *turn, struct ccm_error *err)
{
    struct ali_jobs *jobs = turn->jobs;
    const int64_t now = turn->by->host->now_ms(turn->by->host);
    const struct ali_job *running = first_running(turn->self);
    int64_t again_ms = 0;

    if (running == NULL) {
        return 0;
    }
    if (now >= turn->self->end_ms) {
        if (jobs->failed < 0) {
            ccm_error_copy(err, &jobs->failure);
            return jobs->failed;
        }
        return ccm_error_set(err, -ETIMEDOUT, CCM_ERROR_TRANSIENT,
                             "job %s has not ended after %" PRId64 " s", running->id,
                             (now - turn->self->since_ms) / 1000);
    }
    if (turn->by->host->cancelled(turn->by->host, turn->by->req)) {
        return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "cancelled while job %s runs",
                             running->id);
    }
    if (turn_is_over(turn, now, &again_ms)) {
        return turn_put_off(running, again_ms, err);
    }
    if (jobs->leader == NULL) {
        jobs->leader = turn->self;
    }
    if (jobs->leader == turn->self) {
        lead_locked(turn, now);
    } else {
        (void)ccm_clock_cond_wait(&jobs->news, &jobs->lock,
                                  ccm_clock_now_ms() + SLICE_MS); /* looks again either way */
    }
    return 1;
}

static void leave_locked(struct ali_jobs *jobs, struct waiter *self)
{
    struct waiter **at = &jobs->waiters;

    while (*at != self) {
        at = &(*at)->next;
    }
    *at = self->next;
    if (jobs->leader == self) {
        jobs->leader = NULL;
        ccm_wake_all(&jobs->news);
    }
}

/* --- away --- */

static struct waiter *jobs_unlink_away_locked(struct ali_jobs *jobs, struct waiter **at)
{
    struct waiter *away = *at;

    *at = away->next;
    jobs->away--;
    return away;
}

/* Who was put off with this job, taken out of the list, which owns no one that is too old. */
static struct waiter *jobs_find_away_locked(struct ali_jobs *jobs, const char *id, int64_t now)
{
    struct waiter *found = NULL;

    for (struct waiter **at = &jobs->waiters; *at != NULL;) {
        const bool is_away = (*at)->forget_ms != 0;

        if (is_away && found == NULL && strcmp((*at)->jobs[0].id, id) == 0) {
            found = jobs_unlink_away_locked(jobs, at);
        } else if (is_away && now >= (*at)->forget_ms) {
            free(jobs_unlink_away_locked(jobs, at));
        } else {
            at = &(*at)->next;
        }
    }
    return found;
}

/* Go on where it was put off. */
static void waiter_come_back_locked(struct ali_jobs *jobs, struct waiter *self, int64_t now)
{
    const struct ali_job *first = first_running(self);
    struct waiter *away = first == NULL ? NULL : jobs_find_away_locked(jobs, first->id, now);

    if (away == NULL) {
        return;
    }
    for (size_t i = 0; i < self->count; i++) {
        for (size_t k = 0; k < away->count; k++) {
            if (strcmp(self->jobs[i].id, away->jobs[k].id) == 0) {
                self->jobs[i] = away->jobs[k];
            }
        }
    }
    self->due_ms = away->due_ms;
    self->asked = away->asked;
    self->patient_ms = self->patient_ms == 0 ? 0 : now;
    free(away);
}

/* Its running jobs are asked for until it comes again. Without memory it begins anew then. */
static void waiter_go_away_locked(struct ali_jobs *jobs, const struct waiter *self, int64_t now)
{
    struct waiter *away = NULL;

    if (jobs->away >= AWAY_MAX) {
        return;
    }
    away = calloc(1, sizeof(*away) + self->count * sizeof(struct ali_job));
    if (away == NULL) {
        return;
    }
    *away = *self;
    away->jobs = (struct ali_job *)(void *)(away + 1);
    away->count = 0;
    away->forget_ms = now + AWAY_MS;
    for (size_t i = 0; i < self->count; i++) {
        if (self->jobs[i].state == ALI_JOB_RUNNING) {
            away->jobs[away->count++] = self->jobs[i];
        }
    }
    away->next = jobs->waiters;
    jobs->waiters = away;
    jobs->away++;
}

int ali_job_wait(const struct ali_caller *by, struct ali_job *jobs, size_t count,
                 int64_t timeout_ms, int64_t patience_ms, struct ccm_error *err)
{
    const int64_t now = by->host->now_ms(by->host);
    struct waiter self = {
        .jobs = jobs,
        .count = count,
        .since_ms = now,
        .due_ms = now + FIRST_MS,
        .end_ms = now + timeout_ms,
        .patient_ms = patience_ms > 0 ? now + patience_ms : 0,
    };
    const struct turn turn = { .by = by, .jobs = by->client->jobs, .self = &self };
    int r = 1;

    if (by->req != NULL && by->req->deadline_ms < self.end_ms) {
        self.end_ms = by->req->deadline_ms;
    }
    for (size_t i = 0; i < count; i++) {
        jobs[i].state = jobs[i].id[0] == '\0' ? ALI_JOB_DONE : ALI_JOB_RUNNING;
        jobs[i].missed = 0;
        jobs[i].round = 0;
    }
    ccm_lock(&turn.jobs->lock);
    waiter_come_back_locked(turn.jobs, &self, now);
    self.next = turn.jobs->waiters;
    turn.jobs->waiters = &self;
    while (r == 1) {
        r = step_locked(&turn, err);
    }
    leave_locked(turn.jobs, &self);
    if (r == -EAGAIN && ali_error_is_put_off(err)) {
        waiter_go_away_locked(turn.jobs, &self, by->host->now_ms(by->host));
    }
    ccm_unlock(&turn.jobs->lock);
    return r;
}

bool ali_job_degraded(const struct ali_client *ali)
{
    return atomic_load(&ali->jobs->degraded);
}
