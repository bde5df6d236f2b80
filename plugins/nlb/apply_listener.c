/* Carries out steps about listeners. */
#include "api_listener.h"
#include "apply_parts.h"
#include "lbc/apply/record.h"
#include "util/cleanup.h"

#include <errno.h>

int nlb_apply_create_listener(struct lbc_apply *base, struct lbc_step *step, struct ccm_error *err)
{
    struct nlb_apply *apply = nlb_apply_of(base);

    return nlb_api_create_listener(&apply->ali.call, apply->have->lb.lbc.id,
                                   (struct nlb_listener *)step->to, step->group->id, &step->sent,
                                   err);
}

int nlb_apply_record_listener(struct lbc_listener *listener)
{
    ((struct nlb_listener *)listener)->certs_known = true;
    return 0;
}

int nlb_apply_update_listener(struct lbc_apply *base, struct lbc_step *step, struct ccm_error *err)
{
    return nlb_api_update_listener(alilb_apply_call(base), step->listener->id,
                                   (struct nlb_listener *)step->to, step->group->id, &step->sent,
                                   err);
}

/* --- additional certificates --- */

int nlb_apply_certs_done(struct lbc_apply *base, struct lbc_step *step)
{
    (void)base;
    return lbc_record_texts(&((struct nlb_listener *)step->listener)->certs, &step->texts,
                            step->type == NLB_STEP_ADD_CERTS);
}
