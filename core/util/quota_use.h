/*
 * How much of a quota of the cloud is used, seen before it is used up: as metrics, for the status
 * page, and whether to warn. What counts is the object that has used most. Every thread; nothing
 * blocks.
 */
#ifndef CCM_UTIL_QUOTA_USE_H
#define CCM_UTIL_QUOTA_USE_H

#include "ccm/host.h"

#include <stdbool.h>
#include <stdint.h>

/* Little of it is left from so many per cent on, until fewer than the second are used: what goes
 * up and down with each rollout is said once. */
#define CCM_QUOTA_NEAR 80
#define CCM_QUOTA_FAR  70

/* was_near: what it said the last time. limit 0: nobody looks at it. */
bool ccm_quota_is_near(uint64_t used, uint64_t limit, bool was_near);

/* Metrics: `used` of `limit` by the object that has used most. type: of the controller, as in other
 * metrics; quota: a word. */
void ccm_quota_measure(const struct ccm_host *host, const char *type, const char *quota,
                       uint64_t used, uint64_t limit);

/* host->note_quota() where there is one. */
void ccm_quota_note(const struct ccm_host *host, const char *object, const char *quota,
                    uint64_t used, uint64_t limit);

#endif
