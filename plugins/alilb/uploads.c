#include "alilb/uploads_own.h"

#include "util/strmap.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

const struct ccm_option alilb_opt_upload = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .flags = CCM_OPTION_LIVE,
    .name = "upload_certificates",
    .fallback = "false",
    .help = "Put certificates and keys of the Secrets that certificateRefs of listeners name into "
            "the certificate service, and delete there what is no longer used: needs the right to "
            "get these Secrets, and etc/ram/gateway-certificates.json. Without it such listeners "
            "are not created.",
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
    uploads->wants = ccm_strmap_new(texts_free);
    uploads->holders = ccm_strmap_new(texts_free);
    uploads->unused = ccm_strmap_new(free);
    if (uploads->certificates == NULL || uploads->secrets == NULL || uploads->wants == NULL ||
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
    ccm_strmap_free(uploads->wants);
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
        ((struct alilb_upload *)value)->faults = 0;
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

void alilb_uploads_plan(struct alilb_uploads *uploads, const struct lbc_texts *secrets,
                        struct ccm_buf *to)
{
    for (size_t i = 0; i < secrets->len; i++) {
        struct alilb_upload one;

        if (alilb_uploads_get(uploads, secrets->items[i], &one) && one.planned) {
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

/* `one` moves in, or is freed. */
static int texts_set_locked(struct ccm_strmap *map, const char *object, struct lbc_texts *one)
{
    const int r = one == NULL ? -ENOMEM : ccm_strmap_set(map, object, one);

    if (r < 0 && one != NULL) {
        texts_free(one);
    }
    return r;
}

static struct lbc_texts *texts_dup(const struct lbc_texts *texts)
{
    struct lbc_texts *copy = calloc(1, sizeof(*copy));

    if (copy != NULL && lbc_texts_copy(copy, texts) < 0) {
        texts_free(copy);
        return NULL;
    }
    return copy;
}

/* A new one is due at once. */
static int secret_want_locked(struct alilb_uploads *uploads, const char *secret, int64_t now)
{
    const struct alilb_upload *found = ccm_strmap_get(uploads->secrets, secret);
    struct alilb_upload *made = NULL;

    if (found != NULL) {
        return found->again_ms <= now ? 1 : 0;
    }
    made = calloc(1, sizeof(*made));
    if (made == NULL || ccm_strmap_set(uploads->secrets, secret, made) < 0) {
        free(made);
        return -ENOMEM;
    }
    made->again_ms = now;
    return 1;
}

int alilb_uploads_want(struct alilb_uploads *uploads, const char *object,
                       const struct lbc_texts *secrets, int64_t now)
{
    bool due = false;
    int r = 0;

    ccm_lock(&uploads->lock);
    if (secrets->len == 0) {
        ccm_strmap_del(uploads->wants, object);
    } else {
        r = texts_set_locked(uploads->wants, object, texts_dup(secrets));
    }
    for (size_t i = 0; r >= 0 && i < secrets->len; i++) {
        r = secret_want_locked(uploads, secrets->items[i], now);
        due = due || r > 0;
    }
    due = due || uploads->changed;
    ccm_unlock(&uploads->lock);
    return r < 0 ? r : due ? 1 : 0;
}

int alilb_uploads_settle(struct alilb_uploads *uploads, const char *object,
                         const struct lbc_texts *names, bool more)
{
    struct lbc_texts *copy = texts_dup(names);
    const struct lbc_texts *before = NULL;
    int r = copy == NULL ? -ENOMEM : 0;

    ccm_lock(&uploads->lock);
    before = ccm_strmap_get(uploads->holders, object);
    if (r == 0 && more && before != NULL) {
        r = lbc_texts_put_missing(copy, before, names, NULL);
    }
    uploads->changed =
        uploads->changed || before == NULL || r < 0 || !lbc_texts_equal(before, copy);
    if (r == 0) {
        r = texts_set_locked(uploads->holders, object, copy);
    } else if (copy != NULL) {
        texts_free(copy);
    }
    ccm_unlock(&uploads->lock);
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
    ccm_strmap_del(uploads->wants, object);
    names = ccm_strmap_get(uploads->holders, object);
    if (names != NULL && names->len == 0) {
        ccm_strmap_del(uploads->holders, object);
    }
    ccm_unlock(&uploads->lock);
}
