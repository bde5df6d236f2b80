/*
 * Four first-in-first-out lists and whose turn it is (the rule is told in queue.h). Items stand
 * inside other structs. Not synchronised.
 */
#ifndef CCM_SCHED_LANES_H
#define CCM_SCHED_LANES_H

#include <stddef.h>
#include <stdint.h>

#define CCM_LANES_COUNT 4

struct ccm_lanes_item {
    struct ccm_lanes_item *prev;
    struct ccm_lanes_item *next;
};

struct ccm_lanes_list {
    struct ccm_lanes_item *head;
    struct ccm_lanes_item *tail;
    size_t len;
    unsigned credits;
};

/* Zeroed = empty. */
struct ccm_lanes {
    struct ccm_lanes_list lists[CCM_LANES_COUNT];
    size_t len; /* of all lanes together */
};

/* Put an item that is in no lane at the end of one; lane < CCM_LANES_COUNT. */
void ccm_lanes_append(struct ccm_lanes *lanes, uint64_t lane, struct ccm_lanes_item *item);

/* Take out an item that is in that lane. */
void ccm_lanes_remove(struct ccm_lanes *lanes, uint64_t lane, struct ccm_lanes_item *item);

/* Take out the item whose turn it is; NULL when all lanes are empty. */
struct ccm_lanes_item *ccm_lanes_next(struct ccm_lanes *lanes);

#endif
