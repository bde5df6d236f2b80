#include "alicloud/window.h"

#include <errno.h>
#include <stdlib.h>

#define PARTS     1024 /* of a span: ends within one of them are one group */
#define FIRST_CAP 16

int ali_window_init(struct ali_window *window)
{
    *window = (struct ali_window){ .groups = calloc(FIRST_CAP, sizeof(*window->groups)) };
    window->cap = window->groups == NULL ? 0 : FIRST_CAP;
    return window->groups == NULL ? -ENOMEM : 0;
}

void ali_window_fini(struct ali_window *window)
{
    free(window->groups);
    *window = (struct ali_window){ 0 };
}

static struct ali_window_group *window_group(const struct ali_window *window, size_t index)
{
    return &window->groups[(window->first + index) % window->cap];
}

/* NULL: there is no place, nor memory for more. */
static struct ali_window_group *window_add_group(struct ali_window *window)
{
    if (window->len == window->cap) {
        const size_t cap = window->cap == 0 ? FIRST_CAP : 2 * window->cap;
        struct ali_window_group *groups = calloc(cap, sizeof(*groups));

        if (groups == NULL) {
            return NULL;
        }
        for (size_t i = 0; i < window->len; i++) {
            groups[i] = *window_group(window, i);
        }
        free(window->groups);
        window->groups = groups;
        window->first = 0;
        window->cap = cap;
    }
    return window_group(window, window->len++);
}

void ali_window_begin(struct ali_window *window)
{
    window->running++;
}

void ali_window_cancel(struct ali_window *window)
{
    window->running--;
}

void ali_window_end(struct ali_window *window, int64_t now_ms, int64_t span_ms)
{
    struct ali_window_group *last = window->len == 0 ? NULL : window_group(window, window->len - 1);

    if (last == NULL || now_ms - last->first_ms > span_ms / PARTS) {
        struct ali_window_group *fresh = window_add_group(window);

        if (fresh != NULL) { /* there is always a first one */
            *fresh = (struct ali_window_group){ .first_ms = now_ms, .last_ms = now_ms };
            last = fresh;
        }
    }
    last->last_ms = now_ms;
    last->count++;
    window->ended++;
    window->running--;
}

int64_t ali_window_used(struct ali_window *window, int64_t now_ms, int64_t span_ms)
{
    while (window->len > 0 && window_group(window, 0)->last_ms + span_ms <= now_ms) {
        window->ended -= window_group(window, 0)->count;
        window->first = (window->first + 1) % window->cap;
        window->len--;
    }
    return window->ended + window->running;
}

int64_t ali_window_when_free(const struct ali_window *window, int64_t count, int64_t span_ms)
{
    int64_t sum = 0;
    size_t i = 0;

    while (i + 1 < window->len && sum + window_group(window, i)->count < count) {
        sum += window_group(window, i++)->count;
    }
    return window->len == 0 ? 0 : window_group(window, i)->last_ms + span_ms;
}
