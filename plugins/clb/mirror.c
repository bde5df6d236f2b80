#include "mirror.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct clb_store {
    pthread_mutex_t lock; /* guards the map and the busy flags; held for look-ups only */
    struct ccm_strmap *entries;
};

static void entry_clear(struct clb_entry *entry)
{
    clb_state_fini(&entry->state);
    ccm_strmap_free(entry->said);
    free(entry->uid);
    entry->said = NULL;
    entry->uid = NULL;
    entry->valid = false;
    entry->gone = false;
    entry->attempt = 0;
}

static void entry_free(void *value)
{
    struct clb_entry *entry = value;

    entry_clear(entry);
    free(entry);
}

struct clb_store *clb_store_new(void)
{
    struct clb_store *store = calloc(1, sizeof(*store));

    if (store == NULL) {
        return NULL;
    }
    store->entries = ccm_strmap_new(entry_free);
    if (store->entries == NULL || pthread_mutex_init(&store->lock, NULL) != 0) {
        ccm_strmap_free(store->entries);
        free(store);
        return NULL;
    }
    return store;
}

void clb_store_free(struct clb_store *store)
{
    if (store == NULL) {
        return;
    }
    ccm_strmap_free(store->entries);
    (void)pthread_mutex_destroy(&store->lock); /* nobody is left to hold it */
    free(store);
}

static int add_locked(struct clb_store *store, const char *key, struct clb_entry **ret)
{
    struct clb_entry *entry = calloc(1, sizeof(*entry));

    if (entry == NULL || ccm_strmap_set(store->entries, key, entry) < 0) {
        free(entry);
        return -ENOMEM;
    }
    *ret = entry;
    return 0;
}

static int claim_locked(struct clb_store *store, const char *key, const char *uid,
                        struct clb_entry **ret)
{
    struct clb_entry *entry = ccm_strmap_get(store->entries, key);
    int r = entry == NULL ? add_locked(store, key, &entry) : 0;

    if (r < 0) {
        return r;
    }
    if (entry->busy) {
        return -EBUSY;
    }
    if (!ccm_text_equal(entry->uid, uid)) {
        entry_clear(entry);
        entry->uid = strdup(uid);
        entry->said = ccm_strmap_new(free);
        if (entry->uid == NULL || entry->said == NULL) {
            entry_clear(entry);
            return -ENOMEM;
        }
    }
    entry->busy = true;
    *ret = entry;
    return 0;
}

int clb_store_claim(struct clb_store *store, const char *key, const char *uid,
                    struct clb_entry **ret)
{
    (void)pthread_mutex_lock(&store->lock); /* a plain mutex cannot fail here */
    const int r = claim_locked(store, key, uid, ret);

    (void)pthread_mutex_unlock(&store->lock); /* we hold it */
    return r;
}

void clb_store_release(struct clb_store *store, struct clb_entry *entry)
{
    (void)pthread_mutex_lock(&store->lock); /* as above */
    entry->busy = false;
    (void)pthread_mutex_unlock(&store->lock); /* we hold it */
}

void clb_store_forget(struct clb_store *store, const char *key)
{
    (void)pthread_mutex_lock(&store->lock); /* as above */
    const struct clb_entry *entry = ccm_strmap_get(store->entries, key);

    if (entry != NULL && !entry->busy) {
        ccm_strmap_del(store->entries, key);
    }
    (void)pthread_mutex_unlock(&store->lock); /* we hold it */
}

void clb_entry_drop(struct clb_entry *entry)
{
    clb_state_fini(&entry->state);
    entry->valid = false;
}

bool clb_entry_news(struct clb_entry *entry, const char *topic, const char *text)
{
    CCM_CLEANUP(ccm_freep) char *copy = NULL;

    if (ccm_text_empty(text)) {
        ccm_strmap_del(entry->said, topic);
        return false;
    }
    if (ccm_text_equal(ccm_strmap_get(entry->said, topic), text)) {
        return false;
    }
    copy = strdup(text);
    if (copy != NULL && ccm_strmap_set(entry->said, topic, copy) == 0) {
        (void)CCM_STEAL(copy); /* the map owns it now */
    }
    return true; /* out of memory: better said twice than never */
}
