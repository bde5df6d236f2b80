/*
 * The three ways of changing an object by a patch. Pure functions; every thread.
 *
 * On failure they return a negative errno and leave a message as the API server words it in
 * `message`: -EBADMSG  the patch itself is malformed (answered 400) -EINVAL   it does not apply
 * (JSON patch: answered 422; strategic merge: answered 500)
 */
#ifndef CCM_KS_PATCH_H
#define CCM_KS_PATCH_H

#include "schema.h"
#include "util/attr.h"
#include "util/json.h"

/* RFC 7386. Returns a new tree in *ret. */
CCM_NODISCARD int ccm_ks_patch_merge(const cJSON *object, const cJSON *patch, cJSON **ret,
                                     struct ccm_buf *message);

/* RFC 6902: all operations or none. */
CCM_NODISCARD int ccm_ks_patch_json(const cJSON *object, const cJSON *patch, cJSON **ret,
                                    struct ccm_buf *message);

/* Strategic merge: lists join by the merge keys of the schema; directives $patch, $setElementOrder,
 * $deleteFromPrimitiveList, $retainKeys. */
CCM_NODISCARD int ccm_ks_patch_strategic(const cJSON *object, const cJSON *patch,
                                         const struct ccm_ks_schema *schema, cJSON **ret,
                                         struct ccm_buf *message);

#endif
