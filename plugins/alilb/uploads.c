#include "alilb/uploads_own.h"

#include "alicloud/error.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PLANNED "(upload of Secret) " /* in place of an id, in dry runs */
#define BUSY_MS 500

const struct ccm_option alilb_opt_upload = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .flags = CCM_OPTION_LIVE,
    .name = "upload_certificates",
    .fallback = "false",
    .help = "Put certificates and keys of the Secrets that certificateRefs of listeners name into "
            "the certificate service, and delete there what is no longer used: needs the right to "
            "get these Secrets, and etc/ram/gateway-certificates.json. Without it such listeners "
            "are not served.",
};

bool alilb_uploads_are_on(const struct ccm_host *host)
{
    return host->option_int(host, NULL, alilb_opt_upload.name) != 0;
}

static void texts_free(void *texts)
{
    lbc_texts_fini(texts);
    free(texts);
}

struct alilb_uploads *alilb_uploads_new(void)
{
    struct alilb_uploads *uploads = calloc(1, sizeof(*uploads));

    if (uploads == NULL || pthread_mutex_init(&uploads->lock, NULL) != 0) {
        free(uploads);
        return NULL;
    }
    uploads->certificates = alilb_certificates_new();
    uploads->secrets = ccm_strmap_new(free);
    uploads->busy = ccm_strmap_new(NULL);
    uploads->holders = ccm_strmap_new(texts_free);
    uploads->unused = ccm_strmap_new(free);
    if (uploads->certificates == NULL || uploads->secrets == NULL || uploads->busy == NULL ||
        uploads->holders == NULL || uploads->unused == NULL) {
        alilb_uploads_free(uploads);
        return NULL;
    }
    return uploads;
}

void alilb_uploads_free(struct alilb_uploads *uploads)
{
    if (uploads == NULL) {
        return;
    }
    alilb_certificates_free(uploads->certificates);
    ccm_strmap_free(uploads->secrets);
    ccm_strmap_free(uploads->busy);
    ccm_strmap_free(uploads->holders);
    ccm_strmap_free(uploads->unused);
    ccm_lock_fini(&uploads->lock);
    free(uploads);
}

void alilb_uploads_forget_list(struct alilb_uploads *uploads)
{
    const char *key = NULL;
    void *cursor = NULL;
    void *value = NULL;

    alilb_certificates_forget(uploads->certificates);
    ccm_lock(&uploads->lock);
    while (ccm_strmap_next(uploads->secrets, &cursor, &key, &value)) {
        ((struct alilb_upload *)value)->again_ms = 0;
        ((struct alilb_upload *)value)->refused_until_ms = 0;
    }
    ccm_unlock(&uploads->lock);
}

/* --- a Secret --- */

bool alilb_uploads_get(struct alilb_uploads *uploads, const char *secret, struct alilb_upload *ret)
{
    const struct alilb_upload *found = NULL;

    ccm_lock(&uploads->lock);
    found = ccm_strmap_get(uploads->secrets, secret);
    *ret = found == NULL ? (struct alilb_upload){ 0 } : *found;
    ccm_unlock(&uploads->lock);
    return found != NULL;
}

static int upload_put(struct alilb_uploads *uploads, const char *secret,
                      const struct alilb_upload *one)
{
    CCM_CLEANUP(ccm_freep) struct alilb_upload *copy = malloc(sizeof(*copy));
    int r = 0;

    if (copy == NULL) {
        return -ENOMEM;
    }
    *copy = *one;
    ccm_lock(&uploads->lock);
    r = ccm_strmap_set(uploads->secrets, secret, copy);
    ccm_unlock(&uploads->lock);
    if (r == 0) {
        (void)CCM_STEAL(copy); /* the map owns it now */
    }
    return r;
}

static void upload_set(struct alilb_upload *one, const char *name, const char *id)
{
    ccm_text_copy(one->name, sizeof(one->name), name);
    ccm_text_copy(one->id, sizeof(one->id), id);
}

/* Nothing is known of an earlier process: what it has uploaded of the Secret is in use. */
static int upload_keep_earlier(struct alilb_uploads *uploads, struct alilb_call *call,
                               const char *secret, struct alilb_upload *one, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *id = NULL;
    char prefix[ALILB_CERTIFICATE_NAME];
    char name[ALILB_CERTIFICATE_NAME];
    int r = 0;

    alilb_certificate_name(call->cluster_id, secret, NULL, prefix);
    r = alilb_certificates_find(uploads->certificates, call, prefix, true, &id, name, err);
    if (r == 0 && id != NULL) {
        upload_set(one, name, id);
    }
    return r;
}

/* What the cloud refuses for what it is, it refuses until it is another one. */
static bool is_refused(const struct alilb_call *call, const struct ccm_error *err)
{
    return !call->uncertain && !ali_error_is_wait(err) && !ali_error_is_put_off(err) &&
           err->http_status >= 400 && err->http_status < 500;
}

static int upload_make(struct alilb_uploads *uploads, struct alilb_call *call, const char *secret,
                       const struct alilb_tls_secret *content, struct alilb_upload *one,
                       struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *id = NULL;
    char name[ALILB_CERTIFICATE_NAME];
    char said[sizeof(one->id)];
    const int64_t now = call->host->now_ms(call->host);
    int r = 0;

    alilb_certificate_name(call->cluster_id, secret, content, name);
    if (call->host->dry_run(call->host)) {
        r = alilb_certificates_find(uploads->certificates, call, name, false, &id, NULL, err);
        ccm_text_printf(said, sizeof(said), PLANNED "%s", secret);
        if (r == 0) {
            upload_set(one, name, id == NULL ? said : id);
            one->why[0] = '\0';
        }
        return r;
    }
    if (strcmp(one->refused, name) == 0 && now < one->refused_until_ms) {
        return 0; /* `why` says it still */
    }
    one->why[0] = '\0';
    r = alilb_certificates_make(uploads->certificates, call, name, content, &id, err);
    if (r == 0) {
        upload_set(one, name, id);
    } else if (is_refused(call, err)) {
        ccm_text_printf(one->why, sizeof(one->why), "the certificate service refuses it: %s",
                        err->message);
        ccm_text_copy(one->refused, sizeof(one->refused), name);
        one->refused_until_ms = now + ALILB_UPLOAD_AGAIN_MS;
        r = 0;
    }
    return r;
}

static int upload_look(struct alilb_uploads *uploads, struct alilb_call *call, const char *secret,
                       struct alilb_upload *one, struct ccm_error *err)
{
    CCM_CLEANUP(alilb_tls_secret_fini) struct alilb_tls_secret content = { 0 };
    int r = alilb_tls_secret_fetch(call->host, call->req, secret, &content, err);

    if (r == 0 && content.why != NULL) {
        one->refused[0] = '\0';
        ccm_text_copy(one->why, sizeof(one->why), content.why);
    } else if (r == 0) {
        r = upload_make(uploads, call, secret, &content, one, err);
    }
    if (r == 0 && one->why[0] != '\0' && one->name[0] == '\0') {
        r = upload_keep_earlier(uploads, call, secret, one, err);
    }
    return r;
}

/* What came of a look: r. */
static void upload_finish(struct alilb_upload *one, int r, int64_t now, const struct ccm_error *err)
{
    if (r < 0) {
        ccm_text_printf(one->why, sizeof(one->why), "its certificate is not uploaded: %s",
                        err->message);
        one->again_ms = 0;
    } else {
        one->again_ms = now + (one->why[0] == '\0' ? ALILB_UPLOAD_AGAIN_MS : ALILB_UPLOAD_FAULT_MS);
    }
}

/* As of before, and as of now. */
static void upload_emit_event(const struct alilb_call *call, const struct ccm_event *about,
                              const char *secret, const struct alilb_upload *before,
                              const struct alilb_upload *now)
{
    const bool fault = now->why[0] != '\0';
    const char *what = fault ? now->why : now->name;
    CCM_CLEANUP(ccm_freep)
    char *text =
        ccm_text_format("Secret %s: %s%s", secret,
                        fault ? "" : "its certificate is in the certificate service as ", what);
    struct ccm_event event = *about;

    if (fault ? strcmp(now->why, before->why) == 0 : strcmp(now->name, before->name) == 0) {
        return;
    }
    event.reason = fault ? "InvalidCertificateRef" : "CertificateUploaded";
    event.message = text == NULL ? what : text;
    event.warning = fault;
    call->host->event(call->host, &event);
}

/* One worker at a time: two would upload the same certificate. 0, -EBUSY or -ENOMEM. */
static int secret_begin(struct alilb_uploads *uploads, const char *secret)
{
    int r = -EBUSY;

    ccm_lock(&uploads->lock);
    if (!ccm_strmap_has(uploads->busy, secret)) {
        r = ccm_strmap_set(uploads->busy, secret, NULL);
    }
    ccm_unlock(&uploads->lock);
    return r;
}

static void secret_end(struct alilb_uploads *uploads, const char *secret)
{
    ccm_lock(&uploads->lock);
    ccm_strmap_del(uploads->busy, secret);
    ccm_unlock(&uploads->lock);
}

static int secret_fail_begin(int r, const char *secret, struct ccm_error *err)
{
    if (r == -ENOMEM) {
        return ccm_error_nomem(err);
    }
    r = ccm_error_set(err, r, CCM_ERROR_THROTTLED,
                      "Secret %s is being looked at for another object", secret);
    err->retry_after_ms = BUSY_MS;
    return r;
}

static int uploads_look_at(struct alilb_uploads *uploads, struct alilb_call *call,
                           const char *secret, const struct ccm_event *about, int64_t *again_ms,
                           struct ccm_error *err)
{
    const int64_t now = call->host->now_ms(call->host);
    struct alilb_upload before;
    struct alilb_upload one;
    int r = 0;

    if (!alilb_uploads_get(uploads, secret, &before) || now >= before.again_ms) {
        r = secret_begin(uploads, secret);
        if (r < 0) {
            return secret_fail_begin(r, secret, err);
        }
        one = before;
        r = upload_look(uploads, call, secret, &one, err);
        upload_finish(&one, r, now, err);
        if (upload_put(uploads, secret, &one) < 0 && r == 0) {
            r = ccm_error_nomem(err);
        }
        secret_end(uploads, secret);
        upload_emit_event(call, about, secret, &before, &one);
        before = one;
    }
    *again_ms = before.again_ms < *again_ms ? before.again_ms : *again_ms;
    return r;
}

int alilb_uploads_look(struct alilb_uploads *uploads, struct alilb_call *call,
                       const struct lbc_texts *secrets, const struct ccm_event *about,
                       uint64_t *ret_again_ms, struct ccm_error *err)
{
    const int64_t now = call->host->now_ms(call->host);
    int64_t again_ms = INT64_MAX;
    int r = 0;

    for (size_t i = 0; r == 0 && i < secrets->len; i++) {
        r = uploads_look_at(uploads, call, secrets->items[i], about, &again_ms, err);
    }
    *ret_again_ms = 0;
    if (r == 0 && secrets->len > 0) {
        *ret_again_ms = again_ms > now ? (uint64_t)(again_ms - now) : 1;
    }
    return r;
}

void alilb_uploads_plan(struct alilb_uploads *uploads, const struct lbc_texts *secrets,
                        struct ccm_buf *to)
{
    for (size_t i = 0; i < secrets->len; i++) {
        struct alilb_upload one;

        if (alilb_uploads_get(uploads, secrets->items[i], &one) &&
            ccm_text_starts(one.id, PLANNED)) {
            ccm_buf_addf(to, "upload certificate %s of Secret %s\n", one.name, secrets->items[i]);
        }
    }
}

int alilb_uploads_put_names(struct alilb_uploads *uploads, const struct lbc_texts *secrets,
                            struct lbc_texts *to)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < secrets->len; i++) {
        struct alilb_upload one;

        if (alilb_uploads_get(uploads, secrets->items[i], &one) && one.name[0] != '\0' &&
            !lbc_texts_has(to, one.name)) {
            r = lbc_texts_put(to, one.name);
        }
    }
    return r;
}

/* --- objects --- */

int alilb_uploads_settle(struct alilb_uploads *uploads, const char *object,
                         const struct lbc_texts *secrets)
{
    struct lbc_texts *copy = calloc(1, sizeof(*copy));
    int r = copy == NULL ? -ENOMEM : alilb_uploads_put_names(uploads, secrets, copy);

    if (r == 0) {
        ccm_lock(&uploads->lock);
        r = ccm_strmap_set(uploads->holders, object, copy);
        ccm_unlock(&uploads->lock);
    }
    if (r < 0 && copy != NULL) {
        texts_free(copy);
    }
    return r;
}

bool alilb_uploads_is_settled(struct alilb_uploads *uploads, const char *object)
{
    bool is = false;

    ccm_lock(&uploads->lock);
    is = ccm_strmap_has(uploads->holders, object);
    ccm_unlock(&uploads->lock);
    return is;
}

void alilb_uploads_forget(struct alilb_uploads *uploads, const char *object)
{
    const struct lbc_texts *names = NULL;

    ccm_lock(&uploads->lock);
    names = ccm_strmap_get(uploads->holders, object);
    if (names != NULL && names->len == 0) {
        ccm_strmap_del(uploads->holders, object);
    }
    ccm_unlock(&uploads->lock);
}
