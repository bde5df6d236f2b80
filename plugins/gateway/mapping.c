#include "mapping.h"

#include "gateway.h"
#include "item.h"
#include "lbc/custom/change.h"
#include "lbc/custom/parameters.h"
#include "lbc/keys.h"
#include "lbc/model/node.h"
#include "lbc/model/object.h"
#include "lbc/model/slice.h"
#include "listener.h"
#include "route.h"
#include "set.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NODE_DELAY_MS 1000 /* nodes change many at a time */
#define ALL_DELAY_MS  300  /* what all Gateways and routes are looked at for: as often as that */

/* --- keys --- */

/* change: of the route itself; NULL = of what it depends on. */
static void enqueue_route(const struct gateway *self, enum gateway_route_kind kind,
                          const char *name, const struct ccm_change *change, uint64_t delay_ms)
{
    CCM_CLEANUP(ccm_freep) char *key = gateway_route_key(kind, name);

    if (key == NULL) {
        self->host->log(self->host, CCM_LEVEL_ERROR, name, "change not passed on: out of memory");
    } else if (change == NULL ||
               !lbc_custom_change_is_own(self->front.custom.records, key, change)) {
        self->host->enqueue(self->host, key, CCM_LANE_SPEC, delay_ms);
    }
}

static void enqueue_set(const struct gateway *self, const char *name, uint64_t delay_ms)
{
    CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("%s%s", GATEWAY_SET_KEY, name);

    if (key != NULL) {
        self->host->enqueue(self->host, key, CCM_LANE_SPEC, delay_ms);
    }
}

/* If it is there. */
static void enqueue_gateway(const struct gateway *self, const char *key, uint64_t lane)
{
    const struct ccm_object *gateway =
        key == NULL ? NULL : self->host->get_raw(self->host, GATEWAY_V1, "gateways", key);

    if (gateway != NULL) {
        self->host->enqueue(self->host, key, lane, 0);
        self->host->release(self->host, gateway);
    }
}

/* The Gateways that a route names, whosever they are: their pass finds out. */
static void enqueue_parents(const struct gateway *self, const struct ccm_object *route,
                            uint64_t lane)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const cJSON *parent = ccm_json_items(lbc_custom_parse_spec(route, &json), "parentRefs");

    for (; parent != NULL; parent = parent->next) {
        CCM_CLEANUP(ccm_freep) char *key = NULL;
        CCM_CLEANUP(ccm_freep) char *set = NULL;

        if (gateway_parent_find(self->host, parent, route->namespace_, &key, &set) < 0) {
            self->host->log(self->host, CCM_LEVEL_ERROR, route->key,
                            "change not passed on: out of memory");
        }
        enqueue_gateway(self, key, lane);
        if (set != NULL) {
            enqueue_set(self, set, 0);
        }
    }
}

static bool route_has_parent(const struct lbc_custom_item *route, const char *kind,
                             const struct ccm_object *object)
{
    const cJSON *parent = ccm_json_items(ccm_json_get(route->json, "spec"), "parentRefs");

    while (parent != NULL && !gateway_parent_is(parent, route->object, kind, object)) {
        parent = parent->next;
    }
    return parent != NULL;
}

static bool rule_has_backend(const cJSON *rule, const struct ccm_object *route,
                             const char *namespace_, const char *name)
{
    const cJSON *ref = ccm_json_items(rule, "backendRefs");

    while (ref != NULL &&
           (strcmp(lbc_custom_text(ref, "namespace", route->namespace_), namespace_) != 0 ||
            strcmp(lbc_custom_text(ref, "name", ""), name) != 0)) {
        ref = ref->next;
    }
    return ref != NULL;
}

static bool route_has_backend(const struct lbc_custom_item *route, const char *namespace_,
                              const char *name)
{
    const cJSON *rule = ccm_json_items(ccm_json_get(route->json, "spec"), "rules");

    while (rule != NULL && !rule_has_backend(rule, route->object, namespace_, name)) {
        rule = rule->next;
    }
    return rule != NULL;
}

/* Routes by an index, in the memory of the caller, who finishes them. */
static void routes_find(const struct gateway *self, const char *index, const char *value,
                        struct lbc_custom_items *ret)
{
    if (gateway_routes_list(self->host, index, value, ret) < 0) {
        self->host->log(self->host, CCM_LEVEL_ERROR, value, "change not passed on: out of memory");
    }
}

/* Those of a Gateway or ListenerSet: the index knows its name alone, which others may have
 * elsewhere. */
static void enqueue_routes_of(const struct gateway *self, const char *kind,
                              const struct ccm_object *object)
{
    struct lbc_custom_items found = { 0 };

    routes_find(self, GATEWAY_BY_PARENT, object->name, &found);
    for (size_t i = 0; i < found.len; i++) {
        if (route_has_parent(&found.items[i], kind, object)) {
            enqueue_route(self, found.items[i].kind, found.items[i].object->key, NULL, 0);
        }
    }
    lbc_custom_items_fini(self->host, &found);
}

/* Those that name the Gateway, and what routes say of them. */
static void enqueue_sets_of(const struct gateway *self, const struct ccm_object *gateway)
{
    const struct lbc_custom_item head = { .api_version = GATEWAY_V1 };
    struct lbc_custom_items found = { 0 };

    if (lbc_custom_items_add_by(self->host, head, GATEWAY_SETS, GATEWAY_BY_PARENT, gateway->name,
                                &found) == -ENOMEM) {
        self->host->log(self->host, CCM_LEVEL_ERROR, gateway->key,
                        "change not passed on: out of memory");
    }
    for (size_t i = 0; i < found.len; i++) {
        if (gateway_set_is_of(found.items[i].json, found.items[i].object, gateway)) {
            enqueue_set(self, found.items[i].object->key, ALL_DELAY_MS);
            enqueue_routes_of(self, GATEWAY_SET, found.items[i].object);
        }
    }
    lbc_custom_items_fini(self->host, &found);
}

/* namespace_: only those in it; NULL = all. */
static void enqueue_gateways(const struct gateway *self, const char *namespace_, uint64_t lane,
                             uint64_t delay_ms)
{
    const struct ccm_object *const *gateways = NULL;
    size_t count = 0;

    lbc_custom_objects_list(self->host, GATEWAY_V1, "gateways", &gateways, &count);
    for (size_t i = 0; i < count; i++) {
        if (namespace_ == NULL || strcmp(gateways[i]->namespace_, namespace_) == 0) {
            self->host->enqueue(self->host, gateways[i]->key, lane, delay_ms);
        }
    }
    self->host->release_list(self->host, gateways, count);
}

/* The routes of one kind, and of one namespace their Gateways as well. */
static void enqueue_kind(const struct gateway *self, const char *api_version,
                         enum gateway_route_kind kind, const char *namespace_)
{
    const struct ccm_object *const *routes = NULL;
    size_t count = 0;

    lbc_custom_objects_list(self->host, api_version, gateway_route_names[kind].resource, &routes,
                            &count);
    for (size_t i = 0; i < count; i++) {
        if (namespace_ == NULL) {
            enqueue_route(self, kind, routes[i]->key, NULL, ALL_DELAY_MS);
        } else if (strcmp(routes[i]->namespace_, namespace_) == 0) {
            enqueue_route(self, kind, routes[i]->key, NULL, ALL_DELAY_MS);
            enqueue_parents(self, routes[i], CCM_LANE_SPEC);
        }
    }
    self->host->release_list(self->host, routes, count);
}

static bool gateway_allows(const struct gateway *self, const struct ccm_object *gateway,
                           const struct ccm_object *set)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const cJSON *spec = lbc_custom_parse_spec(gateway, &json);

    return gateway_set_is_allowed(self->host, gateway, spec, set->namespace_);
}

/* The Gateway of a ListenerSet, which serves its listeners, and the others of that, which have the
 * ports that it does not have. What the Gateway does not take is nothing to them. */
static void enqueue_gateway_of_set(const struct gateway *self, const struct ccm_object *set)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    CCM_CLEANUP(ccm_freep) char *key = NULL;
    const struct ccm_object *gateway = NULL;

    if (lbc_custom_parse_spec(set, &json) == NULL ||
        gateway_set_find_gateway(json, set->namespace_, &key) < 0 || key == NULL) {
        return;
    }
    gateway = self->host->get_raw(self->host, GATEWAY_V1, "gateways", key);
    if (gateway != NULL && gateway_allows(self, gateway, set)) {
        self->host->enqueue(self->host, key, CCM_LANE_SPEC, 0);
        enqueue_sets_of(self, gateway);
    }
    if (gateway != NULL) {
        self->host->release(self->host, gateway);
    }
}

static void enqueue_sets(const struct gateway *self, const char *namespace_)
{
    const struct ccm_object *const *sets = NULL;
    size_t count = 0;

    lbc_custom_objects_list(self->host, GATEWAY_V1, GATEWAY_SETS, &sets, &count);
    for (size_t i = 0; i < count; i++) {
        if (namespace_ == NULL) {
            enqueue_set(self, sets[i]->key, ALL_DELAY_MS);
        } else if (strcmp(sets[i]->namespace_, namespace_) == 0) {
            enqueue_set(self, sets[i]->key, ALL_DELAY_MS);
            enqueue_gateway_of_set(self, sets[i]);
        }
    }
    self->host->release_list(self->host, sets, count);
}

/* By their keys alone: this comes for each namespace of the first list, and as often as anybody
 * writes a ConfigMap of his own. */
static void enqueue_all(const struct gateway *self, const char *namespace_)
{
    static const char *const versions[] = { GATEWAY_V1, GATEWAY_V1ALPHA2 };

    enqueue_gateways(self, namespace_, CCM_LANE_SPEC, ALL_DELAY_MS);
    enqueue_sets(self, namespace_);
    for (size_t v = 0; v < CCM_ARRAY_LEN(versions); v++) {
        for (unsigned kind = 0; kind < GATEWAY_ROUTE_KINDS; kind++) {
            enqueue_kind(self, versions[v], (enum gateway_route_kind)kind, namespace_);
        }
    }
}

/* --- the Gateway API --- */

static void map_class(void *arg, const struct ccm_change *change)
{
    const struct gateway *self = arg;
    CCM_CLEANUP(ccm_freep)
    char *key = ccm_text_format("%s%s", GATEWAY_CLASS_KEY, lbc_custom_change_object(change)->name);

    if (key != NULL && !lbc_custom_change_is_own(self->front.custom.records, key, change)) {
        self->host->enqueue(self->host, key, CCM_LANE_SPEC, 0);
    }
    if (lbc_custom_change_is_of_spec(change)) {
        enqueue_all(self, NULL);
    }
}

/* A class shows whether Gateways use it. */
static void enqueue_class_of(const struct gateway *self, const struct ccm_object *gateway)
{
    CCM_CLEANUP(ccm_freep) char *class = gateway == NULL ? NULL : gateway_class_of(gateway);
    CCM_CLEANUP(ccm_freep)
    char *key = class == NULL ? NULL : ccm_text_format("%s%s", GATEWAY_CLASS_KEY, class);

    if (key != NULL) {
        self->host->enqueue(self->host, key, CCM_LANE_SPEC, 0);
    }
}

static bool gateway_is_bound(const struct gateway *self, const struct ccm_object *gateway)
{
    return gateway != NULL && lbc_object_has_finalizer(gateway, self->finalizer);
}

/* Any change: what others do to its status is put right as well. */
static void map_gateway(void *arg, const struct ccm_change *change)
{
    const struct gateway *self = arg;
    const struct ccm_object *object = lbc_custom_change_object(change);
    const bool was_bound = gateway_is_bound(self, change->before);

    if (was_bound != gateway_is_bound(self, change->after) ||
        (was_bound && lbc_custom_change_is_of_spec(change))) {
        enqueue_class_of(self, change->before);
        enqueue_class_of(self, change->after);
    }
    if (lbc_custom_change_is_own(self->front.custom.records, object->key, change)) {
        return;
    }
    self->host->enqueue(self->host, object->key,
                        object->deleted_ms > 0   ? CCM_LANE_REMOVE
                        : change->before == NULL ? CCM_LANE_URGENT
                                                 : CCM_LANE_SPEC,
                        0);
    if (lbc_custom_change_is_of_spec(change)) {
        enqueue_routes_of(self, "Gateway", object);
        enqueue_sets_of(self, object);
    }
}

static void map_set(void *arg, const struct ccm_change *change)
{
    const struct gateway *self = arg;
    const struct ccm_object *set = lbc_custom_change_object(change);
    CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("%s%s", GATEWAY_SET_KEY, set->key);

    if (key == NULL || lbc_custom_change_is_own(self->front.custom.records, key, change)) {
        return;
    }
    self->host->enqueue(self->host, key, CCM_LANE_SPEC, 0);
    if (lbc_custom_change_is_of_spec(change)) {
        enqueue_routes_of(self, GATEWAY_SET, set);
        if (change->before != NULL) {
            enqueue_gateway_of_set(self, change->before);
        }
        if (change->after != NULL) {
            enqueue_gateway_of_set(self, change->after);
        }
    }
}

static void route_changed(const struct gateway *self, enum gateway_route_kind kind,
                          const struct ccm_change *change)
{
    enqueue_route(self, kind, lbc_custom_change_object(change)->key, change, 0);
    if (!lbc_custom_change_is_of_spec(change)) {
        return;
    }
    if (change->before != NULL) {
        enqueue_parents(self, change->before, CCM_LANE_SPEC);
    }
    if (change->after != NULL) {
        enqueue_parents(self, change->after, CCM_LANE_SPEC);
    }
}

static void map_tcp_route(void *arg, const struct ccm_change *change)
{
    route_changed(arg, GATEWAY_TCP_ROUTE, change);
}

static void map_udp_route(void *arg, const struct ccm_change *change)
{
    route_changed(arg, GATEWAY_UDP_ROUTE, change);
}

static void map_tls_route(void *arg, const struct ccm_change *change)
{
    route_changed(arg, GATEWAY_TLS_ROUTE, change);
}

static void map_anything(void *arg, const struct ccm_change *change)
{
    (void)change;
    enqueue_all(arg, NULL);
}

/* Whom a grant lets in; the others have nothing from it. */
static void enqueue_granted(const struct gateway *self, const struct ccm_object *grant)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const cJSON *from = ccm_json_items(lbc_custom_parse_spec(grant, &json), "from");

    for (; from != NULL; from = from->next) {
        enqueue_all(self, lbc_custom_text(from, "namespace", ""));
    }
}

static void map_grant(void *arg, const struct ccm_change *change)
{
    if (lbc_custom_change_is_of_spec(change)) {
        enqueue_granted(arg, change->before);
        enqueue_granted(arg, change->after);
    }
}

static void map_namespace(void *arg, const struct ccm_change *change)
{
    if (lbc_custom_change_is_of_labels(change)) {
        enqueue_all(arg, NULL);
    }
}

/* --- backends --- */

static void map_service(void *arg, const struct ccm_change *change)
{
    const struct gateway *self = arg;
    const struct ccm_object *service = lbc_custom_change_object(change);
    struct lbc_custom_items found = { 0 };

    routes_find(self, GATEWAY_BY_BACKEND, service->name, &found);
    for (size_t i = 0; i < found.len; i++) {
        if (route_has_backend(&found.items[i], service->namespace_, service->name)) {
            enqueue_route(self, found.items[i].kind, found.items[i].object->key, NULL, 0);
            enqueue_parents(self, found.items[i].object, CCM_LANE_SPEC);
        }
    }
    lbc_custom_items_fini(self->host, &found);
}

static bool gateway_owns(const void *arg, const struct ccm_service *service)
{
    return lbc_owns(arg, service);
}

/* Keys of the Gateways that the route names as its parents, into `to`. */
static int parents_collect(const struct ccm_host *host, const struct lbc_custom_item *route,
                           struct ccm_strmap *to)
{
    const cJSON *parent = ccm_json_items(ccm_json_get(route->json, "spec"), "parentRefs");
    int r = 0;

    for (; r == 0 && parent != NULL; parent = parent->next) {
        CCM_CLEANUP(ccm_freep) char *key = NULL;
        CCM_CLEANUP(ccm_freep) char *set = NULL;

        r = gateway_parent_find(host, parent, route->object->namespace_, &key, &set);
        r = r < 0 || key == NULL ? r : ccm_strmap_set(to, key, NULL);
    }
    return r;
}

/* Of all routes that send to the Service of a slice, each once. NULL on ENOMEM. */
static struct ccm_strmap *slice_collect_parents(const struct gateway *self,
                                                const struct ccm_endpoint_slice *slice)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *parents = ccm_strmap_new(NULL);
    struct lbc_custom_items found = { 0 };
    int r = parents == NULL ? -ENOMEM : 0;

    if (r == 0) {
        r = gateway_routes_list(self->host, GATEWAY_BY_BACKEND, slice->service_name, &found);
    }
    for (size_t i = 0; r == 0 && i < found.len; i++) {
        if (route_has_backend(&found.items[i], slice->meta.namespace_, slice->service_name)) {
            r = parents_collect(self->host, &found.items[i], parents);
        }
    }
    lbc_custom_items_fini(self->host, &found);
    return r < 0 ? NULL : CCM_STEAL(parents);
}

/* A change of the slices of one Service. */
static void slice_changed(void *arg, const struct ccm_change *change,
                          const struct ccm_endpoint_slice *slice)
{
    const struct gateway *self = arg;
    CCM_CLEANUP(ccm_strmap_freep)
    struct ccm_strmap *parents = slice_collect_parents(self, slice);
    void *cursor = NULL;
    const char *key = NULL;

    if (parents == NULL) {
        self->host->log(self->host, CCM_LEVEL_ERROR, slice->meta.key,
                        "change not passed on: out of memory");
        return;
    }
    while (ccm_strmap_next(parents, &cursor, &key, NULL)) {
        const struct ccm_object *gateway =
            self->host->get_raw(self->host, GATEWAY_V1, "gateways", key);

        if (gateway != NULL) {
            /* The engine knows slices by the object whose load balancer they stand behind. */
            lbc_slice_record_as(self->lbc->absence, change, gateway, gateway_owns, self->lbc);
            self->host->enqueue(self->host, key, CCM_LANE_BACKENDS, 0);
            self->host->release(self->host, gateway);
        }
    }
}

static void map_slice(void *arg, const struct ccm_change *change)
{
    lbc_slice_split(change, slice_changed, arg);
}

static void map_node(void *arg, const struct ccm_change *change)
{
    const struct gateway *self = arg;
    const struct ccm_node *before = (const struct ccm_node *)change->before;
    const struct ccm_node *after = (const struct ccm_node *)change->after;
    const bool leaves = lbc_node_leaves(before, after, false);

    lbc_absence_record_node(self->lbc->absence, change);
    if (before == NULL || after == NULL
            ? lbc_node_skippable(before == NULL ? after : before)
            : (lbc_node_skippable(before) && lbc_node_skippable(after)) ||
                  !lbc_node_differs(before, after)) {
        return;
    }
    enqueue_gateways(self, NULL, leaves ? CCM_LANE_BACKENDS : CCM_LANE_BULK, NODE_DELAY_MS);
}

/* --- tables --- */

static const struct ccm_index by_parent = {
    .struct_size = sizeof(struct ccm_index),
    .name = GATEWAY_BY_PARENT,
    .path = "spec.parentRefs.name",
};
static const struct ccm_index by_backend = {
    .struct_size = sizeof(struct ccm_index),
    .name = GATEWAY_BY_BACKEND,
    .path = "spec.rules.backendRefs.name",
};
static const struct ccm_index by_gateway = {
    .struct_size = sizeof(struct ccm_index),
    .name = GATEWAY_BY_PARENT,
    .path = "spec.parentRef.name",
};
static const struct ccm_index *const set_indexes[] = { &by_gateway, NULL };
static const struct ccm_index *const route_indexes[] = { &by_parent, &by_backend, NULL };

/* Definitions may come later, or never. */
#define WATCH_RAW(symbol, version, plural, fn, by, labels)                                         \
    static const struct ccm_watch symbol = {                                                       \
        .struct_size = sizeof(struct ccm_watch),                                                   \
        .kind = CCM_KIND_RAW,                                                                      \
        .api_version = (version),                                                                  \
        .resource = (plural),                                                                      \
        .map = (fn),                                                                               \
        .flags = CCM_WATCH_OPTIONAL,                                                               \
        .label_selector = (labels),                                                                \
        .indexes = (by),                                                                           \
    }
WATCH_RAW(watch_classes, GATEWAY_V1, "gatewayclasses", map_class, NULL, NULL);
WATCH_RAW(watch_gateways, GATEWAY_V1, "gateways", map_gateway, NULL, NULL);
WATCH_RAW(watch_sets, GATEWAY_V1, GATEWAY_SETS, map_set, set_indexes, NULL);
WATCH_RAW(watch_tcp_v1, GATEWAY_V1, "tcproutes", map_tcp_route, route_indexes, NULL);
WATCH_RAW(watch_tcp_old, GATEWAY_V1ALPHA2, "tcproutes", map_tcp_route, route_indexes, NULL);
WATCH_RAW(watch_udp_v1, GATEWAY_V1, "udproutes", map_udp_route, route_indexes, NULL);
WATCH_RAW(watch_udp_old, GATEWAY_V1ALPHA2, "udproutes", map_udp_route, route_indexes, NULL);
WATCH_RAW(watch_tls_v1, GATEWAY_V1, "tlsroutes", map_tls_route, route_indexes, NULL);
WATCH_RAW(watch_tls_old, GATEWAY_V1ALPHA2, "tlsroutes", map_tls_route, route_indexes, NULL);
WATCH_RAW(watch_grants_v1, GATEWAY_V1, "referencegrants", map_grant, NULL, NULL);
WATCH_RAW(watch_grants_old, GATEWAY_V1BETA1, "referencegrants", map_grant, NULL, NULL);
WATCH_RAW(watch_namespaces, "v1", "namespaces", map_namespace, NULL, NULL);
WATCH_RAW(watch_parameters, "v1", "configmaps", map_anything, NULL, LBC_CUSTOM_PARAMETERS_LABEL);

static const char *const own_keys[] = { LBC_KEYS, NULL };
static const struct ccm_watch watch_services = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_SERVICE,
    .map = map_service,
    .keys = own_keys,
};
static const struct ccm_watch watch_slices = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_ENDPOINT_SLICE,
    .map = map_slice,
    .flags = CCM_WATCH_ALL_SLICES,
};
static const struct ccm_watch watch_nodes = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_NODE,
    .map = map_node,
    .keys = own_keys,
};

const struct ccm_watch *const gateway_watches[] = {
    &watch_classes,
    &watch_gateways,
    &watch_sets,
    &watch_tcp_v1,
    &watch_tcp_old,
    &watch_udp_v1,
    &watch_udp_old,
    &watch_tls_v1,
    &watch_tls_old,
    &watch_grants_v1,
    &watch_grants_old,
    &watch_namespaces,
    &watch_parameters,
    &watch_services,
    &watch_slices,
    &watch_nodes,
    NULL,
};

#define RIGHT(symbol, verb, version, what)                                                         \
    static const struct ccm_right symbol = { .struct_size = sizeof(struct ccm_right),              \
                                             .api_version = (version),                             \
                                             .resource = (what),                                   \
                                             .verbs = (verb) }
RIGHT(right_class, "patch", GATEWAY_V1, "gatewayclasses"); /* finalizer */
RIGHT(right_class_status, "patch", GATEWAY_V1, "gatewayclasses/status");
RIGHT(right_gateway, "patch", GATEWAY_V1, "gateways"); /* finalizer and labels */
RIGHT(right_gateway_status, "patch", GATEWAY_V1, "gateways/status");
RIGHT(right_set, "patch", GATEWAY_V1, GATEWAY_SETS "/status");
RIGHT(right_tcp, "patch", GATEWAY_V1, "tcproutes/status");
RIGHT(right_udp, "patch", GATEWAY_V1, "udproutes/status");
RIGHT(right_tls, "patch", GATEWAY_V1, "tlsroutes/status");
RIGHT(right_pod, "get", "v1", "pods"); /* those with the address of a node */

const struct ccm_right *const gateway_rights[] = { &right_class,   &right_class_status,
                                                   &right_gateway, &right_gateway_status,
                                                   &right_set,     &right_tcp,
                                                   &right_udp,     &right_tls,
                                                   &right_pod,     NULL };
