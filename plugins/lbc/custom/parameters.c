#include "lbc/custom/parameters.h"

#include "lbc/custom/item.h"
#include "lbc/model/annotation.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETERS_MAX 65536 /* bytes of a ConfigMap: it is read in every pass */

int lbc_custom_parameters_put(struct ccm_strmap *to, const char *key, const char *value)
{
    CCM_CLEANUP(ccm_freep) char *copy = strdup(value);

    if (copy == NULL) {
        return -ENOMEM;
    }
    ccm_text_strip(copy);
    if (ccm_strmap_set(to, key, copy) < 0) {
        return -ENOMEM;
    }
    (void)CCM_STEAL(copy); /* the map owns it now */
    return 0;
}

/* Keys of a ConfigMap have no slash: they are the ends of those of annotations. */
static int parameters_put_entry(struct ccm_strmap *to, const cJSON *entry)
{
    const bool whole = strcmp(entry->string, "backend-type") == 0;
    CCM_CLEANUP(ccm_freep)
    char *key = ccm_text_format("%s%s", whole ? "" : LBC_ANNO_PREFIX,
                                whole ? LBC_BACKEND_TYPE_KEY : entry->string);

    if (key == NULL) {
        return -ENOMEM;
    }
    return cJSON_IsString(entry) ? lbc_custom_parameters_put(to, key, entry->valuestring) : 0;
}

/* An annotation under the beginning that those of Services had before is the same one; it counts
 * where its own place lacks the present one. */
static int parameters_put_annotation(struct ccm_strmap *to, const cJSON *all, const cJSON *one)
{
    static const char before[] = LBC_ANNO_LEGACY_PREFIX;
    CCM_CLEANUP(ccm_freep) char *key = NULL;

    if (!cJSON_IsString(one)) {
        return 0;
    }
    if (!ccm_text_starts(one->string, before)) {
        return lbc_custom_parameters_put(to, one->string, one->valuestring);
    }
    key = ccm_text_format("%s%s", LBC_ANNO_PREFIX, one->string + sizeof(before) - 1);
    if (key == NULL) {
        return -ENOMEM;
    }
    return ccm_json_get(all, key) != NULL ? 0
                                          : lbc_custom_parameters_put(to, key, one->valuestring);
}

int lbc_custom_parameters_add(struct ccm_strmap *to, const cJSON *annotations)
{
    int r = 0;

    for (const cJSON *one = ccm_json_members(annotations); one != NULL; one = one->next) {
        r = r < 0 ? r : parameters_put_annotation(to, annotations, one);
    }
    return r;
}

/* A person may write 1 MiB of them. */
static bool parameters_are_many(const struct ccm_host *host, const char *key)
{
    const struct ccm_object *map = host->get_raw(host, "v1", "configmaps", key);
    const bool many = map != NULL && strlen(((const struct ccm_raw *)map)->json) > PARAMETERS_MAX;

    if (map != NULL) {
        host->release(host, map);
    }
    return many;
}

int lbc_custom_parameters_read(const struct ccm_host *host, const cJSON *ref,
                               const char *namespace_, struct ccm_strmap *to, const char **ret_why)
{
    struct lbc_custom_item map = { 0 };
    CCM_CLEANUP(ccm_freep) char *key = NULL;
    int r = 0;

    *ret_why = NULL;
    if (ref == NULL) {
        return 0;
    }
    key = lbc_custom_key(namespace_ == NULL ? lbc_custom_text(ref, "namespace", "") : namespace_,
                         lbc_custom_text(ref, "name", ""));
    if (key == NULL) {
        return -ENOMEM;
    }
    if (lbc_custom_text(ref, "group", "")[0] != '\0' ||
        strcmp(lbc_custom_text(ref, "kind", ""), "ConfigMap") != 0) {
        *ret_why = "parametersRef names no ConfigMap";
        return 0;
    }
    if (parameters_are_many(host, key)) {
        *ret_why = "parametersRef names a ConfigMap of more than 64 KiB";
        return 0;
    }
    r = lbc_custom_item_get(host, "v1", "configmaps", key, &map);
    if (r == 0 && map.object == NULL) {
        *ret_why = "parametersRef names a ConfigMap that is not there, or lacks "
                   "label " LBC_CUSTOM_PARAMETERS_LABEL;
    }
    for (const cJSON *entry = ccm_json_members(ccm_json_get(map.json, "data")); entry != NULL;
         entry = entry->next) {
        r = r < 0 ? r : parameters_put_entry(to, entry);
    }
    lbc_custom_item_fini(host, &map);
    return r;
}
