#include "admin/trouble.h"

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/strmap.h"
#include "util/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *message;
    uint64_t kind;
    uint32_t failures;
    int64_t since_ms;
    int64_t next_ms;
};

struct admin_trouble {
    pthread_mutex_t lock;       /* guards all below */
    struct ccm_strmap *entries; /* in the order of their first failure */
};

static void trouble_entry_free(void *value)
{
    struct entry *entry = value;

    free(entry->message);
    free(entry);
}

struct admin_trouble *admin_trouble_new(void)
{
    struct admin_trouble *trouble = calloc(1, sizeof(*trouble));

    if (trouble == NULL) {
        return NULL;
    }
    trouble->entries = ccm_strmap_new(trouble_entry_free);
    if (trouble->entries == NULL || pthread_mutex_init(&trouble->lock, NULL) != 0) {
        ccm_strmap_free(trouble->entries);
        free(trouble);
        return NULL;
    }
    return trouble;
}

void admin_trouble_free(struct admin_trouble *trouble)
{
    if (trouble == NULL) {
        return;
    }
    ccm_strmap_free(trouble->entries);
    ccm_lock_fini(&trouble->lock);
    free(trouble);
}

/* The entry of a key, made when it is missing and there is room. */
static struct entry *entry_locked(struct admin_trouble *trouble, const char *key, int64_t now)
{
    struct entry *entry = ccm_strmap_get(trouble->entries, key);

    if (entry != NULL || ccm_strmap_len(trouble->entries) >= ADMIN_TROUBLE_MAX) {
        return entry;
    }
    entry = calloc(1, sizeof(*entry));
    if (entry == NULL || ccm_strmap_set(trouble->entries, key, entry) < 0) {
        free(entry);
        return NULL;
    }
    entry->since_ms = now;
    return entry;
}

void admin_trouble_record(struct admin_trouble *trouble, const char *key,
                          const struct ccm_error *err, int64_t delay_ms)
{
    const int64_t now = ccm_clock_now_ms();

    ccm_lock(&trouble->lock);
    if (err == NULL) {
        ccm_strmap_del(trouble->entries, key);
    } else {
        struct entry *entry = entry_locked(trouble, key, now);
        char *message = entry == NULL ? NULL : strdup(err->message);

        if (message != NULL) {
            free(entry->message);
            entry->message = message;
            entry->kind = err->kind;
        }
        if (entry != NULL) {
            entry->failures++;
            entry->next_ms = now + delay_ms;
        }
    }
    ccm_unlock(&trouble->lock);
}

size_t admin_trouble_count(struct admin_trouble *trouble)
{
    ccm_lock(&trouble->lock);

    const size_t count = ccm_strmap_len(trouble->entries);

    ccm_unlock(&trouble->lock);
    return count;
}

void admin_trouble_list(struct admin_trouble *trouble, size_t max,
                        void (*fn)(void *arg, const struct admin_trouble_item *item), void *arg)
{
    void *cursor = NULL;
    void *value = NULL;
    const char *key = NULL;

    ccm_lock(&trouble->lock);
    for (size_t i = 0; i < max && ccm_strmap_next(trouble->entries, &cursor, &key, &value) != 0;
         i++) {
        const struct entry *entry = value;
        const struct admin_trouble_item item = {
            .key = key,
            .message = entry->message == NULL ? "" : entry->message,
            .kind = entry->kind,
            .failures = entry->failures,
            .since_ms = entry->since_ms,
            .next_ms = entry->next_ms,
        };

        fn(arg, &item);
    }
    ccm_unlock(&trouble->lock);
}
