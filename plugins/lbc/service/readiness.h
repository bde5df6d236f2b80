/*
 * Readiness gates: a pod that names our condition becomes ready when we say so, which is when it is
 * a backend. Its EndpointSlice calls it not ready until then, so such pods are fetched one by one;
 * one without our gate is fetched once per address. A pod that the slice calls ready has our word
 * already, and is fetched only when it is no backend after all, or when the Service publishes
 * addresses that are not ready: once per address and verdict. May block. One thread per struct.
 */
#ifndef CCM_LBC_READINESS_H
#define CCM_LBC_READINESS_H

#include "ccm/plugin.h"
#include "lbc/keys.h"
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
 * Look at the pods that are not ready. *pod_states ("pod/address" -> reason that we gave, "" = no
 * gate of ours; "pod/address version" of its slice: it did not exist) is kept by the caller between
 * passes, NULL at first, and replaced. A pod that cannot be read counts as waiting, one that does
 * not exist is not asked for again before its slice changes. The slices must outlive `ret`, which
 * has host, req, service and plan set, and is finished by the caller in any case. 0 or -ENOMEM.
 */
CCM_NODISCARD int lbc_readiness_collect(struct lbc_readiness *ret,
                                        const struct ccm_object *const *slices, size_t count,
                                        struct ccm_strmap **pod_states);

/* Write the condition of pods, where it changes. invalid: addresses ("a,b") that could not be
 * added. 0 or negative with err; pods that are gone are success. */
CCM_NODISCARD int lbc_readiness_publish(struct lbc_readiness *readiness, const char *invalid,
                                        struct ccm_error *err);

void lbc_readiness_fini(struct lbc_readiness *readiness);

#endif
