#include "definition.h"

#include "jx.h"
#include "status.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <ctype.h>
#include <string.h>

#define CLEANUP "customresourcecleanup.apiextensions.k8s.io"

void ccm_ks_crd_defaults(cJSON *object)
{
    cJSON *spec = ccm_ks_jx_object(object, "spec");
    cJSON *names = ccm_ks_jx_object(spec, "names");
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf singular = { .max = 256 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf list = { .max = 256 };
    const char *kind = ccm_json_text(names, "kind");

    for (const char *p = kind; *p != '\0'; p++) {
        ccm_buf_addc(&singular, (char)tolower((unsigned char)*p));
    }
    ccm_buf_addf(&list, "%sList", kind);
    ccm_ks_jx_default_str(names, "singular", ccm_buf_str(&singular));
    ccm_ks_jx_default_str(names, "listKind", ccm_buf_str(&list));
    ccm_ks_jx_default_str(ccm_ks_jx_object(spec, "conversion"), "strategy", "None");
}

static void add_condition(cJSON *list, const char *type, const char *reason, const char *message)
{
    cJSON *condition = cJSON_CreateObject();
    char time[CCM_CLOCK_TEXT];

    ccm_clock_format(ccm_clock_wall_ms(), time, sizeof(time));
    ccm_ks_jx_set_str(condition, "type", type);
    ccm_ks_jx_set_str(condition, "status", "True");
    ccm_ks_jx_set_str(condition, "lastTransitionTime", time);
    ccm_ks_jx_set_str(condition, "reason", reason);
    ccm_ks_jx_set_str(condition, "message", message);
    (void)cJSON_AddItemToArray(list, condition); /* ENOMEM: see jx.h */
}

static const char *storage_version(const cJSON *spec)
{
    const cJSON *version;

    cJSON_ArrayForEach(version, ccm_json_get(spec, "versions"))
    {
        if (cJSON_IsTrue(ccm_json_get(version, "storage"))) {
            return ccm_json_text(version, "name");
        }
    }
    return "";
}

/* What a server's controllers write soon after the creation, written with it. */
void ccm_ks_crd_prepare(struct ccm_ks_write *write)
{
    const cJSON *spec = ccm_json_get(write->object, "spec");
    cJSON *status = ccm_ks_jx_object(write->object, "status");
    const char *storage = storage_version(spec);

    if (write->status) {
        return;
    }
    if (ccm_ks_jx_get(status, "conditions") == NULL) {
        cJSON *conditions = cJSON_CreateArray();

        add_condition(conditions, "NamesAccepted", "NoConflicts", "no conflicts found");
        add_condition(conditions, "Established", "InitialNamesAccepted",
                      "the initial names have been accepted");
        ccm_ks_jx_set(status, "conditions", conditions);
    }
    ccm_ks_jx_set(status, "acceptedNames", ccm_ks_jx_dup(ccm_json_get(spec, "names")));
    if (ccm_ks_jx_get(status, "storedVersions") == NULL) {
        ccm_ks_jx_set(status, "storedVersions", cJSON_CreateArray());
    }
    if (!ccm_ks_jx_has_text(ccm_json_get(status, "storedVersions"), storage)) {
        (void)cJSON_AddItemToArray(ccm_ks_jx_get(status, "storedVersions"),
                                   cJSON_CreateString(storage)); /* ENOMEM: see jx.h */
    }
}

static void check_versions(const cJSON *spec, cJSON *faults)
{
    const cJSON *versions = ccm_json_get(spec, "versions");
    const cJSON *version;
    int stored = 0;
    int i = 0;

    cJSON_ArrayForEach(version, versions)
    {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf field = { .max = 128 };

        stored += cJSON_IsTrue(ccm_json_get(version, "storage")) ? 1 : 0;
        ccm_buf_addf(&field, "spec.versions[%d].schema.openAPIV3Schema", i++);
        if (ccm_json_get(ccm_json_get(version, "schema"), "openAPIV3Schema") == NULL) {
            ccm_ks_fault_required(faults, ccm_buf_str(&field), "schemas are required");
        }
    }
    if (stored != 1) {
        ccm_ks_fault_invalid(faults, "spec.versions", versions,
                             "must have exactly one version marked as storage version");
    }
}

void ccm_ks_crd_validate(struct ccm_ks_write *write)
{
    const cJSON *spec = ccm_json_get(write->object, "spec");
    const cJSON *names = ccm_json_get(spec, "names");
    const char *name = ccm_json_text(ccm_json_get(write->object, "metadata"), "name");
    const char *scope = ccm_json_text(spec, "scope");
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wanted = { .max = 512 };

    ccm_buf_addf(&wanted, "%s.%s", ccm_json_text(names, "plural"), ccm_json_text(spec, "group"));
    if (strcmp(name, ccm_buf_str(&wanted)) != 0) {
        ccm_ks_fault_invalid_str(write->faults, "metadata.name", name,
                                 "must be spec.names.plural+\".\"+spec.group");
    }
    if (ccm_json_text(spec, "group")[0] == '\0') {
        ccm_ks_fault_required(write->faults, "spec.group", "");
    }
    if (ccm_json_text(names, "plural")[0] == '\0') {
        ccm_ks_fault_required(write->faults, "spec.names.plural", "");
    }
    if (ccm_json_text(names, "kind")[0] == '\0') {
        ccm_ks_fault_required(write->faults, "spec.names.kind", "");
    }
    if (strcmp(scope, "Namespaced") != 0 && strcmp(scope, "Cluster") != 0) {
        ccm_ks_fault_unsupported(write->faults, "spec.scope", scope, "\"Cluster\", \"Namespaced\"");
    }
    check_versions(spec, write->faults);
}

void ccm_ks_crd_begin_deletion(cJSON *object)
{
    cJSON *meta = ccm_ks_jx_object(object, "metadata");
    cJSON *conditions = ccm_ks_jx_get(ccm_ks_jx_object(object, "status"), "conditions");

    if (ccm_ks_jx_has_text(ccm_json_get(meta, "finalizers"), CLEANUP)) {
        return;
    }
    if (ccm_ks_jx_get(meta, "finalizers") == NULL) {
        ccm_ks_jx_set(meta, "finalizers", cJSON_CreateArray());
    }
    (void)cJSON_AddItemToArray(ccm_ks_jx_get(meta, "finalizers"),
                               cJSON_CreateString(CLEANUP)); /* ENOMEM: see jx.h */
    if (conditions != NULL) {
        add_condition(conditions, "Terminating", "InstanceDeletionPending",
                      "CustomResourceDefinition marked for deletion; CustomResource deletion will "
                      "begin soon");
    }
}

void ccm_ks_crd_end_deletion(cJSON *object)
{
    cJSON *list = ccm_ks_jx_get(ccm_ks_jx_object(object, "metadata"), "finalizers");
    cJSON *next;

    for (cJSON *item = list == NULL ? NULL : list->child; item != NULL; item = next) {
        next = item->next;
        if (ccm_text_equal(item->valuestring, CLEANUP)) {
            cJSON_Delete(cJSON_DetachItemViaPointer(list, item));
        }
    }
}
