/*
 * The metadata service of the instance. Session tokens (version 2) are cached for their lifetime;
 * where the token is refused with 4xx, plain reads are made instead. Every thread.
 */
#ifndef CCM_ALICLOUD_METADATA_H
#define CCM_ALICLOUD_METADATA_H

#include "alicloud/ctx.h"

struct ali_metadata;

/* `base` is "http://host[:port]". NULL on ENOMEM. */
struct ali_metadata *ali_metadata_new(const char *base);
void ali_metadata_free(struct ali_metadata *metadata);

/*
 * Read an item such as "region-id". Blocks a few seconds at most: three tries of 3 s each. On
 * success the caller frees *ret_text (blanks at the end are stripped). -ENOENT
 * (CCM_ERROR_NOT_FOUND): there is no such item. Otherwise CCM_ERROR_TRANSIENT. The answer never
 * appears in err.
 */
CCM_NODISCARD int ali_metadata_get(struct ali_metadata *metadata, const struct ali_ctx *ctx,
                                   const char *item, char **ret_text, struct ccm_error *err);

#endif
