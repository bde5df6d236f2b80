/*
 * Changes of objects of custom resources, as watches tell them. Pure but for the lock of records.
 * Every thread.
 */
#ifndef CCM_LBC_CUSTOM_CHANGE_H
#define CCM_LBC_CUSTOM_CHANGE_H

#include "ccm/plugin.h"
#include "lbc/custom/record.h"
#include "util/json.h"

#include <stdbool.h>

/* As it is now, else as it was last. */
const struct ccm_object *lbc_custom_change_object(const struct ccm_change *change);
/* Whether what a person writes has changed, or the object came, goes or is gone. */
bool lbc_custom_change_is_of_spec(const struct ccm_change *change);
/* Whether labels have, or the object came or is gone. */
bool lbc_custom_change_is_of_labels(const struct ccm_change *change);
/* Whether all that changed is what we have written to the object of that key ourselves. */
bool lbc_custom_change_is_own(struct lbc_custom_records *records, const char *key,
                              const struct ccm_change *change);

/* spec of an object of the caches, in *ret, which the caller frees; NULL = there is none, also of
 * no object, or out of memory. */
const cJSON *lbc_custom_parse_spec(const struct ccm_object *object, cJSON **ret);

#endif
