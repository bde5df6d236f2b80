#include "secret.h"

#include "alicloud/error.h"
#include "alilb/action.h"
#include "alilb/uploads.h"
#include "lbc/instance.h"
#include "lbc/model/object.h"
#include "secret_ref.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

static int subject_put_secrets(const struct gateway *self, const struct gateway_subject *subject,
                               struct lbc_texts *to)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < subject->count; i++) {
        r = gateway_secrets_put(self, &subject->listeners[i], to);
    }
    return r;
}

/* --- the key of the Secrets --- */

static struct alilb_call call_for(const struct gateway *self, const struct ccm_request *req)
{
    struct alilb_call call = alilb_call_for_all(self->lbc, req);

    call.host = self->host; /* that of the engine knows Services alone */
    call.object = req->keys[0];
    call.waits = self->lbc->dry;
    call.mark = self->mark == NULL ? call.mark : self->mark;
    return call;
}

static int wanted_read(void *arg, struct lbc_texts *ret, struct lbc_texts *ret_unsure,
                       bool *ret_more)
{
    const struct gateway *self = arg;
    const struct ccm_object *const *gateways = NULL;
    size_t count = 0;
    int r = 0;

    lbc_custom_objects_list(self->host, GATEWAY_V1, "gateways", &gateways, &count);
    for (size_t i = 0; r == 0 && i < count; i++) {
        CCM_CLEANUP(gateway_subject_freep) struct gateway_subject *subject = NULL;
        const bool unsure = lbc_object_has_finalizer(gateways[i], self->finalizer) &&
                            !alilb_uploads_is_settled(self->uploads, gateways[i]->key);

        *ret_more = *ret_more || unsure;
        r = gateway_subject_new(self, gateways[i]->key, false, &subject);
        if (r == 0 && subject != NULL && unsure) {
            r = subject_put_secrets(self, subject, ret_unsure);
        }
        if (r == 0 && subject != NULL && gateways[i]->deleted_ms == 0 &&
            subject->claim != GATEWAY_OTHERS) {
            r = subject_put_secrets(self, subject, ret);
        }
    }
    self->host->release_list(self->host, gateways, count);
    return r;
}

static void owner_changed(void *arg, const char *key, const struct ccm_event *event)
{
    const struct gateway *self = arg;
    const struct ccm_object *gateway = self->host->get_raw(self->host, GATEWAY_V1, "gateways", key);

    if (gateway == NULL) {
        return;
    }
    if (event != NULL) {
        struct ccm_event own = *event;

        own.object = gateway;
        own.component = GATEWAY_COMPONENT;
        self->host->event(self->host, &own);
    }
    if (!self->lbc->dry) {
        self->host->enqueue(self->host, key, CCM_LANE_SPEC, 0);
    }
    self->host->release(self->host, gateway);
}

static struct alilb_uploads_owner owner_of(const struct gateway *self)
{
    return (struct alilb_uploads_owner){ .arg = (void *)(uintptr_t)self,
                                         .wanted = wanted_read,
                                         .changed = owner_changed };
}

int gateway_secrets_reconcile(struct gateway *self, const struct ccm_request *req,
                              struct ccm_result *ret, struct ccm_error *err)
{
    const struct alilb_uploads_owner owner = owner_of(self);
    struct alilb_call call = call_for(self, req);
    uint64_t again_ms = 0;
    int r = 0;

    if (!alilb_uploads_are_on(self->host)) {
        return 0;
    }
    r = alilb_uploads_work(self->uploads, &call, &owner, &again_ms, err);
    if (r < 0 && ali_error_is_put_off(err)) {
        again_ms = err->retry_after_ms;
        ccm_error_clear(err);
        r = 0;
        ret->flags = CCM_RESULT_WAITS;
    } else if (r < 0 && again_ms > 0) {
        ret->flags = CCM_RESULT_WAITS; /* a Secret that is due comes sooner */
    }
    ret->requeue_after_ms = again_ms;
    return r;
}

void gateway_secrets_collect(struct gateway *self, const struct ccm_request *req)
{
    const struct alilb_uploads_owner owner = owner_of(self);
    struct alilb_call call = call_for(self, req);

    if (!self->lbc->dry) {
        alilb_uploads_collect_left_over(self->uploads, &call, &owner);
    }
}

/* --- passes over Gateways --- */

/* Those of a Gateway that is to be served. */
static int subject_put_wanted(const struct gateway *self, const struct gateway_subject *subject,
                              struct lbc_texts *to)
{
    return subject->claim == GATEWAY_OURS && subject->gateway.object->deleted_ms == 0 &&
                   alilb_uploads_are_on(self->host)
               ? subject_put_secrets(self, subject, to)
               : 0;
}

int gateway_secrets_want(const struct gateway *self, const struct gateway_subject *subject)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts secrets = { 0 };
    const struct ccm_host *host = self->host;
    int r = subject_put_wanted(self, subject, &secrets);

    r = r < 0 ? r
              : alilb_uploads_want(self->uploads, subject->gateway.object->key, &secrets,
                                   host->now_ms(host));
    if (r > 0 && !self->lbc->dry) {
        host->enqueue(host, GATEWAY_SECRETS_KEY, CCM_LANE_SPEC, 0);
    }
    return r < 0 ? r : 0;
}

int gateway_secrets_plan(const struct gateway *self, const struct ccm_request *req,
                         struct gateway_subject **subject)
{
    const struct alilb_uploads_owner owner = owner_of(self);
    struct alilb_call call = call_for(self, req);
    struct gateway_subject *fresh = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    uint64_t again_ms = 0;
    int r = gateway_secrets_want(self, *subject);

    if (r < 0 || !alilb_uploads_are_on(self->host)) {
        return r;
    }
    r = alilb_uploads_work(self->uploads, &call, &owner, &again_ms, &err);
    if (r < 0) { /* the listener stays as it is, and an event of the plan says why */
        self->host->log(self->host, CCM_LEVEL_WARN, req->keys[0], "%s", err.message);
    }
    r = gateway_subject_new(self, req->keys[0], false, &fresh);
    if (r == 0 && fresh != NULL) {
        gateway_subject_freep(subject);
        *subject = fresh;
    }
    return r;
}

static bool certificates_are_equal(const struct gateway_subject *a, const struct gateway_subject *b)
{
    bool same = a->count == b->count;

    for (size_t i = 0; same && i < a->count; i++) {
        same = strcmp(a->listeners[i].certificates, b->listeners[i].certificates) == 0 &&
               a->listeners[i].open == b->listeners[i].open;
    }
    return same;
}

/* Names of the certificates of its listeners. *ret_more: there may be others besides; *ret_open:
 * the certificate of one Secret is not known. */
static int subject_put_names(const struct gateway_subject *subject, struct lbc_texts *to,
                             bool *ret_more, bool *ret_open)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < subject->count; i++) {
        const struct gateway_listener *one = &subject->listeners[i];

        *ret_open = *ret_open || one->open;
        *ret_more = *ret_more || one->open || one->keeps;
        for (size_t j = 0; r == 0 && j < one->uploads.len; j++) {
            r = lbc_texts_put(to, one->uploads.items[j]);
        }
    }
    return r;
}

bool gateway_secrets_settle(const struct gateway *self, const char *key,
                            const struct gateway_subject *subject,
                            const struct gateway_subject *later)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts names = { 0 };
    const bool gone = subject->claim == GATEWAY_OTHERS || subject->gateway.object->deleted_ms != 0;
    bool more = false;
    bool open = false;

    if (self->lbc->dry || !alilb_uploads_are_on(self->host)) {
        return true;
    }
    if (!gone && (later == NULL || !certificates_are_equal(subject, later) ||
                  subject_put_names(subject, &names, &more, &open) < 0)) {
        return false;
    }
    /* The certificates of an earlier process are known when all Secrets are. */
    return (open && !alilb_uploads_is_settled(self->uploads, key)) ||
           alilb_uploads_settle(self->uploads, key, &names, more) == 0;
}

/* What the engine would do, after the uploads. */
static void plan_with_uploads(const struct ccm_host *front, const char *object, const char *steps)
{
    const struct gateway *self = (const struct gateway *)front;
    CCM_CLEANUP(gateway_subject_freep) struct gateway_subject *subject = NULL;
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts secrets = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 65536 };

    if (gateway_subject_new(self, object, false, &subject) == 0 && subject != NULL &&
        subject_put_secrets(self, subject, &secrets) == 0) {
        alilb_uploads_plan(self->uploads, &secrets, &text);
    }
    ccm_buf_adds(&text, steps);
    self->host->plan(self->host, object, ccm_buf_error(&text) < 0 ? steps : ccm_buf_str(&text));
}

int gateway_secrets_init(struct gateway *self)
{
    self->front.relay.host.plan = plan_with_uploads;
    if (strcmp(self->controller, GATEWAY_CONTROLLER) == 0) {
        return 0;
    }
    self->mark = ccm_text_format("%s\n%s", lbc_cluster_id(self->lbc), self->controller);
    return self->mark == NULL ? -ENOMEM : 0;
}
