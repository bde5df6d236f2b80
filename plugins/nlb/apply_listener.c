#include "api_listener.h"
#include "apply_parts.h"
#include "lbc/apply/record.h"
#include "util/cleanup.h"

#include <errno.h>

int nlb_apply_create_listener(struct lbc_apply *base, struct lbc_step *step, struct ccm_error *err)
{
    struct nlb_apply *apply = nlb_apply_of(base);

    return nlb_api_create_listener(&apply->ali.call, apply->have->lb.id,
                                   &nlb_step_of(step)->listener, step->group->id, &step->sent, err);
}

int nlb_apply_create_listener_done(struct lbc_apply *base, struct lbc_step *step)
{
    struct nlb_listener *listener = nlb_state_new_listener(nlb_apply_of(base)->have);

    if (listener == NULL || nlb_listener_copy(listener, &nlb_step_of(step)->listener) < 0 ||
        lbc_text_set(&listener->lbc.group_id, step->group->id) < 0) {
        return -ENOMEM;
    }
    free(listener->lbc.id);
    listener->lbc.id = CCM_STEAL(step->sent.made_id);
    lbc_texts_fini(&listener->certs);
    listener->certs_known = true;
    step->listener = &listener->lbc;
    return 0;
}

int nlb_apply_update_listener(struct lbc_apply *base, struct lbc_step *step, struct ccm_error *err)
{
    return nlb_api_update_listener(alilb_apply_call(base), step->listener->id,
                                   &nlb_step_of(step)->listener, step->group->id, &step->sent, err);
}

int nlb_apply_update_listener_done(struct lbc_apply *base, struct lbc_step *step)
{
    struct lbc_listener *listener = step->listener;

    (void)base;
    return lbc_attrs_copy(&listener->attrs, &step->to->attrs) < 0 ||
                   (step->to->description != NULL &&
                    lbc_text_set(&listener->description, step->to->description) < 0) ||
                   lbc_text_set(&listener->group_id, step->group->id) < 0
               ? -ENOMEM
               : 0;
}

int nlb_apply_delete_listener(struct lbc_apply *base, struct lbc_step *step, struct ccm_error *err)
{
    return alilb_apply_delete(base, step, &nlb_api_delete_listener, ALILB_TEXTS(step->listener->id),
                              err);
}

/* --- additional certificates --- */

int nlb_apply_certs(struct lbc_apply *base, struct lbc_step *step, struct ccm_error *err)
{
    const struct alilb_action *action =
        step->type == NLB_STEP_ADD_CERTS ? &nlb_api_add_certs : &nlb_api_remove_certs;

    return alilb_apply_write(base, step, action, ALILB_LIST(&step->texts, step->listener->id), err);
}

int nlb_apply_certs_done(struct lbc_apply *base, struct lbc_step *step)
{
    (void)base;
    return lbc_record_texts(&((struct nlb_listener *)step->listener)->certs, &step->texts,
                            step->type == NLB_STEP_ADD_CERTS);
}
