/* Carries out steps about listeners. */
#include "api.h"
#include "apply_parts.h"
#include "lbc/apply/record.h"
#include "util/cleanup.h"

#include <errno.h>

int nlb_apply_record_listener(struct lbc_listener *listener)
{
    ((struct nlb_listener *)listener)->certs_known = true;
    return 0;
}

/* --- additional certificates --- */

int nlb_apply_certs_done(struct lbc_apply *base, struct lbc_step *step)
{
    (void)base;
    return lbc_record_texts(&((struct nlb_listener *)step->listener)->certs, &step->texts,
                            step->type == NLB_STEP_ADD_CERTS);
}
