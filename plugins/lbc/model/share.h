/*
 * How much of the traffic each of several sets of servers gets, as whole weights of its servers.
 * Pure. Every thread.
 */
#ifndef CCM_LBC_SHARE_H
#define CCM_LBC_SHARE_H

#include <stddef.h>
#include <stdint.h>

#define LBC_SHARE_MAX   100     /* weight of one server */
#define LBC_SHARE_SETS  256     /* sets of one listener: so many a route may name */
#define LBC_SHARE_WORTH 1000000 /* largest weight of a set; larger ones count as this */

/* One set. */
struct lbc_share {
    uint64_t worth;         /* its weight among the others; 0 = it gets nothing */
    const uint32_t *inside; /* of each of its servers among the others of the set, 1 or more */
    uint32_t *weights;      /* out: of each, 0 to LBC_SHARE_MAX */
    size_t count;           /* of servers; 0 = the others get what would be its */
};

/*
 * Set `weights` of at most LBC_SHARE_SETS sets. What each set gets differs from its share by at
 * most 5 percent of the whole. Servers of one set that are worth the same get the same weight, and
 * each server of a set that is worth something gets some, as far as that leaves the shares so; if
 * not, weights of a set differ by one, then some of its servers get nothing, then a set that is
 * worth next to nothing gets nothing.
 */
void lbc_share_scale(const struct lbc_share *sets, size_t count);

#endif
