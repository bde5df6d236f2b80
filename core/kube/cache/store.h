/*
 * The cache of one kind: objects by key, and by the value of an index. One writer (the reflector's
 * thread), any number of readers. Readers get references: what they hold stays valid and unchanged
 * whatever happens to the store. A lock is held for a look-up or the exchange of a pointer, never
 * over a callback; a whole new list is built beside the old one and takes its place in one step, so
 * a reader sees either the old or the new state, never a mixture.
 *
 * After a write of this process readers see the object as written, before the watch has shown it.
 * Changes are reported when the watch shows them, and indexes follow the watch.
 */
#ifndef CCM_KUBE_STORE_H
#define CCM_KUBE_STORE_H

#include "ccm/plugin.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct kube_store;

struct kube_index;

/* Appends the values of the index for this object, each with a NUL behind it. Want of
 * memory shows in the buffer. Pure; any thread. */
typedef void (*kube_index_fn)(const struct kube_index *index, const struct ccm_object *object,
                              struct ccm_buf *values);

struct kube_index {
    const char *name;
    kube_index_fn fn;
    const struct ccm_index *raw; /* what kube_index_raw() goes by */
};

#define KUBE_STORE_INDEXES 4

/* Index "service" of EndpointSlices: "namespace/service". Slices without a Service are not in it.
 */
extern const struct kube_index kube_index_service;
/* Index "server" of Nodes: by what others know the machine. The last part of spec.providerID,
 * behind
 * "/" and ".", and each InternalIP as ccm_ip_format() writes it. */
extern const struct kube_index kube_index_server;
/* Of raw objects, see struct ccm_index. Reads their JSON. */
void kube_index_raw(const struct kube_index *index, const struct ccm_object *object,
                    struct ccm_buf *values);

/* Told about each change, in the writer's thread, after the store holds it. Never under a lock. */
typedef void (*kube_change_fn)(void *arg, const struct ccm_change *change);

/* indexes: at most KUBE_STORE_INDEXES, names and functions borrowed for ever. NULL on ENOMEM or too
 * many. */
struct kube_store *kube_store_new(const struct kube_index *indexes, size_t count);

/* No reader and no writer may be left. References that were handed out stay valid. NULL is fine. */
void kube_store_free(struct kube_store *store);
/* For CCM_CLEANUP. */
void kube_store_freep(struct kube_store **store);

/* --- readers, any thread --- */

/* A reference for the caller (kube_object_unref), or NULL. */
const struct ccm_object *kube_store_get(struct kube_store *store, const char *key);

/*
 * References to all objects (index NULL, in no particular order) or to those with this value of an
 * index. *ret is an array for kube_store_list_free(); NULL when it is empty. -ENOMEM; -ENOTSUP: no
 * such index.
 */
CCM_NODISCARD int kube_store_list(struct kube_store *store, const char *index, const char *value,
                                  const struct ccm_object *const **ret, size_t *ret_count);
void kube_store_list_free(const struct ccm_object *const *objects, size_t count);

size_t kube_store_len(struct kube_store *store);
/* How many of them were too large to be held as a whole. */
size_t kube_store_too_large(struct kube_store *store);

/* --- our own writes, any thread --- */

struct kube_write;

/* Before an object with this key is written. NULL: the store does not hold it, or there is no
 * memory; the write may be sent all the same. */
struct kube_write *kube_store_begin_write(struct kube_store *store, const char *key);
/*
 * It has ended. answer: the object as the server answered, decoded as the store has it; NULL = it
 * failed, or the result is not known. Readers see it in place of older versions until a list or
 * watch shows it. Never what is older than the store has: see own_write.h. When the watch shows
 * other versions, and this one does not come within span_ms from the first of them on, readers see
 * what the watch shows. Once for each begin_write(); a NULL write is fine.
 */
void kube_store_end_write(struct kube_store *store, struct kube_write *write,
                          const struct ccm_object *answer, int64_t span_ms);

/* --- the writer --- */

/* When expire_writes() has something to do next; INT64_MAX = nothing so far. */
int64_t kube_store_writes_due(struct kube_store *store);
/* End the writes that the watch should have shown by now: reported as UPDATED, from what was
 * written to what the watch shows. */
void kube_store_expire_writes(struct kube_store *store, int64_t now_ms, kube_change_fn fn,
                              void *arg);

/*
 * Add or replace one object; the store takes its own reference. No change is reported when the
 * object is there in the same version (uid and resourceVersion). An object of another uid under the
 * same key is reported as DELETED, then ADDED. -ENOMEM: nothing changed.
 */
CCM_NODISCARD int kube_store_put(struct kube_store *store, const struct ccm_object *object,
                                 kube_change_fn fn, void *arg);

/* Remove one object; nothing happens when it is absent. */
void kube_store_delete(struct kube_store *store, const char *key, kube_change_fn fn, void *arg);

/* A list on its way: what the store is to hold next. Several may exist; each belongs to its thread.
 */
struct kube_stage;

/* other_server: the list is of another server than what the store holds. It may have used a version
 * a second time, so an object with the same version counts as changed. NULL on ENOMEM. */
struct kube_stage *kube_stage_new(struct kube_store *store, bool other_server);
/* other_server of kube_stage_new(). */
bool kube_stage_is_of_other_server(const struct kube_stage *stage);
void kube_stage_free(struct kube_stage *stage);
/* For CCM_CLEANUP. */
void kube_stage_freep(struct kube_stage **stage);

/* Add or replace. An object that the store already holds in this version is shared instead of held
 * twice. -ENOMEM. */
CCM_NODISCARD int kube_stage_put(struct kube_stage *stage, const struct ccm_object *object);
/* Carry over what the store holds under this key, if anything: its new version cannot be read.
 * -ENOMEM. */
CCM_NODISCARD int kube_stage_keep(struct kube_stage *stage, const char *key);
void kube_stage_delete(struct kube_stage *stage, const char *key);
size_t kube_stage_len(const struct kube_stage *stage);

/*
 * The stage takes the store's place at once; then exactly the differences are reported: ADDED and
 * UPDATED in the order in which they were staged, then DELETED for what is gone, with
 * CCM_CHANGE_MISSING: no event said so. The stage is consumed. Cannot fail.
 */
void kube_store_commit(struct kube_store *store, struct kube_stage *stage, kube_change_fn fn,
                       void *arg);

#endif
