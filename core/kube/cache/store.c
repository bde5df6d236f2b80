#include "kube/cache/store.h"

#include "kube/cache/own_write.h"
#include "kube/object/object.h"
#include "util/array.h"
#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The objects with one value of an index; borrowed from the table's map. */
struct bucket {
    const struct ccm_object **items;
    size_t len;
    size_t cap;
};

/* One state of the store. The map owns a reference to each object. */
struct table {
    struct ccm_strmap *objects;
    struct ccm_strmap *buckets[KUBE_STORE_INDEXES];
    size_t too_large; /* objects that were cut, see struct ccm_object */
};

struct kube_store {
    pthread_mutex_t lock; /* guards `own`, and `table` and what it points to against readers; leaf.
                             The writer reads the table without it */
    struct table *table;
    struct kube_own_writes own;
    struct kube_index indexes[KUBE_STORE_INDEXES];
    size_t index_count;
};

struct kube_stage {
    struct kube_store *store;
    struct table *table;
    bool other_server;
};

/* The values of one object in each index; to work them out may take long, so no lock is held. */
struct index_values {
    struct ccm_buf of[KUBE_STORE_INDEXES];
    size_t count; /* indexes */
};

static void values_fini(struct index_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        ccm_buf_fini(&values->of[i]);
    }
}

/* NULL has none. */
static struct index_values values_of(const struct kube_store *store,
                                     const struct ccm_object *object)
{
    struct index_values values = { .count = store->index_count };

    for (size_t i = 0; object != NULL && i < values.count; i++) {
        store->indexes[i].fn(&store->indexes[i], object, &values.of[i]);
    }
    return values;
}

/* The value behind `value`; NULL to begin with, and at the end. */
static const char *values_next(const struct ccm_buf *values, const char *value)
{
    const char *next = value == NULL ? ccm_buf_str(values) : value + strlen(value) + 1;

    return next < ccm_buf_str(values) + values->len ? next : NULL;
}

static void slice_service(const struct kube_index *index, const struct ccm_object *object,
                          struct ccm_buf *values)
{
    const struct ccm_endpoint_slice *slice =
        (const struct ccm_endpoint_slice *)(const void *)object;

    (void)index; /* there is one */
    if (object->kind == CCM_KIND_ENDPOINT_SLICE && slice->service_name[0] != '\0') {
        ccm_buf_addf(values, "%s/%s", object->namespace_, slice->service_name);
        ccm_buf_addc(values, '\0');
    }
}

const struct kube_index kube_index_service = { .name = "service", .fn = slice_service };

static void add_instance(const char *provider_id, struct ccm_buf *value)
{
    const char *last = provider_id;

    for (const char *p = provider_id; *p != '\0'; p++) {
        last = *p == '/' || *p == '.' ? p + 1 : last;
    }
    ccm_buf_adds(value, last);
}

static void add_address(const char *address, struct ccm_buf *value)
{
    struct ccm_ip ip;
    char text[CCM_IP_TEXT];

    if (ccm_ip_parse(address, &ip) < 0) {
        ccm_buf_adds(value, address);
        return;
    }
    ccm_ip_format(&ip, text);
    ccm_buf_adds(value, text);
}

static void node_server(const struct kube_index *index, const struct ccm_object *object,
                        struct ccm_buf *values)
{
    const struct ccm_node *node = (const struct ccm_node *)(const void *)object;

    (void)index; /* there is one */
    if (object->kind != CCM_KIND_NODE) {
        return;
    }
    add_instance(node->provider_id, values);
    ccm_buf_addc(values, '\0');
    for (uint64_t i = 0; i < node->address_count; i++) {
        if (strcmp(node->addresses[i]->type, "InternalIP") == 0) {
            add_address(node->addresses[i]->address, values);
            ccm_buf_addc(values, '\0');
        }
    }
}

const struct kube_index kube_index_server = { .name = "server", .fn = node_server };

static void bucket_free(void *value)
{
    struct bucket *bucket = value;

    free(bucket->items);
    free(bucket);
}

static void object_free(void *value)
{
    kube_object_unref(value);
}

static void table_free(struct table *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t i = 0; i < KUBE_STORE_INDEXES; i++) {
        ccm_strmap_free(table->buckets[i]);
    }
    ccm_strmap_free(table->objects);
    free(table);
}

static void table_freep(struct table **table)
{
    table_free(*table);
}

static struct table *table_new(const struct kube_store *store)
{
    CCM_CLEANUP(table_freep) struct table *table = calloc(1, sizeof(*table));

    if (table == NULL) {
        return NULL;
    }
    table->objects = ccm_strmap_new(object_free);
    if (table->objects == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < store->index_count; i++) {
        table->buckets[i] = ccm_strmap_new(bucket_free);
        if (table->buckets[i] == NULL) {
            return NULL;
        }
    }
    return CCM_STEAL(table);
}

static int bucket_add(struct ccm_strmap *buckets, const char *value,
                      const struct ccm_object *object)
{
    struct bucket *bucket = ccm_strmap_get(buckets, value);

    if (bucket == NULL) {
        bucket = calloc(1, sizeof(*bucket));
        if (bucket == NULL) {
            return -ENOMEM;
        }
        if (ccm_strmap_set(buckets, value, bucket) < 0) {
            free(bucket);
            return -ENOMEM;
        }
    }
    if (bucket->len > 0 && bucket->items[bucket->len - 1] == object) {
        return 0; /* it has the value twice */
    }
    if (ccm_array_grow(&bucket->items, &bucket->cap, bucket->len + 1,
                       sizeof(const struct ccm_object *)) < 0) {
        return -ENOMEM;
    }
    bucket->items[bucket->len++] = object;
    return 0;
}

static void bucket_del(struct ccm_strmap *buckets, const char *value,
                       const struct ccm_object *object)
{
    struct bucket *bucket = ccm_strmap_get(buckets, value);

    for (size_t i = 0; bucket != NULL && i < bucket->len; i++) {
        if (bucket->items[i] == object) {
            bucket->items[i] = bucket->items[--bucket->len];
            break;
        }
    }
    if (bucket != NULL && bucket->len == 0) {
        ccm_strmap_del(buckets, value);
    }
}

/* The slow way, for when there is no memory to work out the value: no bucket may keep a dead
 * pointer. */
static void bucket_del_everywhere(struct ccm_strmap *buckets, const struct ccm_object *object)
{
    const char *value;
    void *cursor = NULL;

    while (ccm_strmap_next(buckets, &cursor, &value, NULL)) {
        bucket_del(buckets, value, object);
    }
}

/* Take the object out of its indexes. Cannot fail. */
static void table_unindex_object(struct table *table, const struct ccm_object *object,
                                 const struct index_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        const char *value = NULL;

        if (ccm_buf_error(&values->of[i]) < 0) {
            bucket_del_everywhere(table->buckets[i], object);
            continue;
        }
        while ((value = values_next(&values->of[i], value)) != NULL) {
            bucket_del(table->buckets[i], value, object);
        }
    }
}

/* -ENOMEM: it may be in some of its buckets. */
static int index_add_object(struct ccm_strmap *buckets, const struct ccm_buf *values,
                            const struct ccm_object *object)
{
    const char *value = NULL;
    int r = ccm_buf_error(values) < 0 ? -ENOMEM : 0;

    while (r == 0 && (value = values_next(values, value)) != NULL) {
        r = bucket_add(buckets, value, object);
    }
    return r;
}

/* All indexes or none. */
static int table_index_object(struct table *table, const struct ccm_object *object,
                              const struct index_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        if (index_add_object(table->buckets[i], &values->of[i], object) < 0) {
            table_unindex_object(table, object, values);
            return -ENOMEM;
        }
    }
    return 0;
}

static const struct ccm_object *table_get(const struct table *table, const char *key)
{
    return ccm_strmap_get(table->objects, key);
}

/* It is out of the map. */
static void table_forget(struct table *table, const struct ccm_object *object,
                         const struct index_values *values)
{
    table_unindex_object(table, object, values);
    table->too_large -= object->too_large != NULL;
}

/* An object that takes its place, with the values of both. */
struct replacement {
    const struct ccm_object *object;
    struct index_values values;
    struct index_values before; /* of the one that is there */
};

static void replacement_fini(struct replacement *fresh)
{
    values_fini(&fresh->values);
    values_fini(&fresh->before);
}

static struct replacement replacement_of(const struct kube_store *store, const struct table *table,
                                         const struct ccm_object *object)
{
    return (struct replacement){
        .object = object,
        .values = values_of(store, object),
        .before = values_of(store, table_get(table, object->key)),
    };
}

/*
 * Add or replace, taking a reference. The old object's index entries go last: when memory runs out
 * half-way everything is as before. *ret_old, if wanted, is the reference that the table held until
 * now.
 */
static int table_put(struct table *table, const struct replacement *fresh,
                     const struct ccm_object **ret_old)
{
    const struct ccm_object *object = fresh->object;
    const struct ccm_object *old = table_get(table, object->key);

    if (old == object) {
        *ret_old = NULL;
        return 0;
    }
    if (table_index_object(table, object, &fresh->values) < 0) {
        return -ENOMEM;
    }
    if (old != NULL) {
        (void)kube_object_ref(old); /* outlives its place in the map */
    }
    if (ccm_strmap_set(table->objects, object->key, (void *)(uintptr_t)object) < 0) {
        table_unindex_object(table, object, &fresh->values);
        kube_object_unref(old);
        return -ENOMEM;
    }
    (void)kube_object_ref(object); /* the map's */
    table->too_large += object->too_large != NULL;
    if (old != NULL) {
        table_forget(table, old, &fresh->before);
    }
    *ret_old = old;
    return 0;
}

/* Remove; the caller gets the table's reference. values: of the object. */
static const struct ccm_object *table_take(struct table *table, const char *key,
                                           const struct index_values *values)
{
    const struct ccm_object *old = ccm_strmap_take(table->objects, key);

    if (old != NULL) {
        table_forget(table, old, values);
    }
    return old;
}

struct kube_store *kube_store_new(const struct kube_index *indexes, size_t count)
{
    CCM_CLEANUP(ccm_freep) struct kube_store *store = calloc(1, sizeof(*store));

    if (store == NULL || count > KUBE_STORE_INDEXES) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        store->indexes[i] = indexes[i];
    }
    store->index_count = count;
    store->table = table_new(store);
    if (store->table == NULL) {
        return NULL;
    }
    if (kube_own_writes_init(&store->own) < 0 || pthread_mutex_init(&store->lock, NULL) != 0) {
        kube_own_writes_fini(&store->own);
        table_free(store->table);
        return NULL;
    }
    return CCM_STEAL(store);
}

void kube_store_free(struct kube_store *store)
{
    if (store != NULL) {
        kube_own_writes_fini(&store->own);
        table_free(store->table);
        ccm_lock_fini(&store->lock);
        free(store);
    }
}

void kube_store_freep(struct kube_store **store)
{
    kube_store_free(*store);
}

const struct ccm_object *kube_store_get(struct kube_store *store, const char *key)
{
    ccm_lock(&store->lock);

    const struct ccm_object *object = table_get(store->table, key);

    if (object != NULL) {
        object = kube_object_ref(kube_own_writes_see(&store->own, object));
    }
    ccm_unlock(&store->lock);
    return object;
}

static int list_all_locked(const struct kube_store *store, const struct ccm_object ***ret,
                           size_t *ret_count)
{
    const size_t count = ccm_strmap_len(store->table->objects);
    const struct ccm_object **objects = NULL;
    void *cursor = NULL;
    void *value;

    if (count > 0) {
        objects = calloc(count, sizeof(const struct ccm_object *));
        if (objects == NULL) {
            return -ENOMEM;
        }
    }
    for (size_t i = 0; i < count; i++) {
        (void)ccm_strmap_next(store->table->objects, &cursor, NULL, &value); /* there are `count` */
        objects[i] = kube_object_ref(kube_own_writes_see(&store->own, value));
    }
    *ret = objects;
    *ret_count = count;
    return 0;
}

static int list_bucket_locked(const struct kube_store *store, const struct bucket *bucket,
                              const struct ccm_object ***ret, size_t *ret_count)
{
    if (bucket == NULL) {
        *ret = NULL;
        *ret_count = 0;
        return 0;
    }

    const struct ccm_object **objects = calloc(bucket->len, sizeof(const struct ccm_object *));

    if (objects == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < bucket->len; i++) {
        objects[i] = kube_object_ref(kube_own_writes_see(&store->own, bucket->items[i]));
    }
    *ret = objects;
    *ret_count = bucket->len;
    return 0;
}

int kube_store_list(struct kube_store *store, const char *index, const char *value,
                    const struct ccm_object *const **ret, size_t *ret_count)
{
    const struct ccm_object **objects = NULL;
    size_t count = 0;
    size_t i = 0;
    int r;

    while (index != NULL && i < store->index_count && strcmp(store->indexes[i].name, index) != 0) {
        i++;
    }
    if (index != NULL && (i == store->index_count || value == NULL)) {
        return -ENOTSUP;
    }
    ccm_lock(&store->lock);
    if (index == NULL) {
        r = list_all_locked(store, &objects, &count);
    } else {
        r = list_bucket_locked(store, ccm_strmap_get(store->table->buckets[i], value), &objects,
                               &count);
    }
    ccm_unlock(&store->lock);
    if (r == 0) {
        *ret = objects;
        *ret_count = count;
    }
    return r;
}

void kube_store_list_free(const struct ccm_object *const *objects, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        kube_object_unref(objects[i]);
    }
    free((void *)(uintptr_t)objects);
}

size_t kube_store_len(struct kube_store *store)
{
    ccm_lock(&store->lock);

    const size_t len = ccm_strmap_len(store->table->objects);

    ccm_unlock(&store->lock);
    return len;
}

size_t kube_store_too_large(struct kube_store *store)
{
    ccm_lock(&store->lock);

    const size_t count = store->table->too_large;

    ccm_unlock(&store->lock);
    return count;
}

static void store_emit_flagged(kube_change_fn fn, void *arg, uint64_t type, uint64_t flags,
                               const struct ccm_object *before, const struct ccm_object *after)
{
    const struct ccm_change change = {
        .struct_size = sizeof(change),
        .type = type,
        .before = before,
        .after = after,
        .flags = flags,
    };

    if (fn != NULL) {
        fn(arg, &change);
    }
}

static void store_emit_change(kube_change_fn fn, void *arg, uint64_t type,
                              const struct ccm_object *before, const struct ccm_object *after)
{
    store_emit_flagged(fn, arg, type, 0, before, after);
}

static bool same_version(const struct ccm_object *a, const struct ccm_object *b)
{
    return a == b ||
           (a->resource_version[0] != '\0' &&
            strcmp(a->resource_version, b->resource_version) == 0 && strcmp(a->uid, b->uid) == 0);
}

/* What became of a key that is there; before may be NULL. */
static void store_emit_difference(kube_change_fn fn, void *arg, const struct ccm_object *before,
                                  const struct ccm_object *after)
{
    if (before == NULL) {
        store_emit_change(fn, arg, CCM_CHANGE_ADDED, NULL, after);
    } else if (strcmp(before->uid, after->uid) != 0) {
        store_emit_change(fn, arg, CCM_CHANGE_DELETED, before, NULL);
        store_emit_change(fn, arg, CCM_CHANGE_ADDED, NULL, after);
    } else if (!same_version(before, after)) {
        store_emit_change(fn, arg, CCM_CHANGE_UPDATED, before, after);
    }
}

int kube_store_put(struct kube_store *store, const struct ccm_object *object, kube_change_fn fn,
                   void *arg)
{
    const struct ccm_object *before = table_get(store->table, object->key);
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *old = NULL;

    if (before != NULL && same_version(before, object)) {
        return 0;
    }

    CCM_CLEANUP(replacement_fini)
    struct replacement fresh = replacement_of(store, store->table, object);

    ccm_lock(&store->lock);

    const int r = table_put(store->table, &fresh, &old);

    if (r == 0) {
        kube_own_writes_note(&store->own, object);
    }
    ccm_unlock(&store->lock);
    if (r == 0) {
        store_emit_difference(fn, arg, old, object);
    }
    return r;
}

void kube_store_delete(struct kube_store *store, const char *key, kube_change_fn fn, void *arg)
{
    CCM_CLEANUP(values_fini)
    struct index_values values = values_of(store, table_get(store->table, key));

    ccm_lock(&store->lock);

    CCM_CLEANUP(kube_object_unrefp)
    const struct ccm_object *old = table_take(store->table, key, &values);

    kube_own_writes_forget(&store->own, key);
    ccm_unlock(&store->lock);
    if (old != NULL) {
        store_emit_change(fn, arg, CCM_CHANGE_DELETED, old, NULL);
    }
}

struct kube_write *kube_store_begin_write(struct kube_store *store, const char *key)
{
    ccm_lock(&store->lock);

    const struct ccm_object *object = table_get(store->table, key);
    struct kube_write *write = object == NULL ? NULL : kube_own_writes_begin(&store->own, object);

    ccm_unlock(&store->lock);
    return write;
}

void kube_store_end_write(struct kube_store *store, struct kube_write *write,
                          const struct ccm_object *answer, int64_t span_ms)
{
    if (write != NULL) {
        ccm_lock(&store->lock);
        kube_own_writes_end(&store->own, write, answer,
                            answer == NULL ? NULL : table_get(store->table, answer->key), span_ms);
        ccm_unlock(&store->lock);
    }
}

int64_t kube_store_writes_due(struct kube_store *store)
{
    ccm_lock(&store->lock);

    const int64_t due_ms = kube_own_writes_due(&store->own);

    ccm_unlock(&store->lock);
    return due_ms;
}

void kube_store_expire_writes(struct kube_store *store, int64_t now_ms, kube_change_fn fn,
                              void *arg)
{
    for (;;) {
        ccm_lock(&store->lock);

        CCM_CLEANUP(kube_object_unrefp)
        const struct ccm_object *ours = kube_own_writes_expire(&store->own, now_ms);

        ccm_unlock(&store->lock);
        if (ours == NULL) {
            return;
        }
        store_emit_difference(fn, arg, ours, table_get(store->table, ours->key));
    }
}

struct kube_stage *kube_stage_new(struct kube_store *store, bool other_server)
{
    CCM_CLEANUP(ccm_freep) struct kube_stage *stage = calloc(1, sizeof(*stage));

    if (stage == NULL) {
        return NULL;
    }
    stage->store = store;
    stage->other_server = other_server;
    stage->table = table_new(store);
    return stage->table == NULL ? NULL : CCM_STEAL(stage);
}

bool kube_stage_is_of_other_server(const struct kube_stage *stage)
{
    return stage->other_server;
}

void kube_stage_free(struct kube_stage *stage)
{
    if (stage != NULL) {
        table_free(stage->table);
        free(stage);
    }
}

void kube_stage_freep(struct kube_stage **stage)
{
    kube_stage_free(*stage);
}

int kube_stage_put(struct kube_stage *stage, const struct ccm_object *object)
{
    const struct ccm_object *held = table_get(stage->store->table, object->key);
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *old = NULL;

    if (held != NULL && !stage->other_server && same_version(held, object)) {
        object = held;
    }

    CCM_CLEANUP(replacement_fini)
    struct replacement fresh = replacement_of(stage->store, stage->table, object);

    return table_put(stage->table, &fresh, &old);
}

int kube_stage_keep(struct kube_stage *stage, const char *key)
{
    const struct ccm_object *held = table_get(stage->store->table, key);

    return held == NULL ? 0 : kube_stage_put(stage, held);
}

void kube_stage_delete(struct kube_stage *stage, const char *key)
{
    CCM_CLEANUP(values_fini)
    struct index_values values = values_of(stage->store, table_get(stage->table, key));

    kube_object_unref(table_take(stage->table, key, &values));
}

size_t kube_stage_len(const struct kube_stage *stage)
{
    return ccm_strmap_len(stage->table->objects);
}

/* How a list has changed a key. */
static void store_emit_listed(kube_change_fn fn, void *arg, const struct ccm_object *before,
                              const struct ccm_object *after, bool other_server)
{
    if (other_server && before != NULL && before != after && same_version(before, after)) {
        store_emit_change(fn, arg, CCM_CHANGE_UPDATED, before, after);
    } else {
        store_emit_difference(fn, arg, before, after);
    }
}

void kube_store_commit(struct kube_store *store, struct kube_stage *stage, kube_change_fn fn,
                       void *arg)
{
    const bool other_server = stage->other_server;
    struct table *before = store->table;
    struct table *after = stage->table;
    void *cursor = NULL;
    const char *key;
    void *value;

    ccm_lock(&store->lock);
    store->table = after;
    kube_own_writes_clear(&store->own);
    ccm_unlock(&store->lock);
    stage->table = NULL;
    kube_stage_free(stage);

    /* The old table is nobody else's any more; the new one has no other writer, and a callback does
     * not write. */
    while (ccm_strmap_next(after->objects, &cursor, &key, &value)) {
        store_emit_listed(fn, arg, table_get(before, key), value, other_server);
    }
    cursor = NULL;
    while (ccm_strmap_next(before->objects, &cursor, &key, &value)) {
        if (table_get(after, key) == NULL) {
            store_emit_flagged(fn, arg, CCM_CHANGE_DELETED, CCM_CHANGE_MISSING, value, NULL);
        }
    }
    table_free(before);
}
