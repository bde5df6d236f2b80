#include "kube/client/patch.h"

#include "kube/client/path.h"
#include "util/text.h"

static bool can_patch(uint64_t kind)
{
    return kind == CCM_KIND_SERVICE || kind == CCM_KIND_NODE || kind == CCM_KIND_POD;
}

static const char *content_type_of(uint64_t type)
{
    switch (type) {
    case CCM_PATCH_MERGE:
        return "application/merge-patch+json";
    case CCM_PATCH_STRATEGIC:
        return "application/strategic-merge-patch+json";
    default:
        return NULL;
    }
}

int kube_patch(struct kube_client *client, const struct ccm_cancel *cancel, int64_t deadline_ms,
               const struct ccm_patch *patch, struct ccm_http_response **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf path = { .max = KUBE_PATH_MAX };
    const char *type = content_type_of(patch->type);
    const char *wrong = can_patch(patch->kind) ? kube_path(&path, patch->kind, patch->namespace_,
                                                           patch->name, patch->subresource)
                                               : "objects of this kind cannot be patched";

    if (wrong == NULL && type == NULL) {
        wrong = "unknown type of patch";
    }
    if (wrong == NULL && ccm_text_empty(patch->body)) {
        wrong = "it has no body";
    }
    if (wrong != NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, "patch: %s", wrong);
    }
    if (ccm_buf_error(&path) < 0) {
        return ccm_error_nomem(err);
    }

    const struct kube_call call = {
        .method = "PATCH",
        .path = ccm_buf_str(&path),
        .content_type = type,
        .body = patch->body,
        .deadline_ms = deadline_ms,
        .cancel = cancel,
    };

    return kube_do(client, &call, ret, err);
}
