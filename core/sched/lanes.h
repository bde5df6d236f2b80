/*
 * Which of the keys that are ready comes next. Each key has a place, which waits in one lane or in
 * two. A lane holds its places by namespace, first in first out within one, and the namespaces take
 * turns. The lanes are served by weight (the rule stands in queue.h). Not synchronised.
 */
#ifndef CCM_SCHED_LANES_H
#define CCM_SCHED_LANES_H

#include "ccm/host.h"
#include "util/attr.h"
#include "util/strmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_LANES_COUNT 5
#define SCHED_LANES_ALL   ((1U << SCHED_LANES_COUNT) - 1)
/* Lanes that any worker may serve. */
#define SCHED_LANES_KEPT (1U << CCM_LANE_REMOVE | 1U << CCM_LANE_BACKENDS)

/* What a key was added with: the most urgent of the lanes, and whether one of them is kept. */
struct sched_wish {
    uint64_t lane;
    bool kept;
};

/* An unknown lane counts as CCM_LANE_BULK. */
struct sched_wish sched_wish_for(uint64_t lane);
struct sched_wish sched_wish_join(struct sched_wish a, struct sched_wish b);

struct sched_namespace; /* lives while it has a key */
struct sched_place;

struct sched_link {
    struct sched_place *prev;
    struct sched_place *next;
};

/* Inside of what is known about a key. Zeroed before sched_lanes_join(). */
struct sched_place {
    struct sched_namespace *space;
    struct sched_link links[2]; /* in the lane of its wish; in the lane backends */
    unsigned lanes;             /* where it waits, bits 1U << lane */
};

struct sched_lane {
    struct sched_namespace *first; /* has the turn */
    struct sched_namespace *last;
    size_t len; /* places */
    unsigned credits;
};

struct sched_lanes {
    struct ccm_strmap *spaces;
    struct sched_lane lanes[SCHED_LANES_COUNT];
    size_t len;   /* places in all lanes; one that waits in two lanes counts twice */
    size_t twice; /* places that wait in two lanes */
};

/* Empty. 0 or -ENOMEM. */
CCM_NODISCARD int sched_lanes_init(struct sched_lanes *lanes);
void sched_lanes_fini(struct sched_lanes *lanes);

/* Give the place its namespace, by its key "namespace/name". 0 or -ENOMEM. */
CCM_NODISCARD int sched_lanes_join(struct sched_lanes *lanes, struct sched_place *place,
                                   const char *key);
/* The key is not known any more; its place waits in no lane. */
void sched_lanes_leave(struct sched_lanes *lanes, const struct sched_place *place);

/*
 * Let the place wait in these lanes: none, one, or one and the lane backends. It keeps its position
 * in those where it waits already, and comes to the end of the others. Returns whether there are
 * others.
 */
bool sched_lanes_move(struct sched_lanes *lanes, struct sched_place *place, unsigned to);

/* Whether a place waits in one of these lanes. */
bool sched_lanes_has(const struct sched_lanes *lanes, unsigned which);

/* The place of these lanes that has the turn. It then waits in no lane. NULL: none waits there. */
struct sched_place *sched_lanes_next(struct sched_lanes *lanes, unsigned which);

#endif
