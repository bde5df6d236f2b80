/*
 * What apply*.c of the plugins share: steps that are carried out in the same way, and jobs. May
 * block. One thread per pass.
 */
#ifndef CCM_ALILB_APPLY_H
#define CCM_ALILB_APPLY_H

#include "alilb/action.h"
#include "lbc/apply/executor.h"

/* A plugin's own begins with it. */
struct alilb_apply {
    struct lbc_apply lbc;
    struct alilb_call call;
    const struct ccm_service *service;
};

static inline struct alilb_call *alilb_apply_call(struct lbc_apply *apply)
{
    return &((struct alilb_apply *)apply)->call;
}

/* lbc_apply_run() with what the call has. */
CCM_NODISCARD int alilb_apply_run(struct alilb_apply *apply, struct lbc_plan *plan);

/* The step is this write. */
CCM_NODISCARD int alilb_apply_write(struct lbc_apply *apply, struct lbc_step *step,
                                    const struct alilb_action *action,
                                    const struct alilb_args *args, struct ccm_error *err);
/* The same, and it is done when what it takes away is not there. */
CCM_NODISCARD int alilb_apply_delete(struct lbc_apply *apply, struct lbc_step *step,
                                     const struct alilb_action *action,
                                     const struct alilb_args *args, struct ccm_error *err);
/* LBC_STEP_TAG, LBC_STEP_UNTAG. type: as alilb_change_tags() takes it. */
CCM_NODISCARD int alilb_apply_tags(struct lbc_apply *apply, struct lbc_step *step,
                                   enum ali_product product, const char *type, const char *lb_id,
                                   struct ccm_error *err);
/* struct lbc_apply_ops.wait: for jobs of NLB. */
CCM_NODISCARD int alilb_apply_wait(struct lbc_apply *apply, struct lbc_job *jobs, size_t count,
                                   int64_t timeout_ms, struct ccm_error *err);

#endif
