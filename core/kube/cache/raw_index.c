/* Indexes of objects without a type of their own: by a label, or by what their JSON says. */
#include "kube/cache/store.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <string.h>

#define MAX_VALUES 64

/* Value number *at below here, counted down as values are passed. */
static bool index_find_value(const cJSON *json, const char *path, size_t *at, struct ccm_buf *value)
{
    const cJSON *item;

    if (cJSON_IsArray(json)) {
        cJSON_ArrayForEach(item, json)
        {
            if (index_find_value(item, path, at, value)) {
                return true;
            }
        }
        return false;
    }
    if (path[0] != '\0') {
        const size_t n = strcspn(path, ".");
        CCM_CLEANUP(ccm_freep) char *name = strndup(path, n);

        item = name == NULL ? NULL : ccm_json_get(json, name);
        return item != NULL &&
               index_find_value(item, path + n + (path[n] == '.' ? 1 : 0), at, value);
    }
    if (json == NULL || cJSON_IsObject(json) || cJSON_IsNull(json) ||
        (cJSON_IsString(json) && json->valuestring[0] == '\0') || (*at)-- > 0) {
        return false;
    }
    if (cJSON_IsString(json)) {
        ccm_buf_adds(value, json->valuestring);
        return true;
    }
    return ccm_json_print(value, json) == 0 || ccm_buf_error(value) < 0;
}

static void index_add_namespace(const struct ccm_index *raw, const struct ccm_object *object,
                                struct ccm_buf *value)
{
    if ((raw->flags & CCM_INDEX_NAMESPACED) != 0) {
        ccm_buf_addf(value, "%s/", object->namespace_);
    }
}

bool kube_index_raw(const struct kube_index *index, const struct ccm_object *object, size_t at,
                    struct ccm_buf *value)
{
    const struct ccm_index *raw = index->raw;
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    if (object->kind != CCM_KIND_RAW || at >= MAX_VALUES) {
        return false;
    }
    index_add_namespace(raw, object, value);
    if (raw->label != NULL) {
        const char *text = ccm_object_label(object, raw->label);

        if (at > 0 || ccm_text_empty(text)) {
            return false;
        }
        ccm_buf_adds(value, text);
        return true;
    }

    const char *text = ((const struct ccm_raw *)(const void *)object)->json;

    return ccm_json_parse(text, strlen(text), &json) == 0 &&
           index_find_value(json, raw->path, &at, value);
}
