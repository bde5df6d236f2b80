#include "sched/controller.h"

#include "sched/lanes.h"
#include "sched/measure.h"
#include "sched/verdict.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"
#include "util/thread.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_SIZE          33
#define DEFAULT_TIMEOUT_MS 120000
/* A worker without work looks around this often; nothing depends on it. */
#define IDLE_MS 60000

struct worker {
    struct ccm_cancel cancel; /* first: core of a request points to it, and so to the worker */
    struct sched_controller *controller;
    pthread_t thread;
    struct sched_watchdog_slot slot;
    struct sched_queue_item *batch; /* batch_max of each */
    const char **keys;
    struct sched_verdicts verdicts;
    bool has_verdicts;
    atomic_uint calls;     /* of this request, not yet charged to its keys */
    atomic_size_t charged; /* the others of this request */
};

struct sched_controller {
    struct sched_controller_options options; /* name points to the field below */
    char name[NAME_SIZE];
    struct sched_queue *queue;
    struct worker *workers;
    struct sched_watchdog_place place; /* of the calls */
    atomic_uint_fast64_t next_id;
    atomic_uint timeout_ms; /* counts instead of the one in options */
    atomic_bool stopping;

    pthread_mutex_t lock; /* guards what follows; leaf */
    pthread_cond_t ended;
    uint32_t alive;    /* workers inside their thread function */
    uint32_t unjoined; /* workers whose thread was started and not joined yet; start(), join() */
    struct sched_controller_stats stats;
};

/* --- one call ------------------------------------------------------------------------------- */

static uint64_t urgent_lane(const struct sched_queue_item *items, size_t count)
{
    struct sched_wish wish = sched_wish_for(items[0].lane);

    for (size_t i = 1; i < count; i++) {
        wish = sched_wish_join(wish, sched_wish_for(items[i].lane));
    }
    return wish.lane;
}

/* What the call works on, for the log. */
static void call_describe_keys(char *what, size_t size, const struct sched_queue_item *items,
                               size_t count)
{
    if (count == 1) {
        ccm_text_copy(what, size, items[0].key);
    } else {
        ccm_text_printf(what, size, "%s (+%zu more)", items[0].key, count - 1);
    }
}

/* How the keys of one call end, for the counters. */
struct tally {
    uint64_t succeeded;
    uint64_t requeued;
    uint64_t failed[SCHED_BACKOFF_KINDS];
};

/* The keys without a verdict of their own, which share what the call returned. */
struct rest {
    const struct sched_queue_item *first;
    size_t count;
    int64_t longest_ms; /* wait of any of them */
};

static bool is_stopping(struct sched_controller *controller)
{
    return atomic_load(&controller->stopping);
}

static void call_settled_hook(struct sched_controller *controller, const char *key,
                              const struct ccm_error *err, int64_t next_ms)
{
    if (controller->options.settled != NULL) {
        controller->options.settled(controller->options.settled_arg, key, err, next_ms);
    }
}

static int64_t cut_delay(uint64_t ms)
{
    return ms < (uint64_t)SCHED_QUEUE_DELAY_MAX_MS ? (int64_t)ms : SCHED_QUEUE_DELAY_MAX_MS;
}

/* What the calls of a request have cost so far is shared by its keys. */
static void worker_charge_calls(struct worker *worker, size_t count)
{
    const size_t calls = atomic_exchange(&worker->calls, 0);

    atomic_fetch_add(&worker->charged, calls);
    for (size_t i = 0; calls > 0 && i < count; i++) {
        sched_queue_spend(worker->controller->queue, worker->batch[i].key,
                          (uint32_t)((calls + count - 1) / count));
    }
}

/* latest_ms: not to come back later than that; 0 = as its failures say. */
static int64_t settle_failure(struct worker *worker, const struct sched_queue_item *item,
                              const struct ccm_error *err, int64_t latest_ms, struct tally *tally)
{
    struct sched_queue *queue = worker->controller->queue;
    const int64_t delay_ms =
        sched_queue_add_rate_limited(queue, item->key, item->lane, err, latest_ms);

    tally->failed[err->kind]++;
    call_settled_hook(worker->controller, item->key, err, delay_ms);
    return delay_ms;
}

/* Neither well nor failed: it comes again at its turn; 0 = when the plugin says that it is. */
static void settle_wait(struct worker *worker, const struct sched_queue_item *item,
                        uint64_t requeue_after_ms, struct tally *tally)
{
    tally->requeued++;
    if (requeue_after_ms > 0) {
        sched_queue_requeue_after(worker->controller->queue, item->key, item->lane,
                                  cut_delay(requeue_after_ms));
    }
}

static void settle_success(struct worker *worker, const struct sched_queue_item *item,
                           uint64_t requeue_after_ms, struct tally *tally)
{
    struct sched_queue *queue = worker->controller->queue;
    const int64_t after_ms = cut_delay(requeue_after_ms);

    sched_queue_forget(queue, item->key);
    if (after_ms > 0) {
        tally->requeued++;
        sched_queue_requeue_after(queue, item->key, item->lane, after_ms);
    } else {
        tally->succeeded++;
    }
    call_settled_hook(worker->controller, item->key, NULL, after_ms);
}

static void log_failure(struct worker *worker, const char *what, const struct ccm_error *err,
                        int64_t retry_ms)
{
    struct sched_controller *controller = worker->controller;

    const struct sched_verdict_line line = {
        .part = controller->name,
        .id = worker->slot.id,
        .what = what,
        .retry_ms = is_stopping(controller) ? -1 : retry_ms,
        .quiet = controller->options.quiet,
    };

    sched_verdict_log(&line, err);
}

/* One key with a verdict of its own, by settle(). */
static void settle_reported(struct worker *worker, size_t i, struct tally *tally)
{
    const struct sched_queue_item *item = &worker->batch[i];
    const struct sched_verdict *verdict = &worker->verdicts.items[i];
    struct ccm_error *err = &worker->verdicts.errors[i];

    if (!verdict->failed) {
        settle_success(worker, item, verdict->requeue_after_ms, tally);
        return;
    }
    sched_verdict_classify(err, -EIO, is_stopping(worker->controller));
    log_failure(worker, item->key, err,
                settle_failure(worker, item, err, cut_delay(verdict->requeue_after_ms), tally));
}

/* Each key waits for itself; what a call says about several keys is one line of the log, which
 * names the longest wait. */
static void settle_call(struct worker *worker, size_t count, int result,
                        const struct ccm_result *ret, struct ccm_error *err, struct tally *tally)
{
    const bool waits = (ret->flags & CCM_RESULT_WAITS) != 0;
    struct rest rest = { 0 };
    char what[SCHED_WATCHDOG_WHAT];

    if (result != 0) {
        sched_verdict_classify(err, result, is_stopping(worker->controller));
    }
    for (size_t i = 0; i < count; i++) {
        const struct sched_queue_item *item = &worker->batch[i];

        if (worker->verdicts.items[i].reported) {
            settle_reported(worker, i, tally);
        } else if (result == 0 && waits) {
            settle_wait(worker, item, ret->requeue_after_ms, tally);
        } else if (result == 0) {
            settle_success(worker, item, ret->requeue_after_ms, tally);
        } else {
            const int64_t turn_ms = waits ? cut_delay(ret->requeue_after_ms) : 0;
            const int64_t delay_ms = settle_failure(worker, item, err, turn_ms, tally);

            rest.first = rest.count == 0 ? item : rest.first;
            rest.longest_ms = delay_ms > rest.longest_ms ? delay_ms : rest.longest_ms;
            rest.count++;
        }
    }
    if (rest.count > 0) {
        call_describe_keys(what, sizeof(what), rest.first, rest.count);
        log_failure(worker, what, err, rest.longest_ms);
    }
}

/* One word for how a call ended, whatever the verdicts of single keys. */
static const char *result_name(const struct tally *tally)
{
    for (size_t i = 0; i < SCHED_BACKOFF_KINDS; i++) {
        if (tally->failed[i] > 0) {
            return sched_verdict_kind_name(i);
        }
    }
    return tally->requeued > 0 ? "requeue_after" : "success";
}

static void count_call(struct worker *worker, size_t count, const struct tally *tally,
                       int64_t took_us)
{
    struct sched_controller *controller = worker->controller;

    sched_measure_call(controller->options.metrics, controller->name, worker->batch, count, took_us,
                       result_name(tally));
    ccm_lock(&controller->lock);
    controller->stats.calls++;
    controller->stats.busy_ms += (uint64_t)took_us / 1000;
    controller->stats.succeeded += tally->succeeded;
    controller->stats.requeued += tally->requeued;
    for (size_t i = 0; i < SCHED_BACKOFF_KINDS; i++) {
        controller->stats.failed[i] += tally->failed[i];
    }
    ccm_unlock(&controller->lock);
}

/* The last word about the keys. One that waits until the plugin enqueues it is in no queue, and
 * still not at its end. */
static void worker_end_keys(struct worker *worker, size_t count, bool waits)
{
    struct sched_controller *controller = worker->controller;

    for (size_t i = 0; i < count; i++) {
        const char *key = worker->batch[i].key;

        if (controller->options.ended != NULL) {
            const bool last = (!waits || worker->verdicts.items[i].reported) &&
                              sched_queue_is_last(controller->queue, key);

            sched_watchdog_begin_more(&controller->place, &worker->slot, "forget", key);
            controller->options.ended(controller->options.ended_arg, key, last);
            (void)sched_watchdog_end(&controller->place, &worker->slot); /* not measured */
        }
        sched_queue_done(controller->queue, key);
    }
}

/* The keys of worker->batch, from the call to the verdict. */
static void run_call(struct worker *worker, size_t count)
{
    struct sched_controller *controller = worker->controller;
    struct ccm_result verdict = { .struct_size = sizeof(verdict) };
    struct ccm_error err = CCM_ERROR_INIT;
    struct tally tally = { 0 };
    char what[SCHED_WATCHDOG_WHAT];
    char id[SCHED_WATCHDOG_ID];

    for (size_t i = 0; i < count; i++) {
        worker->keys[i] = worker->batch[i].key;
    }
    call_describe_keys(what, sizeof(what), worker->batch, count);
    ccm_text_printf(id, sizeof(id), "%s-%06" PRIuFAST64, controller->name,
                    atomic_fetch_add(&controller->next_id, 1));

    const struct ccm_request request = {
        .struct_size = sizeof(request),
        .keys = worker->keys,
        .key_count = count,
        .deadline_ms = ccm_clock_now_ms() + atomic_load(&controller->timeout_ms),
        .id = id,
        .lane = urgent_lane(worker->batch, count),
        .core = &worker->cancel,
    };

    sched_verdicts_begin(&worker->verdicts, count);
    sched_watchdog_begin(&controller->place, &worker->slot, id, what);

    const int result =
        controller->options.reconcile(controller->options.arg, &request, &verdict, &err);
    const int64_t took_us = sched_watchdog_end(&controller->place, &worker->slot);

    sched_verdicts_end(&worker->verdicts);
    worker_charge_calls(worker, count);
    if (result == 0) {
        const struct ccm_log log = { .part = controller->name, .object = what };

        ccm_log_debug(&log, "%s: done in %lld ms, %zu calls", id, (long long)(took_us / 1000),
                      atomic_load(&worker->charged));
    }
    atomic_store(&worker->charged, 0);
    settle_call(worker, count, result, &verdict, &err, &tally);
    count_call(worker, count, &tally, took_us);
    worker_end_keys(worker, count, result == 0 && (verdict.flags & CCM_RESULT_WAITS) != 0);
}

static void *worker_run_thread(void *arg)
{
    struct worker *worker = arg;
    struct sched_controller *controller = worker->controller;

    for (;;) {
        size_t count;
        const int r = sched_queue_get_batch(controller->queue, controller->options.batch_max,
                                            controller->options.batch_wait_ms,
                                            ccm_clock_now_ms() + IDLE_MS, worker->batch, &count);

        if (r == -ESHUTDOWN) {
            break;
        }
        if (r == 0) {
            run_call(worker, count);
        }
    }
    ccm_lock(&controller->lock);
    controller->alive--;
    ccm_wake_all(&controller->ended);
    ccm_unlock(&controller->lock);
    return NULL;
}

/* --- life ----------------------------------------------------------------------------------- */

static int init_workers(struct sched_controller *controller)
{
    const uint32_t count = controller->options.workers;
    const uint32_t batch = controller->options.batch_max;

    controller->workers = calloc(count, sizeof(*controller->workers));
    if (controller->workers == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct worker *worker = &controller->workers[i];

        worker->controller = controller;
        worker->batch = calloc(batch, sizeof(*worker->batch));
        worker->keys = calloc(batch, sizeof(const char *));
        sched_watchdog_add_slot(&controller->place, &worker->slot);
        if (worker->batch == NULL || worker->keys == NULL) {
            return -ENOMEM;
        }

        const int r = sched_verdicts_init(&worker->verdicts, batch);

        if (r < 0) {
            return r;
        }
        worker->has_verdicts = true;
    }
    return 0;
}

static void set_options(struct sched_controller *controller,
                        const struct sched_controller_options *options)
{
    struct sched_controller_options *own = &controller->options;

    *own = *options;
    ccm_text_copy(controller->name, sizeof(controller->name), options->name);
    own->name = controller->name;
    own->workers = own->workers == 0 ? 1 : own->workers;
    own->batch_max = own->batch_max == 0 ? 1 : own->batch_max;
    own->batch_max =
        own->batch_max < SCHED_CONTROLLER_BATCH_MAX ? own->batch_max : SCHED_CONTROLLER_BATCH_MAX;
    own->batch_wait_ms = own->batch_wait_ms < SCHED_CONTROLLER_BATCH_WAIT_MAX_MS
                             ? own->batch_wait_ms
                             : SCHED_CONTROLLER_BATCH_WAIT_MAX_MS;
    own->timeout_ms = own->timeout_ms == 0 ? DEFAULT_TIMEOUT_MS : own->timeout_ms;
    own->slow_ms = own->slow_ms == 0 ? SCHED_WATCHDOG_SLOW_MS : own->slow_ms;
}

/* Most workers that take keys of any lane; 0 = all do. */
static size_t controller_common_max(const struct sched_controller_options *options)
{
    if (options->batch_max > 1 || options->kept_workers == 0) {
        return 0;
    }
    return options->workers > options->kept_workers ? options->workers - options->kept_workers : 1;
}

static void controller_freep(struct sched_controller **controller)
{
    sched_controller_free(*controller);
}

static int init_lock(struct sched_controller *controller)
{
    const int r = -pthread_mutex_init(&controller->lock, NULL);

    if (r < 0) {
        return r;
    }
    if (ccm_clock_cond_init(&controller->ended) < 0) {
        ccm_lock_fini(&controller->lock);
        return -ENOMEM;
    }
    return 0;
}

int sched_controller_new(const struct sched_controller_options *options,
                         struct sched_controller **ret, struct ccm_error *err)
{
    if (options->workers > SCHED_CONTROLLER_WORKERS_MAX || options->reconcile == NULL ||
        options->watchdog == NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, "%s: %s", options->name,
                             options->workers > SCHED_CONTROLLER_WORKERS_MAX
                                 ? "too many workers"
                                 : "no reconcile or no watchdog");
    }

    struct sched_controller *fresh = calloc(1, sizeof(*fresh));

    if (fresh == NULL || init_lock(fresh) < 0) {
        free(fresh);
        return ccm_error_nomem(err);
    }

    CCM_CLEANUP(controller_freep) struct sched_controller *controller = fresh;

    set_options(controller, options);
    atomic_init(&controller->next_id, 1);
    atomic_init(&controller->timeout_ms, controller->options.timeout_ms);

    const struct sched_queue_options queue_options = {
        .backoff = options->backoff,
        .gate = options->gate,
        .common_max = controller_common_max(&controller->options),
    };

    sched_watchdog_init(&controller->place, options->watchdog, controller->name,
                        controller->options.slow_ms);
    controller->queue = sched_queue_new(&queue_options);
    if (controller->queue == NULL || init_workers(controller) < 0) {
        return ccm_error_nomem(err);
    }
    *ret = CCM_STEAL(controller);
    return 0;
}

void sched_controller_set_timeout(struct sched_controller *controller, uint32_t timeout_ms)
{
    atomic_store(&controller->timeout_ms, timeout_ms == 0 ? DEFAULT_TIMEOUT_MS : timeout_ms);
}

void sched_controller_free(struct sched_controller *controller)
{
    if (controller == NULL) {
        return;
    }
    assert(controller->unjoined == 0);
    sched_watchdog_remove(&controller->place);
    for (uint32_t i = 0; controller->workers != NULL && i < controller->options.workers; i++) {
        struct worker *worker = &controller->workers[i];

        free(worker->batch);
        free(worker->keys);
        if (worker->has_verdicts) {
            sched_verdicts_fini(&worker->verdicts);
        }
    }
    free(controller->workers);
    sched_queue_free(controller->queue);
    ccm_cond_fini(&controller->ended);
    ccm_lock_fini(&controller->lock);
    free(controller);
}

void sched_controller_enqueue(struct sched_controller *controller, const char *key, uint64_t lane,
                              uint64_t delay_ms)
{
    const bool empty = key == NULL || key[0] == '\0';
    const int r =
        empty ? -EINVAL : sched_queue_add_after(controller->queue, key, lane, cut_delay(delay_ms));

    if (empty) {
        const struct ccm_log log = { .part = controller->name };

        ccm_log_error(&log, "an empty key is enqueued by the plugin: dropped");
    } else if (r == -EINVAL) {
        const struct ccm_log log = { .part = controller->name };

        ccm_log_error(&log,
                      "a key of more than %d bytes is enqueued by the plugin: dropped: %.64s...",
                      SCHED_QUEUE_KEY_MAX, key);
    } else if (r < 0) {
        const struct ccm_log log = { .part = controller->name, .object = key };

        ccm_log_error(&log, "the key is lost until its next change: %s",
                      r == -ENOSPC ? "too many keys wait" : "out of memory");
    }
}

void sched_controller_withdraw(struct sched_controller *controller, const char *key)
{
    sched_queue_withdraw(controller->queue, key);
}

bool sched_controller_pause(struct sched_controller *controller, int64_t until_ms)
{
    return sched_queue_pause(controller->queue, until_ms);
}

size_t sched_controller_retry_now(struct sched_controller *controller)
{
    return sched_queue_retry_now(controller->queue);
}

int sched_controller_wait_calm(struct sched_controller *controller,
                               const struct sched_queue_calm *calm, int64_t deadline_ms)
{
    return sched_queue_wait_calm(controller->queue, calm, deadline_ms);
}

void sched_controller_list_left(struct sched_controller *controller,
                                const struct sched_queue_calm *calm,
                                void (*fn)(void *fn_arg, const char *key), void *fn_arg)
{
    sched_queue_list_left(controller->queue, calm, fn, fn_arg);
}

uint64_t sched_controller_retry_ms(const struct ccm_request *req, uint64_t index,
                                   const struct ccm_error *err, uint64_t *ret_most_ms)
{
    struct worker *worker = req->core; /* cancel stands first */
    int64_t most_ms = 0;
    int64_t next_ms = 0;

    worker_charge_calls(worker, req->key_count);
    if (index < req->key_count) {
        next_ms = sched_queue_peek_rate_limited(worker->controller->queue, req->keys[index], err,
                                                &most_ms);
    }
    *ret_most_ms = (uint64_t)most_ms;
    return (uint64_t)next_ms;
}

void sched_controller_count_call(const struct ccm_request *req)
{
    struct worker *worker = req->core;

    atomic_fetch_add(&worker->calls, 1);
}

void sched_controller_settle(const struct ccm_request *req, uint64_t index,
                             uint64_t requeue_after_ms, const struct ccm_error *err)
{
    struct worker *worker = req->core;

    sched_verdicts_record(&worker->verdicts, index, requeue_after_ms, err);
}

/* --- start and stop ------------------------------------------------------------------------- */

/* Join the threads, which have ended or are about to. */
static void controller_join_threads(struct sched_controller *controller)
{
    while (controller->unjoined > 0) {
        controller->unjoined--;
        /* A joinable thread, joined once. */
        (void)pthread_join(controller->workers[controller->unjoined].thread, NULL);
    }
}

static int controller_start_worker(struct sched_controller *controller, uint32_t i)
{
    int r;

    ccm_lock(&controller->lock);
    controller->alive++;
    ccm_unlock(&controller->lock);
    r = -pthread_create(&controller->workers[i].thread, NULL, worker_run_thread,
                        &controller->workers[i]);
    if (r == 0) {
        controller->unjoined++;
        return 0;
    }
    ccm_lock(&controller->lock);
    controller->alive--;
    ccm_unlock(&controller->lock);
    return r;
}

static int controller_start_workers(struct sched_controller *controller)
{
    for (uint32_t i = 0; i < controller->options.workers; i++) {
        const int r = controller_start_worker(controller, i);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

int sched_controller_start(struct sched_controller *controller, struct ccm_error *err)
{
    const int r = controller_start_workers(controller);

    if (r < 0) {
        sched_controller_stop(controller);
        /* Workers that have begun end after their first call, which is cancelled. */
        controller_join_threads(controller);
        return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "%s: cannot start a thread: errno %d",
                             controller->name, -r);
    }
    return 0;
}

void sched_controller_stop(struct sched_controller *controller)
{
    if (atomic_exchange(&controller->stopping, true)) {
        return;
    }
    sched_queue_shut_down(controller->queue);
    /* A worker may be between taking a key and its call: the flag is its own and stays set. */
    for (uint32_t i = 0; i < controller->options.workers; i++) {
        struct ccm_cancel *flag = &controller->workers[i].cancel;

        atomic_store(&flag->cancelled, true);
        if (controller->options.cancel != NULL) {
            controller->options.cancel(controller->options.cancel_arg, flag);
        }
    }
}

int sched_controller_join(struct sched_controller *controller, int64_t deadline_ms)
{
    int r = 0;

    ccm_lock(&controller->lock);
    while (controller->alive > 0 && r == 0) {
        r = ccm_clock_cond_wait(&controller->ended, &controller->lock, deadline_ms);
    }
    r = controller->alive > 0 ? -ETIMEDOUT : 0;
    ccm_unlock(&controller->lock);
    if (r < 0) {
        sched_watchdog_log_hung(&controller->place);
        return r;
    }
    controller_join_threads(controller);
    return 0;
}

void sched_controller_get_stats(struct sched_controller *controller,
                                struct sched_controller_stats *ret)
{
    ccm_lock(&controller->lock);
    *ret = controller->stats;
    ccm_unlock(&controller->lock);
    sched_queue_get_stats(controller->queue, &ret->queue);
    sched_watchdog_get_stats(&controller->place, &ret->running);
    ret->workers = controller->options.workers;
}

void sched_controller_list_running(struct sched_controller *controller,
                                   void (*fn)(void *arg, const char *id, const char *what,
                                              int64_t age_ms),
                                   void *arg)
{
    sched_watchdog_list(&controller->place, fn, arg);
}
