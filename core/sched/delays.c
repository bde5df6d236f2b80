#include "sched/delays.h"

#include "util/thread.h"

struct sched_timed *sched_delays_find(const struct sched_delays *delays, const char *name)
{
    return (struct sched_timed *)sched_sets_find(&delays->sets, name);
}

/* The heap has room for every key that is known. */
struct sched_timed *sched_delays_make(struct sched_delays *delays, const char *name)
{
    return sched_heap_reserve(&delays->heap, ccm_strmap_len(delays->sets.keys) + 1) < 0
               ? NULL
               : (struct sched_timed *)sched_sets_make(&delays->sets, name);
}

/* --- later --- */

bool sched_delays_has(const struct sched_timed *timed)
{
    return sched_heap_has(&timed->delay);
}

struct sched_timed *sched_delays_first(const struct sched_delays *delays)
{
    struct sched_heap_item *item = sched_heap_first(&delays->heap);

    return item == NULL
               ? NULL
               : (struct sched_timed *)(void *)((char *)item - offsetof(struct sched_timed, delay));
}

void sched_delays_remove(struct sched_delays *delays, struct sched_timed *timed)
{
    sched_heap_remove(&delays->heap, &timed->delay);
}

static void delay_until(struct sched_delays *delays, struct sched_timed *timed,
                        struct sched_wish wish, int64_t due_ms, bool verdict)
{
    timed->retry_ms = verdict ? due_ms : timed->retry_ms;
    if (!sched_delays_has(timed)) {
        timed->wish = wish;
        timed->only_verdicts = verdict;
        sched_heap_put(&delays->heap, &timed->delay, due_ms);
    } else {
        timed->wish = sched_wish_join(timed->wish, wish);
        timed->only_verdicts = timed->only_verdicts && verdict;
        if (due_ms < timed->delay.due_ms) {
            sched_heap_remove(&delays->heap, &timed->delay);
            sched_heap_put(&delays->heap, &timed->delay, due_ms);
        }
    }
    if (sched_delays_first(delays) == timed) {
        ccm_wake_one(&delays->sets.ready); /* to wait less long */
    }
}

void sched_delays_add(struct sched_delays *delays, struct sched_timed *timed,
                      struct sched_wish wish, int64_t delay_ms, bool verdict, int64_t now_ms)
{
    if (delay_ms <= 0) {
        sched_sets_add(&delays->sets, &timed->key, wish, now_ms);
    } else {
        delay_until(delays, timed, wish, now_ms + delay_ms, verdict);
    }
}

void sched_delays_promote(struct sched_delays *delays, int64_t now_ms)
{
    struct sched_timed *timed;

    while ((timed = sched_delays_first(delays)) != NULL && timed->delay.due_ms <= now_ms) {
        sched_delays_remove(delays, timed);
        sched_sets_add(&delays->sets, &timed->key, timed->wish, now_ms);
    }
}

/* --- now --- */

struct sched_timed *sched_delays_take(struct sched_delays *delays, unsigned which, int64_t now_ms)
{
    struct sched_timed *timed = (struct sched_timed *)sched_sets_take(&delays->sets, which);

    if (timed != NULL) {
        timed->held_ms = 0;
        timed->early = timed->retry_ms > now_ms;
        timed->retry_ms = 0;
        if (sched_delays_has(timed) && timed->only_verdicts) {
            sched_delays_remove(delays, timed);
        }
    }
    return timed;
}

void sched_delays_done(struct sched_delays *delays, struct sched_timed *timed, int64_t now_ms)
{
    if (timed->key.dirty && timed->held_ms > now_ms) {
        timed->key.dirty = false;
        delay_until(delays, timed, timed->key.wish, timed->held_ms, false);
    }
    sched_sets_done(&delays->sets, &timed->key, now_ms);
}
