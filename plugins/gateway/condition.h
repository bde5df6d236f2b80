/*
 * Conditions in the status of objects of the Gateway API: what others have written stays, and the
 * time of the last transition moves with the status alone. Pure. Every thread.
 */
#ifndef CCM_GATEWAY_CONDITION_H
#define CCM_GATEWAY_CONDITION_H

#include "util/attr.h"
#include "util/json.h"

#include <stdbool.h>
#include <stdint.h>

struct gateway_condition {
    const char *type;
    bool holds; /* "True", else "False" */
    const char *reason;
    const char *message;
};

/* When conditions are written. */
struct gateway_moment {
    int64_t generation; /* of the object */
    int64_t wall_ms;
};

/* Put a condition into `conditions`, an array, in place of that of its type. 0 or -ENOMEM. */
CCM_NODISCARD int gateway_condition_put(cJSON *conditions, const struct gateway_condition *one,
                                        const struct gateway_moment *moment);
/* Take that of a type away, if there is one. */
void gateway_condition_drop(cJSON *conditions, const char *type);

/* A copy of an array of the API, an empty one where there is none. NULL on ENOMEM. */
cJSON *gateway_array_copy(const cJSON *parent, const char *name);
/* {"status": ...} as text; `status` stays the caller's. 0 or -ENOMEM. */
CCM_NODISCARD int gateway_status_print(cJSON *status, struct ccm_buf *body);

#endif
