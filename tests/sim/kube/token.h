/* The `continue` token of paged lists: opaque to clients, base64url of a small JSON object. Every
 * thread. */
#ifndef CCM_KS_TOKEN_H
#define CCM_KS_TOKEN_H

#include "util/attr.h"
#include "util/buf.h"

#include <stdint.h>

/* Append the token: list version (-1 = newest) and the key behind which the next page starts. */
void ccm_ks_token_print(struct ccm_buf *buf, int64_t version, const char *key);

/* 0, or -EINVAL. `key` is cut to its size, never empty on success. */
CCM_NODISCARD int ccm_ks_token_parse(const char *token, int64_t *ret_version, char *key,
                                     size_t size);

#endif
