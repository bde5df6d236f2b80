/* Steps for additional certificates of listeners. */
#include "nlb.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define CERTS_PER_LISTENER 25

/* New ones first, unless there is no room for both. The listener's own certificate is none of them.
 */
int nlb_plan_certs(struct lbc_work *work, const struct lbc_listener *desired,
                   struct lbc_listener *whose)
{
    const struct nlb_listener *want = (const struct nlb_listener *)desired;
    const struct nlb_listener *have = (const struct nlb_listener *)whose;
    static const struct lbc_texts none = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts add = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts remove = { 0 };
    const struct lbc_texts *present = have == NULL ? &none : &have->certs;
    const char *own = lbc_attrs_get(&want->lbc.attrs, nlb_listener_field("CertificateIds"));
    int r = 0;

    if (want->lbc.protocol != LBC_TCPSSL || !want->lbc.certs_known ||
        (have != NULL && !have->lbc.certs_known)) {
        return 0;
    }
    r = lbc_texts_put_missing(&add, &want->certs, present, own);
    if (r == 0) {
        r = lbc_texts_put_missing(&remove, present, &want->certs, own);
    }
    const bool crowded = present->len + add.len > CERTS_PER_LISTENER;

    if (r == 0 && crowded) {
        r = lbc_work_text_steps(work, NLB_STEP_REMOVE_CERTS, &remove, NLB_CERTS_MAX, desired,
                                whose);
    }
    if (r == 0) {
        r = lbc_work_text_steps(work, NLB_STEP_ADD_CERTS, &add, NLB_CERTS_MAX, desired, whose);
    }
    return r < 0 || crowded ? r
                            : lbc_work_text_steps(work, NLB_STEP_REMOVE_CERTS, &remove,
                                                  NLB_CERTS_MAX, desired, whose);
}
