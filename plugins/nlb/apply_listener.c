#include "api_listener.h"
#include "apply_parts.h"
#include "names.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* A listener that had to go first is still there. */
static bool is_occupied(const struct nlb_apply *apply, const struct nlb_step *step)
{
    for (size_t i = 0; i < apply->have->lbc.listener_count; i++) {
        if (lbc_listener_clash(&nlb_listener_at(apply->have, i)->lbc, &step->listener.lbc)) {
            return true;
        }
    }
    return false;
}

bool nlb_apply_listener_blocked(const struct nlb_apply *apply, const struct nlb_step *step)
{
    switch (step->lbc.type) {
    case LBC_STEP_CREATE_LISTENER:
        return apply->have->lb.id == NULL || nlb_apply_group(apply, step) == NULL ||
               is_occupied(apply, step);
    case LBC_STEP_UPDATE_LISTENER:
    case LBC_STEP_RESTORE_LISTENER:
        return nlb_apply_target(apply, step) == NULL || nlb_apply_group(apply, step) == NULL;
    default:
        return nlb_apply_target(apply, step) == NULL;
    }
}

int nlb_apply_listener_send(struct nlb_apply *apply, const struct nlb_step *step,
                            struct lbc_sent *sent, struct ccm_error *err)
{
    const struct nlb_listener *listener = nlb_apply_target(apply, step);
    const char *id = listener == NULL ? NULL : listener->lbc.id;
    struct alilb_call *call = &apply->call;

    switch (step->lbc.type) {
    case LBC_STEP_CREATE_LISTENER:
        return nlb_api_create_listener(call, apply->have->lb.id, &step->listener,
                                       nlb_apply_group(apply, step)->lbc.id, sent, err);
    case LBC_STEP_UPDATE_LISTENER:
    case LBC_STEP_RESTORE_LISTENER:
        return nlb_api_update_listener(call, id, &step->listener,
                                       nlb_apply_group(apply, step)->lbc.id, sent, err);
    case NLB_STEP_ADD_CERTS:
        return alilb_write(call, &nlb_api_add_certs, ALILB_LIST(&step->lbc.texts, id), sent, err);
    case NLB_STEP_REMOVE_CERTS:
        return alilb_write(call, &nlb_api_remove_certs, ALILB_LIST(&step->lbc.texts, id), sent,
                           err);
    default:
        return nlb_apply_forgive(
            apply, alilb_write(call, &nlb_api_delete_listener, ALILB_TEXTS(id), sent, err), err);
    }
}

/* --- the mirror --- */

static int listener_record_created(struct nlb_apply *apply, const struct nlb_step *step,
                                   struct lbc_sent *sent)
{
    const struct nlb_group *group = nlb_apply_group(apply, step);
    struct nlb_listener *listener = nlb_state_new_listener(apply->have);

    if (listener == NULL || nlb_listener_copy(listener, &step->listener) < 0 ||
        lbc_text_set(&listener->lbc.group_id, group == NULL ? NULL : group->lbc.id) < 0) {
        return -ENOMEM;
    }
    free(listener->lbc.id);
    listener->lbc.id = CCM_STEAL(sent->made_id);
    lbc_texts_fini(&listener->certs);
    listener->certs_known = true;
    return 0;
}

static int listener_record_updated(const struct nlb_apply *apply, const struct nlb_step *step,
                                   struct nlb_listener *listener)
{
    const struct nlb_group *group = nlb_apply_group(apply, step);

    return lbc_attrs_copy(&listener->lbc.attrs, &step->listener.lbc.attrs) < 0 ||
                   (step->listener.lbc.description != NULL &&
                    lbc_text_set(&listener->lbc.description, step->listener.lbc.description) < 0) ||
                   lbc_text_set(&listener->lbc.group_id, group == NULL ? NULL : group->lbc.id) < 0
               ? -ENOMEM
               : 0;
}

static int listener_record_certs(struct nlb_listener *listener, const struct nlb_step *step)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < step->lbc.texts.len; i++) {
        if (step->lbc.type == NLB_STEP_ADD_CERTS) {
            r = lbc_texts_put(&listener->certs, step->lbc.texts.items[i]);
        } else {
            lbc_texts_remove(&listener->certs, step->lbc.texts.items[i]);
        }
    }
    return r;
}

int nlb_apply_listener_done(struct nlb_apply *apply, const struct nlb_step *step,
                            struct lbc_sent *sent)
{
    struct nlb_listener *listener = nlb_apply_target(apply, step);

    if (step->lbc.type == LBC_STEP_CREATE_LISTENER) {
        return listener_record_created(apply, step, sent);
    }
    if (listener == NULL) {
        return 0;
    }
    switch (step->lbc.type) {
    case LBC_STEP_UPDATE_LISTENER:
    case LBC_STEP_RESTORE_LISTENER:
        /* A person's may be taken over by those who had to leave it to this Service. */
        apply->freed = apply->freed || step->lbc.type == LBC_STEP_RESTORE_LISTENER;
        return listener_record_updated(apply, step, listener);
    case LBC_STEP_DELETE_LISTENER:
        lbc_state_drop_listener(&apply->have->lbc, &listener->lbc);
        apply->freed = true;
        return 0;
    default:
        return listener_record_certs(listener, step);
    }
}
