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
#define DOUBT_MS   60000 /* between two failures that have all Secrets read */
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
    bool settled = false;
    bool programmed = false;
    int r = gateway_subject_new(self, req->keys[0], true, &subject);

    if (r < 0) {
        return ccm_error_nomem(err);
    }
    settled = before != NULL && subject != NULL && subjects_are_equal(before, subject);
    if (before != NULL && !gateway_secrets_settle(self, req->keys[0], before, subject)) {
        result_come_again(ret, AGAIN_MS);
    }
    if (subject == NULL || subject->claim != GATEWAY_OURS ||
        subject->gateway.object->deleted_ms != 0 || self->host->dry_run(self->host)) {
        return 0;
    }
    r = gateway_status_publish(self, req, subject, settled, &programmed, err);
    if (settled || !programmed) {
        gateway_sets_mark(self, subject, programmed);
    }
    return r;
}

static bool subject_runs(const struct gateway_subject *subject)
{
    return gateway_subject_is_wanted(subject) ||
           (gateway_subject_is_bound(subject) &&
            (subject->claim == GATEWAY_OTHERS || subject->gateway.object->deleted_ms != 0));
}

/* A certificate was deleted in the cloud: it is uploaded again when its Secret is read. A listener
 * may also name one that never existed, which fails each pass. */
static void reconcile_classify_failure(const struct gateway *self, struct gateway_memory *memory,
                                       struct ccm_error *err)
{
    const int64_t now = self->host->now_ms(self->host);

    if (strstr(err->message, UNKNOWN_CERTIFICATE) != NULL && alilb_uploads_are_on(self->host) &&
        (memory->doubted_ms == 0 || now - memory->doubted_ms >= DOUBT_MS)) {
        memory->doubted_ms = now;
        alilb_uploads_forget_list(self->uploads);
        err->kind = CCM_ERROR_TRANSIENT;
    }
}

/* Uses what is known of its Secrets. */
static int reconcile_pass(struct gateway *self, const struct ccm_request *req,
                          const struct gateway_subject *subject, bool *ret_settled,
                          struct ccm_result *ret, struct ccm_error *err)
{
    const struct ccm_object *object = subject->gateway.object;
    struct gateway_memory *memory = gateway_memory_get(self, object->key, object->uid);
    const bool runs = subject_runs(subject);
    int r = memory == NULL ? ccm_error_nomem(err) : 0;

    if (r == 0 && runs) {
        memory->said.record.held = true;
        r = lbc_plugin_reconcile(self->lbc, req, ret, err);
    } else if (r == 0) {
        reconcile_plan_nothing(self, req);
    }
    if (r < 0 && memory != NULL) {
        reconcile_classify_failure(self, memory, err);
    }
    /* A pass that has released it comes again to see its own writes. */
    *ret_settled = runs && (result_is_settled(r, ret) || (r == 0 && !memory->said.record.held));
    return r;
}

static int reconcile_gateway(struct gateway *self, const struct ccm_request *req,
                             struct ccm_result *ret, struct ccm_error *err)
{
    CCM_CLEANUP(gateway_subject_freep) struct gateway_subject *subject = NULL;
    struct ccm_error own = CCM_ERROR_INIT;
    bool settled = false;
    bool continues = false;
    int r = gateway_subject_new(self, req->keys[0], false, &subject);
    int w = 0;

    if (r == 0 && subject != NULL && self->host->dry_run(self->host)) {
        r = gateway_secrets_plan(self, req, &subject);
    }
    if (r < 0) {
        return ccm_error_nomem(err);
    }
    if (subject == NULL) {
        lbc_custom_record_forget(self->front.custom.records, req->keys[0]);
        alilb_uploads_forget(self->uploads, req->keys[0]);
        gateway_past_forget(self->past, req->keys[0]);
        return lbc_plugin_reconcile(self->lbc, req, ret, err); /* it forgets, too */
    }
    r = reconcile_pass(self, req, subject, &settled, ret, err);
    /* A pass that will continue has not written all yet: that comes before its Secrets. */
    continues = r == 0 && !settled && !result_is_settled(r, ret);
    w = reconcile_publish(self, req, settled ? subject : NULL, ret, &own);
    if (!continues && gateway_secrets_want(self, subject) < 0 && w == 0) {
        w = ccm_error_nomem(&own);
    }
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
    int r = 0;

    if (strcmp(req->keys[0], GATEWAY_SECRETS_KEY) == 0) {
        return gateway_secrets_reconcile(self, req, ret, err);
    }
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
        r = gateway_set_reconcile(self, req, err);
    } else if (gateway_route_reconcile(self, req, &r, err)) {
    }
    return r;
}
