#include "lbc/service/conditions.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX 1024 /* bytes; the API takes more, but nobody reads more */
#define NONE        ""

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

static const struct ccm_condition *condition_find_ours(const struct ccm_service *service)
{
    return lbc_condition_find(service->conditions, service->condition_count, LBC_LIFE_CONDITION);
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

/* r: what came of the patch; want: what it stands for, status: its part of that. Returns r. */
static int condition_record(const struct lbc_life *life, int r, const char *want,
                            const char *status)
{
    lbc_life_record_write(life, LBC_LIFE_READY, r, want);
    lbc_life_record_write(life, LBC_LIFE_TURN, r, status);
    return r;
}

static int condition_remove(const struct lbc_life *life, const struct ccm_request *req,
                            const struct ccm_service *service, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_LIFE_PATCH_MAX };
    struct ccm_jsonw w = { .buf = &body };

    if (!lbc_life_needs(life, LBC_LIFE_READY, condition_find_ours(service) == NULL, NONE)) {
        return 0;
    }
    if (life->plan != NULL) {
        ccm_buf_adds(life->plan, "remove condition " LBC_LIFE_CONDITION "\n");
        return 0;
    }
    lbc_condition_open_patch(&w, service->meta.uid, LBC_LIFE_CONDITION);
    ccm_jsonw_str(&w, "$patch", "delete");
    ccm_jsonw_close_all(&w, "}]}}");
    return condition_record(
        life, lbc_life_patch_status(life, req, service, CCM_PATCH_STRATEGIC, &body, err), NONE,
        NONE);
}

int lbc_life_publish_condition(const struct lbc_life *life, const struct ccm_request *req,
                               const struct ccm_service *service,
                               const struct lbc_life_condition *condition, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_LIFE_PATCH_MAX };
    struct ccm_jsonw w = { .buf = &body };
    char message[MESSAGE_MAX + 1];
    char want[MESSAGE_MAX + 64];
    char now[CCM_CLOCK_TEXT];

    if (condition == NULL) {
        return condition_remove(life, req, service, err);
    }
    const struct ccm_condition *before = condition_find_ours(service);
    const char *status = condition->ready ? "True" : "False";
    const char *reason = reason_of(condition);
    const bool same_status = before != NULL && strcmp(before->status, status) == 0;

    ccm_text_copy(message, ccm_text_utf8_cut(condition->message, MESSAGE_MAX) + 1,
                  condition->message);
    ccm_text_printf(want, sizeof(want), "%s\n%s\n%s", status, reason, message);

    const bool shown =
        same_status && strcmp(before->reason, reason) == 0 && strcmp(before->message, message) == 0;

    if (!lbc_life_needs(life, LBC_LIFE_READY, shown, want)) {
        return 0;
    }
    if (life->plan != NULL) {
        ccm_buf_addf(life->plan, "set condition " LBC_LIFE_CONDITION " to %s (%s)\n", status,
                     reason);
        return 0;
    }
    lbc_condition_open_patch(&w, service->meta.uid, LBC_LIFE_CONDITION);
    ccm_jsonw_str(&w, "status", status);
    ccm_jsonw_str(&w, "reason", reason);
    ccm_jsonw_str(&w, "message", message);
    if (lbc_life_needs(life, LBC_LIFE_TURN, same_status, status)) {
        ccm_clock_format(life->host->wall_ms(life->host), now, sizeof(now));
        ccm_jsonw_str(&w, "lastTransitionTime", now);
    }
    ccm_jsonw_close_all(&w, "}]}}");
    return condition_record(
        life, lbc_life_patch_status(life, req, service, CCM_PATCH_STRATEGIC, &body, err), want,
        status);
}
