#include "util/strmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* uthash must not exit on a failed allocation: it clears the added element instead. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct pair {
    UT_hash_handle hh;
    void *value;
    char key[];
};

struct ccm_strmap {
    struct pair *pairs;
    ccm_strmap_free_fn free_value;
};

struct ccm_strmap *ccm_strmap_new(ccm_strmap_free_fn free_value)
{
    struct ccm_strmap *map = calloc(1, sizeof(*map));

    if (map != NULL) {
        map->free_value = free_value;
    }
    return map;
}

static void release_value(const struct ccm_strmap *map, void *value)
{
    if (map->free_value != NULL && value != NULL) {
        map->free_value(value);
    }
}

void ccm_strmap_free(struct ccm_strmap *map)
{
    struct pair *pair;
    struct pair *tmp;

    if (map == NULL) {
        return;
    }
    HASH_ITER(hh, map->pairs, pair, tmp)
    {
        HASH_DEL(map->pairs, pair);
        release_value(map, pair->value);
        free(pair);
    }
    free(map);
}

void ccm_strmap_freep(struct ccm_strmap **map)
{
    ccm_strmap_free(*map);
}

static struct pair *strmap_find_pair(const struct ccm_strmap *map, const char *key)
{
    struct pair *pair = NULL;

    HASH_FIND(hh, map->pairs, key, strlen(key), pair);
    return pair;
}

int ccm_strmap_set(struct ccm_strmap *map, const char *key, void *value)
{
    struct pair *pair = strmap_find_pair(map, key);

    if (pair != NULL) {
        if (pair->value != value) {
            release_value(map, pair->value);
        }
        pair->value = value;
        return 0;
    }

    const size_t len = strlen(key);

    pair = calloc(1, sizeof(*pair) + len + 1);
    if (pair == NULL) {
        return -ENOMEM;
    }
    memcpy(pair->key, key, len + 1);
    pair->value = value;
    HASH_ADD_KEYPTR(hh, map->pairs, pair->key, len, pair);
    if (pair->hh.tbl == NULL) {
        free(pair);
        return -ENOMEM;
    }
    return 0;
}

void *ccm_strmap_get(const struct ccm_strmap *map, const char *key)
{
    const struct pair *pair = strmap_find_pair(map, key);

    return pair == NULL ? NULL : pair->value;
}

int ccm_strmap_has(const struct ccm_strmap *map, const char *key)
{
    return strmap_find_pair(map, key) != NULL;
}

void *ccm_strmap_take(struct ccm_strmap *map, const char *key)
{
    struct pair *pair = strmap_find_pair(map, key);

    if (pair == NULL) {
        return NULL;
    }

    void *value = pair->value;

    HASH_DEL(map->pairs, pair);
    free(pair);
    return value;
}

void ccm_strmap_del(struct ccm_strmap *map, const char *key)
{
    release_value(map, ccm_strmap_take(map, key));
}

size_t ccm_strmap_len(const struct ccm_strmap *map)
{
    return HASH_COUNT(map->pairs);
}

int ccm_strmap_next(const struct ccm_strmap *map, void **cursor, const char **ret_key,
                    void **ret_value)
{
    /* The cursor holds the pair to return next, so the one returned may be deleted; the end is the
     * map itself. */
    struct pair *pair = *cursor == NULL ? map->pairs : *cursor;

    if (pair == NULL || *cursor == (const void *)map) {
        return 0;
    }
    *cursor = pair->hh.next == NULL ? (void *)(size_t)map : pair->hh.next;
    if (ret_key != NULL) {
        *ret_key = pair->key;
    }
    if (ret_value != NULL) {
        *ret_value = pair->value;
    }
    return 1;
}
