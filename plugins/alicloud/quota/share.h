/*
 * How much of a quota is ours. The cloud counts all callers of an account together, and some
 * accounts have other quotas than the published ones; a throttled answer is all that is said about
 * either. So the share falls fast, by half with each throttled answer, and rises slowly, by a 32nd
 * part of the quota per window: controllers that use one account come to even shares, and seldom
 * meet. It never falls below a sixteenth of the quota. Calls that were under way together are
 * throttled together, and what is tried again may be throttled again: that is one fall.
 *
 * After it nothing is sent for a while, but for probes: one call that cannot wait, soon; once it
 * was not throttled, the next one.
 *
 * Pure: time is an argument (ms of one monotonic clock). The caller brings the lock.
 */
#ifndef CCM_ALICLOUD_QUOTA_SHARE_H
#define CCM_ALICLOUD_QUOTA_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct ali_quota_share {
    int64_t quota;     /* calls per window */
    int64_t allowed;   /* the share */
    int64_t rise_ms;   /* when it rises next */
    int64_t fell_ms;   /* what was sent until then is throttled for the same reason */
    int64_t hold_ms;   /* nothing but probes is to be sent before */
    int64_t probe_ms;  /* nor these before */
    bool probed;       /* one was sent, and no more are until something was not throttled */
    unsigned refusals; /* in a row */
};

/* All of it. */
void ali_quota_share_init(struct ali_quota_share *share, int64_t quota, int64_t now_ms,
                          int64_t window_ms);

/* The quota is another one now. */
void ali_quota_share_follow(struct ali_quota_share *share, int64_t quota);

/* Let it rise as of now. */
void ali_quota_share_rise(struct ali_quota_share *share, int64_t now_ms, int64_t window_ms);

/* A call that was sent at sent_ms was throttled. hint_ms: the wish of the cloud when to come back,
 * of which a minute is believed; 0 = none, then the pause is a 64th part of a window, and twice as
 * long each time that this was too short, up to two windows. */
void ali_quota_share_fall(struct ali_quota_share *share, int64_t sent_ms, int64_t now_ms,
                          int64_t window_ms, int64_t hint_ms);

/* A call that was sent at sent_ms was not throttled. */
void ali_quota_share_succeed(struct ali_quota_share *share, int64_t sent_ms);

/* Ms until a call may be sent; probe: one that cannot wait, which comes a 64th part of a window
 * after the throttled answer. */
int64_t ali_quota_share_held_ms(const struct ali_quota_share *share, int64_t now_ms, bool probe);

/* One is sent. */
void ali_quota_share_send(struct ali_quota_share *share, int64_t now_ms);

#endif
