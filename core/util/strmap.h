/*
 * Hash map from text to pointer. Keys are copied. Values belong to the caller unless `free_value`
 * is given. Not synchronised: the owner brings the lock.
 */
#ifndef CCM_UTIL_STRMAP_H
#define CCM_UTIL_STRMAP_H

#include "util/attr.h"

#include <stddef.h>

struct ccm_strmap;

typedef void (*ccm_strmap_free_fn)(void *value);

/* free_value (may be NULL) is called for a value that is replaced, deleted, or left at free time.
 * NULL on ENOMEM. */
struct ccm_strmap *ccm_strmap_new(ccm_strmap_free_fn free_value);

void ccm_strmap_free(struct ccm_strmap *map);
/* For CCM_CLEANUP. */
void ccm_strmap_freep(struct ccm_strmap **map);

/* Insert or replace. Returns 0 or -ENOMEM (the map is unchanged and the value stays the caller's).
 */
CCM_NODISCARD int ccm_strmap_set(struct ccm_strmap *map, const char *key, void *value);

/* The value, or NULL. */
void *ccm_strmap_get(const struct ccm_strmap *map, const char *key);

/* Whether the key is present (a value may be NULL). */
int ccm_strmap_has(const struct ccm_strmap *map, const char *key);

/* Remove one key; nothing happens when it is absent. */
void ccm_strmap_del(struct ccm_strmap *map, const char *key);

/* Remove one key and hand its value to the caller without freeing it; NULL when absent. */
void *ccm_strmap_take(struct ccm_strmap *map, const char *key);

size_t ccm_strmap_len(const struct ccm_strmap *map);

/* Walk in order of insertion: start with *cursor = NULL. Returns 0 at the end. Deleting the pair
 * just returned is allowed, any other change during the walk is not. */
int ccm_strmap_next(const struct ccm_strmap *map, void **cursor, const char **ret_key,
                    void **ret_value);

#endif
