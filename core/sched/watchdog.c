#include "sched/watchdog.h"

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <stdlib.h>

#define AGAIN_MS 60000 /* a call that goes on is named again after as long as this, or its age */

struct sched_watchdog {
    pthread_mutex_t lock; /* guards what follows, the places and their slots */
    pthread_cond_t woken;
    pthread_t thread;
    bool stopping;
    struct sched_watchdog_place *places;
};

/* --- calls ---------------------------------------------------------------------------------- */

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

void sched_watchdog_begin(struct sched_watchdog_place *place, struct sched_watchdog_slot *slot,
                          const char *id, const char *what)
{
    ccm_lock(&place->dog->lock);
    slot_begin_locked(slot, NULL, what);
    ccm_text_copy(slot->id, sizeof(slot->id), id);
    ccm_unlock(&place->dog->lock);
}

void sched_watchdog_begin_more(struct sched_watchdog_place *place, struct sched_watchdog_slot *slot,
                               const char *call, const char *what)
{
    ccm_lock(&place->dog->lock);
    slot_begin_locked(slot, call, what);
    ccm_unlock(&place->dog->lock);
}

int64_t sched_watchdog_end(struct sched_watchdog_place *place, struct sched_watchdog_slot *slot)
{
    ccm_lock(&place->dog->lock);

    const int64_t took_us = ccm_clock_now_us() - slot->started_us;

    slot->running = false;
    ccm_unlock(&place->dog->lock);
    return took_us;
}

static const char *call_name(const struct sched_watchdog_place *place,
                             const struct sched_watchdog_slot *call)
{
    return call->call == NULL ? place->call : call->call;
}

void sched_watchdog_log_hung(struct sched_watchdog_place *place)
{
    for (const struct sched_watchdog_slot *slot = place->slots; slot != NULL; slot = slot->next) {
        ccm_lock(&place->dog->lock);

        const struct sched_watchdog_slot call = *slot;

        ccm_unlock(&place->dog->lock);
        if (call.running) {
            const struct ccm_log log = { .part = place->part, .object = call.what };
            const char *name = call_name(place, &call);

            ccm_log_error(&log, "%s%s%s hangs since %lld ms and ignores its cancellation", call.id,
                          name[0] == '\0' ? "" : ": ", name, (long long)age_ms(&call));
        }
    }
}

void sched_watchdog_get_stats(struct sched_watchdog_place *place, struct sched_watchdog_stats *ret)
{
    *ret = (struct sched_watchdog_stats){ 0 };
    ccm_lock(&place->dog->lock);
    for (const struct sched_watchdog_slot *slot = place->slots; slot != NULL; slot = slot->next) {
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
    ret->slow = place->slow;
    ccm_unlock(&place->dog->lock);
}

bool sched_watchdog_peek(struct sched_watchdog_place *place, const struct sched_watchdog_slot *slot,
                         struct sched_watchdog_slot *ret_call, int64_t *ret_age_ms)
{
    ccm_lock(&place->dog->lock);
    *ret_call = *slot;
    *ret_age_ms = slot->running ? age_ms(slot) : 0;
    ccm_unlock(&place->dog->lock);
    return ret_call->running;
}

void sched_watchdog_list(struct sched_watchdog_place *place,
                         void (*fn)(void *arg, const char *id, const char *what, int64_t age_ms),
                         void *arg)
{
    ccm_lock(&place->dog->lock);
    for (const struct sched_watchdog_slot *slot = place->slots; slot != NULL; slot = slot->next) {
        if (slot->running) {
            fn(arg, slot->id, slot->what, age_ms(slot));
        }
    }
    ccm_unlock(&place->dog->lock);
}

/* --- the thread ----------------------------------------------------------------------------- */

/* A slow call to be named, copied: its place may be removed meanwhile. */
struct slow_call {
    char part[SCHED_WATCHDOG_ID];
    const char *name; /* static text */
    struct sched_watchdog_slot slot;
};

/* Copy the next call of the place that has to be named, and mark it. False when there is none; then
 * *ret_next_ms is no later than when one can become slow. */
static bool place_find_slow(struct sched_watchdog_place *place, int64_t now, struct slow_call *ret,
                            int64_t *ret_next_ms)
{
    /* A call that begins from now on is not slow before this. */
    *ret_next_ms = now + place->slow_ms < *ret_next_ms ? now + place->slow_ms : *ret_next_ms;
    for (struct sched_watchdog_slot *slot = place->slots; slot != NULL; slot = slot->next) {
        const int64_t started_ms = slot->started_us / 1000;
        const int64_t due_ms = slot->warned ? slot->again_ms : started_ms + place->slow_ms;
        const int64_t age = now - started_ms;

        if (slot->running && now >= due_ms) {
            place->slow += slot->warned ? 0 : 1;
            slot->warned = true;
            slot->again_ms = now + (age > AGAIN_MS ? age : AGAIN_MS);
            ccm_text_copy(ret->part, sizeof(ret->part), place->part);
            ret->name = call_name(place, slot);
            ret->slot = *slot;
            return true;
        }
        if (slot->running && due_ms < *ret_next_ms) {
            *ret_next_ms = due_ms;
        }
    }
    return false;
}

static bool watchdog_find_slow(struct sched_watchdog *dog, struct slow_call *ret,
                               int64_t *ret_next_ms)
{
    const int64_t now = ccm_clock_now_ms();

    *ret_next_ms = now + AGAIN_MS; /* no end of time: tests shift clocks, which would overflow */
    for (struct sched_watchdog_place *place = dog->places; place != NULL; place = place->next) {
        if (place_find_slow(place, now, ret, ret_next_ms)) {
            return true;
        }
    }
    return false;
}

static void watchdog_warn_slow(const struct slow_call *call)
{
    const struct ccm_log log = { .part = call->part, .object = call->slot.what };

    ccm_log_warn(&log, "%s%s%s runs since %lld ms", call->slot.id,
                 call->name[0] == '\0' ? "" : ": ", call->name, (long long)age_ms(&call->slot));
}

static void *watchdog_run_thread(void *arg)
{
    struct sched_watchdog *dog = arg;
    struct slow_call call;
    int64_t next_ms;

    ccm_lock(&dog->lock);
    while (!dog->stopping) {
        if (watchdog_find_slow(dog, &call, &next_ms)) {
            ccm_unlock(&dog->lock);
            watchdog_warn_slow(&call);
            ccm_lock(&dog->lock);
        } else {
            (void)ccm_clock_cond_wait(&dog->woken, &dog->lock, next_ms); /* the loop looks again */
        }
    }
    ccm_unlock(&dog->lock);
    return NULL;
}

int sched_watchdog_new(struct sched_watchdog **ret)
{
    CCM_CLEANUP(ccm_freep) struct sched_watchdog *dog = calloc(1, sizeof(*dog));
    int r = dog == NULL ? -ENOMEM : -pthread_mutex_init(&dog->lock, NULL);

    if (r < 0) {
        return r;
    }
    r = ccm_clock_cond_init(&dog->woken);
    if (r < 0) {
        ccm_lock_fini(&dog->lock);
        return r;
    }
    r = -pthread_create(&dog->thread, NULL, watchdog_run_thread, dog);
    if (r < 0) {
        ccm_cond_fini(&dog->woken);
        ccm_lock_fini(&dog->lock);
        return r;
    }
    *ret = CCM_STEAL(dog);
    return 0;
}

void sched_watchdog_free(struct sched_watchdog *dog)
{
    if (dog == NULL) {
        return;
    }
    ccm_lock(&dog->lock);
    dog->stopping = true;
    ccm_wake_one(&dog->woken);
    ccm_unlock(&dog->lock);
    (void)pthread_join(dog->thread, NULL); /* a joinable thread, joined once */
    ccm_cond_fini(&dog->woken);
    ccm_lock_fini(&dog->lock);
    free(dog);
}

void sched_watchdog_init(struct sched_watchdog_place *place, struct sched_watchdog *dog,
                         const char *part, int64_t slow_ms)
{
    *place = (struct sched_watchdog_place){
        .dog = dog, .part = part, .call = "reconcile", .slow_ms = slow_ms
    };
    ccm_lock(&dog->lock);
    place->next = dog->places;
    dog->places = place;
    ccm_wake_one(&dog->woken);
    ccm_unlock(&dog->lock);
}

void sched_watchdog_add_slot(struct sched_watchdog_place *place, struct sched_watchdog_slot *slot)
{
    struct sched_watchdog_slot **end = &place->slots;

    ccm_lock(&place->dog->lock);
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = slot;
    ccm_unlock(&place->dog->lock);
}

void sched_watchdog_remove(struct sched_watchdog_place *place)
{
    if (place->dog == NULL) {
        return;
    }
    ccm_lock(&place->dog->lock);
    for (struct sched_watchdog_place **at = &place->dog->places; *at != NULL; at = &(*at)->next) {
        if (*at == place) {
            *at = place->next;
            break;
        }
    }
    ccm_unlock(&place->dog->lock);
    place->dog = NULL;
}
