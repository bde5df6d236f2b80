#include "jx.h"
#include "kinds.h"
#include "names.h"
#include "schemas.h"
#include "status.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

/* The names of one thing in core/v1 and in events.k8s.io/v1. */
static const char *const renamed[][2] = {
    { "involvedObject", "regarding" },
    { "message", "note" },
    { "source", "deprecatedSource" },
    { "firstTimestamp", "deprecatedFirstTimestamp" },
    { "lastTimestamp", "deprecatedLastTimestamp" },
    { "count", "deprecatedCount" },
    { "reportingComponent", "reportingController" },
};

static cJSON *convert(const cJSON *from, size_t from_column, const struct ccm_ks_schema *schema)
{
    CCM_CLEANUP(ccm_ks_decode_fini) struct ccm_ks_decode decode = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *out = ccm_ks_jx_dup(from);

    for (size_t i = 0; i < CCM_ARRAY_LEN(renamed); i++) {
        cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(out, renamed[i][from_column]);

        if (item != NULL) {
            ccm_ks_jx_set(out, renamed[i][1 - from_column], item);
        }
    }
    return ccm_ks_schema_decode(schema, out, &decode);
}

cJSON *ccm_ks_event_to_v1(const cJSON *stored)
{
    return convert(stored, 0, &ccm_ks_schema_event_v1);
}

cJSON *ccm_ks_event_from_v1(const cJSON *shown)
{
    return convert(shown, 1, &ccm_ks_schema_event);
}

static void check_namespace(struct ccm_ks_write *write)
{
    const char *here = ccm_json_text(ccm_json_get(write->object, "metadata"), "namespace");
    const char *there = ccm_json_text(ccm_json_get(write->object, "involvedObject"), "namespace");
    const bool fine = there[0] == '\0' ? strcmp(here, "default") == 0 : strcmp(here, there) == 0;

    if (!fine) {
        ccm_ks_fault_invalid_str(write->faults, "involvedObject.namespace", there,
                                 "does not match event.namespace");
    }
}

static void check_max(struct ccm_ks_write *write, const char *name, size_t max)
{
    if (strlen(ccm_json_text(write->object, name)) > max) {
        ccm_ks_fault_invalid_str(write->faults, name, "", "can have at most %zu characters", max);
    }
}

void ccm_ks_event_validate(struct ccm_ks_write *write)
{
    const char *component = ccm_json_text(write->object, "reportingComponent");

    check_namespace(write);
    if (ccm_json_get(write->object, "eventTime") == NULL) {
        return;
    }
    if (component[0] == '\0') {
        ccm_ks_fault_required(write->faults, "reportingComponent", "");
        ccm_ks_fault_invalid_str(write->faults, "reportingComponent", "",
                                 "name part must be non-empty");
        ccm_ks_fault_invalid_str(write->faults, "reportingComponent", "", "%s",
                                 ccm_ks_names_qualified("-"));
    } else if (ccm_ks_names_qualified(component) != NULL) {
        ccm_ks_fault_invalid_str(write->faults, "reportingComponent", component, "%s",
                                 ccm_ks_names_qualified(component));
    }
    if (ccm_json_text(write->object, "reportingInstance")[0] == '\0') {
        ccm_ks_fault_required(write->faults, "reportingInstance", "");
    }
    if (ccm_json_text(write->object, "action")[0] == '\0') {
        ccm_ks_fault_required(write->faults, "action", "");
    }
    check_max(write, "reportingInstance", 128);
    check_max(write, "action", 128);
    check_max(write, "reason", 128);
    check_max(write, "message", 1024);
}

static void check_unset(struct ccm_ks_write *write, const char *name)
{
    const cJSON *item = ccm_json_get(write->object, name);

    if (item != NULL && !(cJSON_IsObject(item) && item->child == NULL)) {
        ccm_ks_fault_invalid_str(write->faults, name, "", "needs to be unset");
    }
}

static void check_fixed(struct ccm_ks_write *write)
{
    static const char *const names[] = { "involvedObject",   "reason",  "message",
                                         "source",           "type",    "eventTime",
                                         "action",           "related", "reportingComponent",
                                         "reportingInstance" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        const cJSON *now = ccm_json_get(write->object, names[i]);

        if (!ccm_ks_jx_equal(now, ccm_json_get(write->old, names[i]))) {
            ccm_ks_fault_invalid(write->faults, names[i], now, "field is immutable");
        }
    }
}

static void check_v1_text(struct ccm_ks_write *write)
{
    static const char *const required[] = { "reportingInstance", "action", "reason" };
    const char *controller = ccm_json_text(write->object, "reportingComponent");

    if (controller[0] == '\0') {
        ccm_ks_fault_required(write->faults, "reportingController", "");
    } else if (ccm_ks_names_qualified(controller) != NULL) {
        ccm_ks_fault_invalid_str(write->faults, "reportingController", controller, "%s",
                                 ccm_ks_names_qualified(controller));
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(required); i++) {
        if (ccm_json_text(write->object, required[i])[0] == '\0') {
            ccm_ks_fault_required(write->faults, required[i], "");
        }
        check_max(write, required[i], 128);
    }
}

/* The newer API reads the prefix as a name in its own right. */
static void check_generate_name(struct ccm_ks_write *write)
{
    const char *prefix = ccm_json_text(ccm_json_get(write->object, "metadata"), "generateName");

    if (prefix[0] != '\0' && ccm_text_ends(prefix, ".")) {
        ccm_ks_fault_invalid_str(write->faults, "metadata.generateName", prefix, "%s",
                                 ccm_ks_names_subdomain(prefix));
    }
}

void ccm_ks_event_v1_validate(struct ccm_ks_write *write)
{
    const char *type = ccm_json_text(write->object, "type");
    const cJSON *series = ccm_json_get(write->object, "series");

    check_namespace(write);
    if (write->old != NULL) {
        check_fixed(write);
        return;
    }
    check_generate_name(write);
    if (ccm_json_get(write->object, "eventTime") == NULL) {
        ccm_ks_fault_required(write->faults, "eventTime", "");
    } else {
        check_v1_text(write);
    }
    if (strcmp(type, "Normal") != 0 && strcmp(type, "Warning") != 0) {
        ccm_ks_fault_invalid_str(write->faults, "type", "", "has invalid value: %s", type);
    }
    check_max(write, "message", 1024);
    if (series != NULL && ccm_json_i64(series, "count", 0) < 2) {
        ccm_ks_fault_invalid_str(write->faults, "series.count", "", "should be at least 2");
    }
    check_unset(write, "firstTimestamp");
    check_unset(write, "lastTimestamp");
    check_unset(write, "count");
    check_unset(write, "source");
}
