/* Carries out steps about listeners: their additional certificates. */
#include "apply_parts.h"
#include "lbc/apply/record.h"

int nlb_apply_certs_done(struct lbc_apply *apply, struct lbc_step *step)
{
    (void)apply;
    return lbc_record_texts(&((struct nlb_listener *)step->listener)->certs, &step->texts,
                            step->type == NLB_STEP_ADD_CERTS);
}
