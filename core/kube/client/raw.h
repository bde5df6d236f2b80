/* Objects of any resource: read, made, changed, deleted, one request each. Thread-safe; blocks. */
#ifndef CCM_KUBE_RAW_H
#define CCM_KUBE_RAW_H

#include "ccm/host.h"
#include "kube/client/client.h"

enum kube_raw_verb {
    KUBE_RAW_FETCH,
    KUBE_RAW_CREATE,
    KUBE_RAW_UPDATE,
    KUBE_RAW_PATCH,
    KUBE_RAW_DELETE
};

struct kube_raw_limits {
    const struct ccm_cancel *cancel; /* may be NULL */
    int64_t deadline_ms;             /* monotonic; 0 = 20 s from now */
};

/*
 * What host->fetch_raw() and the four that write do; see there what counts of `call`. *ret: the
 * answer, the caller's. 0, or negative with err: as kube_do(); CCM_ERROR_BUG (-EINVAL) for a call
 * that cannot be sent.
 */
CCM_NODISCARD int kube_raw(struct kube_client *client, enum kube_raw_verb verb,
                           const struct ccm_raw_call *call, const struct kube_raw_limits *limits,
                           struct ccm_http_response **ret, struct ccm_error *err);

/* The object of such an answer. *ret: one reference, the caller's, or NULL after a write whose
 * answer is no object. 0, or negative with err: TERMINAL when what was fetched cannot be decoded,
 * TRANSIENT when it is another object. */
CCM_NODISCARD int kube_raw_take(enum kube_raw_verb verb, const struct ccm_raw_call *call,
                                const struct ccm_http_response *response,
                                const struct ccm_object **ret, struct ccm_error *err);

#endif
