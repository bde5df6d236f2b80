/*
 * Fingerprint of what a person can change on a Service; stored in a label. Same text as the label
 * of earlier controllers, so that taking over writes nothing.
 */
#ifndef CCM_LBC_HASH_H
#define CCM_LBC_HASH_H

#include "ccm/object.h"
#include "lbc/keys.h"
#include "util/attr.h"
#include "util/json.h"

#define LBC_HASH_TEXT 57 /* SHA-224 in hex, with NUL */

/* 0 or -ENOMEM. */
CCM_NODISCARD int lbc_hash_service(const struct ccm_service *service, char ret[LBC_HASH_TEXT]);

/* The same for any list of values; prunes `list` in place. 0, -ENOMEM, -EINVAL (no list). */
CCM_NODISCARD int lbc_hash_list(cJSON *list, char ret[LBC_HASH_TEXT]);

#endif
