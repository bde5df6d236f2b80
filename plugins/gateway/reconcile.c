#include "reconcile.h"

#include "alilb/uploads.h"
#include "gateway.h"
#include "lbc/instance.h"
#include "memory.h"
#include "route.h"
#include "secret.h"
#include "status.h"
#include "subject.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

#define UNKNOWN_CERTIFICATE "ResourceNotFound.Certificate" /* code of the cloud */

#define AGAIN_MS   1000
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

/* Whether the pass was about what is there by now: else it says that of the next one. */
static bool subjects_are_equal(const struct gateway_subject *a, const struct gateway_subject *b)
{
    bool same = a->gateway.object->generation == b->gateway.object->generation &&
                a->sets.len == b->sets.len;

    for (size_t i = 0; same && i < a->sets.len; i++) {
        same = gateway_set_mark(a, &a->sets.items[i], true) ==
               gateway_set_mark(b, &b->sets.items[i], true);
    }
    return same;
}

/* With what routes say by then: they may have changed while the cloud was at work. before: what the
 * pass was about, NULL = the load balancer is not settled. */
static int reconcile_publish(struct gateway *self, const struct ccm_request *req,
                             const struct gateway_subject *before, struct ccm_result *ret,
                             struct ccm_error *err)
{
    CCM_CLEANUP(gateway_subject_freep) struct gateway_subject *subject = NULL;
    uint64_t again_ms = 0;
    bool settled = false;
    bool programmed = false;
    int r = gateway_subject_new(self, req->keys[0], true, &subject);

    if (r < 0) {
        return ccm_error_nomem(err);
    }
    settled = before != NULL && subject != NULL && subjects_are_equal(before, subject);
    if (before != NULL && !gateway_secrets_settle(self, req, before, subject)) {
        result_come_again(ret, AGAIN_MS);
    }
    if (subject == NULL || subject->claim != GATEWAY_OURS ||
        subject->gateway.object->deleted_ms != 0 || self->host->dry_run(self->host)) {
        return 0;
    }
    r = gateway_status_publish(self, req, subject, settled, &programmed, &again_ms, err);
    if (settled || !programmed) {
        gateway_sets_mark(self, subject, programmed);
    }
    result_come_again(ret, again_ms);
    return r;
}

static bool subject_runs(const struct gateway_subject *subject)
{
    return gateway_subject_is_wanted(subject) ||
           (gateway_subject_is_bound(subject) && subject->claim != GATEWAY_NOBODYS &&
            subject->invalid == NULL) ||
           (gateway_subject_is_bound(subject) && subject->gateway.object->deleted_ms != 0);
}

/* The load balancer keeps what it has while a certificate cannot be uploaded. *ret_known: what
 * there is to say of the Gateway is known. */
static int reconcile_pass(struct gateway *self, const struct ccm_request *req,
                          struct gateway_subject **subject, bool *ret_settled, bool *ret_known,
                          struct ccm_result *ret, struct ccm_error *err)
{
    const struct ccm_object *object = (*subject)->gateway.object;
    struct gateway_memory *memory = gateway_memory_get(self, object->key, object->uid);
    uint64_t again_ms = 0;
    bool runs = false;
    int r = memory == NULL ? ccm_error_nomem(err)
                           : gateway_secrets_look(self, req, subject, &again_ms, err);

    *ret_known = r == 0 || err->kind == CCM_ERROR_AUTH || err->kind == CCM_ERROR_TERMINAL;
    runs = subject_runs(*subject);
    if (r == 0 && runs) {
        memory->said.record.held = true;
        r = lbc_plugin_reconcile(self->lbc, req, ret, err);
    } else if (r == 0) {
        reconcile_plan_nothing(self, req);
    }
    /* A pass that has released it comes again to see its own writes. */
    *ret_settled = runs && (result_is_settled(r, ret) || (r == 0 && !memory->said.record.held));
    result_come_again(ret, again_ms);
    if (r < 0 && again_ms > 0 && strstr(err->message, UNKNOWN_CERTIFICATE) != NULL) {
        alilb_uploads_forget_list(self->uploads); /* somebody has deleted it: */
        err->kind = CCM_ERROR_TRANSIENT;          /* the next pass uploads it again */
    }
    return r;
}

static int reconcile_gateway(struct gateway *self, const struct ccm_request *req,
                             struct ccm_result *ret, struct ccm_error *err)
{
    CCM_CLEANUP(gateway_subject_freep) struct gateway_subject *subject = NULL;
    struct ccm_error own = CCM_ERROR_INIT;
    bool settled = false;
    bool known = true;
    int r = gateway_subject_new(self, req->keys[0], false, &subject);
    int w = 0;

    if (r < 0) {
        return ccm_error_nomem(err);
    }
    if (subject == NULL) {
        lbc_custom_record_forget(self->front.custom.records, req->keys[0]);
        alilb_uploads_forget(self->uploads, req->keys[0]);
        return lbc_plugin_reconcile(self->lbc, req, ret, err); /* it forgets, too */
    }
    r = reconcile_pass(self, req, &subject, &settled, &known, ret, err);
    w = known ? reconcile_publish(self, req, settled ? subject : NULL, ret, &own) : 0;
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
        r = lbc_plugin_reconcile(self->lbc, req, ret, err);
        if (r == 0 && strcmp(req->keys[0], LBC_ORPHANS_KEY) == 0) {
            gateway_secrets_collect(self, req);
        }
        return r;
    }
    if (!ccm_text_starts(req->keys[0], GATEWAY_CLASS_KEY) && strchr(req->keys[0], ' ') == NULL) {
        return reconcile_gateway(self, req, ret, err);
    }
    if (self->host->dry_run(self->host)) {
        reconcile_plan_nothing(self, req);
        return 0;
    }
    if (ccm_text_starts(req->keys[0], GATEWAY_SET_KEY)) {
        r = gateway_set_reconcile(self, req, &again_ms, err);
        result_come_again(ret, again_ms);
    } else if (gateway_route_reconcile(self, req, &r, &again_ms, err)) {
        result_come_again(ret, again_ms);
    }
    return r;
}
