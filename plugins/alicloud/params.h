/* Parameter lists as the wire wants them. One thread at a time per list. */
#ifndef CCM_ALICLOUD_PARAMS_H
#define CCM_ALICLOUD_PARAMS_H

#include "alicloud/client.h"
#include "util/buf.h"

/* Most bytes of one encoded request. */
#define ALI_PARAMS_MAX ((size_t)1024 * 1024)

/* Append text with every byte but A-Z a-z 0-9 - _ . ~ as %XX (RFC 3986, capital hex). */
void ali_params_escape(struct ccm_buf *buf, const char *text);

/* Append "name=value&...", escaped, sorted by the bytes of the plain names (equal names keep their
 * order). 0, or the sticky failure of the list or the buffer. */
CCM_NODISCARD int ali_params_encode(const struct ali_params *params, struct ccm_buf *buf);

/* Append copies of all of them. Failures stick in `to`. */
void ali_params_extend(struct ali_params *to, const struct ali_params *from);

/* Whether a parameter of that name is there. */
bool ali_params_has(const struct ali_params *params, const char *name);

#endif
