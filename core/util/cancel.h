/*
 * A flag that says "give up". It stands in a header of its own because the scheduler sets it, the
 * HTTP engine obeys it, and neither includes the other.
 *
 * Embedded in what owns the work; zeroed = not cancelled. It is set once and never taken back.
 * Every thread. Setting it wakes nobody: whoever waits has to be woken by its own module
 * (ccm_http_cancel() for exchanges).
 */
#ifndef CCM_UTIL_CANCEL_H
#define CCM_UTIL_CANCEL_H

#include <stdatomic.h>
#include <stdbool.h>

struct ccm_cancel {
    atomic_bool cancelled;
};

#endif
