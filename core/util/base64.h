/* Base64 (RFC 4648, the alphabet with + and /). Every thread. */
#ifndef CCM_UTIL_BASE64_H
#define CCM_UTIL_BASE64_H

#include "util/attr.h"
#include "util/buf.h"

/*
 * Decode `text` and append the bytes. White space is skipped, padding is required, nothing may
 * follow it. 0, -EBADMSG (not base64), or the failure of the buffer; after -EBADMSG the buffer
 * holds what was decoded so far.
 */
CCM_NODISCARD int ccm_base64_decode(struct ccm_buf *buf, const char *text);

/* Append the text of the bytes, padded, on one line. Failures stick in the buffer. */
void ccm_base64_encode(struct ccm_buf *buf, const void *data, size_t len);

#endif
