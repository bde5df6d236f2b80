/* Parameter tables: what an action takes. Validation is driven by them alone. Every thread. */
#ifndef CCM_CLOUD_SPEC_H
#define CCM_CLOUD_SPEC_H

#include "common/params.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stdint.h>

struct ccm_cloud_call;

enum ccm_cloud_type { CCM_CLOUD_STR, CCM_CLOUD_INT, CCM_CLOUD_BOOL, CCM_CLOUD_ENUM };

struct ccm_cloud_param {
    const char *name; /* "ListenerPort", "Tag.N.Key": N stands for 1, 2, ... items */
    enum ccm_cloud_type type;
    bool required; /* of a list: at least one item */
    int64_t min;   /* number: range; text: length in characters. Both 0: any */
    int64_t max;
    const char *values;              /* of an enumeration, separated by '|' */
    uint32_t items;                  /* most items of a list */
    bool (*fits)(const char *value); /* further rule for a value that is not empty; NULL: none */
    const char
        *invalid; /* code for a bad value; NULL = "Invalid" and the name without dots and numbers */
    const char *missing; /* code when it is missing; NULL = "Missing" and the name */
    const char
        *too_many; /* code for too many items; NULL = "SizeLimitExceeded." and the list's name */
};

/* How a service words its complaints, where it differs from the general way. In the formats %s is
 * the name of the parameter. */
struct ccm_cloud_manner {
    const char *name;             /* of the service; keeps its ClientTokens apart */
    const char *invalid;          /* code for a bad value */
    const char *invalid_message;  /* format */
    const char *missing;          /* prefix of the code for a missing parameter */
    const char *missing_message;  /* format */
    const char *too_many;         /* prefix of the code for a list that is too long */
    const char *too_many_message; /* format */
    const char *token_code;       /* same ClientToken, other parameters */
    const char *token_message;
    bool any_case; /* enumerations do not mind the case of letters */
};

/* Check the parameters of call->params against the row of call->action, unknown ones included.
 * 0, or what ccm_cloud_fail said. */
CCM_NODISCARD int ccm_cloud_spec_check(struct ccm_cloud_call *call);

/* Whether a parameter belongs to the frame (signature, account) and to no action. */
bool ccm_cloud_spec_is_common(const char *name);

#endif
