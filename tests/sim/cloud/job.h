/*
 * Changes that take time. A job is made by the action that starts it and ends limits.job_ms later;
 * with 0 it has ended before the next call runs. There is no thread: whoever looks at the cloud
 * lets what is due happen first (ccm_cloud_jobs_advance). With the cloud's lock held.
 *
 * How jobs end can be planned, POST /_sim/edit:
 *
 *   {"op": "jobs", "action": "AddServers*", "outcome": "fail", "count": 1, "ms": 500}
 *
 * action   shell pattern of the action that starts the job; default "*". CreateLoadBalancer has a
 *          job that nobody can ask for: its failure is the state CreateFailed.
 * outcome  "fail" (the change is undone), "hang" (it never ends by itself), "lose" (the change is
 *          made, but the service has forgotten the job), "succeed". Default "succeed".
 * count    for so many jobs; default 1, 0 = without end.
 * ms       they take so long instead of limits.job_ms.
 *
 * Plans wait in order of arrival, the first that fits is used. {"op": "jobs", "clear": true} drops
 * them all. A running job is ended by {"op": "update", "type": "job", "id": ID, "attributes":
 * {"Status": "Failed"}} (or "Succeeded"), and forgotten by {"op": "delete", "type": "job", "id":
 * ID} (the change is made).
 */
#ifndef CCM_CLOUD_JOB_H
#define CCM_CLOUD_JOB_H

#include "cloud.h"

#include <cjson/cJSON.h>

enum ccm_cloud_job_status { CCM_CLOUD_JOB_RUNNING, CCM_CLOUD_JOB_DONE, CCM_CLOUD_JOB_FAILED };

struct ccm_cloud_job {
    struct ccm_cloud_obj obj; /* attributes: Action, ResourceId */
    enum ccm_cloud_job_status status;
    bool hidden; /* exists for itself, is not shown */
    bool fails;
    int64_t due_ms; /* on the monotonic clock; INT64_MAX: never. Of an ended job: when it ended */
    /* Make the change of resource `ResourceId` (ok) or undo what was begun. Called once. A negative
     * result makes the job a failed one. */
    int (*end)(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok);
    struct ccm_sim_params set; /* for `end`: attributes to be set */
    void *data;                /* for `end` */
    void (*free_data)(void *data);
};

struct ccm_cloud_jobs;

/* NULL when memory ran out. */
struct ccm_cloud_jobs *ccm_cloud_jobs_new(void);
void ccm_cloud_jobs_free(struct ccm_cloud_jobs *jobs);

/* Start a job of call->action on the resource. `set` and `data` may be filled by the caller until
 * it returns from the action. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_job_start(struct ccm_cloud_call *call, const char *resource,
                                      int (*end)(struct ccm_cloud *cloud, struct ccm_cloud_job *job,
                                                 bool ok),
                                      struct ccm_cloud_job **ret);

/* End what is due, forget what ended more than limits.nlb_job_keep_s ago. */
void ccm_cloud_jobs_advance(struct ccm_cloud *cloud);

/* End a running job now. */
void ccm_cloud_job_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok);

/* A job that can be asked for, or NULL. */
struct ccm_cloud_job *ccm_cloud_job_get(const struct ccm_cloud *cloud, const char *id);

/* Next one in order of creation, as ccm_cloud_plain_next. */
struct ccm_cloud_job *ccm_cloud_job_next(const struct ccm_cloud *cloud, void **cursor);

/* "Processing", "Succeeded", "Failed". */
const char *ccm_cloud_job_status_text(const struct ccm_cloud_job *job);

/* What /_sim/edit does with jobs. False: no such job or a bad request; *ret_why is static text. */
bool ccm_cloud_jobs_plan(struct ccm_cloud *cloud, const cJSON *json, const char **ret_why);
bool ccm_cloud_jobs_edit(struct ccm_cloud *cloud, const cJSON *json, bool forget,
                         const char **ret_why);

/* "jobs":[..] */
void ccm_cloud_jobs_state(struct ccm_jsonw *w, const struct ccm_cloud *cloud);

#endif
