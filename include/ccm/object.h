/*
 * Kubernetes objects as plugins see them: immutable snapshots, decoded to the fields somebody
 * reads.
 *
 * Each object starts with its size as the core built it and only ever grows at its end: test
 * `struct_size` before you read a member that is newer than ABI 1.0. Lists are arrays of pointers,
 * so that an element may grow too; elements carry no size, so one only grows in a minor that also
 * appends to the object that holds the list: test for that companion. Text is UTF-8, never NULL
 * unless the comment says so, and may be "".
 *
 * Objects are reference-counted: what host->get(), list() and fetch() hand out stays valid and
 * unchanged until host->release(), also when the object is updated or deleted meanwhile. Any thread
 * may read them.
 */
#ifndef CCM_OBJECT_H
#define CCM_OBJECT_H

#include "ccm/function.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds that the core decodes. */
#define CCM_KIND_SERVICE        UINT64_C(1) /* v1 -> struct ccm_service */
#define CCM_KIND_ENDPOINT_SLICE UINT64_C(2) /* discovery.k8s.io/v1 -> struct ccm_endpoint_slice */
#define CCM_KIND_NODE           UINT64_C(3) /* v1 -> struct ccm_node */
/* v1 -> struct ccm_pod: not watched, for host->fetch(), patches and events */
#define CCM_KIND_POD UINT64_C(4)
#define CCM_KIND_RAW UINT64_C(5) /* any other resource, as JSON text -> struct ccm_raw */

struct ccm_pair {
    const char *key;
    const char *value;
};

/* Head of every object. The typed structs below start with it, so that a pointer to one is a
 * pointer to the other. */
struct ccm_object {
    uint64_t struct_size; /* of the whole typed struct */
    uint64_t kind;        /* CCM_KIND_* */
    const char *key;      /* "namespace/name", or "name" for kinds without namespace */
    const char *namespace_;
    const char *name;
    const char *uid;
    const char *resource_version; /* opaque: compare for equality only */
    int64_t generation;
    int64_t created_ms;                   /* wall clock, ms since the epoch */
    int64_t deleted_ms;                   /* metadata.deletionTimestamp, 0 = not being deleted */
    const struct ccm_pair *const *labels; /* sorted by key */
    uint64_t label_count;
    /* Sorted by key. Those of Services have no white space at the ends of their values. */
    const struct ccm_pair *const *annotations;
    uint64_t annotation_count;
    const char *const *finalizers;
    uint64_t finalizer_count;
    /*
     * Since ABI 1.1; NULL before. NULL = the object is whole. Else it is larger than the core
     * reads, and this says of what it has too much. Its names, type, class, times, status and the
     * labels, annotations and finalizers of controllers are as they are; lists that count only as a
     * whole (ports, source ranges, endpoints) are empty, which says nothing. Tell people, leave
     * what you made for it as it is, and release it when it goes. A Service of another type than
     * LoadBalancer, and without a finalizer, keeps annotations of up to 1,024 bytes each and is too
     * large beyond 16 KiB.
     */
    const char *too_large;
    uint64_t traits;      /* since ABI 1.1; 0 before. CCM_NODE_* of a Node, else 0 */
    uint64_t reserved[2]; /* 0. The head is embedded below, so it cannot grow: later members come
                             from here */
};

/* Value of a label or annotation, borrowed; NULL when the object is NULL or lacks the key ("" is a
 * value). See ccm/function.h. */
CCM_FUNCTION const char *ccm_pair_find(const struct ccm_pair *const *pairs, uint64_t count,
                                       const char *key);
CCM_FUNCTION const char *ccm_object_label(const struct ccm_object *object, const char *key);
CCM_FUNCTION const char *ccm_object_annotation(const struct ccm_object *object, const char *key);

#ifndef CCM_EXTERN_FUNCTIONS

CCM_FUNCTION const char *ccm_pair_find(const struct ccm_pair *const *pairs, uint64_t count,
                                       const char *key)
{
    uint64_t low = 0;

    while (low < count) {
        const uint64_t middle = low + (count - low) / 2;
        const int order = strcmp(pairs[middle]->key, key);

        if (order == 0) {
            return pairs[middle]->value;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return NULL;
}

CCM_FUNCTION const char *ccm_object_label(const struct ccm_object *object, const char *key)
{
    return object == NULL ? NULL : ccm_pair_find(object->labels, object->label_count, key);
}

CCM_FUNCTION const char *ccm_object_annotation(const struct ccm_object *object, const char *key)
{
    return object == NULL ? NULL
                          : ccm_pair_find(object->annotations, object->annotation_count, key);
}

#endif

/* status.conditions[] of Services and Pods. */
struct ccm_condition {
    const char *type;
    const char *status; /* "True", "False" or "Unknown" */
    const char *reason;
    const char *message;
    int64_t observed_generation; /* 0 = not told */
};

/* spec.ports[]. A port is an int or a name in Kubernetes: target_port_name is "" when it is a
 * number. */
struct ccm_service_port {
    const char *name;
    const char *protocol; /* "TCP", "UDP", "SCTP" */
    const char *app_protocol;
    const char *target_port_name;
    int64_t port;
    int64_t target_port; /* 0 when it is a name */
    int64_t node_port;   /* 0 = none */
};

/* status.loadBalancer.ingress[] */
struct ccm_ingress {
    const char *ip;
    const char *hostname;
    const char *ip_mode; /* "VIP", "Proxy" or "" */
};

struct ccm_service {
    struct ccm_object meta;
    const char *type;
    const char *load_balancer_class; /* "" = unset */
    const char *external_traffic_policy;
    const char *load_balancer_ip;
    const char *session_affinity;
    const char *cluster_ip;
    int64_t health_check_node_port;
    int64_t allocate_node_ports;         /* 1 = true (also when unset), 0 = false */
    int64_t publish_not_ready_addresses; /* 0, 1 */
    const struct ccm_service_port *const *ports;
    uint64_t port_count;
    const char *const *source_ranges;
    uint64_t source_range_count;
    const char *const *ip_families;
    uint64_t ip_family_count;
    const struct ccm_ingress *const *ingress;
    uint64_t ingress_count;
    const struct ccm_condition *const *conditions;
    uint64_t condition_count;
    int64_t session_affinity_timeout_s; /* of ClientIP; 0 = unset */
};

#define CCM_ENDPOINT_READY       UINT64_C(1) /* conditions.ready, also when it is unset */
#define CCM_ENDPOINT_SERVING     UINT64_C(2) /* conditions.serving, or ready where unset */
#define CCM_ENDPOINT_TERMINATING UINT64_C(4)
/* Stand for the uid of the Pod, since ABI 1.1; none = the slice does not name it. A Pod that was
 * deleted and created again under its name has others. */
#define CCM_ENDPOINT_POD_MARK UINT64_C(0xffffffff00000000)

struct ccm_endpoint {
    const char *address;   /* addresses[0]; see `further` of the slice */
    const char *node_name; /* "" = not told */
    const char *pod_name;  /* targetRef when it is a Pod, else ""; same namespace as the slice */
    uint64_t flags;        /* CCM_ENDPOINT_*: test bits, others may be set */
};

struct ccm_endpoint_port {
    const char *name;
    const char *protocol;
    int64_t port; /* 0 = unset, which means "all ports" in the API */
};

struct ccm_endpoint_slice {
    struct ccm_object meta;
    const char *service_name; /* label kubernetes.io/service-name, "" = none */
    const char *address_type; /* "IPv4", "IPv6", "FQDN" */
    const struct ccm_endpoint *const *endpoints;
    uint64_t endpoint_count;
    const struct ccm_endpoint_port *const *ports;
    uint64_t port_count;

    /* Since ABI 1.1: test meta.struct_size before you read it. The other addresses of endpoints
     * that have several, which are equivalent to the first by definition of the API: for each a
     * copy of its endpoint with that address. */
    const struct ccm_endpoint *const *further;
    uint64_t further_count;
};

struct ccm_taint {
    const char *key;
    const char *value;
    const char *effect;
};

struct ccm_node_address {
    const char *type; /* "InternalIP", ... */
    const char *address;
};

#define CCM_CONDITION_ABSENT  UINT64_C(0)
#define CCM_CONDITION_TRUE    UINT64_C(1)
#define CCM_CONDITION_FALSE   UINT64_C(2)
#define CCM_CONDITION_UNKNOWN UINT64_C(3)

/* Trait of a Node: its network plugin keeps addresses of the VPC for the pods there, which have
 * network interfaces then (annotation k8s.aliyun.com/max-available-ip of Terway). */
#define CCM_NODE_VPC_PODS UINT64_C(1)

/* What a Node can do and what it is. Since ABI 1.1. */
struct ccm_node_info {
    uint64_t struct_size;
    const struct ccm_pair *const *capacity; /* "cpu": "4", "memory": "8148204Ki"; sorted by key */
    uint64_t capacity_count;
    const struct ccm_pair *const *allocatable; /* the same of what is left for pods */
    uint64_t allocatable_count;
    const struct ccm_pair *const *system; /* status.nodeInfo: "kubeletVersion": "v1.31.2", ...;
                                             texts alone; sorted by key */
    uint64_t system_count;
};

struct ccm_node {
    struct ccm_object meta;
    const char *provider_id;
    const char *const *pod_cidrs;
    uint64_t pod_cidr_count;
    int64_t unschedulable;
    uint64_t has_conditions;      /* whether status.conditions has any entry */
    uint64_t ready;               /* CCM_CONDITION_* of condition Ready */
    uint64_t network_unavailable; /* CCM_CONDITION_* of condition NetworkUnavailable */
    const struct ccm_taint *const *taints;
    uint64_t taint_count;
    const struct ccm_node_address *const *addresses;
    uint64_t address_count;

    /* Since ABI 1.1: test meta.struct_size before you read it. In the caches only where a plugin
     * watches Nodes with CCM_WATCH_NODE_INFO, else NULL; fetch() always has it. */
    const struct ccm_node_info *info;
};

struct ccm_pod {
    struct ccm_object meta;
    const char *phase; /* "Pending", "Running", ... */
    const char *node_name;
    const char *ip;                     /* status.podIP, "" = none yet */
    const char *const *readiness_gates; /* condition types */
    uint64_t readiness_gate_count;
    const struct ccm_condition *const *conditions;
    uint64_t condition_count;

    /* Since ABI 1.1: test meta.struct_size before you read them. */
    uint64_t host_network;  /* spec.hostNetwork, 0 or 1: its addresses are those of its node */
    const char *const *ips; /* status.podIPs: one for each address family */
    uint64_t ip_count;
};

/* CCM_KIND_RAW */
struct ccm_raw {
    struct ccm_object meta;
    const char *api_version;
    const char *kind_name;
    const char *json; /* the whole object; in a list, servers leave apiVersion and kind out */
};

#ifdef __cplusplus
}
#endif

#endif
