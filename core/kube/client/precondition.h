/* Preconditions of a write that go into its body. Pure; every thread. */
#ifndef CCM_KUBE_PRECONDITION_H
#define CCM_KUBE_PRECONDITION_H

#include "ccm/error.h"
#include "util/attr.h"
#include "util/buf.h"

/*
 * Append the JSON object `body` with metadata.uid and metadata.resourceVersion set to these (NULL
 * or
 * "" = left as they are); all else stays as it was written, numbers included. 0; -EINVAL with err
 * (CCM_ERROR_BUG): the body is no object, or says something else about one of them. -ENOMEM.
 */
CCM_NODISCARD int kube_precondition_add(const char *body, const char *uid,
                                        const char *resource_version, struct ccm_buf *ret,
                                        struct ccm_error *err);

#endif
