/*
 * Who should take the traffic of one Service port: from nodes and endpoints to candidates, before
 * pod addresses are resolved to network interfaces. Pure. Every thread.
 */
#ifndef CCM_SERVICE_CANDIDATE_H
#define CCM_SERVICE_CANDIDATE_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "service/backend.h"
#include "service/endpoint.h"
#include "service/node.h"
#include "service/weight.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ccm_backend_mode {
    CCM_MODE_CLUSTER, /* every node, at the node port */
    CCM_MODE_LOCAL,   /* nodes with endpoints, at the node port, by number of pods */
    CCM_MODE_ENI,     /* every endpoint, at its own address */
};

struct ccm_candidate {
    const char *address;               /* of the pod or, by_address, the node; "" for an instance */
    const char *instance_id;           /* "" where the address counts */
    const struct ccm_node_entry *node; /* NULL for a pod */
    uint16_t port;                     /* 0 = any */
    bool leaving;                      /* as in struct ccm_backend */
    uint32_t pods;
    uint32_t weight;
};

struct ccm_candidates {
    struct ccm_candidate *items;
    size_t len;
    size_t cap;
    enum ccm_hold hold;
    const char *nameless; /* address of an endpoint that names no node, and is passed over; NULL */
    bool by_address; /* the backends are addresses (group type Ip): nothing is to be resolved */
};

struct ccm_candidate_input {
    const struct ccm_service *service;
    const struct ccm_object *const *slices; /* of this Service */
    size_t slice_count;
    struct ccm_node_table *nodes; /* its `pods` counters are scratch space */
    enum ccm_backend_mode mode;
    enum ccm_families families;        /* of the endpoints */
    bool any_port;                     /* ENI: the group is for all ports */
    bool by_address;                   /* pods and nodes (by InternalIP) are known by address */
    bool draining;                     /* pods that are being stopped stay, without new traffic */
    const struct ccm_strmap *accepted; /* pods that count as ready all the same; may be NULL */
    struct ccm_weight_rule weight;     /* `local` is set from the mode */
};

/* The mode: "eni" or another non-empty value of the backend-type annotation decides, else
 * default_eni. */
#define CCM_BACKEND_TYPE_KEY "service.beta.kubernetes.io/backend-type"
enum ccm_backend_mode ccm_backend_mode(const struct ccm_service *service, bool default_eni);

/*
 * Candidates of one port; strings are borrowed from the objects. 0, -ENOMEM, or -EINVAL
 * (CCM_ERROR_TERMINAL: no node port). The caller finishes `ret` in any case.
 */
CCM_NODISCARD int ccm_candidates_build(const struct ccm_candidate_input *in,
                                       const struct ccm_service_port *port,
                                       struct ccm_candidates *ret, struct ccm_error *err);
void ccm_candidates_fini(struct ccm_candidates *candidates);

/* Let the list have at least `need` sets; new ones are empty. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_candidates_reserve(struct ccm_candidates **sets, size_t *cap, size_t need);

/* What the backends of a port are reached at, as names of groups have it: the name or number of the
 * target port where pods are backends, else the node port. Cut to size. */
void ccm_candidates_target(enum ccm_backend_mode mode, const struct ccm_service_port *port,
                           char *ret, size_t size);

#endif
