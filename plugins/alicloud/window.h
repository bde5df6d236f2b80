/*
 * An exact sliding window: how many calls fall into the last so many ms, as the other side may see
 * it. A call arrives there at some time between its begin and its end, so it counts from its begin
 * on and until the span is over after its end; whatever window the other side keeps, fixed or
 * sliding, it never sees more calls in it than are counted here.
 *
 * Memory is bounded whatever the count is: ends that lie closer together than the 1/1024 part of
 * the span are one group, as late as the last of them. That is at most 48 KiB, and with fewer than
 * 1,000 calls in a window 24 to 48 bytes for each of them.
 *
 * Pure: time is an argument (ms of one monotonic clock). The caller brings the lock.
 */
#ifndef CCM_ALICLOUD_WINDOW_H
#define CCM_ALICLOUD_WINDOW_H

#include "util/attr.h"

#include <stddef.h>
#include <stdint.h>

struct ali_window_group {
    int64_t first_ms;
    int64_t last_ms;
    int64_t count;
};

struct ali_window {
    struct ali_window_group *groups; /* a ring, oldest first */
    size_t first;
    size_t len;
    size_t cap;
    int64_t ended;   /* calls in the groups */
    int64_t running; /* calls that have begun and not ended */
};

/* Empty. 0 or -ENOMEM. */
CCM_NODISCARD int ali_window_init(struct ali_window *window);
void ali_window_fini(struct ali_window *window);

/* A call begins. */
void ali_window_begin(struct ali_window *window);

/* A call that has begun was never sent. */
void ali_window_cancel(struct ali_window *window);

/* A call that has begun has ended. When memory runs out, some count longer than they have to. */
void ali_window_end(struct ali_window *window, int64_t now_ms, int64_t span_ms);

/* How many calls count now. */
int64_t ali_window_used(struct ali_window *window, int64_t now_ms, int64_t span_ms);

/* When so many of the calls that have ended (from 1 to `ended`) do not count any more. */
int64_t ali_window_when_free(const struct ali_window *window, int64_t count, int64_t span_ms);

#endif
