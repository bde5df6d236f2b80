#include "lbc/service/condition.h"

#include "lbc/names.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/retry_text.h"
#include "util/text.h"

#include <string.h>

#define MESSAGE_MAX 1024 /* bytes; the API takes more, but nobody reads more */
#define CAUSE_MAX   900  /* of what is tried again */
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

static bool condition_is_tried(const struct lbc_life_condition *condition)
{
    return !condition->ready && !ccm_text_empty(condition->retry);
}

/* "cause. retry (as of time, RequestId id)" */
static void condition_format_message(const struct lbc_life_condition *condition, const char *cause,
                                     int64_t wall_ms, struct ccm_buf *ret)
{
    const char *id = condition->request_id;
    char now[CCM_CLOCK_TEXT];

    ccm_buf_adds(ret, cause);
    if (condition_is_tried(condition)) {
        ccm_clock_format(wall_ms, now, sizeof(now));
        ccm_buf_addf(ret, ". %s" AS_OF "%s%s%s)", condition->retry, now,
                     ccm_text_empty(id) ? "" : ", RequestId ", ccm_text_empty(id) ? "" : id);
    }
}

/* Whether the message is such a one. */
static bool condition_has_cause(const struct lbc_life_condition *condition, const char *message,
                                const char *cause)
{
    const size_t len = strlen(cause);

    return strncmp(message, cause, len) == 0 &&
           (condition_is_tried(condition) ? ccm_text_starts(message + len, ". " CCM_RETRY_BEGIN)
                                          : message[len] == '\0');
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
    text[strcspn(text, ",)")] = '\0';
    if (ccm_parse_rfc3339(text, &at_ms) < 0) {
        return true;
    }
    const int64_t age_ms = wall_ms - at_ms;

    return age_ms >= LBC_CONDITION_AGAIN_MS || age_ms <= -LBC_CONDITION_AGAIN_MS;
}

/* The picture that led to a conflict was out of date, and the next look decides: what is known of
 * the same cause until then stays. */
static bool condition_is_undecided(const struct lbc_life_condition *condition,
                                   const struct lbc_condition_words *words,
                                   const struct ccm_condition *shown, const char *cause)
{
    return !condition->ready && condition->reason == NULL &&
           condition->kind == CCM_ERROR_CONFLICT && words->same_status &&
           condition_has_cause(condition, shown->message, cause);
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
    };
    ccm_buf_add(&cause, condition->message,
                ccm_text_utf8_cut(condition->message,
                                  condition_is_tried(condition) ? CAUSE_MAX : MESSAGE_MAX));
    condition_format_message(condition, ccm_buf_str(&cause), wall_ms, &ret->message);
    ret->same_status = before != NULL && strcmp(before->status, ret->status) == 0;
    if (condition_is_undecided(condition, ret, before, ccm_buf_str(&cause))) {
        ret->reason = before->reason;
    }
    ret->is_shown = ret->same_status && strcmp(before->reason, ret->reason) == 0 &&
                    condition_has_cause(condition, before->message, ccm_buf_str(&cause)) &&
                    (condition->ready || ccm_text_empty(condition->retry) ||
                     !condition_is_old(before->message, wall_ms));
}

void lbc_condition_words_fini(struct lbc_condition_words *words)
{
    ccm_buf_fini(&words->message);
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
