#include "controller.h"

#include "api_ranges.h"
#include "ccm/object.h"
#include "lbc/lookup.h"
#include "lbc/model/annotation.h"
#include "lbc/model/class.h"
#include "lbc/model/owner.h"
#include "lbc/reuse.h"
#include "lbc/taken.h"
#include "model_listeners.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define WHAT   LBC_PASS_CLEAN_WHAT
#define FAILED LBC_PASS_CLEAN_FAILED

static int release_apply_plan(struct lbc_pass *pass, struct lbc_plan *plan,
                              const struct clb_plan_input *in, bool fresh, struct ccm_error *err)
{
    struct clb_apply apply = {
        .ali = { .lbc = lbc_pass_begin_apply(pass, fresh),
                 .call = clb_pass_call(pass, LBC_PRIO_REMOVE),
                 .service = pass->service },
        .clb = clb_of(pass),
        .entry = pass->entry,
    };

    if (pass->dry) {
        lbc_plan_print(plan, in, &pass->steps);
        return 0;
    }
    apply.ali.lbc.forgives_lb = !in->model->lbc.reused;

    const int r = clb_apply_run(&apply, plan);

    lbc_pass_end_apply(pass, &apply.ali.lbc);
    return r < 0 || pass->problems.count > 0 ? lbc_pass_fail_all(pass, FAILED, WHAT, err) : 0;
}

/* --- a load balancer of our own --- */

/* By its id; one that is gone needs no deletion. */
static int read_again(struct lbc_pass *pass, struct alilb_call *call, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    CCM_CLEANUP(ccm_freep) char *id = strdup(clb_actual(entry)->lb.id);
    int r = id == NULL ? ccm_error_nomem(err)
                       : clb_read_lb_by_id(call, id, &clb_actual(entry)->lb, err);

    if (r == -ENOENT && err->kind == CCM_ERROR_NOT_FOUND) {
        ccm_error_clear(err);
        lbc_entry_drop(entry);
        r = 0;
    }
    return r;
}

/*
 * Only the load balancer itself: what is in it goes, or stays, with it. Whose it is by now is what
 * counts, not whose it was when we looked last: LBC_LOOKUP_NOT_OURS. looked: this pass has read it.
 */
static int release_find_lb(struct lbc_pass *pass, bool looked, struct ccm_error *err)
{
    struct alilb_call call = clb_pass_call(pass, LBC_PRIO_REMOVE);
    struct lbc_entry *entry = pass->entry;
    int r = 0;

    if (!entry->valid) {
        lbc_entry_drop(entry);
        r = clb_read_lb(&call, pass->service, &clb_actual(entry)->lb, err);
    } else if (!looked && clb_actual(entry)->lb.id != NULL) {
        r = read_again(pass, &call, err);
    }
    entry->valid = r == 0;
    return r < 0 || clb_actual(entry)->lb.id == NULL
               ? r
               : clb_read_check_owner(&call, pass->service, &clb_actual(entry)->lb, err);
}

static int release_delete_own(struct lbc_pass *pass, const struct clb_model *model, bool looked,
                              struct ccm_error *err)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
    const struct clb_plan_input in = {
        .model = model,
        .have = clb_actual(pass->entry),
        .service = pass->service,
        .cluster_id = lbc_cluster_id(pass->lbc),
    };
    const bool fresh = !pass->entry->valid;
    int r = release_find_lb(pass, looked, err);

    if (r == LBC_LOOKUP_NOT_OURS) {
        lbc_pass_leave_alone(pass, err);
        return 0;
    }
    if (r == 0 && (model->lbc.preserve ? clb_plan_preserve(&plan, &in)
                                       : clb_plan_delete(&plan, in.have)) < 0) {
        r = ccm_error_nomem(err);
    }
    if (r < 0) {
        return lbc_pass_fail(pass, FAILED, WHAT, r, err);
    }
    if (!model->lbc.preserve) {
        lbc_pass_withdraw(pass, &in.have->lb.tags);
    }
    r = release_apply_plan(pass, &plan, &in, fresh, err);
    if (r == 0) {
        lbc_entry_drop(pass->entry);
        pass->entry->valid = true;
    }
    return r;
}

/* --- somebody else's --- */

static bool is_other_user(const struct lbc_pass *pass, const struct ccm_service *other)
{
    return strcmp(other->meta.key, pass->service->meta.key) != 0 &&
           !lbc_class_needs_delete(other) &&
           ccm_text_equal(lbc_anno_get(&other->meta, "id"), clb_actual(pass->entry)->lb.id);
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
    const struct ccm_host *host = pass->lbc->host;
    const struct clb_state *state = clb_actual(pass->entry);
    const struct ccm_object *const *services = NULL;
    size_t count = 0;
    bool last = host->list(host, CCM_KIND_SERVICE, NULL, NULL, &services, &count) == 0;

    for (size_t i = 0; last && i < count; i++) {
        last = !is_other_user(pass, (const struct ccm_service *)services[i]);
    }
    for (size_t i = 0; last && i < state->lbc.group_count; i++) {
        last = !is_others_key(pass, state->lbc.groups[i]->name);
    }
    for (size_t i = 0; last && i < state->lbc.listener_count; i++) {
        last = !is_others_key(pass, clb_listener_at(state, i)->lbc.description);
    }
    host->release_list(host, services, count);
    return last;
}

/* A Service that was refused has put no mark on it. */
static bool was_user(const struct lbc_pass *pass)
{
    return clb_is_served(pass) ||
           ccm_text_equal(ccm_object_label(&pass->service->meta, LBC_LIFE_LB_LABEL),
                          clb_actual(pass->entry)->lb.id);
}

/* Listeners are deleted by their ports: whose they are by now is read again. Without listeners of
 * ours they only tell whether others use the load balancer too. */
static int release_read_parts(struct lbc_pass *pass, const struct clb_model *model,
                              struct ccm_error *err)
{
    struct alilb_call call = clb_pass_call(pass, LBC_PRIO_REMOVE);
    struct lbc_entry *entry = pass->entry;
    const struct clb_need need = { .listeners = model->lbc.override, .scan = true };
    int r = 0;

    if (!entry->valid) {
        lbc_entry_drop(entry);
        r = clb_read_lb_by_id(&call, model->want.lb.id, &clb_actual(entry)->lb, err);
    } else if (model->lbc.override) {
        lbc_state_forget_listeners(&clb_actual(entry)->lbc);
    }
    if (r == 0) {
        r = clb_read_parts(&call, pass->service, &need, clb_actual(entry), err);
    }
    entry->valid = r == 0;
    return r;
}

/* Whether the tag that says that it is in use goes with this Service. */
static int find_last_user(struct lbc_pass *pass, bool *ret, struct ccm_error *err)
{
    struct alilb_call call = clb_pass_call(pass, LBC_PRIO_REMOVE);
    const struct clb_need need = { .listeners = true, .scan = false };
    struct clb_state *state = clb_actual(pass->entry);

    *ret = lbc_tags_get(&state->lb.tags, CLB_TAG_REUSE) != NULL && was_user(pass) &&
           is_last_user(pass);
    if (!*ret || state->lbc.listeners_known) {
        return 0;
    }
    const int r = clb_read_parts(&call, pass->service, &need, state, err);

    *ret = r == 0 && is_last_user(pass);
    return r;
}

static int release_leave_reused(struct lbc_pass *pass, struct clb_model *model,
                                struct ccm_error *err)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
    struct clb_plan_input in = {
        .model = model,
        .have = clb_actual(pass->entry),
        .service = pass->service,
        .cluster_id = lbc_cluster_id(pass->lbc),
        .batch = atomic_load(&clb_of(pass)->batch),
        .restores = lbc_taken_restores(pass->lbc),
        .cannot_restore = pass->entry->unrestored >= LBC_TAKEN_TRIES,
    };
    const bool fresh = !pass->entry->valid;
    int r = release_read_parts(pass, model, err);

    if (r == -ENOENT && err->kind == CCM_ERROR_NOT_FOUND) {
        return 0;
    }
    r = r < 0 ? r : find_last_user(pass, &in.last_user, err);
    if (r == 0) {
        model->lbc.as_it_is = !lbc_reuse_may_configure(pass, &clb_actual(pass->entry)->lb.tags);
        r = clb_plan_leave(&plan, &in) < 0 ? ccm_error_nomem(err) : 0;
    }
    return r < 0 ? lbc_pass_fail(pass, FAILED, WHAT, r, err)
                 : release_apply_plan(pass, &plan, &in, fresh, err);
}

/* The list that spec.loadBalancerSourceRanges had; nothing is bound to it any more. */
static int drop_acl(struct lbc_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(clb_state_fini) struct clb_state state = { .acl = { .known = false } };
    struct alilb_call call = clb_pass_call(pass, LBC_PRIO_REMOVE);
    const struct clb_details need = {
        .marked = lbc_pass_is_marked(pass),
        .ranges = (pass->lbc->extras & CLB_EXTRA_RANGES) != 0,
    };
    int r = clb_read_details(&call, pass->service, &need, &state, err);

    if (r == 0 && state.acl.id != NULL && pass->dry) {
        ccm_buf_addf(&pass->steps, "delete access list %s\n", state.acl.name);
    } else if (r == 0 && state.acl.id != NULL) {
        r = clb_apply_forgive_acl(
            alilb_write(&call, &clb_api_delete_acl, ALILB_TEXTS(state.acl.id), NULL, err), err);
    }
    return r < 0 ? lbc_pass_fail(pass, FAILED, WHAT, r, err) : 0;
}

/* It was found by its tags: delete that first. */
static int release_own(struct lbc_pass *pass, struct clb_model *model, struct clb_lb *own,
                       struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;

    lbc_entry_drop(entry);
    clb_actual(entry)->lb = *own;
    memset(own, 0, sizeof(*own));
    entry->valid = true;
    model->lbc.reused = false;
    return release_delete_own(pass, model, true, err);
}

/*
 * The load balancer of the label was not found by a tag. Either it is one that was reused until the
 * annotation went, which carries the mark of that: our part of it goes. Or it was our own and has
 * lost its tag: LBC_LOOKUP_NOT_OURS.
 */
static int read_labelled(struct lbc_pass *pass, struct clb_model *model, struct ccm_error *err)
{
    struct alilb_call call = clb_pass_call(pass, LBC_PRIO_REMOVE);
    struct lbc_entry *entry = pass->entry;
    struct clb_state *state = clb_actual(entry);
    const char *label = lbc_entry_acquired_id(entry);
    int r;

    lbc_entry_drop(entry);
    r = clb_read_lb_by_id(&call, label, &state->lb, err);
    entry->valid = r == 0;
    model->lbc.reused = r == 0 && lbc_tags_get(&state->lb.tags, CLB_TAG_REUSE) != NULL;
    model->lbc.override = true; /* our listeners may be there, whatever the annotations say now */
    if (r == 0 && !model->lbc.reused) {
        r = clb_read_check_owner(&call, pass->service, &state->lb, err);
    }
    return r < 0 || lbc_text_set(&model->want.lb.id, label) == 0 ? r : ccm_error_nomem(err);
}

/* What is left of the load balancer of the label, once a tag led to none. */
static int leave_labelled(struct lbc_pass *pass, struct clb_model *model, struct ccm_error *err)
{
    const int r = read_labelled(pass, model, err);

    if (r == -ENOENT && err->kind == CCM_ERROR_NOT_FOUND) {
        ccm_error_clear(err);
        return 0;
    }
    if (r == LBC_LOOKUP_NOT_OURS) {
        lbc_pass_leave_alone(pass, err);
        return 0;
    }
    if (r < 0) {
        return lbc_pass_fail(pass, FAILED, WHAT, r, err);
    }
    return model->lbc.reused ? release_leave_reused(pass, model, err)
                             : release_delete_own(pass, model, true, err);
}

/* The entry was claimed with what the label says, and no annotation says so any more. */
static int release_labelled(struct lbc_pass *pass, struct clb_model *model, struct ccm_error *err)
{
    CCM_CLEANUP(clb_lb_fini) struct clb_lb own = { 0 };
    struct alilb_call call = clb_pass_call(pass, LBC_PRIO_REMOVE);
    int r = clb_read_lb(&call, pass->service, &own, err);

    if (r == LBC_LOOKUP_NOT_OURS) {
        lbc_pass_leave_alone(pass, err);
        return 0;
    }
    if (r < 0) {
        return lbc_pass_fail(pass, FAILED, WHAT, r, err);
    }
    if (own.id != NULL) {
        const bool same = ccm_text_equal(own.id, lbc_entry_acquired_id(pass->entry));

        r = release_own(pass, model, &own, err);
        if (r < 0 || same || pass->entry->left_alone) {
            return r;
        }
    }
    return leave_labelled(pass, model, err);
}

static int release_lb(struct lbc_pass *pass, struct clb_model *model, struct ccm_error *err)
{
    const char *id = lbc_entry_acquired_id(pass->entry);

    if (id[0] != '\0' && !ccm_text_equal(id, lbc_anno_get(&pass->service->meta, "id"))) {
        return release_labelled(pass, model, err);
    }
    model->lbc.reused = pass->entry->reused;
    return model->lbc.reused ? release_leave_reused(pass, model, err)
                             : release_delete_own(pass, model, false, err);
}

int clb_release(struct lbc_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(clb_model_fini) struct clb_model model;

    memset(&model, 0, sizeof(model));
    if (clb_model_lb(&model, pass->service) < 0) {
        return ccm_error_nomem(err);
    }
    const int r = release_lb(pass, &model, err);

    return r == 0 && !pass->entry->left_alone && (model.lbc.reused || !model.lbc.preserve)
               ? drop_acl(pass, err)
               : r;
}
