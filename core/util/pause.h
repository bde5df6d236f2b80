/*
 * A pause that a plugin's cloud asks for, such as Retry-After with 429: no call of the plugin is
 * made before it is over, whatever object it is for. `name` tells pauses of one plugin apart, by
 * account or by action. Where the host is older than pauses (ABI 1.0), a failed key waits by itself
 * alone. Every thread; nothing blocks.
 *
 *     r = ccm_pause_check(host, "cloud", err);
 *     r = r < 0 ? r : host->http(...);
 *     ... an answer of 429: err has CCM_ERROR_THROTTLED and retry_after_ms ...
 *     ccm_pause_begin(host, "cloud", err);
 */
#ifndef CCM_UTIL_PAUSE_H
#define CCM_UTIL_PAUSE_H

#include "ccm/host.h"
#include "util/attr.h"

/* Before a call: 0; or, while there is a pause, -EAGAIN with CCM_ERROR_THROTTLED and what is left
 * of it as retry_after_ms. */
CCM_NODISCARD int ccm_pause_check(const struct ccm_host *host, const char *name,
                                  struct ccm_error *err);
/* After a call that failed: begins a pause where err has kind CCM_ERROR_THROTTLED and a
 * retry_after_ms, of which the host takes at most 10 minutes; else does nothing. */
void ccm_pause_begin(const struct ccm_host *host, const char *name, const struct ccm_error *err);

#endif
