#include "lbc/custom/record.h"

#include "util/strmap.h"
#include "util/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct lbc_custom_records {
    pthread_mutex_t lock; /* guards the maps, and versions in them; a leaf */
    struct ccm_strmap *by_key;
    struct ccm_strmap *marks; /* key -> uint64_t, heap */
    size_t size;
};

struct lbc_custom_records *lbc_custom_records_new(size_t size)
{
    struct lbc_custom_records *records = calloc(1, sizeof(*records));

    if (records == NULL) {
        return NULL;
    }
    records->size = size;
    records->by_key = ccm_strmap_new(free);
    records->marks = ccm_strmap_new(free);
    if (records->by_key == NULL || records->marks == NULL ||
        pthread_mutex_init(&records->lock, NULL) != 0) {
        ccm_strmap_free(records->by_key);
        ccm_strmap_free(records->marks);
        free(records);
        return NULL;
    }
    return records;
}

void lbc_custom_records_free(struct lbc_custom_records *records)
{
    if (records != NULL) {
        ccm_strmap_free(records->by_key);
        ccm_strmap_free(records->marks);
        pthread_mutex_destroy(&records->lock);
    }
    free(records);
}

static struct lbc_custom_record *records_get_locked(struct lbc_custom_records *records,
                                                    const char *key)
{
    struct lbc_custom_record *found = ccm_strmap_get(records->by_key, key);

    if (found == NULL) {
        found = calloc(1, records->size);
        if (found != NULL && ccm_strmap_set(records->by_key, key, found) < 0) {
            free(found);
            found = NULL;
        }
    }
    return found;
}

struct lbc_custom_record *lbc_custom_record_get(struct lbc_custom_records *records, const char *key,
                                                const char *uid)
{
    struct lbc_custom_record *found = NULL;

    pthread_mutex_lock(&records->lock);
    found = records_get_locked(records, key);
    if (found != NULL && strcmp(found->uid, uid) != 0) {
        memset(found, 0, records->size);
        ccm_text_copy(found->uid, sizeof(found->uid), uid);
    }
    pthread_mutex_unlock(&records->lock);
    return found;
}

void lbc_custom_record_forget(struct lbc_custom_records *records, const char *key)
{
    pthread_mutex_lock(&records->lock);
    ccm_strmap_del(records->by_key, key);
    ccm_strmap_del(records->marks, key);
    pthread_mutex_unlock(&records->lock);
}

static bool marks_set(struct ccm_strmap *marks, const char *key, uint64_t mark)
{
    uint64_t *found = ccm_strmap_get(marks, key);

    if (found != NULL && *found == mark) {
        return false;
    }
    if (found == NULL) {
        found = calloc(1, sizeof(*found));
        if (found == NULL || ccm_strmap_set(marks, key, found) < 0) {
            free(found);
            return true;
        }
    }
    *found = mark;
    return true;
}

bool lbc_custom_record_mark(struct lbc_custom_records *records, const char *key, uint64_t mark)
{
    bool changed = false;

    pthread_mutex_lock(&records->lock);
    changed = marks_set(records->marks, key, mark);
    pthread_mutex_unlock(&records->lock);
    return changed;
}

uint64_t lbc_custom_record_marked(struct lbc_custom_records *records, const char *key)
{
    const uint64_t *found = NULL;
    uint64_t mark = 0;

    pthread_mutex_lock(&records->lock);
    found = ccm_strmap_get(records->marks, key);
    mark = found == NULL ? 0 : *found;
    pthread_mutex_unlock(&records->lock);
    return mark;
}

bool lbc_custom_record_is_behind(const struct lbc_custom_record *record, const char *shown)
{
    return record->version[0] != '\0' && strcmp(record->shown, shown) == 0;
}

const char *lbc_custom_record_version(const struct lbc_custom_record *record, const char *shown)
{
    return lbc_custom_record_is_behind(record, shown) ? record->version : shown;
}

void lbc_custom_record_note_version(struct lbc_custom_records *records,
                                    struct lbc_custom_record *record, const char *shown,
                                    const char *version)
{
    pthread_mutex_lock(&records->lock);
    ccm_text_copy(record->shown, sizeof(record->shown), shown);
    ccm_text_copy(record->version, sizeof(record->version), version);
    pthread_mutex_unlock(&records->lock);
}

bool lbc_custom_record_is_own(struct lbc_custom_records *records, const char *key,
                              const char *version)
{
    const struct lbc_custom_record *found = NULL;
    bool own = false;

    pthread_mutex_lock(&records->lock);
    found = ccm_strmap_get(records->by_key, key);
    own = found != NULL && strcmp(found->version, version) == 0;
    pthread_mutex_unlock(&records->lock);
    return own;
}
