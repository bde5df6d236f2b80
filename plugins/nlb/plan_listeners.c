/* Steps that delete listeners, and those for additional certificates. */
#include "nlb.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define CERTS_PER_LISTENER 25

int nlb_plan_stale_listeners(struct lbc_work *work)
{
    return lbc_model_has_listeners(work->model) ? lbc_plan_stale_listeners(work) : 0;
}

/* --- additional certificates --- */

static int cert_steps(struct lbc_work *work, unsigned type, unsigned *stage,
                      const struct nlb_listener *who, struct lbc_listener *have,
                      const struct lbc_texts *certs)
{
    struct lbc_step *step = NULL;

    for (size_t i = 0; i < certs->len; i++) {
        if (i % NLB_CERTS_MAX == 0) {
            step = lbc_work_listener_step(work, type, (*stage)++, &who->lbc, have);
        }
        if (step == NULL || lbc_texts_put(&step->texts, certs->items[i]) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* Those of `from` that `to` lacks; the listener's own certificate is none of them. */
static int certs_find_missing(const struct lbc_texts *from, const struct lbc_texts *to,
                              const char *own, struct lbc_texts *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->len; i++) {
        if (!lbc_texts_has(to, from->items[i]) && !ccm_text_equal(from->items[i], own)) {
            r = lbc_texts_put(ret, from->items[i]);
        }
    }
    return r;
}

/* From `stage` on. have NULL: a new listener. New ones first, unless there is no room for both. */
int nlb_plan_certs(struct lbc_work *work, unsigned stage, const struct lbc_listener *desired,
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
    r = certs_find_missing(&want->certs, present, own, &add);
    if (r == 0) {
        r = certs_find_missing(present, &want->certs, own, &remove);
    }
    const bool crowded = present->len + add.len > CERTS_PER_LISTENER;

    if (r == 0 && crowded) {
        r = cert_steps(work, NLB_STEP_REMOVE_CERTS, &stage, want, whose, &remove);
    }
    if (r == 0) {
        r = cert_steps(work, NLB_STEP_ADD_CERTS, &stage, want, whose, &add);
    }
    return r < 0 || crowded ? r
                            : cert_steps(work, NLB_STEP_REMOVE_CERTS, &stage, want, whose, &remove);
}
