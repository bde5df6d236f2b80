/*
 * All objects that plugin gateway reads, as servers without a schema would let people write them:
 * one JSON text a line, by its `kind`. Each is a change of its watch, and each key that it leads to
 * is worked on without a cloud: Gateways become Services and a desired state, all say their status.
 */
#include "fuzz.h"

#include "alilb/uploads.h"
#include "gateway/controller.h"
#include "gateway/mapping.h"
#include "gateway/memory.h"
#include "gateway/route.h"
#include "gateway/secret_ref.h"
#include "gateway/status.h"
#include "gateway/view.h"
#include "kube/object/decode.h"
#include "lbc/instance.h"
#include "lbc/model/absence.h"
#include "util/cleanup.h"
#include "util/raw_values.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>

#define OBJECTS_MAX 64
#define KEYS_MAX    256

/* The version and resource of a kind; those without are of the caches by their number. */
static const struct kind {
    const char *name;
    const char *api_version;
    const char *resource;
    uint64_t number;
} kinds[] = {
    { "GatewayClass", GATEWAY_V1, "gatewayclasses", CCM_KIND_RAW },
    { "Gateway", GATEWAY_V1, "gateways", CCM_KIND_RAW },
    { "ListenerSet", GATEWAY_V1, GATEWAY_SETS, CCM_KIND_RAW },
    { "TCPRoute", GATEWAY_V1, "tcproutes", CCM_KIND_RAW },
    { "UDPRoute", GATEWAY_V1, "udproutes", CCM_KIND_RAW },
    { "TLSRoute", GATEWAY_V1ALPHA2, "tlsroutes", CCM_KIND_RAW },
    { "ReferenceGrant", GATEWAY_V1BETA1, "referencegrants", CCM_KIND_RAW },
    { "Namespace", "v1", "namespaces", CCM_KIND_RAW },
    { "ConfigMap", "v1", "configmaps", CCM_KIND_RAW },
    { "Secret", "v1", "secrets", CCM_KIND_RAW },
    { "Service", NULL, NULL, CCM_KIND_SERVICE },
    { "EndpointSlice", NULL, NULL, CCM_KIND_ENDPOINT_SLICE },
    { "Node", NULL, NULL, CCM_KIND_NODE },
};

/* The daemon: a host and what its caches hold. */
struct cluster {
    struct ccm_host host; /* first */
    const struct ccm_object *objects[OBJECTS_MAX];
    const struct kind *kinds[OBJECTS_MAX];
    size_t count;
    struct ccm_strmap *keys; /* that were enqueued */
};

static const struct cluster *cluster_of(const struct ccm_host *host)
{
    return (const struct cluster *)host;
}

/* --- the host --- */

static void host_log(const struct ccm_host *host, uint64_t level, const char *object,
                     const char *format, ...) CCM_PRINTF(4, 5);

static void host_log(const struct ccm_host *host, uint64_t level, const char *object,
                     const char *format, ...)
{
    (void)host;
    (void)level;
    (void)object;
    (void)format;
}

static int64_t host_now(const struct ccm_host *host)
{
    (void)host;
    return 1000000;
}

static bool host_dry_run(const struct ccm_host *host)
{
    (void)host;
    return false;
}

static const char *host_string(const struct ccm_host *host, const char *group, const char *name)
{
    (void)host;
    (void)group;
    return strcmp(name, gateway_opt_controller.name) == 0 ? GATEWAY_CONTROLLER : "";
}

static int64_t host_int(const struct ccm_host *host, const char *group, const char *name)
{
    (void)host;
    (void)group;
    return strcmp(name, alilb_opt_upload.name) == 0 ? 1 : 0;
}

static const char *const *host_strings(const struct ccm_host *host, const char *group,
                                       const char *name)
{
    static const char *const none[] = { NULL };
    static const char *const allowed[] = { "default:certificate:101-*", NULL };

    (void)host;
    (void)group;
    return strcmp(name, lbc_opt_allowed.name) == 0 ? allowed : none;
}

static bool kind_is(const struct kind *kind, uint64_t number, const char *api_version,
                    const char *resource)
{
    return kind->number == number &&
           (number != CCM_KIND_RAW || (ccm_text_equal(kind->api_version, api_version) &&
                                       ccm_text_equal(kind->resource, resource)));
}

static const struct ccm_object *cluster_find(const struct cluster *cluster, uint64_t number,
                                             const char *api_version, const char *resource,
                                             const char *key)
{
    for (size_t i = cluster->count; i > 0; i--) {
        if (kind_is(cluster->kinds[i - 1], number, api_version, resource) &&
            strcmp(cluster->objects[i - 1]->key, key) == 0) {
            return kube_object_ref(cluster->objects[i - 1]);
        }
    }
    return NULL;
}

static const struct ccm_object *host_get(const struct ccm_host *host, uint64_t kind,
                                         const char *key)
{
    return cluster_find(cluster_of(host), kind, NULL, NULL, key);
}

static const struct ccm_object *host_get_raw(const struct ccm_host *host, const char *api_version,
                                             const char *resource, const char *key)
{
    return cluster_find(cluster_of(host), CCM_KIND_RAW, api_version, resource, key);
}

static void host_release(const struct ccm_host *host, const struct ccm_object *object)
{
    (void)host;
    kube_object_unref(object);
}

static void host_release_list(const struct ccm_host *host, const struct ccm_object *const *objects,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        host_release(host, objects[i]);
    }
    free((void *)(uintptr_t)objects);
}

/* Whether the index of the watch of that resource has the value for the object. */
static bool index_has(const char *api_version, const char *resource, const char *name,
                      const struct ccm_object *object, const char *value)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf values = { .max = 0 };

    for (size_t i = 0; gateway_watches[i] != NULL; i++) {
        const struct ccm_watch *watch = gateway_watches[i];

        for (size_t j = 0; watch->indexes != NULL && watch->indexes[j] != NULL; j++) {
            if (ccm_text_equal(watch->api_version, api_version) &&
                ccm_text_equal(watch->resource, resource) &&
                strcmp(watch->indexes[j]->name, name) == 0) {
                ccm_raw_values(watch->indexes[j], object, &values);
            }
        }
    }
    for (size_t at = 0; ccm_buf_error(&values) == 0 && at < values.len;
         at += strlen(ccm_buf_str(&values) + at) + 1) {
        if (strcmp(ccm_buf_str(&values) + at, value) == 0) {
            return true;
        }
    }
    return false;
}

/* index NULL: all of the kind. */
static int cluster_list(const struct cluster *cluster, const struct kind *like, const char *index,
                        const char *value, const struct ccm_object *const **ret, size_t *ret_count)
{
    const struct ccm_object **found = calloc(OBJECTS_MAX, sizeof(*found));

    *ret = found;
    *ret_count = 0;
    for (size_t i = 0; found != NULL && i < cluster->count; i++) {
        const struct ccm_object *one = cluster->objects[i];

        if (kind_is(cluster->kinds[i], like->number, like->api_version, like->resource) &&
            (index == NULL || index_has(like->api_version, like->resource, index, one, value))) {
            found[(*ret_count)++] = kube_object_ref(one);
        }
    }
    return found == NULL ? -ENOMEM : 0;
}

static int host_list(const struct ccm_host *host, uint64_t kind, const char *index,
                     const char *value, const struct ccm_object *const **ret, size_t *ret_count)
{
    const struct kind like = { .number = kind };

    (void)index;
    (void)value;
    return cluster_list(cluster_of(host), &like, NULL, NULL, ret, ret_count);
}

static int host_list_raw_by(const struct ccm_host *host, const char *api_version,
                            const char *resource, const char *index, const char *value,
                            const struct ccm_object *const **ret, size_t *ret_count)
{
    const struct kind like = { NULL, api_version, resource, CCM_KIND_RAW };

    return cluster_list(cluster_of(host), &like, index, value, ret, ret_count);
}

static int host_list_raw(const struct ccm_host *host, const char *api_version, const char *resource,
                         const struct ccm_object *const **ret, size_t *ret_count)
{
    return host_list_raw_by(host, api_version, resource, NULL, NULL, ret, ret_count);
}

static int host_fetch_raw(const struct ccm_host *host, const struct ccm_request *req,
                          const struct ccm_raw_call *call, const struct ccm_object **ret,
                          struct ccm_error *err)
{
    char key[512];

    (void)req;
    FUZZ_REQUIRE(call->name[0] != '\0' && strchr(call->name, '/') == NULL &&
                 strchr(call->namespace_, '/') == NULL);
    ccm_text_printf(key, sizeof(key), "%s/%s", call->namespace_, call->name);
    *ret = host_get_raw(host, call->api_version, call->resource, key);
    return *ret != NULL ? 0 : ccm_error_set(err, -ENOENT, CCM_ERROR_NOT_FOUND, "no %s", key);
}

/* What would be written has to be JSON. */
static int host_patch_raw(const struct ccm_host *host, const struct ccm_request *req,
                          const struct ccm_raw_call *call, const struct ccm_object **ret,
                          struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *body = NULL;

    (void)host;
    (void)req;
    FUZZ_REQUIRE(call->body[0] == '{' && call->body[strlen(call->body) - 1] == '}');
    *ret = NULL;
    return ccm_json_parse(call->body, strlen(call->body), &body) < 0 ? ccm_error_nomem(err) : 0;
}

static void host_enqueue(const struct ccm_host *host, const char *key, uint64_t lane,
                         uint64_t delay_ms)
{
    const struct cluster *cluster = cluster_of(host);

    (void)lane;
    (void)delay_ms;
    FUZZ_REQUIRE(key[0] != '\0');
    if (ccm_strmap_len(cluster->keys) < KEYS_MAX && ccm_strmap_set(cluster->keys, key, NULL) < 0) {
        return; /* out of memory: it is not worked on */
    }
}

static void host_event(const struct ccm_host *host, const struct ccm_event *event)
{
    (void)host;
    FUZZ_REQUIRE(event->object != NULL && event->message != NULL);
}

static const struct ccm_host host_table = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_host),
    .log = host_log,
    .now_ms = host_now,
    .wall_ms = host_now,
    .dry_run = host_dry_run,
    .option_string = host_string,
    .option_int = host_int,
    .option_strings = host_strings,
    .get = host_get,
    .list = host_list,
    .release = host_release,
    .release_list = host_release_list,
    .get_raw = host_get_raw,
    .list_raw = host_list_raw,
    .list_raw_by = host_list_raw_by,
    .fetch_raw = host_fetch_raw,
    .patch_raw = host_patch_raw,
    .enqueue = host_enqueue,
    .event = host_event,
};

/* --- the objects --- */

static void cluster_add(struct cluster *cluster, struct kube_builder *builder, const char *line)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    const char *name = NULL;

    if (cluster->count == OBJECTS_MAX || ccm_json_parse(line, strlen(line), &json) < 0) {
        return;
    }
    name = ccm_json_text(json, "kind");
    for (size_t i = 0; i < CCM_ARRAY_LEN(kinds); i++) {
        const struct kube_decode_kind kind = { .kind = kinds[i].number,
                                               .api_version = kinds[i].api_version };

        if (strcmp(name, kinds[i].name) == 0 &&
            kube_decode(builder, &kind, line, strlen(line), &cluster->objects[cluster->count],
                        &err) == 0) {
            cluster->kinds[cluster->count++] = &kinds[i];
        }
    }
}

static void cluster_read(struct cluster *cluster, char *text)
{
    CCM_CLEANUP(kube_builder_freep) struct kube_builder *builder = kube_builder_new();

    for (char *line = text, *next = NULL; builder != NULL && line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        cluster_add(cluster, builder, line);
    }
}

/* Each object as it is created, changed and deleted. */
static void cluster_map(const struct cluster *cluster, struct gateway *self)
{
    for (size_t i = 0; i < cluster->count; i++) {
        const struct ccm_object *one = cluster->objects[i];

        for (size_t w = 0; gateway_watches[w] != NULL; w++) {
            const struct ccm_watch *watch = gateway_watches[w];

            if (!kind_is(cluster->kinds[i], watch->kind, watch->api_version, watch->resource)) {
                continue;
            }
            watch->map(self, &(const struct ccm_change){ sizeof(struct ccm_change),
                                                         CCM_CHANGE_ADDED, NULL, one, 0 });
            watch->map(self, &(const struct ccm_change){ sizeof(struct ccm_change),
                                                         CCM_CHANGE_UPDATED, one, one, 0 });
            watch->map(self, &(const struct ccm_change){ sizeof(struct ccm_change),
                                                         CCM_CHANGE_DELETED, one, NULL, 0 });
        }
    }
}

/* --- keys --- */

static void gateway_read_secrets(const struct gateway *self, const struct gateway_subject *subject)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts secrets = { 0 };

    int r = 0;

    for (size_t i = 0; r == 0 && i < subject->count; i++) {
        r = gateway_secrets_put(self, &subject->listeners[i], &secrets);
    }
    for (size_t i = 0; i < secrets.len; i++) {
        CCM_CLEANUP(alilb_tls_secret_fini) struct alilb_tls_secret secret = { 0 };
        struct ccm_error err = CCM_ERROR_INIT;

        FUZZ_REQUIRE(alilb_tls_secret_fetch(self->host, NULL, secrets.items[i], &secret, &err) ==
                         0 ||
                     err.kind == CCM_ERROR_TRANSIENT);
    }
}

/* What the engine would ask of the cloud. */
static void gateway_build_model(const struct gateway *self, const struct ccm_service *service)
{
    CCM_CLEANUP(lbc_refusals_fini) struct lbc_refusals refused = LBC_REFUSALS_INIT;
    struct lbc_problems problems = LBC_PROBLEMS_INIT;
    struct lbc_model_input in = { .cluster_id = "c1", .refused = &refused };
    struct lbc_model *model = calloc(1, self->model.size);
    struct ccm_error err = CCM_ERROR_INIT;

    if (model != NULL && lbc_refusals_collect(&refused, &self->rules, service) == 0) {
        in.service = lbc_refusals_view(&refused);
        FUZZ_REQUIRE(in.service == NULL ||
                     lbc_model_build(model, &self->model, &in, &problems, &err) == 0 ||
                     err.kind == CCM_ERROR_TRANSIENT);
        lbc_model_fini(model);
    }
    free(model);
    lbc_problems_fini(&problems);
}

static void gateway_work(struct gateway *self, const struct ccm_request *req)
{
    CCM_CLEANUP(gateway_subject_freep) struct gateway_subject *subject = NULL;
    const struct ccm_host *front = &self->front.relay.host;
    const struct ccm_object *view = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    bool programmed = false;

    if (gateway_subject_new(self, req->keys[0], true, &subject) < 0 || subject == NULL) {
        return;
    }
    gateway_read_secrets(self, subject);
    view = front->get(front, CCM_KIND_SERVICE, req->keys[0]);
    if (view != NULL) {
        gateway_build_model(self, (const struct ccm_service *)view);
        front->release(front, view);
    }
    for (int settled = 0; settled < 2; settled++) {
        FUZZ_REQUIRE(gateway_status_publish(self, req, subject, settled != 0, &programmed, &err) ==
                         0 ||
                     err.kind == CCM_ERROR_TRANSIENT);
    }
    gateway_sets_mark(self, subject, true);
}

static void cluster_work(const struct cluster *cluster, struct gateway *self)
{
    const char *key = NULL;
    void *cursor = NULL;

    while (ccm_strmap_next(cluster->keys, &cursor, &key, NULL)) {
        const struct ccm_request req = { .struct_size = sizeof(req), .keys = &key, .key_count = 1 };
        struct ccm_error err = CCM_ERROR_INIT;
        int r = 0;

        if (ccm_text_starts(key, GATEWAY_SET_KEY)) {
            r = gateway_set_reconcile(self, &req, &err);
        } else if (!gateway_route_reconcile(self, &req, &r, &err)) {
            gateway_work(self, &req);
        }
        FUZZ_REQUIRE(r == 0 || err.kind == CCM_ERROR_TRANSIENT); /* out of memory */
    }
}

/* As plugin_create(), but for the cloud. */
static int gateway_init(struct gateway *self, struct lbc_instance *lbc, struct cluster *cluster)
{
    self->host = &cluster->host;
    self->controller = GATEWAY_CONTROLLER;
    self->lbc = lbc;
    gateway_controller_init(self);
    lbc->host = &self->front.relay.host;
    lbc->ops = &self->ops;
    lbc->absence = lbc_absence_new(&cluster->host);
    self->uploads = alilb_uploads_new();
    self->past = gateway_past_new();
    return lbc_custom_front_init(&self->front, &gateway_views, self->finalizer, &cluster->host,
                                 sizeof(struct gateway_memory)) < 0 ||
                   lbc->absence == NULL || self->uploads == NULL || self->past == NULL
               ? -ENOMEM
               : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CCM_CLEANUP(ccm_freep) char *text = fuzz_text(data, size);
    struct cluster *cluster = calloc(1, sizeof(*cluster));
    struct gateway *self = calloc(1, sizeof(*self));
    struct lbc_instance *lbc = calloc(1, sizeof(*lbc));

    if (text != NULL && cluster != NULL && self != NULL && lbc != NULL) {
        cluster->host = host_table;
        cluster->keys = ccm_strmap_new(NULL);
        if (cluster->keys != NULL && gateway_init(self, lbc, cluster) == 0) {
            cluster_read(cluster, text);
            cluster_map(cluster, self);
            cluster_work(cluster, self);
        }
        lbc_custom_front_fini(&self->front);
        alilb_uploads_free(self->uploads);
        gateway_past_free(self->past);
        lbc_absence_free(lbc->absence);
        for (size_t i = 0; i < cluster->count; i++) {
            kube_object_unref(cluster->objects[i]);
        }
        ccm_strmap_free(cluster->keys);
    }
    free(lbc);
    free(self);
    free(cluster);
    return 0;
}
