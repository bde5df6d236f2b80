#include "alicloud/quota/window.h"

void ali_window_init(struct ali_window *window, struct ali_window_slot *slots, size_t size)
{
    *window = (struct ali_window){ .slots = slots, .size = size };
}

static struct ali_window_slot *window_slot(const struct ali_window *window, size_t index)
{
    return &window->slots[(window->first + index) % window->size];
}

int64_t ali_window_count(struct ali_window *window, int64_t now_ms, int64_t span_ms)
{
    while (window->len > 0 && window_slot(window, 0)->last_ms + span_ms <= now_ms) {
        window->calls -= window_slot(window, 0)->count;
        window->first = (window->first + 1) % window->size;
        window->len--;
    }
    return window->calls;
}

void ali_window_add(struct ali_window *window, int64_t now_ms, int64_t span_ms)
{
    const int64_t length = span_ms / (int64_t)(window->size - 1);

    (void)ali_window_count(window, now_ms, span_ms); /* makes room */
    if (window->len == 0 || (window->len < window->size &&
                             now_ms - window_slot(window, window->len - 1)->first_ms > length)) {
        *window_slot(window, window->len++) = (struct ali_window_slot){ .first_ms = now_ms };
    }

    struct ali_window_slot *last = window_slot(window, window->len - 1);

    last->last_ms = now_ms;
    last->count++;
    window->calls++;
}

int64_t ali_window_when_free(const struct ali_window *window, int64_t count, int64_t span_ms)
{
    int64_t sum = 0;
    size_t i = 0;

    while (i + 1 < window->len && sum + window_slot(window, i)->count < count) {
        sum += window_slot(window, i++)->count;
    }
    return window->len == 0 ? 0 : window_slot(window, i)->last_ms + span_ms;
}
