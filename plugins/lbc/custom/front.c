#include "lbc/custom/front.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REMOVES    "$deleteFromPrimitiveList/finalizers"
#define LABELS_MAX 65536

static const struct lbc_custom_front *front_self(const struct ccm_host *host)
{
    return (const struct lbc_custom_front *)host;
}

#define HOST front_self(front)->custom.host

/* --- what the engine reads --- */

static const struct ccm_object *front_get(const struct ccm_host *front, uint64_t kind,
                                          const char *key)
{
    const struct lbc_custom_front *self = front_self(front);
    const struct ccm_service *view = NULL;

    if (kind != CCM_KIND_SERVICE) {
        return HOST->get(HOST, kind, key);
    }
    if (self->kind->view_new(self, key, &view) < 0) {
        HOST->log(HOST, CCM_LEVEL_ERROR, key, "not looked at: out of memory");
    }
    return view == NULL ? NULL : &view->meta;
}

static void front_release(const struct ccm_host *front, const struct ccm_object *object)
{
    if (object == NULL) {
        return;
    }
    if (object->kind == CCM_KIND_SERVICE) {
        front_self(front)->kind->view_free((const struct ccm_service *)object);
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
    const struct lbc_custom_front *self = front_self(front);
    const struct ccm_object *const *all = NULL;
    size_t count = 0;
    int r = 0;

    if (HOST->list_raw(HOST, self->kind->api_version, self->kind->resource, &all, &count) < 0) {
        return 0; /* the server does not have it */
    }
    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct ccm_service *view = NULL;

        r = self->kind->view_new(self, all[i]->key, &view);
        if (view != NULL) {
            r = objects_add(front, ret, &view->meta);
        }
    }
    HOST->release_list(HOST, all, count);
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
    const struct lbc_custom_front *self = front_self(front);
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *services = ccm_strmap_new(NULL);
    int r = services == NULL ? -ENOMEM : self->kind->services(self, key, services);
    void *cursor = NULL;
    const char *service = NULL;

    while (r == 0 && ccm_strmap_next(services, &cursor, &service, NULL)) {
        r = front_add_slices(front, service, ret);
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

static int front_fetch(const struct ccm_host *front, const struct ccm_request *req, uint64_t kind,
                       const char *namespace_, const char *name, const struct ccm_object **ret,
                       struct ccm_error *err)
{
    return HOST->fetch(HOST, req, kind, namespace_, name, ret, err);
}

/* --- what the engine writes --- */

static struct lbc_custom_place front_place_of(const struct lbc_custom_front *self,
                                              const struct ccm_object *object)
{
    return (struct lbc_custom_place){ object->key, self->kind->api_version, self->kind->resource,
                                      object };
}

/* Labels of a custom resource are not taken along with its status. */
static int front_write_labels(const struct lbc_custom_front *self, const struct ccm_request *req,
                              const struct ccm_object *object, const cJSON *labels,
                              struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LABELS_MAX };
    const struct lbc_custom_place place = front_place_of(self, object);

    for (const cJSON *label = ccm_json_members(labels); label != NULL; label = label->next) {
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

static const char *text_of(const cJSON *parent, const char *name)
{
    const char *text = ccm_json_text(parent, name);

    return text == NULL ? "" : text;
}

static void front_remember_status(struct lbc_custom_said *said, const cJSON *status)
{
    const cJSON *balancer = ccm_json_get(status, "loadBalancer");
    const cJSON *condition = ccm_json_items(status, "conditions");

    if (balancer != NULL) {
        const cJSON *first = ccm_json_items(balancer, "ingress");
        const char *name = ccm_json_text(first, "hostname");

        said->has_address = true;
        ccm_text_copy(said->address, sizeof(said->address),
                      ccm_text_empty(name) ? text_of(first, "ip") : name);
    }
    if (condition != NULL) {
        said->has_state = true;
        said->ready = ccm_text_equal(ccm_json_text(condition, "status"), "True");
        ccm_text_copy(said->reason, sizeof(said->reason), text_of(condition, "reason"));
        ccm_text_copy(said->message, sizeof(said->message), text_of(condition, "message"));
    }
}

/* Where a load balancer is released: whose the object is by then, need not be said in its status
 * by us any more. */
static int front_drop_address(const struct lbc_custom_front *self, const struct ccm_request *req,
                              const struct ccm_object *object, struct ccm_error *err)
{
    const struct lbc_custom_place place = front_place_of(self, object);

    return object->deleted_ms != 0
               ? 0
               : lbc_custom_write_patch(&self->custom, req, &place, "status",
                                        "{\"status\":{\"addresses\":null}}", false, err);
}

static int front_write_service(const struct lbc_custom_front *self, const struct ccm_request *req,
                               const struct ccm_object *object, const cJSON *body,
                               struct ccm_error *err)
{
    const cJSON *metadata = ccm_json_get(body, "metadata");
    struct lbc_custom_said *said = (struct lbc_custom_said *)lbc_custom_record_get(
        self->custom.records, object->key, object->uid);

    if (said == NULL) {
        return ccm_error_nomem(err);
    }
    if (ccm_json_get(metadata, "finalizers") != NULL || ccm_json_get(metadata, REMOVES) != NULL) {
        const struct lbc_custom_place place = front_place_of(self, object);

        return lbc_custom_write_finalizer(&self->custom, req, &place, self->finalizer,
                                          ccm_json_get(metadata, REMOVES) == NULL, err);
    }
    front_remember_status(said, ccm_json_get(body, "status"));

    const int r = front_write_labels(self, req, object, ccm_json_get(metadata, "labels"), err);
    const bool drops = said->has_address && said->address[0] == '\0' &&
                       ccm_json_get(ccm_json_get(body, "status"), "loadBalancer") != NULL;

    return r == 0 && drops ? front_drop_address(self, req, object, err) : r;
}

/* The name in the patch is that of the view: the request knows the key. */
static int front_patch(const struct ccm_host *front, const struct ccm_request *req,
                       const struct ccm_patch *patch, struct ccm_error *err)
{
    const struct lbc_custom_front *self = front_self(front);
    CCM_CLEANUP(ccm_json_freep) cJSON *body = NULL;
    const struct ccm_object *object = NULL;
    int r = 0;

    if (patch->kind != CCM_KIND_SERVICE) {
        return HOST->patch(HOST, req, patch, err);
    }
    if (ccm_json_parse(patch->body, strlen(patch->body), &body) < 0) {
        return ccm_error_nomem(err);
    }
    object = HOST->get_raw(HOST, self->kind->api_version, self->kind->resource, req->keys[0]);
    if (object == NULL) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_NOT_FOUND, "%s %s is gone", self->kind->kind,
                             req->keys[0]);
    }
    r = front_write_service(self, req, object, body, err);
    HOST->release(HOST, object);
    return r;
}

/* About the object itself. */
static void front_event(const struct ccm_host *front, const struct ccm_event *event)
{
    const struct lbc_custom_front *self = front_self(front);
    struct ccm_event own = *event;
    const struct ccm_object *object = NULL;

    if (event->object == NULL || event->object->kind != CCM_KIND_SERVICE) {
        HOST->event(HOST, event);
        return;
    }
    object = HOST->get_raw(HOST, self->kind->api_version, self->kind->resource, event->object->key);
    if (object != NULL) {
        own.object = object;
        HOST->event(HOST, &own);
        HOST->release(HOST, object);
    }
}

/* --- life cycle --- */

int lbc_custom_front_init(struct lbc_custom_front *front, const struct lbc_custom_kind *kind,
                          const char *finalizer, const struct ccm_host *host, size_t said_size)
{
    struct ccm_host *own = &front->relay.host;

    front->kind = kind;
    front->finalizer = finalizer;
    front->custom.host = host;
    front->custom.records = lbc_custom_records_new(said_size);
    lbc_relay_init(&front->relay, host);
    own->get = front_get;
    own->list = front_list;
    own->release = front_release;
    own->release_list = front_release_list;
    own->patch = front_patch;
    own->event = front_event;
    own->fetch = front_fetch;
    return front->custom.records == NULL ? -ENOMEM : 0;
}

void lbc_custom_front_fini(struct lbc_custom_front *front)
{
    lbc_custom_records_free(front->custom.records);
}
