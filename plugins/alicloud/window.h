/*
 * A sliding window: how many calls fall into the last so many ms, as the other side may see it. A
 * call arrives there at some time between its begin and its end, so it counts from its begin on and
 * until the span is over after its end; whatever window the other side keeps, fixed or sliding, it
 * never sees more calls in it than are counted here.
 *
 * A ring of 64 slots, whatever the count is: ends that lie closer together than the 63rd part of
 * the span share a slot, which counts as long as the last of them. So a call counts up to a 63rd
 * part too long, and never too short.
 *
 * Pure: time is an argument (ms of one monotonic clock). The caller brings the lock. Zeroed =
 * empty.
 */
#ifndef CCM_ALICLOUD_WINDOW_H
#define CCM_ALICLOUD_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#define ALI_WINDOW_SLOTS 64

struct ali_window_slot {
    int64_t first_ms;
    int64_t last_ms;
    int64_t count;
};

struct ali_window {
    struct ali_window_slot slots[ALI_WINDOW_SLOTS]; /* a ring, oldest first */
    size_t first;
    size_t len;
    int64_t ended;   /* calls in the slots */
    int64_t running; /* calls that have begun and not ended */
};

/* A call begins. */
void ali_window_begin(struct ali_window *window);

/* A call that has begun was never sent. */
void ali_window_cancel(struct ali_window *window);

/* A call that has begun has ended. */
void ali_window_end(struct ali_window *window, int64_t now_ms, int64_t span_ms);

/* How many calls count now. */
int64_t ali_window_used(struct ali_window *window, int64_t now_ms, int64_t span_ms);

/* When so many of the calls that have ended (from 1 to `ended`) do not count any more. */
int64_t ali_window_when_free(struct ali_window *window, int64_t count, int64_t span_ms);

#endif
