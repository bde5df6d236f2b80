/*
 * Asynchronous jobs of NLB. One waiter for the process: all outstanding jobs are asked for together
 * with ListAsynJobs, 20 per call: first after 250 ms, then after pauses that grow up to 2.2 s, and
 * rounds are the further apart the more there are who wait. Whoever waits sleeps until its own jobs
 * have ended, or its patience has: then its jobs are still asked for along with those of others,
 * and it finds what came of them when it comes again. Where the permission nlb:ListAsynJobs is
 * missing, jobs are asked for one by one with GetJobStatus, and ali_job_degraded() tells.
 */
#ifndef CCM_ALICLOUD_JOB_H
#define CCM_ALICLOUD_JOB_H

#include "alicloud/client.h"

#define ALI_JOB_ID 64

enum ali_job_state {
    ALI_JOB_RUNNING,
    ALI_JOB_DONE,
    ALI_JOB_FAILED,  /* the cloud gives no reason: look at the resource */
    ALI_JOB_UNKNOWN, /* the cloud does not know the id, also after asking again */
};

struct ali_job {
    char id[ALI_JOB_ID];
    enum ali_job_state state; /* out */
    uint32_t missed;          /* of ali_job_wait(): answers without it, in a row */
    uint64_t round;           /* of ali_job_wait(): the last one that asked for it */
};

/*
 * Wait until none of the jobs is ALI_JOB_RUNNING any more. Blocks: up to timeout_ms or the deadline
 * of the request, whichever is first. An empty id counts as done. 0 when all have ended, whatever
 * their states are; -ETIMEDOUT (CCM_ERROR_TRANSIENT) with the states as far as they are known;
 * otherwise the error of the calls (a failed poll is repeated until the time is over) or
 * CCM_ERROR_CANCELLED. Every thread.
 *
 * patience_ms > 0: it is put off when some job still runs after that, see ali_error_is_put_off():
 * -EAGAIN, with the states as far as they are known. Whoever comes again with these jobs asks once,
 * when it is time for that, and is put off at once if that does not end them.
 */
CCM_NODISCARD ALI_API int ali_job_wait(const struct ali_caller *by, struct ali_job *jobs,
                                       size_t count, int64_t timeout_ms, int64_t patience_ms,
                                       struct ccm_error *err);

/* Whether the permission nlb:ListAsynJobs was found missing. Every thread. */
ALI_API bool ali_job_degraded(const struct ali_client *ali);

struct ali_jobs;

/* The waiter, a part of struct ali_client. NULL on ENOMEM. */
struct ali_jobs *ali_jobs_new(void);
/* NULL is fine. Nobody waits any more. */
void ali_jobs_free(struct ali_jobs *jobs);

#endif
