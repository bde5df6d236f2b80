#include "front.h"

#include "item.h"
#include "lbc/custom/write.h"
#include "lbc/keys.h"
#include "memory.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REMOVES "$deleteFromPrimitiveList/finalizers"

static const struct gateway *front_self(const struct ccm_host *front)
{
    return (const struct gateway *)front;
}

static const struct ccm_host *front_host(const struct ccm_host *front)
{
    return front_self(front)->host;
}

#define HOST front_host(front)

/* --- what the engine reads --- */

static const struct ccm_object *front_get(const struct ccm_host *front, uint64_t kind,
                                          const char *key)
{
    const struct ccm_service *view = NULL;

    if (kind != CCM_KIND_SERVICE) {
        return HOST->get(HOST, kind, key);
    }
    if (gateway_view_new(front_self(front), key, &view) < 0) {
        HOST->log(HOST, CCM_LEVEL_ERROR, key, "not looked at: out of memory");
    }
    return view == NULL ? NULL : &view->meta;
}

static void front_release(const struct ccm_host *front, const struct ccm_object *object)
{
    if (object == NULL || object->kind == CCM_KIND_POD) {
        return; /* see front_fetch() */
    }
    if (object->kind == CCM_KIND_SERVICE) {
        gateway_view_free(object);
        return;
    }
    HOST->release(HOST, object);
}

/* Lists of the daemon's are of nodes; all others are made here. */
static void front_release_list(const struct ccm_host *front,
                               const struct ccm_object *const *objects, size_t count)
{
    if (count == 0 || objects[0]->kind == CCM_KIND_NODE) {
        HOST->release_list(HOST, objects, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        front_release(front, objects[i]);
    }
    free((void *)(uintptr_t)objects);
}

struct objects {
    const struct ccm_object **items;
    size_t len;
    size_t cap;
};

/* The reference moves in, or is released. */
static int objects_add(const struct ccm_host *front, struct objects *to,
                       const struct ccm_object *one)
{
    if (ccm_array_grow(&to->items, &to->cap, to->len + 1, sizeof(*to->items)) < 0) {
        front_release(front, one);
        return -ENOMEM;
    }
    to->items[to->len++] = one;
    return 0;
}

static int front_list_views(const struct ccm_host *front, struct objects *ret)
{
    const struct ccm_object *const *gateways = NULL;
    size_t count = 0;
    int r = 0;

    gateway_objects_list(HOST, GATEWAY_V1, "gateways", &gateways, &count);
    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct ccm_service *view = NULL;

        r = gateway_view_new(front_self(front), gateways[i]->key, &view);
        if (view != NULL) {
            r = objects_add(front, ret, &view->meta);
        }
    }
    HOST->release_list(HOST, gateways, count);
    return r;
}

static int front_add_slices(const struct ccm_host *front, const char *service, struct objects *ret)
{
    const struct ccm_object *const *slices = NULL;
    size_t count = 0;
    int r = HOST->list(HOST, CCM_KIND_ENDPOINT_SLICE, "service", service, &slices, &count);

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct ccm_object *one = HOST->get(HOST, CCM_KIND_ENDPOINT_SLICE, slices[i]->key);

        r = one == NULL ? 0 : objects_add(front, ret, one);
    }
    HOST->release_list(HOST, slices, count);
    return r;
}

static int front_list_slices(const struct ccm_host *front, const char *key, struct objects *ret)
{
    CCM_CLEANUP(gateway_subject_freep) struct gateway_subject *subject = NULL;
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *seen = ccm_strmap_new(NULL);
    int r = seen == NULL ? -ENOMEM : gateway_subject_new(front_self(front), key, true, &subject);

    for (size_t i = 0; r == 0 && subject != NULL && i < subject->count; i++) {
        const struct gateway_targets *targets = &subject->targets[i];

        for (size_t j = 0; r == 0 && j < targets->len; j++) {
            const char *service = targets->items[j].service->meta.key;

            if (!ccm_strmap_has(seen, service)) {
                r = ccm_strmap_set(seen, service, NULL);
                r = r < 0 ? r : front_add_slices(front, service, ret);
            }
        }
    }
    return r;
}

static int front_list(const struct ccm_host *front, uint64_t kind, const char *index,
                      const char *value, const struct ccm_object *const **ret_objects,
                      size_t *ret_count)
{
    struct objects found = { 0 };
    int r = 0;

    if (kind != CCM_KIND_SERVICE && kind != CCM_KIND_ENDPOINT_SLICE) {
        return HOST->list(HOST, kind, index, value, ret_objects, ret_count);
    }
    r = kind == CCM_KIND_SERVICE ? front_list_views(front, &found)
                                 : front_list_slices(front, value, &found);
    *ret_objects = NULL;
    *ret_count = 0;
    if (r == 0 && found.len > 0) {
        *ret_objects = found.items;
        *ret_count = found.len;
        return 0;
    }
    for (size_t i = 0; i < found.len; i++) {
        front_release(front, found.items[i]);
    }
    free(found.items);
    return r;
}

/* Readiness gates of pods are about Services: no pod has one for a Gateway. */
static int front_fetch(const struct ccm_host *front, const struct ccm_request *req, uint64_t kind,
                       const char *namespace_, const char *name, const struct ccm_object **ret,
                       struct ccm_error *err)
{
    static const struct ccm_pod no_gates = {
        .meta = { .struct_size = sizeof(no_gates), .kind = CCM_KIND_POD, .key = "", .uid = "" },
        .phase = "",
        .node_name = "",
        .ip = "",
    };

    if (kind == CCM_KIND_POD) {
        *ret = &no_gates.meta;
        return 0;
    }
    return HOST->fetch(HOST, req, kind, namespace_, name, ret, err);
}

/* --- what the engine writes --- */

static struct lbc_custom_place front_place_of(const struct ccm_object *gateway)
{
    return (struct lbc_custom_place){ gateway->key, GATEWAY_V1, "gateways", gateway };
}

/* Labels of a custom resource are not taken along with its status. */
static int front_write_labels(const struct gateway *self, const struct ccm_request *req,
                              const struct ccm_object *gateway, const cJSON *labels,
                              struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = 65536 };
    const struct lbc_custom_place place = front_place_of(gateway);
    const cJSON *label = NULL;

    cJSON_ArrayForEach(label, labels)
    {
        ccm_buf_adds(&body, body.len == 0 ? "{\"metadata\":{\"labels\":{" : ",");
        ccm_json_quote(&body, label->string);
        ccm_buf_addc(&body, ':');
        if (cJSON_IsString(label)) {
            ccm_json_quote(&body, label->valuestring);
        } else {
            ccm_buf_adds(&body, "null");
        }
    }
    if (body.len == 0) {
        return 0;
    }
    ccm_buf_adds(&body, "}}}");
    return ccm_buf_error(&body) < 0 ? ccm_error_nomem(err)
                                    : lbc_custom_write_patch(&self->custom, req, &place, NULL,
                                                             ccm_buf_str(&body), false, err);
}

static void front_remember_status(struct gateway_memory *memory, const cJSON *status)
{
    const cJSON *balancer = ccm_json_get(status, "loadBalancer");
    const cJSON *condition = ccm_json_items(status, "conditions");

    if (balancer != NULL) {
        const cJSON *first = ccm_json_items(balancer, "ingress");

        memory->has_address = true;
        ccm_text_copy(memory->address, sizeof(memory->address),
                      gateway_text(first, "hostname", gateway_text(first, "ip", "")));
    }
    if (condition != NULL) {
        memory->has_state = true;
        memory->ready = ccm_text_equal(ccm_json_text(condition, "status"), "True");
        ccm_text_copy(memory->reason, sizeof(memory->reason),
                      gateway_text(condition, "reason", ""));
        ccm_text_copy(memory->message, sizeof(memory->message),
                      gateway_text(condition, "message", ""));
    }
}

/* Where a load balancer is released: whose the Gateway is by then, need not be said in its status
 * by us any more. */
static int front_drop_address(const struct gateway *self, const struct ccm_request *req,
                              const struct ccm_object *gateway, struct ccm_error *err)
{
    const struct lbc_custom_place place = front_place_of(gateway);

    return gateway->deleted_ms != 0
               ? 0
               : lbc_custom_write_patch(&self->custom, req, &place, "status",
                                        "{\"status\":{\"addresses\":null}}", false, err);
}

static int front_write_service(const struct gateway *self, const struct ccm_request *req,
                               const struct ccm_object *gateway, const cJSON *body,
                               struct ccm_error *err)
{
    const cJSON *metadata = ccm_json_get(body, "metadata");
    struct gateway_memory *memory = gateway_memory_get(self, gateway->key, gateway->uid);

    if (memory == NULL) {
        return ccm_error_nomem(err);
    }
    if (ccm_json_get(metadata, "finalizers") != NULL || ccm_json_get(metadata, REMOVES) != NULL) {
        const struct lbc_custom_place place = front_place_of(gateway);

        return lbc_custom_write_finalizer(&self->custom, req, &place, self->finalizer,
                                          ccm_json_get(metadata, REMOVES) == NULL, err);
    }
    front_remember_status(memory, ccm_json_get(body, "status"));

    const int r = front_write_labels(self, req, gateway, ccm_json_get(metadata, "labels"), err);

    return r == 0 && memory->has_address && memory->address[0] == '\0'
               ? front_drop_address(self, req, gateway, err)
               : r;
}

/* The name in the patch is that of the view: the request knows the key. */
static int front_patch(const struct ccm_host *front, const struct ccm_request *req,
                       const struct ccm_patch *patch, struct ccm_error *err)
{
    const struct gateway *self = front_self(front);
    CCM_CLEANUP(ccm_json_freep) cJSON *body = NULL;
    const struct ccm_object *gateway = NULL;
    int r = 0;

    if (patch->kind != CCM_KIND_SERVICE) {
        return HOST->patch(HOST, req, patch, err);
    }
    if (ccm_json_parse(patch->body, strlen(patch->body), &body) < 0) {
        return ccm_error_nomem(err);
    }
    gateway = HOST->get_raw(HOST, GATEWAY_V1, "gateways", req->keys[0]);
    if (gateway == NULL) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_NOT_FOUND, "Gateway %s is gone", req->keys[0]);
    }
    r = front_write_service(self, req, gateway, body, err);
    HOST->release(HOST, gateway);
    return r;
}

/* About the Gateway itself. */
static void front_event(const struct ccm_host *front, const struct ccm_event *event)
{
    struct ccm_event own = *event;
    const struct ccm_object *gateway = NULL;

    if (event->object == NULL || event->object->kind != CCM_KIND_SERVICE) {
        HOST->event(HOST, event);
        return;
    }
    gateway = HOST->get_raw(HOST, GATEWAY_V1, "gateways", event->object->key);
    if (gateway != NULL) {
        own.object = gateway;
        HOST->event(HOST, &own);
        HOST->release(HOST, gateway);
    }
}

/* --- the table --- */

void gateway_front_init(struct gateway *self)
{
    struct ccm_host *front = &self->front.host;

    lbc_relay_init(&self->front, self->host);
    front->get = front_get;
    front->list = front_list;
    front->release = front_release;
    front->release_list = front_release_list;
    front->patch = front_patch;
    front->event = front_event;
    front->fetch = front_fetch;
}
