/* CLB's part of a pass that releases. */
#include "controller.h"

#include "api.h"
#include "apply_parts.h"
#include "lbc/model/class.h"
#include "lbc/model/owner.h"
#include "lbc/reuse.h"
#include "lbc/survey.h"
#include "model_listeners.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* --- whether anybody else uses somebody else's load balancer --- */

/* As its labels say. A Service that has not adopted the load balancer yet has nothing on it, and
 * adds the tag when it does. */
static int is_other_user(void *arg, const struct ccm_service *other)
{
    const struct lbc_pass *pass = *(const struct lbc_pass *const *)arg;
    const char *id = clb_actual(pass)->lb.lbc.id;

    return strcmp(other->meta.key, pass->service->meta.key) != 0 &&
           !lbc_class_needs_delete(other) &&
           (ccm_text_equal(lbc_life_reused_id(&pass->life, other), id) ||
            ccm_text_equal(ccm_object_label(&other->meta, LBC_LIFE_LB_LABEL), id));
}

/* The name of a group, or the description of a listener, of another Service or cluster. */
static bool is_others_key(const struct lbc_pass *pass, const char *text)
{
    return text != NULL && lbc_owner_is_key(text) &&
           lbc_owner_parse(text, false, &pass->service->meta, lbc_cluster_id(pass->lbc)) !=
               LBC_OWNER_OURS;
}

/* Whether nothing else of this or another cluster's controller is in the load balancer. */
static bool is_last_user(const struct lbc_pass *pass)
{
    const struct clb_state *state = clb_actual(pass);
    bool last = lbc_survey_services(pass->lbc, is_other_user, &pass) == 0;

    for (size_t i = 0; last && i < state->lbc.group_count; i++) {
        last = !is_others_key(pass, state->lbc.groups[i]->name);
    }
    for (size_t i = 0; last && i < state->lbc.listener_count; i++) {
        last = !is_others_key(pass, clb_listener_at(state, i)->lbc.description);
    }
    return last;
}

/* A label says that it is the Service's. Anybody may have written that, so it counts only where the
 * namespace may use the load balancer anyway. */
static bool is_labelled_user(const struct lbc_pass *pass)
{
    const struct lbc_lb *lb = &clb_actual(pass)->lb.lbc;

    return lbc_reuse_may_use(pass, &lb->tags) &&
           (ccm_text_equal(lbc_life_reused_id(&pass->life, pass->service), lb->id) ||
            ccm_text_equal(ccm_object_label(&pass->service->meta, LBC_LIFE_LB_LABEL), lb->id));
}

/* A Service that was refused has put no mark on it. */
static int find_user(const struct lbc_pass *pass, bool *ret)
{
    const int r = lbc_reuse_find_served(pass, ret);

    *ret = *ret || lbc_change_is_marked(&pass->entry->change) || is_labelled_user(pass);
    return r;
}

/* Whether the tag that says that it is in use goes with this Service. */
static int release_find_last_user(const struct lbc_pass *pass, bool *ret)
{
    const int r = find_user(pass, ret);

    *ret =
        *ret && lbc_tags_get(&lbc_pass_lb(pass)->tags, LBC_TAG_REUSE) != NULL && is_last_user(pass);
    return r;
}

/* Of a load balancer of its own nothing: what is in it goes, or stays, with it. */
int clb_release_read(struct lbc_pass *pass, struct ccm_error *err)
{
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_REMOVE);
    struct clb_state *state = clb_actual(pass);
    const struct clb_need need = { .listeners = true, .scan = true };
    bool last_user = false;
    int r;

    if (!pass->model->reused || state->lb.lbc.id == NULL) {
        return 0;
    }
    r = clb_read_parts(&call, pass->service, &need, state, err);
    if (r == 0 && release_find_last_user(pass, &last_user) < 0) {
        return ccm_error_nomem(err);
    }
    lbc_release_note_last_user(&pass->release, last_user);
    return r;
}

/* It stays, with the load balancer that is preserved, and is not ours from now on. */
static int release_untag_acl(struct lbc_pass *pass, struct alilb_call *call,
                             const struct clb_acl *acl, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags marks = { 0 };
    const struct alilb_tagging untagging = {
        .type = "acl", .id = acl->id, .tags = &marks, .remove = true
    };

    if (pass->lbc->dry) {
        ccm_buf_addf(pass->life.plan, "untag access list %s\n", acl->name);
        return 0;
    }
    return lbc_tags_put(&marks, LBC_TAG_OWNER, "") < 0 ||
                   lbc_tags_put(&marks, LBC_TAG_CLUSTER, "") < 0
               ? ccm_error_nomem(err)
               : clb_apply_forgive_acl(alilb_change_tags(call, ALI_SLB, &untagging, NULL, err),
                                       err);
}

/* The list that spec.loadBalancerSourceRanges had; of a load balancer that went nothing is bound to
 * it any more. */
int clb_release_acl(struct lbc_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(clb_state_fini) struct clb_state state = { .acl = { .known = false } };
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_REMOVE);
    const struct clb_details need = {
        .marked = lbc_pass_is_marked(pass),
        .ranges = (pass->lbc->extras & CLB_EXTRA_RANGES) != 0,
    };
    int r;

    r = clb_read_details(&call, pass->service, &need, &state, err);
    if (r < 0 || state.acl.id == NULL) {
        return r;
    }
    if (!pass->model->reused && pass->model->preserve) {
        return release_untag_acl(pass, &call, &state.acl, err);
    }
    if (pass->lbc->dry) {
        ccm_buf_addf(pass->life.plan, "delete access list %s\n", state.acl.name);
        return 0;
    }
    return clb_apply_forgive_acl(
        alilb_write(&call, &clb_api_delete_acl, ALILB_TEXTS(state.acl.id), NULL, err), err);
}
