/*
 * Running calls into plugins, of one controller or of the caches: who began when, on what; and a
 * thread that names those that take too long, and again while they go on. Every thread may call
 * everything but init and fini. One lock, a leaf.
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
    bool running;
    bool warned;
    int64_t again_ms; /* once it was warned about: when that is done again */
    int64_t started_us;
    const char *call; /* NULL: that of the watchdog */
    char id[SCHED_WATCHDOG_ID];
    char what[SCHED_WATCHDOG_WHAT];
};

struct sched_watchdog {
    const char *part; /* name in the log; borrowed */
    const char *call; /* "reconcile", as init sets it; another before start(); "": the id says it */

    pthread_mutex_t lock; /* guards what follows and the slots */
    int64_t slow_ms;
    pthread_cond_t stop;
    pthread_t thread;
    bool started;
    bool stopping;
    struct sched_watchdog_slot **slots;
    size_t slot_count;
    uint64_t slow; /* warnings so far */
};

/* slots (the array and what it points to) are borrowed until fini. 0 or -errno. */
CCM_NODISCARD int sched_watchdog_init(struct sched_watchdog *dog, const char *part, int64_t slow_ms,
                                      struct sched_watchdog_slot **slots, size_t slot_count);
void sched_watchdog_fini(struct sched_watchdog *dog); /* after stop */

/* Another limit, for running calls too. Any thread. */
void sched_watchdog_set_slow(struct sched_watchdog *dog, int64_t slow_ms);

/* The thread. stop() joins it, which takes no longer than a line of the log; without start() it
 * does nothing. */
CCM_NODISCARD int sched_watchdog_start(struct sched_watchdog *dog);
void sched_watchdog_stop(struct sched_watchdog *dog);

/* Around each call of a worker. end() returns how long it took, in microseconds. */
void sched_watchdog_begin(struct sched_watchdog *dog, struct sched_watchdog_slot *slot,
                          const char *id, const char *what);
int64_t sched_watchdog_end(struct sched_watchdog *dog, struct sched_watchdog_slot *slot);
/* Between end() and begin(): around another call, such as "forget", that belongs to it. */
void sched_watchdog_begin_more(struct sched_watchdog *dog, struct sched_watchdog_slot *slot,
                               const char *call, const char *what);

/* Log an error for every call that still runs: shutdown gives up on it. */
void sched_watchdog_log_hung(struct sched_watchdog *dog);

struct sched_watchdog_stats {
    uint64_t slow;       /* warnings so far */
    uint64_t running;    /* calls at this moment */
    uint64_t longest_ms; /* age of the oldest of them */
    const char *longest; /* what it is: "forget"; NULL: a call of the watchdog's own kind */
    uint64_t sum_ms;     /* age of all of them together */
};

void sched_watchdog_get_stats(struct sched_watchdog *dog, struct sched_watchdog_stats *ret);

/* What the slot does now; false: nothing. */
bool sched_watchdog_peek(struct sched_watchdog *dog, const struct sched_watchdog_slot *slot,
                         struct sched_watchdog_slot *ret_call, int64_t *ret_age_ms);

/* Call fn for every call that runs, with its age, under the lock: it may only copy. */
void sched_watchdog_list(struct sched_watchdog *dog,
                         void (*fn)(void *arg, const char *id, const char *what, int64_t age_ms),
                         void *arg);

#endif
