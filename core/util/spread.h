/* Periods that do not stay in step with each other. */
#ifndef CCM_UTIL_SPREAD_H
#define CCM_UTIL_SPREAD_H

#include "ccm/host.h"

#include <stdint.h>

/*
 * A time around `ms`, at most its `parts`-th part away to either side, evenly spread. ms: 0 to a
 * day or so (2^30), milliseconds; parts: 1 or more. Without random bytes it is `ms`: no jitter is
 * better than no period. Any thread, does not block.
 */
static inline int64_t ccm_spread(const struct ccm_host *host, int64_t ms, int64_t parts)
{
    const int64_t span = ms / parts;
    uint32_t random = 0;

    if (host->random(host, &random, sizeof(random)) < 0) {
        return ms;
    }
    return ms - span + (int64_t)(((uint64_t)span * 2 * random) / UINT32_MAX);
}

#endif
