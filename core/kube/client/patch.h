/* Changing one object of the API server by a patch. Thread-safe; blocks. */
#ifndef CCM_KUBE_PATCH_H
#define CCM_KUBE_PATCH_H

#include "kube/client/client.h"

/*
 * Services, Nodes and Pods, merge or strategic, the object or a subresource ("status"). deadline_ms
 * is monotonic (0 = 20 s from now); cancel may be NULL. One request, no retry. 0, or negative with
 * err: as kube_do(); CCM_ERROR_BUG (-EINVAL) for a patch that cannot be sent: unknown kind or
 * type, a name that is none, no body. *ret: the answer, which is the object as it is now; the
 * caller's. ret may be NULL.
 */
CCM_NODISCARD int kube_patch(struct kube_client *client, const struct ccm_cancel *cancel,
                             int64_t deadline_ms, const struct ccm_patch *patch,
                             struct ccm_http_response **ret, struct ccm_error *err);

#endif
