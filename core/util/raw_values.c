#include "util/raw_values.h"

#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define MAX_VALUES 64

/* The values of one object, as they are found. */
struct raw_values {
    const char *prefix; /* of each */
    size_t count;
    struct ccm_buf *all;
};

static void values_add(struct raw_values *values, const cJSON *json)
{
    ccm_buf_adds(values->all, values->prefix);
    if (cJSON_IsString(json)) {
        ccm_buf_adds(values->all, json->valuestring);
    } else if (ccm_json_print(values->all, json) < 0) {
        values->all->error = -ENOMEM;
    }
    ccm_buf_addc(values->all, '\0');
    values->count++;
}

static void values_find(struct raw_values *values, const cJSON *json, const char *path)
{
    if (cJSON_IsArray(json)) {
        for (const cJSON *item = ccm_json_elements(json); item != NULL; item = item->next) {
            values_find(values, item, path);
        }
    } else if (path[0] != '\0') {
        const size_t n = strcspn(path, ".");
        CCM_CLEANUP(ccm_freep) char *name = strndup(path, n);

        if (name == NULL) {
            values->all->error = -ENOMEM;
        } else {
            values_find(values, ccm_json_get(json, name), path + n + (path[n] == '.' ? 1 : 0));
        }
    } else if (json != NULL && !cJSON_IsObject(json) && !cJSON_IsNull(json) &&
               !(cJSON_IsString(json) && json->valuestring[0] == '\0') &&
               values->count < MAX_VALUES) {
        values_add(values, json);
    }
}

static void raw_index_label(const struct ccm_object *object, const char *label,
                            const struct raw_values *values)
{
    const char *text = ccm_object_label(object, label);

    if (!ccm_text_empty(text)) {
        ccm_buf_addf(values->all, "%s%s", values->prefix, text);
        ccm_buf_addc(values->all, '\0');
    }
}

void ccm_raw_values(const struct ccm_index *raw, const struct ccm_object *object,
                    struct ccm_buf *values)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf prefix = { .max = 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    if ((raw->flags & CCM_INDEX_NAMESPACED) != 0) {
        ccm_buf_addf(&prefix, "%s/", object->namespace_);
    }

    struct raw_values found = { .prefix = ccm_buf_str(&prefix), .all = values };

    if (raw->label != NULL) {
        raw_index_label(object, raw->label, &found);
    } else {
        const char *text = ((const struct ccm_raw *)(const void *)object)->json;

        if (ccm_json_parse(text, strlen(text), &json) < 0) {
            values->error = -ENOMEM; /* it was JSON when it came */
        } else {
            values_find(&found, json, raw->path);
        }
    }
    if (ccm_buf_error(&prefix) < 0) {
        values->error = -ENOMEM;
    }
}
