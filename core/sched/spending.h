/*
 * What a key that goes on failing may cost. From an hour after the first of its failures on it
 * makes at most SCHED_SPENDING_HOUR calls in any hour, whatever it fails with and however kinds of
 * failures take turns: after each failure it is known how long the next try has to wait at least.
 * The next one is taken to cost as much as the dearest one lately. One that costs more than all of
 * that waits so long that it is true of the mean, up to SCHED_SPENDING_MOST_MS.
 *
 * Pure; time is an argument (monotonic ms). Nothing here is synchronised.
 */
#ifndef CCM_SCHED_SPENDING_H
#define CCM_SCHED_SPENDING_H

#include <stdbool.h>
#include <stdint.h>

#define SCHED_SPENDING_HOUR    30
#define SCHED_SPENDING_TRIES   6 /* in any hour, also of those that cost nothing */
#define SCHED_SPENDING_MOST_MS 14400000

struct sched_spending_try {
    uint32_t at_s; /* since the beginning */
    uint32_t calls;
};

/* Zeroed: nothing has failed. */
struct sched_spending {
    int64_t since_ms; /* of the first failure */
    bool failing;
    uint8_t len;
    uint32_t open;                                         /* calls since the last failure */
    struct sched_spending_try tries[SCHED_SPENDING_TRIES]; /* of the last hour, oldest first */
};

/* Calls were made. */
void sched_spending_add(struct sched_spending *spending, uint32_t calls);
/* The try that made them has failed. How long the next one has to wait at least, in ms; 0 = as it
 * likes. */
int64_t sched_spending_fail(struct sched_spending *spending, int64_t now_ms);

#endif
