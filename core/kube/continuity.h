/*
 * Whether it is one API server that answers, and since when. The caches say whether they are in
 * step with it, and what tells them that it is another one: versions that go backwards, a list of a
 * kind that is never empty without any object, a Lease that is not the one we wrote. Every thread;
 * one lock, a leaf.
 */
#ifndef CCM_KUBE_CONTINUITY_H
#define CCM_KUBE_CONTINUITY_H

#include "util/attr.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CCM_CONTINUITY_CACHES 64 /* what comes after them is not asked */

struct ccm_continuity {
    pthread_mutex_t lock; /* guards all below */
    size_t caches;
    uint64_t in_step; /* one bit per cache */
    int64_t since_ms; /* monotonic; 0 = not all caches were in step since the last break */
    uint64_t breaks;  /* how often it was another server */
    char reason[256]; /* of the last of them */
};

/* 0 or -ENOMEM. */
CCM_NODISCARD int ccm_continuity_init(struct ccm_continuity *continuity);
/* Nobody may use it any more. */
void ccm_continuity_fini(struct ccm_continuity *continuity);

/* One more cache, which is not in step yet. Returns its number. */
size_t ccm_continuity_add(struct ccm_continuity *continuity);

/* The cache holds what the server that answers has: a list, and all events since. Or: nobody knows
 * whether it does. */
void ccm_continuity_set(struct ccm_continuity *continuity, size_t cache, bool in_step);

/* It is another server than before, or one that was restored. reason: for people. */
void ccm_continuity_break(struct ccm_continuity *continuity, const char *reason);

/* server_since_ms() of struct ccm_host. */
int64_t ccm_continuity_since(struct ccm_continuity *continuity);

#endif
