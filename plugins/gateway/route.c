#include "route.h"

#include "lbc/custom/condition.h"
#include "lbc/custom/parameters.h"
#include "lbc/custom/write.h"
#include "lbc/model/object.h"
#include "subject.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

char *gateway_route_key(enum gateway_route_kind kind, const char *name)
{
    return ccm_text_format("%s %s", gateway_route_names[kind].kind, name);
}

/* --- one parent --- */

static const struct lbc_custom_condition attach_words[] = {
    [GATEWAY_NO_PARENT] = { GATEWAY_ACCEPTED, false, "NoMatchingParent",
                            "nothing of that name and port is served there" },
    [GATEWAY_NOT_ALLOWED] = { GATEWAY_ACCEPTED, false, "NotAllowedByListeners",
                              "no listener takes routes of this kind from this namespace" },
    [GATEWAY_NO_HOSTNAME] = { GATEWAY_ACCEPTED, false, "NoMatchingListenerHostname",
                              "no listener has one of these names" },
    [GATEWAY_ATTACHED] = { GATEWAY_ACCEPTED, true, GATEWAY_ACCEPTED,
                           "of several routes of one listener the oldest serves" },
};

/* What is read once for all parents of a route, of which many may be one Gateway. */
struct route_look {
    const struct gateway *self;
    const struct lbc_custom_item *route;
    struct ccm_strmap *subjects; /* key -> Gateway, NULL = there is none */
    struct gateway_refs refs[2]; /* with nodes, and with pods as backends, */
    bool has_refs[2];            /* once they are read */
};

static void look_free_subject(void *value)
{
    struct gateway_subject *subject = value;

    gateway_subject_freep(&subject);
}

static int look_get_subject(struct route_look *look, const char *key, struct gateway_subject **ret)
{
    int r = 0;

    *ret = ccm_strmap_get(look->subjects, key);
    if (*ret != NULL || ccm_strmap_has(look->subjects, key)) {
        return 0;
    }
    r = gateway_subject_new(look->self, key, false, ret);
    if (r == 0 && ccm_strmap_set(look->subjects, key, *ret) < 0) {
        gateway_subject_freep(ret);
        r = -ENOMEM;
    }
    return r;
}

static int look_get_refs(struct route_look *look, bool pods, const struct gateway_refs **ret)
{
    struct gateway_targets targets = { 0 };
    int r = 0;

    *ret = &look->refs[pods];
    if (!look->has_refs[pods]) {
        r = gateway_targets_read(look->self->host, look->route, pods, &targets, &look->refs[pods]);
        gateway_targets_fini(look->self->host, &targets);
        look->has_refs[pods] = r == 0;
    }
    return r;
}

static int parent_put_conditions(struct route_look *look, const struct gateway_subject *subject,
                                 const cJSON *parent, const struct lbc_custom_moment *moment,
                                 cJSON *conditions)
{
    const struct lbc_custom_item *route = look->route;
    const struct gateway_refs *refs = NULL;
    enum gateway_attach best = GATEWAY_NO_PARENT;
    int r = look_get_refs(look, subject->pods, &refs);
    const struct lbc_custom_condition resolved = { GATEWAY_RESOLVED_REFS, refs->reason == NULL,
                                                   refs->reason == NULL ? GATEWAY_RESOLVED_REFS
                                                                        : refs->reason,
                                                   refs->why };

    for (size_t i = 0; i < subject->count; i++) {
        const struct gateway_listener *listener = &subject->listeners[i];
        enum gateway_attach one = GATEWAY_NO_PARENT;

        if (gateway_parent_is(parent, route->object, listener->owner_kind, listener->owner)) {
            one = gateway_listener_attach(subject->host, listener, route, parent);
        }
        best = one > best ? one : best;
    }
    r = r < 0 ? r : lbc_custom_condition_put(conditions, &attach_words[best], moment);
    return r < 0 ? r : lbc_custom_condition_put(conditions, &resolved, moment);
}

/* What was said of that parent before. */
static const cJSON *parents_find(const cJSON *parents, const char *controller, const cJSON *parent)
{
    for (const cJSON *one = ccm_json_elements(parents); one != NULL; one = one->next) {
        if (ccm_text_equal(ccm_json_text(one, "controllerName"), controller) &&
            cJSON_Compare(ccm_json_get(one, "parentRef"), parent, true)) {
            return one;
        }
    }
    return NULL;
}

/* conditions: moves in. */
static int parents_add(cJSON *parents, const char *controller, const cJSON *parent,
                       cJSON *conditions)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *one = cJSON_CreateObject();

    if (!lbc_custom_put(one, "conditions", conditions) ||
        !lbc_custom_put(one, "parentRef", cJSON_Duplicate(parent, true)) ||
        cJSON_AddStringToObject(one, "controllerName", controller) == NULL ||
        !cJSON_AddItemToArray(parents, one)) {
        return -ENOMEM;
    }
    (void)CCM_STEAL(one); /* the array owns it now */
    return 0;
}

/* shown: what the route says of its parents; NULL: as if it said nothing. */
static int route_add_parent(struct route_look *look, const cJSON *parent, const cJSON *shown,
                            const struct lbc_custom_moment *moment, cJSON *to)
{
    const char *controller = look->self->controller;
    const struct lbc_custom_item *route = look->route;
    struct gateway_subject *subject = NULL;
    CCM_CLEANUP(ccm_freep) char *key = NULL;
    CCM_CLEANUP(ccm_freep) char *set = NULL;
    cJSON *conditions = NULL;
    int r = gateway_parent_find(look->self->host, parent, route->object->namespace_, &key, &set);

    if (r == 0 && key != NULL) {
        r = look_get_subject(look, key, &subject);
    }
    if (r < 0 || subject == NULL || subject->claim != GATEWAY_OURS) {
        return r;
    }
    conditions = lbc_custom_array_copy(parents_find(shown, controller, parent), "conditions");
    if (conditions == NULL ||
        parent_put_conditions(look, subject, parent, moment, conditions) < 0) {
        cJSON_Delete(conditions);
        return -ENOMEM;
    }
    return parents_add(to, controller, parent, conditions);
}

/* --- a route --- */

#define PARENTS_MAX 32 /* of a status, by the API */

/* What others say of it stays, and stands first. */
static int route_keep_others(const struct gateway *self, const cJSON *shown, cJSON *to)
{
    for (const cJSON *one = ccm_json_elements(shown); one != NULL; one = one->next) {
        cJSON *copy = ccm_text_equal(ccm_json_text(one, "controllerName"), self->controller)
                          ? NULL
                          : cJSON_Duplicate(one, true);

        if (copy != NULL && !cJSON_AddItemToArray(to, copy)) {
            cJSON_Delete(copy);
            return -ENOMEM;
        }
    }
    return 0;
}

static cJSON *route_make_status(struct route_look *look, const cJSON *shown, int64_t wall_ms)
{
    const struct lbc_custom_item *route = look->route;
    CCM_CLEANUP(ccm_json_freep) cJSON *status = cJSON_CreateObject();
    cJSON *parents = status == NULL ? NULL : cJSON_AddArrayToObject(status, "parents");
    const cJSON *parent = ccm_json_items(ccm_json_get(route->json, "spec"), "parentRefs");
    const struct lbc_custom_moment moment = { route->object->generation, wall_ms };
    int r = parents == NULL ? -ENOMEM : route_keep_others(look->self, shown, parents);

    for (; r == 0 && parent != NULL && cJSON_GetArraySize(parents) < PARENTS_MAX;
         parent = parent->next) {
        r = route_add_parent(look, parent, shown, &moment, parents);
    }
    return r < 0 ? NULL : CCM_STEAL(status);
}

static int route_publish(const struct gateway *self, const struct ccm_request *req,
                         const struct lbc_custom_item *route, struct ccm_error *err)
{
    const cJSON *before = ccm_json_get(route->json, "status");
    const cJSON *shown = ccm_json_get(before, "parents");
    CCM_CLEANUP(ccm_strmap_freep)
    struct ccm_strmap *subjects = ccm_strmap_new(look_free_subject);
    struct route_look look = { .self = self, .route = route, .subjects = subjects };
    CCM_CLEANUP(ccm_json_freep) cJSON *status = NULL;
    const struct lbc_custom_place place = { req->keys[0], route->api_version,
                                            gateway_route_names[route->kind].resource,
                                            route->object };

    if (subjects != NULL) {
        status = route_make_status(&look, shown, self->host->wall_ms(self->host));
    }
    return lbc_custom_write_status(&self->front.custom, req, &place, status, before, err);
}

static int route_reconcile_kind(const struct gateway *self, const struct ccm_request *req,
                                enum gateway_route_kind kind, const char *name,
                                struct ccm_error *err)
{
    struct lbc_custom_item route = { 0 };
    int r = gateway_route_get(self->host, kind, name, &route);

    if (r < 0) {
        r = ccm_error_nomem(err);
    } else if (route.object == NULL) {
        lbc_custom_record_forget(self->front.custom.records, req->keys[0]);
    } else {
        r = route_publish(self, req, &route, err);
    }
    lbc_custom_item_fini(self->host, &route);
    return r;
}

/* --- a class --- */

/* What the tests of the API ask for by these names, in their order. TLSRoute is not among them:
 * names inside of TLS are not looked at. */
static const char *const class_features[] = { "Gateway",         "GatewayAddressEmpty",
                                              "GatewayPort8080", "ListenerSet",
                                              "ReferenceGrant",  "TCPRoute",
                                              "UDPRoute" };

static bool class_add_features(cJSON *status)
{
    cJSON *list = cJSON_AddArrayToObject(status, "supportedFeatures");
    bool added = list != NULL;

    for (size_t i = 0; added && i < CCM_ARRAY_LEN(class_features); i++) {
        cJSON *one = cJSON_CreateObject();

        added = one != NULL && cJSON_AddStringToObject(one, "name", class_features[i]) != NULL &&
                cJSON_AddItemToArray(list, one);
        if (!added) {
            cJSON_Delete(one);
        }
    }
    return added;
}

static cJSON *class_make_status(const cJSON *shown, const char *why,
                                const struct lbc_custom_moment *moment)
{
    const struct lbc_custom_condition accepted = {
        GATEWAY_ACCEPTED, why == NULL, why == NULL ? GATEWAY_ACCEPTED : "InvalidParameters",
        why == NULL ? "Gateways of this class become network load balancers" : why
    };
    CCM_CLEANUP(ccm_json_freep) cJSON *status = cJSON_CreateObject();
    cJSON *conditions = lbc_custom_array_copy(shown, "conditions");

    if (!lbc_custom_put(status, "conditions", conditions) ||
        lbc_custom_condition_put(conditions, &accepted, moment) < 0 ||
        !class_add_features(status)) {
        return NULL;
    }
    return CCM_STEAL(status);
}

static int class_publish(const struct gateway *self, const struct ccm_request *req,
                         const struct lbc_custom_place *place, const cJSON *class,
                         struct ccm_error *err)
{
    const cJSON *shown = ccm_json_get(class, "status");
    const cJSON *ref = ccm_json_get(ccm_json_get(class, "spec"), "parametersRef");
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *parameters = ccm_strmap_new(free);
    CCM_CLEANUP(ccm_json_freep) cJSON *status = NULL;
    const struct lbc_custom_moment moment = { place->object->generation,
                                              self->host->wall_ms(self->host) };
    const char *why = NULL;

    if (parameters == NULL ||
        lbc_custom_parameters_read(self->host, ref, NULL, parameters, &why) < 0) {
        return ccm_error_nomem(err);
    }
    status = class_make_status(shown, why, &moment);
    return lbc_custom_write_status(&self->front.custom, req, place, status, shown, err);
}

/* Whether a load balancer is there for a Gateway of that class. */
static bool class_is_used(const struct gateway *self, const char *name)
{
    const struct ccm_object *const *gateways = NULL;
    size_t count = 0;
    bool used = false;

    lbc_custom_objects_list(self->host, GATEWAY_V1, "gateways", &gateways, &count);
    for (size_t i = 0; !used && i < count; i++) {
        CCM_CLEANUP(ccm_freep) char *class = gateway_class_of(gateways[i]);

        used = lbc_object_has_finalizer(gateways[i], self->finalizer) &&
               (class == NULL || strcmp(class, name) == 0); /* out of memory: it may be */
    }
    self->host->release_list(self->host, gateways, count);
    return used;
}

/* A class stays as long as a Gateway needs it to be released by. */
static int class_keep(const struct gateway *self, const struct ccm_request *req,
                      const struct lbc_custom_place *place, struct ccm_error *err)
{
    const struct ccm_object *class = place->object;
    struct lbc_custom_record *memory =
        lbc_custom_record_get(self->front.custom.records, place->key, class->uid);
    const bool used = class_is_used(self, class->name);

    if (memory == NULL) {
        return ccm_error_nomem(err);
    }
    if (!lbc_custom_record_is_behind(memory, class->resource_version)) {
        memory->held = lbc_object_has_finalizer(class, GATEWAY_CLASS_FINALIZER);
    }
    if (used == memory->held || (used && class->deleted_ms != 0)) {
        return 0; /* what is being deleted takes no finalizer any more */
    }
    return lbc_custom_write_finalizer(&self->front.custom, req, place, GATEWAY_CLASS_FINALIZER,
                                      used, err);
}

static int class_reconcile(const struct gateway *self, const struct ccm_request *req,
                           const char *name, struct ccm_error *err)
{
    struct lbc_custom_item class = { 0 };
    int r = lbc_custom_item_get(self->host, GATEWAY_V1, "gatewayclasses", name, &class);

    if (r < 0) {
        r = ccm_error_nomem(err);
    } else if (class.object == NULL) {
        lbc_custom_record_forget(self->front.custom.records, req->keys[0]);
    } else if (ccm_text_equal(ccm_json_text(ccm_json_get(class.json, "spec"), "controllerName"),
                              self->controller)) {
        const struct lbc_custom_place place = { req->keys[0], GATEWAY_V1, "gatewayclasses",
                                                class.object };

        r = class_keep(self, req, &place, err);
        r = r < 0 ? r : class_publish(self, req, &place, class.json, err);
    }
    lbc_custom_item_fini(self->host, &class);
    return r;
}

bool gateway_route_reconcile(const struct gateway *self, const struct ccm_request *req, int *ret,
                             struct ccm_error *err)
{
    const char *key = req->keys[0];

    if (ccm_text_starts(key, GATEWAY_CLASS_KEY)) {
        *ret = class_reconcile(self, req, key + strlen(GATEWAY_CLASS_KEY), err);
        return true;
    }
    for (unsigned kind = 0; kind < GATEWAY_ROUTE_KINDS; kind++) {
        const char *name = gateway_route_names[kind].kind;

        if (ccm_text_starts(key, name) && key[strlen(name)] == ' ') {
            *ret = route_reconcile_kind(self, req, (enum gateway_route_kind)kind,
                                        key + strlen(name) + 1, err);
            return true;
        }
    }
    return false;
}
