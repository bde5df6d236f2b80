#include "alicloud/credential.h"

#include "alicloud/credential_source.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define CHECK_FILE_MS  5000  /* how often the file is looked at */
#define RETRY_MS       30000 /* after a failed refresh */
#define BLOCK_MS       3000 /* the same while there is no valid one: callers get the last failure */
#define RENEW_PAUSE_MS 10000
#define POLL_MS        50
#define EARLY_MS       CCM_CREDENTIAL_EARLY_MS
#define NEVER          INT64_MAX

struct record {
    struct ccm_credential credential; /* first */
    atomic_size_t refs;
    int64_t end_ms; /* monotonic; NEVER = no end */
};

struct ccm_credentials {
    enum ccm_credential_source source;
    char *file;
    struct ccm_metadata *metadata;

    pthread_mutex_t lock; /* guards all below; a leaf lock, never held over I/O */
    struct record *current;
    uint64_t serial;
    int64_t due_ms;     /* when the next one is to be fetched */
    int64_t renew_ms;   /* no forced fetch before this */
    bool fetching;      /* somebody is at it */
    int64_t blocked_ms; /* until then `failure` is the answer when there is no valid one */
    struct ccm_error failure;
    struct ccm_file_state seen;
};

static void lock(struct ccm_credentials *credentials)
{
    (void)pthread_mutex_lock(&credentials->lock); /* a plain mutex of ours: cannot fail */
}

static void unlock(struct ccm_credentials *credentials)
{
    (void)pthread_mutex_unlock(&credentials->lock); /* as above */
}

struct ccm_credentials *ccm_credentials_new(enum ccm_credential_source source, const char *file,
                                            struct ccm_metadata *metadata)
{
    struct ccm_credentials *credentials = calloc(1, sizeof(*credentials));

    if (credentials == NULL) {
        return NULL;
    }
    credentials->source = source;
    credentials->metadata = metadata;
    credentials->renew_ms = INT64_MIN;
    credentials->blocked_ms = INT64_MIN;
    credentials->file = strdup(file);
    if (credentials->file == NULL || pthread_mutex_init(&credentials->lock, NULL) != 0) {
        free(credentials->file);
        free(credentials);
        return NULL;
    }
    return credentials;
}

void ccm_credentials_free(struct ccm_credentials *credentials)
{
    if (credentials == NULL) {
        return;
    }
    if (credentials->current != NULL) {
        ccm_credential_unref(&credentials->current->credential);
    }
    (void)pthread_mutex_destroy(&credentials->lock); /* nobody holds it any more */
    free(credentials->file);
    free(credentials);
}

void ccm_credential_unref(const struct ccm_credential *credential)
{
    if (credential == NULL) {
        return;
    }

    struct record *record;

    memcpy(&record, &credential, sizeof(record)); /* the record is ours, readers see it const */
    if (atomic_fetch_sub(&record->refs, 1) == 1) {
        free(record->credential.key_id);
        ccm_secret_fini(&record->credential.secret);
        ccm_secret_fini(&record->credential.token);
        free(record);
    }
}

void ccm_credential_unrefp(const struct ccm_credential **credential)
{
    ccm_credential_unref(*credential);
}

static bool same(const struct ccm_credential *a, const struct ccm_raw_credential *b)
{
    return strcmp(a->key_id, b->key_id) == 0 &&
           strcmp(ccm_secret_text(&a->secret), ccm_secret_text(&b->secret)) == 0 &&
           strcmp(ccm_secret_text(&a->token), ccm_secret_text(&b->token)) == 0;
}

/* Put what was fetched in place. Under the lock. -ENOMEM leaves everything as it was. */
static int install_locked(struct ccm_credentials *credentials, struct ccm_raw_credential *raw,
                          int64_t now)
{
    const int64_t life = raw->life_ms;
    struct record *record = credentials->current;

    if (record == NULL || !same(&record->credential, raw)) {
        record = calloc(1, sizeof(*record));
        if (record == NULL) {
            return -ENOMEM;
        }
        atomic_init(&record->refs, 1);
        record->credential.key_id = CCM_STEAL(raw->key_id);
        record->credential.secret.hidden = CCM_STEAL(raw->secret.hidden);
        record->credential.token.hidden = CCM_STEAL(raw->token.hidden);
        record->credential.serial = ++credentials->serial;
        if (credentials->current != NULL) {
            ccm_credential_unref(&credentials->current->credential);
        }
        credentials->current = record;
    }
    record->end_ms = life == 0 ? NEVER : now + life;
    credentials->due_ms = life == 0 ? NEVER : now + life / 5 * 4;
    if (credentials->source == CCM_CREDENTIAL_FILE) {
        credentials->due_ms = now + CHECK_FILE_MS;
        credentials->seen = raw->file;
    }
    return 0;
}

/* Whether the file is another one than the record came from, or the record comes to its end. */
static bool file_due(struct ccm_credentials *credentials, int64_t now)
{
    struct ccm_file_state state;

    if (ccm_credential_file_state(credentials->file, &state) < 0) {
        return true;
    }
    lock(credentials);
    const bool due = !ccm_credential_file_same(&state, &credentials->seen) ||
                     credentials->current == NULL || credentials->current->end_ms - EARLY_MS <= now;
    if (!due) {
        credentials->due_ms = now + CHECK_FILE_MS;
    }
    unlock(credentials);
    return due;
}

/* Fetch and install; the caller has set `fetching`, which ends here. */
static int refresh(struct ccm_credentials *credentials, const struct ccm_ali_ctx *ctx, bool forced,
                   struct ccm_error *err)
{
    CCM_CLEANUP(ccm_raw_credential_fini) struct ccm_raw_credential raw = { 0 };
    const int64_t started = ctx->host->now_ms(ctx->host);
    int r = 0;

    if (credentials->source == CCM_CREDENTIAL_FILE && !forced && !file_due(credentials, started)) {
        lock(credentials);
        credentials->fetching = false;
        unlock(credentials);
        return 0;
    }
    r = ccm_credential_fetch(credentials->source, credentials->file, credentials->metadata, ctx,
                             &raw, err);

    const int64_t now = ctx->host->now_ms(ctx->host);

    lock(credentials);
    if (r == 0 && install_locked(credentials, &raw, now) < 0) {
        r = ccm_error_nomem(err);
    }
    if (r < 0) {
        credentials->due_ms =
            now + (credentials->source == CCM_CREDENTIAL_FILE ? CHECK_FILE_MS : RETRY_MS);
        if (err->kind != CCM_ERROR_CANCELLED) {
            credentials->blocked_ms = now + BLOCK_MS;
            ccm_error_copy(&credentials->failure, err);
        }
    }
    credentials->fetching = false;
    const bool left = credentials->current != NULL && credentials->current->end_ms > now;
    unlock(credentials);
    if (r < 0 && left && err->kind != CCM_ERROR_CANCELLED) {
        ctx->host->log(ctx->host, CCM_LEVEL_WARN, NULL,
                       "credentials: no new ones, going on with the present ones: %s",
                       err->message);
    }
    return r;
}

/* What get() finds: a usable record (referenced), and whether this caller has to fetch. */
static const struct ccm_credential *look(struct ccm_credentials *credentials, int64_t now,
                                         bool *ret_fetch, bool *ret_busy)
{
    const struct ccm_credential *found = NULL;

    lock(credentials);

    struct record *record = credentials->current;

    if (record != NULL && record->end_ms - EARLY_MS > now) {
        atomic_fetch_add(&record->refs, 1);
        found = &record->credential;
    }
    *ret_busy = credentials->fetching;
    *ret_fetch = !credentials->fetching &&
                 (found == NULL ? now >= credentials->blocked_ms : now >= credentials->due_ms);
    if (*ret_fetch) {
        credentials->fetching = true;
    }
    unlock(credentials);
    return found;
}

static int last_failure(struct ccm_credentials *credentials, struct ccm_error *err)
{
    lock(credentials);
    ccm_error_copy(err, &credentials->failure);
    unlock(credentials);
    return -EAGAIN;
}

int ccm_credentials_get(struct ccm_credentials *credentials, const struct ccm_ali_ctx *ctx,
                        const struct ccm_credential **ret, struct ccm_error *err)
{
    for (;;) {
        bool fetch = false;
        bool busy = false;
        const struct ccm_credential *found =
            look(credentials, ctx->host->now_ms(ctx->host), &fetch, &busy);

        if (found != NULL && !fetch) {
            *ret = found;
            return 0;
        }
        if (fetch) {
            struct ccm_error failure = CCM_ERROR_INIT;
            const int r = refresh(credentials, ctx, false, &failure);

            if (r < 0 && found == NULL) {
                ccm_error_copy(err, &failure);
                return r;
            }
            if (r < 0) {
                *ret = found;
                return 0;
            }
        } else if (!busy) {
            return last_failure(credentials, err);
        } else if (ccm_ali_ctx_wait(ctx, POLL_MS) < 0) {
            return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED,
                                 "cancelled while waiting for a credential");
        }
        ccm_credential_unref(found);
    }
}

bool ccm_credentials_renew(struct ccm_credentials *credentials, const struct ccm_ali_ctx *ctx,
                           const struct ccm_credential *refused)
{
    const int64_t now = ctx->host->now_ms(ctx->host);
    const uint64_t serial = refused->serial;
    struct ccm_error failure = CCM_ERROR_INIT;
    bool fetch = false;
    bool changed = false;

    lock(credentials);
    changed = credentials->current != NULL && credentials->current->credential.serial != serial;
    fetch = !changed && !credentials->fetching && now >= credentials->renew_ms;
    if (fetch) {
        credentials->fetching = true;
        credentials->renew_ms = now + RENEW_PAUSE_MS;
    }
    unlock(credentials);
    if (!fetch) {
        return changed;
    }
    if (refresh(credentials, ctx, true, &failure) < 0) {
        return false;
    }
    lock(credentials);
    changed = credentials->current->credential.serial != serial;
    unlock(credentials);
    return changed;
}
