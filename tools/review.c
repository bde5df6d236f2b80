#include "tools/review.h"

#include "kube/object/decode.h"
#include "tools/lint_ask.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/jsonw.h"
#include "util/log.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define API_VERSION   "admission.k8s.io/v1"
#define KEY_SHOWN     300  /* bytes of a key in the log */
#define MESSAGE_MAX   2000 /* bytes of a refusal */
#define UID_MAX       256
#define UNPROCESSABLE 422

static const struct ccm_log review_log = { .part = "webhook" };

const char *const tool_review_results[TOOL_REVIEW_RESULT_COUNT] = {
    [TOOL_REVIEW_ALLOWED] = "allowed",
    [TOOL_REVIEW_WARNED] = "warned",
    [TOOL_REVIEW_DENIED] = "denied",
    [TOOL_REVIEW_BAD] = "bad",
};

/* --- findings of one object --- */

struct finding {
    uint64_t level;
    char *place; /* "" = the Service */
    char *text;
};

struct findings {
    struct finding *items;
    size_t len;
    size_t cap;
    struct ccm_strmap *texts;  /* those of the items */
    struct ccm_strmap *errors; /* the places that have an error */
    bool too_large;            /* plugins were not asked for more */
    int error;                 /* -ENOMEM */
};

static void findings_fini(struct findings *findings)
{
    ccm_strmap_free(findings->texts);
    ccm_strmap_free(findings->errors);
    for (size_t i = 0; i < findings->len; i++) {
        free(findings->items[i].place);
        free(findings->items[i].text);
    }
    free(findings->items);
}

/* An error at a place that had none before: what was wrong stays editable. Of a Service that was
 * too large it is not known what else was wrong. */
static bool finding_is_worse(const struct finding *finding, const struct findings *before)
{
    return finding->level == CCM_LEVEL_ERROR && !before->too_large &&
           (before->errors == NULL || !ccm_strmap_has(before->errors, finding->place));
}

static int set_put(struct ccm_strmap **set, const char *key)
{
    if (*set == NULL) {
        *set = ccm_strmap_new(NULL);
    }
    return *set == NULL ? -ENOMEM : ccm_strmap_set(*set, key, NULL);
}

/* Hints are for who asks; plugins that share something say it once. */
static void findings_add(void *arg, uint64_t level, const char *place, const char *text)
{
    struct findings *findings = arg;
    CCM_CLEANUP(ccm_freep) char *copy = NULL;
    CCM_CLEANUP(ccm_freep) char *at = NULL;

    if (level == CCM_LEVEL_INFO ||
        (findings->texts != NULL && ccm_strmap_has(findings->texts, text))) {
        return;
    }
    copy = strdup(text);
    at = strdup(place == NULL ? "" : place);
    if (copy == NULL || at == NULL || set_put(&findings->texts, text) < 0 ||
        (level == CCM_LEVEL_ERROR && set_put(&findings->errors, at) < 0) ||
        ccm_array_grow(&findings->items, &findings->cap, findings->len + 1,
                       sizeof(*findings->items)) < 0) {
        findings->error = -ENOMEM;
        return;
    }
    for (char *c = copy; *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' || *c == '\x7f' ? ' ' : *c; /* it becomes a header */
    }
    findings->items[findings->len++] = (struct finding){ level, CCM_STEAL(at), CCM_STEAL(copy) };
}

/* The controller changes nothing for such a Service; of what is left of it lint() would be wrong.
 */
static void findings_add_too_large(const struct tool_review *review,
                                   const struct ccm_service *service, struct findings *ret)
{
    struct ccm_error text = CCM_ERROR_INIT;

    for (size_t i = 0; i < review->plugin_count && !ret->too_large; i++) {
        ret->too_large = tool_lint_takes(&review->plugins[i], service);
    }
    if (ret->too_large) {
        (void)ccm_error_set(&text, 0, CCM_ERROR_TERMINAL,
                            "the Service is too large (%s): nothing is changed for it until it is "
                            "smaller",
                            service->meta.too_large); /* the text is wanted */
        findings_add(ret, CCM_LEVEL_ERROR, NULL, text.message);
    }
}

/* What cannot be read as a Service is the API server's business. */
static int findings_collect(const struct tool_review *review, const cJSON *json,
                            struct findings *ret)
{
    const struct kube_decode_kind kind = { .kind = CCM_KIND_SERVICE, .watches = review->watches };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = KUBE_DECODE_MAX_TEXT };
    CCM_CLEANUP(kube_builder_freep) struct kube_builder *builder = kube_builder_new();
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    int r = builder == NULL ? -ENOMEM : ccm_json_print(&text, json);

    if (r == 0) {
        r = kube_decode(builder, &kind, ccm_buf_str(&text), text.len, &object, &err);
    }
    if (r < 0) {
        return r == -ENOMEM ? r : 0;
    }

    const struct ccm_service *service = (const struct ccm_service *)(const void *)object;

    if (object->too_large != NULL) {
        findings_add_too_large(review, service, ret);
        return ret->error;
    }
    for (size_t i = 0; i < review->plugin_count; i++) {
        r = tool_lint_ask(&review->plugins[i], service, findings_add, ret);
        if (r == -ENOMEM) {
            return r;
        }
    }
    return ret->error;
}

/* --- one request --- */

struct request {
    const char *uid;
    const cJSON *object;
    const cJSON *before; /* of an UPDATE, else NULL */
    char key[KEY_SHOWN];
};

/* The API server writes members in one order, so texts can be compared: a tenant decides how many
 * members there are, and comparing trees takes the square of that. */
static bool object_is_same(const cJSON *a, const cJSON *b)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf left = { .max = KUBE_DECODE_MAX_TEXT };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf right = { .max = KUBE_DECODE_MAX_TEXT };

    if (a == NULL || b == NULL) {
        return a == b;
    }
    return ccm_json_print(&left, a) == 0 && ccm_json_print(&right, b) == 0 &&
           strcmp(ccm_buf_str(&left), ccm_buf_str(&right)) == 0;
}

/* What lint looks at is as it was: a controller wrote its labels, finalizer or status. */
static bool request_changes_nothing(const struct request *request)
{
    return request->before != NULL &&
           object_is_same(ccm_json_get(request->object, "spec"),
                          ccm_json_get(request->before, "spec")) &&
           object_is_same(ccm_json_path(request->object, "metadata", "annotations", NULL),
                          ccm_json_path(request->before, "metadata", "annotations", NULL));
}

/* A Service of type LoadBalancer that is made or changed, and not on its way out. */
static bool request_is_of_interest(const cJSON *json, struct request *ret)
{
    const cJSON *kind = ccm_json_get(json, "kind");
    const char *operation = ccm_json_text(json, "operation");
    const cJSON *meta = NULL;

    ret->object = ccm_json_get(json, "object");
    ret->before = strcmp(operation, "UPDATE") == 0 ? ccm_json_get(json, "oldObject") : NULL;
    meta = ccm_json_get(ret->object, "metadata");
    ccm_text_printf(ret->key, sizeof(ret->key), "%s/%s", ccm_json_text(json, "namespace"),
                    ccm_json_text(json, "name"));
    return (strcmp(operation, "CREATE") == 0 || ret->before != NULL) &&
           strcmp(ccm_json_text(kind, "kind"), "Service") == 0 &&
           ccm_json_text(kind, "group")[0] == '\0' &&
           ccm_json_text(json, "subResource")[0] == '\0' && cJSON_IsObject(ret->object) &&
           ccm_json_get(meta, "deletionTimestamp") == NULL &&
           strcmp(ccm_json_text(ccm_json_get(ret->object, "spec"), "type"), "LoadBalancer") == 0 &&
           !request_changes_nothing(ret);
}

/* --- the answer --- */

static void answer_begin(struct ccm_jsonw *w, const char *uid, bool allowed)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "apiVersion", API_VERSION);
    ccm_jsonw_str(w, "kind", "AdmissionReview");
    ccm_jsonw_open(w, "response", '{');
    ccm_jsonw_str(w, "uid", uid);
    ccm_jsonw_bool(w, "allowed", allowed);
}

/* One warning, cut where the API server would, with a mark. */
static void answer_write_warning(struct ccm_jsonw *w, const char *text, size_t *left)
{
    char shown[TOOL_REVIEW_WARNING + 1];
    size_t len = strlen(text);

    if (len > TOOL_REVIEW_WARNING) {
        len = ccm_text_utf8_cut(text, TOOL_REVIEW_WARNING - 3);
        ccm_text_printf(shown, sizeof(shown), "%.*s...", (int)len, text);
        len += 3;
    } else {
        ccm_text_copy(shown, sizeof(shown), text);
    }
    *left -= len;
    ccm_jsonw_str(w, NULL, shown);
}

/* As many as the API server passes on, errors first; the last place is for how many are missing. */
static void answer_write_warnings(struct ccm_jsonw *w, const struct findings *findings, bool errors)
{
    size_t left = TOOL_REVIEW_WARNINGS - TOOL_REVIEW_WARNING;
    size_t wanted = 0;
    size_t shown = 0;

    ccm_jsonw_open(w, "warnings", '[');
    for (int round = errors ? 0 : 1; round < 2; round++) {
        for (size_t i = 0; i < findings->len; i++) {
            const struct finding *one = &findings->items[i];

            if ((one->level == CCM_LEVEL_ERROR) != (round == 0)) {
                continue;
            }
            wanted++;
            if (left >= TOOL_REVIEW_WARNING) {
                answer_write_warning(w, one->text, &left);
                shown++;
            }
        }
    }
    if (shown < wanted) {
        char more[TOOL_REVIEW_WARNING];

        ccm_text_printf(more, sizeof(more), "%zu more: `ccmd lint` shows all", wanted - shown);
        ccm_jsonw_str(w, NULL, more);
    }
    ccm_jsonw_close(w, ']');
}

static void answer_write_refusal(struct ccm_jsonw *w, const struct findings *findings,
                                 const struct findings *before)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = MESSAGE_MAX * 8 };
    CCM_CLEANUP(ccm_freep) char *message = NULL;
    size_t count = 0;

    for (size_t i = 0; i < findings->len; i++) {
        const struct finding *one = &findings->items[i];

        if (finding_is_worse(one, before)) {
            ccm_buf_addf(&text, "%s%s", count == 0 ? "" : "; ", one->text);
            count++;
        }
    }
    const size_t len = ccm_text_utf8_cut(ccm_buf_str(&text), MESSAGE_MAX);

    message = ccm_text_format("%zu error%s: %.*s%s", count, count == 1 ? "" : "s", (int)len,
                              ccm_buf_str(&text), len < text.len ? "..." : "");
    ccm_jsonw_open(w, "status", '{');
    ccm_jsonw_str(w, "status", "Failure");
    ccm_jsonw_str(w, "message", message == NULL ? "out of memory" : message);
    ccm_jsonw_str(w, "reason", "Invalid");
    ccm_jsonw_i64(w, "code", UNPROCESSABLE);
    ccm_jsonw_close(w, '}');
}

static bool review_is_worse(const struct findings *findings, const struct findings *before)
{
    for (size_t i = 0; i < findings->len; i++) {
        if (finding_is_worse(&findings->items[i], before)) {
            return true;
        }
    }
    return false;
}

static int review_look(const struct tool_review *review, const struct request *request,
                       struct ccm_jsonw *w, enum tool_review_result *ret)
{
    CCM_CLEANUP(findings_fini) struct findings findings = { 0 };
    CCM_CLEANUP(findings_fini) struct findings before = { 0 };
    int r = findings_collect(review, request->object, &findings);

    if (r == 0 && review->denies && request->before != NULL) {
        r = findings_collect(review, request->before, &before);
    }
    if (r < 0) {
        return r;
    }

    const bool denied = review->denies && review_is_worse(&findings, &before);

    *ret = denied             ? TOOL_REVIEW_DENIED
           : findings.len > 0 ? TOOL_REVIEW_WARNED
                              : TOOL_REVIEW_ALLOWED;
    answer_begin(w, request->uid, !denied);
    if (denied) {
        answer_write_refusal(w, &findings, &before);
        ccm_log_info(&review_log, "%s: refused: %s", request->key, findings.items[0].text);
    }
    if (findings.len > 0) { /* errors of a refusal stand in its message */
        answer_write_warnings(w, &findings, !denied);
    }
    return 0;
}

static unsigned review_refuse(struct tool_review *review, struct ccm_buf *answer, unsigned status,
                              const char *why)
{
    (void)atomic_fetch_add(&review->counts[TOOL_REVIEW_BAD],
                           1); /* the value before is not needed */
    ccm_buf_addf(answer, "%s\n", why);
    return status;
}

unsigned tool_review_answer(struct tool_review *review, const char *body, size_t len,
                            struct ccm_buf *answer)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    struct ccm_jsonw w = { .buf = answer };
    enum tool_review_result result = TOOL_REVIEW_ALLOWED;
    struct request request = { 0 };
    const cJSON *inner = NULL;
    int r = 0;

    if (ccm_json_parse(body, len, &json) < 0) {
        return review_refuse(review, answer, TOOL_REVIEW_STATUS_BAD, "the body is no JSON");
    }
    if (strcmp(ccm_json_text(json, "kind"), "AdmissionReview") != 0 ||
        strcmp(ccm_json_text(json, "apiVersion"), API_VERSION) != 0) {
        return review_refuse(review, answer, TOOL_REVIEW_STATUS_BAD,
                             "the body is no AdmissionReview of " API_VERSION);
    }
    inner = ccm_json_get(json, "request");
    request.uid = ccm_json_text(inner, "uid");
    if (request.uid[0] == '\0' || strlen(request.uid) > UID_MAX) {
        return review_refuse(review, answer, TOOL_REVIEW_STATUS_BAD, "request.uid is missing");
    }
    if (request_is_of_interest(inner, &request)) {
        r = review_look(review, &request, &w, &result);
    } else {
        answer_begin(&w, request.uid, true);
    }
    if (r < 0) {
        return review_refuse(review, answer, TOOL_REVIEW_STATUS_FULL, "out of memory");
    }
    ccm_jsonw_close_all(&w, "}}");
    (void)atomic_fetch_add(&review->counts[result], 1); /* as above */
    return TOOL_REVIEW_STATUS_OK;
}
