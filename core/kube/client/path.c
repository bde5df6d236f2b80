#include "kube/client/path.h"

#include "ccm/object.h"
#include "kube/client/client.h"
#include "util/text.h"
#include "util/url.h"

#include <string.h>

static const struct resource {
    const char *group; /* NULL = no such kind */
    const char *name;
    bool cluster; /* without a namespace */
} resources[] = {
    [CCM_KIND_SERVICE] = { "/api/v1", "services", false },
    [CCM_KIND_ENDPOINT_SLICE] = { "/apis/discovery.k8s.io/v1", "endpointslices", false },
    [CCM_KIND_NODE] = { "/api/v1", "nodes", true },
    [CCM_KIND_POD] = { "/api/v1", "pods", false },
};

/* Escaping takes care of slashes; these would still leave the folder of the kind. */
static bool is_segment(const char *text)
{
    return !ccm_text_empty(text) && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

static const char *append_subresource(struct ccm_buf *path, const char *subresource)
{
    if (!ccm_text_empty(subresource)) {
        if (!is_segment(subresource)) {
            return "the subresource has no valid name";
        }
        ccm_buf_addc(path, '/');
        ccm_url_escape(path, subresource);
    }
    return ccm_buf_error(path) == -EMSGSIZE ? "the name of the object is too long" : NULL;
}

const char *kube_path(struct ccm_buf *path, uint64_t kind, const char *namespace_, const char *name,
                      const char *subresource)
{
    const struct resource *resource = kind < CCM_ARRAY_LEN(resources) ? &resources[kind] : NULL;

    if (resource == NULL || resource->group == NULL) {
        return "no path is known for this kind";
    }
    if (!is_segment(name) || (!resource->cluster && !is_segment(namespace_))) {
        return "the object has no valid name";
    }
    ccm_buf_addf(path, "%s/", resource->group);
    if (!resource->cluster) {
        ccm_buf_adds(path, "namespaces/");
        ccm_url_escape(path, namespace_);
        ccm_buf_addc(path, '/');
    }
    ccm_buf_addf(path, "%s/", resource->name);
    ccm_url_escape(path, name);
    return append_subresource(path, subresource);
}

/* "v1", "apps/v1"; or "deployments" with most_slashes 0. */
static bool is_api_text(const char *text, size_t most_slashes)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-/";
    size_t slashes = 0;

    if (ccm_text_empty(text) || text[strspn(text, letters)] != '\0' || strstr(text, "..") != NULL) {
        return false;
    }
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '/' && (p == text || p[1] == '\0' || ++slashes > most_slashes)) {
            return false;
        }
    }
    return true;
}

const char *kube_path_raw(struct ccm_buf *path, const struct kube_path_raw *raw)
{
    if (!is_api_text(raw->api_version, 1) || !is_api_text(raw->resource, 0)) {
        return "it needs an api_version such as \"apps/v1\" and a resource such as \"deployments\"";
    }
    if (!ccm_text_empty(raw->namespace_) && !is_segment(raw->namespace_)) {
        return "the namespace has no valid name";
    }
    ccm_buf_addf(path, "%s/%s/", strchr(raw->api_version, '/') == NULL ? "/api" : "/apis",
                 raw->api_version);
    if (!ccm_text_empty(raw->namespace_)) {
        ccm_buf_adds(path, "namespaces/");
        ccm_url_escape(path, raw->namespace_);
        ccm_buf_addc(path, '/');
    }
    ccm_buf_adds(path, raw->resource);
    if (raw->name == NULL) {
        return ccm_buf_error(path) == -EMSGSIZE ? "the name of the namespace is too long" : NULL;
    }
    if (!is_segment(raw->name)) {
        return "the object has no valid name";
    }
    ccm_buf_addc(path, '/');
    ccm_url_escape(path, raw->name);
    return append_subresource(path, raw->subresource);
}
