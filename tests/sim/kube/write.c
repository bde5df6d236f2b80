#include "write.h"

#include "binary.h"
#include "catalog.h"
#include "jx.h"
#include "names.h"
#include "schema.h"
#include "status.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"
#include "verbs.h"
#include "webhook.h"
#include "yaml.h"

#include <errno.h>
#include <string.h>

#define WARNINGS_MAX 32

void ccm_ks_write_warn(struct ccm_ks_call *call, const char *text)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf header = { .max = 4096 };

    ccm_buf_adds(&header, "299 - ");
    ccm_json_quote(&header, text);
    if (ccm_buf_error(&header) == 0 &&
        ccm_sim_params_add(&call->reply->headers, "Warning", ccm_buf_str(&header)) < 0) {
        return; /* ENOMEM: one warning less */
    }
}

int ccm_ks_write_options(struct ccm_ks_call *call, const char *options, bool *ret_dry,
                         enum ccm_ks_validation *ret_validation)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *faults = cJSON_CreateArray();
    const char *dry = ccm_sim_params_text(&call->req->query, "dryRun");
    const char *mode = ccm_sim_params_text(&call->req->query, "fieldValidation");

    *ret_dry = strcmp(dry, "All") == 0;
    *ret_validation = strcmp(mode, "Strict") == 0   ? CCM_KS_STRICT
                      : strcmp(mode, "Ignore") == 0 ? CCM_KS_IGNORE
                                                    : CCM_KS_WARN;
    if (dry[0] != '\0' && !*ret_dry) {
        CCM_CLEANUP(ccm_json_freep) cJSON *fault = cJSON_CreateObject();
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = 4096 };

        ccm_buf_adds(&message, "Unsupported value: [");
        ccm_json_quote(&message, dry);
        ccm_buf_adds(&message, "]: supported values: \"All\"");
        ccm_ks_jx_set_str(fault, "reason", "FieldValueNotSupported");
        ccm_ks_jx_set_str(fault, "message", ccm_buf_str(&message));
        ccm_ks_jx_set_str(fault, "field", "dryRun");
        (void)cJSON_AddItemToArray(faults, CCM_STEAL(fault)); /* ENOMEM: see jx.h */
    }
    if (*ret_validation == CCM_KS_WARN && mode[0] != '\0' && strcmp(mode, "Warn") != 0) {
        ccm_ks_fault_unsupported(faults, "fieldValidation", mode,
                                 "\"\", \"Ignore\", \"Strict\", \"Warn\"");
    }
    if (cJSON_GetArraySize(faults) > 0) {
        ccm_ks_status_invalid_options(call->reply, options, faults);
        return -EINVAL;
    }
    return 0;
}

/* apiVersion and kind first, as the server writes objects when it patches them. */
static void print_patched(struct ccm_buf *text, const cJSON *in)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *ordered = cJSON_CreateObject();
    const cJSON *item;

    ccm_ks_jx_carry(ordered, in, "apiVersion");
    ccm_ks_jx_carry(ordered, in, "kind");
    cJSON_ArrayForEach(item, in)
    {
        ccm_ks_jx_carry(ordered, in, item->string);
    }
    ccm_ks_jx_print(text, ordered);
}

/* The outcome of a patch is quoted in the error. */
static void patched_error(struct ccm_ks_call *call, const cJSON *in, const char *message)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *faults = cJSON_CreateArray();
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = CCM_KS_BODY_MAX };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf title = { .max = CCM_KS_BODY_MAX };
    cJSON *details = cJSON_CreateObject();

    print_patched(&text, in);
    ccm_ks_fault_invalid_str(faults, "patch", ccm_buf_str(&text), "%s", message);
    ccm_buf_addf(&title, " \"\" is invalid: patch: %s", ccm_json_text(faults->child, "message"));
    ccm_ks_jx_set(details, "causes", CCM_STEAL(faults));
    ccm_ks_status(call->reply, 422, "Invalid", details, "%s", ccm_buf_str(&title));
}

static void decode_error(struct ccm_ks_call *call, const cJSON *in, bool patched,
                         const char *message)
{
    if (patched) {
        patched_error(call, in, message);
    } else {
        ccm_ks_status_bad_request(call->reply, "%s in version \"%s\" cannot be handled as a %s: %s",
                                  call->kind->kind, call->kind->version, call->kind->kind, message);
    }
}

static int report_found(struct ccm_ks_call *call, const cJSON *in, const cJSON *found,
                        enum ccm_ks_validation validation, bool patched)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = 65536 };
    const cJSON *item;
    int count = 0;

    if (cJSON_GetArraySize(found) == 0 || validation == CCM_KS_IGNORE) {
        return 0;
    }
    ccm_buf_adds(&message, "strict decoding error: ");
    cJSON_ArrayForEach(item, found)
    {
        ccm_buf_addf(&message, "%s%s", count == 0 ? "" : ", ", item->valuestring);
        if (validation == CCM_KS_WARN && count < WARNINGS_MAX) {
            ccm_ks_write_warn(call, item->valuestring);
        }
        count++;
    }
    if (validation == CCM_KS_WARN) {
        return 0;
    }
    decode_error(call, in, patched, ccm_buf_str(&message));
    return -EINVAL;
}

static int check_type(struct ccm_ks_call *call, const cJSON *in)
{
    const char *kind = ccm_json_text(in, "kind");
    const char *version = ccm_json_text(in, "apiVersion");
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf own = { .max = 256 };

    ccm_ks_kind_api_version(&own, call->kind);
    if (kind[0] != '\0' && strcmp(kind, call->kind->kind) != 0) {
        ccm_ks_status_bad_request(call->reply,
                                  "%s in version \"%s\" cannot be handled as a %s: converting "
                                  "(%s.%s) to (%s.%s): unknown conversion",
                                  kind, version, call->kind->kind, version, kind,
                                  call->kind->group[0] == '\0' ? "core" : call->kind->group,
                                  call->kind->kind);
        return -EINVAL;
    }
    if (version[0] != '\0' && strcmp(version, ccm_buf_str(&own)) != 0) {
        ccm_ks_status_bad_request(call->reply,
                                  "the API version in the data (%s) does not match the expected "
                                  "API version (%s)",
                                  version, ccm_buf_str(&own));
        return -EINVAL;
    }
    return 0;
}

int ccm_ks_write_decode(struct ccm_ks_call *call, const cJSON *in,
                        enum ccm_ks_validation validation, bool patched, cJSON **ret)
{
    CCM_CLEANUP(ccm_ks_decode_fini) struct ccm_ks_decode decode = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *object = NULL;

    if (check_type(call, in) < 0) {
        return -EINVAL;
    }
    object = ccm_ks_schema_decode(call->kind->schema, in, &decode);
    if (object == NULL) {
        decode_error(call, in, patched, ccm_buf_str(&decode.error));
        return -EINVAL;
    }
    if (report_found(call, in, decode.found, validation, patched) < 0) {
        return -EINVAL;
    }
    ccm_ks_jx_del(object, "kind");
    ccm_ks_jx_del(object, "apiVersion");
    ccm_ks_jx_del(ccm_ks_jx_object(object, "metadata"), "managedFields");
    if (call->kind->defaults != NULL) {
        call->kind->defaults(object);
    }
    if (call->kind->from_view != NULL) {
        cJSON *stored = call->kind->from_view(object);

        cJSON_Delete(object);
        object = stored;
    }
    if (object == NULL) {
        ccm_ks_status(call->reply, 500, "InternalError", NULL, "out of memory");
        return -ENOMEM;
    }
    *ret = CCM_STEAL(object);
    return 0;
}

static void fail(struct ccm_ks_call *call, const char *why)
{
    cJSON *details = cJSON_CreateObject();
    cJSON *causes = cJSON_CreateArray();
    cJSON *cause = cJSON_CreateObject();

    ccm_ks_jx_set_str(cause, "message", why);
    (void)cJSON_AddItemToArray(causes, cause); /* ENOMEM: see jx.h */
    ccm_ks_jx_set(details, "causes", causes);
    ccm_ks_status(call->reply, 500, "InternalError", details, "Internal error occurred: %s", why);
}

int ccm_ks_write_check(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call, cJSON *object,
                       const cJSON *old)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *faults = cJSON_CreateArray();
    struct ccm_ks_write write = { .object = object,
                                  .old = old,
                                  .dual_stack = cluster->options.dual_stack,
                                  .status = call->sub[0] != '\0',
                                  .alloc = cluster->alloc,
                                  .faults = faults };

    if (call->kind->prepare != NULL) {
        call->kind->prepare(&write);
    }
    if (write.failure != NULL && cJSON_GetArraySize(faults) == 0) {
        fail(call, write.failure);
        return -ENOSPC;
    }
    if (cJSON_GetArraySize(faults) == 0) {
        ccm_ks_names_validate_meta(call->kind, object, old, faults);
        if (old != NULL) { /* once by the server, once by the kind, and both are told */
            ccm_ks_names_validate_meta(call->kind, object, old, faults);
        }
        if (call->kind->validate != NULL) {
            call->kind->validate(&write);
        }
    }
    if (call->kind->bucket == CCM_KS_SERVICES && !write.status &&
        ccm_json_items(ccm_json_get(object, "spec"), "externalIPs") != NULL) {
        ccm_ks_write_warn(call,
                          "spec.externalIPs is deprecated and may no longer be implemented in "
                          "some clusters");
    }
    if (cJSON_GetArraySize(faults) > 0) {
        ccm_ks_status_invalid(call->reply, call->kind,
                              ccm_json_text(ccm_json_get(object, "metadata"), "name"), faults);
        return -EINVAL;
    }
    return ccm_ks_webhook_review(cluster, call, object, old);
}

cJSON *ccm_ks_write_canonical(enum ccm_ks_bucket bucket, cJSON *object)
{
    CCM_CLEANUP(ccm_ks_decode_fini) struct ccm_ks_decode decode = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *owned = object;

    return ccm_ks_schema_decode(ccm_ks_kind_of(bucket)->schema, owned, &decode);
}

struct ccm_ks_object *ccm_ks_write_store(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                                         const char *key, cJSON *object)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf size = { .max = CCM_KS_STORE_MAX };
    const enum ccm_ks_bucket bucket = call->kind->bucket;
    struct ccm_ks_object *before = ccm_ks_store_get(cluster->store, bucket, key);
    const cJSON *old = before == NULL ? NULL : before->json;
    struct ccm_ks_object *stored = NULL;

    ccm_ks_jx_set_str(ccm_ks_jx_object(object, "metadata"), "resourceVersion", "0");
    object = ccm_ks_write_canonical(bucket, object);
    if (ccm_json_print(&size, object) == -EMSGSIZE) {
        cJSON_Delete(object);
        ccm_ks_status(call->reply, 500, "", NULL, "etcdserver: request is too large");
        return NULL;
    }
    if (bucket == CCM_KS_SERVICES) {
        ccm_ks_alloc_record(cluster->alloc, old, object);
    }
    if (object != NULL) {
        stored = ccm_ks_store_put(cluster->store, bucket, key, object);
    }
    if (stored == NULL || (bucket == CCM_KS_CRDS && ccm_ks_catalog_reload(cluster->store) < 0)) {
        ccm_ks_status(call->reply, 500, "InternalError", NULL, "out of memory");
        return NULL;
    }
    (void)pthread_cond_broadcast(&cluster->changed); /* cannot fail */
    return stored;
}

int ccm_ks_write_remove(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call, const char *key)
{
    const enum ccm_ks_bucket bucket = call->kind->bucket;
    struct ccm_ks_object *object = ccm_ks_store_get(cluster->store, bucket, key);

    if (bucket == CCM_KS_SERVICES && object != NULL) {
        ccm_ks_alloc_record(cluster->alloc, object->json, NULL);
    }
    if (ccm_ks_store_remove(cluster->store, bucket, key) < 0 ||
        (bucket == CCM_KS_CRDS && ccm_ks_catalog_reload(cluster->store) < 0)) {
        ccm_ks_status(call->reply, 500, "InternalError", NULL, "out of memory");
        return -ENOMEM;
    }
    (void)pthread_cond_broadcast(&cluster->changed); /* cannot fail */
    return 0;
}

bool ccm_ks_write_may_go(const cJSON *object)
{
    const cJSON *meta = ccm_json_get(object, "metadata");

    return ccm_json_get(meta, "deletionTimestamp") != NULL &&
           ccm_json_items(meta, "finalizers") == NULL &&
           ccm_json_items(ccm_json_get(object, "spec"), "finalizers") == NULL &&
           ccm_json_i64(meta, "deletionGracePeriodSeconds", 0) == 0;
}

/* --- create --- */

static int check_namespace(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                           const char *name)
{
    const struct ccm_ks_object *ns;

    if (!call->kind->namespaced) {
        return 0;
    }
    ns = ccm_ks_store_get(cluster->store, CCM_KS_NAMESPACES, call->ns);
    if (ns == NULL) {
        ccm_ks_status_not_found(call->reply, ccm_ks_kind_of(CCM_KS_NAMESPACES), call->ns);
        return -ENOENT;
    }
    if (ccm_json_get(ccm_json_get(ns->json, "metadata"), "deletionTimestamp") != NULL) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf plural = { .max = 256 };
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { .max = 512 };
        cJSON *details = ccm_ks_status_details(name, call->kind->group, call->kind->plural);
        cJSON *causes = cJSON_CreateArray();
        cJSON *cause = cJSON_CreateObject();

        ccm_ks_status_plural(&plural, call->kind);
        ccm_buf_addf(&why, "namespace %s is being terminated", call->ns);
        ccm_ks_jx_set_str(cause, "reason", "NamespaceTerminating");
        ccm_ks_jx_set_str(cause, "message", ccm_buf_str(&why));
        ccm_ks_jx_set_str(cause, "field", "metadata.namespace");
        (void)cJSON_AddItemToArray(causes, cause); /* ENOMEM: see jx.h */
        ccm_ks_jx_set(details, "causes", causes);
        ccm_ks_status(call->reply, 403, "Forbidden", details,
                      "%s \"%s\" is forbidden: unable to create new content in namespace %s "
                      "because it is being terminated",
                      ccm_buf_str(&plural), name, call->ns);
        return -EPERM;
    }
    return 0;
}

/* "web-" -> "web-x7k2p" */
static void generate_name(cJSON *meta)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf name = { .max = 512 };
    const char *prefix = ccm_json_text(meta, "generateName");
    char uid[37];

    if (ccm_json_text(meta, "name")[0] != '\0' || prefix[0] == '\0') {
        return;
    }
    ccm_ks_cluster_uid(uid);
    ccm_buf_addf(&name, "%.58s", prefix);
    for (size_t i = 0; i < 5; i++) {
        const unsigned v = (unsigned)(uid[i] * 7 + uid[24 + i] * 31 + uid[30 + i]);

        ccm_buf_addc(&name, letters[v % (sizeof(letters) - 1)]);
    }
    ccm_ks_jx_set_str(meta, "name", ccm_buf_str(&name));
}

static void fill_metadata(struct ccm_ks_call *call, cJSON *object)
{
    static const char *const of_server[] = { "deletionTimestamp", "deletionGracePeriodSeconds",
                                             "selfLink", "resourceVersion", "generation" };
    cJSON *meta = ccm_ks_jx_object(object, "metadata");
    char time[CCM_CLOCK_TEXT];
    char uid[37];

    for (size_t i = 0; i < CCM_ARRAY_LEN(of_server); i++) {
        ccm_ks_jx_del(meta, of_server[i]);
    }
    ccm_ks_cluster_uid(uid);
    ccm_clock_format(ccm_clock_wall_ms(), time, sizeof(time));
    ccm_ks_jx_set_str(meta, "uid", uid);
    ccm_ks_jx_set_str(meta, "creationTimestamp", time);
    if (call->kind->namespaced) {
        ccm_ks_jx_set_str(meta, "namespace", call->ns);
    } else {
        ccm_ks_jx_del(meta, "namespace");
    }
    if ((call->kind->traits & CCM_KS_HAS_GENERATION) != 0) {
        ccm_ks_jx_set_int(meta, "generation", 1);
    }
    if ((call->kind->traits & CCM_KS_HAS_STATUS) != 0 &&
        (call->kind->traits & CCM_KS_STATUS_AT_CREATE) == 0) {
        ccm_ks_jx_set(object, "status",
                      call->kind->bucket >= CCM_KS_CUSTOM ? NULL : cJSON_CreateObject());
    }
}

static int check_exists(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call, const char *name,
                        const char *key)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf plural = { .max = 256 };
    const struct ccm_ks_object *there = ccm_ks_store_get(cluster->store, call->kind->bucket, key);

    if (there == NULL) {
        return 0;
    }

    const bool going =
        ccm_json_get(ccm_json_get(there->json, "metadata"), "deletionTimestamp") != NULL;

    ccm_ks_status_plural(&plural, call->kind);
    ccm_ks_status(call->reply, 409, "AlreadyExists",
                  ccm_ks_status_details(name, call->kind->group, call->kind->plural),
                  "%s%s \"%s\" already exists", going ? "object is being deleted: " : "",
                  ccm_buf_str(&plural), name);
    return -EEXIST;
}

void ccm_ks_write_create(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call, cJSON *object,
                         bool dry)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *owned = object;
    cJSON *meta = ccm_ks_jx_object(object, "metadata");
    char key[CCM_KS_KEY_MAX];

    if (call->kind->closing) {
        ccm_ks_status(call->reply, 405, "MethodNotAllowed", cJSON_CreateObject(),
                      "create not allowed while custom resource definition is terminating");
        return;
    }
    generate_name(meta);
    if (check_namespace(cluster, call, ccm_json_text(meta, "name")) < 0) {
        return;
    }
    fill_metadata(call, object);
    if (ccm_ks_write_check(cluster, call, object, NULL) < 0) {
        return;
    }

    const char *name = ccm_json_text(ccm_json_get(object, "metadata"), "name");
    ccm_ks_call_key(call, name, key);
    if (check_exists(cluster, call, name, key) < 0) {
        return;
    }
    if (dry) {
        owned = ccm_ks_write_canonical(call->kind->bucket, CCM_STEAL(owned));
        ccm_ks_call_answer(call, 201, owned);
        return;
    }

    struct ccm_ks_object *stored = ccm_ks_write_store(cluster, call, key, CCM_STEAL(owned));

    if (stored != NULL) {
        ccm_ks_call_answer_stored(call, 201, stored);
    }
}

static int parse_body(struct ccm_ks_call *call, const char *type, cJSON **ret)
{
    const struct ccm_sim_request *req = call->req;

    if (ccm_text_empty(type) || ccm_text_starts(type, "application/json")) {
        return ccm_json_parse(req->body, req->body_len, ret);
    }
    if (ccm_text_starts(type, "application/yaml")) {
        return ccm_ks_yaml_parse(req->body, req->body_len, ret);
    }
    if (ccm_text_starts(type, "application/vnd.kubernetes.protobuf") &&
        ccm_ks_binary_can(call->kind->schema)) {
        return ccm_ks_binary_parse(call->kind->schema, req->body, req->body_len, ret);
    }
    return -ENOTSUP;
}

int ccm_ks_write_parse_body(struct ccm_ks_call *call, cJSON **ret)
{
    const struct ccm_sim_request *req = call->req;
    const int r = parse_body(call, ccm_sim_request_header(req, "content-type"), ret);

    if (r == -ENOTSUP) {
        ccm_ks_status(
            call->reply, 415, "UnsupportedMediaType", NULL,
            "the body of the request was in an unknown format - accepted media types "
            "include: application/json, application/yaml%s",
            ccm_ks_binary_can(call->kind->schema) ? ", application/vnd.kubernetes.protobuf" : "");
        return -EINVAL;
    }
    if (r < 0) {
        ccm_ks_status_bad_request(call->reply,
                                  "the object provided is unrecognized (must be of type %s): "
                                  "couldn't get version/kind; json parse error: unexpected end of "
                                  "JSON input (%.64s)",
                                  call->kind->kind, req->body);
        return -EINVAL;
    }
    return 0;
}

int ccm_ks_write_check_namespace(struct ccm_ks_call *call, const cJSON *object)
{
    const char *ns = ccm_json_text(ccm_json_get(object, "metadata"), "namespace");

    if (call->kind->namespaced && ns[0] != '\0' && strcmp(ns, call->ns) != 0) {
        ccm_ks_status_bad_request(call->reply,
                                  "the namespace of the provided object does not match the "
                                  "namespace sent on the request");
        return -EINVAL;
    }
    return 0;
}

void ccm_ks_verb_create(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *in = NULL;
    CCM_CLEANUP(ccm_json_freep) cJSON *object = NULL;
    enum ccm_ks_validation validation;
    bool dry;

    if (ccm_ks_write_options(call, "CreateOptions", &dry, &validation) < 0 ||
        ccm_ks_write_parse_body(call, &in) < 0 ||
        ccm_ks_write_decode(call, in, validation, false, &object) < 0 ||
        ccm_ks_write_check_namespace(call, object) < 0) {
        return;
    }
    ccm_ks_cluster_lock(cluster);
    ccm_ks_write_create(cluster, call, CCM_STEAL(object), dry);
    ccm_ks_cluster_unlock(cluster);
}
