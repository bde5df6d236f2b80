#include "daemon/pauses.h"

#include "sched/backoff.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/strmap.h"
#include "util/text.h"
#include "util/thread.h"

#include <pthread.h>

#define PAUSES_MAX 1000

struct daemon_pauses {
    pthread_mutex_t lock;       /* guards what follows */
    struct ccm_strmap *entries; /* "PLUGIN NAME" -> int64_t */
};

struct daemon_pauses *daemon_pauses_new(void)
{
    struct daemon_pauses *pauses = calloc(1, sizeof(*pauses));

    if (pauses == NULL) {
        return NULL;
    }
    pauses->entries = ccm_strmap_new(free);
    if (pauses->entries == NULL || pthread_mutex_init(&pauses->lock, NULL) != 0) {
        ccm_strmap_free(pauses->entries);
        free(pauses);
        return NULL;
    }
    return pauses;
}

void daemon_pauses_free(struct daemon_pauses *pauses)
{
    if (pauses != NULL) {
        ccm_strmap_free(pauses->entries);
        ccm_lock_fini(&pauses->lock);
        free(pauses);
    }
}

static void pauses_drop_old_locked(struct daemon_pauses *pauses, int64_t now)
{
    void *cursor = NULL;
    const char *key;
    void *value;

    while (ccm_strmap_next(pauses->entries, &cursor, &key, &value) != 0) {
        const int64_t *until = value;

        if (*until <= now) {
            ccm_strmap_del(pauses->entries, key);
        }
    }
}

static void pauses_set_locked(struct daemon_pauses *pauses, const char *key, int64_t until_ms)
{
    int64_t *entry = ccm_strmap_get(pauses->entries, key);

    if (entry == NULL && ccm_strmap_len(pauses->entries) < PAUSES_MAX) {
        entry = calloc(1, sizeof(*entry));
        if (entry != NULL && ccm_strmap_set(pauses->entries, key, entry) < 0) {
            free(CCM_STEAL(entry));
        }
    }
    if (entry != NULL && until_ms > *entry) {
        *entry = until_ms;
    }
}

void daemon_pauses_set(struct daemon_pauses *pauses, const char *plugin, const char *name,
                       int64_t until_ms)
{
    CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("%s %s", plugin, name);
    const int64_t now = ccm_clock_now_ms();
    const int64_t latest_ms = now + SCHED_BACKOFF_HINT_MAX_MS;

    if (key == NULL) {
        return; /* the other side says it again */
    }
    ccm_lock(&pauses->lock);
    pauses_drop_old_locked(pauses, now);
    if (until_ms <= now) {
        ccm_strmap_del(pauses->entries, key);
    } else {
        pauses_set_locked(pauses, key, until_ms < latest_ms ? until_ms : latest_ms);
    }
    ccm_unlock(&pauses->lock);
}

int64_t daemon_pauses_get(struct daemon_pauses *pauses, const char *plugin, const char *name)
{
    CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("%s %s", plugin, name);
    int64_t until_ms = 0;

    if (key == NULL) {
        return 0;
    }
    ccm_lock(&pauses->lock);

    const int64_t *entry = ccm_strmap_get(pauses->entries, key);

    if (entry != NULL && *entry > ccm_clock_now_ms()) {
        until_ms = *entry;
    }
    ccm_unlock(&pauses->lock);
    return until_ms;
}
