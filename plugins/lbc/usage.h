/*
 * How much is used of what the cloud limits, as far as mirrors tell: what one load balancer has,
 * what all have together, and in how many groups one server is. An entry of the mirrors remembers
 * what it was counted with. Servers of mirrors that are claimed just now are left out.
 * lbc/quota.h compares with the limits. Every thread; one lock, a leaf.
 */
#ifndef CCM_LBC_USAGE_H
#define CCM_LBC_USAGE_H

#include "lbc/apply/state.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lbc_quota {
    LBC_QUOTA_BACKENDS,  /* of one load balancer, in all its groups */
    LBC_QUOTA_LISTENERS, /* of one load balancer */
    LBC_QUOTA_SERVERS,   /* groups that one server is in */
    LBC_QUOTA_GROUPS,    /* all that are Services' own */
    LBC_QUOTA_LBS,       /* likewise */
    LBC_QUOTA_COUNT,
};

/* Of one entry. Zeroed: nothing. */
struct lbc_counts {
    uint32_t of[LBC_QUOTA_COUNT]; /* but for servers */
};

struct lbc_usage;

/* NULL on ENOMEM. */
struct lbc_usage *lbc_usage_new(void);
/* NULL is fine. */
void lbc_usage_free(struct lbc_usage *usage);

/* What the state, which is awake, comes to. reused: the load balancer is no Service's own. Pure. */
struct lbc_counts lbc_usage_count(const struct lbc_state *state, bool reused);
/* Count that in place of what the entry was counted with. Out of memory: it is not counted. */
void lbc_usage_replace(struct lbc_usage *usage, struct lbc_counts *old,
                       const struct lbc_counts *fresh);

/* The instances in the groups of a state that is awake come, or go. */
void lbc_usage_add_servers(struct lbc_usage *usage, const struct lbc_state *state);
void lbc_usage_remove_servers(struct lbc_usage *usage, const struct lbc_state *state);
/* A claim begins or ends; while there is one, servers may be missing. */
void lbc_usage_claim(struct lbc_usage *usage, bool begins);

/* What the object has that has most, or the sum. *ret_whole: nothing is left out. */
size_t lbc_usage_top(struct lbc_usage *usage, enum lbc_quota quota, bool *ret_whole);
/* One of the servers that are in most groups; false: there is none, or no memory. The caller frees
 * *ret. */
bool lbc_usage_find_server(struct lbc_usage *usage, char **ret);

#endif
