/*
 * A sliding window: how many calls there were in the last so many ms. Whatever window the other
 * side keeps, fixed or sliding, it never sees more calls in it than are counted here.
 *
 * A ring of slots, whatever the count is. With n slots, calls that lie closer together than the
 * (n-1)th part of the span share a slot, which counts as long as the last of them. So a call counts
 * up to such a part too long, and never too short.
 *
 * Pure: time is an argument (ms of one monotonic clock). The caller brings the lock.
 */
#ifndef CCM_ALICLOUD_QUOTA_WINDOW_H
#define CCM_ALICLOUD_QUOTA_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct ali_window_slot {
    int64_t first_ms;
    int64_t last_ms;
    int64_t count;
};

struct ali_window {
    struct ali_window_slot *slots; /* a ring, oldest first; of the caller */
    size_t size;                   /* slots that there are */
    size_t first;
    size_t len;
    int64_t calls; /* in the slots */
};

/* Empty, over at least two slots. */
void ali_window_init(struct ali_window *window, struct ali_window_slot *slots, size_t size);
void ali_window_add(struct ali_window *window, int64_t now_ms, int64_t span_ms);
/* How many calls count now. */
int64_t ali_window_count(struct ali_window *window, int64_t now_ms, int64_t span_ms);
/* When so many of the calls (from 1 to `calls`) do not count any more. */
int64_t ali_window_when_free(const struct ali_window *window, int64_t count, int64_t span_ms);

#endif
