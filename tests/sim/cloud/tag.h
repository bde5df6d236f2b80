/* Tags of requests and answers, shared by all families. With the cloud's lock held. */
#ifndef CCM_CLOUD_TAG_H
#define CCM_CLOUD_TAG_H

#include "cloud.h"

#define CCM_CLOUD_TAGS_MAX 20

/* Rows that every action with tags in its parameters has. */
#define CCM_CLOUD_TAG_ROWS                                                                         \
    { .name = "Tag.N.Key",                                                                         \
      .items = CCM_CLOUD_TAGS_MAX,                                                                 \
      .min = 1,                                                                                    \
      .max = 64,                                                                                   \
      .invalid = "InvalidParam.TagKey" },                                                          \
    {                                                                                              \
        .name = "Tag.N.Value", .items = CCM_CLOUD_TAGS_MAX, .min = 0, .max = 128,                  \
        .invalid = "InvalidParam.TagValue"                                                         \
    }

/* Tag.N.Key and Tag.N.Value -> sorted list. need_key: a value without key is an error (else so is
 * it, but the caller filters). 0, -EPROTO with the error set, or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_tags_read(struct ccm_cloud_call *call, struct ccm_sim_params *ret);

/* Whether a list by tags shows obj: it has all tags of the filter, and the index knows it by now.
 * An empty value in the filter fits any, an empty filter everything. */
bool ccm_cloud_tags_fit(const struct ccm_cloud_obj *obj, const struct ccm_sim_params *filter);

/* {"Tag":[{"TagKey":..,"TagValue":..}]} under key; bare: the list alone. */
void ccm_cloud_tags_write(struct ccm_jsonw *w, const char *key, const struct ccm_cloud_obj *obj,
                          bool bare);

/* Put tags on obj. 0, -EPROTO (too many), -ENOMEM. */
CCM_NODISCARD int ccm_cloud_tags_put(struct ccm_cloud_call *call, struct ccm_cloud_obj *obj,
                                     const struct ccm_sim_params *tags);

#endif
