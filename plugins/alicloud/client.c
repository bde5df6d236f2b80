/*
 * One call through all its tries: quota/governor.c gives it a turn, request.c sends it, answer.c
 * reads what comes back; error.c:ali_error_find() and error_rows.c say of what class a failure is.
 * Whether and when a throttled or busy call is tried again: next_try(); the rate of everybody:
 * quota/share.c:ali_quota_share_fall().
 */
#include "alicloud/ali.h"

#include "alicloud/measure.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>

#define DEFAULT_MS   60000
#define MAX_PATIENCE 10  /* tries of a throttled or busy call */
#define CALL_KEY     640 /* bytes: action and object */
#define MAX_FAULTS   4   /* tries of a call that meets faults of network or cloud */

/* One call on its way through its tries. */
struct progress {
    struct ali_client *ali;
    const struct ali_ctx *ctx;
    const struct ali_call *call;
    unsigned int tries;
    unsigned int before; /* tries before it was put off */
    unsigned int faults;
    int64_t sent_ms; /* the last one */
    struct ali_turn turn;
    bool renewed;   /* the one credential refresh is used up */
    bool nonced;    /* the one repeat after a used nonce is used up */
    bool uncertain; /* some try may have been executed */
};

/* What a try came to. */
struct outcome {
    int result;    /* 0 or negative errno */
    bool answered; /* class_ is that of an answer */
    bool maybe_run;
    enum ali_class class_;
    int64_t hint_ms;
    cJSON *json;
};

/* What came of a try, for people: the log at debug, and the page of the object that it was for. */
static void progress_tell_try(const struct progress *progress, const struct outcome *outcome,
                              const struct ccm_error *err, int64_t ms)
{
    const struct ccm_host *host = progress->ctx->host;
    const struct ali_call *call = progress->call;
    const char *id =
        outcome->result == 0 ? ccm_json_text(outcome->json, "RequestId") : err->request_id;
    char safe[CCM_ERROR_CODE_MAX];
    char text[512];

    ccm_text_copy(safe, sizeof(safe), id);
    for (char *p = safe; *p != '\0'; p++) {
        *p = *p > ' ' && *p <= '~' ? *p : '?';
    }
    ccm_text_printf(text, sizeof(text), "%s %s: %s, RequestId %s, %" PRId64 " ms",
                    ali_endpoint_product(call->product)->name, call->action,
                    outcome->result == 0   ? "ok"
                    : err->code[0] != '\0' ? err->code
                    : outcome->answered    ? "no error code"
                                           : "no answer",
                    safe[0] == '\0' ? "-" : safe, ms);
    host->log(host, CCM_LEVEL_DEBUG, call->object, "%s", text);
    if (call->object != NULL && host->struct_size > offsetof(struct ccm_host, note_call)) {
        host->note_call(host, call->object,
                        (outcome->result < 0 ? CCM_CALL_FAILED : 0) |
                            (call->repeat != ALI_READ ? CCM_CALL_CHANGES : 0),
                        text);
    }
}

static void progress_end_turn(struct progress *progress, enum ali_turn_end end, int64_t hint_ms)
{
    const struct ccm_host *host = progress->ctx->host;

    ali_governor_end(progress->ali->governor, &progress->turn, end, host->now_ms(host), hint_ms);
}

/* What the try means for the rate of its action. */
static enum ali_turn_end outcome_turn_end(const struct outcome *outcome)
{
    if (outcome->answered) {
        if (outcome->result == 0) {
            return ALI_TURN_TAKEN;
        }
        return outcome->class_ == ALI_CLASS_THROTTLED ? ALI_TURN_THROTTLED : ALI_TURN_FAILED;
    }
    return outcome->maybe_run ? ALI_TURN_FAILED : ALI_TURN_UNUSED;
}

/* Sign, send, read. Sets the kind of failure; decides nothing. */
static void try_once(struct progress *progress, const struct ali_credential *credential,
                     struct outcome *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_try_fini)
    struct ali_try try_ = { .call = progress->call, .credential = credential };
    const struct ccm_host *host = progress->ctx->host;
    const int64_t started = host->now_ms(host);
    struct ccm_http_response *response = NULL;
    struct ali_answer answer = { 0 };
    uint64_t phase = 0;

    progress->sent_ms = started;
    *ret = (struct outcome){ .class_ = ALI_CLASS_SERVER };
    ret->result = ali_send(progress->ali, progress->ctx, &try_, &response, &phase, err);
    if (ret->result < 0) {
        ret->maybe_run = phase != CCM_HTTP_NOT_SENT;
    } else {
        ali_answer_read(&try_, response, host->wall_ms(host), &answer, err);
        host->http_free(host, response);
        ret->answered = true;
        ret->json = answer.json;
        ret->hint_ms = answer.hint_ms;
        if (answer.row != NULL) {
            ret->result = -EREMOTEIO;
            ret->class_ = answer.row->class_;
            ret->maybe_run = ret->class_ == ALI_CLASS_SERVER;
        }
    }

    const int64_t took_ms = host->now_ms(host) - started;

    progress_end_turn(progress, outcome_turn_end(ret), ret->hint_ms);
    progress_tell_try(progress, ret, err, took_ms);
    if (ret->answered || ret->maybe_run) { /* else nothing was sent */
        ali_measure_try(
            host, progress->call, took_ms,
            ali_measured(ret->result < 0, ret->answered && ret->class_ == ALI_CLASS_THROTTLED),
            ret->result < 0 ? err->code : "");
    }
}

/* Codes which say that this very request has arrived before: for a call that must not run twice
 * that is no reason to send it again. */
static bool arrived_before(const char *code)
{
    static const char *const codes[] = { "ProcessingSameRequest", "SignatureNonceUsed",
                                         "IdempotentProcessing", "LastTokenProcessing",
                                         "OperationFailed.TokenIsProcessing" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(codes); i++) {
        if (strcmp(code, codes[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Another credential, or another nonce: once each, and only when that can help. */
static bool may_repeat_credential(struct progress *progress,
                                  const struct ali_credential *credential,
                                  const struct ccm_error *err)
{
    if (strcmp(err->code, "SignatureNonceUsed") == 0) {
        const bool first = !progress->nonced;

        progress->nonced = true;
        return first;
    }
    if (progress->renewed || ccm_text_starts(err->code, "InvalidTimeStamp")) {
        return false;
    }
    progress->renewed = true;
    return ali_credentials_renew(progress->ali->credentials, progress->ctx, credential);
}

/* A change of a resource that takes one at a time. */
static bool is_paced(const struct progress *progress)
{
    return progress->call->paced != NULL && progress->call->repeat != ALI_READ;
}

int64_t ali_backoff(enum ali_class class_, unsigned int tries, int64_t hint_ms, uint64_t random)
{
    const unsigned int step = tries > 6 ? 6 : tries;
    const int64_t base = class_ == ALI_CLASS_SERVER ? 200 : 1000;
    const int64_t cap = class_ == ALI_CLASS_SERVER ? 5000 : 8000;
    const int64_t span = (base << step) < cap ? base << step : cap;
    const int64_t least = base << (step < 2 ? step : 2);
    const int64_t jitter = (int64_t)(random % (uint64_t)(span + 1));

    if (hint_ms > 0) {
        return hint_ms + jitter / 4;
    }
    /* An earlier change takes a second or more: asking sooner only costs calls. Never more than
     * three times in five seconds. */
    return class_ == ALI_CLASS_BUSY ? least + jitter / 2 : jitter + 50;
}

/* How long a busy or throttled call waits. */
static int64_t pause_ms(const struct progress *progress, const struct outcome *outcome,
                        uint64_t random)
{
    const struct ccm_host *host = progress->ctx->host;

    if (outcome->class_ == ALI_CLASS_BUSY && outcome->hint_ms == 0 && is_paced(progress)) {
        return ali_pace_refused(progress->ali->paces, progress->call->paced, progress->sent_ms,
                                host->now_ms(host), progress->before + progress->tries);
    }
    return ali_backoff(outcome->class_, progress->before + progress->tries - 1, outcome->hint_ms,
                       random);
}

/* Whether it is one that may be put off. */
static bool progress_is_patient(const struct progress *progress)
{
    return progress->call->patience_ms > 0 && progress->call->object != NULL;
}

static bool progress_outlasts_patience(const struct progress *progress, int64_t ms)
{
    return progress_is_patient(progress) && ms > progress->call->patience_ms;
}

/* Whether to try again: the delay in ms, or negative for no. */
static int64_t next_try(struct progress *progress, const struct ali_credential *credential,
                        const struct outcome *outcome, const struct ccm_error *err)
{
    const struct ccm_host *host = progress->ctx->host;
    const bool once = progress->call->repeat == ALI_ONCE;
    uint64_t random = 0;

    if (err->kind == CCM_ERROR_CANCELLED || err->kind == CCM_ERROR_BUG ||
        (!outcome->answered && err->kind == CCM_ERROR_TERMINAL) ||
        (once && (outcome->maybe_run || arrived_before(err->code)))) {
        return -1;
    }
    switch (outcome->class_) {
    case ALI_CLASS_THROTTLED:
    case ALI_CLASS_BUSY:
        if (progress->before + progress->tries >= MAX_PATIENCE) {
            return -1;
        }
        break;
    case ALI_CLASS_SERVER:
        if (++progress->faults >= (progress->call->failed_before ? 1 : MAX_FAULTS)) {
            return -1;
        }
        break;
    case ALI_CLASS_CREDENTIAL:
        return may_repeat_credential(progress, credential, err) ? 0 : -1;
    default:
        return -1;
    }
    if (host->random(host, &random, sizeof(random)) < 0) {
        random = 0; /* without jitter, but not without a pause */
    }

    const int64_t pause = pause_ms(progress, outcome, random);

    /* A fault whose end the cloud puts far away has failed: the failure says when to come again. */
    return outcome->class_ == ALI_CLASS_SERVER && progress_outlasts_patience(progress, pause)
               ? -1
               : pause;
}

/* Note what the try means beyond itself. */
static void progress_record_try(struct progress *progress, const struct outcome *outcome,
                                struct ccm_error *err)
{
    if (outcome->maybe_run || arrived_before(err->code)) {
        progress->uncertain = progress->call->repeat != ALI_READ;
    }
    if (outcome->hint_ms > 0 &&
        (err->kind == CCM_ERROR_THROTTLED || outcome->class_ == ALI_CLASS_SERVER)) {
        err->retry_after_ms = (uint64_t)outcome->hint_ms;
    }
}

static void progress_write_key(const struct progress *progress, char key[static CALL_KEY])
{
    ccm_text_printf(key, CALL_KEY, "%s %s", progress->call->action, progress->call->object);
}

/* The call comes again after that, and its worker does not wait for it. */
static int progress_put_off(const struct progress *progress, int64_t ms, struct ccm_error *err)
{
    const int r =
        ccm_error_set(err, -EAGAIN, CCM_ERROR_THROTTLED,
                      "%s: put off, an earlier change is not finished", progress->call->action);

    err->retry_after_ms = (uint64_t)ms;
    return r;
}

/* Until the last change of the resource is done, as far as that is known. */
static int wait_for_pace(const struct progress *progress, struct ccm_error *err)
{
    const struct ccm_host *host = progress->ctx->host;
    const int64_t ms =
        is_paced(progress)
            ? ali_pace_wait_ms(progress->ali->paces, progress->call->paced, host->now_ms(host))
            : 0;

    if (progress_outlasts_patience(progress, ms)) {
        return progress_put_off(progress, ms, err);
    }
    if (ms == 0 || ali_ctx_wait(progress->ctx, ms) == 0) {
        return 0;
    }
    if (host->cancelled(host, progress->ctx->req)) {
        return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "%s: cancelled",
                             progress->call->action);
    }
    return ccm_error_set(err, -EAGAIN, CCM_ERROR_CONFLICT,
                         "%s: an earlier change of %s is not finished", progress->call->action,
                         progress->call->paced);
}

/* The resource is still busy, and will be for longer than a worker waits. */
static int progress_put_off_busy(const struct progress *progress, int64_t ms, struct ccm_error *err)
{
    char key[CALL_KEY];

    progress_write_key(progress, key);
    ali_pace_keep_tries(progress->ali->paces, key, progress->before + progress->tries,
                        progress->ctx->host->now_ms(progress->ctx->host));
    return progress_put_off(progress, ms, err);
}

/* A turn, then a credential. */
static int progress_prepare_try(struct progress *progress, const struct ali_credential **ret,
                                struct ccm_error *err)
{
    int r = wait_for_pace(progress, err);

    if (r < 0) {
        return r;
    }
    r = ali_governor_acquire(progress->ali->governor, progress->ctx, progress->call,
                             &progress->turn, err);
    if (r < 0) {
        return r;
    }
    r = ali_credentials_get(progress->ali->credentials, progress->ctx, ret, err);
    if (r < 0) {
        progress_end_turn(progress, ALI_TURN_UNUSED, 0);
    }
    return r;
}

static void progress_record_success(const struct progress *progress)
{
    const struct ccm_host *host = progress->ctx->host;

    if (is_paced(progress)) {
        ali_pace_done(progress->ali->paces, progress->call->paced, progress->sent_ms,
                      host->now_ms(host));
    }
}

/* The pause is that of the governor, so that the call can be put off. */
static bool progress_is_held(const struct progress *progress, const struct outcome *outcome)
{
    return progress->call->patience_ms > 0 && outcome->class_ == ALI_CLASS_THROTTLED;
}

/* All tries. On failure err is that of the last try that was made. */
static int progress_run_tries(struct progress *progress, cJSON **ret, struct ccm_error *err)
{
    int last = 0;

    for (;;) {
        CCM_CLEANUP(ali_credential_unrefp) const struct ali_credential *credential = NULL;
        struct ccm_error failure = CCM_ERROR_INIT;
        struct outcome outcome;
        int r = progress_prepare_try(progress, &credential, &failure);

        if (r < 0) {
            /* The refusal of the cloud says more than a timeout after it, but not when to retry. */
            if (last == 0 || (progress->call->patience_ms > 0 && ali_error_is_put_off(&failure))) {
                ccm_error_copy(err, &failure);
                last = r;
            }
            return last;
        }
        progress->tries++;
        try_once(progress, credential, &outcome, &failure);
        if (outcome.result == 0) {
            progress_record_success(progress);
            *ret = outcome.json;
            return 0;
        }
        progress_record_try(progress, &outcome, &failure);
        ccm_error_copy(err, &failure);
        last = outcome.result;

        const int64_t delay = next_try(progress, credential, &outcome, &failure);

        if (outcome.class_ == ALI_CLASS_BUSY && progress_outlasts_patience(progress, delay)) {
            return progress_put_off_busy(progress, delay, err);
        }
        if (delay < 0 || (delay > 0 && !progress_is_held(progress, &outcome) &&
                          ali_ctx_wait(progress->ctx, delay) < 0)) {
            return last;
        }
    }
}

int ali_call(const struct ali_caller *by, const struct ali_call *call, cJSON **ret,
             bool *ret_uncertain, struct ccm_error *err)
{
    const struct ali_ctx ctx = ali_ctx(by->host, by->req, DEFAULT_MS);
    struct progress progress = { .ali = by->client, .ctx = &ctx, .call = call };
    cJSON *json = NULL;
    int r = 0;

    if (ret_uncertain != NULL) {
        *ret_uncertain = false;
    }
    if (call->repeat != ALI_READ && by->host->dry_run(by->host)) {
        return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED,
                             "%s: not sent, this is a dry run", call->action);
    }
    if (!atomic_load(&by->client->started)) {
        return ccm_error_set(err, -EAGAIN, CCM_ERROR_TRANSIENT,
                             "%s: region and credentials are not known yet", call->action);
    }
    if (progress_is_patient(&progress)) {
        char key[CALL_KEY];

        progress_write_key(&progress, key);
        progress.before = ali_pace_take_tries(by->client->paces, key, by->host->now_ms(by->host));
    }
    r = progress_run_tries(&progress, &json, err);
    if (r < 0) {
        if (ret_uncertain != NULL) {
            *ret_uncertain = progress.uncertain;
        }
        return r;
    }
    if (ret != NULL) {
        *ret = json;
    } else {
        cJSON_Delete(json);
    }
    return 0;
}

void ali_call_end_request(const struct ali_caller *by, const char *object)
{
    const struct ali_ctx ctx = ali_ctx(by->host, by->req, DEFAULT_MS);
    const struct ali_request request = ali_governor_request(&ctx);

    ali_governor_forget(by->client->governor, object, &request);
}

const char *ali_region(const struct ali_client *ali)
{
    return atomic_load(&ali->started) ? ali->region : "";
}

const char *ali_vpc_id(const struct ali_client *ali)
{
    return atomic_load(&ali->started) ? ali->vpc_id : "";
}

const char *ali_cluster_id(const struct ali_client *ali)
{
    return ali->config.cluster_id;
}

const char *ali_resource_group_id(const struct ali_client *ali)
{
    return ali->config.resource_group_id;
}

const char *const *ali_vswitch_ids(const struct ali_client *ali)
{
    static const char *const none[] = { NULL };

    return atomic_load(&ali->started) ? (const char *const *)ali->vswitch_ids : none;
}
