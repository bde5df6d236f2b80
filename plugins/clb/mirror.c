#include "mirror.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A reused load balancer. While an entry is claimed its content lives there. */
struct clb_shared {
    char *id;
    size_t refs; /* entries; freed with the last one */
    bool busy;
    bool valid;
    struct clb_state state;
};

struct clb_store {
    pthread_mutex_t lock; /* guards maps, references and busy flags; held for look-ups only */
    struct ccm_strmap *entries;
    struct ccm_strmap *shared; /* by id of the load balancer; owns nothing */
};

static void shared_unref(struct clb_store *store, struct clb_shared *shared)
{
    if (shared == NULL || --shared->refs > 0) {
        return;
    }
    ccm_strmap_del(store->shared, shared->id);
    clb_state_fini(&shared->state);
    free(shared->id);
    free(shared);
}

static struct clb_shared *shared_get(struct clb_store *store, const char *id)
{
    struct clb_shared *shared = ccm_strmap_get(store->shared, id);

    if (shared != NULL) {
        return shared;
    }
    shared = calloc(1, sizeof(*shared));
    if (shared == NULL || clb_text_set(&shared->id, id) < 0 ||
        ccm_strmap_set(store->shared, id, shared) < 0) {
        free(shared == NULL ? NULL : shared->id);
        free(shared);
        return NULL;
    }
    return shared;
}

static void entry_clear(struct clb_entry *entry)
{
    clb_state_fini(&entry->state);
    clb_tags_fini(&entry->applied);
    ccm_strmap_free(entry->said);
    ccm_strmap_free(entry->gateless);
    free(entry->uid);
    entry->said = NULL;
    entry->gateless = NULL;
    entry->polls = 0;
    entry->uid = NULL;
    entry->valid = false;
    entry->gone = false;
    entry->used = false;
    entry->applied_known = false;
    entry->attempt = 0;
    entry->audit_due_ms = 0;
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
    store->shared = ccm_strmap_new(NULL);
    if (store->entries == NULL || store->shared == NULL ||
        pthread_mutex_init(&store->lock, NULL) != 0) {
        ccm_strmap_free(store->entries);
        ccm_strmap_free(store->shared);
        free(store);
        return NULL;
    }
    return store;
}

void clb_store_free(struct clb_store *store)
{
    void *cursor = NULL;
    void *value = NULL;

    if (store == NULL) {
        return;
    }
    while (ccm_strmap_next(store->entries, &cursor, NULL, &value)) {
        shared_unref(store, ((struct clb_entry *)value)->shared);
    }
    ccm_strmap_free(store->entries);
    ccm_strmap_free(store->shared);
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

static int start_over(struct clb_store *store, struct clb_entry *entry, const char *uid)
{
    shared_unref(store, entry->shared);
    entry->shared = NULL;
    entry_clear(entry);
    entry->uid = strdup(uid);
    entry->said = ccm_strmap_new(free);
    if (entry->uid == NULL || entry->said == NULL) {
        entry_clear(entry);
        return -ENOMEM;
    }
    return 0;
}

/* Move what is about the load balancer; an access list is the Service's own and stays where it is.
 */
static void move_state(struct clb_state *to, struct clb_state *from)
{
    const struct clb_acl there = to->acl;
    const struct clb_acl here = from->acl;

    *to = *from;
    to->acl = there;
    memset(from, 0, sizeof(*from));
    from->acl = here;
}

/* Let the entry share the mirror of that load balancer, and take its content over. */
static int bind_locked(struct clb_store *store, struct clb_entry *entry, const char *lb_id)
{
    struct clb_shared *shared = ccm_text_empty(lb_id) ? NULL : shared_get(store, lb_id);

    if (shared == NULL && !ccm_text_empty(lb_id)) {
        return -ENOMEM;
    }
    if (shared != NULL && shared->busy) {
        return -EBUSY;
    }
    if (shared != entry->shared) {
        shared_unref(store, entry->shared);
        clb_entry_drop(entry);
        entry->shared = shared;
        if (shared != NULL) {
            shared->refs++;
        }
    }
    if (shared != NULL) {
        shared->busy = true;
        move_state(&entry->state, &shared->state);
        entry->valid = shared->valid;
    }
    return 0;
}

static int claim_locked(struct clb_store *store, const char *key, const char *uid,
                        const char *lb_id, struct clb_entry **ret)
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
        r = start_over(store, entry, uid);
    }
    if (r == 0) {
        r = bind_locked(store, entry, lb_id);
    }
    if (r == 0) {
        entry->busy = true;
        *ret = entry;
    }
    return r;
}

int clb_store_claim(struct clb_store *store, const char *key, const char *uid, const char *lb_id,
                    struct clb_entry **ret)
{
    (void)pthread_mutex_lock(&store->lock); /* a plain mutex cannot fail here */
    const int r = claim_locked(store, key, uid, lb_id, ret);

    (void)pthread_mutex_unlock(&store->lock); /* we hold it */
    return r;
}

void clb_store_release(struct clb_store *store, struct clb_entry *entry)
{
    (void)pthread_mutex_lock(&store->lock); /* as above */
    if (entry->shared != NULL) {
        move_state(&entry->shared->state, &entry->state);
        entry->shared->valid = entry->valid;
        entry->shared->busy = false;
        entry->valid = false;
    }
    entry->busy = false;
    (void)pthread_mutex_unlock(&store->lock); /* we hold it */
}

void clb_store_forget(struct clb_store *store, const char *key)
{
    (void)pthread_mutex_lock(&store->lock); /* as above */
    struct clb_entry *entry = ccm_strmap_get(store->entries, key);

    if (entry != NULL && !entry->busy) {
        shared_unref(store, entry->shared);
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
