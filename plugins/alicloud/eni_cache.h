/*
 * Address -> interface, with time to live. A flat hash table: a cluster may have many pods, so an
 * entry is 64 bytes and nothing is allocated per entry. Bounded: at the limit it starts over.
 * Every thread.
 */
#ifndef CCM_ALICLOUD_ENI_CACHE_H
#define CCM_ALICLOUD_ENI_CACHE_H

#include "alicloud/eni.h"
#include "util/cidr.h"

struct ali_eni_cache;

/* `most` entries at most. NULL on ENOMEM. */
struct ali_eni_cache *ali_eni_cache_new(size_t most);
void ali_eni_cache_free(struct ali_eni_cache *cache);

/* Whether there is a live entry for this owner; 0 = for any. */
bool ali_eni_cache_get(struct ali_eni_cache *cache, const struct ccm_ip *ip, uint64_t owner,
                       int64_t now_ms, struct ali_eni *ret);

/* Remember until end_ms. Best effort: without memory, or with an id too long for the table, it is
 * not remembered. */
void ali_eni_cache_put(struct ali_eni_cache *cache, const struct ccm_ip *ip, uint64_t owner,
                       const struct ali_eni *eni, int64_t now_ms, int64_t end_ms);

/* How often in a row it was remembered as not found for this owner; also of an entry that is not
 * live any more. */
unsigned ali_eni_cache_misses(struct ali_eni_cache *cache, const struct ccm_ip *ip, uint64_t owner);

void ali_eni_cache_del(struct ali_eni_cache *cache, const struct ccm_ip *ip);

size_t ali_eni_cache_len(struct ali_eni_cache *cache);

/* Blocks of the VPC, kept here too. get: the number of blocks copied to ret (at most max), or -1
 * when unknown or too old. */
#define ALI_ENI_CIDRS_MAX 64
int ali_eni_cache_cidrs_get(struct ali_eni_cache *cache, int64_t now_ms,
                            struct ccm_cidr ret[ALI_ENI_CIDRS_MAX]);
void ali_eni_cache_cidrs_put(struct ali_eni_cache *cache, const struct ccm_cidr *cidrs, int count,
                             int64_t end_ms);

#endif
