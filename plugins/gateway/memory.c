#include "memory.h"

#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct gateway_memories {
    pthread_mutex_t lock; /* guards the map, and versions in it; a leaf */
    struct ccm_strmap *by_key;
};

struct gateway_memories *gateway_memories_new(void)
{
    struct gateway_memories *memories = calloc(1, sizeof(*memories));

    if (memories == NULL) {
        return NULL;
    }
    memories->by_key = ccm_strmap_new(free);
    if (memories->by_key == NULL || pthread_mutex_init(&memories->lock, NULL) != 0) {
        ccm_strmap_free(memories->by_key);
        free(memories);
        return NULL;
    }
    return memories;
}

void gateway_memories_free(struct gateway_memories *memories)
{
    if (memories != NULL) {
        ccm_strmap_free(memories->by_key);
        pthread_mutex_destroy(&memories->lock);
    }
    free(memories);
}

static struct gateway_memory *memories_get_locked(struct gateway_memories *memories,
                                                  const char *key)
{
    struct gateway_memory *found = ccm_strmap_get(memories->by_key, key);

    if (found == NULL) {
        found = calloc(1, sizeof(*found));
        if (found != NULL && ccm_strmap_set(memories->by_key, key, found) < 0) {
            free(found);
            found = NULL;
        }
    }
    return found;
}

struct gateway_memory *gateway_memory_get(struct gateway_memories *memories, const char *key,
                                          const char *uid)
{
    struct gateway_memory *found = NULL;

    pthread_mutex_lock(&memories->lock);
    found = memories_get_locked(memories, key);
    if (found != NULL && strcmp(found->uid, uid) != 0) {
        memset(found, 0, sizeof(*found));
        ccm_text_copy(found->uid, sizeof(found->uid), uid);
    }
    pthread_mutex_unlock(&memories->lock);
    return found;
}

void gateway_memory_forget(struct gateway_memories *memories, const char *key)
{
    pthread_mutex_lock(&memories->lock);
    ccm_strmap_del(memories->by_key, key);
    pthread_mutex_unlock(&memories->lock);
}

bool gateway_memory_is_behind(const struct gateway_memory *memory, const char *shown)
{
    return memory->version[0] != '\0' && strcmp(memory->shown, shown) == 0;
}

const char *gateway_memory_version(const struct gateway_memory *memory, const char *shown)
{
    return gateway_memory_is_behind(memory, shown) ? memory->version : shown;
}

void gateway_memory_record_version(struct gateway_memories *memories, struct gateway_memory *memory,
                                   const char *shown, const char *version)
{
    pthread_mutex_lock(&memories->lock);
    ccm_text_copy(memory->shown, sizeof(memory->shown), shown);
    ccm_text_copy(memory->version, sizeof(memory->version), version);
    pthread_mutex_unlock(&memories->lock);
}

bool gateway_memory_is_own(struct gateway_memories *memories, const char *key, const char *version)
{
    const struct gateway_memory *found = NULL;
    bool own = false;

    pthread_mutex_lock(&memories->lock);
    found = ccm_strmap_get(memories->by_key, key);
    own = found != NULL && strcmp(found->version, version) == 0;
    pthread_mutex_unlock(&memories->lock);
    return own;
}
