#include "daemon/held.h"

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/strmap.h"
#include "util/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *reason; /* NULL: there was no memory for it */
    uint64_t count;
    int64_t since_ms;
};

struct daemon_held {
    pthread_mutex_t lock;       /* guards all below */
    struct ccm_strmap *entries; /* in the order in which they came */
};

static void held_entry_free(void *value)
{
    struct entry *entry = value;

    free(entry->reason);
    free(entry);
}

struct daemon_held *daemon_held_new(void)
{
    struct daemon_held *held = calloc(1, sizeof(*held));

    if (held == NULL) {
        return NULL;
    }
    held->entries = ccm_strmap_new(held_entry_free);
    if (held->entries == NULL || pthread_mutex_init(&held->lock, NULL) != 0) {
        ccm_strmap_free(held->entries);
        free(held);
        return NULL;
    }
    return held;
}

void daemon_held_free(struct daemon_held *held)
{
    if (held == NULL) {
        return;
    }
    ccm_strmap_free(held->entries);
    ccm_lock_fini(&held->lock);
    free(held);
}

void daemon_held_freep(struct daemon_held **held)
{
    daemon_held_free(*held);
}

/* The entry of an object, made when it is missing and there is a place for it. */
static struct entry *entry_get_locked(struct daemon_held *held, const char *object)
{
    struct entry *entry = ccm_strmap_get(held->entries, object);

    if (entry != NULL || ccm_strmap_len(held->entries) >= DAEMON_HELD_MAX) {
        return entry;
    }
    entry = calloc(1, sizeof(*entry));
    if (entry == NULL || ccm_strmap_set(held->entries, object, entry) < 0) {
        free(entry);
        return NULL;
    }
    entry->since_ms = ccm_clock_now_ms();
    return entry;
}

void daemon_held_record(struct daemon_held *held, const char *object, uint64_t count,
                        const char *reason)
{
    ccm_lock(&held->lock);
    if (count == 0) {
        ccm_strmap_del(held->entries, object);
    } else {
        struct entry *entry = entry_get_locked(held, object);

        if (entry != NULL) {
            free(entry->reason);
            entry->reason = strdup(reason == NULL ? "" : reason);
            entry->count = count;
        }
    }
    ccm_unlock(&held->lock);
}

uint64_t daemon_held_sum(struct daemon_held *held)
{
    void *cursor = NULL;
    void *value = NULL;
    uint64_t sum = 0;

    ccm_lock(&held->lock);
    while (ccm_strmap_next(held->entries, &cursor, NULL, &value) != 0) {
        sum += ((const struct entry *)value)->count;
    }
    ccm_unlock(&held->lock);
    return sum;
}

size_t daemon_held_count(struct daemon_held *held)
{
    ccm_lock(&held->lock);

    const size_t count = ccm_strmap_len(held->entries);

    ccm_unlock(&held->lock);
    return count;
}

void daemon_held_list(struct daemon_held *held, size_t max,
                      void (*fn)(void *arg, const struct daemon_held_item *item), void *arg)
{
    void *cursor = NULL;
    void *value = NULL;
    const char *object = NULL;

    ccm_lock(&held->lock);
    for (size_t i = 0; i < max && ccm_strmap_next(held->entries, &cursor, &object, &value) != 0;
         i++) {
        const struct entry *entry = value;
        const struct daemon_held_item item = {
            .object = object,
            .reason = entry->reason == NULL ? "" : entry->reason,
            .count = entry->count,
            .since_ms = entry->since_ms,
        };

        fn(arg, &item);
    }
    ccm_unlock(&held->lock);
}
