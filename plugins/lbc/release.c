/* What a pass that releases does at the Service. */
#include "lbc/pass.h"

#include "lbc/freeze_pass.h"
#include "lbc/model/object.h"
#include "lbc/model/settings.h"
#include "lbc/service/conditions.h"
#include "lbc/taken.h"
#include "util/cleanup.h"
#include "util/text.h"

static bool release_has_no_listener(const struct lbc_pass *pass, const char *port)
{
    (void)pass;
    (void)port;
    return false;
}

static int clean_status(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_life_state nothing = {
        .hash = "", .lb_id = "", .ip = "", .extra = "", .tags = ""
    };
    const struct lbc_life *life = &pass->life;
    bool written = false;
    int r = lbc_life_publish(life, pass->req, pass->service, &nothing, &written, err);

    if (r < 0 || pass->service->meta.deleted_ms != 0) {
        return r; /* of a deleted Service the condition goes with it */
    }
    r = lbc_taken_forget(pass, release_has_no_listener, err);
    return r < 0 ? r : lbc_life_publish_condition(life, pass->req, pass->service, NULL, err);
}

static int clean_service(struct lbc_pass *pass, struct ccm_error *err)
{
    int r = clean_status(pass, err);

    if (r < 0) {
        return lbc_pass_fail_kube(pass, "FailedUpdateStatus",
                                  "Error removing load balancer status and labels", r, err);
    }
    r = lbc_life_remove_finalizer(&pass->life, pass->req, pass->service, err);
    if (r < 0) {
        return lbc_pass_fail_kube(pass, "FailedRemoveFinalizer",
                                  "Error removing load balancer finalizer", r, err);
    }
    return 0;
}

int lbc_pass_release(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    int r;

    /* Without finalizer it was never ours, unless the snapshot is older than our own patch. */
    if (!lbc_object_has_finalizer(&pass->service->meta, pass->life.finalizer) && !entry->used) {
        return 0;
    }
    if (!entry->gone) {
        entry->left_alone = false;
        r = lbc_pass_release_lb(pass, err);
        if (r < 0 || pass->unfinished) {
            return r;
        }
        entry->gone = true;
        entry->cleaned = false;
        entry->used = false;
        entry->unrestored = 0;
        entry->attempt++;
        entry->frozen = false;
        lbc_freeze_forget(pass->lbc, entry->key);
    }
    r = clean_service(pass, err);
    if (r == 0 && !pass->dry) {
        pass->cleaned = !entry->cleaned;
        entry->cleaned = true;
        if (!entry->left_alone) {
            lbc_pass_emit_event(pass, false, "CleanLoadBalancer", "CleanLoadBalancer",
                                "Clean load balancer");
        }
    }
    return r;
}
