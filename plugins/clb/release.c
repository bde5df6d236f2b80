#include "pass.h"

#include "api_listener.h"
#include "apply_parts.h"
#include "read.h"
#include "read_listeners.h"
#include "service/annotation.h"
#include "service/class.h"
#include "service/conditions.h"
#include "service/object.h"
#include "service/owner.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define WHAT   "Error deleting load balancer"
#define FAILED "CleanLoadBalancerFailed"

static int run_plan(struct clb_pass *pass, const struct clb_plan *plan, bool fresh,
                    struct ccm_error *err)
{
    struct clb_apply apply = {
        .call = clb_pass_call(pass, CCM_ALI_PRIO_REMOVE),
        .clb = pass->clb,
        .service = pass->service,
        .entry = pass->entry,
        .fresh = fresh,
        .problems = &pass->problems,
    };
    const int r = clb_apply_run(&apply, plan);

    pass->writes += apply.writes;
    return r < 0 || pass->problems.count > 0 ? clb_pass_fail_all(pass, FAILED, WHAT, err) : 0;
}

/* --- a load balancer of our own --- */

/* Only the load balancer itself: what is in it goes, or stays, with it. */
static int find(struct clb_pass *pass, struct ccm_error *err)
{
    struct clb_call call = clb_pass_call(pass, CCM_ALI_PRIO_REMOVE);
    int r;

    if (pass->entry->valid) {
        return 0;
    }
    clb_entry_drop(pass->entry);
    r = clb_read_lb(&call, pass->service, &pass->entry->state.lb, err);
    pass->entry->valid = r == 0;
    return r;
}

static int take_away(struct clb_pass *pass, const struct clb_model *model, struct ccm_error *err)
{
    CCM_CLEANUP(clb_plan_fini) struct clb_plan plan = { 0 };
    const struct clb_plan_input in = {
        .model = model,
        .have = &pass->entry->state,
        .service = pass->service,
        .cluster_id = ccm_ali_cluster_id(pass->clb->ali),
    };
    const bool fresh = !pass->entry->valid;
    int r = find(pass, err);

    if (r == 0 &&
        (model->preserve ? clb_plan_preserve(&plan, &in) : clb_plan_delete(&plan, in.have)) < 0) {
        r = ccm_error_nomem(err);
    }
    if (r < 0) {
        return clb_pass_fail(pass, FAILED, WHAT, r, err);
    }
    r = run_plan(pass, &plan, fresh, err);
    if (r == 0) {
        clb_entry_drop(pass->entry);
        pass->entry->valid = true;
    }
    return r;
}

/* --- somebody else's --- */

static bool is_other_user(const struct clb_pass *pass, const struct ccm_service *other)
{
    return strcmp(other->meta.key, pass->service->meta.key) != 0 &&
           !ccm_class_needs_delete(other) &&
           ccm_text_equal(ccm_anno_get(&other->meta, "id"), pass->entry->state.lb.id);
}

/* Whether nothing else of this or another cluster's controller is in the load balancer. */
static bool is_last_user(const struct clb_pass *pass)
{
    const struct ccm_host *host = pass->clb->host;
    const struct clb_state *state = &pass->entry->state;
    const struct ccm_object *const *services = NULL;
    size_t count = 0;
    bool last = host->list(host, CCM_KIND_SERVICE, NULL, NULL, &services, &count) == 0;

    for (size_t i = 0; last && i < count; i++) {
        last = !is_other_user(pass, (const struct ccm_service *)services[i]);
    }
    for (size_t i = 0; last && i < state->group_count; i++) {
        const char *name = state->groups[i].name;

        last = !ccm_owner_is_key(name) ||
               ccm_owner_parse(name, false, &pass->service->meta,
                               ccm_ali_cluster_id(pass->clb->ali)) == CCM_OWNER_OURS;
    }
    host->release_list(host, services, count);
    return last;
}

static int look(struct clb_pass *pass, const struct clb_model *model, struct ccm_error *err)
{
    struct clb_call call = clb_pass_call(pass, CCM_ALI_PRIO_REMOVE);
    struct clb_entry *entry = pass->entry;
    const struct clb_need need = { .listeners = model->override, .scan = true };
    int r = 0;

    if (!entry->valid) {
        clb_entry_drop(entry);
        r = clb_read_lb_by_id(&call, pass->service, model->want.lb.id, &entry->state.lb, err);
    }
    if (r == 0) {
        r = clb_read_parts(&call, pass->service, &need, &entry->state, err);
    }
    entry->valid = r == 0;
    return r;
}

static int leave(struct clb_pass *pass, const struct clb_model *model, struct ccm_error *err)
{
    CCM_CLEANUP(clb_plan_fini) struct clb_plan plan = { 0 };
    struct clb_plan_input in = {
        .model = model,
        .have = &pass->entry->state,
        .service = pass->service,
        .cluster_id = ccm_ali_cluster_id(pass->clb->ali),
        .batch = atomic_load(&pass->clb->batch),
    };
    const bool fresh = !pass->entry->valid;
    int r = look(pass, model, err);

    if (r == -ENOENT && err->kind == CCM_ERROR_NOT_FOUND) {
        return 0;
    }
    if (r == 0) {
        in.last_user = is_last_user(pass);
        r = clb_plan_leave(&plan, &in) < 0 ? ccm_error_nomem(err) : 0;
    }
    return r < 0 ? clb_pass_fail(pass, FAILED, WHAT, r, err) : run_plan(pass, &plan, fresh, err);
}

/* The list that spec.loadBalancerSourceRanges had; nothing is bound to it any more. */
static int drop_acl(struct clb_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(clb_state_fini) struct clb_state state = { .acl = { .known = false } };
    struct clb_call call = clb_pass_call(pass, CCM_ALI_PRIO_REMOVE);
    int r = clb_read_details(&call, pass->service, NULL, pass->clb->extras, &state, err);

    if (r == 0 && state.acl.id != NULL) {
        r = clb_apply_forgive(clb_api_delete_acl(&call, state.acl.id, err), err);
    }
    return r < 0 ? clb_pass_fail(pass, FAILED, WHAT, r, err) : 0;
}

static int let_go(struct clb_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(clb_model_fini) struct clb_model model;

    memset(&model, 0, sizeof(model));
    if (clb_model_lb(&model, pass->service) < 0) {
        return ccm_error_nomem(err);
    }
    model.reused = pass->entry->shared != NULL;
    const int r = model.reused ? leave(pass, &model, err) : take_away(pass, &model, err);

    return r == 0 && (model.reused || !model.preserve) ? drop_acl(pass, err) : r;
}

static int clean_service(struct clb_pass *pass, struct ccm_error *err)
{
    const struct ccm_life_state nothing = { .hash = "", .lb_id = "", .ip = "" };
    const struct ccm_life *life = &pass->clb->life;
    bool written = false;
    int r = ccm_life_publish(life, pass->req, pass->service, &nothing, &written, err);

    if (r < 0) {
        return clb_pass_fail(pass, "FailedUpdateStatus",
                             "Error removing load balancer status and labels", r, err);
    }
    if (pass->service->meta.deleted_ms == 0) { /* else it goes with the Service */
        r = ccm_life_tell(life, pass->req, pass->service, NULL, err);
    }
    if (r < 0) {
        return clb_pass_fail(pass, "FailedUpdateStatus",
                             "Error removing load balancer status and labels", r, err);
    }
    r = ccm_life_remove_finalizer(life, pass->req, pass->service, err);
    if (r < 0) {
        return clb_pass_fail(pass, "FailedRemoveFinalizer",
                             "Error removing load balancer finalizer", r, err);
    }
    return 0;
}

int clb_release(struct clb_pass *pass, struct ccm_error *err)
{
    struct clb_entry *entry = pass->entry;
    int r;

    /* Without finalizer it was never ours, unless the snapshot is older than our own patch. */
    if (!ccm_object_has_finalizer(&pass->service->meta, CLB_FINALIZER) && !entry->used) {
        return 0;
    }
    if (!entry->gone) {
        r = let_go(pass, err);
        if (r < 0) {
            return r;
        }
        entry->gone = true;
        entry->used = false;
        entry->attempt++;
    }
    r = clean_service(pass, err);
    if (r == 0) {
        clb_pass_say(pass, false, "CleanLoadBalancer", "CleanLoadBalancer", "Clean load balancer");
    }
    return r;
}
