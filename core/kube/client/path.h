/* Paths of objects and collections of the API. */
#ifndef CCM_KUBE_PATH_H
#define CCM_KUBE_PATH_H

#include "util/buf.h"

#include <stdint.h>

#define KUBE_PATH_MAX 2048

/*
 * "/api/v1/namespaces/NAMESPACE/services/NAME", with "/SUBRESOURCE" unless that is NULL or "".
 * kind: CCM_KIND_SERVICE, _ENDPOINT_SLICE, _NODE (its namespace is not looked at) or _POD. NULL, or
 * the reason why there is no such path, static text; lack of memory shows in the buffer.
 */
const char *kube_path(struct ccm_buf *path, uint64_t kind, const char *namespace_, const char *name,
                      const char *subresource);

/* What is between the slashes, not escaped. */
struct kube_path_raw {
    const char *api_version; /* "v1", "apps/v1" */
    const char *resource;    /* "deployments" */
    const char *namespace_;  /* NULL or "" = none */
    const char *name;        /* NULL = of the collection */
    const char *subresource; /* NULL or "" = none */
};

/* "/apis/apps/v1/namespaces/NAMESPACE/deployments/NAME/SUBRESOURCE" of any resource. As
 * kube_path().
 */
const char *kube_path_raw(struct ccm_buf *path, const struct kube_path_raw *raw);

#endif
