/*
 * Conditions in the status of custom resources: what others have written stays, and the
 * time of the last transition moves with the status alone. Pure. Every thread.
 */
#ifndef CCM_LBC_CUSTOM_CONDITION_H
#define CCM_LBC_CUSTOM_CONDITION_H

#include "util/attr.h"
#include "util/json.h"

#include <stdbool.h>
#include <stdint.h>

#define LBC_CUSTOM_STATUS_MAX ((size_t)1024 * 1024) /* of one, as text */

struct lbc_custom_condition {
    const char *type;
    bool holds; /* "True", else "False" */
    const char *reason;
    const char *message;
};

/* When conditions are written. */
struct lbc_custom_moment {
    int64_t generation; /* of the object */
    int64_t wall_ms;
};

/* Put a condition into `conditions`, an array, in place of that of its type. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_custom_condition_put(cJSON *conditions,
                                           const struct lbc_custom_condition *one,
                                           const struct lbc_custom_moment *moment);
/* Take that of a type away, if there is one. */
void lbc_custom_condition_drop(cJSON *conditions, const char *type);

/* That of a type in a status; NULL = there is none. */
const cJSON *lbc_custom_condition_find(const cJSON *status, const char *type);
/* Whether it is there and True. */
bool lbc_custom_condition_holds(const cJSON *status, const char *type);

/* The item moves into the object, or is deleted; NULL is out of memory, as false is. */
bool lbc_custom_put(cJSON *object, const char *name, cJSON *item);
/* A copy of an array of the API, an empty one where there is none. NULL on ENOMEM. */
cJSON *lbc_custom_array_copy(const cJSON *parent, const char *name);
/* {"status": ...} as text; `status` stays the caller's. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_custom_status_print(cJSON *status, struct ccm_buf *body);

#endif
