#include "lbc/custom/condition.h"

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>

static int condition_find(const cJSON *conditions, const char *type)
{
    int at = 0;

    for (const cJSON *one = ccm_json_elements(conditions); one != NULL; one = one->next) {
        if (ccm_text_equal(ccm_json_text(one, "type"), type)) {
            return at;
        }
        at++;
    }
    return -1;
}

/* With the moment since which it has had that status. */
static bool condition_fill(cJSON *to, const struct lbc_custom_condition *one, const cJSON *before,
                           const struct lbc_custom_moment *moment)
{
    const char *status = one->holds ? "True" : "False";
    char now[CCM_CLOCK_TEXT];
    const char *since = now;

    ccm_clock_format(moment->wall_ms, now, sizeof(now));
    if (ccm_text_equal(ccm_json_text(before, "status"), status) &&
        !ccm_text_empty(ccm_json_text(before, "lastTransitionTime"))) {
        since = ccm_json_text(before, "lastTransitionTime");
    }
    return cJSON_AddStringToObject(to, "type", one->type) != NULL &&
           cJSON_AddStringToObject(to, "status", status) != NULL &&
           cJSON_AddStringToObject(to, "reason", one->reason) != NULL &&
           cJSON_AddStringToObject(to, "message", one->message) != NULL &&
           cJSON_AddNumberToObject(to, "observedGeneration", (double)moment->generation) != NULL &&
           cJSON_AddStringToObject(to, "lastTransitionTime", since) != NULL;
}

int lbc_custom_condition_put(cJSON *conditions, const struct lbc_custom_condition *one,
                             const struct lbc_custom_moment *moment)
{
    const int at = condition_find(conditions, one->type);
    cJSON *made = cJSON_CreateObject();

    if (made == NULL || !condition_fill(made, one, cJSON_GetArrayItem(conditions, at), moment) ||
        !(at < 0 ? cJSON_AddItemToArray(conditions, made)
                 : cJSON_ReplaceItemInArray(conditions, at, made))) {
        cJSON_Delete(made);
        return -ENOMEM;
    }
    return 0;
}

const cJSON *lbc_custom_condition_find(const cJSON *status, const char *type)
{
    const cJSON *one = ccm_json_items(status, "conditions");

    while (one != NULL && !ccm_text_equal(ccm_json_text(one, "type"), type)) {
        one = one->next;
    }
    return one;
}

bool lbc_custom_condition_holds(const cJSON *status, const char *type)
{
    return ccm_text_equal(ccm_json_text(lbc_custom_condition_find(status, type), "status"), "True");
}

bool lbc_custom_put(cJSON *object, const char *name, cJSON *item)
{
    if (item == NULL || !cJSON_AddItemToObject(object, name, item)) {
        cJSON_Delete(item);
        return false;
    }
    return true;
}

void lbc_custom_condition_drop(cJSON *conditions, const char *type)
{
    const int at = condition_find(conditions, type);

    if (at >= 0) {
        cJSON_DeleteItemFromArray(conditions, at);
    }
}

cJSON *lbc_custom_array_copy(const cJSON *parent, const char *name)
{
    const cJSON *array = ccm_json_get(parent, name);

    return cJSON_IsArray(array) ? cJSON_Duplicate(array, true) : cJSON_CreateArray();
}

int lbc_custom_status_print(cJSON *status, struct ccm_buf *body)
{
    ccm_buf_adds(body, "{\"status\":");
    if (ccm_json_print(body, status) < 0) {
        return -ENOMEM;
    }
    ccm_buf_addc(body, '}');
    return ccm_buf_error(body) < 0 ? -ENOMEM : 0;
}
