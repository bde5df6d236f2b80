#include "target.h"

#include "gateway.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/strmap.h"
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

/* to: an array of a grant. */
static bool grant_is_to(const cJSON *to, const struct gateway_reference *reference)
{
    const cJSON *one = NULL;

    cJSON_ArrayForEach(one, to)
    {
        if (gateway_text(one, "group", "")[0] == '\0' &&
            ccm_text_equal(ccm_json_text(one, "kind"), reference->kind) &&
            strcmp(gateway_text(one, "name", reference->name), reference->name) == 0) {
            return true;
        }
    }
    return false;
}

/* What the grant lets them refer to, into `ret`, if it is about them. 0 or -ENOMEM. */
static int grant_add_to(const struct ccm_raw *grant, const struct gateway_reference *reference,
                        cJSON *ret)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    cJSON *spec = NULL;
    cJSON *to = NULL;

    if (ccm_json_parse(grant->json, strlen(grant->json), &json) < 0) {
        return -ENOMEM;
    }
    spec = cJSON_GetObjectItemCaseSensitive(json, "spec");
    if (!grant_is_from(spec, reference) || !cJSON_IsArray(ccm_json_get(spec, "to"))) {
        return 0;
    }
    to = cJSON_DetachItemFromObjectCaseSensitive(spec, "to");
    if (to != NULL && !cJSON_AddItemToArray(ret, to)) {
        cJSON_Delete(to);
        return -ENOMEM;
    }
    return 0;
}

/* What grants of the namespace that is referred to let objects of that kind and namespace refer to:
 * an array of arrays `to`. NULL on ENOMEM. */
static cJSON *grants_read(const struct ccm_host *host, const struct gateway_reference *reference)
{
    static const char *const versions[] = { GATEWAY_V1, GATEWAY_V1BETA1 };
    CCM_CLEANUP(ccm_json_freep) cJSON *found = cJSON_CreateArray();
    int r = found == NULL ? -ENOMEM : 0;

    for (size_t v = 0; r == 0 && v < CCM_ARRAY_LEN(versions); v++) {
        const struct ccm_object *const *grants = NULL;
        size_t count = 0;

        gateway_objects_list(host, versions[v], "referencegrants", &grants, &count);
        for (size_t i = 0; r == 0 && i < count; i++) {
            if (strcmp(grants[i]->namespace_, reference->namespace_) == 0) {
                r = grant_add_to((const struct ccm_raw *)grants[i], reference, found);
            }
        }
        host->release_list(host, grants, count);
    }
    return r < 0 ? NULL : CCM_STEAL(found);
}

static bool grants_allow(const cJSON *grants, const struct gateway_reference *reference)
{
    const cJSON *to = NULL;

    cJSON_ArrayForEach(to, grants)
    {
        if (grant_is_to(to, reference)) {
            return true;
        }
    }
    return false;
}

static bool reference_stays_inside(const struct gateway_reference *reference)
{
    return strcmp(reference->namespace_, reference->from_namespace) == 0;
}

bool gateway_reference_is_granted(const struct ccm_host *host,
                                  const struct gateway_reference *reference)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *grants = NULL;

    if (reference_stays_inside(reference)) {
        return true;
    }
    grants = grants_read(host, reference);
    return grants_allow(grants, reference);
}

/* --- reading a route --- */

struct reader {
    const struct ccm_host *host;
    const struct gateway_item *route;
    bool pods;
    struct gateway_targets *targets;
    struct gateway_refs *refs;
    struct ccm_strmap *grants; /* namespace -> what its grants let the route refer to */
};

static void reader_free_grants(void *grants)
{
    cJSON_Delete(grants);
}

/* Once per namespace: there may be thousands of grants, and hundreds of references. */
static int reader_ask_grants(const struct reader *reader, const struct gateway_reference *reference,
                             bool *ret)
{
    cJSON *grants = NULL;

    *ret = reference_stays_inside(reference);
    if (*ret) {
        return 0;
    }
    grants = ccm_strmap_get(reader->grants, reference->namespace_);
    if (grants == NULL) {
        grants = grants_read(reader->host, reference);
        if (grants == NULL || ccm_strmap_set(reader->grants, reference->namespace_, grants) < 0) {
            cJSON_Delete(grants);
            return -ENOMEM;
        }
    }
    *ret = grants_allow(grants, reference);
    return 0;
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

static int target_read_service(const struct reader *reader, const cJSON *ref,
                               struct gateway_target *one)
{
    const struct gateway_item *route = reader->route;
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
    const struct gateway_item *route = reader->route;
    struct gateway_refs *refs = reader->refs;
    const char *namespace_ = gateway_text(ref, "namespace", route->object->namespace_);
    const char *name = gateway_text(ref, "name", "");
    CCM_CLEANUP(ccm_freep) char *key = gateway_key(namespace_, name);
    const int64_t weight = ccm_json_i64(ref, "weight", 1);
    struct gateway_target one = { .weight = weight < 0 ? 0 : (uint64_t)weight };
    const struct gateway_reference reference = { gateway_route_names[route->kind].kind,
                                                 route->object->namespace_, "Service", namespace_,
                                                 name };
    bool granted = false;

    if (key == NULL) {
        return -ENOMEM;
    }
    if (gateway_text(ref, "group", "")[0] != '\0' ||
        strcmp(gateway_text(ref, "kind", "Service"), "Service") != 0) {
        refs_refuse(refs, "InvalidKind", "backend %s is no Service", key);
        return 0;
    }
    if (reader_ask_grants(reader, &reference, &granted) < 0) {
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

int gateway_targets_read(const struct ccm_host *host, const struct gateway_item *route, bool pods,
                         struct gateway_targets *ret, struct gateway_refs *refs)
{
    const cJSON *rule = ccm_json_items(ccm_json_get(route->json, "spec"), "rules");
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *grants = ccm_strmap_new(reader_free_grants);
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
