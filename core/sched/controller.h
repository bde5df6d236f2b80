/*
 * The workers of one plugin: take keys from a queue, call reconcile, turn its verdict into what
 * happens next.
 *
 *     0, requeue_after_ms 0    forget the failures
 *     0, requeue_after_ms n    forget them, and call again after n ms (at most 30 days)
 *     0, n, CCM_RESULT_WAITS   call again after n ms (0: when the plugin enqueues it); failures
 *                              stay counted, `settled` is not called
 *     negative                 wait by kind, see backoff.h
 *     negative, n, ..._WAITS   the same, but call again after n ms where that is sooner: then in
 *                              the lane that it came in
 *     positive                 means nothing by contract: CCM_ERROR_BUG
 *
 * Each key of a batch waits and is counted for itself; sched_controller_settle() gives one of
 * them another verdict than the call returns.
 *
 * CCM_ERROR_CANCELLED is believed only while the controller stops: then nothing is counted. A call
 * that ran into its deadline, or gave up without being asked to, counts as CCM_ERROR_TRANSIENT, so
 * that it cannot spin. An error stops here: each failure is logged once, with the id of the call,
 * kind, message and the next retry; keys that share what the call returned share the line.
 *
 * Life: new -> enqueue from now on -> start (the gate: not before the caches are filled) -> stop
 * -> join -> free. A key is never in two calls at once.
 *
 * `watchdog` warns about a call that takes longer than slow_ms, see watchdog.h.
 */
#ifndef CCM_SCHED_CONTROLLER_H
#define CCM_SCHED_CONTROLLER_H

#include "ccm/plugin.h"
#include "sched/queue.h"
#include "sched/watchdog.h"
#include "util/attr.h"
#include "util/cancel.h"
#include "util/metrics.h"

#include <stddef.h>
#include <stdint.h>

#define SCHED_CONTROLLER_WORKERS_MAX       256
#define SCHED_CONTROLLER_BATCH_MAX         1024
#define SCHED_CONTROLLER_BATCH_WAIT_MAX_MS 10000

struct sched_controller;

/* As in struct ccm_plugin. req->core points to a struct ccm_cancel, which is set when the
 * controller stops; the deadline is not part of it. */
typedef int (*sched_reconcile_fn)(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                                  struct ccm_error *err);

struct sched_controller_options {
    const char *name;       /* of the plugin; copied; at most 32 bytes count */
    uint32_t workers;       /* 1 .. SCHED_CONTROLLER_WORKERS_MAX; 0 = 1 */
    uint32_t batch_max;     /* most keys per call; 0 = 1; cut to SCHED_CONTROLLER_BATCH_MAX */
    uint32_t batch_wait_ms; /* how long a call waits to be filled; cut to ..._BATCH_WAIT_MAX_MS */
    uint32_t timeout_ms;    /* deadline of one call; 0 = 120 s */
    /* Of the workers, so many take keys of the lanes remove and backends alone; one always takes
     * all. Without effect on batches. */
    uint32_t kept_workers;
    uint32_t slow_ms;                /* a call that takes longer is named in the log; 0 = 30 s */
    struct sched_watchdog *watchdog; /* borrowed; mandatory */
    const struct sched_backoff_policy *backoff; /* borrowed; NULL = sched_backoff_default */

    struct ccm_metrics *metrics; /* borrowed; NULL = nothing is measured */
    const struct ccm_gate *gate; /* while it is held no call begins; borrowed, NULL = none */

    sched_reconcile_fn reconcile;
    void *arg;

    /* How each key of a call ended, after it was settled and before another worker can work on it:
     * err NULL = well; next_ms: when it is retried without a change, 0 = not. Must not block. NULL
     * = not called. */
    void (*settled)(void *settled_arg, const char *key, const struct ccm_error *err,
                    int64_t next_ms);
    void *settled_arg;
    /* Failures of keys are shown to people by settled(): the log has them at level debug alone. */
    bool quiet;

    /* The last word about a call with this key: it has been settled, if it was to be, and no
     * other worker works on it yet. last: see sched_queue_is_last(). Must not block. NULL = not
     * called. */
    void (*ended)(void *ended_arg, const char *key, bool last);
    void *ended_arg;

    /* Set the flag and wake the threads that wait with it (such as ccm_http_cancel()). Called by
     * stop(), once per worker, without a lock. NULL = the flag is set, no thread is woken. */
    void (*cancel)(void *cancel_arg, struct ccm_cancel *flag);
    void *cancel_arg;
};

struct sched_controller_stats {
    struct sched_queue_stats queue;
    uint64_t calls;                       /* ended reconcile calls; the next three count keys */
    uint64_t succeeded;                   /* without requeue_after_ms */
    uint64_t requeued;                    /* with */
    uint64_t failed[SCHED_BACKOFF_KINDS]; /* by kind as it was counted */
    uint64_t busy_ms;                     /* time that all ended calls took */
    uint32_t workers;
    struct sched_watchdog_stats running; /* calls at this moment */
};

/* No thread is started. 0, -ENOMEM, -EINVAL (workers, no reconcile or watchdog); err may be NULL.
 */
CCM_NODISCARD int sched_controller_new(const struct sched_controller_options *options,
                                       struct sched_controller **ret, struct ccm_error *err);

/* Another deadline than in the options, 0 as there; for calls that begin later. Any thread. */
void sched_controller_set_timeout(struct sched_controller *controller, uint32_t timeout_ms);

/* Have the key worked on, now or after delay_ms. Any thread, also before start(), never blocks. A
 * key that cannot be queued (see sched_queue_add()) is named in the log. */
void sched_controller_enqueue(struct sched_controller *controller, const char *key, uint64_t lane,
                              uint64_t delay_ms);

/* Take back what enqueue() delayed: see sched_queue_withdraw(). Any thread. */
void sched_controller_withdraw(struct sched_controller *controller, const char *key);

/* No call begins before that time: see sched_queue_pause(). Any thread. */
bool sched_controller_pause(struct sched_controller *controller, int64_t until_ms);

/* What verdicts were based on may be another by now: see sched_queue_retry_now(). Any thread. */
size_t sched_controller_retry_now(struct sched_controller *controller);

/* The running call `req` has called another server: what that costs a key that goes on failing is
 * limited, see spending.h. Any thread. */
void sched_controller_count_call(const struct ccm_request *req);

/* Verdict of one key of the running call `req`: settle() of struct ccm_host. Any thread. */
void sched_controller_settle(const struct ccm_request *req, uint64_t index,
                             uint64_t requeue_after_ms, const struct ccm_error *err);

/* How long a key of the running call `req` would wait: retry_ms() of struct ccm_host. Any thread.
 */
uint64_t sched_controller_retry_ms(const struct ccm_request *req, uint64_t index,
                                   const struct ccm_error *err, uint64_t *ret_most_ms);

/* Start workers and watchdog. Once. On failure nothing runs (it waits for that) and the
 * controller can only be freed.
 */
CCM_NODISCARD int sched_controller_start(struct sched_controller *controller,
                                         struct ccm_error *err);

/* Wait until all keys that were enqueued have been worked on, and those that come again soon too;
 * and those for which that does not hold: see sched_queue_wait_calm(), sched_queue_list_left(). */
CCM_NODISCARD int sched_controller_wait_calm(struct sched_controller *controller,
                                             const struct sched_queue_calm *calm,
                                             int64_t deadline_ms);
void sched_controller_list_left(struct sched_controller *controller,
                                const struct sched_queue_calm *calm,
                                void (*fn)(void *fn_arg, const char *key), void *fn_arg);

/* Running calls are cancelled (also one that begins at this moment), no further one begins, what
 * waits is dropped. Returns at once. Any thread; repeating it is fine. */
void sched_controller_stop(struct sched_controller *controller);

/*
 * After stop(): wait until all threads have ended, at most until the monotonic time deadline_ms.
 * 0, or -ETIMEDOUT: the calls that hang were named in the log, and the controller may not be freed;
 * the process should end. One thread; after -ETIMEDOUT it may be called again.
 */
CCM_NODISCARD int sched_controller_join(struct sched_controller *controller, int64_t deadline_ms);

/* Never started, or joined. NULL is fine. */
void sched_controller_free(struct sched_controller *controller);

void sched_controller_get_stats(struct sched_controller *controller,
                                struct sched_controller_stats *ret);

/* Calls at this moment: see sched_watchdog_list(). */
void sched_controller_list_running(struct sched_controller *controller,
                                   void (*fn)(void *arg, const char *id, const char *what,
                                              int64_t age_ms),
                                   void *arg);

#endif
