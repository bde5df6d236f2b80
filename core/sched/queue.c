#include "sched/queue.h"

#include "sched/delays.h"
#include "util/clock.h"
#include "util/entropy.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HELD_CHECK_MS      100 /* the gate does not say when it opens */
#define CALM_SLICE_MS      10  /* how soon a worker takes a due key; period of wait_calm() */
#define LAST_LANE_FAILURES 2   /* in a row: from then on a key waits in the last lane */
#define TURNS_MAX          30

/* All that is known about one key; it lives while the key is in any set or has failures. */
struct entry {
    struct sched_timed timed;
    uint8_t turns; /* granted whatever the key costs, since it was last added for another reason */
    uint32_t luck; /* for the jitter of its verdict: the same for all keys taken with it */
    struct sched_backoff backoff;
    struct sched_spending spending;
};

enum state { OPEN, DRAINING, SHUT };

struct sched_queue {
    struct sched_queue_options options;

    pthread_mutex_t lock; /* guards all below; leaf */
    pthread_cond_t idle;  /* drain(), wait_calm(): nothing ready or processed */

    enum state state;
    struct sched_delays delays; /* get() waits for its `ready`: also an earlier delay, shutdown */
    int64_t paused_ms;          /* nothing is handed out before */
    uint64_t random;
    uint64_t retries;
};

static int64_t now_ms(const struct sched_queue *queue)
{
    return queue->options.now_ms == NULL ? ccm_clock_now_ms()
                                         : queue->options.now_ms(queue->options.arg);
}

/* --- entries -------------------------------------------------------------------------------- */

static struct entry *queue_find_entry(const struct sched_queue *queue, const char *key)
{
    return (struct entry *)sched_delays_find(&queue->delays, key);
}

/* The entry, if a worker has it. */
static struct entry *queue_find_processed(const struct sched_queue *queue, const char *key)
{
    struct entry *entry = queue_find_entry(queue, key);

    return entry != NULL && entry->timed.key.processing ? entry : NULL;
}

static int queue_obtain_entry(struct sched_queue *queue, const char *key, struct entry **ret)
{
    const size_t len = strnlen(key, SCHED_QUEUE_KEY_MAX + 1);

    *ret = queue_find_entry(queue, key);
    if (*ret != NULL) {
        return 0;
    }
    if (len == 0 || len > SCHED_QUEUE_KEY_MAX) {
        return -EINVAL;
    }
    if (ccm_strmap_len(queue->delays.sets.keys) >= SCHED_QUEUE_KEYS_MAX) {
        return -ENOSPC;
    }
    *ret = (struct entry *)sched_delays_make(&queue->delays, key);
    return *ret == NULL ? -ENOMEM : 0;
}

static void drop_if_unused(struct sched_queue *queue, struct entry *entry)
{
    if (!entry->timed.key.dirty && !entry->timed.key.processing &&
        !sched_delays_has(&entry->timed) && sched_backoff_failures(&entry->backoff) == 0) {
        sched_sets_drop(&queue->delays.sets, &entry->timed.key);
    }
}

/* An add of any sort, with the lock held. */
static void schedule_locked(struct sched_queue *queue, struct entry *entry, uint64_t lane,
                            int64_t delay_ms, bool verdict)
{
    const int64_t cut = delay_ms < SCHED_QUEUE_DELAY_MAX_MS ? delay_ms : SCHED_QUEUE_DELAY_MAX_MS;

    entry->turns = verdict ? entry->turns : 0;
    sched_delays_add(&queue->delays, &entry->timed, sched_wish_for(lane), cut, verdict,
                     now_ms(queue));
}

/* How long a key has to wait at least when it is added. */
static int64_t entry_hold_delay(const struct sched_queue *queue, const struct entry *entry,
                                int64_t delay_ms)
{
    const int64_t held_ms = entry->timed.held_ms;
    const int64_t rest_ms = held_ms == 0 ? 0 : held_ms - now_ms(queue);

    return rest_ms > delay_ms ? rest_ms : delay_ms;
}

static void drop_delays_locked(struct sched_queue *queue)
{
    struct sched_timed *timed;

    while ((timed = sched_delays_first(&queue->delays)) != NULL) {
        sched_delays_remove(&queue->delays, timed);
        drop_if_unused(queue, (struct entry *)timed);
    }
}

static void drop_ready_locked(struct sched_queue *queue)
{
    struct sched_timed *timed;

    while ((timed = sched_delays_take(&queue->delays, SCHED_LANES_ALL, now_ms(queue))) != NULL) {
        sched_delays_done(&queue->delays, timed, now_ms(queue));
        drop_if_unused(queue, (struct entry *)timed);
    }
}

/* --- life ----------------------------------------------------------------------------------- */

struct sched_queue *sched_queue_new(const struct sched_queue_options *options)
{
    struct sched_queue *queue = calloc(1, sizeof(*queue));

    if (queue == NULL) {
        return NULL;
    }
    if (options != NULL) {
        queue->options = *options;
    }
    if (queue->options.backoff == NULL) {
        queue->options.backoff = &sched_backoff_default;
    }
    queue->random = queue->options.seed != 0 ? queue->options.seed : ccm_entropy_seed();
    if (sched_sets_init(&queue->delays.sets, sizeof(struct entry), queue->options.common_max) < 0) {
        free(queue);
        return NULL;
    }
    if (pthread_mutex_init(&queue->lock, NULL) != 0) {
        sched_sets_fini(&queue->delays.sets);
        free(queue);
        return NULL;
    }
    if (ccm_clock_cond_init(&queue->idle) < 0) {
        ccm_lock_fini(&queue->lock);
        sched_sets_fini(&queue->delays.sets);
        free(queue);
        return NULL;
    }
    return queue;
}

void sched_queue_free(struct sched_queue *queue)
{
    if (queue == NULL) {
        return;
    }
    ccm_cond_fini(&queue->idle);
    ccm_lock_fini(&queue->lock);
    sched_heap_fini(&queue->delays.heap);
    sched_sets_fini(&queue->delays.sets);
    free(queue);
}

/* --- adding --------------------------------------------------------------------------------- */

int sched_queue_add(struct sched_queue *queue, const char *key, uint64_t lane)
{
    return sched_queue_add_after(queue, key, lane, 0);
}

int sched_queue_add_after(struct sched_queue *queue, const char *key, uint64_t lane,
                          int64_t delay_ms)
{
    struct entry *entry;
    int r = 0;

    ccm_lock(&queue->lock);
    if (queue->state == OPEN) {
        r = queue_obtain_entry(queue, key, &entry);
        if (r == 0) {
            schedule_locked(queue, entry, lane, entry_hold_delay(queue, entry, delay_ms), false);
        }
    }
    ccm_unlock(&queue->lock);
    return r;
}

/* How long it has to wait for what it costs. A cancelled call has not failed. */
static int64_t queue_charge_failure(const struct sched_queue *queue,
                                    struct sched_spending *spending, const struct ccm_error *err)
{
    return err->kind == CCM_ERROR_CANCELLED ? 0 : sched_spending_fail(spending, now_ms(queue));
}

/* Whether what waits for its turn beside the failure has it, whatever the failure costs: what a
 * change asks for must not wait for that; what has turns for ever is no change. */
static bool entry_take_turn(struct entry *entry)
{
    if (entry->turns >= TURNS_MAX) {
        return false;
    }
    entry->turns++;
    return true;
}

void sched_queue_spend(struct sched_queue *queue, const char *key, uint32_t calls)
{
    ccm_lock(&queue->lock);

    struct entry *entry = queue_find_processed(queue, key);

    if (entry != NULL) {
        sched_spending_add(&entry->spending, calls);
    }
    ccm_unlock(&queue->lock);
}

int64_t sched_queue_add_rate_limited(struct sched_queue *queue, const char *key, uint64_t lane,
                                     const struct ccm_error *err, int64_t latest_ms)
{
    int64_t delay_ms = 0;

    ccm_lock(&queue->lock);

    struct entry *entry = queue_find_processed(queue, key);

    if (entry != NULL) {
        delay_ms = sched_backoff_next_ms(&entry->backoff, queue->options.backoff, err, entry->luck);

        const bool turns = latest_ms > 0 && latest_ms < delay_ms;

        const bool granted = turns && entry_take_turn(entry);
        const int64_t least_ms = queue_charge_failure(queue, &entry->spending, err);

        delay_ms = turns ? latest_ms : delay_ms;
        delay_ms = least_ms > delay_ms && !granted ? least_ms : delay_ms;
        queue->retries++;
        if (err->kind == CCM_ERROR_THROTTLED && err->retry_after_ms > 0) {
            const bool sooner = err->retry_after_ms >= (uint64_t)delay_ms; /* cut, or its turn */

            entry->timed.held_ms =
                now_ms(queue) + (sooner ? delay_ms : (int64_t)err->retry_after_ms);
        }
        if (queue->state == OPEN) {
            const bool again =
                !turns && sched_backoff_failures(&entry->backoff) >= LAST_LANE_FAILURES;

            schedule_locked(queue, entry, again ? CCM_LANE_BULK : lane, delay_ms, true);
        }
    }
    ccm_unlock(&queue->lock);
    return delay_ms;
}

int64_t sched_queue_peek_rate_limited(struct sched_queue *queue, const char *key,
                                      const struct ccm_error *err, int64_t *ret_most_ms)
{
    int64_t next_ms = 0;

    *ret_most_ms = 0;
    ccm_lock(&queue->lock);

    const struct entry *entry = queue_find_processed(queue, key);

    if (entry != NULL) {
        struct sched_spending spending = entry->spending;

        next_ms = sched_backoff_peek_ms(&entry->backoff, queue->options.backoff, err, ret_most_ms);
        const int64_t least_ms = queue_charge_failure(queue, &spending, err);

        next_ms = least_ms > next_ms ? least_ms : next_ms;
        *ret_most_ms = next_ms > *ret_most_ms ? next_ms : *ret_most_ms;
    }
    ccm_unlock(&queue->lock);
    return next_ms;
}

void sched_queue_requeue_after(struct sched_queue *queue, const char *key, uint64_t lane,
                               int64_t delay_ms)
{
    ccm_lock(&queue->lock);

    struct entry *entry = queue_find_processed(queue, key);

    if (entry != NULL && queue->state == OPEN) {
        if (entry->timed.held_ms > now_ms(queue) + delay_ms) { /* the verdict's last word counts */
            entry->timed.held_ms = now_ms(queue) + delay_ms;
        }
        schedule_locked(queue, entry, lane, delay_ms, true);
    }
    ccm_unlock(&queue->lock);
}

void sched_queue_forget(struct sched_queue *queue, const char *key)
{
    ccm_lock(&queue->lock);

    struct entry *entry = queue_find_entry(queue, key);

    if (entry != NULL) {
        sched_backoff_forget(&entry->backoff);
        entry->spending = (struct sched_spending){ .failing = false };
        drop_if_unused(queue, entry);
    }
    ccm_unlock(&queue->lock);
}

void sched_queue_withdraw(struct sched_queue *queue, const char *key)
{
    ccm_lock(&queue->lock);

    struct entry *entry = queue_find_entry(queue, key);

    if (entry != NULL && sched_delays_has(&entry->timed) && entry->timed.retry_ms == 0) {
        sched_delays_remove(&queue->delays, &entry->timed);
        drop_if_unused(queue, entry);
    }
    ccm_unlock(&queue->lock);
}

bool sched_queue_is_last(struct sched_queue *queue, const char *key)
{
    ccm_lock(&queue->lock);

    const struct entry *entry = queue_find_processed(queue, key);
    const bool last = entry != NULL && !entry->timed.key.dirty &&
                      !sched_delays_has(&entry->timed) &&
                      sched_backoff_failures(&entry->backoff) == 0;

    ccm_unlock(&queue->lock);
    return last;
}

bool sched_queue_pause(struct sched_queue *queue, int64_t until_ms)
{
    ccm_lock(&queue->lock);

    const int64_t now = now_ms(queue);
    const bool begins = until_ms > now && queue->paused_ms <= now;
    const int64_t latest_ms = now + SCHED_BACKOFF_HINT_MAX_MS;

    if (until_ms <= now) {
        queue->paused_ms = 0;
    } else if (until_ms > queue->paused_ms) {
        queue->paused_ms = until_ms < latest_ms ? until_ms : latest_ms;
    }
    ccm_wake_all(&queue->delays.sets.ready); /* they look when to look again */
    ccm_unlock(&queue->lock);
    return begins;
}

size_t sched_queue_retry_now(struct sched_queue *queue)
{
    struct sched_sets *sets = &queue->delays.sets;
    void *cursor = NULL;
    void *value = NULL;
    size_t count = 0;

    ccm_lock(&queue->lock);
    while (queue->state == OPEN && ccm_strmap_next(sets->keys, &cursor, NULL, &value) != 0) {
        struct entry *entry = value;
        struct sched_timed *timed = &entry->timed;

        if (timed->key.processing) {
            sched_sets_add(sets, &timed->key, sched_wish_for(CCM_LANE_BULK), now_ms(queue));
        } else if (!timed->key.dirty && sched_delays_has(timed)) {
            const bool failed = sched_backoff_failures(&entry->backoff) > 0;

            if (failed || timed->retry_ms != 0) {
                sched_sets_add(sets, &timed->key, timed->wish, now_ms(queue));
                count += failed ? 1 : 0;
            }
        }
    }
    ccm_unlock(&queue->lock);
    return count;
}

uint32_t sched_queue_num_requeues(struct sched_queue *queue, const char *key)
{
    ccm_lock(&queue->lock);

    const struct entry *entry = queue_find_entry(queue, key);
    const uint32_t failures = entry == NULL ? 0 : sched_backoff_failures(&entry->backoff);

    ccm_unlock(&queue->lock);
    return failures;
}

/* --- working -------------------------------------------------------------------------------- */

/* When a batch of at most max keys may be taken from what is ready. */
static int64_t due_of_batch(const struct sched_queue *queue, size_t max, int64_t wait_ms)
{
    const struct sched_sets *sets = &queue->delays.sets;

    return wait_ms <= 0 || sets->lanes.len >= max || queue->state != OPEN
               ? INT64_MIN
               : sets->ready_since_ms + wait_ms;
}

/* Lanes that may be served now. */
static unsigned queue_open_lanes(const struct sched_queue *queue)
{
    return queue->state == OPEN ? sched_sets_open_lanes(&queue->delays.sets) : SCHED_LANES_ALL;
}

/* Later work for the key is added with it: then what is kept for it stays so. */
static uint64_t wish_following_lane(struct sched_wish wish)
{
    return wish.kept && wish.lane != CCM_LANE_REMOVE ? CCM_LANE_BACKENDS : wish.lane;
}

/* Take up to max ready keys. What stays begins to wait for the next batch. */
static size_t queue_take_ready_locked(struct sched_queue *queue, size_t max,
                                      struct sched_queue_item *items)
{
    const int64_t now = now_ms(queue);
    const uint32_t luck = sched_backoff_random(&queue->random);
    size_t count = 0;
    struct sched_timed *timed;

    while (count < max &&
           (timed = sched_delays_take(&queue->delays, queue_open_lanes(queue), now)) != NULL) {
        struct entry *entry = (struct entry *)timed;

        entry->luck = luck;
        entry->backoff.early = timed->early;
        items[count++] = (struct sched_queue_item){
            .key = timed->key.name,
            .lane = wish_following_lane(timed->key.wish),
            .waited_ms = now - timed->key.dirty_ms,
        };
    }
    queue->delays.sets.ready_since_ms = now;
    return count;
}

static bool is_idle(const struct sched_queue *queue)
{
    return sched_sets_is_idle(&queue->delays.sets);
}

/* Wait for a change, at most until deadline_ms, until `due_ms`, or until the first delay is over.
 */
static int await_locked(struct sched_queue *queue, int64_t due_ms, int64_t deadline_ms)
{
    if (queue->options.now_ms != NULL || ccm_clock_now_ms() >= deadline_ms) {
        return -ETIMEDOUT;
    }

    const struct sched_timed *first = sched_delays_first(&queue->delays);
    int64_t until = due_ms < deadline_ms ? due_ms : deadline_ms;

    until = first != NULL && first->delay.due_ms < until ? first->delay.due_ms : until;

    (void)ccm_clock_cond_wait(&queue->delays.sets.ready, &queue->lock,
                              until); /* the caller looks again */
    return 0;
}

int sched_queue_get_batch(struct sched_queue *queue, size_t max, int64_t wait_ms,
                          int64_t deadline_ms, struct sched_queue_item *items, size_t *ret_count)
{
    size_t count = 0;
    int r = 0;

    ccm_lock(&queue->lock);
    while (r == 0) {
        const bool paused = queue->paused_ms > now_ms(queue) && queue->state == OPEN;
        const bool held = paused || (ccm_gate_is_held(queue->options.gate) && queue->state == OPEN);
        int64_t due = paused ? queue->paused_ms : held ? now_ms(queue) + HELD_CHECK_MS : INT64_MAX;

        sched_delays_promote(&queue->delays, now_ms(queue));
        if (!held && sched_lanes_has(&queue->delays.sets.lanes, queue_open_lanes(queue))) {
            due = due_of_batch(queue, max, wait_ms);
            if (due <= now_ms(queue)) {
                count = queue_take_ready_locked(queue, max, items);
                break;
            }
        }
        if (queue->state == SHUT || (queue->state == DRAINING && is_idle(queue))) {
            r = -ESHUTDOWN;
        } else {
            r = await_locked(queue, due, deadline_ms);
        }
    }
    /* Only the waiter that was woken knows the newest timeout; a waiter that leaves passes it on.
     */
    if (queue->delays.sets.lanes.len > 0 || sched_delays_first(&queue->delays) != NULL) {
        ccm_wake_one(&queue->delays.sets.ready);
    }
    ccm_unlock(&queue->lock);
    if (r == 0) {
        *ret_count = count;
    }
    return r;
}

int sched_queue_get(struct sched_queue *queue, int64_t deadline_ms,
                    struct sched_queue_item *ret_item)
{
    size_t count;

    return sched_queue_get_batch(queue, 1, 0, deadline_ms, ret_item, &count);
}

void sched_queue_done(struct sched_queue *queue, const char *key)
{
    ccm_lock(&queue->lock);

    struct entry *entry = queue_find_processed(queue, key);

    if (entry != NULL) {
        entry->timed.key.dirty = entry->timed.key.dirty && queue->state != SHUT;
        entry->timed.held_ms = queue->state == OPEN ? entry->timed.held_ms : 0;
        sched_delays_done(&queue->delays, &entry->timed, now_ms(queue));
        drop_if_unused(queue, entry);
        if (is_idle(queue)) {
            ccm_wake_all(&queue->idle);
        }
        if (queue->state != OPEN && is_idle(queue)) {
            ccm_wake_all(&queue->delays.sets.ready);
        }
    }
    ccm_unlock(&queue->lock);
}

/* --- ending --------------------------------------------------------------------------------- */

static void shut_down_locked(struct sched_queue *queue)
{
    queue->state = SHUT;
    drop_delays_locked(queue);
    drop_ready_locked(queue);
    ccm_wake_all(&queue->delays.sets.ready);
    ccm_wake_all(&queue->idle);
}

void sched_queue_shut_down(struct sched_queue *queue)
{
    ccm_lock(&queue->lock);
    shut_down_locked(queue);
    ccm_unlock(&queue->lock);
}

int sched_queue_drain(struct sched_queue *queue, int64_t deadline_ms)
{
    int r = 0;

    ccm_lock(&queue->lock);
    if (queue->state == OPEN) {
        queue->state = DRAINING;
        drop_delays_locked(queue);
        ccm_wake_all(&queue->delays.sets.ready);
    }
    while (!is_idle(queue) && r == 0) {
        r = ccm_clock_cond_wait(&queue->idle, &queue->lock, deadline_ms);
    }
    r = is_idle(queue) ? 0 : -ETIMEDOUT;
    shut_down_locked(queue);
    ccm_unlock(&queue->lock);
    return r;
}

/* When a key comes that is left: 0 now; -1: it is not left. */
static int64_t entry_left_due(const struct sched_queue *queue, const struct sched_timed *timed,
                              const struct sched_queue_calm *calm)
{
    int64_t due_ms = -1;

    if (timed->key.dirty || timed->key.processing) {
        due_ms = 0;
    } else if (sched_delays_has(timed) && timed->delay.due_ms <= now_ms(queue) + calm->horizon_ms) {
        due_ms = timed->delay.due_ms;
    }
    if (due_ms >= 0 && calm->is_through != NULL && calm->is_through(calm->arg, timed->key.name)) {
        due_ms = -1;
    }
    return due_ms;
}

/* When to look again whether it is calm; 0: it is. */
static int64_t calm_again_ms(const struct sched_queue *queue, const struct sched_queue_calm *calm)
{
    const int64_t soon_ms = ccm_clock_now_ms() + CALM_SLICE_MS;
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    while (ccm_strmap_next(queue->delays.sets.keys, &cursor, &key, &value) != 0) {
        const int64_t due_ms = entry_left_due(queue, value, calm);

        if (due_ms >= 0) {
            return due_ms + CALM_SLICE_MS > soon_ms ? due_ms + CALM_SLICE_MS : soon_ms;
        }
    }
    return 0;
}

int sched_queue_wait_calm(struct sched_queue *queue, const struct sched_queue_calm *calm,
                          int64_t deadline_ms)
{
    int r = 0;

    ccm_lock(&queue->lock);
    while (queue->state != SHUT) {
        const int64_t again_ms = calm_again_ms(queue, calm);

        if (again_ms == 0) {
            break;
        }
        if (ccm_clock_now_ms() >= deadline_ms) {
            r = -ETIMEDOUT;
            break;
        }
        (void)ccm_clock_cond_wait(&queue->idle, &queue->lock, /* the loop looks again */
                                  again_ms < deadline_ms ? again_ms : deadline_ms);
    }
    ccm_unlock(&queue->lock);
    return r;
}

void sched_queue_list_left(struct sched_queue *queue, const struct sched_queue_calm *calm,
                           void (*fn)(void *fn_arg, const char *key), void *fn_arg)
{
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    ccm_lock(&queue->lock);
    while (ccm_strmap_next(queue->delays.sets.keys, &cursor, &key, &value) != 0) {
        if (entry_left_due(queue, value, calm) >= 0) {
            fn(fn_arg, key);
        }
    }
    ccm_unlock(&queue->lock);
}

void sched_queue_get_stats(struct sched_queue *queue, struct sched_queue_stats *ret)
{
    const struct sched_sets *sets = &queue->delays.sets;

    ccm_lock(&queue->lock);
    for (size_t i = 0; i < SCHED_QUEUE_LANES; i++) {
        ret->depth[i] = sets->lanes.lanes[i].len;
    }
    ret->depth[CCM_LANE_BACKENDS] -= sets->lanes.twice;
    ret->delayed = queue->delays.heap.len;
    ret->processing = sets->processing;
    ret->adds = sets->adds;
    ret->retries = queue->retries;

    const struct sched_timed *first = sched_delays_first(&queue->delays);
    const int64_t in_ms = first == NULL ? -1 : first->delay.due_ms - now_ms(queue);

    ret->due_in_ms = first != NULL && in_ms < 0 ? 0 : in_ms;
    ret->oldest_ms = sched_sets_oldest_ms(sets, now_ms(queue));
    ccm_unlock(&queue->lock);
}
