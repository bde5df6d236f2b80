/*
 * Which item is due first: a binary min-heap of items that stand inside other structs. Equal times
 * keep the order in which they were put in. Not synchronised.
 */
#ifndef CCM_SCHED_HEAP_H
#define CCM_SCHED_HEAP_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_heap_item {
    int64_t due_ms;
    uint64_t order; /* set by the heap */
    size_t place;   /* set by the heap: 1-based, 0 = not in it */
};

/* Zeroed = empty. */
struct sched_heap {
    struct sched_heap_item **items;
    size_t len;
    size_t cap;
    uint64_t next_order;
};

/* Free the array; the items belong to the caller. */
void sched_heap_fini(struct sched_heap *heap);

/* Make room for `count` items, so that put() of so many cannot fail. 0 or -ENOMEM. */
CCM_NODISCARD int sched_heap_reserve(struct sched_heap *heap, size_t count);

/* Insert an item that is not in it; room was reserved. */
void sched_heap_put(struct sched_heap *heap, struct sched_heap_item *item, int64_t due_ms);

/* Take an item out, wherever it stands; nothing happens when it is not in it. */
void sched_heap_remove(struct sched_heap *heap, struct sched_heap_item *item);

bool sched_heap_has(const struct sched_heap_item *item);

/* Borrow the earliest item; NULL when empty. */
struct sched_heap_item *sched_heap_first(const struct sched_heap *heap);

#endif
