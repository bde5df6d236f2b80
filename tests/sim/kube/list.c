#include "jx.h"
#include "status.h"
#include "token.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LIST_MAX       ((size_t)1024 * 1024 * 1024)
#define FUTURE_WAIT_MS 3000

struct listing {
    struct ccm_ks_selector *labels;
    struct ccm_ks_selector *fields;
    struct ccm_ks_objects objects;
    int64_t limit;
    uint64_t version;           /* of the answer */
    bool exact;                 /* state as of `version`, not the newest */
    char start[CCM_KS_KEY_MAX]; /* go on behind this key; "" = from the first */
};

static void listing_fini(struct listing *l)
{
    ccm_ks_selector_free(l->labels);
    ccm_ks_selector_free(l->fields);
    ccm_ks_objects_fini(&l->objects);
}

static void lock_fini(struct ccm_ks_cluster **cluster)
{
    if (*cluster != NULL) {
        ccm_ks_cluster_unlock(*cluster);
    }
}

void ccm_ks_verb_get(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call)
{
    char key[CCM_KS_KEY_MAX];

    ccm_ks_call_key(call, call->name, key);
    ccm_ks_cluster_lock(cluster);

    CCM_CLEANUP(lock_fini) struct ccm_ks_cluster *locked = cluster;
    struct ccm_ks_object *object = ccm_ks_store_get(locked->store, call->kind->bucket, key);

    if (object == NULL) {
        ccm_ks_status_not_found(call->reply, call->kind, call->name);
    } else {
        ccm_ks_call_answer_stored(call, 200, object);
    }
}

static void forbid(cJSON *faults, const char *field, const char *text)
{
    ccm_ks_fault_forbidden(faults, field, "%s", text);
}

static void check_match(cJSON *faults, const char *match, const char *version, bool watch)
{
    if (match[0] == '\0') {
        return;
    }
    if (watch) {
        if (strcmp(match, "NotOlderThan") != 0) {
            ccm_ks_fault_unsupported(faults, "resourceVersionMatch", match, "\"NotOlderThan\"");
        }
        return;
    }
    if (version[0] == '\0') {
        forbid(faults, "resourceVersionMatch",
               "resourceVersionMatch is forbidden unless resourceVersion is provided");
    } else if (strcmp(match, "Exact") == 0 && strcmp(version, "0") == 0) {
        forbid(faults, "resourceVersionMatch",
               "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    } else if (strcmp(match, "Exact") != 0 && strcmp(match, "NotOlderThan") != 0) {
        ccm_ks_fault_unsupported(faults, "resourceVersionMatch", match,
                                 "\"Exact\", \"NotOlderThan\", \"\"");
    }
}

int ccm_ks_verb_check_list_options(struct ccm_ks_call *call, bool no_streaming_list)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *faults = cJSON_CreateArray();
    const struct ccm_sim_params *query = &call->req->query;
    const char *match = ccm_sim_params_text(query, "resourceVersionMatch");
    const char *version = ccm_sim_params_text(query, "resourceVersion");
    const bool streaming = ccm_sim_params_get(query, "sendInitialEvents") != NULL;
    const bool watch = call->verb == CCM_KS_VERB_WATCH;

    if (streaming && !watch) {
        forbid(faults, "sendInitialEvents", "sendInitialEvents is forbidden for list");
    } else if (streaming && no_streaming_list) {
        forbid(faults, "sendInitialEvents",
               "sendInitialEvents is forbidden for watch unless the WatchList feature gate is "
               "enabled");
    } else if (streaming) {
        if (strcmp(match, "NotOlderThan") != 0) {
            forbid(faults, "resourceVersionMatch",
                   "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
        check_match(faults, match, version, true);
    } else if (watch && match[0] != '\0') {
        forbid(faults, "resourceVersionMatch",
               "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    } else {
        check_match(faults, match, version, false);
    }
    if (cJSON_GetArraySize(faults) > 0) {
        ccm_ks_status_invalid_options(call->reply, "ListOptions", faults);
        return -EINVAL;
    }
    return 0;
}

static int parse_version(struct ccm_ks_call *call, const char *text, uint64_t *ret)
{
    int64_t value;

    if (ccm_parse_i64(text, 0, INT64_MAX, &value) < 0) {
        ccm_ks_status_bad_request(call->reply,
                                  "invalid resource version: resourceVersion: Invalid value: "
                                  "\"%s\": strconv.ParseUint: parsing \"%s\": invalid syntax",
                                  text, text);
        return -EINVAL;
    }
    *ret = (uint64_t)value;
    return 0;
}

/* The parameters that say what state is wanted. 0, or negative after the reply was made. */
static int parse_options(struct ccm_ks_call *call, struct listing *l)
{
    const struct ccm_sim_params *query = &call->req->query;
    const char *version = ccm_sim_params_text(query, "resourceVersion");
    const char *match = ccm_sim_params_text(query, "resourceVersionMatch");
    const char *token = ccm_sim_params_text(query, "continue");
    const bool any = strcmp(version, "0") == 0;
    int64_t token_version = 0;

    if (ccm_ks_verb_check_list_options(call, false) < 0 ||
        ccm_ks_call_selectors(call, &l->labels, &l->fields) < 0 ||
        ccm_ks_call_number(call, "limit", 0, &l->limit) < 0) {
        return -EINVAL;
    }
    l->limit = l->limit < 0 || any ? 0 : l->limit;
    if (token[0] == '\0') {
        if (version[0] == '\0' || any) {
            return 0;
        }
        l->exact = strcmp(match, "Exact") == 0 || (match[0] == '\0' && l->limit > 0);
        return parse_version(call, version, &l->version);
    }
    if (version[0] != '\0' && !any) {
        ccm_ks_status_bad_request(call->reply,
                                  "specifying resource version is not allowed when using continue");
        return -EINVAL;
    }
    if (ccm_ks_token_parse(token, &token_version, l->start, sizeof(l->start)) < 0) {
        ccm_ks_status_bad_request(
            call->reply, "invalid continue token: continue key is not valid: incorrect encoded "
                         "start resourceVersion (version meta.k8s.io/v1)");
        return -EINVAL;
    }
    l->exact = token_version > 0;
    l->version = token_version > 0 ? (uint64_t)token_version : 0;
    return 0;
}

static void too_large_version(struct ccm_ks_call *call, uint64_t version, uint64_t current)
{
    cJSON *details = cJSON_CreateObject();
    cJSON *causes = cJSON_CreateArray();
    cJSON *cause = cJSON_CreateObject();

    ccm_ks_jx_set_str(cause, "reason", "ResourceVersionTooLarge");
    ccm_ks_jx_set_str(cause, "message", "Too large resource version");
    (void)cJSON_AddItemToArray(causes, cause); /* ENOMEM: see jx.h */
    ccm_ks_jx_set(details, "causes", causes);
    ccm_ks_jx_set_int(details, "retryAfterSeconds", 1);
    if (ccm_sim_params_add(&call->reply->headers, "Retry-After", "1") < 0) {
        call->reply->drop = true; /* no memory even for a header */
    }
    ccm_ks_status(call->reply, 504, "Timeout", details,
                  "Timeout: Too large resource version: %" PRIu64 ", current: %" PRIu64, version,
                  current);
}

/* The server waits a moment for a version that is not there yet. */
static int await_version(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call, uint64_t version)
{
    const int64_t deadline = ccm_clock_now_ms() + FUTURE_WAIT_MS;

    while (ccm_ks_store_version(cluster->store) < version && !cluster->stopping &&
           ccm_clock_now_ms() < deadline) {
        (void)ccm_clock_cond_wait(&cluster->changed, &cluster->lock, deadline); /* loop looks */
    }
    if (ccm_ks_store_version(cluster->store) < version) {
        too_large_version(call, version, ccm_ks_store_version(cluster->store));
        return -ETIMEDOUT;
    }
    return 0;
}

static void expired(struct ccm_ks_call *call, const struct listing *l)
{
    if (l->start[0] == '\0') {
        ccm_ks_status(call->reply, 410, "Expired", NULL,
                      "The resourceVersion for the provided list is too old.");
        return;
    }

    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf token = { .max = 4096 };
    CCM_CLEANUP(ccm_json_freep)
    cJSON *status = ccm_ks_status_new(
        410, "Expired", NULL,
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter, or use the continue token in this "
        "response to retrieve the remainder of the results. Continuing with the provided token "
        "results in an inconsistent list - objects that were created, modified, or deleted between "
        "the time the first chunk was returned and now may show up in the list.");

    ccm_ks_token_print(&token, -1, l->start);
    ccm_ks_jx_set_str(ccm_ks_jx_object(status, "metadata"), "continue", ccm_buf_str(&token));
    call->reply->status = 410;
    ccm_text_copy(call->reply->code, sizeof(call->reply->code), "Expired");
    ccm_ks_jx_print(&call->reply->body, status);
    ccm_buf_addc(&call->reply->body, '\n');
}

/* Fill l->objects with what may be shown, selectors not applied yet. */
static int collect(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call, struct listing *l)
{
    char prefix[CCM_KS_KEY_MAX];
    int r;

    ccm_ks_call_prefix(call, prefix);
    if (l->version > 0) {
        r = await_version(cluster, call, l->version);
        if (r < 0) {
            return r;
        }
    }
    if (!l->exact) {
        l->version = ccm_ks_store_version(cluster->store);
        r = ccm_ks_store_list(cluster->store, call->kind->bucket, prefix, &l->objects);
    } else {
        r = ccm_ks_store_list_at(cluster->store, call->kind->bucket, prefix, l->version,
                                 &l->objects);
    }
    if (r == -ESTALE) {
        expired(call, l);
    } else if (r < 0) {
        ccm_ks_status(call->reply, 500, "InternalError", NULL, "out of memory");
    }
    return r;
}

static void print_list_head(struct ccm_ks_call *call, struct ccm_buf *body)
{
    if (call->form == CCM_KS_FORM_TABLE) {
        ccm_buf_adds(body, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{");
    } else if (call->form == CCM_KS_FORM_METADATA) {
        ccm_buf_adds(body, "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":"
                           "\"meta.k8s.io/v1\",\"metadata\":{");
    } else {
        ccm_buf_addf(body, "{\"kind\":\"%sList\",\"apiVersion\":\"", call->kind->kind);
        ccm_ks_kind_api_version(body, call->kind);
        ccm_buf_adds(body, "\",\"metadata\":{");
    }
}

static void print_item(struct ccm_ks_call *call, struct ccm_ks_object *object, struct ccm_buf *body)
{
    if (call->form == CCM_KS_FORM_TABLE) {
        ccm_ks_table_row(body, call->kind, object->json, call->include);
    } else if (call->form == CCM_KS_FORM_METADATA) {
        ccm_ks_table_metadata(body, object->json);
    } else {
        ccm_ks_object_print(object, call->kind, false, body);
    }
}

static bool wanted(const struct listing *l, const struct ccm_ks_object *object)
{
    return (l->start[0] == '\0' || strcmp(object->key, l->start) > 0) &&
           ccm_ks_selector_match(l->labels, object->json) &&
           ccm_ks_selector_match(l->fields, object->json);
}

/* Metadata comes before the items but depends on them, so the items are printed aside. */
static void print_list(struct ccm_ks_call *call, struct listing *l)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf items = { .max = LIST_MAX };
    struct ccm_buf *body = &call->reply->body;
    const bool selected = !ccm_ks_selector_empty(l->labels) || !ccm_ks_selector_empty(l->fields);
    const char *last = NULL;
    int64_t shown = 0;
    int64_t left = 0;

    for (size_t i = 0; i < l->objects.len; i++) {
        struct ccm_ks_object *object = l->objects.items[i];

        if (!wanted(l, object)) {
            continue;
        }
        if (l->limit > 0 && shown == l->limit) {
            left++;
            continue;
        }
        ccm_buf_adds(&items, shown++ == 0 ? "" : ",");
        print_item(call, object, &items);
        last = object->key;
    }
    body->max = LIST_MAX;
    print_list_head(call, body);
    ccm_buf_addf(body, "\"resourceVersion\":\"%" PRIu64 "\"", l->version);
    if (left > 0) {
        ccm_buf_adds(body, ",\"continue\":\"");
        ccm_ks_token_print(body, (int64_t)l->version, last);
        ccm_buf_addc(body, '"');
        if (!selected) {
            ccm_buf_addf(body, ",\"remainingItemCount\":%" PRId64, left);
        }
    }
    ccm_buf_adds(body, "},");
    if (call->form == CCM_KS_FORM_TABLE) {
        ccm_ks_table_head(body, call->kind, true);
    } else {
        ccm_buf_adds(body, "\"items\":");
    }
    ccm_buf_addc(body, '[');
    ccm_buf_add(body, ccm_buf_str(&items), items.len);
    ccm_buf_adds(body, "]}\n");
}

void ccm_ks_verb_list(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call)
{
    struct listing listing = { 0 };

    if (parse_options(call, &listing) < 0) {
        listing_fini(&listing);
        return;
    }
    ccm_ks_cluster_lock(cluster);
    if (collect(cluster, call, &listing) == 0) {
        print_list(call, &listing);
    }
    listing_fini(&listing);
    ccm_ks_cluster_unlock(cluster);
}
