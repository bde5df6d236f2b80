/*
 * Readiness gates: a pod that names our condition counts as ready only when we say so, and we say
 * so when it is a backend. Such pods are not ready in their EndpointSlice, so they are asked for
 * one by one; a pod without our gate is asked for once per address. May block. One thread per
 * struct.
 */
#ifndef CCM_SERVICE_READINESS_H
#define CCM_SERVICE_READINESS_H

#include "ccm/plugin.h"
#include "util/attr.h"
#include "util/strmap.h"

#include <stdbool.h>
#include <stddef.h>

#define CCM_READINESS_PREFIX "service.readiness.alibabacloud.com/"

struct ccm_gated_pod {
    char *name;
    char *uid;
    char *address;
    char *said; /* reason of our condition as it is now, "" = none */
};

struct ccm_readiness {
    const struct ccm_host *host;
    const struct ccm_request *req;
    const struct ccm_service *service;
    struct ccm_strmap *accepted; /* by address: may take traffic though it is not ready */
    struct ccm_gated_pod *pods;  /* the same */
    size_t len;
    size_t cap;
    bool waiting; /* there are pods that may become acceptable without any change of a slice */
};

/*
 * Look at the pods that are not ready. *gateless ("pod/address" of those without our gate) is kept
 * by the caller between passes; NULL the first time; replaced. A pod that cannot be read counts as
 * waiting. 0 or -ENOMEM. The caller finishes `ret` (host, req and service set, else zeroed) in any
 * case.
 */
CCM_NODISCARD int ccm_readiness_look(struct ccm_readiness *ret,
                                     const struct ccm_object *const *slices, size_t count,
                                     struct ccm_strmap **gateless);

/* Tell the pods: `invalid` ("a,b") are addresses that could not be added, the others were. Writes
 * only what is news. 0 or negative with err; pods that are gone are success. */
CCM_NODISCARD int ccm_readiness_tell(const struct ccm_readiness *readiness, const char *invalid,
                                     struct ccm_error *err);

void ccm_readiness_fini(struct ccm_readiness *readiness);

#endif
