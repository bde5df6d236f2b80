#include "reconcile.h"

#include "gateway.h"
#include "lbc/instance.h"
#include "route.h"
#include "status.h"
#include "subject.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

#define SETTLES_MS 10000 /* a pass that comes again sooner has not come to its end */

/* The load balancer is as the pass has found the Gateway. */
static bool result_is_settled(int r, const struct ccm_result *ret)
{
    return r == 0 && (ret->flags & CCM_RESULT_WAITS) == 0 &&
           (ret->requeue_after_ms == 0 || ret->requeue_after_ms >= SETTLES_MS);
}

static void result_come_again(struct ccm_result *ret, uint64_t again_ms)
{
    if (again_ms > 0 && (ret->requeue_after_ms == 0 || ret->requeue_after_ms > again_ms)) {
        ret->requeue_after_ms = again_ms;
    }
}

/* The engine prints what it would do; of all others nothing is to be done elsewhere. */
static void reconcile_plan_nothing(const struct gateway *self, const struct ccm_request *req)
{
    if (self->host->dry_run(self->host)) {
        self->host->plan(self->host, req->keys[0], "");
    }
}

/* With what routes say by then: they may have changed while the cloud was at work. */
static int reconcile_publish(struct gateway *self, const struct ccm_request *req, bool settled,
                             struct ccm_result *ret, struct ccm_error *err)
{
    CCM_CLEANUP(gateway_subject_freep) struct gateway_subject *subject = NULL;
    uint64_t again_ms = 0;
    int r = gateway_subject_new(self, req->keys[0], true, &subject);

    if (r < 0) {
        return ccm_error_nomem(err);
    }
    if (subject == NULL || subject->claim != GATEWAY_OURS ||
        subject->gateway.object->deleted_ms != 0 || self->host->dry_run(self->host)) {
        return 0;
    }
    r = gateway_status_publish(self, req, subject, settled, &again_ms, err);
    result_come_again(ret, again_ms);
    return r;
}

static int reconcile_gateway(struct gateway *self, const struct ccm_request *req,
                             struct ccm_result *ret, struct ccm_error *err)
{
    CCM_CLEANUP(gateway_subject_freep) struct gateway_subject *subject = NULL;
    struct ccm_error own = CCM_ERROR_INIT;
    bool runs = false;
    int r = gateway_subject_new(self, req->keys[0], false, &subject);
    int w = 0;

    if (r < 0) {
        return ccm_error_nomem(err);
    }
    if (subject == NULL) {
        lbc_custom_record_forget(self->front.custom.records, req->keys[0]);
        return lbc_plugin_reconcile(self->lbc, req, ret, err); /* it forgets, too */
    }
    runs = gateway_subject_is_wanted(subject) ||
           (gateway_subject_is_bound(subject) && subject->claim != GATEWAY_NOBODYS &&
            subject->invalid == NULL) ||
           (gateway_subject_is_bound(subject) && subject->gateway.object->deleted_ms != 0);
    if (runs) {
        r = lbc_plugin_reconcile(self->lbc, req, ret, err);
    } else {
        reconcile_plan_nothing(self, req);
    }
    w = reconcile_publish(self, req, runs && result_is_settled(r, ret), ret, &own);
    if (r == 0 && w < 0) {
        ccm_error_copy(err, &own);
        return w;
    }
    return r;
}

int gateway_reconcile(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                      struct ccm_error *err)
{
    struct gateway *self = arg;
    uint64_t again_ms = 0;
    int r = 0;

    if (strcmp(req->keys[0], LBC_ORPHANS_KEY) == 0 || strcmp(req->keys[0], LBC_LOST_KEY) == 0) {
        return lbc_plugin_reconcile(self->lbc, req, ret, err);
    }
    if (!ccm_text_starts(req->keys[0], GATEWAY_CLASS_KEY) && strchr(req->keys[0], ' ') == NULL) {
        return reconcile_gateway(self, req, ret, err);
    }
    if (self->host->dry_run(self->host)) {
        reconcile_plan_nothing(self, req);
        return 0;
    }
    if (gateway_route_reconcile(self, req, &r, &again_ms, err)) {
        result_come_again(ret, again_ms);
    }
    return r;
}
