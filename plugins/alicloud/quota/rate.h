/*
 * The published quotas: how many calls of an action an account may make in a window, and how much
 * of that is kept for calls that cannot wait. Pure.
 */
#ifndef CCM_ALICLOUD_QUOTA_RATE_H
#define CCM_ALICLOUD_QUOTA_RATE_H

#include "alicloud/client.h"

#define ALI_QUOTA_WINDOW_MS INT64_C(60000) /* what the quotas of a product are for */

/* Of each action of a product, per 60 s. */
struct ali_quota {
    int64_t write;
    int64_t read; /* Describe..., List..., Get... */
};

/* What one action gets. */
struct ali_rate {
    int64_t count;
    int64_t window_ms;
};

/* What is published; for what is not, the lowest that is known of its kind. */
struct ali_quota ali_quota_default(enum ali_product product);

/* By the quota of its product. The rates of some actions count in shorter windows, in proportion.
 * At least one call. */
struct ali_rate ali_quota_rate(const struct ali_quota *quota, enum ali_product product,
                               const char *action);

/*
 * How many of so many calls of an action this priority leaves to others: a twentieth for removals
 * and deletions, on actions that these make; and another one for first calls, that is of namespaces
 * that have had less than ali_quota_firsts() of them lately. What has failed again and again leaves
 * nine tenths.
 */
int64_t ali_quota_kept(const char *action, enum ali_priority priority, bool first, int64_t count);

/* Until a namespace has had so many of so many calls, its next one is one of its first. */
int64_t ali_quota_firsts(int64_t count);

/* All that what has failed again and again gets of so many calls, however long it waits. */
int64_t ali_quota_retries(int64_t count);

/* As what a call goes on that has failed again and again and has waited for too long. */
enum ali_priority ali_quota_aged(const char *action);

#endif
