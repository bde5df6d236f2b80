/*
 * Whether this instance may change anything: open until a point in time, which whoever holds the
 * lease moves on. It stands in a header of its own because the lease sets it, the HTTP engine obeys
 * it, and neither includes the other.
 *
 * It may also be held: then this instance leads as before, but nothing new goes out until whoever
 * holds it lets go. What is on its way goes on. It is held as well when the lease was not renewed a
 * moment ago: the clock of a virtual machine that its host has stopped does not go on, so all that
 * is certain about the others is how they were at the last renewal.
 *
 * The time is that of ccm_clock_boot_ms(), so that a process or a machine that slept finds the gate
 * closed when it wakes, before any of its threads has done anything. Zeroed = closed. Every thread.
 */
#ifndef CCM_UTIL_GATE_H
#define CCM_UTIL_GATE_H

#include "util/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CCM_GATE_ALWAYS INT64_MAX

struct ccm_gate {
    _Atomic int64_t until_ms;
    _Atomic int64_t fresh_ms; /* boot time; 0 = nothing has to be renewed */
    atomic_bool held;
};

static inline void ccm_gate_set(struct ccm_gate *gate, int64_t until_ms)
{
    atomic_store(&gate->until_ms, until_ms);
}

/* Until when what was renewed last counts as new. */
static inline void ccm_gate_set_fresh(struct ccm_gate *gate, int64_t fresh_ms)
{
    atomic_store(&gate->fresh_ms, fresh_ms);
}

static inline bool ccm_gate_is_fresh(const struct ccm_gate *gate)
{
    const int64_t fresh_ms = atomic_load(&gate->fresh_ms);

    return fresh_ms == 0 || ccm_clock_boot_ms() < fresh_ms;
}

static inline int64_t ccm_gate_until(const struct ccm_gate *gate)
{
    return atomic_load(&gate->until_ms);
}

/* Whether this instance leads, held or not. NULL = there is no gate. */
static inline bool ccm_gate_leads(const struct ccm_gate *gate)
{
    return gate == NULL || ccm_gate_until(gate) == CCM_GATE_ALWAYS ||
           ccm_clock_boot_ms() < ccm_gate_until(gate);
}

static inline void ccm_gate_set_held(struct ccm_gate *gate, bool held)
{
    atomic_store(&gate->held, held);
}

static inline bool ccm_gate_is_held(const struct ccm_gate *gate)
{
    return gate != NULL && (atomic_load(&gate->held) || !ccm_gate_is_fresh(gate));
}

static inline bool ccm_gate_is_open(const struct ccm_gate *gate)
{
    return ccm_gate_leads(gate) && !ccm_gate_is_held(gate);
}

#endif
