#include "sched/controller.h"

#include "sched/watchdog.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

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
#define DEFAULT_SLOW_MS    30000
/* A worker without work looks around this often; nothing depends on it. */
#define IDLE_MS 60000

static const char *const kind_names[CCM_BACKOFF_KINDS] = {
    [CCM_ERROR_NONE] = "unnamed error",
    [CCM_ERROR_TRANSIENT] = "transient",
    [CCM_ERROR_THROTTLED] = "throttled",
    [CCM_ERROR_CONFLICT] = "conflict",
    [CCM_ERROR_NOT_FOUND] = "not found",
    [CCM_ERROR_AUTH] = "auth",
    [CCM_ERROR_TERMINAL] = "terminal",
    [CCM_ERROR_CANCELLED] = "cancelled",
    [CCM_ERROR_BUG] = "bug",
};

struct worker {
    struct ccm_controller *controller;
    pthread_t thread;
    struct ccm_cancel cancel;
    struct ccm_watchdog_slot slot;
    struct ccm_queue_item *items; /* batch_max of each */
    const char **keys;
};

struct ccm_controller {
    struct ccm_controller_options options; /* name points to the field below */
    char name[NAME_SIZE];
    struct ccm_queue *queue;
    struct worker *workers;
    struct ccm_watchdog_slot **slots;
    struct ccm_watchdog dog;
    bool has_dog;
    atomic_uint_fast64_t next_id;
    atomic_bool stopping;

    pthread_mutex_t lock; /* guards what follows; leaf */
    pthread_cond_t ended;
    uint32_t alive;    /* workers inside their thread function */
    uint32_t unjoined; /* workers whose thread was started and not joined yet; start(), join() */
    struct ccm_controller_stats stats;
};

static void lock(struct ccm_controller *controller)
{
    (void)pthread_mutex_lock(&controller->lock); /* a default mutex, never taken twice */
}

static void unlock(struct ccm_controller *controller)
{
    (void)pthread_mutex_unlock(&controller->lock); /* as above */
}

/* --- one call ------------------------------------------------------------------------------- */

/* The most urgent lane: the lowest number. */
static uint64_t urgent_lane(const struct ccm_queue_item *items, size_t count)
{
    uint64_t lane = items[0].lane;

    for (size_t i = 1; i < count; i++) {
        lane = items[i].lane < lane ? items[i].lane : lane;
    }
    return lane;
}

/* What the call works on, for the log. */
static void describe(char *what, size_t size, const struct ccm_queue_item *items, size_t count)
{
    if (count == 1) {
        ccm_text_copy(what, size, items[0].key);
    } else {
        (void)snprintf(what, size, "%s (+%zu more)", items[0].key, count - 1); /* cut by contract */
    }
}

/* The error as it is counted: see the head of controller.h. */
static void classify(struct ccm_controller *controller, int result, struct ccm_error *err)
{
    if (result > 0) {
        (void)ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, /* the caller has its verdict */
                            "reconcile returned %d, which means nothing", result);
    } else if (err->kind == CCM_ERROR_CANCELLED) {
        err->kind = atomic_load(&controller->stopping) ? CCM_ERROR_CANCELLED : CCM_ERROR_TRANSIENT;
    } else if (err->kind == CCM_ERROR_NONE || err->kind >= CCM_BACKOFF_KINDS) {
        err->kind = CCM_ERROR_TRANSIENT;
    }
    if (err->message[0] == '\0') {
        (void)snprintf(err->message, sizeof(err->message), "failed with code %d and no message",
                       result); /* short enough */
    }
}

static enum ccm_log_level level_of(uint64_t kind)
{
    switch (kind) {
    case CCM_ERROR_AUTH:
    case CCM_ERROR_TERMINAL:
    case CCM_ERROR_BUG:
        return CCM_LOG_ERROR;
    case CCM_ERROR_CANCELLED:
        return CCM_LOG_INFO;
    default:
        return CCM_LOG_WARN;
    }
}

static void log_failure(const struct ccm_controller *controller,
                        const struct ccm_watchdog_slot *call, const struct ccm_error *err,
                        int64_t retry_ms)
{
    const struct ccm_log log = { .part = controller->name, .object = call->what };
    /* Most messages say it themselves. */
    const bool has_id = err->request_id[0] != '\0' && strstr(err->message, err->request_id) == NULL;
    char retry[48] = "no retry: stopping";

    if (!atomic_load(&controller->stopping)) {
        (void)snprintf(retry, sizeof(retry), "retry in %" PRId64 " ms", retry_ms); /* fits */
    }
    CCM_LOG_AT(&log, level_of(err->kind), "%s: %s: %s%s%s%s; %s", call->id, kind_names[err->kind],
               err->message, has_id ? " (request " : "", has_id ? err->request_id : "",
               has_id ? ")" : "", retry);
}

/* Failure: each key waits for itself; the log names the longest wait. */
static void settle_failure(struct worker *worker, size_t count, struct ccm_error *err)
{
    struct ccm_controller *controller = worker->controller;
    int64_t longest = 0;

    for (size_t i = 0; i < count; i++) {
        const int64_t delay_ms = ccm_queue_add_rate_limited(controller->queue, worker->items[i].key,
                                                            worker->items[i].lane, err);

        longest = delay_ms > longest ? delay_ms : longest;
    }
    log_failure(controller, &worker->slot, err, longest);
}

static void settle_success(struct worker *worker, size_t count, const struct ccm_result *result)
{
    struct ccm_queue *queue = worker->controller->queue;
    const int64_t after_ms = result->requeue_after_ms < (uint64_t)CCM_QUEUE_DELAY_MAX_MS
                                 ? (int64_t)result->requeue_after_ms
                                 : CCM_QUEUE_DELAY_MAX_MS;

    for (size_t i = 0; i < count; i++) {
        ccm_queue_forget(queue, worker->items[i].key);
        if (after_ms > 0) {
            ccm_queue_requeue_after(queue, worker->items[i].key, worker->items[i].lane, after_ms);
        }
    }
}

static void count_call(struct ccm_controller *controller, int result,
                       const struct ccm_result *verdict, const struct ccm_error *err,
                       int64_t took_ms)
{
    lock(controller);
    controller->stats.calls++;
    controller->stats.busy_ms += (uint64_t)took_ms;
    if (result != 0) {
        controller->stats.failed[err->kind]++;
    } else if (verdict->requeue_after_ms > 0) {
        controller->stats.requeued++;
    } else {
        controller->stats.succeeded++;
    }
    unlock(controller);
}

/* The keys of worker->items, from the call to the verdict. */
static void run_call(struct worker *worker, size_t count)
{
    struct ccm_controller *controller = worker->controller;
    struct ccm_result verdict = { .struct_size = sizeof(verdict) };
    struct ccm_error err = CCM_ERROR_INIT;
    char what[CCM_WATCHDOG_WHAT];
    char id[CCM_WATCHDOG_ID];

    for (size_t i = 0; i < count; i++) {
        worker->keys[i] = worker->items[i].key;
    }
    describe(what, sizeof(what), worker->items, count);
    (void)snprintf(id, sizeof(id), "%s-%06" PRIuFAST64, controller->name,
                   atomic_fetch_add(&controller->next_id, 1)); /* fits */

    const struct ccm_request request = {
        .struct_size = sizeof(request),
        .keys = worker->keys,
        .key_count = count,
        .deadline_ms = ccm_clock_now_ms() + controller->options.timeout_ms,
        .id = id,
        .lane = urgent_lane(worker->items, count),
        .core = &worker->cancel,
    };

    ccm_watchdog_begin(&controller->dog, &worker->slot, id, what);

    const int result =
        controller->options.reconcile(controller->options.arg, &request, &verdict, &err);
    const int64_t took_ms = ccm_watchdog_end(&controller->dog, &worker->slot);

    if (result != 0) {
        classify(controller, result, &err);
        settle_failure(worker, count, &err);
    } else {
        const struct ccm_log log = { .part = controller->name, .object = what };

        settle_success(worker, count, &verdict);
        ccm_log_debug(&log, "%s: done in %lld ms", id, (long long)took_ms);
    }
    count_call(controller, result, &verdict, &err, took_ms);
    for (size_t i = 0; i < count; i++) {
        ccm_queue_done(controller->queue, worker->items[i].key);
    }
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    struct ccm_controller *controller = worker->controller;

    for (;;) {
        size_t count;
        const int r = ccm_queue_get_batch(controller->queue, controller->options.batch_max,
                                          ccm_clock_now_ms() + IDLE_MS, worker->items, &count);

        if (r == -ESHUTDOWN) {
            break;
        }
        if (r == 0) {
            run_call(worker, count);
        }
    }
    lock(controller);
    controller->alive--;
    (void)pthread_cond_broadcast(&controller->ended); /* cannot fail on a valid condition */
    unlock(controller);
    return NULL;
}

/* --- life ----------------------------------------------------------------------------------- */

static int init_workers(struct ccm_controller *controller)
{
    const uint32_t count = controller->options.workers;
    const uint32_t batch = controller->options.batch_max;

    controller->workers = calloc(count, sizeof(*controller->workers));
    controller->slots = calloc(count, sizeof(struct ccm_watchdog_slot *));
    if (controller->workers == NULL || controller->slots == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct worker *worker = &controller->workers[i];

        worker->controller = controller;
        worker->items = calloc(batch, sizeof(*worker->items));
        worker->keys = calloc(batch, sizeof(const char *));
        controller->slots[i] = &worker->slot;
        if (worker->items == NULL || worker->keys == NULL) {
            return -ENOMEM;
        }
    }
    return 0;
}

static void set_options(struct ccm_controller *controller,
                        const struct ccm_controller_options *options)
{
    struct ccm_controller_options *own = &controller->options;

    *own = *options;
    ccm_text_copy(controller->name, sizeof(controller->name), options->name);
    own->name = controller->name;
    own->workers = own->workers == 0 ? 1 : own->workers;
    own->batch_max = own->batch_max == 0 ? 1 : own->batch_max;
    own->batch_max =
        own->batch_max < CCM_CONTROLLER_BATCH_MAX ? own->batch_max : CCM_CONTROLLER_BATCH_MAX;
    own->timeout_ms = own->timeout_ms == 0 ? DEFAULT_TIMEOUT_MS : own->timeout_ms;
    own->slow_ms = own->slow_ms == 0 ? DEFAULT_SLOW_MS : own->slow_ms;
}

static void freep(struct ccm_controller **controller)
{
    ccm_controller_free(*controller);
}

static int init_lock(struct ccm_controller *controller)
{
    const int r = -pthread_mutex_init(&controller->lock, NULL);

    if (r < 0) {
        return r;
    }
    if (ccm_clock_cond_init(&controller->ended) < 0) {
        (void)pthread_mutex_destroy(&controller->lock); /* nobody holds it */
        return -ENOMEM;
    }
    return 0;
}

int ccm_controller_new(const struct ccm_controller_options *options, struct ccm_controller **ret,
                       struct ccm_error *err)
{
    if (options->workers > CCM_CONTROLLER_WORKERS_MAX || options->reconcile == NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, "%s: %s", options->name,
                             options->reconcile == NULL ? "no reconcile" : "too many workers");
    }

    struct ccm_controller *fresh = calloc(1, sizeof(*fresh));

    if (fresh == NULL || init_lock(fresh) < 0) {
        free(fresh);
        return ccm_error_nomem(err);
    }

    CCM_CLEANUP(freep) struct ccm_controller *controller = fresh;

    set_options(controller, options);
    atomic_init(&controller->next_id, 1);

    const struct ccm_queue_options queue_options = { .backoff = options->backoff };

    controller->queue = ccm_queue_new(&queue_options);
    if (controller->queue == NULL || init_workers(controller) < 0) {
        return ccm_error_nomem(err);
    }
    if (ccm_watchdog_init(&controller->dog, controller->name, controller->options.slow_ms,
                          controller->slots, controller->options.workers) < 0) {
        return ccm_error_nomem(err);
    }
    controller->has_dog = true;
    *ret = CCM_STEAL(controller);
    return 0;
}

void ccm_controller_free(struct ccm_controller *controller)
{
    if (controller == NULL) {
        return;
    }
    assert(controller->unjoined == 0);
    if (controller->has_dog) {
        ccm_watchdog_fini(&controller->dog);
    }
    for (uint32_t i = 0; controller->workers != NULL && i < controller->options.workers; i++) {
        free(controller->workers[i].items);
        free(controller->workers[i].keys);
    }
    free(controller->workers);
    free(controller->slots);
    ccm_queue_free(controller->queue);
    (void)pthread_cond_destroy(&controller->ended); /* no thread is left */
    (void)pthread_mutex_destroy(&controller->lock); /* as above */
    free(controller);
}

void ccm_controller_enqueue(struct ccm_controller *controller, const char *key, uint64_t lane,
                            uint64_t delay_ms)
{
    const int64_t cut =
        delay_ms < (uint64_t)CCM_QUEUE_DELAY_MAX_MS ? (int64_t)delay_ms : CCM_QUEUE_DELAY_MAX_MS;
    const int r = ccm_queue_add_after(controller->queue, key, lane, cut);

    if (r < 0) {
        const struct ccm_log log = { .part = controller->name, .object = key };

        ccm_log_error(&log, "the key is lost until its next change: %s",
                      r == -EINVAL   ? "it is empty or too long"
                      : r == -ENOSPC ? "too many keys wait"
                                     : "out of memory");
    }
}

/* --- start and stop ------------------------------------------------------------------------- */

/* Join the threads, which have ended or are about to. */
static void reap(struct ccm_controller *controller)
{
    while (controller->unjoined > 0) {
        controller->unjoined--;
        /* A joinable thread, joined once. */
        (void)pthread_join(controller->workers[controller->unjoined].thread, NULL);
    }
    ccm_watchdog_stop(&controller->dog);
}

int ccm_controller_start(struct ccm_controller *controller, struct ccm_error *err)
{
    int r = ccm_watchdog_start(&controller->dog);

    for (uint32_t i = 0; r == 0 && i < controller->options.workers; i++) {
        lock(controller);
        controller->alive++;
        unlock(controller);
        r = -pthread_create(&controller->workers[i].thread, NULL, work, &controller->workers[i]);
        if (r == 0) {
            controller->unjoined++;
        } else {
            lock(controller);
            controller->alive--;
            unlock(controller);
        }
    }
    if (r < 0) {
        ccm_controller_stop(controller);
        /* Workers that have begun end after their first call, which is cancelled. */
        reap(controller);
        return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "%s: cannot start a thread: errno %d",
                             controller->name, -r);
    }
    return 0;
}

void ccm_controller_stop(struct ccm_controller *controller)
{
    if (atomic_exchange(&controller->stopping, true)) {
        return;
    }
    ccm_queue_shut_down(controller->queue);
    /* A worker may be between taking a key and its call: the flag is its own and stays set. */
    for (uint32_t i = 0; i < controller->options.workers; i++) {
        struct ccm_cancel *flag = &controller->workers[i].cancel;

        atomic_store(&flag->cancelled, true);
        if (controller->options.cancel != NULL) {
            controller->options.cancel(controller->options.cancel_arg, flag);
        }
    }
}

int ccm_controller_join(struct ccm_controller *controller, int64_t deadline_ms)
{
    int r = 0;

    lock(controller);
    while (controller->alive > 0 && r == 0) {
        r = ccm_clock_cond_wait(&controller->ended, &controller->lock, deadline_ms);
    }
    r = controller->alive > 0 ? -ETIMEDOUT : 0;
    unlock(controller);
    if (r < 0) {
        ccm_watchdog_name_hung(&controller->dog);
        return r;
    }
    reap(controller);
    return 0;
}

void ccm_controller_get_stats(struct ccm_controller *controller, struct ccm_controller_stats *ret)
{
    lock(controller);
    *ret = controller->stats;
    unlock(controller);
    ccm_queue_get_stats(controller->queue, &ret->queue);
    ccm_watchdog_get_stats(&controller->dog, &ret->slow, &ret->running, &ret->longest_ms);
}
