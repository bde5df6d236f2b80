#include "lbc/custom/selector.h"

#include "lbc/custom/item.h"
#include "util/text.h"

#include <string.h>

static bool expression_matches(const cJSON *expression, const struct ccm_object *object)
{
    const char *key = lbc_custom_text(expression, "key", "");
    const char *operator= lbc_custom_text(expression, "operator", "");
    const char *value = strcmp(key, "kubernetes.io/metadata.name") == 0
                            ? object->name
                            : ccm_object_label(object, key);
    const cJSON *item = ccm_json_items(expression, "values");
    bool listed = false;

    for (; item != NULL; item = item->next) {
        listed = listed || (value != NULL && ccm_text_equal(cJSON_GetStringValue(item), value));
    }
    if (strcmp(operator, "In") == 0) {
        return listed;
    }
    if (strcmp(operator, "NotIn") == 0) {
        return !listed;
    }
    return strcmp(operator, "Exists") == 0 ? value != NULL
                                           : strcmp(operator, "DoesNotExist") == 0 && value == NULL;
}

/* A selector that is not there selects nothing, an empty one all. */
static bool selector_matches(const cJSON *selector, const struct ccm_object *object)
{
    if (selector == NULL || object == NULL) {
        return false;
    }
    for (const cJSON *one = ccm_json_members(ccm_json_get(selector, "matchLabels")); one != NULL;
         one = one->next) {
        const char *value = strcmp(one->string, "kubernetes.io/metadata.name") == 0
                                ? object->name
                                : ccm_object_label(object, one->string);

        if (value == NULL || !ccm_text_equal(value, cJSON_GetStringValue(one))) {
            return false;
        }
    }
    for (const cJSON *one = ccm_json_items(selector, "matchExpressions"); one != NULL;
         one = one->next) {
        if (!expression_matches(one, object)) {
            return false;
        }
    }
    return true;
}

bool lbc_custom_namespace_is_from(const struct ccm_host *host, const cJSON *rule,
                                  const char *fallback, const char *own, const char *other)
{
    const char *from = lbc_custom_text(rule, "from", fallback);

    if (strcmp(from, "Selector") == 0) {
        const struct ccm_object *object = host->get_raw(host, "v1", "namespaces", other);
        const bool matches = selector_matches(ccm_json_get(rule, "selector"), object);

        if (object != NULL) {
            host->release(host, object);
        }
        return matches;
    }
    return strcmp(from, "All") == 0 || (strcmp(from, "Same") == 0 && strcmp(other, own) == 0);
}
