#include "target.h"

#include "gateway.h"
#include "lbc/custom/grant.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- reading a route --- */

struct reader {
    const struct ccm_host *host;
    const struct lbc_custom_item *route;
    bool pods;
    struct gateway_targets *targets;
    struct gateway_refs *refs;
    struct ccm_strmap *grants; /* what those let the route refer to */
};

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
static const struct fault *target_find_fault(const struct lbc_custom_item *route,
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
                       const struct lbc_part *one)
{
    for (size_t i = 0; i < to->len; i++) {
        struct lbc_part *before = &to->items[i];

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

static int target_read_service(const struct reader *reader, const cJSON *ref, struct lbc_part *one)
{
    const struct lbc_custom_item *route = reader->route;
    struct gateway_refs *refs = reader->refs;
    const char *key = one->service->meta.key;
    const int64_t number = ccm_json_i64(ref, "port", 0);
    const struct fault *fault = NULL;

    one->port =
        service_find_port(one->service, number, route->kind == GATEWAY_UDP_ROUTE ? "UDP" : "TCP");
    if (one->port == NULL) {
        refs_refuse(refs, "BackendNotFound", "Service %s has no port %" PRId64, key, number);
    } else {
        fault = target_find_fault(route, one->service, one->port, reader->pods);
    }
    if (fault != NULL) {
        refs_refuse(refs, fault->reason, "port %" PRId64 " of Service %s %s", number, key,
                    fault->why);
    }
    if (one->port != NULL && fault == NULL) {
        return targets_add(reader->host, reader->targets, one);
    }
    reader->host->release(reader->host, &one->service->meta);
    return 0;
}

static int target_read(const struct reader *reader, const cJSON *ref)
{
    const struct lbc_custom_item *route = reader->route;
    struct gateway_refs *refs = reader->refs;
    const char *namespace_ = lbc_custom_text(ref, "namespace", route->object->namespace_);
    const char *name = lbc_custom_text(ref, "name", "");
    CCM_CLEANUP(ccm_freep) char *key = lbc_custom_key(namespace_, name);
    const int64_t weight = ccm_json_i64(ref, "weight", 1);
    struct lbc_part one = { .weight = weight < 0 ? 0 : (uint64_t)weight };
    const struct lbc_custom_reference reference = { GATEWAY_GROUP,
                                                    gateway_route_names[route->kind].kind,
                                                    route->object->namespace_,
                                                    "Service",
                                                    namespace_,
                                                    name };
    bool granted = false;

    if (key == NULL) {
        return -ENOMEM;
    }
    if (lbc_custom_text(ref, "group", "")[0] != '\0' ||
        strcmp(lbc_custom_text(ref, "kind", "Service"), "Service") != 0) {
        refs_refuse(refs, "InvalidKind", "backend %s is no Service", key);
        return 0;
    }
    if (lbc_custom_grants_ask(reader->grants, reader->host, &reference, &granted) < 0) {
        return -ENOMEM;
    }
    if (!granted) {
        refs_refuse(refs, "RefNotPermitted",
                    "no ReferenceGrant of namespace %s lets this route send to Service %s",
                    namespace_, name);
        return 0;
    }
    one.service =
        (const struct ccm_service *)reader->host->get(reader->host, CCM_KIND_SERVICE, key);
    if (one.service == NULL) {
        refs_refuse(refs, "BackendNotFound", "there is no Service %s", key);
        return 0;
    }
    return target_read_service(reader, ref, &one);
}

int gateway_targets_read(const struct ccm_host *host, const struct lbc_custom_item *route,
                         bool pods, struct gateway_targets *ret, struct gateway_refs *refs)
{
    const cJSON *rule = ccm_json_items(ccm_json_get(route->json, "spec"), "rules");
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *grants = lbc_custom_grants_cache_new();
    const struct reader reader = { host, route, pods, ret, refs, grants };
    int r = grants == NULL ? -ENOMEM : 0;

    *ret = (struct gateway_targets){ 0 };
    *refs = (struct gateway_refs){ 0 };
    for (; r == 0 && rule != NULL; rule = rule->next) {
        const cJSON *ref = ccm_json_items(rule, "backendRefs");

        for (; r == 0 && ref != NULL; ref = ref->next) {
            r = target_read(&reader, ref);
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
