#include "families.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* That the form has room for; how many are taken is a limit. */
#define IDS_MAX 1000

static int get(struct ccm_cloud_call *call)
{
    const struct ccm_cloud_job *job =
        ccm_cloud_job_get(call->cloud, ccm_cloud_text(call, "JobId", ""));

    if (job == NULL) {
        return ccm_nlb_fail_absent(call, "JobId");
    }
    ccm_jsonw_str(call->out, "Status", ccm_cloud_job_status_text(job));
    return 0;
}

static void job_write(struct ccm_jsonw *w, const struct ccm_cloud_job *job, int64_t *total)
{
    if (job == NULL || job->hidden) {
        return;
    }
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "Id", job->obj.id);
    ccm_jsonw_str(w, "Status", ccm_cloud_job_status_text(job));
    ccm_jsonw_close(w, '}');
    (*total)++;
}

/* Jobs that are not known are left out. */
static int list(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    int64_t total = 0;
    void *cursor = NULL;
    char text[24];
    int r = ccm_cloud_list(call, "JobIds", &ids);

    if (r < 0) {
        return r;
    }
    if (ids.len > call->cloud->limits.nlb_job_ids) {
        return ccm_cloud_fail_with(call, "IllegalParamSize.JobIds", ccm_nlb_manner.too_many_message,
                                   "JobIds");
    }
    ccm_jsonw_open(call->out, "Jobs", '[');
    for (size_t i = 0; i < ids.len; i++) {
        job_write(call->out, ccm_cloud_job_get(call->cloud, ids.items[i].value), &total);
    }
    for (const struct ccm_cloud_job *job = ids.len > 0 ? NULL
                                                       : ccm_cloud_job_next(call->cloud, &cursor);
         job != NULL; job = ccm_cloud_job_next(call->cloud, &cursor)) {
        job_write(call->out, job, &total);
    }
    ccm_jsonw_close(call->out, ']');
    (void)snprintf(text, sizeof(text), "%" PRId64, total); /* always fits */
    ccm_jsonw_str(call->out, "TotalCount", text);          /* text, indeed */
    return 0;
}

static const struct ccm_cloud_param get_params[] = {
    CCM_NLB_TOKEN_ROW,
    { .name = "JobId", .required = true },
    { 0 },
};

static const struct ccm_cloud_param list_params[] = {
    { .name = "JobIds.N", .items = IDS_MAX },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_nlb_job_actions[] = {
    { .name = "GetJobStatus", .params = get_params, .manner = &ccm_nlb_manner, .run = get },
    { .name = "ListAsynJobs", .params = list_params, .manner = &ccm_nlb_manner, .run = list },
    { 0 },
};
