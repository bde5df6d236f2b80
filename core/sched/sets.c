#include "sched/sets.h"

#include "util/clock.h"
#include "util/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sched_sets_init(struct sched_sets *sets, size_t key_size, size_t common_max)
{
    int r;

    *sets = (struct sched_sets){ .key_size = key_size, .common_max = common_max };
    sets->keys = ccm_strmap_new(free);
    r = sets->keys == NULL ? -ENOMEM : sched_lanes_init(&sets->lanes);
    if (r == 0) {
        r = ccm_clock_cond_init(&sets->ready);
        if (r == 0) {
            return 0;
        }
        sched_lanes_fini(&sets->lanes);
    }
    ccm_strmap_free(sets->keys);
    return r;
}

void sched_sets_fini(struct sched_sets *sets)
{
    ccm_cond_fini(&sets->ready);
    sched_lanes_fini(&sets->lanes);
    ccm_strmap_free(sets->keys);
}

/* --- keys --- */

struct sched_key *sched_sets_find(const struct sched_sets *sets, const char *name)
{
    return ccm_strmap_get(sets->keys, name);
}

struct sched_key *sched_sets_make(struct sched_sets *sets, const char *name)
{
    const size_t size = strlen(name) + 1;
    char *memory = calloc(1, sets->key_size + size);
    struct sched_key *key = (struct sched_key *)(void *)memory;

    if (memory == NULL) {
        return NULL;
    }
    key->name = memcpy(memory + sets->key_size, name, size);
    if (sched_lanes_join(&sets->lanes, &key->place, name) < 0) {
        free(memory);
        return NULL;
    }
    if (ccm_strmap_set(sets->keys, name, key) < 0) {
        sched_lanes_leave(&sets->lanes, &key->place);
        free(memory);
        return NULL;
    }
    return key;
}

void sched_sets_drop(struct sched_sets *sets, struct sched_key *key)
{
    sched_lanes_leave(&sets->lanes, &key->place);
    ccm_strmap_del(sets->keys, key->name);
}

/* --- from dirty to done --- */

/* The lanes where the key waits for a worker. A change of backends does not lose the worker that is
 * kept for it when something more urgent is asked for as well: then these are two. */
static unsigned key_lanes(const struct sched_sets *sets, const struct sched_key *key)
{
    const unsigned own = 1U << key->wish.lane;

    if (!key->dirty || key->processing) {
        return 0;
    }
    return key->wish.kept && sets->common_max > 0 && (own & SCHED_LANES_KEPT) == 0
               ? own | 1U << CCM_LANE_BACKENDS
               : own;
}

static void sets_line_up(struct sched_sets *sets, struct sched_key *key, int64_t now_ms)
{
    if (sets->lanes.len == 0) {
        sets->ready_since_ms = now_ms;
    }
    if (sched_lanes_move(&sets->lanes, &key->place, key_lanes(sets, key))) {
        ccm_wake_one(&sets->ready); /* another lane may be open for a worker that waits */
    }
}

void sched_sets_add(struct sched_sets *sets, struct sched_key *key, struct sched_wish wish,
                    int64_t now_ms)
{
    key->wish = key->dirty ? sched_wish_join(key->wish, wish) : wish;
    if (!key->dirty) {
        key->dirty = true;
        key->dirty_ms = now_ms;
        sets->adds++;
    }
    sets_line_up(sets, key, now_ms);
}

unsigned sched_sets_open_lanes(const struct sched_sets *sets)
{
    return sets->common_max > 0 && sets->common >= sets->common_max ? SCHED_LANES_KEPT
                                                                    : SCHED_LANES_ALL;
}

struct sched_key *sched_sets_take(struct sched_sets *sets, unsigned which)
{
    struct sched_key *key = (struct sched_key *)sched_lanes_next(&sets->lanes, which);

    if (key != NULL) {
        key->dirty = false;
        key->processing = true;
        key->common = !key->wish.kept;
        sets->processing++;
        sets->common += key->common ? 1 : 0;
    }
    return key;
}

void sched_sets_done(struct sched_sets *sets, struct sched_key *key, int64_t now_ms)
{
    key->processing = false;
    sets->processing--;
    sets->common -= key->common ? 1 : 0;
    sets_line_up(sets, key, now_ms);
}

bool sched_sets_is_idle(const struct sched_sets *sets)
{
    return sets->processing == 0 && sets->lanes.len == 0;
}

int64_t sched_sets_oldest_ms(const struct sched_sets *sets, int64_t now_ms)
{
    int64_t since_ms = now_ms;
    void *cursor = NULL;
    void *value = NULL;

    while (sets->lanes.len > 0 && ccm_strmap_next(sets->keys, &cursor, NULL, &value) != 0) {
        const struct sched_key *key = value;

        if (key->place.lanes != 0 && key->dirty_ms < since_ms) {
            since_ms = key->dirty_ms;
        }
    }
    return now_ms - since_ms;
}
