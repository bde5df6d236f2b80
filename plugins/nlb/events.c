/* What a person should know about a Service that is not a failure: as events, once per change. */
#include "controller.h"

#include "alicloud/job.h"

#define NLB_REPORTED_JOBS 1U /* bit of what is reported once */

/* Once for the process: it is not about one Service. */
static void pass_emit_jobs(struct lbc_pass *pass)
{
    if (ali_job_degraded(alilb_client(&pass->lbc->cloud)) &&
        (atomic_fetch_or(&pass->lbc->reported, NLB_REPORTED_JOBS) & NLB_REPORTED_JOBS) == 0) {
        lbc_life_event(
            &pass->lbc->life, pass->service, true, "PermissionMissing",
            "The credentials lack the permission nlb:ListAsynJobs, so jobs of all "
            "Services are asked for one by one, which is slower. Add it to the policy of "
            "the RAM role or user.");
    }
}

void nlb_emit_events(struct lbc_pass *pass)
{
    pass_emit_jobs(pass);
}
