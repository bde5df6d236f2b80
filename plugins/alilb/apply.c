#include "alilb/apply.h"

#include "alicloud/job.h"
#include "lbc/apply/record.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdlib.h>

int alilb_apply_run(struct alilb_apply *apply, struct lbc_plan *plan)
{
    struct lbc_apply *base = &apply->lbc;

    base->host = apply->call.host;
    base->req = apply->call.req;
    base->priority = &apply->call.priority;
    base->uncertain = &apply->call.uncertain;
    return lbc_apply_run(base, plan);
}

int alilb_apply_write(struct lbc_apply *apply, struct lbc_step *step,
                      const struct alilb_action *action, const struct alilb_args *args,
                      struct ccm_error *err)
{
    return alilb_write(alilb_apply_call(apply), action, args, &step->sent, err);
}

int alilb_apply_delete(struct lbc_apply *apply, struct lbc_step *step,
                       const struct alilb_action *action, const struct alilb_args *args,
                       struct ccm_error *err)
{
    return lbc_apply_forgive(apply, alilb_apply_write(apply, step, action, args, err), err);
}

int alilb_apply_tags(struct lbc_apply *apply, struct lbc_step *step, enum ali_product product,
                     const char *type, const char *lb_id, struct ccm_error *err)
{
    const struct alilb_tagging tagging = {
        .type = type, .id = lb_id, .tags = &step->tags, .remove = step->type == LBC_STEP_UNTAG
    };
    const int r = alilb_change_tags(alilb_apply_call(apply), product, &tagging, &step->sent, err);

    return r < 0 ? lbc_record_tags_failure(step, lb_id, r, err) : 0;
}

int alilb_apply_wait(struct lbc_apply *apply, struct lbc_job *jobs, size_t count,
                     int64_t timeout_ms, struct ccm_error *err)
{
    static const enum lbc_job_state states[] = {
        [ALI_JOB_RUNNING] = LBC_JOB_RUNNING,
        [ALI_JOB_DONE] = LBC_JOB_DONE,
        [ALI_JOB_FAILED] = LBC_JOB_FAILED,
        [ALI_JOB_UNKNOWN] = LBC_JOB_UNKNOWN,
    };
    CCM_CLEANUP(ccm_freep) struct ali_job *waiting = calloc(count, sizeof(*waiting));
    const struct alilb_call *call = alilb_apply_call(apply);
    int r;

    if (waiting == NULL) {
        return ccm_error_nomem(err);
    }
    for (size_t i = 0; i < count; i++) {
        ccm_text_copy(waiting[i].id, sizeof(waiting[i].id), jobs[i].id);
    }
    r = ali_job_wait(&(const struct ali_caller){ call->ali, call->host, call->req }, waiting, count,
                     timeout_ms, err);
    for (size_t i = 0; i < count; i++) {
        jobs[i].state = states[waiting[i].state];
    }
    return r;
}
