#include "sched/heap.h"

#include "util/array.h"

#include <assert.h>
#include <stdlib.h>

void sched_heap_fini(struct sched_heap *heap)
{
    free(heap->items);
    *heap = (struct sched_heap){ 0 };
}

int sched_heap_reserve(struct sched_heap *heap, size_t count)
{
    return ccm_array_grow(&heap->items, &heap->cap, count, sizeof(struct sched_heap_item *));
}

static bool heap_is_before(const struct sched_heap_item *a, const struct sched_heap_item *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

static void heap_set_item(struct sched_heap *heap, size_t index, struct sched_heap_item *item)
{
    heap->items[index] = item;
    item->place = index + 1;
}

static void sift_up(struct sched_heap *heap, size_t index, struct sched_heap_item *item)
{
    while (index > 0) {
        const size_t parent = (index - 1) / 2;

        if (!heap_is_before(item, heap->items[parent])) {
            break;
        }
        heap_set_item(heap, index, heap->items[parent]);
        index = parent;
    }
    heap_set_item(heap, index, item);
}

static void sift_down(struct sched_heap *heap, size_t index, struct sched_heap_item *item)
{
    for (;;) {
        size_t child = 2 * index + 1;

        if (child + 1 < heap->len && heap_is_before(heap->items[child + 1], heap->items[child])) {
            child++;
        }
        if (child >= heap->len || !heap_is_before(heap->items[child], item)) {
            break;
        }
        heap_set_item(heap, index, heap->items[child]);
        index = child;
    }
    heap_set_item(heap, index, item);
}

void sched_heap_put(struct sched_heap *heap, struct sched_heap_item *item, int64_t due_ms)
{
    assert(item->place == 0 && heap->len < heap->cap);
    item->due_ms = due_ms;
    item->order = heap->next_order++;
    heap->len++;
    sift_up(heap, heap->len - 1, item);
}

void sched_heap_remove(struct sched_heap *heap, struct sched_heap_item *item)
{
    if (item->place == 0) {
        return;
    }

    const size_t index = item->place - 1;
    struct sched_heap_item *last = heap->items[heap->len - 1];

    heap->len--;
    item->place = 0;
    if (last == item) {
        return;
    }
    if (heap_is_before(last, item)) {
        sift_up(heap, index, last);
    } else {
        sift_down(heap, index, last);
    }
}

bool sched_heap_has(const struct sched_heap_item *item)
{
    return item->place != 0;
}

struct sched_heap_item *sched_heap_first(const struct sched_heap *heap)
{
    return heap->len == 0 ? NULL : heap->items[0];
}
