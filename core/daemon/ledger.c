#include "daemon/ledger.h"

#include "util/clock.h"
#include "util/strmap.h"
#include "util/thread.h"

#include <pthread.h>
#include <stdlib.h>

struct entry {
    int64_t last_ms;
    int64_t next_ms;
    uint32_t passes;
};

struct daemon_ledger {
    pthread_mutex_t lock; /* guards all below */
    struct ccm_strmap *entries;
};

struct daemon_ledger *daemon_ledger_new(void)
{
    struct daemon_ledger *ledger = calloc(1, sizeof(*ledger));

    if (ledger == NULL) {
        return NULL;
    }
    ledger->entries = ccm_strmap_new(free);
    if (ledger->entries == NULL || pthread_mutex_init(&ledger->lock, NULL) != 0) {
        ccm_strmap_free(ledger->entries);
        free(ledger);
        return NULL;
    }
    return ledger;
}

void daemon_ledger_free(struct daemon_ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    ccm_strmap_free(ledger->entries);
    ccm_lock_fini(&ledger->lock);
    free(ledger);
}

/* The entry of a key, made when it is missing and there is a place for it. */
static struct entry *ledger_get_locked(struct daemon_ledger *ledger, const char *key)
{
    struct entry *entry = ccm_strmap_get(ledger->entries, key);

    if (entry != NULL || ccm_strmap_len(ledger->entries) >= DAEMON_LEDGER_MAX) {
        return entry;
    }
    entry = calloc(1, sizeof(*entry));
    if (entry == NULL || ccm_strmap_set(ledger->entries, key, entry) < 0) {
        free(entry);
        return NULL;
    }
    return entry;
}

void daemon_ledger_settle(struct daemon_ledger *ledger, const char *key, int64_t delay_ms)
{
    ccm_lock(&ledger->lock);
    struct entry *entry = ledger_get_locked(ledger, key);

    if (entry != NULL) {
        entry->next_ms = delay_ms <= 0 ? 0 : ccm_clock_now_ms() + delay_ms;
    }
    ccm_unlock(&ledger->lock);
}

void daemon_ledger_end(struct daemon_ledger *ledger, const char *key)
{
    ccm_lock(&ledger->lock);
    struct entry *entry = ledger_get_locked(ledger, key);

    if (entry != NULL) {
        entry->last_ms = ccm_clock_now_ms();
        entry->passes++;
    }
    ccm_unlock(&ledger->lock);
}

void daemon_ledger_forget(struct daemon_ledger *ledger, const char *key)
{
    ccm_lock(&ledger->lock);
    ccm_strmap_del(ledger->entries, key);
    ccm_unlock(&ledger->lock);
}

void daemon_ledger_list(struct daemon_ledger *ledger,
                        void (*fn)(void *arg, const struct daemon_ledger_item *item), void *arg)
{
    void *cursor = NULL;
    void *value = NULL;
    const char *key = NULL;

    ccm_lock(&ledger->lock);
    while (ccm_strmap_next(ledger->entries, &cursor, &key, &value) != 0) {
        const struct entry *entry = value;
        const struct daemon_ledger_item item = {
            .key = key,
            .passes = entry->passes,
            .last_ms = entry->last_ms,
            .next_ms = entry->next_ms,
        };

        fn(arg, &item);
    }
    ccm_unlock(&ledger->lock);
}
