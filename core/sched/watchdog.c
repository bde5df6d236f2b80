#include "sched/watchdog.h"

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

int sched_watchdog_init(struct sched_watchdog *dog, const char *part, int64_t slow_ms,
                        struct sched_watchdog_slot **slots, size_t slot_count)
{
    *dog = (struct sched_watchdog){
        .part = part,
        .call = "reconcile",
        .slow_ms = slow_ms,
        .slots = slots,
        .slot_count = slot_count,
    };

    int r = -pthread_mutex_init(&dog->lock, NULL);

    if (r < 0) {
        return r;
    }
    r = ccm_clock_cond_init(&dog->stop);
    if (r < 0) {
        (void)pthread_mutex_destroy(&dog->lock); /* nobody holds it */
    }
    return r;
}

void sched_watchdog_fini(struct sched_watchdog *dog)
{
    (void)pthread_cond_destroy(&dog->stop);  /* the thread has ended */
    (void)pthread_mutex_destroy(&dog->lock); /* as above */
}

static void watchdog_lock(struct sched_watchdog *dog)
{
    (void)pthread_mutex_lock(&dog->lock); /* a default mutex, never taken twice */
}

static void watchdog_unlock(struct sched_watchdog *dog)
{
    (void)pthread_mutex_unlock(&dog->lock); /* as above */
}

void sched_watchdog_set_slow(struct sched_watchdog *dog, int64_t slow_ms)
{
    watchdog_lock(dog);
    dog->slow_ms = slow_ms;
    (void)pthread_cond_signal(&dog->stop); /* its thread looks when the next call is slow */
    watchdog_unlock(dog);
}

static int64_t age_ms(const struct sched_watchdog_slot *slot)
{
    return (ccm_clock_now_us() - slot->started_us) / 1000;
}

void sched_watchdog_begin(struct sched_watchdog *dog, struct sched_watchdog_slot *slot,
                          const char *id, const char *what)
{
    watchdog_lock(dog);
    slot->running = true;
    slot->warned = false;
    slot->started_us = ccm_clock_now_us();
    ccm_text_copy(slot->id, sizeof(slot->id), id);
    ccm_text_copy(slot->what, sizeof(slot->what), what);
    watchdog_unlock(dog);
}

int64_t sched_watchdog_end(struct sched_watchdog *dog, struct sched_watchdog_slot *slot)
{
    watchdog_lock(dog);

    const int64_t took_us = ccm_clock_now_us() - slot->started_us;

    slot->running = false;
    watchdog_unlock(dog);
    return took_us;
}

/* Copy the next call that has to be warned about, and mark it. False when there is none; then
 * *ret_next_ms says when to look again. */
static bool next_slow_locked(struct sched_watchdog *dog, struct sched_watchdog_slot *ret_call,
                             int64_t *ret_next_ms)
{
    const int64_t now = ccm_clock_now_ms();

    /* A call that begins from now on is not slow before this. */
    *ret_next_ms = now + dog->slow_ms;
    for (size_t i = 0; i < dog->slot_count; i++) {
        struct sched_watchdog_slot *slot = dog->slots[i];

        if (!slot->running || slot->warned) {
            continue;
        }
        const int64_t started_ms = slot->started_us / 1000;

        if (now - started_ms >= dog->slow_ms) {
            slot->warned = true;
            dog->slow++;
            *ret_call = *slot;
            return true;
        }
        if (started_ms + dog->slow_ms < *ret_next_ms) {
            *ret_next_ms = started_ms + dog->slow_ms;
        }
    }
    return false;
}

static void watchdog_warn_slow(const struct sched_watchdog *dog,
                               const struct sched_watchdog_slot *call)
{
    const struct ccm_log log = { .part = dog->part, .object = call->what };

    ccm_log_warn(&log, "%s: %s runs since %lld ms", call->id, dog->call, (long long)age_ms(call));
}

static void *watchdog_run_thread(void *arg)
{
    struct sched_watchdog *dog = arg;
    struct sched_watchdog_slot call;
    int64_t next_ms;

    watchdog_lock(dog);
    while (!dog->stopping) {
        if (next_slow_locked(dog, &call, &next_ms)) {
            watchdog_unlock(dog);
            watchdog_warn_slow(dog, &call);
            watchdog_lock(dog);
        } else {
            (void)ccm_clock_cond_wait(&dog->stop, &dog->lock, next_ms); /* the loop looks again */
        }
    }
    watchdog_unlock(dog);
    return NULL;
}

int sched_watchdog_start(struct sched_watchdog *dog)
{
    const int r = -pthread_create(&dog->thread, NULL, watchdog_run_thread, dog);

    dog->started = r == 0;
    return r;
}

void sched_watchdog_stop(struct sched_watchdog *dog)
{
    if (!dog->started) {
        return;
    }
    watchdog_lock(dog);
    dog->stopping = true;
    (void)pthread_cond_signal(&dog->stop); /* cannot fail on a valid condition */
    watchdog_unlock(dog);
    (void)pthread_join(dog->thread, NULL); /* a joinable thread, joined once */
    dog->started = false;
}

void sched_watchdog_log_hung(struct sched_watchdog *dog)
{
    for (size_t i = 0; i < dog->slot_count; i++) {
        watchdog_lock(dog);

        const struct sched_watchdog_slot call = *dog->slots[i];

        watchdog_unlock(dog);
        if (call.running) {
            const struct ccm_log log = { .part = dog->part, .object = call.what };

            ccm_log_error(&log, "%s: %s hangs since %lld ms and ignores its cancellation", call.id,
                          dog->call, (long long)age_ms(&call));
        }
    }
}

void sched_watchdog_get_stats(struct sched_watchdog *dog, struct sched_watchdog_stats *ret)
{
    *ret = (struct sched_watchdog_stats){ 0 };
    watchdog_lock(dog);
    for (size_t i = 0; i < dog->slot_count; i++) {
        const struct sched_watchdog_slot *slot = dog->slots[i];

        if (slot->running) {
            const uint64_t age = (uint64_t)age_ms(slot);

            ret->running++;
            ret->sum_ms += age;
            ret->longest_ms = age > ret->longest_ms ? age : ret->longest_ms;
        }
    }
    ret->slow = dog->slow;
    watchdog_unlock(dog);
}

void sched_watchdog_list(struct sched_watchdog *dog,
                         void (*fn)(void *arg, const char *id, const char *what, int64_t age_ms),
                         void *arg)
{
    watchdog_lock(dog);
    for (size_t i = 0; i < dog->slot_count; i++) {
        const struct sched_watchdog_slot *slot = dog->slots[i];

        if (slot->running) {
            fn(arg, slot->id, slot->what, age_ms(slot));
        }
    }
    watchdog_unlock(dog);
}
