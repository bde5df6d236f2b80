/*
 * All objects of the simulated cluster, in order, with one version counter and a bounded history of
 * changes per bucket. Objects are immutable: a change puts a new one in place; readers keep the old
 * one by a reference. The text of an object is made once and shared by whoever sends it.
 *
 * Not synchronised: every function, the reference counts included, is called under the owner's
 * lock.
 */
#ifndef CCM_KS_STORE_H
#define CCM_KS_STORE_H

#include "kind.h"
#include "util/attr.h"
#include "util/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ccm_ks_object {
    size_t refs;
    uint64_t version;
    int64_t written_ms; /* monotonic */
    char *key;          /* "namespace/name", or "name" */
    cJSON *json;        /* storage form, without kind and apiVersion */
    char *text;         /* json as text, made when first needed */
    size_t text_len;
    char *view; /* the same in the form of the second kind of the bucket */
    size_t view_len;
};

/* One change. Creation: old NULL. Removal: now NULL, gone = old with the version of the removal. */
struct ccm_ks_change {
    uint64_t version;
    struct ccm_ks_object *old;
    struct ccm_ks_object *now;
    struct ccm_ks_object *gone;
};

/* A list of objects, each with a reference. */
struct ccm_ks_objects {
    struct ccm_ks_object **items;
    size_t len;
    size_t cap;
};

struct ccm_ks_store;

/* history: changes kept per bucket. NULL on ENOMEM. */
struct ccm_ks_store *ccm_ks_store_new(size_t history);
void ccm_ks_store_free(struct ccm_ks_store *store);

struct ccm_ks_object *ccm_ks_object_ref(struct ccm_ks_object *object);
void ccm_ks_object_unref(struct ccm_ks_object *object);
void ccm_ks_objects_fini(struct ccm_ks_objects *objects);

/* Append the object in the form of the kind; `typed` puts kind and apiVersion in front. */
void ccm_ks_object_print(struct ccm_ks_object *object, const struct ccm_ks_kind *kind, bool typed,
                         struct ccm_buf *buf);
/* The same for a tree in storage form. */
void ccm_ks_object_print_json(const cJSON *json, const struct ccm_ks_kind *kind, bool typed,
                              struct ccm_buf *buf);

/* The newest version given. */
uint64_t ccm_ks_store_version(const struct ccm_ks_store *store);

/* Versions go on from there, and what changed before is forgotten. */
void ccm_ks_store_jump(struct ccm_ks_store *store, uint64_t version);

/* Borrowed, or NULL. */
struct ccm_ks_object *ccm_ks_store_get(const struct ccm_ks_store *store, enum ccm_ks_bucket bucket,
                                       const char *key);

size_t ccm_ks_store_count(const struct ccm_ks_store *store, enum ccm_ks_bucket bucket);

/* Put a new state in place (takes json, sets metadata.resourceVersion). The new object, borrowed;
 * NULL on ENOMEM. */
struct ccm_ks_object *ccm_ks_store_put(struct ccm_ks_store *store, enum ccm_ks_bucket bucket,
                                       const char *key, cJSON *json);

/* Remove what is there. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_ks_store_remove(struct ccm_ks_store *store, enum ccm_ks_bucket bucket,
                                      const char *key);

/* All objects whose key starts with prefix, in order, as they are now. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_ks_store_list(const struct ccm_ks_store *store, enum ccm_ks_bucket bucket,
                                    const char *prefix, struct ccm_ks_objects *ret);

/* The same as it was at an older version. -ESTALE: history does not reach back that far. */
CCM_NODISCARD int ccm_ks_store_list_at(const struct ccm_ks_store *store, enum ccm_ks_bucket bucket,
                                       const char *prefix, uint64_t version,
                                       struct ccm_ks_objects *ret);

/* The first change after a version, or NULL; borrowed. Check ccm_ks_store_oldest first. */
const struct ccm_ks_change *ccm_ks_store_after(const struct ccm_ks_store *store,
                                               enum ccm_ks_bucket bucket, uint64_t version);

/* The smallest version from which the history of a bucket is complete. */
uint64_t ccm_ks_store_oldest(const struct ccm_ks_store *store, enum ccm_ks_bucket bucket);

/* The version of the last change in a bucket; 0 = none since the start. */
uint64_t ccm_ks_store_changed(const struct ccm_ks_store *store, enum ccm_ks_bucket bucket);

/* Forget the history of a bucket: from now on one can resume only from the present version. */
void ccm_ks_store_compact(struct ccm_ks_store *store, enum ccm_ks_bucket bucket);

/* Forget the history of a bucket; the version moves on by one, so that nobody can resume from
 * before. */
void ccm_ks_store_forget(struct ccm_ks_store *store, enum ccm_ks_bucket bucket);

#endif
