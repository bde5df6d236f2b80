/*
 * Endpoints with the address of a node. More listens there than the Service, and an EndpointSlice
 * written by hand must not lead to it: such an endpoint counts only when it names a pod of its
 * namespace that has the network of its node (hostNetwork) and that address. The pod is read once
 * per uid and address. A pod without that network, or without a uid in the endpoint, is read again
 * when its EndpointSlice changes. The caller drops what is known in each audit: the endpoint may
 * outlive the pod. May block. One thread per struct.
 */
#ifndef CCM_LBC_HOSTED_H
#define CCM_LBC_HOSTED_H

#include "ccm/plugin.h"
#include "lbc/model/endpoint.h"
#include "util/strmap.h"

#include <stdbool.h>
#include <stddef.h>

struct lbc_hosted {
    const struct ccm_host *host;
    const struct ccm_request *req;
    const char *key; /* of the Service, for the log */
    struct ccm_strmap
        *known; /* what earlier passes found: the caller moves it in; NULL = nothing */
    struct ccm_strmap *found; /* out: what holds from now on, for the next pass to move in */
    size_t asked;
    bool failed; /* out: the API server did not give a pod, and was not asked for others; retry */
    bool more;   /* out: there are more pods than one pass reads: come again */
};

/* An lbc_judge_fn: `self` is the struct. LBC_OWN_RULE_NONE for an address of no node. */
int lbc_hosted_judge(void *self, const struct lbc_endpoint_ref *ref);

/* Frees both maps. */
void lbc_hosted_fini(struct lbc_hosted *hosted);

#endif
