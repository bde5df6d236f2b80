#include "job.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <fnmatch.h>

enum outcome { SUCCEED, FAIL, HANG, LOSE };

struct plan {
    char action[64];
    enum outcome outcome;
    int64_t count; /* jobs left; 0 = without end */
    int64_t ms;    /* -1 = as usual */
};

struct ccm_cloud_jobs {
    struct ccm_strmap *all;         /* id -> job */
    struct ccm_cloud_job **running; /* those of `all`, in order of creation */
    size_t len;
    size_t cap;
    int64_t next_ms; /* when the first of them is due */
    struct plan *plans;
    size_t plans_len;
    size_t plans_cap;
};

static void job_free(void *value)
{
    struct ccm_cloud_job *job = value;

    if (job->free_data != NULL) {
        job->free_data(job->data);
    }
    ccm_sim_params_fini(&job->set);
    ccm_cloud_obj_fini(&job->obj);
    free(job);
}

struct ccm_cloud_jobs *ccm_cloud_jobs_new(void)
{
    struct ccm_cloud_jobs *jobs = calloc(1, sizeof(*jobs));

    if (jobs == NULL) {
        return NULL;
    }
    jobs->next_ms = INT64_MAX;
    jobs->all = ccm_strmap_new(job_free);
    if (jobs->all == NULL) {
        free(jobs);
        return NULL;
    }
    return jobs;
}

void ccm_cloud_jobs_free(struct ccm_cloud_jobs *jobs)
{
    if (jobs == NULL) {
        return;
    }
    ccm_strmap_free(jobs->all);
    free(jobs->running);
    free(jobs->plans);
    free(jobs);
}

/* The plan for a job of this action, used up by one; without one: success as usual. */
static struct plan plan_take(struct ccm_cloud_jobs *jobs, const char *action)
{
    for (size_t i = 0; i < jobs->plans_len; i++) {
        struct plan *plan = &jobs->plans[i];

        if (fnmatch(plan->action, action, 0) != 0) {
            continue;
        }

        struct plan copy = *plan;

        if (plan->count == 1) {
            jobs->plans_len--;
            memmove(plan, plan + 1, (jobs->plans_len - i) * sizeof(*plan));
        } else if (plan->count > 1) {
            plan->count--;
        }
        return copy;
    }
    return (struct plan){ .outcome = SUCCEED, .ms = -1 };
}

static int64_t due_of(const struct ccm_cloud *cloud, const struct plan *plan)
{
    if (plan->outcome == HANG) {
        return INT64_MAX;
    }
    return ccm_clock_now_ms() + (plan->ms < 0 ? (int64_t)cloud->limits.job_ms : plan->ms);
}

int ccm_cloud_job_start(struct ccm_cloud_call *call, const char *resource,
                        int (*end)(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok),
                        struct ccm_cloud_job **ret)
{
    struct ccm_cloud *cloud = call->cloud;
    struct ccm_cloud_jobs *jobs = cloud->jobs;
    const struct plan plan = plan_take(jobs, call->action->name);
    const struct ccm_cloud_pair pairs[] = {
        { "Action", call->action->name },
        { "ResourceId", resource },
    };
    char id[48];

    ccm_cloud_new_id(cloud, "job", id, sizeof(id));
    if (ccm_array_grow(&jobs->running, &jobs->cap, jobs->len + 1, sizeof(struct ccm_cloud_job *)) <
        0) {
        return -ENOMEM;
    }

    struct ccm_cloud_job *job = calloc(1, sizeof(*job));

    if (job == NULL) {
        return -ENOMEM;
    }
    job->end = end;
    job->fails = plan.outcome == FAIL;
    job->hidden = plan.outcome == LOSE;
    job->due_ms = due_of(cloud, &plan);
    if (ccm_cloud_obj_init(cloud, &job->obj, id) < 0 ||
        ccm_cloud_attrs_set(&job->obj, pairs, CCM_ARRAY_LEN(pairs)) < 0 ||
        ccm_strmap_set(jobs->all, id, job) < 0) {
        job_free(job);
        return -ENOMEM;
    }
    jobs->running[jobs->len++] = job;
    jobs->next_ms = job->due_ms < jobs->next_ms ? job->due_ms : jobs->next_ms;
    *ret = job;
    return 0;
}

static void job_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    int r = job->end(cloud, job, ok);

    job->status = ok && r == 0 ? CCM_CLOUD_JOB_DONE : CCM_CLOUD_JOB_FAILED;
    job->due_ms = ccm_clock_now_ms();
    /* Nobody looks into the parcel of an ended job; thousands of them are kept for an hour. */
    if (job->free_data != NULL) {
        job->free_data(job->data);
        job->free_data = NULL;
    }
    ccm_sim_params_fini(&job->set);
}

/* Whether a job that ended is not known any more. */
static bool is_old(const struct ccm_cloud *cloud, const struct ccm_cloud_job *job, int64_t now)
{
    return job->status != CCM_CLOUD_JOB_RUNNING &&
           now - job->due_ms >= (int64_t)cloud->limits.nlb_job_keep_s * 1000;
}

/* Free what nobody can see any more. */
static void forget_old(struct ccm_cloud *cloud, int64_t now)
{
    struct ccm_cloud_jobs *jobs = cloud->jobs;
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    while (ccm_strmap_next(jobs->all, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_job *job = value;

        if (!is_old(cloud, job, now)) {
            return; /* those behind it are younger, or wait until this one ends */
        }
        ccm_strmap_del(jobs->all, id);
    }
}

void ccm_cloud_jobs_advance(struct ccm_cloud *cloud)
{
    struct ccm_cloud_jobs *jobs = cloud->jobs;
    size_t left = 0;

    if (jobs->len == 0) {
        return;
    }

    int64_t now = ccm_clock_now_ms();

    if (now < jobs->next_ms) {
        return;
    }
    jobs->next_ms = INT64_MAX;
    for (size_t i = 0; i < jobs->len; i++) {
        struct ccm_cloud_job *job = jobs->running[i];

        if (job->due_ms <= now) {
            job_end(cloud, job, !job->fails);
        } else {
            jobs->next_ms = job->due_ms < jobs->next_ms ? job->due_ms : jobs->next_ms;
            jobs->running[left++] = job;
        }
    }
    jobs->len = left;
    forget_old(cloud, now);
}

void ccm_cloud_job_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_cloud_jobs *jobs = cloud->jobs;

    for (size_t i = 0; i < jobs->len; i++) {
        if (jobs->running[i] == job) {
            jobs->len--;
            memmove(jobs->running + i, jobs->running + i + 1,
                    (jobs->len - i) * sizeof(struct ccm_cloud_job *));
            job_end(cloud, job, ok);
            return;
        }
    }
}

struct ccm_cloud_job *ccm_cloud_job_get(const struct ccm_cloud *cloud, const char *id)
{
    struct ccm_cloud_job *job = ccm_strmap_get(cloud->jobs->all, id);

    return job == NULL || job->hidden || is_old(cloud, job, ccm_clock_now_ms()) ? NULL : job;
}

struct ccm_cloud_job *ccm_cloud_job_next(const struct ccm_cloud *cloud, void **cursor)
{
    const char *id = NULL;
    void *value = NULL;

    while (ccm_strmap_next(cloud->jobs->all, cursor, &id, &value) != 0) {
        if (!is_old(cloud, value, ccm_clock_now_ms())) {
            return value;
        }
    }
    return NULL;
}

const char *ccm_cloud_job_status_text(const struct ccm_cloud_job *job)
{
    switch (job->status) {
    case CCM_CLOUD_JOB_DONE:
        return "Succeeded";
    case CCM_CLOUD_JOB_FAILED:
        return "Failed";
    case CCM_CLOUD_JOB_RUNNING:
        break;
    }
    return "Processing";
}

/* ---- console ---- */

static bool outcome_read(const cJSON *json, enum outcome *ret)
{
    static const char *const names[] = {
        [SUCCEED] = "succeed", [FAIL] = "fail", [HANG] = "hang", [LOSE] = "lose"
    };
    const char *text = ccm_json_str(json, "outcome");

    *ret = SUCCEED;
    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        if (ccm_text_equal(text, names[i])) {
            *ret = (enum outcome)i;
            return true;
        }
    }
    return text == NULL;
}

bool ccm_cloud_jobs_plan(struct ccm_cloud *cloud, const cJSON *json, const char **ret_why)
{
    struct ccm_cloud_jobs *jobs = cloud->jobs;
    const char *action = ccm_json_str(json, "action");
    struct plan plan = {
        .count = ccm_json_i64(json, "count", 1),
        .ms = ccm_json_i64(json, "ms", -1),
    };

    if (ccm_json_bool(json, "clear", false)) {
        jobs->plans_len = 0;
        return true;
    }
    if (!outcome_read(json, &plan.outcome) || plan.count < 0 ||
        (action != NULL && strlen(action) >= sizeof(plan.action))) {
        *ret_why = "outcome is succeed, fail, hang or lose; count a number; action a pattern";
        return false;
    }
    if (ccm_array_grow(&jobs->plans, &jobs->plans_cap, jobs->plans_len + 1, sizeof(plan)) < 0) {
        *ret_why = "out of memory";
        return false;
    }
    ccm_text_copy(plan.action, sizeof(plan.action), action == NULL ? "*" : action);
    jobs->plans[jobs->plans_len++] = plan;
    return true;
}

bool ccm_cloud_jobs_edit(struct ccm_cloud *cloud, const cJSON *json, bool forget,
                         const char **ret_why)
{
    struct ccm_cloud_job *job = ccm_strmap_get(cloud->jobs->all, ccm_json_text(json, "id"));
    const char *status = ccm_json_text(ccm_json_get(json, "attributes"), "Status");
    bool fails = ccm_text_equal(status, "Failed");

    if (job == NULL) {
        *ret_why = "no such job";
        return false;
    }
    if (forget) {
        job->hidden = true;
        return true;
    }
    if ((!fails && !ccm_text_equal(status, "Succeeded")) || job->status != CCM_CLOUD_JOB_RUNNING) {
        *ret_why = "only the Status of a running job is changed, to Succeeded or Failed";
        return false;
    }
    ccm_cloud_job_end(cloud, job, !fails);
    return true;
}

void ccm_cloud_jobs_state(struct ccm_jsonw *w, const struct ccm_cloud *cloud)
{
    void *cursor = NULL;

    ccm_jsonw_open(w, "jobs", '[');
    for (const struct ccm_cloud_job *job = ccm_cloud_job_next(cloud, &cursor); job != NULL;
         job = ccm_cloud_job_next(cloud, &cursor)) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "JobId", job->obj.id);
        ccm_jsonw_str(w, "Action", ccm_cloud_attr(&job->obj, "Action"));
        ccm_jsonw_str(w, "ResourceId", ccm_cloud_attr(&job->obj, "ResourceId"));
        ccm_jsonw_str(w, "Status", ccm_cloud_job_status_text(job));
        ccm_jsonw_bool(w, "Hidden", job->hidden);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}
