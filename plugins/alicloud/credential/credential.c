#include "alicloud/credential/credential.h"

#include "alicloud/credential/source.h"
#include "alicloud/measure.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "util/thread.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define CHECK_FILE_MS  5000  /* how often the file is looked at */
#define RETRY_MS       30000 /* after a failed refresh */
#define BLOCK_MS       3000 /* the same while there is no valid one: callers get the last failure */
#define RENEW_PAUSE_MS 10000
#define POLL_MS        50
#define EARLY_MS       ALI_CREDENTIAL_EARLY_MS
#define CLOCK_STEP_MS  10000 /* a wall clock that is this much off what it was has been set */
#define NEVER          INT64_MAX
#define FETCH_MS       60000 /* for one in the background */
#define TEXTS          7

struct record {
    struct ali_credential credential; /* first */
    atomic_size_t refs;
    int64_t end_ms; /* monotonic; NEVER = no end */
};

struct ali_credentials {
    enum ali_credential_source source;
    struct ali_credential_setup setup; /* texts are in `texts` */
    char *texts[TEXTS];
    const char *file; /* what the source reads and may change at any time; NULL = nothing */

    pthread_mutex_t thread_lock; /* guards these two; held while the thread is joined, so whoever
                                    settles knows that it has ended; taken before `lock` */
    pthread_t thread;            /* of a fetch in the background */
    bool has_thread;             /* it has to be joined */

    pthread_mutex_t lock; /* guards all below; a leaf lock, never held over I/O */
    struct record *current;
    uint64_t serial;
    int64_t due_ms;      /* when the next one is to be fetched */
    int64_t life_due_ms; /* the same by its life alone, where a file is looked at in between */
    int64_t renew_ms;    /* no forced fetch before this */
    bool fetching;       /* somebody is at it */
    int64_t blocked_ms;  /* until then `failure` is the answer when there is no valid one */
    int64_t ahead_ms;    /* wall clock less monotonic clock, at that failure */
    struct ccm_error failure;
    struct ali_file_state seen;
};

static void texts_free(struct ali_credentials *credentials)
{
    for (size_t i = 0; i < TEXTS; i++) {
        free(credentials->texts[i]);
    }
}

/* Copy the setup with its texts. 0 or -ENOMEM. */
static int setup_copy(struct ali_credentials *credentials, const struct ali_credential_setup *setup)
{
    struct ali_credential_setup *copy = &credentials->setup;
    const char **const texts[TEXTS] = {
        &copy->source,  &copy->file,          &copy->addon_file,      &copy->role_arn,
        &copy->session, &copy->oidc_provider, &copy->oidc_token_file,
    };

    *copy = *setup;
    for (size_t i = 0; i < TEXTS; i++) {
        credentials->texts[i] = strdup(*texts[i]);
        if (credentials->texts[i] == NULL) {
            return -ENOMEM;
        }
        *texts[i] = credentials->texts[i];
    }
    return 0;
}

struct ali_credentials *ali_credentials_new(enum ali_credential_source source,
                                            const struct ali_credential_setup *setup)
{
    struct ali_credentials *credentials = calloc(1, sizeof(*credentials));

    if (credentials == NULL) {
        return NULL;
    }
    credentials->source = source;
    credentials->renew_ms = INT64_MIN;
    credentials->blocked_ms = INT64_MIN;
    if (setup_copy(credentials, setup) < 0) {
        texts_free(credentials);
        free(credentials);
        return NULL;
    }
    (void)pthread_mutex_init(&credentials->lock, NULL); /* without attributes it cannot fail */
    (void)pthread_mutex_init(&credentials->thread_lock, NULL);
    credentials->file = ali_credential_source_file(source, &credentials->setup);
    return credentials;
}

static void join_locked(struct ali_credentials *credentials)
{
    if (credentials->has_thread) {
        (void)pthread_join(credentials->thread, NULL); /* it is ours and joinable */
        credentials->has_thread = false;
    }
}

void ali_credentials_settle(struct ali_credentials *credentials)
{
    ccm_lock(&credentials->thread_lock);
    join_locked(credentials);
    ccm_unlock(&credentials->thread_lock);
}

int ali_credentials_check(const struct ali_credentials *credentials, const struct ali_ctx *ctx,
                          const char **ret_option, struct ccm_error *err)
{
    return ali_credential_check(credentials->source, &credentials->setup, ctx, ret_option, err);
}

void ali_credentials_free(struct ali_credentials *credentials)
{
    if (credentials == NULL) {
        return;
    }
    if (credentials->current != NULL) {
        ali_credential_unref(&credentials->current->credential);
    }
    ccm_lock_fini(&credentials->lock);
    ccm_lock_fini(&credentials->thread_lock);
    texts_free(credentials);
    free(credentials);
}

void ali_credential_unref(const struct ali_credential *credential)
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

void ali_credential_unrefp(const struct ali_credential **credential)
{
    ali_credential_unref(*credential);
}

static bool credential_is_same(const struct ali_credential *a, const struct ali_raw_credential *b)
{
    return strcmp(a->key_id, b->key_id) == 0 &&
           strcmp(ccm_secret_text(&a->secret), ccm_secret_text(&b->secret)) == 0 &&
           strcmp(ccm_secret_text(&a->token), ccm_secret_text(&b->token)) == 0;
}

/* Put what was fetched in place. Under the lock. -ENOMEM leaves everything as it was. */
static int install_locked(struct ali_credentials *credentials, struct ali_raw_credential *raw,
                          int64_t now)
{
    const int64_t life = raw->life_ms;
    struct record *record = credentials->current;

    if (record == NULL || !credential_is_same(&record->credential, raw)) {
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
            ali_credential_unref(&credentials->current->credential);
        }
        credentials->current = record;
    }
    record->end_ms = life == 0 ? NEVER : now + life;
    credentials->due_ms = life == 0 ? NEVER : now + life / 5 * 4;
    if (credentials->file != NULL) {
        credentials->due_ms = now + CHECK_FILE_MS;
        credentials->life_due_ms = life == 0 ? NEVER : now + life / 5 * 4;
        credentials->seen = raw->file;
    }
    return 0;
}

static bool assumed_due_locked(const struct ali_credentials *credentials, int64_t now)
{
    return credentials->setup.role_arn[0] != '\0' && credentials->life_due_ms <= now;
}

/* Whether the file is another one than the record came from, or the record comes to its end: an
 * assumed role ends before the file that it came from. */
static bool file_due(struct ali_credentials *credentials, int64_t now)
{
    struct ali_file_state state;

    if (ali_credential_file_state(credentials->file, &state) < 0) {
        return true;
    }
    ccm_lock(&credentials->lock);
    const bool due = !ali_credential_file_same(&state, &credentials->seen) ||
                     credentials->current == NULL || assumed_due_locked(credentials, now) ||
                     credentials->current->end_ms - EARLY_MS <= now;
    if (!due) {
        credentials->due_ms = now + CHECK_FILE_MS;
    }
    ccm_unlock(&credentials->lock);
    return due;
}

/* Fetch and install; the caller has set `fetching`, which ends here. */
static int credentials_refresh(struct ali_credentials *credentials, const struct ali_ctx *ctx,
                               bool forced, struct ccm_error *err)
{
    CCM_CLEANUP(ali_raw_credential_fini) struct ali_raw_credential raw = { 0 };
    const int64_t started = ctx->host->now_ms(ctx->host);
    int r = 0;

    if (credentials->file != NULL && !forced && !file_due(credentials, started)) {
        ccm_lock(&credentials->lock);
        credentials->fetching = false;
        ccm_unlock(&credentials->lock);
        return 0;
    }
    r = ali_credential_fetch(credentials->source, &credentials->setup, ctx, &raw, err);

    const int64_t now = ctx->host->now_ms(ctx->host);
    const int64_t ahead = ctx->host->wall_ms(ctx->host) - now;

    ccm_lock(&credentials->lock);
    if (r == 0 && install_locked(credentials, &raw, now) < 0) {
        r = ccm_error_nomem(err);
    }
    if (r < 0) {
        credentials->due_ms =
            now + (credentials->file != NULL && credentials->setup.role_arn[0] == '\0'
                       ? CHECK_FILE_MS
                       : RETRY_MS);
        if (err->kind != CCM_ERROR_CANCELLED) {
            credentials->blocked_ms = now + BLOCK_MS;
            credentials->ahead_ms = ahead;
            ccm_error_copy(&credentials->failure, err);
        }
    }
    credentials->fetching = false;
    const bool left = credentials->current != NULL && credentials->current->end_ms > now;
    ccm_unlock(&credentials->lock);
    if (r == 0) {
        ali_measure_credential(ctx->host, raw.life_ms);
    } else if (err->kind != CCM_ERROR_CANCELLED) {
        ali_measure_credential_failure(ctx->host);
    }
    if (r < 0 && left && err->kind != CCM_ERROR_CANCELLED) {
        ctx->host->log(ctx->host, CCM_LEVEL_WARN, NULL,
                       "credentials: no new ones, going on with the present ones: %s",
                       err->message);
    }
    return r;
}

/* Whether another fetch would be too soon. By a clock that was set since then, what had expired may
 * be good. */
static bool blocked_locked(const struct ali_credentials *credentials, int64_t now, int64_t wall)
{
    const int64_t step = wall - now - credentials->ahead_ms;

    return now < credentials->blocked_ms && step > -CLOCK_STEP_MS && step < CLOCK_STEP_MS;
}

/* What get() finds: a usable record (referenced), and whether this caller has to fetch. */
static const struct ali_credential *credentials_find_usable(struct ali_credentials *credentials,
                                                            const struct ccm_host *host,
                                                            bool *ret_fetch, bool *ret_busy)
{
    const struct ali_credential *found = NULL;
    const int64_t now = host->now_ms(host);
    const int64_t wall = host->wall_ms(host);

    ccm_lock(&credentials->lock);

    struct record *record = credentials->current;

    if (record != NULL && record->end_ms - EARLY_MS > now) {
        atomic_fetch_add(&record->refs, 1);
        found = &record->credential;
    }
    *ret_busy = credentials->fetching;
    *ret_fetch = !credentials->fetching && (found == NULL ? !blocked_locked(credentials, now, wall)
                                                          : now >= credentials->due_ms);
    if (*ret_fetch) {
        credentials->fetching = true;
    }
    ccm_unlock(&credentials->lock);
    return found;
}

static int last_failure(struct ali_credentials *credentials, struct ccm_error *err)
{
    ccm_lock(&credentials->lock);
    ccm_error_copy(err, &credentials->failure);
    ccm_unlock(&credentials->lock);
    return -EAGAIN;
}

struct job {
    struct ali_credentials *credentials;
    const struct ccm_host *host;
};

static void *refresh_thread_main(void *arg)
{
    const struct job job = *(struct job *)arg;
    const struct ali_ctx ctx = ali_ctx(job.host, NULL, FETCH_MS);
    struct ccm_error failure = CCM_ERROR_INIT;

    free(arg);
    (void)credentials_refresh(job.credentials, &ctx, false,
                              &failure); /* it has logged its failure */
    return NULL;
}

static bool start_thread(struct ali_credentials *credentials, struct job *job)
{
    ccm_lock(&credentials->thread_lock);
    join_locked(credentials); /* the one before is at its end: it gave `fetching` back */
    credentials->has_thread =
        pthread_create(&credentials->thread, NULL, refresh_thread_main, job) == 0;

    const bool running = credentials->has_thread;

    ccm_unlock(&credentials->thread_lock);
    return running;
}

/* Fetch in the background; the caller has set `fetching`. Where no thread can be had, the next
 * caller tries again. */
static void credentials_spawn_refresh(struct ali_credentials *credentials,
                                      const struct ccm_host *host)
{
    struct job *job = calloc(1, sizeof(*job));

    if (job != NULL) {
        *job = (struct job){ credentials, host };
        if (start_thread(credentials, job)) {
            return;
        }
        free(job);
    }
    ccm_lock(&credentials->lock);
    credentials->fetching = false;
    ccm_unlock(&credentials->lock);
}

int ali_credentials_get(struct ali_credentials *credentials, const struct ali_ctx *ctx,
                        const struct ali_credential **ret, struct ccm_error *err)
{
    for (;;) {
        bool fetch = false;
        bool busy = false;
        const struct ali_credential *found =
            credentials_find_usable(credentials, ctx->host, &fetch, &busy);

        if (found != NULL) {
            if (fetch) {
                credentials_spawn_refresh(credentials, ctx->host);
            }
            *ret = found;
            return 0;
        }
        if (fetch) {
            const int r = credentials_refresh(credentials, ctx, false, err);

            if (r < 0) {
                return r;
            }
        } else if (!busy) {
            return last_failure(credentials, err);
        } else if (ali_ctx_wait(ctx, POLL_MS) < 0) {
            return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED,
                                 "cancelled while waiting for a credential");
        }
    }
}

/* Whether there is another file than the one that was read last. */
static bool has_other_file(struct ali_credentials *credentials)
{
    struct ali_file_state state;

    if (credentials->file == NULL || ali_credential_file_state(credentials->file, &state) < 0) {
        return false;
    }
    ccm_lock(&credentials->lock);
    const bool other = !ali_credential_file_same(&state, &credentials->seen);
    ccm_unlock(&credentials->lock);
    return other;
}

/* Whether there is another credential than that one. *ret_fetch: the caller has to fetch;
 * *ret_busy: somebody is at it. */
static bool credentials_find_other(struct ali_credentials *credentials, int64_t now,
                                   uint64_t serial, bool *ret_fetch, bool *ret_busy)
{
    const bool other_file = has_other_file(credentials);

    ccm_lock(&credentials->lock);

    const bool changed =
        credentials->current != NULL && credentials->current->credential.serial != serial;

    *ret_busy = credentials->fetching;
    *ret_fetch = !changed && !credentials->fetching && (other_file || now >= credentials->renew_ms);
    if (*ret_fetch) {
        credentials->fetching = true;
        credentials->renew_ms = now + RENEW_PAUSE_MS;
    }
    ccm_unlock(&credentials->lock);
    return changed;
}

bool ali_credentials_renew(struct ali_credentials *credentials, const struct ali_ctx *ctx,
                           const struct ali_credential *refused)
{
    const uint64_t serial = refused->serial;
    struct ccm_error failure = CCM_ERROR_INIT;
    bool fetch = false;
    bool busy = false;
    bool changed = false;

    do { /* of several that were refused one fetches, the others wait for what it brings */
        changed = credentials_find_other(credentials, ctx->host->now_ms(ctx->host), serial, &fetch,
                                         &busy);
    } while (!changed && !fetch && busy && ali_ctx_wait(ctx, POLL_MS) == 0);
    if (!fetch) {
        return changed;
    }
    if (credentials_refresh(credentials, ctx, true, &failure) < 0) {
        return false;
    }
    ccm_lock(&credentials->lock);
    changed = credentials->current->credential.serial != serial;
    ccm_unlock(&credentials->lock);
    return changed;
}
