#include "util/clock_watch.h"

void ccm_clock_watch_init(struct ccm_clock_watch *watch, int64_t wall_ms, int64_t boot_ms)
{
    *watch = (struct ccm_clock_watch){ .ahead_ms = wall_ms - boot_ms, .until_ms = boot_ms };
}

int64_t ccm_clock_watch_check(struct ccm_clock_watch *watch, int64_t wall_ms, int64_t boot_ms)
{
    const int64_t ahead = wall_ms - boot_ms;
    const int64_t step = ahead - watch->ahead_ms;

    if (boot_ms < watch->until_ms) {
        return 0;
    }
    if (step > -CCM_CLOCK_STEP_MS && step < CCM_CLOCK_STEP_MS) {
        watch->ahead_ms = ahead; /* clocks that are slowed down or sped up drift, for ever */
        return 0;
    }
    watch->ahead_ms = ahead;
    watch->until_ms = boot_ms + CCM_CLOCK_QUIET_MS;
    return step;
}
