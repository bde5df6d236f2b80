/* What an answer that is no success means. */
#include "kube/client/client.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define RETRY_AFTER_MAX_S 3600
#define BODY_SHOWN        200

struct verdict {
    uint32_t status;
    int result;
    uint64_t kind;
};

static const struct verdict verdicts[] = {
    { 400, -EINVAL, CCM_ERROR_TERMINAL },     { 401, -EACCES, CCM_ERROR_AUTH },
    { 403, -EACCES, CCM_ERROR_AUTH },         { 404, -ENOENT, CCM_ERROR_NOT_FOUND },
    { 408, -ETIMEDOUT, CCM_ERROR_TRANSIENT }, { 409, -EBUSY, CCM_ERROR_CONFLICT },
    { 410, -ESTALE, CCM_ERROR_CONFLICT },     { 429, -EAGAIN, CCM_ERROR_THROTTLED },
};

static struct verdict verdict_of(uint32_t status)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(verdicts); i++) {
        if (verdicts[i].status == status) {
            return verdicts[i];
        }
    }
    if (status >= 500) {
        return (struct verdict){ status, -EIO, CCM_ERROR_TRANSIENT };
    }
    if (status >= 400) {
        return (struct verdict){ status, -EINVAL, CCM_ERROR_TERMINAL };
    }
    return (struct verdict){ status, -EPROTO, CCM_ERROR_TRANSIENT };
}

/* Some answers lack kind and apiVersion, but none lacks this. */
static bool is_status(const cJSON *json)
{
    return ccm_text_equal(ccm_json_str(json, "kind"), "Status") ||
           ccm_text_equal(ccm_json_str(json, "status"), "Failure");
}

static int from_body(uint32_t status, const char *body, size_t len, struct ccm_error *err)
{
    const struct verdict verdict = verdict_of(status);
    const size_t shown = len == 0 ? 0 : ccm_text_utf8_cut(body, BODY_SHOWN);
    int r;

    if (shown == 0) {
        r = ccm_error_set(err, verdict.result, verdict.kind, "HTTP status %u without a text",
                          status);
    } else {
        r = ccm_error_set(err, verdict.result, verdict.kind, "HTTP status %u: %.*s", status,
                          (int)shown, body);
    }
    if (err != NULL) {
        err->http_status = status;
    }
    return r;
}

/* A binding names a role that the server does not know. So it says in its first moments, too, when
 * the roles are not read yet: a later try may do. */
static bool is_role_unknown(const cJSON *json)
{
    const char *rbac = strstr(ccm_json_text(json, "message"), ": RBAC: ");

    return rbac != NULL && strstr(rbac, " not found") != NULL;
}

/* A patch that names a uid is refused like this when another object has the name by now. */
static bool is_other_uid(const cJSON *json)
{
    const cJSON *cause = ccm_json_items(ccm_json_get(json, "details"), "causes");

    while (cause != NULL && !ccm_text_equal(ccm_json_str(cause, "field"), "metadata.uid")) {
        cause = cause->next;
    }
    return cause != NULL;
}

/* An admission webhook or policy of the cluster forbids the write. It chooses the status itself,
 * and may be mended any minute without a change of the object: somebody has to act, as with
 * permissions. */
static bool is_denied(const cJSON *json)
{
    const char *message = ccm_json_text(json, "message");

    return (strstr(message, "admission webhook \"") != NULL &&
            strstr(message, "\" denied the request") != NULL) ||
           (strstr(message, "ValidatingAdmissionPolicy '") != NULL &&
            strstr(message, "' denied request") != NULL);
}

static int from_status(uint32_t http_status, const cJSON *json, struct ccm_error *err)
{
    const int64_t own = ccm_json_i64(json, "code", 0);
    /* In a watch the answer itself was 200: the event's own code counts. */
    const uint32_t status =
        http_status >= 300 || own < 300 || own > 599 ? http_status : (uint32_t)own;
    struct verdict verdict = verdict_of(status == 422 && is_other_uid(json) ? 409 : status);
    const char *reason = ccm_json_text(json, "reason");
    const int64_t wait_s = ccm_json_i64(ccm_json_get(json, "details"), "retryAfterSeconds", 0);
    int r;

    if ((verdict.kind == CCM_ERROR_TERMINAL || verdict.kind == CCM_ERROR_NOT_FOUND) &&
        is_denied(json)) {
        verdict = (struct verdict){ status, -EACCES, CCM_ERROR_AUTH };
    }
    r = verdict.result;
    if (status == 403 && is_role_unknown(json)) {
        verdict.kind = CCM_ERROR_TRANSIENT;
    }
    if (status == 409 && ccm_text_equal(reason, "AlreadyExists")) {
        r = -EEXIST;
    }
    r = ccm_error_set(err, r, verdict.kind, "%s (%u%s%s)", ccm_json_text(json, "message"), status,
                      reason[0] == '\0' ? "" : " ", reason);
    if (err != NULL) {
        err->http_status = status;
        ccm_text_copy(err->code, sizeof(err->code),
                      reason[0] == '\0' && status == 410 ? "Gone" : reason);
        if (wait_s > 0) {
            err->retry_after_ms =
                (uint64_t)(wait_s < RETRY_AFTER_MAX_S ? wait_s : RETRY_AFTER_MAX_S) * 1000;
        }
    }
    return r;
}

int kube_status_error(uint32_t http_status, const char *body, size_t len, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    if (len == 0 || ccm_json_parse(body, len, &json) < 0 || !is_status(json)) {
        return from_body(http_status, body, len, err);
    }
    return from_status(http_status, json, err);
}
