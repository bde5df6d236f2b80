#include "sched/lanes.h"

#include "ccm/host.h"

/* The most urgent first. */
static const struct {
    uint64_t lane;
    unsigned weight;
} order[SCHED_LANES_COUNT] = {
    { CCM_LANE_REMOVE, 8 },   { CCM_LANE_URGENT, 8 }, { CCM_LANE_SPEC, 4 },
    { CCM_LANE_BACKENDS, 2 }, { CCM_LANE_BULK, 1 },
};

static size_t lane_rank(uint64_t lane)
{
    size_t rank = 0;

    while (rank < SCHED_LANES_COUNT && order[rank].lane != lane) {
        rank++;
    }
    return rank;
}

bool sched_lanes_is_before(uint64_t a, uint64_t b)
{
    return lane_rank(a) < lane_rank(b);
}

/* --- turns of groups --- */

static void lane_link_group(struct sched_lanes *lanes, uint64_t lane,
                            struct sched_lanes_group *group)
{
    struct sched_lanes_lane *to = &lanes->lanes[lane];

    group->queues[lane].prev = to->last;
    group->queues[lane].next = NULL;
    if (to->last == NULL) {
        to->first = group;
    } else {
        to->last->queues[lane].next = group;
    }
    to->last = group;
}

static void lane_unlink_group(struct sched_lanes *lanes, uint64_t lane,
                              struct sched_lanes_group *group)
{
    struct sched_lanes_lane *from = &lanes->lanes[lane];
    struct sched_lanes_queue *queue = &group->queues[lane];

    if (queue->prev == NULL) {
        from->first = queue->next;
    } else {
        queue->prev->queues[lane].next = queue->next;
    }
    if (queue->next == NULL) {
        from->last = queue->prev;
    } else {
        queue->next->queues[lane].prev = queue->prev;
    }
    queue->prev = NULL;
    queue->next = NULL;
}

/* --- items --- */

void sched_lanes_append(struct sched_lanes *lanes, uint64_t lane, struct sched_lanes_item *item)
{
    struct sched_lanes_queue *queue = &item->group->queues[lane];

    item->prev = queue->tail;
    item->next = NULL;
    if (queue->tail == NULL) {
        queue->head = item;
        lane_link_group(lanes, lane, item->group);
    } else {
        queue->tail->next = item;
    }
    queue->tail = item;
    lanes->lanes[lane].len++;
    lanes->len++;
}

void sched_lanes_remove(struct sched_lanes *lanes, uint64_t lane, struct sched_lanes_item *item)
{
    struct sched_lanes_queue *queue = &item->group->queues[lane];

    if (item->prev == NULL) {
        queue->head = item->next;
    } else {
        item->prev->next = item->next;
    }
    if (item->next == NULL) {
        queue->tail = item->prev;
    } else {
        item->next->prev = item->prev;
    }
    item->prev = NULL;
    item->next = NULL;
    if (queue->head == NULL) {
        lane_unlink_group(lanes, lane, item->group);
    }
    lanes->lanes[lane].len--;
    lanes->len--;
}

bool sched_lanes_has(const struct sched_lanes *lanes, unsigned which)
{
    bool has = false;

    for (size_t i = 0; i < SCHED_LANES_COUNT; i++) {
        has = has || ((which >> i & 1U) != 0 && lanes->lanes[i].len > 0);
    }
    return has;
}

/* The most urgent of these lanes that has both an item and a credit; SCHED_LANES_COUNT when there
 * is none. */
static uint64_t find_credit(const struct sched_lanes *lanes, unsigned which)
{
    for (size_t i = 0; i < SCHED_LANES_COUNT; i++) {
        const uint64_t lane = order[i].lane;

        if ((which >> lane & 1U) != 0 && lanes->lanes[lane].len > 0 &&
            lanes->lanes[lane].credits > 0) {
            return lane;
        }
    }
    return SCHED_LANES_COUNT;
}

struct sched_lanes_item *sched_lanes_next(struct sched_lanes *lanes, unsigned which)
{
    if (!sched_lanes_has(lanes, which)) {
        return NULL;
    }

    uint64_t lane = find_credit(lanes, which);

    if (lane == SCHED_LANES_COUNT) {
        for (size_t i = 0; i < SCHED_LANES_COUNT; i++) {
            lanes->lanes[order[i].lane].credits = order[i].weight;
        }
        lane = find_credit(lanes, which);
    }

    struct sched_lanes_group *group = lanes->lanes[lane].first;
    struct sched_lanes_item *item = group->queues[lane].head;

    lanes->lanes[lane].credits--;
    sched_lanes_remove(lanes, lane, item);
    if (group->queues[lane].head != NULL) {
        lane_unlink_group(lanes, lane, group);
        lane_link_group(lanes, lane, group);
    }
    return item;
}
