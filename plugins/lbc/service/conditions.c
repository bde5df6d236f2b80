#include "lbc/service/conditions.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

#define BODY_MAX    8192
#define MESSAGE_MAX 1024 /* bytes; the API takes more, but nobody reads more */
#define NONE        ""

static const struct ccm_condition *condition_find_ours(const struct ccm_service *service)
{
    for (uint64_t i = 0; i < service->condition_count; i++) {
        if (strcmp(service->conditions[i]->type, LBC_LIFE_CONDITION) == 0) {
            return service->conditions[i];
        }
    }
    return NULL;
}

static const char *reason_of(const struct lbc_life_condition *condition)
{
    if (condition->ready) {
        return "Ready";
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

/* want: what the body stands for, status: its part of that; see lbc_life_decide(). */
static int condition_write_patch(const struct lbc_life *life, const struct ccm_request *req,
                                 const struct ccm_service *service, const struct ccm_buf *body,
                                 const char *want, const char *status, struct ccm_error *err)
{
    if (ccm_buf_error(body) < 0) {
        return ccm_error_nomem(err);
    }
    const struct ccm_patch patch = {
        .struct_size = sizeof(patch),
        .kind = CCM_KIND_SERVICE,
        .type = CCM_PATCH_STRATEGIC,
        .namespace_ = service->meta.namespace_,
        .name = service->meta.name,
        .subresource = "status",
        .body = ccm_buf_str(body),
    };
    int r = life->host->patch(life->host, req, &patch, err);

    r = r < 0 && err->kind == CCM_ERROR_NOT_FOUND ? 0 : r;
    lbc_life_record_write(life, LBC_LIFE_READY, r, want);
    lbc_life_record_write(life, LBC_LIFE_TURN, r, status);
    return r;
}

/* The head of the patch, up to the members of the one condition. */
static void open_patch(struct ccm_jsonw *w, const struct ccm_service *service)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_open(w, "metadata", '{');
    ccm_jsonw_str(w, "uid", service->meta.uid);
    ccm_jsonw_close(w, '}');
    ccm_jsonw_open(w, "status", '{');
    ccm_jsonw_open(w, "conditions", '[');
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "type", LBC_LIFE_CONDITION);
}

static void close_patch(struct ccm_jsonw *w)
{
    ccm_jsonw_close(w, '}');
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
    ccm_jsonw_close(w, '}');
}

static int condition_remove(const struct lbc_life *life, const struct ccm_request *req,
                            const struct ccm_service *service, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = BODY_MAX };
    struct ccm_jsonw w = { .buf = &body };

    if (!lbc_life_needs(life, LBC_LIFE_READY, condition_find_ours(service) == NULL, NONE)) {
        return 0;
    }
    if (life->plan != NULL) {
        ccm_buf_adds(life->plan, "remove condition " LBC_LIFE_CONDITION "\n");
        return 0;
    }
    open_patch(&w, service);
    ccm_jsonw_str(&w, "$patch", "delete");
    close_patch(&w);
    return condition_write_patch(life, req, service, &body, NONE, NONE, err);
}

int lbc_life_publish_condition(const struct lbc_life *life, const struct ccm_request *req,
                               const struct ccm_service *service,
                               const struct lbc_life_condition *condition, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = BODY_MAX };
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
    open_patch(&w, service);
    ccm_jsonw_str(&w, "status", status);
    ccm_jsonw_str(&w, "reason", reason);
    ccm_jsonw_str(&w, "message", message);
    if (lbc_life_needs(life, LBC_LIFE_TURN, same_status, status)) {
        ccm_clock_format(life->host->wall_ms(life->host), now, sizeof(now));
        ccm_jsonw_str(&w, "lastTransitionTime", now);
    }
    close_patch(&w);
    return condition_write_patch(life, req, service, &body, want, status, err);
}
