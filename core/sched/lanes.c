#include "sched/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The most urgent first. */
static const struct {
    uint64_t lane;
    unsigned weight;
} order[SCHED_LANES_COUNT] = {
    { CCM_LANE_REMOVE, 8 },   { CCM_LANE_URGENT, 8 }, { CCM_LANE_SPEC, 4 },
    { CCM_LANE_BACKENDS, 2 }, { CCM_LANE_BULK, 1 },
};

/* What a namespace has in one lane. */
struct queue {
    struct sched_place *head;
    struct sched_place *tail;
    struct sched_namespace *prev; /* in the order of turns, while a place waits */
    struct sched_namespace *next;
};

struct sched_namespace {
    struct queue queues[SCHED_LANES_COUNT];
    size_t keys;
    char name[];
};

/* --- wishes --- */

static size_t lane_rank(uint64_t lane)
{
    size_t rank = 0;

    while (rank < SCHED_LANES_COUNT && order[rank].lane != lane) {
        rank++;
    }
    return rank;
}

struct sched_wish sched_wish_for(uint64_t lane)
{
    const uint64_t known = lane < SCHED_LANES_COUNT ? lane : CCM_LANE_BULK;

    return (struct sched_wish){ known, (SCHED_LANES_KEPT >> known & 1U) != 0 };
}

struct sched_wish sched_wish_join(struct sched_wish a, struct sched_wish b)
{
    return (struct sched_wish){ lane_rank(b.lane) < lane_rank(a.lane) ? b.lane : a.lane,
                                a.kept || b.kept };
}

/* --- namespaces --- */

int sched_lanes_init(struct sched_lanes *lanes)
{
    *lanes = (struct sched_lanes){ .spaces = ccm_strmap_new(free) };
    return lanes->spaces == NULL ? -ENOMEM : 0;
}

void sched_lanes_fini(struct sched_lanes *lanes)
{
    ccm_strmap_free(lanes->spaces);
}

int sched_lanes_join(struct sched_lanes *lanes, struct sched_place *place, const char *key)
{
    const char *slash = strchr(key, '/');
    const size_t len = slash == NULL ? 0 : (size_t)(slash - key);
    struct sched_namespace *fresh = calloc(1, sizeof(*fresh) + len + 1);

    if (fresh == NULL) {
        return -ENOMEM;
    }
    memcpy(fresh->name, key, len);
    place->space = ccm_strmap_get(lanes->spaces, fresh->name);
    if (place->space != NULL) {
        free(fresh);
    } else if (ccm_strmap_set(lanes->spaces, fresh->name, fresh) == 0) {
        place->space = fresh;
    } else {
        free(fresh);
        return -ENOMEM;
    }
    place->space->keys++;
    return 0;
}

void sched_lanes_leave(struct sched_lanes *lanes, const struct sched_place *place)
{
    if (--place->space->keys == 0) {
        ccm_strmap_del(lanes->spaces, place->space->name);
    }
}

static void lane_link_space(struct sched_lanes *lanes, uint64_t lane, struct sched_namespace *space)
{
    struct sched_lane *to = &lanes->lanes[lane];

    space->queues[lane].prev = to->last;
    space->queues[lane].next = NULL;
    if (to->last == NULL) {
        to->first = space;
    } else {
        to->last->queues[lane].next = space;
    }
    to->last = space;
}

static void lane_unlink_space(struct sched_lanes *lanes, uint64_t lane,
                              const struct sched_namespace *space)
{
    struct sched_lane *from = &lanes->lanes[lane];
    const struct queue *queue = &space->queues[lane];

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
}

/* --- places --- */

static struct sched_link *place_link(struct sched_place *place, uint64_t lane)
{
    return &place->links[lane == CCM_LANE_BACKENDS ? 1 : 0];
}

static void lane_append_place(struct sched_lanes *lanes, uint64_t lane, struct sched_place *place)
{
    struct queue *queue = &place->space->queues[lane];

    *place_link(place, lane) = (struct sched_link){ .prev = queue->tail };
    if (queue->tail == NULL) {
        queue->head = place;
        lane_link_space(lanes, lane, place->space);
    } else {
        place_link(queue->tail, lane)->next = place;
    }
    queue->tail = place;
    lanes->lanes[lane].len++;
    lanes->len++;
}

static void lane_remove_place(struct sched_lanes *lanes, uint64_t lane, struct sched_place *place)
{
    struct queue *queue = &place->space->queues[lane];
    const struct sched_link link = *place_link(place, lane);

    if (link.prev == NULL) {
        queue->head = link.next;
    } else {
        place_link(link.prev, lane)->next = link.next;
    }
    if (link.next == NULL) {
        queue->tail = link.prev;
    } else {
        place_link(link.next, lane)->prev = link.prev;
    }
    if (queue->head == NULL) {
        lane_unlink_space(lanes, lane, place->space);
    }
    lanes->lanes[lane].len--;
    lanes->len--;
}

static bool are_several(unsigned which)
{
    return (which & (which - 1)) != 0;
}

bool sched_lanes_move(struct sched_lanes *lanes, struct sched_place *place, unsigned to)
{
    const unsigned from = place->lanes;

    for (uint64_t lane = 0; lane < SCHED_LANES_COUNT; lane++) {
        if (((from & ~to) >> lane & 1U) != 0) {
            lane_remove_place(lanes, lane, place);
        }
    }
    for (uint64_t lane = 0; lane < SCHED_LANES_COUNT; lane++) {
        if (((to & ~from) >> lane & 1U) != 0) {
            lane_append_place(lanes, lane, place);
        }
    }
    lanes->twice -= are_several(from) ? 1 : 0;
    lanes->twice += are_several(to) ? 1 : 0;
    place->lanes = to;
    return (to & ~from) != 0;
}

/* --- the next one --- */

bool sched_lanes_has(const struct sched_lanes *lanes, unsigned which)
{
    bool has = false;

    for (size_t i = 0; i < SCHED_LANES_COUNT; i++) {
        has = has || ((which >> i & 1U) != 0 && lanes->lanes[i].len > 0);
    }
    return has;
}

/* The most urgent of these lanes that has both a place and a credit; SCHED_LANES_COUNT when there
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

struct sched_place *sched_lanes_next(struct sched_lanes *lanes, unsigned which)
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

    struct sched_namespace *space = lanes->lanes[lane].first;
    struct sched_place *place = space->queues[lane].head;

    lanes->lanes[lane].credits--;
    (void)sched_lanes_move(lanes, place, 0); /* nothing is added */
    if (space->queues[lane].head != NULL) {
        lane_unlink_space(lanes, lane, space);
        lane_link_space(lanes, lane, space);
    }
    return place;
}
