/*
 * Lanes of items, and whose turn it is (the rule stands in queue.h). In each lane items stand by
 * group, first in first out within one, and the groups take turns. Items and groups stand inside
 * other structs. Not synchronised.
 */
#ifndef CCM_SCHED_LANES_H
#define CCM_SCHED_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_LANES_COUNT 5
#define SCHED_LANES_ALL   ((1U << SCHED_LANES_COUNT) - 1)

struct sched_lanes_group;

struct sched_lanes_item {
    struct sched_lanes_item *prev;
    struct sched_lanes_item *next;
    struct sched_lanes_group *group; /* set before it is put into a lane */
};

/* What a group has in one lane. */
struct sched_lanes_queue {
    struct sched_lanes_item *head;
    struct sched_lanes_item *tail;
    struct sched_lanes_group *prev; /* in the order of turns, while there is an item */
    struct sched_lanes_group *next;
};

/* Zeroed = it has nothing in any lane. */
struct sched_lanes_group {
    struct sched_lanes_queue queues[SCHED_LANES_COUNT];
};

struct sched_lanes_lane {
    struct sched_lanes_group *first; /* whose turn it is */
    struct sched_lanes_group *last;
    size_t len; /* items */
    unsigned credits;
};

/* Zeroed = empty. */
struct sched_lanes {
    struct sched_lanes_lane lanes[SCHED_LANES_COUNT];
    size_t len; /* of all lanes together */
};

/* Whether lane a is more urgent than lane b; both < SCHED_LANES_COUNT. */
bool sched_lanes_is_before(uint64_t a, uint64_t b);

/* Put an item that is in no lane behind those of its group; lane < SCHED_LANES_COUNT. */
void sched_lanes_append(struct sched_lanes *lanes, uint64_t lane, struct sched_lanes_item *item);

/* Take out an item that is in that lane. */
void sched_lanes_remove(struct sched_lanes *lanes, uint64_t lane, struct sched_lanes_item *item);

/* Whether one of these lanes (bits 1U << lane) has an item. */
bool sched_lanes_has(const struct sched_lanes *lanes, unsigned which);

/* Take out the item of these lanes whose turn it is; NULL when they are empty. */
struct sched_lanes_item *sched_lanes_next(struct sched_lanes *lanes, unsigned which);

#endif
