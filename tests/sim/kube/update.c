#include "jx.h"
#include "patch.h"
#include "status.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "verbs.h"
#include "write.h"

#include <errno.h>
#include <string.h>

/* What a writer cannot change stays as it was. */
static void restore_metadata(cJSON *meta, const cJSON *old)
{
    static const char *const of_server[] = { "uid",
                                             "creationTimestamp",
                                             "namespace",
                                             "name",
                                             "generation",
                                             "generateName",
                                             "selfLink",
                                             "deletionTimestamp",
                                             "deletionGracePeriodSeconds",
                                             "resourceVersion" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(of_server); i++) {
        ccm_ks_jx_carry(meta, old, of_server[i]);
    }
}

/* The parts of `object` that this path may not write come from `old`. */
static void keep_other_parts(struct ccm_ks_call *call, cJSON *object, const cJSON *old)
{
    const bool finalize = strcmp(call->sub, "finalize") == 0;
    const cJSON *item;

    if (call->sub[0] == '\0') {
        if ((call->kind->traits & CCM_KS_HAS_STATUS) != 0) {
            ccm_ks_jx_carry(object, old, "status");
        }
        return;
    }
    for (item = object->child; item != NULL;) {
        const cJSON *next = item->next;
        const bool mine = strcmp(item->string, finalize ? "spec" : "status") == 0 ||
                          strcmp(item->string, "metadata") == 0;

        if (!mine) {
            ccm_ks_jx_carry(object, old, item->string);
        }
        item = next;
    }
    cJSON_ArrayForEach(item, old)
    {
        const bool removed = call->kind->bucket >= CCM_KS_CUSTOM &&
                             strcmp(item->string, "status") == 0; /* nothing says it has to be */

        if (!removed && ccm_ks_jx_get(object, item->string) == NULL) {
            ccm_ks_jx_carry(object, old, item->string);
        }
    }
    if (call->kind->bucket >= CCM_KS_CUSTOM) {
        ccm_ks_jx_carry(object, old, "metadata");
    }
}

static int check_identity(struct ccm_ks_call *call, const cJSON *meta, const cJSON *old)
{
    const char *version = ccm_json_text(meta, "resourceVersion");
    const char *uid = ccm_json_text(meta, "uid");

    if (version[0] == '\0' || strcmp(version, "0") == 0) {
        if ((call->kind->traits & CCM_KS_PUT_NEEDS_VERSION) != 0 &&
            call->verb == CCM_KS_VERB_UPDATE) {
            CCM_CLEANUP(ccm_json_freep) cJSON *faults = cJSON_CreateArray();
            CCM_CLEANUP(ccm_json_freep) cJSON *zero = cJSON_CreateNumber(0);

            ccm_ks_fault_invalid(faults, "metadata.resourceVersion", zero,
                                 "must be specified for an update");
            ccm_ks_status_invalid_plural(call->reply, call->kind, call->name, faults);
            return -EINVAL;
        }
    } else if (strcmp(version, ccm_json_text(old, "resourceVersion")) != 0) {
        ccm_ks_status_conflict(call->reply, call->kind, call->name, NULL);
        return -ESTALE;
    }
    if (uid[0] == '\0' || strcmp(uid, ccm_json_text(old, "uid")) == 0) {
        return 0;
    }
    if (call->verb == CCM_KS_VERB_UPDATE) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { .max = 1024 };

        ccm_buf_addf(&why,
                     "StorageError: invalid object, Code: 4, Key: /registry/%s/%s/%s, "
                     "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                     "precondition: %s, UID in object meta: %s",
                     call->kind->plural, call->ns, call->name, uid, ccm_json_text(old, "uid"));
        ccm_ks_status_conflict(call->reply, call->kind, call->name, ccm_buf_str(&why));
    } else {
        CCM_CLEANUP(ccm_json_freep) cJSON *faults = cJSON_CreateArray();

        ccm_ks_fault_invalid_str(faults, "metadata.uid", uid, "field is immutable");
        ccm_ks_fault_invalid_str(faults, "metadata.uid", uid,
                                 "field is immutable"); /* told twice */
        ccm_ks_status_invalid(call->reply, call->kind, call->name, faults);
    }
    return -ESTALE;
}

/* Anything but metadata, and status where that is a subresource, differs. */
static bool spec_changed(const struct ccm_ks_kind *kind, const cJSON *object, const cJSON *old)
{
    const bool all = (kind->traits & CCM_KS_HAS_STATUS) == 0;
    const cJSON *item;

    cJSON_ArrayForEach(item, object)
    {
        if (strcmp(item->string, "metadata") != 0 && (all || strcmp(item->string, "status") != 0) &&
            !ccm_ks_jx_equal(item, cJSON_GetObjectItemCaseSensitive(old, item->string))) {
            return true;
        }
    }
    return false;
}

/* The last finalizer went: the answer shows the new state, the watch the old one; nothing is
 * stored. */
static void finish_removal(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                           const char *key, const cJSON *object)
{
    if (ccm_ks_write_remove(cluster, call, key) == 0) {
        ccm_ks_call_answer(call, 200, object);
    }
}

/* Bring a decoded object (taken) in place of `before`. */
static void replace(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call, cJSON *object,
                    struct ccm_ks_object *before, bool dry)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *owned = object;
    cJSON *meta = ccm_ks_jx_object(object, "metadata");
    const cJSON *old = before->json;
    char key[CCM_KS_KEY_MAX];

    if (check_identity(call, meta, ccm_json_get(old, "metadata")) < 0) {
        return;
    }
    restore_metadata(meta, ccm_json_get(old, "metadata"));
    keep_other_parts(call, object, old);
    if (ccm_ks_write_check(cluster, call, object, old) < 0) {
        return;
    }
    owned = ccm_ks_write_canonical(call->kind->bucket, CCM_STEAL(owned));
    if (owned == NULL || ccm_ks_jx_equal(owned, old)) {
        ccm_ks_call_answer_stored(call, 200, before);
        return;
    }
    if ((call->kind->traits & CCM_KS_HAS_GENERATION) != 0 && spec_changed(call->kind, owned, old)) {
        const int64_t generation = ccm_json_i64(ccm_json_get(old, "metadata"), "generation", 0) + 1;

        ccm_ks_jx_set_int(ccm_ks_jx_object(owned, "metadata"), "generation", generation);
    }
    ccm_ks_call_key(call, call->name, key);
    if (dry) {
        ccm_ks_call_answer(call, 200, owned);
    } else if (ccm_ks_write_may_go(owned)) {
        finish_removal(cluster, call, key, owned);
    } else {
        struct ccm_ks_object *stored = ccm_ks_write_store(cluster, call, key, CCM_STEAL(owned));

        if (stored != NULL) {
            ccm_ks_call_answer_stored(call, 200, stored);
        }
    }
}

static int check_body_name(struct ccm_ks_call *call, const cJSON *object)
{
    const char *name = ccm_json_text(ccm_json_get(object, "metadata"), "name");

    if (name[0] != '\0' && strcmp(name, call->name) != 0) {
        ccm_ks_status_bad_request(
            call->reply, "the name of the object (%s) does not match the name on the URL (%s)",
            name, call->name);
        return -EINVAL;
    }
    return ccm_ks_write_check_namespace(call, object);
}

void ccm_ks_verb_update(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *in = NULL;
    CCM_CLEANUP(ccm_json_freep) cJSON *object = NULL;
    enum ccm_ks_validation validation;
    char key[CCM_KS_KEY_MAX];
    bool dry;

    if (ccm_ks_write_options(call, "UpdateOptions", &dry, &validation) < 0 ||
        ccm_ks_write_parse_body(call, &in) < 0 ||
        ccm_ks_write_decode(call, in, validation, false, &object) < 0 ||
        check_body_name(call, object) < 0) {
        return;
    }
    ccm_ks_call_key(call, call->name, key);
    ccm_ks_cluster_lock(cluster);

    struct ccm_ks_object *before = ccm_ks_store_get(cluster->store, call->kind->bucket, key);

    if (before != NULL) {
        replace(cluster, call, CCM_STEAL(object), before, dry);
    } else if ((call->kind->traits & CCM_KS_PUT_CREATES) != 0 && call->sub[0] == '\0') {
        ccm_ks_jx_set_str(ccm_ks_jx_object(object, "metadata"), "name", call->name);
        ccm_ks_write_create(cluster, call, CCM_STEAL(object), dry);
    } else {
        ccm_ks_status_not_found(call->reply, call->kind, call->name);
    }
    ccm_ks_cluster_unlock(cluster);
}

/* --- patch --- */

enum patch_type { PATCH_MERGE, PATCH_STRATEGIC, PATCH_JSON, PATCH_UNKNOWN };

static enum patch_type patch_type_of(const struct ccm_sim_request *req)
{
    const char *type = ccm_sim_request_header(req, "content-type");

    if (type == NULL) {
        return PATCH_UNKNOWN;
    }
    if (ccm_text_starts(type, "application/merge-patch+json")) {
        return PATCH_MERGE;
    }
    if (ccm_text_starts(type, "application/strategic-merge-patch+json")) {
        return PATCH_STRATEGIC;
    }
    return ccm_text_starts(type, "application/json-patch+json") ? PATCH_JSON : PATCH_UNKNOWN;
}

/* The stored object as its kind shows it, kind and apiVersion included: what patches work on. */
static cJSON *shown(struct ccm_ks_call *call, const struct ccm_ks_object *object)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf version = { .max = 256 };
    cJSON *tree = call->kind->to_view == NULL ? ccm_ks_jx_dup(object->json)
                                              : call->kind->to_view(object->json);

    ccm_ks_kind_api_version(&version, call->kind);
    ccm_ks_jx_set_str(tree, "kind", call->kind->kind);
    ccm_ks_jx_set_str(tree, "apiVersion", ccm_buf_str(&version));
    return tree;
}

/* 0, or negative after the reply was made. */
static int apply(struct ccm_ks_call *call, enum patch_type type, const cJSON *object,
                 const cJSON *patch, cJSON **ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = 65536 };
    int r;

    if (type == PATCH_MERGE) {
        r = ccm_ks_patch_merge(object, patch, ret, &message);
    } else if (type == PATCH_STRATEGIC) {
        r = ccm_ks_patch_strategic(object, patch, call->kind->schema, ret, &message);
    } else {
        r = ccm_ks_patch_json(object, patch, ret, &message);
    }
    if (r == 0) {
        return 0;
    }
    if (r == -EBADMSG) {
        ccm_ks_status_bad_request(call->reply, "%s", ccm_buf_str(&message));
    } else if (r == -EINVAL && type == PATCH_JSON) {
        ccm_ks_status(call->reply, 422, "Invalid", cJSON_CreateObject(), "%s",
                      ccm_buf_str(&message));
    } else {
        ccm_ks_status(call->reply, 500, "", NULL, "%s", ccm_buf_str(&message));
    }
    return r;
}

static void patch_locked(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                         enum patch_type type, const cJSON *patch, bool dry,
                         enum ccm_ks_validation validation)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *now = NULL;
    CCM_CLEANUP(ccm_json_freep) cJSON *patched = NULL;
    CCM_CLEANUP(ccm_json_freep) cJSON *object = NULL;
    char key[CCM_KS_KEY_MAX];

    ccm_ks_call_key(call, call->name, key);

    struct ccm_ks_object *before = ccm_ks_store_get(cluster->store, call->kind->bucket, key);

    if (before == NULL) {
        ccm_ks_status_not_found(call->reply, call->kind, call->name);
        return;
    }
    now = shown(call, before);
    if (apply(call, type, now, patch, &patched) < 0 ||
        ccm_ks_write_decode(call, patched, validation, true, &object) < 0 ||
        check_body_name(call, object) < 0) {
        return;
    }
    replace(cluster, call, CCM_STEAL(object), before, dry);
}

void ccm_ks_verb_patch(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *patch = NULL;
    const enum patch_type type = patch_type_of(call->req);
    enum ccm_ks_validation validation;
    bool dry;

    if (type == PATCH_UNKNOWN) {
        ccm_ks_status(call->reply, 415, "UnsupportedMediaType", cJSON_CreateObject(),
                      "415: Unsupported Media Type");
        return;
    }
    if (type == PATCH_STRATEGIC && call->kind->bucket >= CCM_KS_CUSTOM) {
        ccm_ks_status(call->reply, 415, "UnsupportedMediaType", cJSON_CreateObject(),
                      "the body of the request was in an unknown format - accepted media types "
                      "include: application/json-patch+json, application/merge-patch+json");
        return;
    }
    if (ccm_ks_write_options(call, "PatchOptions", &dry, &validation) < 0) {
        return;
    }
    if (ccm_sim_params_get(&call->req->query, "force") != NULL) {
        CCM_CLEANUP(ccm_json_freep) cJSON *faults = cJSON_CreateArray();

        ccm_ks_fault_forbidden(faults, "force", "may not be specified for non-apply patch");
        ccm_ks_status_invalid_options(call->reply, "PatchOptions", faults);
        return;
    }
    if (ccm_json_parse(call->req->body, call->req->body_len, &patch) < 0) {
        ccm_ks_status_bad_request(call->reply,
                                  "error decoding patch: unexpected end of JSON input");
        return;
    }
    ccm_ks_cluster_lock(cluster);
    patch_locked(cluster, call, type, patch, dry, validation);
    ccm_ks_cluster_unlock(cluster);
}
