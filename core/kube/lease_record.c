#include "kube/lease_record.h"

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A record with a duration beyond this says nothing; it would lock the Lease for ever. */
#define DURATION_MAX_S 3600
/* The server takes 32 bits; with one more no candidate could ever write its claim. */
#define TRANSITIONS_MAX INT32_MAX

void kube_lease_record_fini(struct kube_lease_record *record)
{
    free(record->json);
    free(record->holder);
    free(record->version);
    free(record->uid);
    free(record->seen);
    free(record->acquired);
    *record = (struct kube_lease_record){ 0 };
}

/* Move it out, leaving nothing to free. */
static struct kube_lease_record record_steal(struct kube_lease_record *from)
{
    const struct kube_lease_record record = *from;

    *from = (struct kube_lease_record){ 0 };
    return record;
}

int kube_lease_record_read(const char *json, size_t len, struct kube_lease_record *ret,
                           struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *tree = NULL;
    CCM_CLEANUP(kube_lease_record_fini) struct kube_lease_record record = { 0 };

    if (ccm_json_parse(json, len, &tree) < 0) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT, "the Lease is no JSON");
    }

    const cJSON *spec = ccm_json_get(tree, "spec");
    const char *version = ccm_json_text(ccm_json_get(tree, "metadata"), "resourceVersion");
    const char *holder = ccm_json_text(spec, "holderIdentity");
    const int64_t seconds = ccm_json_i64(spec, "leaseDurationSeconds", 0);
    const int64_t transitions = ccm_json_i64(spec, "leaseTransitions", 0);

    if (version[0] == '\0') {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT, "the Lease has no version");
    }
    record.duration_ms = (seconds < 0                ? 0
                          : seconds > DURATION_MAX_S ? DURATION_MAX_S
                                                     : seconds) *
                         1000;
    record.transitions = transitions < 0                 ? 0
                         : transitions > TRANSITIONS_MAX ? TRANSITIONS_MAX
                                                         : transitions;
    record.json = strndup(json, len);
    record.holder = strdup(holder);
    record.version = strdup(version);
    record.uid = strdup(ccm_json_text(ccm_json_get(tree, "metadata"), "uid"));
    record.acquired = strdup(ccm_json_text(spec, "acquireTime"));
    record.seen = ccm_text_format("%s|%" PRId64 "|%s|%s|%" PRId64, holder, seconds,
                                  ccm_json_text(spec, "acquireTime"),
                                  ccm_json_text(spec, "renewTime"), transitions);
    if (record.json == NULL || record.holder == NULL || record.version == NULL ||
        record.uid == NULL || record.acquired == NULL || record.seen == NULL) {
        return ccm_error_nomem(err);
    }
    *ret = record_steal(&record);
    return 0;
}

static cJSON *new_lease(const char *namespace_, const char *name)
{
    cJSON *tree = cJSON_CreateObject();
    cJSON *meta = cJSON_AddObjectToObject(tree, "metadata");

    if (cJSON_AddStringToObject(tree, "apiVersion", "coordination.k8s.io/v1") == NULL ||
        cJSON_AddStringToObject(tree, "kind", "Lease") == NULL ||
        cJSON_AddStringToObject(meta, "name", name) == NULL ||
        cJSON_AddStringToObject(meta, "namespace", namespace_) == NULL) {
        cJSON_Delete(tree);
        return NULL;
    }
    return tree;
}

/* Put a value in the place of what is there. */
static bool spec_set_value(cJSON *spec, const char *name, cJSON *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(spec, name);
    if (value == NULL || !cJSON_AddItemToObject(spec, name, value)) {
        cJSON_Delete(value);
        return false;
    }
    return true;
}

static bool spec_set_claim(cJSON *spec, const struct kube_lease_claim *claim)
{
    const int64_t seconds = claim->duration_ms / 1000;
    const int64_t transitions =
        claim->transitions < TRANSITIONS_MAX ? claim->transitions : TRANSITIONS_MAX;
    char now[CCM_CLOCK_TEXT];

    ccm_clock_format_micro(claim->wall_ms, now, sizeof(now));
    return spec_set_value(spec, "holderIdentity", cJSON_CreateString(claim->holder)) &&
           spec_set_value(spec, "leaseDurationSeconds", cJSON_CreateNumber((double)seconds)) &&
           spec_set_value(
               spec, "acquireTime",
               cJSON_CreateString(ccm_text_empty(claim->acquired) ? now : claim->acquired)) &&
           spec_set_value(spec, "renewTime", cJSON_CreateString(now)) &&
           spec_set_value(spec, "leaseTransitions", cJSON_CreateNumber((double)transitions));
}

void kube_lease_record_print(const struct kube_lease_record *record, const char *namespace_,
                             const char *name, const struct kube_lease_claim *claim,
                             struct ccm_buf *buf)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *tree = NULL;

    if (record->json == NULL) {
        tree = new_lease(namespace_, name);
    } else if (ccm_json_parse(record->json, strlen(record->json), &tree) < 0) {
        tree = NULL; /* it was JSON when it was read: memory ran out */
    }

    cJSON *spec = cJSON_GetObjectItemCaseSensitive(tree, "spec");

    if (tree != NULL && !cJSON_IsObject(spec)) {
        cJSON_DeleteItemFromObjectCaseSensitive(tree, "spec");
        spec = cJSON_AddObjectToObject(tree, "spec");
    }
    if (tree == NULL || spec == NULL || !spec_set_claim(spec, claim) ||
        ccm_json_print(buf, tree) < 0) {
        buf->error = -ENOMEM;
    }
}
