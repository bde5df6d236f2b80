/*
 * Removals that a plugin holds back because they would go only since nodes are missing or not
 * ready: per object how many, and why. For people. Every thread; one lock, a leaf.
 */
#ifndef CCM_HELD_H
#define CCM_HELD_H

#include <stddef.h>
#include <stdint.h>

#define CCM_HELD_MAX ((size_t)10000) /* objects; what comes after them is not kept */

struct ccm_held;

struct ccm_held_item {
    const char *object;
    const char *reason;
    uint64_t count;
    int64_t since_ms; /* monotonic; since something of it is held */
};

/* NULL on ENOMEM. */
struct ccm_held *ccm_held_new(void);
/* NULL is fine. */
void ccm_held_free(struct ccm_held *held);

/* note_held() of struct ccm_host. Out of memory loses the entry, nothing else. */
void ccm_held_note(struct ccm_held *held, const char *object, uint64_t count, const char *reason);

/* All removals that are held. */
uint64_t ccm_held_sum(struct ccm_held *held);

/* Call fn for up to `max` objects, those that are held longest first, under the lock: it may only
 * copy. */
void ccm_held_list(struct ccm_held *held, size_t max,
                   void (*fn)(void *arg, const struct ccm_held_item *item), void *arg);

#endif
