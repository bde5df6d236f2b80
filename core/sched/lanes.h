/*
 * Four first-in-first-out lists and whose turn it is (the rule stands in queue.h). Items stand
 * inside other structs. Not synchronised.
 */
#ifndef CCM_SCHED_LANES_H
#define CCM_SCHED_LANES_H

#include <stddef.h>
#include <stdint.h>

#define SCHED_LANES_COUNT 4

struct sched_lanes_item {
    struct sched_lanes_item *prev;
    struct sched_lanes_item *next;
};

struct sched_lanes_list {
    struct sched_lanes_item *head;
    struct sched_lanes_item *tail;
    size_t len;
    unsigned credits;
};

/* Zeroed = empty. */
struct sched_lanes {
    struct sched_lanes_list lists[SCHED_LANES_COUNT];
    size_t len; /* of all lanes together */
};

/* Put an item that is in no lane at the end of one; lane < SCHED_LANES_COUNT. */
void sched_lanes_append(struct sched_lanes *lanes, uint64_t lane, struct sched_lanes_item *item);

/* Take out an item that is in that lane. */
void sched_lanes_remove(struct sched_lanes *lanes, uint64_t lane, struct sched_lanes_item *item);

/* Take out the item whose turn it is; NULL when all lanes are empty. */
struct sched_lanes_item *sched_lanes_next(struct sched_lanes *lanes);

#endif
