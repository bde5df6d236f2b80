/*
 * Request bodies in the binary form of the API (protobuf), which typed Go clients send: `kubectl
 * create service` for one. Read by the schema's field numbers; answers are JSON always. Every
 * thread.
 */
#ifndef CCM_KS_BINARY_H
#define CCM_KS_BINARY_H

#include "schema.h"
#include "util/attr.h"

#include <stdbool.h>

/* Whether the kind of this schema can be read from the binary form. */
bool ccm_ks_binary_can(const struct ccm_ks_schema *schema);

/*
 * A body with its envelope as the tree that the same body in JSON would give, kind and apiVersion
 * included. Fields that the schema does not number are passed over. The caller deletes *ret.
 * 0, or -EBADMSG.
 */
CCM_NODISCARD int ccm_ks_binary_parse(const struct ccm_ks_schema *schema, const char *body,
                                      size_t len, cJSON **ret);

#endif
