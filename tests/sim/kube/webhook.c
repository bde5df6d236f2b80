#include "webhook.h"

#include "jx.h"
#include "status.h"
#include "store.h"
#include "write.h"

#include "util/base64.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>

#define ANSWER_MAX ((size_t)1024 * 1024)
#define WAIT_S     10 /* timeoutSeconds by default */

/* --- whether it is asked --- */

static bool list_has(const cJSON *rule, const char *name, const char *value)
{
    for (const cJSON *one = ccm_json_items(rule, name); one != NULL; one = one->next) {
        if (cJSON_IsString(one) &&
            (strcmp(one->valuestring, "*") == 0 || strcmp(one->valuestring, value) == 0)) {
            return true;
        }
    }
    return false;
}

static bool webhook_is_asked(const cJSON *webhook, const struct ccm_ks_call *call,
                             const char *operation)
{
    for (const cJSON *rule = ccm_json_items(webhook, "rules"); rule != NULL; rule = rule->next) {
        if (call->sub[0] == '\0' && list_has(rule, "operations", operation) &&
            list_has(rule, "apiGroups", call->kind->group) &&
            list_has(rule, "apiVersions", call->kind->version) &&
            list_has(rule, "resources", call->kind->plural)) {
            return true;
        }
    }
    return false;
}

/* --- the question --- */

static void question_add_object(struct ccm_jsonw *w, const char *name,
                                const struct ccm_ks_call *call, const cJSON *object)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };

    if (object != NULL) {
        ccm_ks_object_print_json(object, call->kind, true, &text);
    }
    ccm_jsonw_raw(w, name, text.len == 0 ? "null" : ccm_buf_str(&text));
}

static void question_write(const struct ccm_ks_call *call, const cJSON *object, const cJSON *old,
                           struct ccm_buf *body)
{
    struct ccm_jsonw w = { .buf = body };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "kind", "AdmissionReview");
    ccm_jsonw_str(&w, "apiVersion", "admission.k8s.io/v1");
    ccm_jsonw_open(&w, "request", '{');
    ccm_jsonw_str(&w, "uid", "0b4a0f6e-0000-4000-8000-000000000001");
    ccm_jsonw_open(&w, "kind", '{');
    ccm_jsonw_str(&w, "group", call->kind->group);
    ccm_jsonw_str(&w, "version", call->kind->version);
    ccm_jsonw_str(&w, "kind", call->kind->kind);
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_open(&w, "resource", '{');
    ccm_jsonw_str(&w, "group", call->kind->group);
    ccm_jsonw_str(&w, "version", call->kind->version);
    ccm_jsonw_str(&w, "resource", call->kind->plural);
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_str(&w, "name", ccm_json_text(ccm_json_get(object, "metadata"), "name"));
    ccm_jsonw_str(&w, "namespace", call->ns);
    ccm_jsonw_str(&w, "operation", old == NULL ? "CREATE" : "UPDATE");
    question_add_object(&w, "object", call, object);
    question_add_object(&w, "oldObject", call, old);
    ccm_jsonw_bool(&w, "dryRun", false);
    ccm_jsonw_close_all(&w, "}}");
}

/* --- the way there --- */

static size_t answer_take(char *data, size_t size, size_t count, void *arg)
{
    ccm_buf_add(arg, data, size * count);
    return ccm_buf_error(arg) < 0 ? 0 : size * count;
}

/* The answer; NULL with a reason: it could not be asked. */
static cJSON *webhook_ask(const cJSON *webhook, const struct ccm_buf *body,
                          char why[static CURL_ERROR_SIZE])
{
    const cJSON *config = ccm_json_get(webhook, "clientConfig");
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ca = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf answer = { .max = ANSWER_MAX };
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    CURL *curl = curl_easy_init();
    cJSON *json = NULL;
    long code = 0;

    ccm_text_copy(why, CURL_ERROR_SIZE, "it has no url, or its caBundle is none");
    if (curl != NULL && headers != NULL && ccm_json_str(config, "url") != NULL &&
        ccm_base64_decode(&ca, ccm_json_text(config, "caBundle")) == 0 && ca.len > 0) {
        struct curl_blob blob = { (void *)(uintptr_t)ccm_buf_str(&ca), ca.len, CURL_BLOB_COPY };

        /* Each of these options is known, and memory is the only thing that they can lack. */
        (void)curl_easy_setopt(curl, CURLOPT_URL, ccm_json_str(config, "url"));
        (void)curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &blob);
        (void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
        (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        (void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
        (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT,
                               (long)ccm_json_i64(webhook, "timeoutSeconds", WAIT_S));
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)body->len);
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, ccm_buf_str(body));
        (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, answer_take);
        (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
        if (curl_easy_perform(curl) == CURLE_OK &&
            curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code) == CURLE_OK) {
            ccm_text_printf(why, CURL_ERROR_SIZE, "answer %ld, or no AdmissionReview", code);
            if (code == 200 && ccm_json_parse(ccm_buf_str(&answer), answer.len, &json) < 0) {
                json = NULL;
            }
        }
    }
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    return json;
}

/* --- what it says --- */

static int webhook_follow(struct ccm_ks_call *call, const char *name, const cJSON *response)
{
    const cJSON *status = ccm_json_get(response, "status");
    const char *message = ccm_json_text(status, "message");
    const char *reason = ccm_json_text(status, "reason");

    for (const cJSON *one = ccm_json_items(response, "warnings"); one != NULL; one = one->next) {
        if (cJSON_IsString(one)) {
            ccm_ks_write_warn(call, one->valuestring);
        }
    }
    if (ccm_json_bool(response, "allowed", false)) {
        return 0;
    }
    ccm_ks_status(call->reply, (unsigned)ccm_json_i64(status, "code", 403),
                  reason[0] == '\0' ? "Forbidden" : reason, NULL,
                  "admission webhook \"%s\" denied the request%s%s", name,
                  message[0] == '\0' ? " without explanation" : ": ", message);
    return -EPERM;
}

static int webhook_review(struct ccm_ks_call *call, const cJSON *webhook,
                          const struct ccm_buf *body)
{
    char why[CURL_ERROR_SIZE] = "";
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = webhook_ask(webhook, body, why);
    const cJSON *response = ccm_json_get(answer, "response");
    const char *name = ccm_json_text(webhook, "name");

    if (response != NULL) {
        return webhook_follow(call, name, response);
    }
    if (strcmp(ccm_json_text(webhook, "failurePolicy"), "Ignore") == 0) {
        return 0;
    }
    ccm_ks_status(call->reply, 500, "InternalError", NULL,
                  "Internal error occurred: failed calling webhook \"%s\": %s", name, why);
    return -EIO;
}

int ccm_ks_webhook_review(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                          const cJSON *object, const cJSON *old)
{
    CCM_CLEANUP(ccm_ks_objects_fini) struct ccm_ks_objects found = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { 0 };
    int r = 0;

    if (ccm_ks_store_count(cluster->store, CCM_KS_WEBHOOKS) == 0) {
        return 0;
    }
    r = ccm_ks_store_list(cluster->store, CCM_KS_WEBHOOKS, "", &found);
    for (size_t i = 0; r == 0 && i < found.len; i++) {
        const cJSON *webhook = ccm_json_items(found.items[i]->json, "webhooks");

        for (; r == 0 && webhook != NULL; webhook = webhook->next) {
            if (!webhook_is_asked(webhook, call, old == NULL ? "CREATE" : "UPDATE")) {
                continue;
            }
            if (body.len == 0) {
                question_write(call, object, old, &body);
            }
            r = webhook_review(call, webhook, &body);
        }
    }
    return r;
}
