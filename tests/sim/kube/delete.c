#include "definition.h"
#include "jx.h"
#include "status.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "verbs.h"
#include "write.h"

#include <errno.h>
#include <string.h>

/* DeleteOptions of body and query. */
struct options {
    cJSON *body;
    const char *policy; /* "", "Foreground", "Background", "Orphan" */
    int64_t grace;      /* -1 = not given */
    bool dry;
};

static void options_fini(struct options *options)
{
    cJSON_Delete(options->body);
}

static int check_policy(struct ccm_ks_call *call, const char *policy)
{
    static const char *const known[] = { "", "Foreground", "Background", "Orphan" };
    CCM_CLEANUP(ccm_json_freep) cJSON *faults = NULL;

    for (size_t i = 0; i < CCM_ARRAY_LEN(known); i++) {
        if (strcmp(known[i], policy) == 0) {
            return 0;
        }
    }
    faults = cJSON_CreateArray();
    ccm_ks_fault_unsupported(faults, "propagationPolicy", policy,
                             "\"Foreground\", \"Background\", \"Orphan\", \"nil\"");
    ccm_ks_status_invalid_options(call->reply, "DeleteOptions", faults);
    return -EINVAL;
}

/* 0, or negative after the reply was made. */
static int parse_options(struct ccm_ks_call *call, struct options *options)
{
    const struct ccm_sim_params *query = &call->req->query;

    if (call->req->body_len > 0 &&
        ccm_json_parse(call->req->body, call->req->body_len, &options->body) < 0) {
        ccm_ks_status_bad_request(call->reply, "couldn't get version/kind; json parse error: "
                                               "unexpected end of JSON input");
        return -EINVAL;
    }
    options->policy = ccm_sim_params_get(query, "propagationPolicy");
    if (options->policy == NULL) {
        options->policy = ccm_json_text(options->body, "propagationPolicy");
    }
    if (ccm_ks_call_number(call, "gracePeriodSeconds",
                           ccm_json_i64(options->body, "gracePeriodSeconds", -1),
                           &options->grace) < 0) {
        return -EINVAL;
    }
    options->dry = strcmp(ccm_sim_params_text(query, "dryRun"), "All") == 0 ||
                   ccm_ks_jx_has_text(ccm_json_get(options->body, "dryRun"), "All");
    return check_policy(call, options->policy);
}

static int precondition_fails(struct ccm_ks_call *call, const char *name, const char *what,
                              const char *wanted, const char *have, const char *hint)
{
    ccm_ks_status(call->reply, 409, "Conflict",
                  ccm_ks_status_details(name, call->kind->group, call->kind->kind),
                  "Operation cannot be fulfilled on %s \"%s\": the %s in the precondition (%s) "
                  "does not match the %s in record (%s). The object might have been %s",
                  call->kind->kind, name, what, wanted, what, have, hint);
    return -ESTALE;
}

static int check_preconditions(struct ccm_ks_call *call, const struct options *options,
                               const cJSON *object)
{
    const cJSON *meta = ccm_json_get(object, "metadata");
    const cJSON *wanted = ccm_json_get(options->body, "preconditions");
    const char *uid = ccm_json_str(wanted, "uid");
    const char *version = ccm_json_str(wanted, "resourceVersion");
    const char *name = ccm_json_text(meta, "name");

    if (uid != NULL && strcmp(uid, ccm_json_text(meta, "uid")) != 0) {
        return precondition_fails(call, name, "UID", uid, ccm_json_text(meta, "uid"),
                                  "deleted and then recreated");
    }
    if (version != NULL && strcmp(version, ccm_json_text(meta, "resourceVersion")) != 0) {
        return precondition_fails(call, name, "ResourceVersion", version,
                                  ccm_json_text(meta, "resourceVersion"), "modified");
    }
    return 0;
}

/* The finalizers that carry out a propagation policy: exactly the wanted one stays. */
static void set_policy_finalizer(cJSON *meta, const char *policy)
{
    static const char *const names[] = { "foregroundDeletion", "orphan" };
    cJSON *list = ccm_ks_jx_get(meta, "finalizers");
    const char *wanted = strcmp(policy, "Foreground") == 0 ? names[0]
                         : strcmp(policy, "Orphan") == 0   ? names[1]
                                                           : "";
    cJSON *next;

    if (policy[0] == '\0') {
        return;
    }
    for (cJSON *item = list == NULL ? NULL : list->child; item != NULL; item = next) {
        next = item->next;
        if (strcmp(item->valuestring, names[0]) == 0 || strcmp(item->valuestring, names[1]) == 0) {
            cJSON_Delete(cJSON_DetachItemViaPointer(list, item));
        }
    }
    if (wanted[0] != '\0') {
        if (list == NULL) {
            list = cJSON_CreateArray();
            ccm_ks_jx_set(meta, "finalizers", list);
        }
        (void)cJSON_AddItemToArray(list, cJSON_CreateString(wanted)); /* ENOMEM: see jx.h */
    }
}

/* Seconds a Pod is given to end; 0 for everything that is no running Pod. */
static int64_t grace_of(const struct ccm_ks_cluster *cluster, const struct ccm_ks_call *call,
                        const struct options *options, const cJSON *object)
{
    const cJSON *spec = ccm_json_get(object, "spec");
    const char *phase = ccm_json_text(ccm_json_get(object, "status"), "phase");

    if (cluster->options.controllers || call->kind->bucket != CCM_KS_PODS ||
        ccm_json_text(spec, "nodeName")[0] == '\0' || strcmp(phase, "Succeeded") == 0 ||
        strcmp(phase, "Failed") == 0) {
        return 0;
    }
    return options->grace >= 0 ? options->grace
                               : ccm_json_i64(spec, "terminationGracePeriodSeconds", 30);
}

static void set_deletion(struct ccm_ks_call *call, cJSON *object, int64_t grace)
{
    cJSON *meta = ccm_ks_jx_object(object, "metadata");
    char time[CCM_CLOCK_TEXT];

    ccm_clock_format(ccm_clock_wall_ms() + grace * 1000, time, sizeof(time));
    ccm_ks_jx_set_str(meta, "deletionTimestamp", time);
    if (call->kind->bucket == CCM_KS_NAMESPACES) {
        ccm_ks_jx_set_str(ccm_ks_jx_object(object, "status"), "phase", "Terminating");
    } else {
        ccm_ks_jx_set_int(meta, "deletionGracePeriodSeconds", grace);
    }
}

static void answer_gone(struct ccm_ks_call *call, struct ccm_ks_object *object)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *status = NULL;
    const cJSON *meta = ccm_json_get(object->json, "metadata");
    cJSON *details;

    if ((call->kind->traits & CCM_KS_DELETE_SHOWS_OBJECT) != 0) {
        ccm_ks_call_answer_stored(call, 200, object);
        return;
    }
    details =
        ccm_ks_status_details(ccm_json_text(meta, "name"), call->kind->group, call->kind->plural);
    ccm_ks_jx_set_str(details, "uid", ccm_json_text(meta, "uid"));
    status = ccm_ks_status_new(200, "", details, "");
    ccm_ks_jx_print(&call->reply->body, status);
    ccm_buf_addc(&call->reply->body, '\n');
}

/* Delete one object that is there. The object afterwards, borrowed or NULL when it is gone, through
 * *ret. */
static int delete_one(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                      const struct options *options, struct ccm_ks_object *object,
                      struct ccm_ks_object **ret)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *next = ccm_ks_jx_dup(object->json);
    cJSON *meta = ccm_ks_jx_object(next, "metadata");
    const bool going = ccm_json_get(meta, "deletionTimestamp") != NULL;
    const int64_t grace = grace_of(cluster, call, options, object->json);

    *ret = NULL;
    set_policy_finalizer(meta, options->policy);
    if (!going) {
        set_deletion(call, next, grace);
        if (call->kind->bucket == CCM_KS_CRDS) {
            ccm_ks_crd_begin_deletion(next);
        }
    } else if (grace < ccm_json_i64(meta, "deletionGracePeriodSeconds", 0)) {
        ccm_ks_jx_set_int(meta, "deletionGracePeriodSeconds", grace);
    }
    if (ccm_ks_write_may_go(next)) {
        return options->dry ? 0 : ccm_ks_write_remove(cluster, call, object->key);
    }
    *ret = object;
    if (options->dry || ccm_ks_jx_equal(next, object->json)) {
        return 0;
    }
    *ret = ccm_ks_write_store(cluster, call, object->key, CCM_STEAL(next));
    return *ret == NULL ? -ENOMEM : 0;
}

/* A Pod whose grace was cut short: the answer says so. */
static bool is_going_pod(const struct ccm_ks_call *call, const cJSON *object)
{
    return call->kind->bucket == CCM_KS_PODS &&
           ccm_json_get(ccm_json_get(object, "metadata"), "deletionTimestamp") != NULL;
}

bool ccm_ks_delete_object(struct ccm_ks_cluster *cluster, const struct ccm_ks_kind *kind,
                          struct ccm_ks_object *object)
{
    const struct options options = { .policy = "Background", .grace = -1 };
    struct ccm_sim_reply reply = { 0 };
    struct ccm_ks_call call = { .reply = &reply, .kind = kind };
    struct ccm_ks_object *after = NULL;
    const int r = delete_one(cluster, &call, &options, object, &after);

    ccm_buf_fini(&reply.body);
    return r == 0 && after == NULL;
}

static void delete_locked(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                          const struct options *options)
{
    struct ccm_ks_object *after = NULL;
    struct ccm_ks_object *object;
    char key[CCM_KS_KEY_MAX];

    ccm_ks_call_key(call, call->name, key);
    object = ccm_ks_store_get(cluster->store, call->kind->bucket, key);
    if (object == NULL) {
        ccm_ks_status_not_found(call->reply, call->kind, call->name);
        return;
    }
    if (check_preconditions(call, options, object->json) < 0) {
        return;
    }
    object = ccm_ks_object_ref(object);
    if (delete_one(cluster, call, options, object, &after) == 0) {
        if (after == NULL && is_going_pod(call, object->json)) {
            CCM_CLEANUP(ccm_json_freep) cJSON *last = ccm_ks_jx_dup(object->json);

            ccm_ks_jx_set_int(ccm_ks_jx_object(last, "metadata"), "deletionGracePeriodSeconds", 0);
            ccm_ks_call_answer(call, 200, last);
        } else if (after == NULL) {
            answer_gone(call, object);
        } else {
            ccm_ks_call_answer_stored(call, 200, after);
        }
    }
    ccm_ks_object_unref(object);
}

void ccm_ks_verb_delete(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call)
{
    CCM_CLEANUP(options_fini) struct options options = { 0 };

    if (parse_options(call, &options) < 0) {
        return;
    }
    ccm_ks_cluster_lock(cluster);
    delete_locked(cluster, call, &options);
    ccm_ks_cluster_unlock(cluster);
}

static void delete_all(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                       const struct options *options, const struct ccm_ks_selector *labels,
                       const struct ccm_ks_selector *fields)
{
    CCM_CLEANUP(ccm_ks_objects_fini) struct ccm_ks_objects objects = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf items = { 0 };
    char prefix[CCM_KS_KEY_MAX];

    ccm_ks_call_prefix(call, prefix);
    if (ccm_ks_store_list(cluster->store, call->kind->bucket, prefix, &objects) < 0) {
        ccm_ks_status(call->reply, 500, "InternalError", NULL, "out of memory");
        return;
    }
    for (size_t i = 0; i < objects.len; i++) {
        struct ccm_ks_object *object = objects.items[i];
        struct ccm_ks_object *after = NULL;

        if (!ccm_ks_selector_match(labels, object->json) ||
            !ccm_ks_selector_match(fields, object->json)) {
            continue;
        }
        if (delete_one(cluster, call, options, object, &after) < 0) {
            return;
        }
        ccm_buf_adds(&items, items.len == 0 ? "" : ",");
        ccm_ks_object_print(after == NULL ? object : after, call->kind, false, &items);
    }
    ccm_buf_addf(&call->reply->body, "{\"kind\":\"%sList\",\"apiVersion\":\"", call->kind->kind);
    ccm_ks_kind_api_version(&call->reply->body, call->kind);
    ccm_buf_addf(&call->reply->body,
                 "\",\"metadata\":{\"resourceVersion\":\"%llu\"},\"items\":[%s]}\n",
                 (unsigned long long)ccm_ks_store_version(cluster->store), ccm_buf_str(&items));
}

void ccm_ks_verb_delete_collection(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call)
{
    CCM_CLEANUP(options_fini) struct options options = { 0 };
    CCM_CLEANUP(ccm_ks_selector_freep) struct ccm_ks_selector *labels = NULL;
    CCM_CLEANUP(ccm_ks_selector_freep) struct ccm_ks_selector *fields = NULL;

    if (parse_options(call, &options) < 0 || ccm_ks_call_selectors(call, &labels, &fields) < 0) {
        return;
    }
    ccm_ks_cluster_lock(cluster);
    delete_all(cluster, call, &options, labels, fields);
    ccm_ks_cluster_unlock(cluster);
}
