/*
 * A pass that ensures, as one story: lbc_pass_ensure() at the end. Its parts are in manifest.c
 * (what the Service asks for), sync.c (model, and what the cloud has), change.c (plan, and its run)
 * and publish.c (what people see). Before the first call to the cloud the finalizer is added:
 * ensure_add_finalizer(), which has service/lifecycle.c:lbc_life_set_finalizer() write it.
 */
#include "lbc/pass/ensure.h"

#include "lbc/health.h"
#include "lbc/model/object.h"
#include "lbc/pass/keep.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>

/* What it asks for is not known as a whole: nothing is changed until it is smaller. */
static int ensure_check_size(struct lbc_pass *pass, struct ccm_error *err)
{
    if (pass->service->meta.too_large == NULL) {
        return 0;
    }
    pass->entry->look.asked = false; /* nothing is looked at */

    const int r = ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TERMINAL,
                                "the %s is too large (%s): its load balancer stays as it is",
                                lbc_product_served(pass->lbc->ops->product)->noun,
                                pass->service->meta.too_large);

    return lbc_pass_fail(pass, r, err);
}

/* What earlier passes and processes have left: the hash label, the mirror, unhealthy ports. */
static int ensure_adopt(struct lbc_pass *pass, struct ccm_error *err)
{
    const int r = ensure_check_size(pass, err);

    if (r < 0) {
        return r;
    }
    if (lbc_hash_see(pass->service, &pass->hash) < 0) {
        return ccm_error_nomem(err);
    }
    lbc_health_recall(pass);
    lbc_look_begin(pass);
    return 0;
}

/* What a write before the first one to the cloud came to. If the Service was deleted meanwhile, the
 * pass ends: nothing was created yet. Backends of a load balancer that exists follow all the same.
 */
static int ensure_end_write(struct lbc_pass *pass, int r, const char *reason, const char *what,
                            bool *unbound, struct ccm_error *err)
{
    pass->unfinished = r < 0 && err->kind == CCM_ERROR_NOT_FOUND;
    if (r < 0 && !pass->unfinished &&
        (err->kind == CCM_ERROR_CANCELLED || !lbc_lookup_shows_lb(pass->service))) {
        return lbc_pass_fail_kube(pass, reason, what, r, err);
    }
    if (r < 0 && !pass->unfinished) {
        (void)ccm_error_wrap(err, r, "%s", what); /* sets the text */
        lbc_problems_add(&pass->refused.problems, err, NULL);
        *unbound = true;
    }
    ccm_error_clear(err);
    return 0;
}

/* And the label for what no other label leads to. */
static int ensure_add_finalizer(struct lbc_pass *pass, bool *unbound, struct ccm_error *err)
{
    const bool bound = lbc_object_has_finalizer(&pass->service->meta, pass->life.finalizer);
    int r = lbc_life_set_finalizer(&pass->life, pass->req, pass->service, true, err);

    if (r == 0 && !bound) { /* a cache that is behind may not show that of an earlier leader */
        pass->entry->creation.bound_here = pass->life.memory->bound;
    }
    r = ensure_end_write(pass, r, "FailedAddFinalizer", "Error adding finalizer", unbound, err);
    if (r < 0 || pass->unfinished || *unbound || !lbc_pass_needs_mark(pass)) {
        return r;
    }
    r = lbc_life_mark(&pass->life, pass->req, pass->service, err);
    return ensure_end_write(pass, r, "FailedUpdateStatus", "Error updating labels", unbound, err);
}

/* Jobs of an earlier pass: as long as they run, or if they have failed, nothing else is done. */
static int ensure_settle_jobs(struct lbc_pass *pass, struct ccm_error *err)
{
    pass->model = calloc(1, pass->lbc->ops->model->size);
    if (pass->model == NULL) {
        return ccm_error_nomem(err);
    }
    return lbc_pass_settle_jobs(pass, err);
}

/* Nodes, slices, and pods with readiness gates. */
static int ensure_take_snapshot(struct lbc_pass *pass, struct ccm_error *err)
{
    const bool gated =
        pass->lbc->ops->product->served == NULL; /* no pod waits for another object */
    const int r = lbc_snapshot_take(pass, err);

    return r == 0 && lbc_readiness_collect(&pass->readiness, pass->snapshot.slices,
                                           gated ? pass->snapshot.slice_count : 0,
                                           &pass->entry->pods.states) < 0
               ? ccm_error_nomem(err)
               : r;
}

/* The cloud has what could be done. A pass that only waits for its turn publishes nothing. */
static int ensure_end_sync(struct lbc_pass *pass, int r, struct ccm_error *err)
{
    lbc_keep_end(pass);
    if (r < 0) {
        lbc_pass_join_refused(pass);
        return lbc_pass_fail(pass, r, err);
    }
    return !pass->unfinished && pass->refused.problems.count == 0 &&
                   lbc_problems_only_wait(&pass->problems)
               ? lbc_pass_fail_all(pass, err)
               : 0;
}

static void ensure_end(struct lbc_pass *pass, int r)
{
    pass->entry->completed = pass->entry->completed || !lbc_hash_may_hold(pass->hash.verdict) ||
                             (r == 0 && !pass->unfinished);
    lbc_pass_drop_model(pass);
    lbc_snapshot_drop(pass);
}

/* Whether the next part of the story follows. */
static bool goes_on(const struct lbc_pass *pass, int r)
{
    return r == 0 && !pass->unfinished;
}

int lbc_pass_ensure(struct lbc_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_change_fini) struct lbc_change change = { .is_new = false };
    struct lbc_lost_known known = LBC_LOST_UNKNOWN;
    int r = ensure_adopt(pass, err);

    if (r < 0) {
        return r;
    }
    r = lbc_manifest_check(pass, err);
    r = goes_on(pass, r) ? ensure_add_finalizer(pass, &change.unbound, err) : r;
    r = goes_on(pass, r) ? ensure_settle_jobs(pass, err) : r;
    r = goes_on(pass, r) ? ensure_take_snapshot(pass, err) : r;
    if (goes_on(pass, r)) {
        r = lbc_sync_read(pass, &known, err); /* the model, and the load balancer as it is */
        r = goes_on(pass, r) ? lbc_sync_check_create(pass, &known, err) : r;
        if (goes_on(pass, r) && !lbc_sync_is_hopeless(pass)) {
            r = lbc_sync_add_backends(pass, err);
            r = goes_on(pass, r) ? lbc_sync_decide_leaving(pass, err) : r;
            r = goes_on(pass, r) ? lbc_change_plan(pass, &change, err) : r;
            r = goes_on(pass, r) ? lbc_change_announce(pass, &change, err) : r;
            r = goes_on(pass, r) ? lbc_change_apply(pass, &change, err) : r;
            r = lbc_sync_end_apply(pass, r, err);
        }
        r = ensure_end_sync(pass, r, err);
    }
    r = goes_on(pass, r) ? lbc_publish_state(pass, err) : r;
    r = goes_on(pass, r) ? lbc_publish_verdict(pass, err) : r;
    ensure_end(pass, r);
    return r;
}
