/*
 * How long a key waits after a failure. Pure: a state per key, a table of rules, a random number.
 *
 * Each kind of error doubles on its own account, so a key that alternates between a conflict and a
 * broken network slows down in both, and a first terminal error after many others still waits its
 * own base. A success forgets everything.
 *
 *     kind        base     most     why
 *     transient   1.5 s    20 min   the other side is ill; also unknown kinds
 *     throttled   4 s      120 s    only without a retry_after_ms, see below
 *     conflict    4 s      20 min   first 100 ms: another writer was faster; see below
 *     not-found   1.5 s    20 min   as transient
 *     auth        30 s     20 min   an operator has to act
 *     terminal    10 min   60 min   waits for a change of the object, which queues the key
 *     bug         10 min   60 min   as terminal
 *     cancelled   0        0        no failure of the key: at once, and not counted
 *
 * A failure that lasts must not eat the quota: of one kind there are no more than four tries in any
 * hour from an hour after its beginning on, however unlucky the key is (throttled apart). What all
 * of them together may cost, whatever their kinds: spending.h.
 *
 * The n-th failure of a kind takes d = min(base * 2^(n-1), most) and waits between d/2 and d, and
 * no more than five minutes less than d. Where there is a first wait, it comes before these. So
 * nothing is tried more than three times in 5 s. A retry_after_ms of the other side (cut at
 * SCHED_BACKOFF_HINT_MAX_MS) is never undercut; for "throttled" it replaces the table: the wait is
 * between the hint and one and a half hints.
 *
 * A try that a change brought before the wait was over does not lengthen the wait: its failure
 * takes the place of the one before. Otherwise ten edits during an outage of 10 s would delay the
 * next try by 20 min.
 *
 * Nothing here is synchronised: the owner of the state brings the lock.
 */
#ifndef CCM_SCHED_BACKOFF_H
#define CCM_SCHED_BACKOFF_H

#include "ccm/error.h"

#include <stdbool.h>
#include <stdint.h>

#define SCHED_BACKOFF_KINDS       9      /* CCM_ERROR_NONE .. CCM_ERROR_BUG */
#define SCHED_BACKOFF_HINT_MAX_MS 600000 /* longest retry_after_ms that is believed */

/* base_ms 0: at once, not counted. */
struct sched_backoff_rule {
    uint32_t base_ms;
    uint32_t max_ms;
    uint32_t first_ms; /* of the first failure alone; 0 = base_ms */
};

/* Indexed by CCM_ERROR_*; CCM_ERROR_NONE and unknown kinds use the row of transient. */
struct sched_backoff_policy {
    struct sched_backoff_rule rules[SCHED_BACKOFF_KINDS];
};

/* The table above. */
extern const struct sched_backoff_policy sched_backoff_default;

/* Failures in a row of one key, by kind. Zeroed = none. */
struct sched_backoff {
    uint8_t failures[SCHED_BACKOFF_KINDS]; /* saturates */
    bool early; /* set by the owner: the current try began before the wait was over */
};

/* Count the failure and return how long to wait, in ms. `random` is any evenly spread number. */
int64_t sched_backoff_next_ms(struct sched_backoff *state,
                              const struct sched_backoff_policy *policy,
                              const struct ccm_error *err, uint32_t random);

/* How long such a failure would wait at most, without counting it; *ret_most_ms: how long failures
 * of that kind wait at most when they go on. */
int64_t sched_backoff_peek_ms(const struct sched_backoff *state,
                              const struct sched_backoff_policy *policy,
                              const struct ccm_error *err, int64_t *ret_most_ms);

/* Success: the next failure starts at the base again. */
void sched_backoff_forget(struct sched_backoff *state);

/* Counted failures in a row, of all kinds together. */
uint32_t sched_backoff_failures(const struct sched_backoff *state);

/* Evenly spread numbers for jitter, not for secrets; the state starts with any seed. */
uint32_t sched_backoff_random(uint64_t *state);

#endif
