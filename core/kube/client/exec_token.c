#include "kube/client/exec_token.h"

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>

#define RUN_MAX_MS     30000
#define WAIT_MS        20000
#define SLICE_MS       100   /* how soon a cancelled caller is let go */
#define AHEAD_MAX_MS   60000 /* fetched anew so long before its end, or a fifth of its life */
#define PAUSE_MIN_MS   1000
#define PAUSE_MAX_MS   30000
#define REFUSED_MIN_MS 1000
#define SLOW_MS        2000

static const struct ccm_log kube_log = { .part = "kube" };

struct kube_exec_token {
    struct kube_exec *exec; /* does not change */
    atomic_bool stop;

    pthread_mutex_t lock;   /* guards all below; leaf */
    pthread_cond_t changed; /* a run has ended */
    bool running;
    bool slow_told;
    int64_t begun_ms; /* of the run */
    bool has_thread;  /* of the last run: it has to be joined */
    pthread_t thread;
    bool known; /* there is a credential */
    struct kube_credential current;
    int64_t fetched_ms; /* monotonic */
    int64_t ahead_ms;   /* wall clock: from then on it is fetched anew; 0 = never */
    int64_t blocked_ms; /* monotonic: no run before */
    int64_t pause_ms;
    struct ccm_error failure; /* of the last run, while it is blocked */
};

struct kube_exec_token *kube_exec_token_new(struct kube_exec *exec)
{
    struct kube_exec_token *token = calloc(1, sizeof(*token));
    bool ready = token != NULL && ccm_clock_cond_init(&token->changed) == 0;

    if (ready && pthread_mutex_init(&token->lock, NULL) != 0) {
        ccm_cond_fini(&token->changed);
        ready = false;
    }
    if (!ready) {
        kube_exec_free(exec);
        free(token);
        return NULL;
    }
    token->exec = exec;
    token->pause_ms = PAUSE_MIN_MS;
    ccm_error_clear(&token->failure);
    return token;
}

void kube_exec_token_free(struct kube_exec_token *token)
{
    if (token == NULL) {
        return;
    }
    atomic_store(&token->stop, true);
    if (token->has_thread) {
        (void)pthread_join(token->thread, NULL); /* it was started */
    }
    kube_credential_fini(&token->current);
    kube_exec_free(token->exec);
    ccm_cond_fini(&token->changed);
    ccm_lock_fini(&token->lock);
    free(token);
}

/* --- a run ---------------------------------------------------------------------------------- */

static void token_keep_locked(struct kube_exec_token *token, struct kube_credential *fresh)
{
    const int64_t life_ms = fresh->end_ms - ccm_clock_wall_ms();
    const int64_t ahead_ms = life_ms / 5 < AHEAD_MAX_MS ? life_ms / 5 : AHEAD_MAX_MS;

    kube_credential_fini(&token->current);
    token->current = *fresh;
    *fresh = (struct kube_credential){ 0 };
    token->known = true;
    token->fetched_ms = ccm_clock_now_ms();
    token->ahead_ms = token->current.end_ms == 0 ? 0 : token->current.end_ms - ahead_ms;
    /* One that has ended already would be fetched again at once, and for ever. */
    token->blocked_ms = token->current.end_ms == 0 ? 0 : token->fetched_ms + PAUSE_MIN_MS;
    token->pause_ms = PAUSE_MIN_MS;
    ccm_error_clear(&token->failure);
}

static void token_block_locked(struct kube_exec_token *token, const struct ccm_error *err)
{
    token->blocked_ms = ccm_clock_now_ms() + token->pause_ms;
    token->pause_ms = 2 * token->pause_ms < PAUSE_MAX_MS ? 2 * token->pause_ms : PAUSE_MAX_MS;
    ccm_error_copy(&token->failure, err);
}

static void *token_run_thread(void *arg)
{
    struct kube_exec_token *token = arg;
    CCM_CLEANUP(kube_credential_fini) struct kube_credential fresh = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = kube_exec_run(token->exec, RUN_MAX_MS, &token->stop, &fresh, &err);

    if (r < 0 && r != -ECANCELED) {
        ccm_log_warn(&kube_log, "%s", err.message);
    }
    ccm_lock(&token->lock);
    if (r == 0) {
        token_keep_locked(token, &fresh);
    } else {
        token_block_locked(token, &err);
    }
    token->running = false;
    ccm_wake_all(&token->changed);
    ccm_unlock(&token->lock);
    return NULL;
}

static void token_start_locked(struct kube_exec_token *token)
{
    struct ccm_error err = CCM_ERROR_INIT;

    if (token->has_thread) {
        (void)pthread_join(token->thread, NULL); /* running is false: it is at its end */
        token->has_thread = false;
    }
    token->running = true;
    token->slow_told = false;
    token->begun_ms = ccm_clock_now_ms();
    if (pthread_create(&token->thread, NULL, token_run_thread, token) == 0) {
        token->has_thread = true;
        return;
    }
    token->running = false;
    (void)ccm_error_set(&err, -EAGAIN, CCM_ERROR_TRANSIENT, /* kept */
                        "credential plugin %s: no thread for it", token->exec->command);
    token_block_locked(token, &err);
}

/* --- looking at it -------------------------------------------------------------------------- */

static bool token_is_good_locked(const struct kube_exec_token *token)
{
    return token->known &&
           (token->current.end_ms == 0 || ccm_clock_wall_ms() < token->current.end_ms);
}

static bool token_is_due_locked(const struct kube_exec_token *token)
{
    return !token->known || (token->ahead_ms != 0 && ccm_clock_wall_ms() >= token->ahead_ms);
}

static void token_wait_locked(struct kube_exec_token *token)
{
    if (!token->slow_told && ccm_clock_now_ms() - token->begun_ms >= SLOW_MS) {
        token->slow_told = true;
        ccm_log_warn(&kube_log, "credential plugin %s: it has been running for %d s, all wait",
                     token->exec->command, SLOW_MS / 1000);
    }
    /* Looked at again in any case. */
    (void)ccm_clock_cond_wait(&token->changed, &token->lock, ccm_clock_now_ms() + SLICE_MS);
}

/* What a caller gets who finds no good credential while no run goes on or may begin. */
static int token_fail_locked(const struct kube_exec_token *token, struct ccm_error *err)
{
    if (token->failure.kind == CCM_ERROR_NONE) {
        return ccm_error_set(
            err, -EACCES, CCM_ERROR_AUTH,
            "credential plugin %s: what it printed has ended already: is the clock "
            "of this machine right?",
            token->exec->command);
    }
    ccm_error_copy(err, &token->failure);
    return -EACCES;
}

static int token_get_locked(struct kube_exec_token *token, int64_t deadline_ms,
                            const struct ccm_cancel *cancel, struct kube_credential *ret,
                            struct ccm_error *err)
{
    const int64_t until = deadline_ms == 0 ? ccm_clock_now_ms() + WAIT_MS : deadline_ms;

    for (;;) {
        const int64_t now = ccm_clock_now_ms();

        if (!token->running && token_is_due_locked(token) && now >= token->blocked_ms) {
            token_start_locked(token);
        }
        if (token_is_good_locked(token)) {
            return kube_credential_copy(ret, &token->current) < 0 ? ccm_error_nomem(err) : 0;
        }
        if (!token->running) {
            return token_fail_locked(token, err);
        }
        if (cancel != NULL && atomic_load(&cancel->cancelled)) {
            return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "cancelled");
        }
        if (now >= until) {
            return ccm_error_set(err, -ETIMEDOUT, CCM_ERROR_TRANSIENT,
                                 "credential plugin %s: no answer in time", token->exec->command);
        }
        token_wait_locked(token);
    }
}

int kube_exec_token_get(struct kube_exec_token *token, int64_t deadline_ms,
                        const struct ccm_cancel *cancel, struct kube_credential *ret,
                        struct ccm_error *err)
{
    struct ccm_error unused = CCM_ERROR_INIT;

    ccm_lock(&token->lock);

    const int r = token_get_locked(token, deadline_ms, cancel, ret, err == NULL ? &unused : err);

    ccm_unlock(&token->lock);
    return r;
}

static bool credential_equal(const struct kube_credential *a, const struct kube_credential *b)
{
    return ccm_text_equal(ccm_secret_text(&a->token), ccm_secret_text(&b->token)) &&
           ccm_text_equal(a->cert, b->cert);
}

bool kube_exec_token_renew(struct kube_exec_token *token, const struct kube_credential *refused)
{
    bool other = true;

    ccm_lock(&token->lock);
    if (token->known && credential_equal(&token->current, refused)) {
        other = ccm_clock_now_ms() - token->fetched_ms >= REFUSED_MIN_MS;
        if (other) {
            token->known = false;
            token->blocked_ms = 0;
        }
    }
    ccm_unlock(&token->lock);
    return other;
}
