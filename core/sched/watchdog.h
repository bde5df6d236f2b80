/*
 * Running calls into plugins: when each began, on what. A place is a controller, the caches, or
 * create() and start() of the plugins. One watchdog thread looks at all places and names calls that
 * take too long, and again while they go on. Every thread may call everything but new, free, init
 * and add. One lock, a leaf.
 */
#ifndef CCM_SCHED_WATCHDOG_H
#define CCM_SCHED_WATCHDOG_H

#include "util/attr.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a call works on: "default/web" or "default/web (+3 more)"; cut when longer. */
#define SCHED_WATCHDOG_WHAT 320
#define SCHED_WATCHDOG_ID   64

/* One slot per worker. The owner zeroes it; afterwards it belongs to this module. */
struct sched_watchdog_slot {
    struct sched_watchdog_slot *next;
    bool running;
    bool warned;
    int64_t again_ms; /* once it was warned about: when that is done again */
    int64_t started_us;
    const char *call; /* NULL: that of the place */
    char id[SCHED_WATCHDOG_ID];
    char what[SCHED_WATCHDOG_WHAT];
};

struct sched_watchdog;

/* Start the thread. 0, or -errno: no thread or memory. */
CCM_NODISCARD int sched_watchdog_new(struct sched_watchdog **ret);
/* After every place was removed; takes no longer than a line of the log. NULL is fine. */
void sched_watchdog_free(struct sched_watchdog *dog);

#define SCHED_WATCHDOG_SLOW_MS 30000 /* a call that takes longer is named in the log */

struct sched_watchdog_place {
    struct sched_watchdog *dog;
    const char *part; /* name in the log; borrowed */
    const char *call; /* "reconcile" by init; set another before add_slot(); "": the id says it */

    /* Guarded by the lock of the watchdog, and so are the slots. */
    struct sched_watchdog_place *next;
    struct sched_watchdog_slot *slots;
    int64_t slow_ms;
    uint64_t slow; /* warnings so far */
};

/* dog is borrowed until remove(). */
void sched_watchdog_init(struct sched_watchdog_place *place, struct sched_watchdog *dog,
                         const char *part, int64_t slow_ms);
/* One more slot, before its first call; borrowed until remove(). */
void sched_watchdog_add_slot(struct sched_watchdog_place *place, struct sched_watchdog_slot *slot);
/* The thread looks at it no more. Repeating it, or a zeroed place, is fine. */
void sched_watchdog_remove(struct sched_watchdog_place *place);

/* Around each call of a worker. end() returns how long it took, in microseconds. */
void sched_watchdog_begin(struct sched_watchdog_place *place, struct sched_watchdog_slot *slot,
                          const char *id, const char *what);
int64_t sched_watchdog_end(struct sched_watchdog_place *place, struct sched_watchdog_slot *slot);
/* Between end() and begin(): around another call, such as "forget", that belongs to it. */
void sched_watchdog_begin_more(struct sched_watchdog_place *place, struct sched_watchdog_slot *slot,
                               const char *call, const char *what);

/* Log an error for every call that still runs: shutdown gives up on it. */
void sched_watchdog_log_hung(struct sched_watchdog_place *place);

struct sched_watchdog_stats {
    uint64_t slow;       /* warnings so far */
    uint64_t running;    /* calls at this moment */
    uint64_t longest_ms; /* age of the oldest of them */
    const char *longest; /* what it is: "forget"; NULL: a call of the place's own kind */
    uint64_t sum_ms;     /* age of all of them together */
};

void sched_watchdog_get_stats(struct sched_watchdog_place *place, struct sched_watchdog_stats *ret);

/* What the slot does now; false: nothing. */
bool sched_watchdog_peek(struct sched_watchdog_place *place, const struct sched_watchdog_slot *slot,
                         struct sched_watchdog_slot *ret_call, int64_t *ret_age_ms);

/* Call fn for every call that runs, with its age, under the lock: it may only copy. */
void sched_watchdog_list(struct sched_watchdog_place *place,
                         void (*fn)(void *arg, const char *id, const char *what, int64_t age_ms),
                         void *arg);

#endif
