#include "sched/queue.h"

#include "sched/heap.h"
#include "sched/lanes.h"
#include "util/clock.h"
#include "util/entropy.h"
#include "util/strmap.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HELD_CHECK_MS 100 /* nobody says when the gate is let go */
#define CALM_SLICE_MS                                                                              \
    10                       /* a worker takes a key that is due within this time; how often       \
                                wait_calm() looks */
#define LAST_LANE_FAILURES 2 /* in a row: from then on a key waits in the last lane */
#define TURNS_MAX          30
/* Lanes that any worker may serve. */
#define KEPT_LANES (1U << CCM_LANE_REMOVE | 1U << CCM_LANE_BACKENDS)

/* Keys of one namespace; it lives while there is one. */
struct share {
    struct sched_lanes_group group;
    size_t entries;
    char name[];
};

struct entry;

/* A place in a lane. */
struct place {
    struct sched_lanes_item item;
    struct entry *entry;
};

/* What a key was added with: the most urgent lane, and whether one of them is kept. */
struct wish {
    uint64_t lane;
    bool kept;
};

/* All that is known about one key; it lives while the key is in any set or has failures. */
struct entry {
    struct sched_heap_item delay;
    struct wish delay_wish;
    bool delay_is_verdict;  /* nobody but a verdict asked for the delay */
    bool delay_has_verdict; /* a verdict did, among others */

    bool dirty;
    bool processing;
    struct wish wish; /* while dirty */
    int64_t dirty_ms; /* since when */

    struct share *share; /* of its namespace */
    /* While dirty and not processing, see entry_lanes(): in the lane of its wish, and in the lane
     * backends. */
    struct place place;
    struct place backends;
    bool twice;  /* it has both */
    bool common; /* while processing: it was added with no lane that is kept */

    int64_t held_ms; /* not handed out before: the other side said so */
    uint8_t turns;   /* that it had whatever they cost, since somebody last asked for it */
    uint32_t luck;   /* for the jitter of its verdict: the same for all keys taken with it */
    struct sched_backoff backoff;
    struct sched_spending spending;
    char key[];
};

enum state { OPEN, DRAINING, SHUT };

struct sched_queue {
    struct sched_queue_options options;

    pthread_mutex_t lock; /* guards all below; leaf */
    pthread_cond_t ready; /* get(): a key, an earlier delay, shutdown */
    pthread_cond_t idle;  /* drain(), wait_calm(): nothing ready or processed */

    enum state state;
    struct ccm_strmap *entries;
    struct ccm_strmap *shares;
    struct sched_lanes lanes;
    size_t twice;           /* keys with two places */
    int64_t ready_since_ms; /* while a lane holds a key: how long at most the oldest has waited */
    struct sched_heap delays;
    size_t processing;
    size_t common;     /* of these: not from a kept lane */
    int64_t paused_ms; /* nothing is handed out before */
    uint64_t random;
    uint64_t adds;
    uint64_t retries;
};

static int64_t now_ms(const struct sched_queue *queue)
{
    return queue->options.now_ms == NULL ? ccm_clock_now_ms()
                                         : queue->options.now_ms(queue->options.arg);
}

/* --- entries -------------------------------------------------------------------------------- */

static struct entry *entry_of_delay(struct sched_heap_item *item)
{
    return (struct entry *)(void *)((char *)item - offsetof(struct entry, delay));
}

static struct entry *entry_of_place(struct sched_lanes_item *item)
{
    return ((struct place *)(void *)((char *)item - offsetof(struct place, item)))->entry;
}

/* The share of the key's namespace, made when there is none. NULL on ENOMEM. */
static struct share *queue_obtain_share(struct sched_queue *queue, const char *key)
{
    const char *slash = strchr(key, '/');
    const size_t len = slash == NULL ? 0 : (size_t)(slash - key);
    char name[SCHED_QUEUE_KEY_MAX + 1] = "";
    struct share *share;

    memcpy(name, key, len);
    share = ccm_strmap_get(queue->shares, name);
    if (share != NULL) {
        return share;
    }
    share = calloc(1, sizeof(*share) + len + 1);
    if (share != NULL) {
        memcpy(share->name, name, len);
        if (ccm_strmap_set(queue->shares, name, share) < 0) {
            free(share);
            share = NULL;
        }
    }
    return share;
}

static void queue_drop_share(struct sched_queue *queue, struct share *share)
{
    if (share != NULL && share->entries == 0) {
        ccm_strmap_del(queue->shares, share->name);
    }
}

static struct entry *queue_make_entry(struct sched_queue *queue, const char *key, size_t len)
{
    struct share *share = queue_obtain_share(queue, key);
    struct entry *entry = share == NULL ? NULL : calloc(1, sizeof(*entry) + len + 1);

    if (entry != NULL) {
        memcpy(entry->key, key, len + 1);
        if (ccm_strmap_set(queue->entries, key, entry) < 0) {
            free(entry);
            entry = NULL;
        }
    }
    if (entry == NULL) {
        queue_drop_share(queue, share);
        return NULL;
    }
    entry->share = share;
    entry->place = (struct place){ .item.group = &share->group, .entry = entry };
    entry->backends = entry->place;
    share->entries++;
    return entry;
}

/* Find or make the entry. Room in the heap is kept for every entry, so delaying never fails. */
static int queue_obtain_entry(struct sched_queue *queue, const char *key, struct entry **ret)
{
    struct entry *entry = ccm_strmap_get(queue->entries, key);

    if (entry != NULL) {
        *ret = entry;
        return 0;
    }

    const size_t len = strnlen(key, SCHED_QUEUE_KEY_MAX + 1);
    const size_t count = ccm_strmap_len(queue->entries);

    if (len == 0 || len > SCHED_QUEUE_KEY_MAX) {
        return -EINVAL;
    }
    if (count >= SCHED_QUEUE_KEYS_MAX) {
        return -ENOSPC;
    }

    int r = sched_heap_reserve(&queue->delays, count + 1);

    if (r < 0) {
        return r;
    }
    *ret = queue_make_entry(queue, key, len);
    return *ret == NULL ? -ENOMEM : 0;
}

static void drop_if_unused(struct sched_queue *queue, struct entry *entry)
{
    if (!entry->dirty && !entry->processing && !sched_heap_has(&entry->delay) &&
        sched_backoff_failures(&entry->backoff) == 0) {
        struct share *share = entry->share;

        ccm_strmap_del(queue->entries, entry->key);
        share->entries--;
        queue_drop_share(queue, share);
    }
}

/* --- the sets ------------------------------------------------------------------------------- */

static struct wish wish_for(uint64_t lane)
{
    return (struct wish){ lane, (KEPT_LANES >> lane & 1U) != 0 };
}

static struct wish wish_join(struct wish a, struct wish b)
{
    return (struct wish){ sched_lanes_is_before(b.lane, a.lane) ? b.lane : a.lane,
                          a.kept || b.kept };
}

/* The lanes where it waits for a worker, as bits. A change of backends does not lose the worker
 * that is kept for it when something more urgent is asked for as well: then these are two. */
static unsigned entry_lanes(const struct sched_queue *queue, const struct entry *entry)
{
    const unsigned own = 1U << entry->wish.lane;

    if (!entry->dirty || entry->processing) {
        return 0;
    }
    return entry->wish.kept && queue->options.common_max > 0 && (own & KEPT_LANES) == 0
               ? own | 1U << CCM_LANE_BACKENDS
               : own;
}

static struct sched_lanes_item *entry_place(struct entry *entry, uint64_t lane)
{
    return lane == CCM_LANE_BACKENDS ? &entry->backends.item : &entry->place.item;
}

/* From the lanes `before` to those of entry_lanes(). It keeps its place in those that are both. */
static void queue_move_entry(struct sched_queue *queue, struct entry *entry, unsigned before)
{
    const unsigned after = entry_lanes(queue, entry);

    queue->twice -= entry->twice ? 1 : 0;
    entry->twice = (after & (after - 1)) != 0;
    queue->twice += entry->twice ? 1 : 0;
    for (uint64_t lane = 0; lane < SCHED_QUEUE_LANES; lane++) {
        if (((before & ~after) >> lane & 1U) != 0) {
            sched_lanes_remove(&queue->lanes, lane, entry_place(entry, lane));
        }
    }
    for (uint64_t lane = 0; lane < SCHED_QUEUE_LANES; lane++) {
        if (((after & ~before) >> lane & 1U) != 0) {
            if (queue->lanes.len == 0) {
                queue->ready_since_ms = now_ms(queue);
            }
            sched_lanes_append(&queue->lanes, lane, entry_place(entry, lane));
            ccm_wake_one(&queue->ready); /* also who may not have served it before */
        }
    }
}

/* Take out the entry of these lanes whose turn it is; it is not dirty any more. NULL: none is. */
static struct entry *queue_take_entry(struct sched_queue *queue, unsigned which)
{
    struct sched_lanes_item *item = sched_lanes_next(&queue->lanes, which);
    struct entry *entry = item == NULL ? NULL : entry_of_place(item);

    if (entry != NULL) {
        const uint64_t taken = item == &entry->backends.item ? CCM_LANE_BACKENDS : entry->wish.lane;
        const unsigned before = entry_lanes(queue, entry) & ~(1U << taken);

        entry->dirty = false;
        queue_move_entry(queue, entry, before);
    }
    return entry;
}

static void make_dirty(struct sched_queue *queue, struct entry *entry, struct wish wish)
{
    const unsigned before = entry_lanes(queue, entry);

    entry->wish = entry->dirty ? wish_join(entry->wish, wish) : wish;
    if (!entry->dirty) {
        entry->dirty = true;
        entry->dirty_ms = now_ms(queue);
        queue->adds++;
    }
    queue_move_entry(queue, entry, before);
}

static void delay_until(struct sched_queue *queue, struct entry *entry, struct wish wish,
                        int64_t due_ms, bool verdict)
{
    if (!sched_heap_has(&entry->delay)) {
        entry->delay_wish = wish;
        entry->delay_is_verdict = verdict;
        entry->delay_has_verdict = verdict;
        sched_heap_put(&queue->delays, &entry->delay, due_ms);
    } else {
        entry->delay_wish = wish_join(entry->delay_wish, wish);
        entry->delay_is_verdict = entry->delay_is_verdict && verdict;
        entry->delay_has_verdict = entry->delay_has_verdict || verdict;
        if (due_ms < entry->delay.due_ms) {
            sched_heap_remove(&queue->delays, &entry->delay);
            sched_heap_put(&queue->delays, &entry->delay, due_ms);
        }
    }
    if (sched_heap_first(&queue->delays) == &entry->delay) {
        ccm_wake_one(&queue->ready);
    }
}

/* An add of any sort, with the lock held. */
static void schedule_locked(struct sched_queue *queue, struct entry *entry, uint64_t lane,
                            int64_t delay_ms, bool verdict)
{
    const struct wish wish = wish_for(lane < SCHED_QUEUE_LANES ? lane : CCM_LANE_BULK);

    entry->turns = verdict ? entry->turns : 0;
    if (delay_ms <= 0) {
        make_dirty(queue, entry, wish);
    } else {
        const int64_t cut =
            delay_ms < SCHED_QUEUE_DELAY_MAX_MS ? delay_ms : SCHED_QUEUE_DELAY_MAX_MS;

        delay_until(queue, entry, wish, now_ms(queue) + cut, verdict);
    }
}

/* What asks for a key that is held waits; the key keeps what it was asked with. */
static void queue_hold_entry(struct sched_queue *queue, struct entry *entry)
{
    if (entry->held_ms > now_ms(queue)) {
        entry->dirty = false;
        delay_until(queue, entry, entry->wish, entry->held_ms, false);
    }
}

/* How long somebody who asks for the key has to wait at least. */
static int64_t entry_hold_delay(const struct sched_queue *queue, const struct entry *entry,
                                int64_t delay_ms)
{
    const int64_t rest_ms = entry->held_ms == 0 ? 0 : entry->held_ms - now_ms(queue);

    return rest_ms > delay_ms ? rest_ms : delay_ms;
}

/* Move what is due from the heap to the lanes. */
static void promote_locked(struct sched_queue *queue)
{
    if (sched_heap_first(&queue->delays) == NULL) {
        return;
    }

    const int64_t now = now_ms(queue);
    struct sched_heap_item *item;

    while ((item = sched_heap_first(&queue->delays)) != NULL && item->due_ms <= now) {
        struct entry *entry = entry_of_delay(item);

        sched_heap_remove(&queue->delays, item);
        make_dirty(queue, entry, entry->delay_wish);
    }
}

static void drop_delays_locked(struct sched_queue *queue)
{
    struct sched_heap_item *item;

    while ((item = sched_heap_first(&queue->delays)) != NULL) {
        sched_heap_remove(&queue->delays, item);
        drop_if_unused(queue, entry_of_delay(item));
    }
}

static void drop_ready_locked(struct sched_queue *queue)
{
    struct entry *entry;

    while ((entry = queue_take_entry(queue, SCHED_LANES_ALL)) != NULL) {
        drop_if_unused(queue, entry);
    }
}

/* --- life ----------------------------------------------------------------------------------- */

/* Give back what a half-built queue holds. */
static struct sched_queue *queue_discard_new(struct sched_queue *queue)
{
    ccm_strmap_free(queue->entries);
    ccm_strmap_free(queue->shares);
    free(queue);
    return NULL;
}

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
    queue->random = queue->options.seed != 0
                        ? queue->options.seed
                        : ccm_entropy_seed();
    queue->entries = ccm_strmap_new(free);
    queue->shares = ccm_strmap_new(free);
    if (queue->entries == NULL || queue->shares == NULL ||
        pthread_mutex_init(&queue->lock, NULL) != 0) {
        return queue_discard_new(queue);
    }
    if (ccm_clock_cond_init(&queue->ready) < 0) {
        ccm_lock_fini(&queue->lock);
        return queue_discard_new(queue);
    }
    if (ccm_clock_cond_init(&queue->idle) < 0) {
        ccm_cond_fini(&queue->ready);
        ccm_lock_fini(&queue->lock);
        return queue_discard_new(queue);
    }
    return queue;
}

void sched_queue_free(struct sched_queue *queue)
{
    if (queue == NULL) {
        return;
    }
    ccm_cond_fini(&queue->ready);
    ccm_cond_fini(&queue->idle);
    ccm_lock_fini(&queue->lock);
    sched_heap_fini(&queue->delays);
    ccm_strmap_free(queue->entries);
    ccm_strmap_free(queue->shares);
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

/* The entry, if a worker has it. */
static struct entry *queue_find_processed(struct sched_queue *queue, const char *key)
{
    struct entry *entry = ccm_strmap_get(queue->entries, key);

    return entry != NULL && entry->processing ? entry : NULL;
}

/* How long it has to wait for what it costs. Who was called off has not failed. */
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

            entry->held_ms = now_ms(queue) + (sooner ? delay_ms : (int64_t)err->retry_after_ms);
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
        if (entry->held_ms > now_ms(queue) + delay_ms) { /* the verdict's last word counts */
            entry->held_ms = now_ms(queue) + delay_ms;
        }
        schedule_locked(queue, entry, lane, delay_ms, true);
    }
    ccm_unlock(&queue->lock);
}

void sched_queue_forget(struct sched_queue *queue, const char *key)
{
    ccm_lock(&queue->lock);

    struct entry *entry = ccm_strmap_get(queue->entries, key);

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

    struct entry *entry = ccm_strmap_get(queue->entries, key);

    if (entry != NULL && sched_heap_has(&entry->delay) && !entry->delay_has_verdict) {
        sched_heap_remove(&queue->delays, &entry->delay);
        drop_if_unused(queue, entry);
    }
    ccm_unlock(&queue->lock);
}

bool sched_queue_is_last(struct sched_queue *queue, const char *key)
{
    ccm_lock(&queue->lock);

    const struct entry *entry = queue_find_processed(queue, key);
    const bool last = entry != NULL && !entry->dirty && !sched_heap_has(&entry->delay) &&
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
    ccm_wake_all(&queue->ready); /* they look when to look again */
    ccm_unlock(&queue->lock);
    return begins;
}

size_t sched_queue_retry_now(struct sched_queue *queue)
{
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;
    size_t count = 0;

    ccm_lock(&queue->lock);
    while (queue->state == OPEN && ccm_strmap_next(queue->entries, &cursor, &key, &value) != 0) {
        struct entry *entry = value;

        if (entry->processing) {
            make_dirty(queue, entry, wish_for(CCM_LANE_BULK));
        } else if (!entry->dirty && sched_heap_has(&entry->delay)) {
            const bool failed = sched_backoff_failures(&entry->backoff) > 0;

            if (failed || entry->delay_has_verdict) {
                make_dirty(queue, entry, entry->delay_wish);
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

    const struct entry *entry = ccm_strmap_get(queue->entries, key);
    const uint32_t failures = entry == NULL ? 0 : sched_backoff_failures(&entry->backoff);

    ccm_unlock(&queue->lock);
    return failures;
}

/* --- working -------------------------------------------------------------------------------- */

/* When a batch of at most max keys may be taken from what is ready. */
static int64_t due_of_batch(const struct sched_queue *queue, size_t max, int64_t wait_ms)
{
    return wait_ms <= 0 || queue->lanes.len >= max || queue->state != OPEN
               ? INT64_MIN
               : queue->ready_since_ms + wait_ms;
}

/* Lanes that may be served now. */
static unsigned queue_open_lanes(const struct sched_queue *queue)
{
    return queue->options.common_max > 0 && queue->common >= queue->options.common_max &&
                   queue->state == OPEN
               ? KEPT_LANES
               : SCHED_LANES_ALL;
}

/* Later work for the key is added with it: then what is kept for it stays so. */
static uint64_t entry_told_lane(const struct entry *entry)
{
    return entry->wish.kept && entry->wish.lane != CCM_LANE_REMOVE ? CCM_LANE_BACKENDS
                                                                   : entry->wish.lane;
}

/* Take up to max ready keys. What stays begins to wait for the next batch. */
static size_t queue_take_ready_locked(struct sched_queue *queue, size_t max,
                                      struct sched_queue_item *items)
{
    const int64_t now = now_ms(queue);
    const uint32_t luck = sched_backoff_random(&queue->random);
    size_t count = 0;
    struct entry *entry;

    while (count < max && (entry = queue_take_entry(queue, queue_open_lanes(queue))) != NULL) {
        entry->processing = true;
        entry->common = !entry->wish.kept;
        queue->common += entry->common ? 1 : 0;
        entry->luck = luck;
        entry->held_ms = 0;
        entry->delay_has_verdict = false;
        if (sched_heap_has(&entry->delay) && entry->delay_is_verdict) {
            sched_heap_remove(&queue->delays, &entry->delay);
        }
        queue->processing++;
        items[count++] = (struct sched_queue_item){
            .key = entry->key,
            .lane = entry_told_lane(entry),
            .waited_ms = now - entry->dirty_ms,
        };
    }
    if (queue->lanes.len > 0) {
        queue->ready_since_ms = now;
    }
    return count;
}

static bool is_idle(const struct sched_queue *queue)
{
    return queue->processing == 0 && queue->lanes.len == 0;
}

/* Wait for a change, at most until deadline_ms, until `due_ms`, or until the first delay is over.
 */
static int await_locked(struct sched_queue *queue, int64_t due_ms, int64_t deadline_ms)
{
    if (queue->options.now_ms != NULL || ccm_clock_now_ms() >= deadline_ms) {
        return -ETIMEDOUT;
    }

    const struct sched_heap_item *first = sched_heap_first(&queue->delays);
    int64_t until = due_ms < deadline_ms ? due_ms : deadline_ms;

    until = first != NULL && first->due_ms < until ? first->due_ms : until;

    (void)ccm_clock_cond_wait(&queue->ready, &queue->lock, until); /* the caller looks again */
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

        promote_locked(queue);
        if (!held && sched_lanes_has(&queue->lanes, queue_open_lanes(queue))) {
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
    /* Only the waiter that was woken knows the newest timeout; whoever leaves passes it on. */
    if (queue->lanes.len > 0 || sched_heap_first(&queue->delays) != NULL) {
        ccm_wake_one(&queue->ready);
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
        entry->processing = false;
        queue->processing--;
        queue->common -= entry->common ? 1 : 0;
        if (entry->dirty && queue->state == OPEN) {
            queue_hold_entry(queue, entry);
        }
        if (entry->dirty && queue->state != SHUT) {
            queue_move_entry(queue, entry, 0);
        } else {
            entry->dirty = false;
            drop_if_unused(queue, entry);
        }
        if (is_idle(queue)) {
            ccm_wake_all(&queue->idle);
        }
        if (queue->state != OPEN && is_idle(queue)) {
            ccm_wake_all(&queue->ready);
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
    ccm_wake_all(&queue->ready);
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
        ccm_wake_all(&queue->ready);
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
static int64_t entry_left_due(const struct sched_queue *queue, const struct entry *entry,
                              const struct sched_queue_calm *calm)
{
    int64_t due_ms = -1;

    if (entry->dirty || entry->processing) {
        due_ms = 0;
    } else if (sched_heap_has(&entry->delay) &&
               entry->delay.due_ms <= now_ms(queue) + calm->horizon_ms) {
        due_ms = entry->delay.due_ms;
    }
    if (due_ms >= 0 && calm->is_through != NULL && calm->is_through(calm->arg, entry->key)) {
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

    while (ccm_strmap_next(queue->entries, &cursor, &key, &value) != 0) {
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
    while (ccm_strmap_next(queue->entries, &cursor, &key, &value) != 0) {
        if (entry_left_due(queue, value, calm) >= 0) {
            fn(fn_arg, key);
        }
    }
    ccm_unlock(&queue->lock);
}

/* Of all keys that are ready. */
static int64_t queue_find_oldest_ms(const struct sched_queue *queue)
{
    int64_t since_ms = now_ms(queue);
    const int64_t now = since_ms;
    void *cursor = NULL;
    void *value = NULL;

    while (queue->lanes.len > 0 && ccm_strmap_next(queue->entries, &cursor, NULL, &value) != 0) {
        const struct entry *entry = value;

        if (entry->dirty && !entry->processing && entry->dirty_ms < since_ms) {
            since_ms = entry->dirty_ms;
        }
    }
    return now - since_ms;
}

void sched_queue_get_stats(struct sched_queue *queue, struct sched_queue_stats *ret)
{
    ccm_lock(&queue->lock);
    for (size_t i = 0; i < SCHED_QUEUE_LANES; i++) {
        ret->depth[i] = queue->lanes.lanes[i].len;
    }
    ret->depth[CCM_LANE_BACKENDS] -= queue->twice;
    ret->delayed = queue->delays.len;
    ret->processing = queue->processing;
    ret->adds = queue->adds;
    ret->retries = queue->retries;

    const struct sched_heap_item *first = sched_heap_first(&queue->delays);
    const int64_t in_ms = first == NULL ? -1 : first->due_ms - now_ms(queue);

    ret->due_in_ms = first != NULL && in_ms < 0 ? 0 : in_ms;
    ret->oldest_ms = queue_find_oldest_ms(queue);
    ccm_unlock(&queue->lock);
}
