/* What a person should know about a Service that is not a failure: as events, once per change. */
#include "controller.h"

#include "util/cleanup.h"
#include "util/text.h"

static void tell_useless(struct ccm_pass *pass, const struct nlb_model *model)
{
    const struct ccm_object *meta = &pass->service->meta;
    const bool groups = ccm_anno_get(meta, "vgroup-port")[0] != '\0';
    const bool weight = ccm_anno_get(meta, "weight")[0] != '\0';

    ccm_pass_say(pass, true, "vgroup-port", "NoEffect",
                 groups && !model->reused
                     ? "annotation vgroup-port has no effect without annotation id"
                     : "");
    ccm_pass_say(pass, true, "weight", "NoEffect",
                 weight && !(groups && model->reused)
                     ? "annotation weight has no effect without annotations id and vgroup-port"
                     : "");
}

/* Once for the process: it is not about one Service. */
static void tell_jobs(struct ccm_pass *pass)
{
    struct nlb *nlb = (struct nlb *)pass->lbc;

    if (ccm_job_degraded(pass->lbc->ali) && !atomic_exchange(&nlb->told_jobs, true)) {
        ccm_life_event(
            &pass->lbc->life, pass->service, true, "PermissionMissing",
            "The credentials lack the permission nlb:ListAsynJobs, so jobs of all "
            "Services are asked for one by one, which is slower. Add it to the policy of "
            "the RAM role or user.");
    }
}

void nlb_tell(struct ccm_pass *pass)
{
    const struct nlb_model *model = pass->model;
    CCM_CLEANUP(ccm_freep)
    char *text = ccm_text_format("The lb [%s] will be preserved after the service is deleted.",
                                 ccm_pass_lb_id(pass));

    ccm_pass_say(pass, true, "preserve", "PreservedOnDelete",
                 model->preserve && !model->reused ? text : "");
    tell_useless(pass, model);
    tell_jobs(pass);
}
