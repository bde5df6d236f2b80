/*
 * How much of a quota of the cloud is used, seen before it is used up: as metrics, for the status
 * page, and whether to warn. What counts is the object that has used most. Every thread; nothing
 * blocks.
 */
#ifndef CCM_UTIL_QUOTA_USE_H
#define CCM_UTIL_QUOTA_USE_H

#include "ccm/host.h"
#include "ccm/option.h"

#include <stdbool.h>
#include <stdint.h>

/* Little of it is left from so many per cent on, until fewer than the second are used: what goes
 * up and down with each rollout is said once. */
#define CCM_QUOTA_NEAR 80
#define CCM_QUOTA_FAR  70

/* The option that says what the account has: "backends=400, routes=300". Rows of plugins have it,
 * with a pattern of the names that they count. */
#define CCM_QUOTA_OPTION_NAME "account_quotas"
#define CCM_QUOTA_OPTION(names, published)                                                         \
    {                                                                                              \
        .struct_size = sizeof(struct ccm_option), .type = CCM_OPTION_STRING,                       \
        .flags = CCM_OPTION_LIVE, .name = CCM_QUOTA_OPTION_NAME,                                   \
        .pattern = "((" names ")=[0-9]{1,7}(, *|$))*",                                             \
        .help = "Quotas of the account that differ from the published ones (" published            \
                "), as NAME=NUMBER, separated by commas. From 80 % on, a Warning (QuotaNear), "    \
                "metrics and /statusz report the use. 0 = not watched.",                           \
    }
#define CCM_QUOTA_RETIRED_ROW(name)                                                                \
    CCM_OPTION_RETIRED_ROW(NULL, "quota_" name, "set " name "=NUMBER in account_quotas")

/* What the option says of the name; without that, what is published. */
uint64_t ccm_quota_limit(const struct ccm_host *host, const char *name, uint64_t published);

/* was_near: what it returned the last time. limit 0: not watched. */
bool ccm_quota_is_near(uint64_t used, uint64_t limit, bool was_near);

/* Metrics: `used` of `limit` by the object that has used most. type: of the controller, as in other
 * metrics; quota: a word. */
void ccm_quota_measure(const struct ccm_host *host, const char *type, const char *quota,
                       uint64_t used, uint64_t limit);

/* host->note_quota() where there is one. */
void ccm_quota_note(const struct ccm_host *host, const char *object, const char *quota,
                    uint64_t used, uint64_t limit);

#endif
