/*
 * Readiness gates: a pod that names our condition counts as ready only when we say so, and we say
 * so when it is a backend. Such pods are not ready in their EndpointSlice, so they are asked for
 * one by one; a pod without our gate is asked for once per address. A pod that the slice calls
 * ready has been told already, by definition of the API, and is not asked for, except when it is no
 * backend after all, or when the Service publishes addresses that are not ready: then once per
 * address and verdict. May block. One thread per struct.
 */
#ifndef CCM_LBC_READINESS_H
#define CCM_LBC_READINESS_H

#include "ccm/plugin.h"
#include "lbc/model/keys.h"
#include "util/attr.h"
#include "util/buf.h"
#include "util/strmap.h"

#include <stdbool.h>
#include <stddef.h>

struct lbc_gated_pod {
    char *name;
    char *uid;
    char *address;
    char *said; /* reason of our condition as it is now, "" = none */
};

struct lbc_readiness {
    const struct ccm_host *host;
    const struct ccm_request *req;
    const struct ccm_service *service;
    struct ccm_strmap *accepted; /* by address: may take traffic though it is not ready */
    struct lbc_gated_pod *pods;  /* the same */
    size_t len;
    size_t cap;
    bool waiting; /* there are pods that may become acceptable without any change of a slice */
    const struct ccm_object *const *slices; /* those that were looked at */
    size_t slice_count;
    struct ccm_buf *plan; /* dry run: what would be told, one line each; NULL: it is told */
    struct ccm_strmap *pod_states; /* the caller's, see lbc_readiness_collect() */
};

/*
 * Look at the pods that are not ready. *told ("pod/address" -> what they know, "" = it has no gate
 * of ours) is kept by the caller between passes; NULL the first time; replaced. A pod that cannot
 * be read counts as waiting. 0 or -ENOMEM. The slices must live as long as `ret`, which the caller
 * finishes (host, req, service and plan set, else zeroed) in any case.
 */
CCM_NODISCARD int lbc_readiness_collect(struct lbc_readiness *ret,
                                        const struct ccm_object *const *slices, size_t count,
                                        struct ccm_strmap **pod_states);

/* Tell the pods: `invalid` ("a,b") are addresses that could not be added, the others were. Writes
 * only what is news. 0 or negative with err; pods that are gone are success. */
CCM_NODISCARD int lbc_readiness_publish(struct lbc_readiness *readiness, const char *invalid,
                                        struct ccm_error *err);

void lbc_readiness_fini(struct lbc_readiness *readiness);

#endif
