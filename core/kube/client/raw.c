#include "kube/client/raw.h"

#include "kube/client/path.h"
#include "kube/client/precondition.h"
#include "kube/object/decode.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/jsonw.h"
#include "util/text.h"

#define BODY_MAX KUBE_DECODE_MAX_TEXT

static const struct verb {
    const char *method;
    const char *name;
    bool has_body;
} verbs[] = {
    [KUBE_RAW_FETCH] = { "GET", "fetch_raw", false },
    [KUBE_RAW_CREATE] = { "POST", "create_raw", true },
    [KUBE_RAW_UPDATE] = { "PUT", "update_raw", true },
    [KUBE_RAW_PATCH] = { "PATCH", "patch_raw", true },
    [KUBE_RAW_DELETE] = { "DELETE", "delete_raw", false },
};

static const char *raw_content_type(enum kube_raw_verb verb, const struct ccm_raw_call *call)
{
    if (verb != KUBE_RAW_PATCH) {
        return "application/json";
    }
    switch (call->patch) {
    case CCM_PATCH_MERGE:
        return "application/merge-patch+json";
    case CCM_PATCH_STRATEGIC:
        return "application/strategic-merge-patch+json";
    case CCM_PATCH_JSON:
        return "application/json-patch+json";
    default:
        return NULL;
    }
}

static bool has_preconditions(const struct ccm_raw_call *call)
{
    return !ccm_text_empty(call->uid) || !ccm_text_empty(call->resource_version);
}

/* The reason why it cannot be sent, or NULL. */
static const char *raw_find_fault(enum kube_raw_verb verb, const struct ccm_raw_call *call)
{
    const bool sub = !ccm_text_empty(call->subresource);

    if (verbs[verb].has_body && ccm_text_empty(call->body)) {
        return "it has no body";
    }
    if (raw_content_type(verb, call) == NULL) {
        return "unknown type of patch";
    }
    if (verb == KUBE_RAW_CREATE) {
        return sub == ccm_text_empty(call->name) ? "a name goes with a subresource only" : NULL;
    }
    if (verb == KUBE_RAW_DELETE && sub) {
        return "subresources cannot be deleted";
    }
    if (verb == KUBE_RAW_PATCH && call->patch == CCM_PATCH_JSON && has_preconditions(call)) {
        return "a JSON patch has its preconditions in itself: \"test\"";
    }
    return ccm_text_empty(call->name) ? "the object has no valid name" : NULL;
}

static void raw_print_delete_options(const struct ccm_raw_call *call, struct ccm_buf *ret)
{
    struct ccm_jsonw w = { .buf = ret };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "kind", "DeleteOptions");
    ccm_jsonw_str(&w, "apiVersion", "v1");
    if (has_preconditions(call)) {
        ccm_jsonw_open(&w, "preconditions", '{');
        if (!ccm_text_empty(call->uid)) {
            ccm_jsonw_str(&w, "uid", call->uid);
        }
        if (!ccm_text_empty(call->resource_version)) {
            ccm_jsonw_str(&w, "resourceVersion", call->resource_version);
        }
        ccm_jsonw_close(&w, '}');
    }
    if (!ccm_text_empty(call->propagation)) {
        ccm_jsonw_str(&w, "propagationPolicy", call->propagation);
    }
    ccm_jsonw_close(&w, '}');
}

/* What is sent; NULL = nothing. */
static int raw_make_body(enum kube_raw_verb verb, const struct ccm_raw_call *call,
                         struct ccm_buf *buf, const char **ret, struct ccm_error *err)
{
    int r = 0;

    *ret = verbs[verb].has_body ? call->body : NULL;
    if (verb == KUBE_RAW_DELETE) {
        raw_print_delete_options(call, buf);
        *ret = ccm_buf_str(buf);
    } else if ((verb == KUBE_RAW_UPDATE || verb == KUBE_RAW_PATCH) && has_preconditions(call)) {
        r = kube_precondition_add(call->body, call->uid, call->resource_version, buf, err);
        *ret = ccm_buf_str(buf);
    }
    if (r < 0) {
        return ccm_error_wrap(err, r, "%s", verbs[verb].name);
    }
    return ccm_buf_error(buf) < 0 ? ccm_error_nomem(err) : 0;
}

/* Something in between that answers for the API server must not pass for it. */
static bool raw_is_asked(const struct ccm_object *object, const struct ccm_raw_call *call)
{
    return ccm_text_equal(object->name, call->name) &&
           ccm_text_equal(object->namespace_, call->namespace_ == NULL ? "" : call->namespace_);
}

int kube_raw_take(enum kube_raw_verb verb, const struct ccm_raw_call *call,
                  const struct ccm_http_response *response, const struct ccm_object **ret,
                  struct ccm_error *err)
{
    CCM_CLEANUP(kube_builder_freep) struct kube_builder *builder = kube_builder_new();
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;
    const struct kube_decode_kind kind = { .kind = CCM_KIND_RAW, .api_version = call->api_version };
    int r;

    *ret = NULL;
    if (builder == NULL) {
        return ccm_error_nomem(err);
    }
    r = kube_decode(builder, &kind, response->body, response->body_len, &object, err);
    if (r < 0 && verb != KUBE_RAW_FETCH) {
        ccm_error_clear(err);
        return 0; /* it was done, and the answer is no object */
    }
    if (r < 0) {
        return ccm_error_wrap(err, r, "fetch_raw %s %s", call->resource, call->name);
    }
    if (verb == KUBE_RAW_FETCH && !raw_is_asked(object, call)) {
        return ccm_error_set(err, -EPROTO, CCM_ERROR_TRANSIENT,
                             "fetch_raw %s %s: the answer is about another object, %s",
                             call->resource, call->name, object->key);
    }
    *ret = CCM_STEAL(object);
    return 0;
}

int kube_raw(struct kube_client *client, enum kube_raw_verb verb, const struct ccm_raw_call *call,
             const struct kube_raw_limits *limits, struct ccm_http_response **ret,
             struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf path = { .max = KUBE_PATH_MAX };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = BODY_MAX };
    const struct kube_path_raw parts = {
        .api_version = call->api_version,
        .resource = call->resource,
        .namespace_ = call->namespace_,
        .name = ccm_text_empty(call->name) ? NULL : call->name,
        .subresource = call->subresource,
    };
    struct kube_call http = {
        .method = verbs[verb].method,
        .content_type = raw_content_type(verb, call),
        .deadline_ms = limits->deadline_ms,
        .cancel = limits->cancel,
    };
    const char *wrong = raw_find_fault(verb, call);
    int r;

    if (wrong == NULL) {
        wrong = kube_path_raw(&path, &parts);
    }
    if (wrong != NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, "%s: %s", verbs[verb].name, wrong);
    }
    if (ccm_buf_error(&path) < 0) {
        return ccm_error_nomem(err);
    }
    http.path = ccm_buf_str(&path);
    r = raw_make_body(verb, call, &body, &http.body, err);
    return r < 0 ? r : kube_do(client, &http, ret, err);
}
