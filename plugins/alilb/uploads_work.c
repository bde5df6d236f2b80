/* The key that reads Secrets and uploads their certificates; uploads.h. */
#include "alicloud/error.h"
#include "alilb/uploads_own.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READS_MAX      20     /* Secrets in one call: other keys have their turn between, */
#define READS_PAUSE_MS 100    /* and before the next one */
#define FAILURE_MS     1500   /* after the first failure, then twice that, ... */
#define FAULT_MAX_MS   120000 /* Secrets that cannot be used are read this often at least, */
#define SERVICE_MAX_MS 60000  /* and a certificate service that fails is called */
#define COLLECT_MS     60000  /* what could not be deleted is tried again after it */
#define KEPT_MS        INT64_C(3600000) /* of a Secret that no object refers to */

/* --- one --- */

/* due_ms: when it was due. Where that has changed meanwhile, the new time counts. */
static int upload_put(struct alilb_uploads *uploads, const char *secret,
                      const struct alilb_upload *one, int64_t due_ms)
{
    CCM_CLEANUP(ccm_freep) struct alilb_upload *copy = malloc(sizeof(*copy));
    const struct alilb_upload *found = NULL;
    int r = 0;

    if (copy == NULL) {
        return -ENOMEM;
    }
    *copy = *one;
    ccm_lock(&uploads->lock);
    found = ccm_strmap_get(uploads->secrets, secret);
    if (found != NULL && found->again_ms != due_ms) {
        copy->again_ms = found->again_ms;
    }
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

/* How certificates of the Secret begin that an earlier process has uploaded; earlier versions used
 * the cluster's id for controllers of all names. As alilb_certificates_names(). */
static int upload_find_prefix(struct alilb_uploads *uploads, struct alilb_call *call,
                              const char *secret, bool known, struct lbc_texts *names,
                              char ret[static ALILB_CERTIFICATE_NAME], struct ccm_error *err)
{
    int r = 0;

    alilb_certificate_name(call->mark, secret, NULL, ret);
    r = alilb_certificates_names(uploads->certificates, call, ret, known, names, err);
    if (r == 0 && names->len == 0 && strcmp(call->mark, call->cluster_id) != 0) {
        alilb_certificate_name(call->cluster_id, secret, NULL, ret);
        r = alilb_certificates_names(uploads->certificates, call, ret, known, names, err);
    }
    return r;
}

/* After a restart: the certificate that an earlier process has uploaded of the Secret is in use. */
static int upload_keep_earlier(struct alilb_uploads *uploads, struct alilb_call *call,
                               const char *secret, struct alilb_upload *one, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts names = { 0 };
    CCM_CLEANUP(ccm_freep) char *id = NULL;
    char prefix[ALILB_CERTIFICATE_NAME];
    char name[ALILB_CERTIFICATE_NAME];
    int r = upload_find_prefix(uploads, call, secret, false, &names, prefix, err);

    if (r == 0) {
        r = alilb_certificates_find(uploads->certificates, call, prefix, true, &id, name, err);
    }
    if (r == 0 && id != NULL) {
        upload_set(one, name, id);
    }
    return r;
}

/* A look has failed, and nothing is known of an earlier process either. Of several certificates of
 * the Secret any one may be in use. */
static void upload_list(struct alilb_uploads *uploads, struct alilb_call *call, const char *secret,
                        bool may_read, struct alilb_upload *one)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts names = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    char prefix[ALILB_CERTIFICATE_NAME];

    if (upload_find_prefix(uploads, call, secret, !may_read, &names, prefix, &err) == 0) {
        upload_set(one, "", "");
        one->listed = names.len <= 1 && upload_keep_earlier(uploads, call, secret, one, &err) == 0;
    }
}

/* Whether the certificate itself is refused: the same one is refused again. */
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

    alilb_certificate_name(call->mark, secret, content, name);
    if (call->host->dry_run(call->host)) {
        r = alilb_certificates_find(uploads->certificates, call, name, false, &id, NULL, err);
        ccm_text_printf(said, sizeof(said), "(upload of Secret) %s", secret);
        if (r == 0) {
            upload_set(one, name, id == NULL ? said : id);
            one->planned = id == NULL;
            one->why[0] = '\0';
        }
        return r;
    }
    if (strcmp(one->refused, name) == 0 && now < one->refused_until_ms) {
        return 0; /* `why` still says so */
    }
    r = alilb_certificates_make(uploads->certificates, call, name, content, &id, err);
    if (r == 0) {
        upload_set(one, name, id);
        one->why[0] = '\0';
    } else if (is_refused(call, err)) {
        ccm_text_printf(one->why, sizeof(one->why), "the certificate service refuses it: %s",
                        err->message);
        ccm_text_copy(one->refused, sizeof(one->refused), name);
        one->refused_until_ms = now + ALILB_UPLOAD_AGAIN_MS;
        r = 0;
    }
    return r;
}

/* What a failure is about. */
struct failure {
    const char *what; /* for people; NULL = `why` already says what is wrong with the Secret */
    bool cloud;       /* of the certificate service */
};

static int upload_read_secret(struct alilb_uploads *uploads, struct alilb_call *call,
                              const char *secret, struct alilb_upload *one, struct failure *ret,
                              struct ccm_error *err)
{
    CCM_CLEANUP(alilb_tls_secret_fini) struct alilb_tls_secret content = { 0 };
    int r = alilb_tls_secret_fetch(call->host, call->req, secret, &content, err);

    *ret = (struct failure){ "it cannot be read", false };
    if (r == 0 && content.why != NULL) {
        one->refused[0] = '\0';
        ccm_text_copy(one->why, sizeof(one->why), content.why);
    } else if (r == 0) {
        *ret = (struct failure){ "its certificate is not uploaded", true };
        r = upload_make(uploads, call, secret, &content, one, err);
    }
    if (r == 0 && one->why[0] != '\0' && !one->known) {
        *ret = (struct failure){ NULL, true };
        r = upload_keep_earlier(uploads, call, secret, one, err);
    }
    one->known = one->known || r == 0;
    return r;
}

/* --- results --- */

static int64_t wait_double(int64_t ms, unsigned times, int64_t most)
{
    while (times-- > 0 && ms < most) {
        ms *= 2;
    }
    return ms < most ? ms : most;
}

/* A failure is reported from the second time on, or at once where only a person can end it. The
 * text stays as long as the cause does. */
static void upload_fail(struct alilb_upload *one, const struct alilb_call *call,
                        const struct failure *failure, const struct ccm_error *err)
{
    const bool lasts = one->failures > 0 || call->host->dry_run(call->host) ||
                       err->kind == CCM_ERROR_AUTH || err->kind == CCM_ERROR_TERMINAL;
    char cause[sizeof(one->cause)];

    ccm_text_printf(cause, sizeof(cause), "%d %u %s", failure->cloud, (unsigned)err->kind,
                    err->code);
    if (failure->what != NULL && lasts && strcmp(one->cause, cause) != 0) {
        ccm_text_copy(one->cause, sizeof(one->cause), cause);
        ccm_text_printf(one->why, sizeof(one->why), "%s: %s", failure->what, err->message);
        one->refused[0] = '\0';
    }
    one->again_ms =
        call->host->now_ms(call->host) +
        (ali_error_is_put_off(err) ? (int64_t)err->retry_after_ms /* the time of its turn */
                                   : wait_double(FAILURE_MS, one->failures, ALILB_UPLOAD_AGAIN_MS));
    one->failures++;
}

static void upload_finish(struct alilb_upload *one, const struct alilb_call *call)
{
    const int64_t now = call->host->now_ms(call->host);

    one->failures = 0;
    one->cause[0] = '\0';
    if (one->why[0] == '\0') {
        one->faults = 0;
        one->again_ms = now + ALILB_UPLOAD_AGAIN_MS;
    } else {
        one->again_ms = now + wait_double(ALILB_UPLOAD_FAULT_MS, one->faults, FAULT_MAX_MS);
        one->faults++;
    }
}

/* Report a change of the Secret to all objects that refer to it. */
static void secret_publish(struct alilb_uploads *uploads, const struct alilb_uploads_owner *owner,
                           const char *secret, const struct alilb_upload *before,
                           const struct alilb_upload *now)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts objects = { 0 };
    const bool fault = now->why[0] != '\0';
    const char *what = fault ? now->why : now->name;
    const bool says =
        fault ? strcmp(now->why, before->why) != 0 : strcmp(now->name, before->name) != 0;
    CCM_CLEANUP(ccm_freep)
    char *text =
        ccm_text_format("Secret %s: %s%s", secret,
                        fault ? "" : "its certificate is in the certificate service as ", what);
    const struct ccm_event event = { .struct_size = sizeof(event),
                                     .reason =
                                         fault ? "InvalidCertificateRef" : "CertificateUploaded",
                                     .message = text == NULL ? what : text,
                                     .warning = fault };
    const char *key = NULL;
    void *cursor = NULL;
    void *value = NULL;

    if (!says && now->known == before->known && now->listed == before->listed &&
        strcmp(now->id, before->id) == 0 && strcmp(now->why, before->why) == 0) {
        return;
    }
    ccm_lock(&uploads->lock);
    while (ccm_strmap_next(uploads->wants, &cursor, &key, &value)) {
        if (lbc_texts_has(value, secret) && lbc_texts_put(&objects, key) < 0) {
            break; /* out of memory: its next pass finds it */
        }
    }
    ccm_unlock(&uploads->lock);
    for (size_t i = 0; i < objects.len; i++) {
        owner->changed(owner->arg, objects.items[i], says ? &event : NULL);
    }
}

/* *ret_cloud: a failure is that of the certificate service. A call that is cancelled counts as
 * none.
 */
static int secret_sync(struct alilb_uploads *uploads, struct alilb_call *call, const char *secret,
                       const struct alilb_uploads_owner *owner, bool *ret_cloud,
                       struct ccm_error *err)
{
    struct failure failure = { 0 };
    struct alilb_upload before;
    struct alilb_upload one;
    int r = 0;

    (void)alilb_uploads_get(uploads, secret, &before); /* also one that was dropped meanwhile */
    one = before;
    r = upload_read_secret(uploads, call, secret, &one, &failure, err);
    *ret_cloud = failure.cloud;
    if (r < 0 && err->kind == CCM_ERROR_CANCELLED) {
        return r;
    }
    if (r < 0 && !one.known) {
        upload_list(uploads, call, secret, !failure.cloud, &one);
    }
    if (r < 0) {
        upload_fail(&one, call, &failure, err);
    } else {
        upload_finish(&one, call);
    }
    if (upload_put(uploads, secret, &one, before.again_ms) < 0) {
        return ccm_error_nomem(err);
    }
    secret_publish(uploads, owner, secret, &before, &one);
    return r < 0 ? ccm_error_wrap(err, r, "Secret %s", secret) : 0;
}

/* --- which ones --- */

/* Drop those that no object refers to: at once where they have no certificate. */
static void secrets_mark_locked(struct alilb_uploads *uploads, int64_t now)
{
    const char *key = NULL;
    void *cursor = NULL;
    void *value = NULL;

    while (ccm_strmap_next(uploads->secrets, &cursor, &key, &value)) {
        ((struct alilb_upload *)value)->wanted = false;
    }
    cursor = NULL;
    while (ccm_strmap_next(uploads->wants, &cursor, &key, &value)) {
        const struct lbc_texts *secrets = value;

        for (size_t i = 0; i < secrets->len; i++) {
            struct alilb_upload *one = ccm_strmap_get(uploads->secrets, secrets->items[i]);

            if (one != NULL) {
                one->wanted = true;
            }
        }
    }
    cursor = NULL;
    while (ccm_strmap_next(uploads->secrets, &cursor, &key, &value)) {
        const struct alilb_upload *one = value;

        if (!one->wanted && (one->name[0] == '\0' || now > one->again_ms + KEPT_MS)) {
            ccm_strmap_del(uploads->secrets, key);
        }
    }
}

/* The order of Secrets that are due: by how many of the namespace this call has read, by whether
 * the namespace is at or before the one where the last call ended, by namespace, by time. */
struct turn {
    const char *key;
    size_t before;
    bool wraps;
    int64_t again_ms;
};

static size_t namespace_len(const char *key)
{
    return strcspn(key, "/") + 1;
}

static struct turn turn_of(const struct alilb_uploads *uploads, const struct lbc_texts *seen,
                           const char *key, const struct alilb_upload *one)
{
    struct turn turn = { .key = key, .again_ms = one->again_ms };
    const size_t len = namespace_len(key);

    for (size_t i = 0; i < seen->len; i++) {
        turn.before += strncmp(seen->items[i], key, len) == 0 ? 1 : 0;
    }
    turn.wraps = strncmp(key, uploads->ended_at, len) <= 0;
    return turn;
}

static bool turn_is_before(const struct turn *a, const struct turn *b)
{
    const size_t len = namespace_len(a->key);
    int order = 0;

    if (a->before != b->before) {
        return a->before < b->before;
    }
    if (a->wraps != b->wraps) {
        return b->wraps;
    }
    order = strncmp(a->key, b->key, len);
    return order != 0 ? order < 0 : a->again_ms < b->again_ms;
}

/* The next Secret -> `seen` and, on the heap, *ret; NULL = none is due. 0 or -ENOMEM. */
static int secrets_choose(struct alilb_uploads *uploads, int64_t now, struct lbc_texts *seen,
                          char **ret)
{
    struct turn best = { 0 };
    const char *key = NULL;
    void *cursor = NULL;
    void *value = NULL;
    int r = 0;

    *ret = NULL;
    ccm_lock(&uploads->lock);
    while (ccm_strmap_next(uploads->secrets, &cursor, &key, &value)) {
        const struct alilb_upload *one = value;

        if (one->wanted && one->again_ms <= now && !lbc_texts_has(seen, key)) {
            const struct turn turn = turn_of(uploads, seen, key, one);

            best = best.key == NULL || turn_is_before(&turn, &best) ? turn : best;
        }
    }
    if (best.key != NULL) {
        *ret = strdup(best.key);
        r = *ret == NULL ? -ENOMEM : lbc_texts_put(seen, *ret);
    }
    ccm_unlock(&uploads->lock);
    return r;
}

/* In how many ms the next one is due; -1 = there are none. */
static int64_t secrets_find_due(struct alilb_uploads *uploads, int64_t now)
{
    int64_t due = -1;
    const char *key = NULL;
    void *cursor = NULL;
    void *value = NULL;

    ccm_lock(&uploads->lock);
    while (ccm_strmap_next(uploads->secrets, &cursor, &key, &value)) {
        const struct alilb_upload *one = value;
        const int64_t left = one->again_ms > now ? one->again_ms - now : 0;

        due = one->wanted && (due < 0 || left < due) ? left : due;
    }
    ccm_unlock(&uploads->lock);
    return due;
}

/* --- a call --- */

/* A service that fails is called less and less often, whatever the number of Secrets. */
static int64_t work_count_failure(struct alilb_uploads *uploads, bool failed)
{
    int64_t least = READS_PAUSE_MS;

    ccm_lock(&uploads->lock);
    if (failed) {
        least = wait_double(FAILURE_MS, uploads->failures, SERVICE_MAX_MS);
    }
    uploads->failures = failed ? uploads->failures + 1 : 0;
    ccm_unlock(&uploads->lock);
    return least;
}

static void work_end_at(struct alilb_uploads *uploads, const char *secret)
{
    ccm_lock(&uploads->lock);
    ccm_text_copy(uploads->ended_at, sizeof(uploads->ended_at), secret);
    ccm_unlock(&uploads->lock);
}

/* *ret_cloud: the first call of the certificate service failed. */
static int work_sync_secrets(struct alilb_uploads *uploads, struct alilb_call *call,
                             const struct alilb_uploads_owner *owner, bool *ret_cloud,
                             struct ccm_error *err)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts seen = { 0 };
    const bool dry = call->host->dry_run(call->host);
    bool cloud = false;
    int r = 0;

    *ret_cloud = false;
    ccm_lock(&uploads->lock);
    secrets_mark_locked(uploads, call->host->now_ms(call->host));
    ccm_unlock(&uploads->lock);
    for (size_t i = 0; (r == 0 && i < READS_MAX) || dry; i++) {
        CCM_CLEANUP(ccm_freep) char *secret = NULL;

        if (secrets_choose(uploads, call->host->now_ms(call->host), &seen, &secret) < 0) {
            return ccm_error_nomem(err);
        }
        if (secret == NULL) {
            break;
        }
        r = secret_sync(uploads, call, secret, owner, &cloud, err);
        if (r < 0) {
            work_end_at(uploads, secret);
            *ret_cloud = cloud && i == 0;
        }
    }
    return r;
}

int alilb_uploads_work(struct alilb_uploads *uploads, struct alilb_call *call,
                       const struct alilb_uploads_owner *owner, uint64_t *ret_again_ms,
                       struct ccm_error *err)
{
    bool cloud = false;
    const int r = work_sync_secrets(uploads, call, owner, &cloud, err);
    int64_t due = -1;

    *ret_again_ms = 0;
    if (r < 0 && (err->kind == CCM_ERROR_CANCELLED || ali_error_is_put_off(err))) {
        return r;
    }
    due = secrets_find_due(uploads, call->host->now_ms(call->host));
    if (r == 0 && due != 0 && !call->host->dry_run(call->host) &&
        alilb_uploads_collect(uploads, call, owner) < 0) {
        due = due < 0 || due > COLLECT_MS ? COLLECT_MS : due;
    }
    if (due >= 0) {
        const int64_t least = work_count_failure(uploads, r < 0 && cloud);

        *ret_again_ms = (uint64_t)(due > least ? due : least);
    }
    return r < 0 && cloud ? r : 0;
}
