#include "target.h"

#include "gateway.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- consent of other namespaces --- */

static bool grant_is_from(const cJSON *spec, const struct gateway_reference *reference)
{
    const cJSON *from = ccm_json_items(spec, "from");

    for (; from != NULL; from = from->next) {
        if (ccm_text_equal(ccm_json_text(from, "group"), GATEWAY_GROUP) &&
            ccm_text_equal(ccm_json_text(from, "kind"), reference->from_kind) &&
            ccm_text_equal(ccm_json_text(from, "namespace"), reference->from_namespace)) {
            return true;
        }
    }
    return false;
}

static bool grant_is_to(const cJSON *spec, const struct gateway_reference *reference)
{
    const cJSON *to = ccm_json_items(spec, "to");

    for (; to != NULL; to = to->next) {
        if (gateway_text(to, "group", "")[0] == '\0' &&
            ccm_text_equal(ccm_json_text(to, "kind"), reference->kind) &&
            strcmp(gateway_text(to, "name", reference->name), reference->name) == 0) {
            return true;
        }
    }
    return false;
}

static bool grant_allows(const struct ccm_raw *grant, const struct gateway_reference *reference)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const cJSON *spec = NULL;

    if (ccm_json_parse(grant->json, strlen(grant->json), &json) < 0) {
        return false;
    }
    spec = ccm_json_get(json, "spec");
    return grant_is_from(spec, reference) && grant_is_to(spec, reference);
}

bool gateway_reference_is_granted(const struct ccm_host *host,
                                  const struct gateway_reference *reference)
{
    static const char *const versions[] = { GATEWAY_V1, GATEWAY_V1BETA1 };
    bool granted = strcmp(reference->namespace_, reference->from_namespace) == 0;

    for (size_t v = 0; !granted && v < CCM_ARRAY_LEN(versions); v++) {
        const struct ccm_object *const *grants = NULL;
        size_t count = 0;

        gateway_objects_list(host, versions[v], "referencegrants", &grants, &count);
        for (size_t i = 0; !granted && i < count; i++) {
            granted = strcmp(grants[i]->namespace_, reference->namespace_) == 0 &&
                      grant_allows((const struct ccm_raw *)grants[i], reference);
        }
        host->release_list(host, grants, count);
    }
    return granted;
}

/* --- one reference --- */

static void refs_refuse(struct gateway_refs *refs, const char *reason, const char *format, ...)
    CCM_PRINTF(3, 4);

static void refs_refuse(struct gateway_refs *refs, const char *reason, const char *format, ...)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = sizeof(refs->why) - 1 };
    va_list args;

    if (refs->reason != NULL) {
        return;
    }
    va_start(args, format);
    ccm_buf_vaddf(&text, format, args);
    va_end(args);
    refs->reason = reason;
    ccm_text_copy(refs->why, sizeof(refs->why), ccm_buf_str(&text));
}

/* What of a Service port keeps a route from it. */
struct fault {
    const char *reason;
    const char *why;
};
static const struct fault fault_protocol = { "UnsupportedProtocol",
                                             "is of another protocol than the route" };
static const struct fault fault_name = { "InvalidKind",
                                         "is of type ExternalName, which has no backends" };
static const struct fault fault_node_port = {
    "NoNodePort", "has no node port, and nodes are the backends of this Gateway: make the Service "
                  "one of type NodePort, or let annotation " LBC_BACKEND_TYPE_KEY
                  " of spec.infrastructure be " LBC_BACKEND_TYPE_PODS
};

/* NULL = nothing. */
static const struct fault *target_find_fault(const struct gateway_item *route,
                                             const struct ccm_service *service,
                                             const struct ccm_service_port *port, bool pods)
{
    if (strcmp(port->protocol, route->kind == GATEWAY_UDP_ROUTE ? "UDP" : "TCP") != 0) {
        return &fault_protocol;
    }
    if (ccm_text_equal(service->type, "ExternalName")) {
        return &fault_name;
    }
    return !pods && port->node_port == 0 ? &fault_node_port : NULL;
}

static const struct ccm_service_port *service_find_port(const struct ccm_service *service,
                                                        int64_t number, const char *protocol)
{
    const struct ccm_service_port *found = NULL;

    for (uint64_t i = 0; i < service->port_count; i++) {
        if (service->ports[i]->port == number &&
            (found == NULL || strcmp(service->ports[i]->protocol, protocol) == 0)) {
            found = service->ports[i];
        }
    }
    return found;
}

/* The reference moves in, or is released. */
static int targets_add(const struct ccm_host *host, struct gateway_targets *to,
                       const struct gateway_target *one)
{
    for (size_t i = 0; i < to->len; i++) {
        struct gateway_target *before = &to->items[i];

        if (strcmp(before->service->meta.key, one->service->meta.key) == 0 &&
            before->port->port == one->port->port) {
            before->weight += one->weight;
            host->release(host, &one->service->meta);
            return 0;
        }
    }
    if (ccm_array_grow(&to->items, &to->cap, to->len + 1, sizeof(*to->items)) < 0) {
        host->release(host, &one->service->meta);
        return -ENOMEM;
    }
    to->items[to->len++] = *one;
    return 0;
}

static int target_read_service(const struct ccm_host *host, const struct gateway_item *route,
                               const cJSON *ref, struct gateway_target *one, bool pods,
                               struct gateway_targets *ret, struct gateway_refs *refs)
{
    const char *key = one->service->meta.key;
    const int64_t number = ccm_json_i64(ref, "port", 0);
    const struct fault *fault = NULL;

    one->port =
        service_find_port(one->service, number, route->kind == GATEWAY_UDP_ROUTE ? "UDP" : "TCP");
    if (one->port == NULL) {
        refs_refuse(refs, "BackendNotFound", "Service %s has no port %" PRId64, key, number);
    } else {
        fault = target_find_fault(route, one->service, one->port, pods);
    }
    if (fault != NULL) {
        refs_refuse(refs, fault->reason, "port %" PRId64 " of Service %s %s", number, key,
                    fault->why);
    }
    if (one->port != NULL && fault == NULL) {
        return targets_add(host, ret, one);
    }
    host->release(host, &one->service->meta);
    return 0;
}

static int target_read(const struct ccm_host *host, const struct gateway_item *route,
                       const cJSON *ref, bool pods, struct gateway_targets *ret,
                       struct gateway_refs *refs)
{
    const char *namespace_ = gateway_text(ref, "namespace", route->object->namespace_);
    const char *name = gateway_text(ref, "name", "");
    CCM_CLEANUP(ccm_freep) char *key = gateway_key(namespace_, name);
    const int64_t weight = ccm_json_i64(ref, "weight", 1);
    struct gateway_target one = { .weight = weight < 0 ? 0 : (uint64_t)weight };
    const struct gateway_reference reference = { gateway_route_names[route->kind].kind,
                                                 route->object->namespace_, "Service", namespace_,
                                                 name };

    if (key == NULL) {
        return -ENOMEM;
    }
    if (gateway_text(ref, "group", "")[0] != '\0' ||
        strcmp(gateway_text(ref, "kind", "Service"), "Service") != 0) {
        refs_refuse(refs, "InvalidKind", "backend %s is no Service", key);
        return 0;
    }
    if (!gateway_reference_is_granted(host, &reference)) {
        refs_refuse(refs, "RefNotPermitted",
                    "no ReferenceGrant of namespace %s lets this route send to Service %s",
                    namespace_, name);
        return 0;
    }
    one.service = (const struct ccm_service *)host->get(host, CCM_KIND_SERVICE, key);
    if (one.service == NULL) {
        refs_refuse(refs, "BackendNotFound", "there is no Service %s", key);
        return 0;
    }
    return target_read_service(host, route, ref, &one, pods, ret, refs);
}

int gateway_targets_read(const struct ccm_host *host, const struct gateway_item *route, bool pods,
                         struct gateway_targets *ret, struct gateway_refs *refs)
{
    const cJSON *rule = ccm_json_items(ccm_json_get(route->json, "spec"), "rules");
    int r = 0;

    *ret = (struct gateway_targets){ 0 };
    *refs = (struct gateway_refs){ 0 };
    for (; r == 0 && rule != NULL; rule = rule->next) {
        const cJSON *ref = ccm_json_items(rule, "backendRefs");

        for (; r == 0 && ref != NULL; ref = ref->next) {
            r = target_read(host, route, ref, pods, ret, refs);
        }
    }
    return r;
}

void gateway_targets_fini(const struct ccm_host *host, struct gateway_targets *targets)
{
    for (size_t i = 0; i < targets->len; i++) {
        host->release(host, &targets->items[i].service->meta);
    }
    free(targets->items);
    *targets = (struct gateway_targets){ 0 };
}
