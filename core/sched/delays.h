/*
 * Keys that become dirty later, over sets.h, as the type DelayingInterface of client-go. Of several
 * delays for one key the earliest counts, with the most urgent of their lanes. A key that is held
 * is not handed out before that time, whatever adds it. Not synchronised; time is an argument
 * (monotonic ms).
 */
#ifndef CCM_SCHED_DELAYS_H
#define CCM_SCHED_DELAYS_H

#include "sched/heap.h"
#include "sched/sets.h"

/* Begins what the caller knows about a key. */
struct sched_timed {
    struct sched_key key;
    struct sched_heap_item delay;
    struct sched_wish wish; /* while delayed */
    bool only_verdicts;     /* while delayed: nothing but verdicts asked for it */
    bool early;             /* once taken: another reason came before the retry was due */
    int64_t retry_ms;       /* when the retry that a verdict asked for is due, until the key is
                             * taken; 0 = none */
    int64_t held_ms;        /* the key is not handed out before; 0 = it is not held */
};

struct sched_delays {
    struct sched_sets sets;
    struct sched_heap heap;
};

/* NULL: it is not known. */
struct sched_timed *sched_delays_find(const struct sched_delays *delays, const char *name);
/* As sched_sets_make(). To delay a known key cannot fail. */
struct sched_timed *sched_delays_make(struct sched_delays *delays, const char *name);

/* The key becomes dirty, at once or after delay_ms. verdict: it is a retry, which a run for another
 * reason replaces. */
void sched_delays_add(struct sched_delays *delays, struct sched_timed *timed,
                      struct sched_wish wish, int64_t delay_ms, bool verdict, int64_t now_ms);
bool sched_delays_has(const struct sched_timed *timed);
/* The earliest delay; NULL = no key is delayed. */
struct sched_timed *sched_delays_first(const struct sched_delays *delays);
void sched_delays_remove(struct sched_delays *delays, struct sched_timed *timed);

/* Keys whose delay is over become dirty. */
void sched_delays_promote(struct sched_delays *delays, int64_t now_ms);
/* As sched_sets_take(). The run is the retry that a verdict asked for. */
struct sched_timed *sched_delays_take(struct sched_delays *delays, unsigned which, int64_t now_ms);
/* As sched_sets_done(). A dirty key that is held is delayed instead. */
void sched_delays_done(struct sched_delays *delays, struct sched_timed *timed, int64_t now_ms);

#endif
