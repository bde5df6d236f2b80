/*
 * The keys of a queue, and which of them are dirty (to be worked on) and processing (with a
 * worker), as the type Queue of client-go. A dirty key that is not processing is ready: it waits in
 * lanes.h. Not synchronised: the caller has a lock, and waits with it for `ready`. Time is an
 * argument (monotonic ms).
 */
#ifndef CCM_SCHED_SETS_H
#define CCM_SCHED_SETS_H

#include "sched/lanes.h"

#include <pthread.h>

/* Begins what the caller knows about a key. */
struct sched_key {
    struct sched_place place;
    struct sched_wish wish; /* while dirty */
    int64_t dirty_ms;       /* since when */
    bool dirty;
    bool processing;
    bool common; /* while processing: it was added with no lane that is kept */
    const char *name;
};

struct sched_sets {
    struct ccm_strmap *keys;
    size_t key_size;   /* of what the caller knows about a key */
    size_t common_max; /* common keys that are processed at a time; 0 = any number */
    struct sched_lanes lanes;
    pthread_cond_t ready;   /* a key has become ready */
    int64_t ready_since_ms; /* while a key is ready: how long at most the oldest has waited */
    size_t processing;
    size_t common; /* of these */
    uint64_t adds; /* times a key became dirty */
};

/* Empty. 0 or a negative errno, then there is nothing to end. */
CCM_NODISCARD int sched_sets_init(struct sched_sets *sets, size_t key_size, size_t common_max);
void sched_sets_fini(struct sched_sets *sets);

/* NULL: it is not known. */
struct sched_key *sched_sets_find(const struct sched_sets *sets, const char *name);
/* Make a new key known, zeroed. NULL on ENOMEM. */
struct sched_key *sched_sets_make(struct sched_sets *sets, const char *name);
/* Forget a key that is neither dirty nor processing. */
void sched_sets_drop(struct sched_sets *sets, struct sched_key *key);

/* The key becomes dirty. It moves up to a more urgent lane, never down. */
void sched_sets_add(struct sched_sets *sets, struct sched_key *key, struct sched_wish wish,
                    int64_t now_ms);

/* The lanes that a worker may serve: without those that are not kept when they have common_max
 * workers. */
unsigned sched_sets_open_lanes(const struct sched_sets *sets);
/* Hand the next key of these lanes to a worker; NULL: none is ready. */
struct sched_key *sched_sets_take(struct sched_sets *sets, unsigned which);
/* The worker is through with it. When it is dirty, it is ready again. */
void sched_sets_done(struct sched_sets *sets, struct sched_key *key, int64_t now_ms);

/* No key is ready or processing. */
bool sched_sets_is_idle(const struct sched_sets *sets);
/* How long the oldest ready key has waited; 0: none is ready. */
int64_t sched_sets_oldest_ms(const struct sched_sets *sets, int64_t now_ms);

#endif
