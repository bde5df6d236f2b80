#include "daemon/pauses.h"

#include "sched/backoff.h"
#include "util/book.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#define PAUSES_MAX 1000

struct daemon_pauses {
    struct ccm_book entries; /* "PLUGIN NAME" -> int64_t */
};

struct daemon_pauses *daemon_pauses_new(void)
{
    struct daemon_pauses *pauses = calloc(1, sizeof(*pauses));

    if (pauses != NULL && ccm_book_init(&pauses->entries, free) < 0) {
        free(pauses);
        return NULL;
    }
    return pauses;
}

void daemon_pauses_free(struct daemon_pauses *pauses)
{
    if (pauses != NULL) {
        ccm_book_fini(&pauses->entries);
        free(pauses);
    }
}

static void pauses_drop_old_locked(struct daemon_pauses *pauses, int64_t now)
{
    void *cursor = NULL;
    const char *key;
    void *value;

    while (ccm_strmap_next(pauses->entries.map, &cursor, &key, &value) != 0) {
        const int64_t *until = value;

        if (*until <= now) {
            ccm_strmap_del(pauses->entries.map, key);
        }
    }
}

static void pauses_set_locked(struct daemon_pauses *pauses, const char *key, int64_t until_ms)
{
    int64_t *entry = ccm_strmap_get(pauses->entries.map, key);

    if (entry == NULL && ccm_strmap_len(pauses->entries.map) < PAUSES_MAX) {
        entry = ccm_book_obtain(&pauses->entries, key, sizeof(*entry));
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
    (void)ccm_book_open(&pauses->entries);
    pauses_drop_old_locked(pauses, now);
    if (until_ms <= now) {
        ccm_strmap_del(pauses->entries.map, key);
    } else {
        pauses_set_locked(pauses, key, until_ms < latest_ms ? until_ms : latest_ms);
    }
    ccm_book_close(&pauses->entries);
}

int64_t daemon_pauses_get(struct daemon_pauses *pauses, const char *plugin, const char *name)
{
    CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("%s %s", plugin, name);
    int64_t until_ms = 0;

    if (key == NULL) {
        return 0;
    }
    (void)ccm_book_open(&pauses->entries);

    const int64_t *entry = ccm_strmap_get(pauses->entries.map, key);

    if (entry != NULL && *entry > ccm_clock_now_ms()) {
        until_ms = *entry;
    }
    ccm_book_close(&pauses->entries);
    return until_ms;
}
