#include "secret.h"

#include "alilb/action.h"
#include "alilb/uploads.h"
#include "lbc/instance.h"
#include "lbc/model/object.h"
#include "secret_ref.h"
#include "util/cleanup.h"

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

/* --- looking at them --- */

static struct alilb_call call_for(const struct gateway *self, const struct ccm_request *req)
{
    struct alilb_call call = alilb_call_for_all(self->lbc, req);

    call.host = self->host; /* that of the engine knows Services alone */
    call.object = req->keys[0];
    call.waits = self->lbc->dry;
    return call;
}

int gateway_secrets_look(const struct gateway *self, const struct ccm_request *req,
                         struct gateway_subject **subject, uint64_t *ret_again_ms,
                         struct ccm_error *err)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts secrets = { 0 };
    const struct ccm_event about = { .struct_size = sizeof(about),
                                     .object = (*subject)->gateway.object,
                                     .component = GATEWAY_COMPONENT };
    struct alilb_call call = call_for(self, req);
    struct gateway_subject *fresh = NULL;
    int r = 0;

    *ret_again_ms = 0;
    if ((*subject)->claim != GATEWAY_OURS || (*subject)->invalid != NULL ||
        (*subject)->gateway.object->deleted_ms != 0) {
        return 0;
    }
    if (subject_put_secrets(self, *subject, &secrets) < 0) {
        return ccm_error_nomem(err);
    }
    r = alilb_uploads_look(self->uploads, &call, &secrets, &about, ret_again_ms, err);
    if (r < 0 || secrets.len == 0) {
        return r;
    }
    r = gateway_subject_new(self, req->keys[0], false, &fresh);
    if (r == 0 && fresh != NULL) {
        gateway_subject_freep(subject);
        *subject = fresh;
    }
    return r < 0 ? ccm_error_nomem(err) : 0;
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

void gateway_secrets_init(struct gateway *self)
{
    self->front.relay.host.plan = plan_with_uploads;
}

/* --- what is not used any more --- */

/* -EAGAIN: of a Gateway nobody knows what its load balancer has. */
static int wanted_read(void *arg, struct lbc_texts *ret)
{
    const struct gateway *self = arg;
    const struct ccm_object *const *gateways = NULL;
    size_t count = 0;
    int r = 0;

    lbc_custom_objects_list(self->host, GATEWAY_V1, "gateways", &gateways, &count);
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = lbc_object_has_finalizer(gateways[i], self->finalizer) &&
                    !alilb_uploads_is_settled(self->uploads, gateways[i]->key)
                ? -EAGAIN
                : 0;
    }
    for (size_t i = 0; r == 0 && i < count; i++) {
        CCM_CLEANUP(gateway_subject_freep) struct gateway_subject *subject = NULL;

        r = gateways[i]->deleted_ms != 0
                ? 0
                : gateway_subject_new(self, gateways[i]->key, false, &subject);
        if (r == 0 && subject != NULL && subject->claim != GATEWAY_OTHERS) {
            r = subject_put_secrets(self, subject, ret);
        }
    }
    self->host->release_list(self->host, gateways, count);
    return r;
}

static bool certificates_are_equal(const struct gateway_subject *a, const struct gateway_subject *b)
{
    bool same = a->count == b->count;

    for (size_t i = 0; same && i < a->count; i++) {
        same = strcmp(a->listeners[i].certificates, b->listeners[i].certificates) == 0;
    }
    return same;
}

bool gateway_secrets_settle(struct gateway *self, const struct ccm_request *req,
                            const struct gateway_subject *subject,
                            const struct gateway_subject *later)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts secrets = { 0 };
    struct alilb_call call = call_for(self, req);
    const bool gone = subject->claim == GATEWAY_OTHERS || subject->gateway.object->deleted_ms != 0;

    if (self->lbc->dry || !alilb_uploads_are_on(self->host)) {
        return true;
    }
    if (!gone && (later == NULL || !certificates_are_equal(subject, later))) {
        return false;
    }
    if ((!gone && subject_put_secrets(self, subject, &secrets) < 0) ||
        alilb_uploads_settle(self->uploads, req->keys[0], &secrets) < 0) {
        return false;
    }
    alilb_uploads_collect(self->uploads, &call, wanted_read, self);
    return true;
}

void gateway_secrets_collect(struct gateway *self, const struct ccm_request *req)
{
    struct alilb_call call = call_for(self, req);

    if (!self->lbc->dry) {
        alilb_uploads_collect_left_over(self->uploads, &call, wanted_read, self);
    }
}
