/*
 * What a plugin says of objects, a number and a text each, for people: removals that it holds back
 * because nothing asks for them but nodes that are missing or not ready; ports that nobody serves;
 * quotas that are used nearly up, and their limits; what objects wait for. Every thread; one lock,
 * a leaf.
 */
#ifndef CCM_HELD_H
#define CCM_HELD_H

#include <stddef.h>
#include <stdint.h>

#define DAEMON_HELD_MAX ((size_t)10000) /* objects; what comes after them is not kept */

struct daemon_held;

struct daemon_held_item {
    const char *object;
    const char *reason;
    uint64_t count;
    int64_t since_ms; /* monotonic; since something of it is held */
};

/* NULL on ENOMEM. */
struct daemon_held *daemon_held_new(void);
/* NULL is fine. */
void daemon_held_free(struct daemon_held *held);

/* For CCM_CLEANUP. */
void daemon_held_freep(struct daemon_held **held);

/* note_held() and its like of struct ccm_host. Out of memory loses the entry, nothing else.
 */
void daemon_held_record(struct daemon_held *held, const char *object, uint64_t count,
                        const char *reason);

/* All removals that are held. */
uint64_t daemon_held_sum(struct daemon_held *held);
/* Objects of which something is. */
size_t daemon_held_count(struct daemon_held *held);

/* Call fn for up to `max` objects, those that are held longest first, under the lock: it may only
 * copy. */
void daemon_held_list(struct daemon_held *held, size_t max,
                      void (*fn)(void *arg, const struct daemon_held_item *item), void *arg);

#endif
