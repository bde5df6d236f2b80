/*
 * A budget: so many at once, then one per interval. Zeroed memory is a full budget. Times are
 * monotonic, in ms, and come from the caller. One thread at a time.
 */
#ifndef CCM_UTIL_BUCKET_H
#define CCM_UTIL_BUCKET_H

#include <stdint.h>

struct ccm_bucket {
    int64_t full_ms; /* when it is full again */
};

struct ccm_bucket_size {
    int64_t burst;
    int64_t interval_ms;
};

/* How long until one more is within the budget; 0 = now. */
static inline int64_t ccm_bucket_wait_ms(const struct ccm_bucket *bucket,
                                         const struct ccm_bucket_size *size, int64_t now_ms)
{
    const int64_t wait_ms = bucket->full_ms - now_ms - (size->burst - 1) * size->interval_ms;

    return wait_ms > 0 ? wait_ms : 0;
}

/* One was used, whether it was within the budget or not: at most an empty bucket is left. */
static inline void ccm_bucket_take(struct ccm_bucket *bucket, const struct ccm_bucket_size *size,
                                   int64_t now_ms)
{
    const int64_t empty_ms = now_ms + size->burst * size->interval_ms;
    const int64_t full_ms =
        (bucket->full_ms > now_ms ? bucket->full_ms : now_ms) + size->interval_ms;

    bucket->full_ms = full_ms < empty_ms ? full_ms : empty_ms;
}

#endif
