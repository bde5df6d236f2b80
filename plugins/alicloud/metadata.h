/*
 * The metadata service of the instance. Session tokens (version 2) are cached for their lifetime;
 * where the token is refused with 4xx, plain reads are made instead. Every thread.
 */
#ifndef CCM_ALICLOUD_METADATA_H
#define CCM_ALICLOUD_METADATA_H

#include "alicloud/ctx.h"

struct ccm_metadata;

/* `base` is "http://host[:port]". NULL on ENOMEM. */
struct ccm_metadata *ccm_metadata_new(const char *base);
void ccm_metadata_free(struct ccm_metadata *metadata);

/*
 * Read an item such as "region-id". Blocks a few seconds at most: three tries of 3 s each. On
 * success the caller frees *ret_text (blanks at the end are stripped). -ENOENT
 * (CCM_ERROR_NOT_FOUND): there is no such item. Otherwise CCM_ERROR_TRANSIENT. The answer never
 * appears in err.
 */
CCM_NODISCARD int ccm_metadata_get(struct ccm_metadata *metadata, const struct ccm_ali_ctx *ctx,
                                   const char *item, char **ret_text, struct ccm_error *err);

#endif
