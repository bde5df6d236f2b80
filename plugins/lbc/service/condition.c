#include "lbc/service/condition.h"

#include "lbc/names.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/retry_text.h"
#include "util/text.h"

#include <string.h>

#define MESSAGE_MAX 1024 /* bytes; the API takes more, but nobody reads more */
#define ID_OPEN     " (RequestId "
#define AS_OF       " (as of "

const struct ccm_condition *lbc_condition_find(const struct ccm_condition *const *conditions,
                                               uint64_t count, const char *type)
{
    for (uint64_t i = 0; i < count; i++) {
        if (strcmp(conditions[i]->type, type) == 0) {
            return conditions[i];
        }
    }
    return NULL;
}

void lbc_condition_open_patch(struct ccm_jsonw *w, const char *uid, const char *type)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_open(w, "metadata", '{');
    ccm_jsonw_str(w, "uid", uid);
    ccm_jsonw_close(w, '}');
    ccm_jsonw_open(w, "status", '{');
    ccm_jsonw_open(w, "conditions", '[');
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "type", type);
}

const struct ccm_condition *lbc_condition_find_ours(const struct ccm_service *service)
{
    return lbc_condition_find(service->conditions, service->condition_count, lbc_names.condition);
}

static const char *reason_of(const struct lbc_life_condition *condition)
{
    if (condition->ready) {
        return "Ready";
    }
    if (condition->reason != NULL) {
        return condition->reason;
    }
    switch (condition->kind) {
    case CCM_ERROR_TERMINAL:
        return "Refused";
    case CCM_ERROR_AUTH:
        return "NotAllowed";
    case CCM_ERROR_THROTTLED:
        return "Throttled";
    default:
        return "SyncFailed";
    }
}

/* --- what a message says --- */

/* "text. retry (as of time)": of a long text the end is cut. */
static void condition_format_message(const struct lbc_life_condition *condition, int64_t wall_ms,
                                     struct ccm_buf *ret)
{
    const char *retry = condition->retry;
    char now[CCM_CLOCK_TEXT];

    if (condition->ready || ccm_text_empty(retry)) {
        ccm_buf_add(ret, condition->message, ccm_text_utf8_cut(condition->message, MESSAGE_MAX));
        return;
    }
    const size_t rest = strlen(retry) + sizeof(AS_OF) + sizeof(now) + 4;

    ccm_clock_format(wall_ms, now, sizeof(now));
    ccm_buf_add(ret, condition->message, ccm_text_utf8_cut(condition->message, MESSAGE_MAX - rest));
    ccm_buf_addf(ret, ". %s" AS_OF "%s)", retry, now);
}

/* What makes it the same: without ids of requests, and without when it is tried again. */
static void condition_format_cause(const char *message, struct ccm_buf *ret)
{
    const char *end = strstr(message, ". " CCM_RETRY_BEGIN);
    const char *id = NULL;

    end = end == NULL ? message + strlen(message) : end;
    while ((id = strstr(message, ID_OPEN)) != NULL && id < end) {
        const char *close = strchr(id, ')');

        ccm_buf_add(ret, message, (size_t)(id - message));
        message = close == NULL || close >= end ? end : close + 1;
    }
    ccm_buf_add(ret, message, (size_t)(end - message));
}

/* What says that it is not ready and when that was so gets old. */
static bool condition_is_old(const char *message, int64_t wall_ms)
{
    const char *as_of = NULL;
    int64_t at_ms = 0;
    char text[CCM_CLOCK_TEXT];

    for (const char *p = message; (p = strstr(p, AS_OF)) != NULL; p++) {
        as_of = p + strlen(AS_OF);
    }
    if (as_of == NULL) {
        return true;
    }
    ccm_text_copy(text, sizeof(text), as_of);
    text[strcspn(text, ")")] = '\0';
    if (ccm_parse_rfc3339(text, &at_ms) < 0) {
        return true;
    }
    const int64_t age_ms = wall_ms - at_ms;

    return age_ms >= LBC_CONDITION_AGAIN_MS || age_ms <= -LBC_CONDITION_AGAIN_MS;
}

static bool condition_has_cause(const struct ccm_condition *shown, const char *cause)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf before = { .max = (size_t)2 * MESSAGE_MAX };

    condition_format_cause(shown->message, &before);
    return strcmp(ccm_buf_str(&before), cause) == 0;
}

/* The picture that led to a conflict was out of date, and the next look decides: what is known of
 * the same cause until then stays. */
static bool condition_is_undecided(const struct lbc_life_condition *condition,
                                   const struct lbc_condition_words *words,
                                   const struct ccm_condition *shown, const char *cause)
{
    return !condition->ready && condition->reason == NULL &&
           condition->kind == CCM_ERROR_CONFLICT && words->same_status &&
           condition_has_cause(shown, cause);
}

void lbc_condition_format(const struct lbc_life_condition *condition,
                          const struct ccm_service *service, int64_t wall_ms,
                          struct lbc_condition_words *ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf cause = { .max = (size_t)2 * MESSAGE_MAX };
    const struct ccm_condition *before = lbc_condition_find_ours(service);

    *ret = (struct lbc_condition_words){
        .status = condition->ready ? "True" : "False",
        .reason = reason_of(condition),
        .message = { .max = (size_t)2 * MESSAGE_MAX },
        .want = { .max = (size_t)3 * MESSAGE_MAX },
    };
    condition_format_message(condition, wall_ms, &ret->message);
    condition_format_cause(ccm_buf_str(&ret->message), &cause);
    ret->same_status = before != NULL && strcmp(before->status, ret->status) == 0;
    if (condition_is_undecided(condition, ret, before, ccm_buf_str(&cause))) {
        ret->reason = before->reason;
    }
    ccm_buf_addf(&ret->want, "%s\n%s\n%s", ret->status, ret->reason, ccm_buf_str(&cause));
    ret->is_shown = ret->same_status && strcmp(before->reason, ret->reason) == 0 &&
                    condition_has_cause(before, ccm_buf_str(&cause)) &&
                    (condition->ready || ccm_text_empty(condition->retry) ||
                     !condition_is_old(before->message, wall_ms));
}

void lbc_condition_words_fini(struct lbc_condition_words *words)
{
    ccm_buf_fini(&words->message);
    ccm_buf_fini(&words->want);
}

void lbc_condition_print(struct ccm_jsonw *w, const struct lbc_condition_words *words, bool turned,
                         int64_t wall_ms)
{
    char now[CCM_CLOCK_TEXT];

    ccm_jsonw_str(w, "status", words->status);
    ccm_jsonw_str(w, "reason", words->reason);
    ccm_jsonw_str(w, "message", ccm_buf_str(&words->message));
    if (turned) {
        ccm_clock_format(wall_ms, now, sizeof(now));
        ccm_jsonw_str(w, "lastTransitionTime", now);
    }
}
