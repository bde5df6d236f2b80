/*
 * "Did you mean ...?": the nearest known name to one that nobody knows.
 *
 *     struct ccm_suggest s = { .wanted = "workerz" };
 *     ccm_suggest_offer(&s, "workers");
 *     ccm_suggest_best(&s);                               "workers"
 *
 * One thread at a time per struct; nothing is copied or allocated.
 */
#ifndef CCM_UTIL_SUGGEST_H
#define CCM_UTIL_SUGGEST_H

#include <stddef.h>

struct ccm_suggest {
    const char *wanted; /* borrowed */
    const char *best;   /* borrowed; NULL = nothing offered is near enough */
    size_t distance;    /* of best */
};

/* Longer texts are near nothing. */
#define CCM_SUGGEST_TEXT_MAX 128

/*
 * Smallest number of inserted, dropped, replaced or neighbour-swapped letters that turns one text
 * into the other; case does not count. SIZE_MAX when a text is longer than CCM_SUGGEST_TEXT_MAX.
 */
size_t ccm_suggest_distance(const char *a, const char *b);

/* Offer a known name. It is kept when it is nearer than the best so far and near enough: at most
 * a third of the letters wrong (one letter is always allowed, three at most). */
void ccm_suggest_offer(struct ccm_suggest *suggest, const char *known);

/* The nearest name offered, or NULL. */
const char *ccm_suggest_best(const struct ccm_suggest *suggest);

#endif
