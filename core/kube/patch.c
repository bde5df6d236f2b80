#include "kube/patch.h"

#include "util/buf.h"
#include "util/text.h"

#include <string.h>

#define PATH_MAX_BYTES 2048

static const char *resource_of(uint64_t kind, bool *ret_namespaced)
{
    *ret_namespaced = kind != CCM_KIND_NODE;
    switch (kind) {
    case CCM_KIND_SERVICE:
        return "services";
    case CCM_KIND_NODE:
        return "nodes";
    case CCM_KIND_POD:
        return "pods";
    default:
        return NULL;
    }
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

/* Escaping takes care of slashes; these would still leave the folder of the kind. */
static bool is_segment(const char *text)
{
    return !ccm_text_empty(text) && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

static const char *build_path(const struct ccm_patch *patch, struct ccm_buf *path)
{
    bool namespaced;
    const char *resource = resource_of(patch->kind, &namespaced);

    if (resource == NULL) {
        return "objects of this kind cannot be patched";
    }
    if (!is_segment(patch->name) || (namespaced && !is_segment(patch->namespace_))) {
        return "the object has no valid name";
    }
    ccm_buf_adds(path, "/api/v1/");
    if (namespaced) {
        ccm_buf_adds(path, "namespaces/");
        ccm_kube_escape(path, patch->namespace_);
        ccm_buf_addc(path, '/');
    }
    ccm_buf_addf(path, "%s/", resource);
    ccm_kube_escape(path, patch->name);
    if (!ccm_text_empty(patch->subresource)) {
        if (!is_segment(patch->subresource)) {
            return "the subresource has no valid name";
        }
        ccm_buf_addc(path, '/');
        ccm_kube_escape(path, patch->subresource);
    }
    return NULL;
}

int ccm_kube_patch(struct ccm_kube_client *client, const struct ccm_cancel *cancel,
                   int64_t deadline_ms, const struct ccm_patch *patch, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf path = { .max = PATH_MAX_BYTES };
    const char *type = content_type_of(patch->type);
    const char *wrong = build_path(patch, &path);

    if (wrong == NULL && type == NULL) {
        wrong = "unknown type of patch";
    }
    if (wrong == NULL && ccm_text_empty(patch->body)) {
        wrong = "it has no body";
    }
    if (wrong == NULL && ccm_buf_error(&path) == -EMSGSIZE) {
        wrong = "the name of the object is too long";
    }
    if (wrong != NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, "patch: %s", wrong);
    }
    if (ccm_buf_error(&path) < 0) {
        return ccm_error_nomem(err);
    }

    const struct ccm_kube_call call = {
        .method = "PATCH",
        .path = ccm_buf_str(&path),
        .content_type = type,
        .body = patch->body,
        .deadline_ms = deadline_ms,
        .cancel = cancel,
    };

    return ccm_kube_do(client, &call, NULL, err);
}
