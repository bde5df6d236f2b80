#include "kube/client/path.h"

#include "ccm/object.h"
#include "kube/client/client.h"
#include "util/text.h"

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
        kube_escape(path, namespace_);
        ccm_buf_addc(path, '/');
    }
    ccm_buf_addf(path, "%s/", resource->name);
    kube_escape(path, name);
    if (!ccm_text_empty(subresource)) {
        if (!is_segment(subresource)) {
            return "the subresource has no valid name";
        }
        ccm_buf_addc(path, '/');
        kube_escape(path, subresource);
    }
    return ccm_buf_error(path) == -EMSGSIZE ? "the name of the object is too long" : NULL;
}
