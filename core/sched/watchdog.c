#include "sched/watchdog.h"

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"
#include "util/thread.h"

#define AGAIN_MS 60000 /* a call that goes on is named again after as long as this, or its age */

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
        ccm_lock_fini(&dog->lock);
    }
    return r;
}

void sched_watchdog_fini(struct sched_watchdog *dog)
{
    ccm_cond_fini(&dog->stop);
    ccm_lock_fini(&dog->lock);
}

void sched_watchdog_set_slow(struct sched_watchdog *dog, int64_t slow_ms)
{
    ccm_lock(&dog->lock);
    dog->slow_ms = slow_ms;
    ccm_wake_one(&dog->stop);
    ccm_unlock(&dog->lock);
}

static int64_t age_ms(const struct sched_watchdog_slot *slot)
{
    return (ccm_clock_now_us() - slot->started_us) / 1000;
}

static void slot_begin_locked(struct sched_watchdog_slot *slot, const char *call, const char *what)
{
    slot->running = true;
    slot->warned = false;
    slot->started_us = ccm_clock_now_us();
    slot->call = call;
    ccm_text_copy(slot->what, sizeof(slot->what), what);
}

void sched_watchdog_begin(struct sched_watchdog *dog, struct sched_watchdog_slot *slot,
                          const char *id, const char *what)
{
    ccm_lock(&dog->lock);
    slot_begin_locked(slot, NULL, what);
    ccm_text_copy(slot->id, sizeof(slot->id), id);
    ccm_unlock(&dog->lock);
}

void sched_watchdog_begin_more(struct sched_watchdog *dog, struct sched_watchdog_slot *slot,
                               const char *call, const char *what)
{
    ccm_lock(&dog->lock);
    slot_begin_locked(slot, call, what);
    ccm_unlock(&dog->lock);
}

int64_t sched_watchdog_end(struct sched_watchdog *dog, struct sched_watchdog_slot *slot)
{
    ccm_lock(&dog->lock);

    const int64_t took_us = ccm_clock_now_us() - slot->started_us;

    slot->running = false;
    ccm_unlock(&dog->lock);
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

        if (!slot->running) {
            continue;
        }
        const int64_t started_ms = slot->started_us / 1000;
        const int64_t due_ms = slot->warned ? slot->again_ms : started_ms + dog->slow_ms;

        if (now >= due_ms) {
            const int64_t age = now - started_ms;

            dog->slow += slot->warned ? 0 : 1;
            slot->warned = true;
            slot->again_ms = now + (age > AGAIN_MS ? age : AGAIN_MS);
            *ret_call = *slot;
            return true;
        }
        *ret_next_ms = due_ms < *ret_next_ms ? due_ms : *ret_next_ms;
    }
    return false;
}

static const char *call_name(const struct sched_watchdog *dog,
                             const struct sched_watchdog_slot *call)
{
    return call->call == NULL ? dog->call : call->call;
}

static void watchdog_warn_slow(const struct sched_watchdog *dog,
                               const struct sched_watchdog_slot *call)
{
    const struct ccm_log log = { .part = dog->part, .object = call->what };
    const char *name = call_name(dog, call);

    ccm_log_warn(&log, "%s%s%s runs since %lld ms", call->id, name[0] == '\0' ? "" : ": ", name,
                 (long long)age_ms(call));
}

static void *watchdog_run_thread(void *arg)
{
    struct sched_watchdog *dog = arg;
    struct sched_watchdog_slot call;
    int64_t next_ms;

    ccm_lock(&dog->lock);
    while (!dog->stopping) {
        if (next_slow_locked(dog, &call, &next_ms)) {
            ccm_unlock(&dog->lock);
            watchdog_warn_slow(dog, &call);
            ccm_lock(&dog->lock);
        } else {
            (void)ccm_clock_cond_wait(&dog->stop, &dog->lock, next_ms); /* the loop looks again */
        }
    }
    ccm_unlock(&dog->lock);
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
    ccm_lock(&dog->lock);
    dog->stopping = true;
    ccm_wake_one(&dog->stop);
    ccm_unlock(&dog->lock);
    (void)pthread_join(dog->thread, NULL); /* a joinable thread, joined once */
    dog->started = false;
}

void sched_watchdog_log_hung(struct sched_watchdog *dog)
{
    for (size_t i = 0; i < dog->slot_count; i++) {
        ccm_lock(&dog->lock);

        const struct sched_watchdog_slot call = *dog->slots[i];

        ccm_unlock(&dog->lock);
        if (call.running) {
            const struct ccm_log log = { .part = dog->part, .object = call.what };
            const char *name = call_name(dog, &call);

            ccm_log_error(&log, "%s%s%s hangs since %lld ms and ignores its cancellation", call.id,
                          name[0] == '\0' ? "" : ": ", name, (long long)age_ms(&call));
        }
    }
}

void sched_watchdog_get_stats(struct sched_watchdog *dog, struct sched_watchdog_stats *ret)
{
    *ret = (struct sched_watchdog_stats){ 0 };
    ccm_lock(&dog->lock);
    for (size_t i = 0; i < dog->slot_count; i++) {
        const struct sched_watchdog_slot *slot = dog->slots[i];

        if (slot->running) {
            const uint64_t age = (uint64_t)age_ms(slot);

            ret->running++;
            ret->sum_ms += age;
            if (age >= ret->longest_ms) {
                ret->longest_ms = age;
                ret->longest = slot->call;
            }
        }
    }
    ret->slow = dog->slow;
    ccm_unlock(&dog->lock);
}

bool sched_watchdog_peek(struct sched_watchdog *dog, const struct sched_watchdog_slot *slot,
                         struct sched_watchdog_slot *ret_call, int64_t *ret_age_ms)
{
    ccm_lock(&dog->lock);
    *ret_call = *slot;
    *ret_age_ms = slot->running ? age_ms(slot) : 0;
    ccm_unlock(&dog->lock);
    return ret_call->running;
}

void sched_watchdog_list(struct sched_watchdog *dog,
                         void (*fn)(void *arg, const char *id, const char *what, int64_t age_ms),
                         void *arg)
{
    ccm_lock(&dog->lock);
    for (size_t i = 0; i < dog->slot_count; i++) {
        const struct sched_watchdog_slot *slot = dog->slots[i];

        if (slot->running) {
            fn(arg, slot->id, slot->what, age_ms(slot));
        }
    }
    ccm_unlock(&dog->lock);
}
