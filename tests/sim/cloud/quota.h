/*
 * Rates: how many calls of an action an account may make in a period. With the cloud's lock held.
 *
 * A file that changes them:
 *   {"scale": 0.5, "rates": {"slb.CreateVServerGroup": {"count": 5, "period_s": 1}}}
 * scale multiplies all counts that are not named (at least 1 stays); a count of 0 is no limit.
 */
#ifndef CCM_CLOUD_QUOTA_H
#define CCM_CLOUD_QUOTA_H

#include "util/attr.h"
#include "util/buf.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct ccm_cloud_quota;

/* The published rates. NULL when memory ran out. */
struct ccm_cloud_quota *ccm_cloud_quota_new(void);
void ccm_cloud_quota_free(struct ccm_cloud_quota *quota);

/* Apply a file. 0, -ENOMEM, or -EINVAL with the reason appended to `why`. */
CCM_NODISCARD int ccm_cloud_quota_load(struct ccm_cloud_quota *quota, const cJSON *json,
                                       struct ccm_buf *why);

/* Count a call of product ("slb") and action. True: it may run. now_ms is the monotonic clock. */
bool ccm_cloud_quota_take(struct ccm_cloud_quota *quota, const char *account, const char *product,
                          const char *action, int64_t now_ms);

#endif
