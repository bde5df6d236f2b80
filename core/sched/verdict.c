#include "sched/verdict.h"

#include "sched/backoff.h"
#include "util/log.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[SCHED_BACKOFF_KINDS] = {
    [CCM_ERROR_NONE] = "unnamed error",
    [CCM_ERROR_TRANSIENT] = "transient",
    [CCM_ERROR_THROTTLED] = "throttled",
    [CCM_ERROR_CONFLICT] = "conflict",
    [CCM_ERROR_NOT_FOUND] = "not found",
    [CCM_ERROR_AUTH] = "auth",
    [CCM_ERROR_TERMINAL] = "terminal",
    [CCM_ERROR_CANCELLED] = "cancelled",
    [CCM_ERROR_BUG] = "bug",
};

int sched_verdicts_init(struct sched_verdicts *verdicts, size_t cap)
{
    *verdicts = (struct sched_verdicts){
        .items = calloc(cap, sizeof(*verdicts->items)),
        .errors = calloc(cap, sizeof(*verdicts->errors)),
        .cap = cap,
    };
    if (verdicts->items == NULL || verdicts->errors == NULL ||
        pthread_mutex_init(&verdicts->lock, NULL) != 0) {
        free(verdicts->items);
        free(verdicts->errors);
        return -ENOMEM;
    }
    return 0;
}

void sched_verdicts_fini(struct sched_verdicts *verdicts)
{
    ccm_lock_fini(&verdicts->lock);
    free(verdicts->items);
    free(verdicts->errors);
}

void sched_verdicts_begin(struct sched_verdicts *verdicts, size_t count)
{
    ccm_lock(&verdicts->lock);
    memset(verdicts->items, 0, count * sizeof(*verdicts->items));
    verdicts->count = count;
    ccm_unlock(&verdicts->lock);
}

void sched_verdicts_end(struct sched_verdicts *verdicts)
{
    ccm_lock(&verdicts->lock);
    verdicts->count = 0;
    ccm_unlock(&verdicts->lock);
}

/* The texts come from a plugin. */
static void copy_error(struct ccm_error *to, const struct ccm_error *from)
{
    ccm_error_copy(to, from);
    to->message[sizeof(to->message) - 1] = '\0';
    to->request_id[sizeof(to->request_id) - 1] = '\0';
}

void sched_verdicts_record(struct sched_verdicts *verdicts, uint64_t index,
                           uint64_t requeue_after_ms, const struct ccm_error *err)
{
    const bool failed = err != NULL && err->kind != CCM_ERROR_NONE;

    ccm_lock(&verdicts->lock);
    if (index < verdicts->count) {
        verdicts->items[index] = (struct sched_verdict){
            .reported = true,
            .failed = failed,
            .requeue_after_ms = requeue_after_ms,
        };
        if (failed) {
            copy_error(&verdicts->errors[index], err);
        }
    }
    ccm_unlock(&verdicts->lock);
}

void sched_verdict_classify(struct ccm_error *err, int result, bool stopping)
{
    if (result > 0) {
        (void)ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, /* the caller has its verdict */
                            "reconcile returned %d, which means nothing", result);
    } else if (err->kind == CCM_ERROR_CANCELLED) {
        err->kind = stopping ? CCM_ERROR_CANCELLED : CCM_ERROR_TRANSIENT;
    } else if (err->kind == CCM_ERROR_NONE || err->kind >= SCHED_BACKOFF_KINDS) {
        err->kind = CCM_ERROR_TRANSIENT;
    }
    if (err->message[0] == '\0') {
        ccm_text_printf(err->message, sizeof(err->message), "failed with code %d and no message",
                        result);
    }
}

static enum ccm_log_level level_of(uint64_t kind)
{
    switch (kind) {
    case CCM_ERROR_AUTH:
    case CCM_ERROR_TERMINAL:
    case CCM_ERROR_BUG:
        return CCM_LOG_ERROR;
    case CCM_ERROR_CANCELLED:
        return CCM_LOG_INFO;
    default:
        return CCM_LOG_WARN;
    }
}

const char *sched_verdict_kind_name(uint64_t kind)
{
    return kind < SCHED_BACKOFF_KINDS && kind_names[kind] != NULL ? kind_names[kind] : "";
}

void sched_verdict_log(const struct sched_verdict_line *line, const struct ccm_error *err)
{
    const struct ccm_log log = { .part = line->part, .object = line->what };
    /* Most messages say it themselves. */
    const bool has_id = err->request_id[0] != '\0' && strstr(err->message, err->request_id) == NULL;
    char retry[48] = "no retry: stopping";

    if (line->retry_ms >= 0) {
        ccm_text_printf(retry, sizeof(retry), "retry in %" PRId64 " ms", line->retry_ms);
    }
    CCM_LOG_AT(&log, line->quiet ? CCM_LOG_DEBUG : level_of(err->kind), "%s: %s: %s%s%s%s; %s",
               line->id, kind_names[err->kind], err->message, has_id ? " (request " : "",
               has_id ? err->request_id : "", has_id ? ")" : "", retry);
}
