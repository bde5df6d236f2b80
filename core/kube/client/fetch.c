#include "kube/client/fetch.h"

#include "kube/client/path.h"
#include "kube/object/decode.h"
#include "util/cleanup.h"
#include "util/text.h"

static int fetch_decode_answer(const struct kube_fetch_name *asked,
                               const struct ccm_http_response *response,
                               const struct ccm_object **ret, struct ccm_error *err)
{
    CCM_CLEANUP(kube_builder_freep) struct kube_builder *builder = kube_builder_new();
    const struct kube_decode_kind what = { .kind = asked->kind,
                                           .node_info = true,
                                           .watches = asked->watches };

    if (builder == NULL) {
        return ccm_error_nomem(err);
    }
    return kube_decode(builder, &what, response->body, response->body_len, ret, err);
}

/* Something in between that answers for the API server must not pass for it. */
static bool is_asked(const struct ccm_object *object, const struct kube_fetch_name *what)
{
    return ccm_text_equal(object->name, what->name) &&
           ccm_text_equal(object->namespace_, what->kind == CCM_KIND_NODE ? "" : what->namespace_);
}

int kube_fetch(struct kube_client *client, const struct ccm_cancel *cancel, int64_t deadline_ms,
               const struct kube_fetch_name *what, const struct ccm_object **ret,
               struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf path = { .max = KUBE_PATH_MAX };
    CCM_CLEANUP(net_http_response_freep) struct ccm_http_response *response = NULL;
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;
    const char *wrong = kube_path(&path, what->kind, what->namespace_, what->name, NULL);

    if (wrong != NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, "fetch: %s", wrong);
    }
    if (ccm_buf_error(&path) < 0) {
        return ccm_error_nomem(err);
    }

    const struct kube_call call = {
        .method = "GET",
        .path = ccm_buf_str(&path),
        .deadline_ms = deadline_ms,
        .cancel = cancel,
    };
    int r = kube_do(client, &call, &response, err);

    if (r < 0) {
        return r;
    }
    r = fetch_decode_answer(what, response, &object, err);
    if (r < 0) {
        return ccm_error_wrap(err, r, "GET %s", call.path);
    }
    if (!is_asked(object, what)) {
        return ccm_error_set(err, -EPROTO, CCM_ERROR_TRANSIENT,
                             "GET %s: the answer is about another object, %s", call.path,
                             object->key);
    }
    *ret = CCM_STEAL(object);
    return 0;
}
