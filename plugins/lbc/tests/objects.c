#include "objects.h"

#include "util/parse.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void **memory;
static size_t memory_len;
static size_t memory_cap;

static void *keep(void *block)
{
    if (memory_len == memory_cap) {
        const size_t cap = memory_cap == 0 ? 64 : memory_cap * 2;
        void **grown = realloc(memory, cap * sizeof(*memory));

        if (grown == NULL) {
            abort();
        }
        memory = grown;
        memory_cap = cap;
    }
    if (block == NULL) {
        abort();
    }
    memory[memory_len++] = block;
    return block;
}

static void *zeroed(size_t size)
{
    return keep(calloc(1, size));
}

static char *text(const char *from)
{
    return keep(strdup(from));
}

int obj_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < memory_len; i++) {
        free(memory[i]);
    }
    free(memory);
    memory = NULL;
    memory_len = 0;
    memory_cap = 0;
    return 0;
}

/* A longer copy of an array of pointers. */
static const void **extend(const void *from, uint64_t count, const void *one)
{
    const void **to = zeroed((count + 1) * sizeof(*to));

    if (count > 0) {
        memcpy(to, from, count * sizeof(*to));
    }
    to[count] = one;
    return to;
}

static void head(struct ccm_object *object, uint64_t kind, size_t size, const char *name_space,
                 const char *name)
{
    char key[256];

    (void)snprintf(key, sizeof(key), "%s%s%s", name_space, name_space[0] == '\0' ? "" : "/",
                   name); /* test names are short */
    object->struct_size = size;
    object->kind = kind;
    object->key = text(key);
    object->namespace_ = text(name_space);
    object->name = text(name);
    object->uid = OBJ_UID;
    object->resource_version = "1";
}

struct ccm_service *obj_service(void)
{
    struct ccm_service *service = zeroed(sizeof(*service));

    head(&service->meta, CCM_KIND_SERVICE, sizeof(*service), "default", "web");
    service->type = "LoadBalancer";
    service->load_balancer_class = "";
    service->external_traffic_policy = "Cluster";
    service->load_balancer_ip = "";
    service->session_affinity = "None";
    service->cluster_ip = "10.0.0.1";
    service->allocate_node_ports = 1;
    return service;
}

struct ccm_service *obj_service_copy(const struct ccm_service *service)
{
    struct ccm_service *copy = zeroed(sizeof(*copy));

    *copy = *service;
    return copy;
}

void obj_port(struct ccm_service *service, const char *name, const char *protocol, int64_t port,
              const char *target, int64_t node_port)
{
    struct ccm_service_port *one = zeroed(sizeof(*one));
    const bool number = ccm_parse_i64(target, 0, 65535, &one->target_port) == 0;

    one->name = text(name);
    one->protocol = text(protocol);
    one->app_protocol = "";
    one->target_port_name = number ? "" : text(target);
    one->port = port;
    one->node_port = node_port;
    service->ports =
        (const struct ccm_service_port *const *)extend(service->ports, service->port_count, one);
    service->port_count++;
}

void obj_ingress(struct ccm_service *service, const char *ip, const char *hostname)
{
    struct ccm_ingress *one = zeroed(sizeof(*one));

    one->ip = text(ip);
    one->hostname = text(hostname);
    one->ip_mode = "";
    service->ingress =
        (const struct ccm_ingress *const *)extend(service->ingress, service->ingress_count, one);
    service->ingress_count++;
}

void obj_range(struct ccm_service *service, const char *range)
{
    service->source_ranges = (const char *const *)extend(service->source_ranges,
                                                         service->source_range_count, text(range));
    service->source_range_count++;
}

struct ccm_node *obj_node(const char *name, const char *provider_id)
{
    struct ccm_node *node = zeroed(sizeof(*node));

    head(&node->meta, CCM_KIND_NODE, sizeof(*node), "", name);
    node->provider_id = text(provider_id);
    node->has_conditions = 1;
    node->ready = CCM_CONDITION_TRUE;
    obj_label(&node->meta, "kubernetes.io/hostname", name);
    return node;
}

void obj_taint(struct ccm_node *node, const char *key)
{
    struct ccm_taint *one = zeroed(sizeof(*one));

    one->key = text(key);
    one->value = "";
    one->effect = "NoSchedule";
    node->taints = (const struct ccm_taint *const *)extend(node->taints, node->taint_count, one);
    node->taint_count++;
}

void obj_address(struct ccm_node *node, const char *address)
{
    struct ccm_node_address *one = zeroed(sizeof(*one));

    one->type = "InternalIP";
    one->address = text(address);
    node->addresses =
        (const struct ccm_node_address *const *)extend(node->addresses, node->address_count, one);
    node->address_count++;
}

struct ccm_endpoint_slice *obj_slice(const char *name)
{
    struct ccm_endpoint_slice *slice = zeroed(sizeof(*slice));

    head(&slice->meta, CCM_KIND_ENDPOINT_SLICE, sizeof(*slice), "default", name);
    slice->service_name = "web";
    slice->address_type = "IPv4";
    return slice;
}

void obj_endpoint(struct ccm_endpoint_slice *slice, const char *address, const char *node,
                  uint64_t flags)
{
    struct ccm_endpoint *one = zeroed(sizeof(*one));

    one->address = text(address);
    one->node_name = text(node);
    one->pod_name = "";
    one->flags = flags;
    slice->endpoints =
        (const struct ccm_endpoint *const *)extend(slice->endpoints, slice->endpoint_count, one);
    slice->endpoint_count++;
}

void obj_further(struct ccm_endpoint_slice *slice, const char *address)
{
    struct ccm_endpoint *one = zeroed(sizeof(*one));

    *one = *slice->endpoints[slice->endpoint_count - 1];
    one->address = text(address);
    slice->further =
        (const struct ccm_endpoint *const *)extend(slice->further, slice->further_count, one);
    slice->further_count++;
}

void obj_slice_port(struct ccm_endpoint_slice *slice, const char *name, int64_t port)
{
    struct ccm_endpoint_port *one = zeroed(sizeof(*one));

    one->name = text(name);
    one->protocol = "TCP";
    one->port = port;
    slice->ports =
        (const struct ccm_endpoint_port *const *)extend(slice->ports, slice->port_count, one);
    slice->port_count++;
}

static const struct ccm_pair *const *set_pair(const struct ccm_pair *const *pairs, uint64_t *count,
                                              const char *key, const char *value)
{
    const struct ccm_pair **to = zeroed((*count + 1) * sizeof(*to));
    uint64_t len = 0;

    for (uint64_t i = 0; i < *count; i++) {
        if (strcmp(pairs[i]->key, key) != 0) {
            to[len++] = pairs[i];
        }
    }
    if (value != NULL) {
        struct ccm_pair *one = zeroed(sizeof(*one));
        uint64_t at = len++;

        one->key = text(key);
        one->value = text(value);
        for (; at > 0 && strcmp(to[at - 1]->key, key) > 0; at--) {
            to[at] = to[at - 1];
        }
        to[at] = one;
    }
    *count = len;
    return to;
}

void obj_label(struct ccm_object *object, const char *key, const char *value)
{
    object->labels = set_pair(object->labels, &object->label_count, key, value);
}

void obj_annotate(struct ccm_object *object, const char *key, const char *value)
{
    object->annotations = set_pair(object->annotations, &object->annotation_count, key, value);
}

void obj_finalizer(struct ccm_object *object, const char *name)
{
    object->finalizers =
        (const char *const *)extend(object->finalizers, object->finalizer_count, text(name));
    object->finalizer_count++;
}
