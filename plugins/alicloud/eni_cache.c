#include "alicloud/eni_cache.h"

#include "util/text.h"
#include "util/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 256

enum slot_state { SLOT_FREE, SLOT_USED, SLOT_DELETED };

struct slot {
    struct ccm_ip ip;
    int64_t end_ms;
    uint32_t owner; /* see owner_fold() */
    uint8_t slot_state;
    uint8_t eni_state;
    uint8_t misses; /* times in a row that it was not there */
    char id[33];    /* known ids have 24 */
};

struct ali_eni_cache {
    pthread_mutex_t lock; /* guards all below; a leaf lock */
    struct slot *slots;
    size_t slot_count; /* power of two, or 0 */
    size_t used;       /* live or expired entries */
    size_t filled;     /* used and deleted slots: what probing runs over */
    size_t most;
    struct ccm_cidr cidrs[ALI_ENI_CIDRS_MAX];
    int cidr_count;
    int64_t cidr_end_ms;
};

struct ali_eni_cache *ali_eni_cache_new(size_t most)
{
    struct ali_eni_cache *cache = calloc(1, sizeof(*cache));

    if (cache == NULL) {
        return NULL;
    }
    cache->most = most;
    cache->cidr_end_ms = INT64_MIN;
    if (pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(cache);
        return NULL;
    }
    return cache;
}

void ali_eni_cache_free(struct ali_eni_cache *cache)
{
    if (cache != NULL) {
        ccm_lock_fini(&cache->lock);
        free(cache->slots);
        free(cache);
    }
}

static uint64_t eni_cache_hash_ip(const struct ccm_ip *ip)
{
    uint64_t h = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < sizeof(ip->bytes); i++) {
        h = (h ^ ip->bytes[i]) * UINT64_C(1099511628211);
    }
    return h ^ (h >> 32);
}

/* Only 0, an owner that is not known, becomes 0. */
static uint32_t owner_fold(uint64_t owner)
{
    const uint32_t folded = (uint32_t)(owner ^ (owner >> 32));

    return owner != 0 && folded == 0 ? 1 : folded;
}

static bool slot_is_of(const struct slot *slot, uint64_t owner)
{
    return owner == 0 || slot->owner == owner_fold(owner);
}

/* The slot of the address, or NULL. */
static struct slot *eni_cache_find_slot(const struct ali_eni_cache *cache, const struct ccm_ip *ip)
{
    if (cache->slot_count == 0) {
        return NULL;
    }

    const size_t mask = cache->slot_count - 1;

    /* Ends: at most three quarters of the slots are filled. */
    for (size_t i = (size_t)eni_cache_hash_ip(ip) & mask;; i = (i + 1) & mask) {
        struct slot *slot = &cache->slots[i];

        if (slot->slot_state == SLOT_FREE) {
            return NULL;
        }
        if (slot->slot_state == SLOT_USED && memcmp(&slot->ip, ip, sizeof(*ip)) == 0) {
            return slot;
        }
    }
}

static struct slot *free_slot(struct slot *slots, size_t count, const struct ccm_ip *ip)
{
    size_t i = (size_t)eni_cache_hash_ip(ip) & (count - 1);

    while (slots[i].slot_state != SLOT_FREE) {
        i = (i + 1) & (count - 1);
    }
    return &slots[i];
}

/* A table for at least `need` entries, expired ones left behind. Without memory nothing changes. */
static void eni_cache_rebuild(struct ali_eni_cache *cache, size_t need, int64_t now_ms)
{
    size_t count = FIRST_SLOTS;

    while (count / 4 * 3 < need) {
        count *= 2;
    }

    struct slot *slots = calloc(count, sizeof(*slots));

    if (slots == NULL) {
        return;
    }

    size_t used = 0;

    for (size_t i = 0; i < cache->slot_count; i++) {
        const struct slot *slot = &cache->slots[i];

        if (slot->slot_state == SLOT_USED && slot->end_ms > now_ms) {
            *free_slot(slots, count, &slot->ip) = *slot;
            used++;
        }
    }
    free(cache->slots);
    cache->slots = slots;
    cache->slot_count = count;
    cache->used = used;
    cache->filled = used;
}

static void drop_all(struct ali_eni_cache *cache)
{
    free(cache->slots);
    cache->slots = NULL;
    cache->slot_count = 0;
    cache->used = 0;
    cache->filled = 0;
}

/* Whether one more entry has room now. */
static bool eni_cache_make_space(struct ali_eni_cache *cache, int64_t now_ms)
{
    if (cache->filled + 1 > cache->slot_count / 4 * 3) {
        eni_cache_rebuild(cache, cache->used * 4 / 3 + 1, now_ms);
    }
    if (cache->used >= cache->most) {
        eni_cache_rebuild(cache, cache->used + 1, now_ms);
    }
    if (cache->used >= cache->most) {
        drop_all(cache);
        eni_cache_rebuild(cache, 1, now_ms);
    }
    return cache->filled + 1 <= cache->slot_count / 4 * 3;
}

bool ali_eni_cache_get(struct ali_eni_cache *cache, const struct ccm_ip *ip, uint64_t owner,
                       int64_t now_ms, struct ali_eni *ret)
{
    bool known = false;

    ccm_lock(&cache->lock);

    const struct slot *slot = eni_cache_find_slot(cache, ip);

    if (slot != NULL && slot->end_ms > now_ms && slot_is_of(slot, owner)) {
        ret->state = slot->eni_state;
        ccm_text_copy(ret->id, sizeof(ret->id), slot->id);
        known = true;
    }
    ccm_unlock(&cache->lock);
    return known;
}

void ali_eni_cache_put(struct ali_eni_cache *cache, const struct ccm_ip *ip, uint64_t owner,
                       const struct ali_eni *eni, int64_t now_ms, int64_t end_ms)
{
    ccm_lock(&cache->lock);

    struct slot *slot = eni_cache_find_slot(cache, ip);

    if (strlen(eni->id) >= sizeof(slot->id)) {
        if (slot != NULL) {
            slot->slot_state = SLOT_DELETED;
            cache->used--;
        }
        ccm_unlock(&cache->lock);
        return;
    }
    if (slot == NULL && eni_cache_make_space(cache, now_ms)) {
        slot = free_slot(cache->slots, cache->slot_count, ip);
        cache->used++;
        cache->filled++;
    }
    if (slot != NULL) {
        const bool same = slot->slot_state == SLOT_USED && slot_is_of(slot, owner);
        const uint8_t before = same ? slot->misses : 0;

        *slot = (struct slot){
            .misses = (uint8_t)(eni->state == ALI_ENI_FOUND ? 0 : before + (before < UINT8_MAX)),
            .ip = *ip,
            .end_ms = end_ms,
            .owner = owner_fold(owner),
            .slot_state = SLOT_USED,
            .eni_state = (uint8_t)eni->state,
        };
        ccm_text_copy(slot->id, sizeof(slot->id), eni->id);
    }
    ccm_unlock(&cache->lock);
}

unsigned ali_eni_cache_misses(struct ali_eni_cache *cache, const struct ccm_ip *ip, uint64_t owner)
{
    ccm_lock(&cache->lock);
    const struct slot *slot = eni_cache_find_slot(cache, ip);
    const unsigned misses = slot == NULL || !slot_is_of(slot, owner) ? 0 : slot->misses;

    ccm_unlock(&cache->lock);
    return misses;
}

void ali_eni_cache_del(struct ali_eni_cache *cache, const struct ccm_ip *ip)
{
    ccm_lock(&cache->lock);

    struct slot *slot = eni_cache_find_slot(cache, ip);

    if (slot != NULL) {
        slot->slot_state = SLOT_DELETED;
        cache->used--;
    }
    ccm_unlock(&cache->lock);
}

size_t ali_eni_cache_len(struct ali_eni_cache *cache)
{
    ccm_lock(&cache->lock);
    const size_t len = cache->used;
    ccm_unlock(&cache->lock);
    return len;
}

int ali_eni_cache_cidrs_get(struct ali_eni_cache *cache, int64_t now_ms,
                            struct ccm_cidr ret[ALI_ENI_CIDRS_MAX])
{
    int count = -1;

    ccm_lock(&cache->lock);
    if (cache->cidr_end_ms > now_ms) {
        count = cache->cidr_count;
        memcpy(ret, cache->cidrs, (size_t)count * sizeof(*ret));
    }
    ccm_unlock(&cache->lock);
    return count;
}

void ali_eni_cache_cidrs_put(struct ali_eni_cache *cache, const struct ccm_cidr *cidrs, int count,
                             int64_t end_ms)
{
    ccm_lock(&cache->lock);
    memcpy(cache->cidrs, cidrs, (size_t)count * sizeof(*cidrs));
    cache->cidr_count = count;
    cache->cidr_end_ms = end_ms;
    ccm_unlock(&cache->lock);
}
