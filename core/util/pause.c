#include "util/pause.h"

#include <errno.h>
#include <stddef.h>

static bool has_pauses(const struct ccm_host *host)
{
    return host->struct_size > offsetof(struct ccm_host, paused_until);
}

int ccm_pause_check(const struct ccm_host *host, const char *name, struct ccm_error *err)
{
    const int64_t until = has_pauses(host) ? host->paused_until(host, name) : 0;
    const int64_t left = until == 0 ? 0 : until - host->now_ms(host);
    int r = 0;

    if (left > 0) {
        r = ccm_error_set(err, -EAGAIN, CCM_ERROR_THROTTLED, "%s has asked for a pause", name);
        err->retry_after_ms = (uint64_t)left;
    }
    return r;
}

void ccm_pause_begin(const struct ccm_host *host, const char *name, const struct ccm_error *err)
{
    if (has_pauses(host) && err->kind == CCM_ERROR_THROTTLED && err->retry_after_ms > 0) {
        host->throttle(host, name, host->now_ms(host) + (int64_t)err->retry_after_ms);
    }
}
