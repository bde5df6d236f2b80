#include "store.h"

#include "jx.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_VERSION   1000
#define OBJECT_TEXT_MAX ((size_t)16 * 1024 * 1024)

struct bucket {
    struct ccm_ks_object **items; /* sorted by key */
    size_t len;
    size_t cap;
    struct ccm_ks_change *ring; /* `history` slots; NULL = nothing was ever in here */
    size_t first;
    size_t count;
    uint64_t oldest;  /* changes up to this version are gone */
    uint64_t changed; /* the version of the last one */
};

struct ccm_ks_store {
    struct bucket buckets[CCM_KS_BUCKETS];
    uint64_t version;
    size_t history;
};

struct ccm_ks_object *ccm_ks_object_ref(struct ccm_ks_object *object)
{
    if (object != NULL) {
        object->refs++;
    }
    return object;
}

void ccm_ks_object_unref(struct ccm_ks_object *object)
{
    if (object == NULL || --object->refs > 0) {
        return;
    }
    cJSON_Delete(object->json);
    free(object->key);
    free(object->text);
    free(object->view);
    free(object);
}

void ccm_ks_objects_fini(struct ccm_ks_objects *objects)
{
    for (size_t i = 0; i < objects->len; i++) {
        ccm_ks_object_unref(objects->items[i]);
    }
    free(objects->items);
    *objects = (struct ccm_ks_objects){ 0 };
}

/* Takes json in any case. */
static struct ccm_ks_object *object_new(const char *key, cJSON *json, uint64_t version)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *owned = json;
    struct ccm_ks_object *object = calloc(1, sizeof(*object));
    char text[24];

    if (object == NULL) {
        return NULL;
    }
    object->refs = 1;
    object->key = strdup(key);
    if (object->key == NULL) {
        free(object);
        return NULL;
    }
    ccm_text_printf(text, sizeof(text), "%" PRIu64, version);
    ccm_ks_jx_set_str(ccm_ks_jx_object(owned, "metadata"), "resourceVersion", text);
    object->version = version;
    object->written_ms = ccm_clock_now_ms();
    object->json = CCM_STEAL(owned);
    return object;
}

static void print_typed(struct ccm_buf *buf, const struct ccm_ks_kind *kind, const char *text,
                        size_t len)
{
    ccm_buf_addf(buf, "{\"kind\":\"%s\",\"apiVersion\":\"", kind->kind);
    ccm_ks_kind_api_version(buf, kind);
    ccm_buf_adds(buf, len > 2 ? "\"," : "\"");
    ccm_buf_add(buf, text + 1, len - 1);
}

/* Text of a tree; NULL on ENOMEM. */
static char *make_text(const cJSON *json, const struct ccm_ks_kind *kind, size_t *ret_len)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = OBJECT_TEXT_MAX };
    CCM_CLEANUP(ccm_json_freep) cJSON *view = kind->to_view == NULL ? NULL : kind->to_view(json);
    char *text = NULL;

    if (ccm_json_print(&buf, view == NULL ? json : view) < 0) {
        return NULL;
    }
    *ret_len = buf.len;
    return ccm_buf_take(&buf, &text) < 0 ? NULL : text;
}

void ccm_ks_object_print(struct ccm_ks_object *object, const struct ccm_ks_kind *kind, bool typed,
                         struct ccm_buf *buf)
{
    char **text = kind->to_view == NULL ? &object->text : &object->view;
    size_t *len = kind->to_view == NULL ? &object->text_len : &object->view_len;

    if (*text == NULL) {
        *text = make_text(object->json, kind, len);
    }
    if (*text == NULL) {
        ccm_buf_adds(buf, "null");
    } else if (typed) {
        print_typed(buf, kind, *text, *len);
    } else {
        ccm_buf_add(buf, *text, *len);
    }
}

void ccm_ks_object_print_json(const cJSON *json, const struct ccm_ks_kind *kind, bool typed,
                              struct ccm_buf *buf)
{
    size_t len = 0;
    CCM_CLEANUP(ccm_freep) char *text = make_text(json, kind, &len);

    if (text == NULL) {
        ccm_buf_adds(buf, "null");
    } else if (typed) {
        print_typed(buf, kind, text, len);
    } else {
        ccm_buf_add(buf, text, len);
    }
}

struct ccm_ks_store *ccm_ks_store_new(size_t history)
{
    struct ccm_ks_store *store = calloc(1, sizeof(*store));

    if (store == NULL) {
        return NULL;
    }
    store->version = FIRST_VERSION;
    store->history = history;
    for (size_t i = 0; i < CCM_KS_BUCKETS; i++) {
        store->buckets[i].oldest = FIRST_VERSION;
    }
    return store;
}

static void drop_oldest(struct ccm_ks_store *store, struct bucket *bucket)
{
    struct ccm_ks_change *change = &bucket->ring[bucket->first];

    bucket->oldest = change->version;
    ccm_ks_object_unref(change->old);
    ccm_ks_object_unref(change->now);
    ccm_ks_object_unref(change->gone);
    *change = (struct ccm_ks_change){ 0 };
    bucket->first = (bucket->first + 1) % store->history;
    bucket->count--;
}

void ccm_ks_store_free(struct ccm_ks_store *store)
{
    if (store == NULL) {
        return;
    }
    for (size_t i = 0; i < CCM_KS_BUCKETS; i++) {
        struct bucket *bucket = &store->buckets[i];

        while (bucket->count > 0) {
            drop_oldest(store, bucket);
        }
        for (size_t k = 0; k < bucket->len; k++) {
            ccm_ks_object_unref(bucket->items[k]);
        }
        free(bucket->items);
        free(bucket->ring);
    }
    free(store);
}

uint64_t ccm_ks_store_version(const struct ccm_ks_store *store)
{
    return store->version;
}

/* Index of the first object whose key is not before `key`. */
static size_t find(const struct bucket *bucket, const char *key)
{
    size_t low = 0;
    size_t high = bucket->len;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(bucket->items[middle]->key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_at(const struct bucket *bucket, size_t i, const char *key)
{
    return i < bucket->len && strcmp(bucket->items[i]->key, key) == 0;
}

struct ccm_ks_object *ccm_ks_store_get(const struct ccm_ks_store *store, enum ccm_ks_bucket bucket,
                                       const char *key)
{
    const struct bucket *b = &store->buckets[bucket];
    const size_t i = find(b, key);

    return is_at(b, i, key) ? b->items[i] : NULL;
}

size_t ccm_ks_store_count(const struct ccm_ks_store *store, enum ccm_ks_bucket bucket)
{
    return store->buckets[bucket].len;
}

/* Takes the references. */
static void record(struct ccm_ks_store *store, struct bucket *bucket, struct ccm_ks_change change)
{
    if (bucket->count == store->history) {
        drop_oldest(store, bucket);
    }
    bucket->ring[(bucket->first + bucket->count) % store->history] = change;
    bucket->count++;
    bucket->changed = change.version;
}

struct ccm_ks_object *ccm_ks_store_put(struct ccm_ks_store *store, enum ccm_ks_bucket bucket,
                                       const char *key, cJSON *json)
{
    struct bucket *b = &store->buckets[bucket];
    const size_t i = find(b, key);
    const bool exists = is_at(b, i, key);
    struct ccm_ks_object *object = object_new(key, json, store->version + 1);

    if (b->ring == NULL) {
        b->ring = calloc(store->history, sizeof(*b->ring));
    }
    if (object == NULL || b->ring == NULL ||
        (!exists && ccm_array_grow(&b->items, &b->cap, b->len + 1, sizeof(*b->items)) < 0)) {
        ccm_ks_object_unref(object);
        return NULL;
    }
    store->version++;
    record(store, b,
           (struct ccm_ks_change){ .version = object->version,
                                   .old = exists ? b->items[i] : NULL,
                                   .now = ccm_ks_object_ref(object) });
    if (!exists) {
        memmove(b->items + i + 1, b->items + i, (b->len - i) * sizeof(*b->items));
        b->len++;
    }
    b->items[i] = object;
    return object;
}

int ccm_ks_store_remove(struct ccm_ks_store *store, enum ccm_ks_bucket bucket, const char *key)
{
    struct bucket *b = &store->buckets[bucket];
    const size_t i = find(b, key);

    if (!is_at(b, i, key)) {
        return 0;
    }

    struct ccm_ks_object *old = b->items[i];
    struct ccm_ks_object *gone = object_new(key, ccm_ks_jx_dup(old->json), store->version + 1);

    if (gone == NULL) {
        return -ENOMEM;
    }
    store->version++;
    record(store, b, (struct ccm_ks_change){ .version = gone->version, .old = old, .gone = gone });
    b->len--;
    memmove(b->items + i, b->items + i + 1, (b->len - i) * sizeof(*b->items));
    return 0;
}

static int append(struct ccm_ks_objects *list, struct ccm_ks_object *object)
{
    const int r = ccm_array_grow(&list->items, &list->cap, list->len + 1, sizeof(*list->items));

    if (r < 0) {
        return r;
    }
    list->items[list->len++] = ccm_ks_object_ref(object);
    return 0;
}

int ccm_ks_store_list(const struct ccm_ks_store *store, enum ccm_ks_bucket bucket,
                      const char *prefix, struct ccm_ks_objects *ret)
{
    const struct bucket *b = &store->buckets[bucket];
    const size_t n = strlen(prefix);

    for (size_t i = find(b, prefix); i < b->len && strncmp(b->items[i]->key, prefix, n) == 0; i++) {
        const int r = append(ret, b->items[i]);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int compare_keys(const void *a, const void *b)
{
    const struct ccm_ks_object *const *x = a;
    const struct ccm_ks_object *const *y = b;

    return strcmp((*x)->key, (*y)->key);
}

/* key -> the object as it was before the first change after `version` (NULL: it did not exist). */
static int collect_undone(const struct ccm_ks_store *store, const struct bucket *bucket,
                          uint64_t version, struct ccm_strmap *undone)
{
    for (size_t i = 0; i < bucket->count; i++) {
        const struct ccm_ks_change *change = &bucket->ring[(bucket->first + i) % store->history];
        const char *key = change->now != NULL ? change->now->key : change->gone->key;

        if (change->version > version && ccm_strmap_has(undone, key) == 0) {
            const int r = ccm_strmap_set(undone, key, change->old);

            if (r < 0) {
                return r;
            }
        }
    }
    return 0;
}

int ccm_ks_store_list_at(const struct ccm_ks_store *store, enum ccm_ks_bucket bucket,
                         const char *prefix, uint64_t version, struct ccm_ks_objects *ret)
{
    const struct bucket *b = &store->buckets[bucket];
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *undone = ccm_strmap_new(NULL);
    const size_t n = strlen(prefix);
    void *cursor = NULL;
    const char *key;
    void *before;
    int r;

    if (undone == NULL) {
        return -ENOMEM;
    }
    if (version < b->oldest) {
        return -ESTALE;
    }
    r = collect_undone(store, b, version, undone);
    for (size_t i = find(b, prefix);
         r == 0 && i < b->len && strncmp(b->items[i]->key, prefix, n) == 0; i++) {
        if (ccm_strmap_has(undone, b->items[i]->key) == 0) {
            r = append(ret, b->items[i]);
        }
    }
    while (r == 0 && ccm_strmap_next(undone, &cursor, &key, &before) != 0) {
        if (before != NULL && strncmp(key, prefix, n) == 0) {
            r = append(ret, before);
        }
    }
    if (ret->len > 0) {
        qsort(ret->items, ret->len, sizeof(*ret->items), compare_keys);
    }
    return r;
}

const struct ccm_ks_change *ccm_ks_store_after(const struct ccm_ks_store *store,
                                               enum ccm_ks_bucket bucket, uint64_t version)
{
    const struct bucket *b = &store->buckets[bucket];
    size_t low = 0;
    size_t high = b->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (b->ring[(b->first + middle) % store->history].version <= version) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < b->count ? &b->ring[(b->first + low) % store->history] : NULL;
}

void ccm_ks_store_jump(struct ccm_ks_store *store, uint64_t version)
{
    store->version = version;
    for (enum ccm_ks_bucket b = 0; b < CCM_KS_BUCKETS; b++) {
        ccm_ks_store_forget(store, b);
    }
}

uint64_t ccm_ks_store_oldest(const struct ccm_ks_store *store, enum ccm_ks_bucket bucket)
{
    return store->buckets[bucket].oldest;
}

uint64_t ccm_ks_store_changed(const struct ccm_ks_store *store, enum ccm_ks_bucket bucket)
{
    return store->buckets[bucket].changed;
}

void ccm_ks_store_compact(struct ccm_ks_store *store, enum ccm_ks_bucket bucket)
{
    struct bucket *b = &store->buckets[bucket];

    while (b->count > 0) {
        drop_oldest(store, b);
    }
    b->oldest = store->version;
}

void ccm_ks_store_forget(struct ccm_ks_store *store, enum ccm_ks_bucket bucket)
{
    store->version++;
    ccm_ks_store_compact(store, bucket);
}
