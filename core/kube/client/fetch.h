/* Reading one object of the API server, past every cache. Thread-safe; blocks. */
#ifndef CCM_KUBE_FETCH_H
#define CCM_KUBE_FETCH_H

#include "ccm/plugin.h"
#include "kube/client/client.h"

struct kube_fetch_name {
    uint64_t kind;
    const char *namespace_;
    const char *name;
    const struct ccm_watch *const *watches; /* as in struct kube_decode_kind */
};

/*
 * One GET of a Service, EndpointSlice, Node (namespace_ is not looked at) or Pod. deadline_ms is
 * monotonic (0 = 20 s from now); cancel may be NULL. *ret: one reference, the caller's. 0, or
 * negative with err: as kube_do(); TERMINAL when the answer cannot be decoded, TRANSIENT when
 * it is about another object; CCM_ERROR_BUG (-EINVAL) for a kind or a name that has no path.
 */
CCM_NODISCARD int kube_fetch(struct kube_client *client, const struct ccm_cancel *cancel,
                             int64_t deadline_ms, const struct kube_fetch_name *what,
                             const struct ccm_object **ret, struct ccm_error *err);

#endif
