#include "alicloud/window.h"

static struct ali_window_slot *window_slot(struct ali_window *window, size_t index)
{
    return &window->slots[(window->first + index) % ALI_WINDOW_SLOTS];
}

void ali_window_begin(struct ali_window *window)
{
    window->running++;
}

void ali_window_cancel(struct ali_window *window)
{
    window->running--;
}

int64_t ali_window_used(struct ali_window *window, int64_t now_ms, int64_t span_ms)
{
    while (window->len > 0 && window_slot(window, 0)->last_ms + span_ms <= now_ms) {
        window->ended -= window_slot(window, 0)->count;
        window->first = (window->first + 1) % ALI_WINDOW_SLOTS;
        window->len--;
    }
    return window->ended + window->running;
}

void ali_window_end(struct ali_window *window, int64_t now_ms, int64_t span_ms)
{
    const int64_t length = span_ms / (ALI_WINDOW_SLOTS - 1);

    (void)ali_window_used(window, now_ms, span_ms); /* makes room */
    if (window->len == 0 || (window->len < ALI_WINDOW_SLOTS &&
                             now_ms - window_slot(window, window->len - 1)->first_ms > length)) {
        *window_slot(window, window->len++) = (struct ali_window_slot){ .first_ms = now_ms };
    }

    struct ali_window_slot *last = window_slot(window, window->len - 1);

    last->last_ms = now_ms;
    last->count++;
    window->ended++;
    window->running--;
}

int64_t ali_window_when_free(struct ali_window *window, int64_t count, int64_t span_ms)
{
    int64_t sum = 0;
    size_t i = 0;

    while (i + 1 < window->len && sum + window_slot(window, i)->count < count) {
        sum += window_slot(window, i++)->count;
    }
    return window->len == 0 ? 0 : window_slot(window, i)->last_ms + span_ms;
}
