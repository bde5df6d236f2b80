#include "lbc/custom/write.h"

#include "lbc/custom/condition.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

int lbc_custom_write_patch(const struct lbc_custom *self, const struct ccm_request *req,
                           const struct lbc_custom_place *place, const char *subresource,
                           const char *body, bool versioned, struct ccm_error *err)
{
    const struct ccm_object *object = place->object;
    struct lbc_custom_record *record =
        lbc_custom_record_get(self->records, place->key, object->uid);
    const struct ccm_object *written = NULL;
    const struct ccm_raw_call call = {
        .struct_size = sizeof(call),
        .api_version = place->api_version,
        .resource = place->resource,
        .namespace_ = object->namespace_,
        .name = object->name,
        .subresource = subresource,
        .patch = CCM_PATCH_MERGE,
        .body = body,
        .uid = object->uid,
        .resource_version = versioned && record != NULL
                                ? lbc_custom_record_version(record, object->resource_version)
                                : NULL,
    };
    int r = record == NULL ? ccm_error_nomem(err)
                           : self->host->patch_raw(self->host, req, &call, &written, err);

    if (r == 0 && written != NULL) {
        lbc_custom_record_note_version(self->records, record, object->resource_version,
                                       written->resource_version);
        self->host->release(self->host, written);
    }
    return r;
}

int lbc_custom_write_finalizer(const struct lbc_custom *self, const struct ccm_request *req,
                               const struct lbc_custom_place *place, const char *finalizer,
                               bool wanted, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = 65536 };
    struct lbc_custom_record *record =
        lbc_custom_record_get(self->records, place->key, place->object->uid);
    struct ccm_jsonw w = { .buf = &body };
    int r = 0;

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_open(&w, "metadata", '{');
    ccm_jsonw_open(&w, "finalizers", '[');
    for (uint64_t i = 0; i < place->object->finalizer_count; i++) {
        if (strcmp(place->object->finalizers[i], finalizer) != 0) {
            ccm_jsonw_str(&w, NULL, place->object->finalizers[i]);
        }
    }
    if (wanted) {
        ccm_jsonw_str(&w, NULL, finalizer);
    }
    ccm_jsonw_close_all(&w, "]}}");
    if (record == NULL || ccm_buf_error(&body) < 0) {
        return ccm_error_nomem(err);
    }
    r = lbc_custom_write_patch(self, req, place, NULL, ccm_buf_str(&body), true, err);
    record->held = r == 0 ? wanted : record->held;
    return r;
}

/* Whether it stands there already. An empty list may have been left out. */
static bool status_is_shown(const cJSON *status, const cJSON *shown)
{
    for (const cJSON *part = ccm_json_members(status); part != NULL; part = part->next) {
        const cJSON *other = ccm_json_get(shown, part->string);

        if (cJSON_IsArray(part) && part->child == NULL ? other != NULL && other->child != NULL
                                                       : !cJSON_Compare(part, other, true)) {
            return false;
        }
    }
    return true;
}

int lbc_custom_write_status(const struct lbc_custom *self, const struct ccm_request *req,
                            const struct lbc_custom_place *place, cJSON *status, const cJSON *shown,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_CUSTOM_STATUS_MAX };
    int r = 0;

    if (status == NULL || lbc_custom_status_print(status, &body) < 0) {
        return ccm_error_nomem(err);
    }
    if (!status_is_shown(status, shown)) {
        r = lbc_custom_write_patch(self, req, place, "status", ccm_buf_str(&body), true, err);
    }
    return r < 0 && err->kind == CCM_ERROR_NOT_FOUND ? 0 : r;
}
