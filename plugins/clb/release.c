#include "pass.h"

#include "read.h"
#include "service/annotation.h"
#include "service/object.h"
#include "util/cleanup.h"

#include <errno.h>
#include <string.h>

#define WHAT "Error deleting load balancer"

/* Annotations that forbid the deletion of a load balancer, or speak of one that we do not manage.
 */
static int check_keep(struct clb_pass *pass, bool found, struct ccm_error *err)
{
    const struct ccm_object *meta = &pass->service->meta;

    if (ccm_anno_get(meta, "preserve-lb-on-delete")[0] != '\0' && found) {
        return ccm_error_set(err, -ENOTSUP, CCM_ERROR_TERMINAL,
                             "this version does not support annotation %spreserve-lb-on-delete: "
                             "nothing was deleted, remove the annotation to have the load balancer "
                             "deleted",
                             CCM_ANNO_PREFIX);
    }
    if (ccm_anno_get(meta, "id")[0] != '\0' && !found) {
        return ccm_error_set(err, -ENOTSUP, CCM_ERROR_TERMINAL,
                             "this version does not support annotation %sid: listeners and groups "
                             "of that load balancer are left as they are, remove the annotation to "
                             "go on",
                             CCM_ANNO_PREFIX);
    }
    return 0;
}

/* Only the load balancer itself: what is in it goes with it. */
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

static int delete_lb(struct clb_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(clb_plan_fini) struct clb_plan plan = { 0 };
    const bool fresh = !pass->entry->valid;
    int r = find(pass, err);

    if (r == 0) {
        r = check_keep(pass, pass->entry->state.lb.id != NULL, err);
    }
    if (r == 0 && clb_plan_delete(&plan, &pass->entry->state) < 0) {
        r = ccm_error_nomem(err);
    }
    if (r < 0) {
        return clb_pass_fail(pass, "CleanLoadBalancerFailed", WHAT, r, err);
    }
    struct clb_apply apply = {
        .call = clb_pass_call(pass, CCM_ALI_PRIO_REMOVE),
        .clb = pass->clb,
        .service = pass->service,
        .entry = pass->entry,
        .fresh = fresh,
        .problems = &pass->problems,
    };

    r = clb_apply_run(&apply, &plan);
    pass->writes += apply.writes;
    if (r < 0 || pass->problems.count > 0) {
        return clb_pass_fail_all(pass, "CleanLoadBalancerFailed", WHAT, err);
    }
    return 0;
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
    if (!ccm_object_has_finalizer(&pass->service->meta, CLB_FINALIZER) &&
        entry->state.lb.id == NULL) {
        return 0;
    }
    if (!entry->gone) {
        r = delete_lb(pass, err);
        if (r < 0) {
            return r;
        }
        entry->gone = true;
        entry->attempt++;
    }
    r = clean_service(pass, err);
    if (r == 0) {
        clb_pass_say(pass, false, "CleanLoadBalancer", "CleanLoadBalancer", "Clean load balancer");
    }
    return r;
}
