/*
 * Sees that somebody sets the wall clock, by comparing it with a clock that nobody sets. Pure; one
 * thread. What waits for a clock that is right (a cloud refuses requests of another time) need not
 * wait any longer then.
 */
#ifndef CCM_UTIL_CLOCK_WATCH_H
#define CCM_UTIL_CLOCK_WATCH_H

#include <stdint.h>

#define CCM_CLOCK_STEP_MS  10000 /* less is no step */
#define CCM_CLOCK_QUIET_MS 10000 /* one that is set all the time is reported this often at most */

struct ccm_clock_watch {
    int64_t ahead_ms; /* wall clock less boot clock */
    int64_t until_ms; /* boot clock: steps before this are reported later, as one */
};

void ccm_clock_watch_init(struct ccm_clock_watch *watch, int64_t wall_ms, int64_t boot_ms);

/* By how much the wall clock was set since the last step that was reported; 0 = it was not, or
 * that is reported later. To be called again and again: both clocks are those of this moment. */
int64_t ccm_clock_watch_check(struct ccm_clock_watch *watch, int64_t wall_ms, int64_t boot_ms);

#endif
