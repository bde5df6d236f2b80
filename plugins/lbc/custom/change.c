#include "lbc/custom/change.h"

#include "ccm/host.h"
#include "util/text.h"

#include <string.h>

const struct ccm_object *lbc_custom_change_object(const struct ccm_change *change)
{
    return change->after == NULL ? change->before : change->after;
}

bool lbc_custom_change_is_of_spec(const struct ccm_change *change)
{
    const struct ccm_object *before = change->before;
    const struct ccm_object *after = change->after;

    return before == NULL || after == NULL || before->generation != after->generation ||
           before->deleted_ms != after->deleted_ms;
}

static bool labels_differ(const struct ccm_object *before, const struct ccm_object *after)
{
    if (before->label_count != after->label_count) {
        return true;
    }
    for (uint64_t i = 0; i < after->label_count; i++) {
        if (!ccm_text_equal(before->labels[i]->key, after->labels[i]->key) ||
            !ccm_text_equal(before->labels[i]->value, after->labels[i]->value)) {
            return true;
        }
    }
    return false;
}

bool lbc_custom_change_is_of_labels(const struct ccm_change *change)
{
    return change->before == NULL || change->after == NULL ||
           labels_differ(change->before, change->after);
}

bool lbc_custom_change_is_own(struct lbc_custom_records *records, const char *key,
                              const struct ccm_change *change)
{
    return !lbc_custom_change_is_of_spec(change) &&
           lbc_custom_record_is_own(records, key, change->after->resource_version);
}

const cJSON *lbc_custom_parse_spec(const struct ccm_object *object, cJSON **ret)
{
    const char *text = object == NULL ? "" : ((const struct ccm_raw *)object)->json;

    *ret = NULL;
    return ccm_json_parse(text, strlen(text), ret) == 0 ? ccm_json_get(*ret, "spec") : NULL;
}
