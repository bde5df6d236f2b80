/*
 * Work queue of text keys, with the semantics and names of client-go's.
 *
 * Built as client-go builds it: sets.h (which keys are dirty, which are with a worker), over
 * lanes.h (which of them is next); delays.h (when a key becomes dirty) over both; this file adds
 * verdicts, the lock and the waiting.
 *
 * Sets. *dirty*: the key has to be worked on. *processing*: a worker has it, from get() to done().
 * *delayed*: it becomes dirty later. Adding a dirty key again changes nothing, so duplicates
 * collapse. A key that is added while it is processed becomes dirty, and done() queues it. Hence a
 * key is never with two workers, and no change is lost.
 *
 * Lanes (CCM_LANE_*). Dirty keys wait in the lane they were added with; added again with a more
 * urgent lane they move up (to its end), never down. get() serves the lanes remove, urgent, spec,
 * backends, bulk by weighted round robin, 8 : 8 : 4 : 2 : 1: each lane has that many credits, the
 * most urgent lane that has both a key and a credit is served, and all credits are renewed when no
 * waiting lane has one left. So under any load a waiting lane gets its share of every 23 keys, and
 * an idle lane costs nothing.
 *
 * Within a lane the namespaces (of a key "namespace/name") take turns, and keys of one namespace
 * are served as they came: however many keys a namespace has, it delays another one's by one key.
 *
 * The lanes remove and backends are short work that must not wait for the long one of others: with
 * common_max, keys of the other lanes never take all workers. A key that was added with backends
 * and with urgent or spec, in whatever order, waits in both lanes, so the first worker that is
 * free serves it.
 *
 * Delays. Of several delays for one key the earliest wins, and the most urgent of their lanes. A
 * delay that a verdict set (add_rate_limited(), requeue_after()) is dropped when the key is handed
 * out earlier for another reason: that run is the retry, and its verdict sets the next one. A delay
 * from add_after() always leads to a run that starts later.
 *
 * A verdict that the other side throttles, with a retry_after_ms, holds the key: until then it is
 * not handed out, whatever adds it; what was asked for is done afterwards. A requeue_after() of the
 * same call may shorten that, and retry_now() ends it for keys that wait.
 *
 * Every thread may call everything. Only get(), get_batch() and drain() block. One lock, a leaf.
 */
#ifndef CCM_SCHED_QUEUE_H
#define CCM_SCHED_QUEUE_H

#include "ccm/host.h"
#include "sched/backoff.h"
#include "sched/spending.h"
#include "util/attr.h"
#include "util/gate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_QUEUE_LANES        5
#define SCHED_QUEUE_KEY_MAX      1024                /* bytes of a key */
#define SCHED_QUEUE_KEYS_MAX     ((size_t)1 << 20)   /* keys known at one time */
#define SCHED_QUEUE_DELAY_MAX_MS INT64_C(2592000000) /* 30 days; longer delays are cut to it */

struct sched_queue;

struct sched_queue_options {
    /* Monotonic milliseconds; NULL = the real clock. With a clock of its own a queue does not wait
     * for time: get() then returns at once when nothing is ready (for tests). Called under the
     * lock. */
    int64_t (*now_ms)(void *arg);
    void *arg;
    const struct sched_backoff_policy *backoff; /* borrowed; NULL = sched_backoff_default */
    /* While it is held, get() hands out nothing; what becomes ready waits. Borrowed; NULL = none.
     */
    const struct ccm_gate *gate;
    uint64_t seed; /* of the jitter; 0 = from the clock */
    /* Most keys of lanes other than remove and backends that are processed at a time; 0 = any
     * number. */
    size_t common_max;
};

struct sched_queue_item {
    const char *key;   /* borrowed, until done(key) */
    uint64_t lane;     /* the one it waited in; of two, backends: what comes of it goes there too */
    int64_t waited_ms; /* from when it became dirty */
};

struct sched_queue_stats {
    /* Dirty and not processed: ready for a worker. Each key counts once: of two lanes not in
     * backends. */
    uint64_t depth[SCHED_QUEUE_LANES];
    uint64_t delayed;
    uint64_t processing;
    uint64_t adds;     /* times a key became dirty */
    uint64_t retries;  /* calls of add_rate_limited() */
    int64_t due_in_ms; /* until the first of the delayed is ready; -1 = none is delayed */
    int64_t oldest_ms; /* how long the longest ready key has waited for a worker; 0 = none is */
};

/* NULL options = all defaults. NULL on ENOMEM. */
struct sched_queue *sched_queue_new(const struct sched_queue_options *options);

/* Only when no thread is inside. NULL is fine. */
void sched_queue_free(struct sched_queue *queue);

/*
 * Make the key dirty, now or after delay_ms (negative counts as 0). An unknown lane counts as
 * CCM_LANE_BULK. 0, also when the queue was shut down (the key is dropped); -EINVAL: the key is ""
 * or longer than SCHED_QUEUE_KEY_MAX; -ENOSPC: too many keys; -ENOMEM. A key that is being
 * processed is known already, and adding it cannot fail.
 */
CCM_NODISCARD int sched_queue_add(struct sched_queue *queue, const char *key, uint64_t lane);
CCM_NODISCARD int sched_queue_add_after(struct sched_queue *queue, const char *key, uint64_t lane,
                                        int64_t delay_ms);

/*
 * Verdicts about a key that is being processed, before its done(). After a failure: count it,
 * and make the key dirty after its backoff; returns that delay in ms (0 = at once). From the second
 * failure in a row on it waits in the lane bulk, whatever `lane` says: a key that fails again and
 * again comes behind all others, until it is added for another reason. Keys that were
 * taken together share the jitter: what failed as one batch comes back as one. latest_ms: but no
 * later than that, 0 = as its failures say; where what it costs would have it wait longer, so often
 * only as a long task needs, 30 times since it was added for another reason. After a success: the
 * same after a fixed time. For a key that is not being processed they do nothing.
 */
int64_t sched_queue_add_rate_limited(struct sched_queue *queue, const char *key, uint64_t lane,
                                     const struct ccm_error *err, int64_t latest_ms);
void sched_queue_requeue_after(struct sched_queue *queue, const char *key, uint64_t lane,
                               int64_t delay_ms);

/* Calls were made for a key that is being processed: what it costs when it goes on failing is
 * limited (spending.h), so add_rate_limited() may have it wait longer than its backoff. */
void sched_queue_spend(struct sched_queue *queue, const char *key, uint32_t calls);

/* How long add_rate_limited() would have a key wait that is being processed, at most, now and in
 * the long run. 0 for another key. */
int64_t sched_queue_peek_rate_limited(struct sched_queue *queue, const char *key,
                                      const struct ccm_error *err, int64_t *ret_most_ms);

/* Hand out nothing before the monotonic time until_ms, at most SCHED_BACKOFF_HINT_MAX_MS from now;
 * of several the latest counts, one that is over ends it. Returns whether it begins. */
bool sched_queue_pause(struct sched_queue *queue, int64_t until_ms);

/* Take back the delay of a key that no verdict has set. */
void sched_queue_withdraw(struct sched_queue *queue, const char *key);

/* Whether a key that is being processed is known for nothing else: it was not added again, it has
 * no delay, and no failure is counted. */
bool sched_queue_is_last(struct sched_queue *queue, const char *key);

/* Success: forget the failures of the key. Delays stay. */
void sched_queue_forget(struct sched_queue *queue, const char *key);

/*
 * What verdicts were based on may be another by now: all keys that wait because of one become
 * dirty, and those that are processed at this moment do so too, whatever comes of it. Failures stay
 * counted, so that one that lasts does not start anew. Returns how many waited after a failure.
 */
size_t sched_queue_retry_now(struct sched_queue *queue);

/* Failures in a row that were counted for the key. */
uint32_t sched_queue_num_requeues(struct sched_queue *queue, const char *key);

/*
 * Take the next key, or up to `max` of those that are ready (at least one; items has room for max).
 * Blocks until there is one, until the monotonic time deadline_ms, or until the shutdown.
 * wait_ms: how long to wait for a full batch, counted from when the first of its keys was ready; a
 * queue that drains does not wait. 0, -ETIMEDOUT, or -ESHUTDOWN: the worker should exit. Each key
 * taken is owed a done().
 */
CCM_NODISCARD int sched_queue_get(struct sched_queue *queue, int64_t deadline_ms,
                                  struct sched_queue_item *ret_item);
CCM_NODISCARD int sched_queue_get_batch(struct sched_queue *queue, size_t max, int64_t wait_ms,
                                        int64_t deadline_ms, struct sched_queue_item *items,
                                        size_t *ret_count);

/* The worker is through with the key; `key` may be the borrowed pointer, which dies here. A key
 * that is not being processed is ignored. */
void sched_queue_done(struct sched_queue *queue, const char *key);

/*
 * Stop: later adds are dropped, so is everything that still waits (what has to be done is seen
 * again at the next start), and get() returns -ESHUTDOWN at once. Keys being processed are finished
 * with done(). Returns at once; repeating it is fine.
 */
void sched_queue_shut_down(struct sched_queue *queue);

/*
 * Polite stop: later adds and all delays are dropped, but what is dirty now is still handed out.
 * Blocks until nothing is dirty or processed any more (0), or until deadline_ms of the real clock
 * (-ETIMEDOUT); then shut_down().
 */
CCM_NODISCARD int sched_queue_drain(struct sched_queue *queue, int64_t deadline_ms);

/* When a queue counts as calm: no key is left to be worked on. */
struct sched_queue_calm {
    int64_t horizon_ms; /* a key that comes within this time is left, one that comes later is not */
    /* Whether a key is not waited for, although it is or will be worked on again. Under the lock of
     * the queue, which it may not call. NULL = each one is waited for. */
    bool (*is_through)(void *arg, const char *key);
    void *arg;
};

/*
 * Wait until no key is left. 0, also after the shutdown; -ETIMEDOUT at deadline_ms of the real
 * clock. Changes nothing.
 */
CCM_NODISCARD int sched_queue_wait_calm(struct sched_queue *queue,
                                        const struct sched_queue_calm *calm, int64_t deadline_ms);

/* Call fn for every key that is left, under the lock: it may not call the queue. */
void sched_queue_list_left(struct sched_queue *queue, const struct sched_queue_calm *calm,
                           void (*fn)(void *fn_arg, const char *key), void *fn_arg);

void sched_queue_get_stats(struct sched_queue *queue, struct sched_queue_stats *ret);

#endif
