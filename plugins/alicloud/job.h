/*
 * Asynchronous jobs of NLB. One waiter for the process: all outstanding jobs are asked for together
 * with ListAsynJobs, 20 per call: first after 250 ms, then after pauses that grow up to 2.2 s, and
 * rounds are the further apart the more there are who wait. Whoever waits sleeps until its own jobs
 * have ended. Where the permission nlb:ListAsynJobs is
 * missing, jobs are asked for one by one with GetJobStatus, and ccm_job_degraded() tells.
 */
#ifndef CCM_ALICLOUD_JOB_H
#define CCM_ALICLOUD_JOB_H

#include "alicloud/client.h"

#define CCM_JOB_ID 64

enum ccm_job_state {
    CCM_JOB_RUNNING,
    CCM_JOB_DONE,
    CCM_JOB_FAILED,  /* the cloud gives no reason: look at the resource */
    CCM_JOB_UNKNOWN, /* the cloud does not know the id, also after asking again */
};

struct ccm_job {
    char id[CCM_JOB_ID];
    enum ccm_job_state state; /* out */
    uint32_t missed;          /* of ccm_job_wait(): answers without it, in a row */
    uint64_t round;           /* of ccm_job_wait(): the last one that asked for it */
};

/*
 * Wait until none of the jobs is CCM_JOB_RUNNING any more. Blocks: up to timeout_ms or the deadline
 * of the request, whichever is first. An empty id counts as done. 0 when all have ended, whatever
 * their states are; -ETIMEDOUT (CCM_ERROR_TRANSIENT) with the states as far as they are known;
 * otherwise the error of the calls (a failed poll is repeated until the time is over) or
 * CCM_ERROR_CANCELLED. Every thread.
 */
CCM_NODISCARD CCM_ALI_API int ccm_job_wait(struct ccm_ali *ali, const struct ccm_host *host,
                                           const struct ccm_request *req, struct ccm_job *jobs,
                                           size_t count, int64_t timeout_ms, struct ccm_error *err);

/* Whether the permission nlb:ListAsynJobs was found missing. Every thread. */
CCM_ALI_API bool ccm_job_degraded(const struct ccm_ali *ali);

struct ccm_jobs;

/* The waiter, a part of struct ccm_ali. round_ms: the longest pause; 0 = the 2.2 s above. NULL on
 * ENOMEM. */
struct ccm_jobs *ccm_jobs_new(int64_t round_ms);
/* NULL is fine. Nobody waits any more. */
void ccm_jobs_free(struct ccm_jobs *jobs);

#endif
