#include "sched/lanes.h"

static const unsigned weights[SCHED_LANES_COUNT] = { 8, 4, 2, 1 };

void sched_lanes_append(struct sched_lanes *lanes, uint64_t lane, struct sched_lanes_item *item)
{
    struct sched_lanes_list *list = &lanes->lists[lane];

    item->prev = list->tail;
    item->next = NULL;
    if (list->tail == NULL) {
        list->head = item;
    } else {
        list->tail->next = item;
    }
    list->tail = item;
    list->len++;
    lanes->len++;
}

void sched_lanes_remove(struct sched_lanes *lanes, uint64_t lane, struct sched_lanes_item *item)
{
    struct sched_lanes_list *list = &lanes->lists[lane];

    if (item->prev == NULL) {
        list->head = item->next;
    } else {
        item->prev->next = item->next;
    }
    if (item->next == NULL) {
        list->tail = item->prev;
    } else {
        item->next->prev = item->prev;
    }
    item->prev = NULL;
    item->next = NULL;
    list->len--;
    lanes->len--;
}

/* The most urgent lane that has both an item and a credit; SCHED_LANES_COUNT when there is none. */
static uint64_t find_credit(const struct sched_lanes *lanes)
{
    uint64_t lane = 0;

    while (lane < SCHED_LANES_COUNT &&
           (lanes->lists[lane].len == 0 || lanes->lists[lane].credits == 0)) {
        lane++;
    }
    return lane;
}

struct sched_lanes_item *sched_lanes_next(struct sched_lanes *lanes)
{
    if (lanes->len == 0) {
        return NULL;
    }

    uint64_t lane = find_credit(lanes);

    if (lane == SCHED_LANES_COUNT) {
        for (size_t i = 0; i < SCHED_LANES_COUNT; i++) {
            lanes->lists[i].credits = weights[i];
        }
        lane = find_credit(lanes);
    }

    struct sched_lanes_item *item = lanes->lists[lane].head;

    lanes->lists[lane].credits--;
    sched_lanes_remove(lanes, lane, item);
    return item;
}
