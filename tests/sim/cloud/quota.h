/*
 * Rates: how many calls of an action an account may make in a period, in fixed windows that begin
 * with the first call of a quiet time. What the services do beyond these has no published figure
 * and comes from a file alone. With the cloud's lock held, save where said.
 *
 *   {"scale": 0.5, "hints": false,
 *    "rates":      {"slb.CreateVServerGroup": {"count": 5, "period_s": 1}},
 *    "api":        {"slb.*": {"count": 500}},
 *    "account":    {"nlb": {"count": 1000}},
 *    "concurrent": {"slb.Create*": 4}}
 *
 * scale       multiplies all published rates (at least 1 stays)
 * hints       whether a refusal tells when the window ends, in the headers that SDKs read; default
 *             true
 * rates       calls of an account to an API; instead of the published rate. Refusal:
 * Throttling.User api         calls of all accounts to an API. Refusal: Throttling.Api account
 * calls of an account to a product. Refusal: Throttling concurrent  calls of an account to an API
 * at the same time. Refusal: Throttling.ConcurrentLimitExceeded
 *
 * Names are shell patterns; the first that fits counts. A count of 0 is no limit, a period_s that
 * is left out is 60.
 */
#ifndef CCM_CLOUD_QUOTA_H
#define CCM_CLOUD_QUOTA_H

#include "util/attr.h"
#include "util/buf.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct ccm_cloud_quota;

/* A refusal. Texts are static. */
struct ccm_cloud_throttle {
    const char *code;
    const char *message;
    int64_t count; /* of the window; 0: there is none, or it is not told */
    int64_t period_ms;
    int64_t left_ms; /* until the window ends */
};

/* The published rates. NULL when memory ran out. */
struct ccm_cloud_quota *ccm_cloud_quota_new(void);
void ccm_cloud_quota_free(struct ccm_cloud_quota *quota);

/* Apply a file. 0, -ENOMEM, or -EINVAL with the reason appended to `why`. */
CCM_NODISCARD int ccm_cloud_quota_load(struct ccm_cloud_quota *quota, const cJSON *json,
                                       struct ccm_buf *why);

/* Count a call of product ("slb") and action. True: it may run. now_ms is the monotonic clock. */
bool ccm_cloud_quota_take(struct ccm_cloud_quota *quota, const char *account, const char *product,
                          const char *action, int64_t now_ms, struct ccm_cloud_throttle *ret);

/* A request has come, is about to run, has been answered: how many are under way. Between the two
 * ccm_cloud_quota_crowded tells whether it is one too many. */
void ccm_cloud_quota_enter(struct ccm_cloud_quota *quota, const char *account, const char *product,
                           const char *action);
void ccm_cloud_quota_leave(struct ccm_cloud_quota *quota, const char *account, const char *product,
                           const char *action);
bool ccm_cloud_quota_crowded(struct ccm_cloud_quota *quota, const char *account,
                             const char *product, const char *action,
                             struct ccm_cloud_throttle *ret);

#endif
