/*
 * Who should take the traffic of one Service port: from nodes and endpoints to candidates, before
 * pod addresses are resolved to network interfaces. Pure, but for `judge`. Every thread.
 */
#ifndef CCM_LBC_CANDIDATE_H
#define CCM_LBC_CANDIDATE_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "lbc/keys.h"
#include "lbc/model/backend.h"
#include "lbc/model/endpoint.h"
#include "lbc/model/node.h"
#include "lbc/model/own_rule.h"
#include "lbc/model/weight.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the words of lint and of what is refused. */
#define LBC_NO_NODE_PORT                                                                           \
    "nodes as backends need node ports, and the Service has none "                                 \
    "(spec.allocateLoadBalancerNodePorts is false)"

enum lbc_backend_mode {
    LBC_MODE_CLUSTER, /* every node, at the node port */
    LBC_MODE_LOCAL,   /* nodes with endpoints, at the node port, by number of pods */
    LBC_MODE_PODS,    /* every endpoint, at its own address */
};

struct lbc_candidate {
    const char *address;               /* of the pod or, by_address, the node; "" for an instance */
    const char *instance_id;           /* "" where the address counts */
    const struct lbc_node_entry *node; /* NULL for a pod */
    uint64_t owner;                    /* of a pod's address: lbc_endpoint_owner() */
    uint16_t port;                     /* 0 = any */
    bool leaving;                      /* as in struct lbc_backend */
    uint32_t pods;
    uint32_t weight;
};

/* An address that would take the traffic but for a rule of own_rule.h. */
struct lbc_ruled {
    const char *address;
    const char *pod; /* of its endpoint; "" = none */
    uint16_t port;   /* 0 = any */
    enum lbc_own_rule rule;
};

/* Whether the backend is that address, at that port. */
bool lbc_ruled_is(const struct lbc_ruled *ruled, const struct lbc_backend *backend);

struct lbc_candidates {
    struct lbc_candidate *items;
    size_t len;
    size_t cap;
    struct lbc_ruled *ruled;
    size_t ruled_len;
    size_t ruled_cap;
    enum lbc_frozen_by frozen_by;
    const char *nameless; /* address of an endpoint that names no node, and is passed over; NULL */
    const char *podless;  /* the same of one that is no pod and has to be */
    const struct ccm_service_port *port; /* that they are for */
    bool no_ready;                       /* no endpoint of the port is ready */
    char *why;       /* why nobody can serve the port, see empty.h; NULL = somebody can */
    bool by_address; /* the backends are addresses (group type Ip): nothing is to be resolved */
};

/* The rule of own_rule.h by which an address is no backend; or -ENOMEM. */
typedef int lbc_judge_fn(void *self, const struct lbc_endpoint_ref *ref);

struct lbc_candidate_input {
    const struct ccm_service *service;
    const struct ccm_object *const *slices; /* of this Service */
    size_t slice_count;
    struct lbc_node_table *nodes; /* its `pods` counters are scratch space */
    enum lbc_backend_mode mode;
    enum lbc_families families; /* of the endpoints */
    bool any_port;              /* of pods: the group is for all ports */
    bool by_address;            /* pods and nodes (by InternalIP) are known by address */
    bool draining;              /* pods that are being stopped stay, without new traffic */
    bool pods_only; /* what is a backend at its own address has to be a pod of the Service's
                       namespace, by its targetRef */
    const struct ccm_strmap *accepted; /* pods that count as ready all the same; may be NULL */
    lbc_judge_fn *judge;               /* may block; NULL = none does */
    void *judge_self;
    struct lbc_weight_rule weight; /* `local` is set from the mode */
};

/* The mode: LBC_BACKEND_TYPE_PODS or another non-empty value of the backend-type annotation
 * decides, else pods_by_default. */
enum lbc_backend_mode lbc_backend_mode(const struct ccm_service *service, bool pods_by_default);

/* Whether the port can be reached in that mode: 0, or -EINVAL (CCM_ERROR_TERMINAL: no node port).
 */
CCM_NODISCARD int lbc_candidates_check_port(enum lbc_backend_mode mode,
                                            const struct ccm_service_port *port,
                                            struct ccm_error *err);

/* Candidates of one port; strings are borrowed from the objects. 0, -ENOMEM, or -EINVAL
 * (CCM_ERROR_TERMINAL: no node port). The caller finishes `ret` in any case. */
CCM_NODISCARD int lbc_candidates_build(const struct lbc_candidate_input *in,
                                       const struct ccm_service_port *port,
                                       struct lbc_candidates *ret, struct ccm_error *err);
/* Add an address that a rule is against; texts stay borrowed. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_candidates_add_ruled(struct lbc_candidates *to, const struct lbc_ruled *one);
void lbc_candidates_fini(struct lbc_candidates *candidates);

/* Let the list have at least `need` sets; new ones are empty. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_candidates_reserve(struct lbc_candidates **sets, size_t *cap, size_t need);

/* The part of a group's name that says where backends are reached: the name or number of the target
 * port where pods are backends, else the node port. Cut to size. */
void lbc_candidates_target(enum lbc_backend_mode mode, const struct ccm_service_port *port,
                           char *ret, size_t size);

#endif
