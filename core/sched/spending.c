#include "sched/spending.h"

#include <string.h>

#define HOUR_S 3600

void sched_spending_add(struct sched_spending *spending, uint32_t calls)
{
    spending->open += calls < UINT32_MAX - spending->open ? calls : UINT32_MAX - spending->open;
}

static void spending_drop_try(struct sched_spending *spending)
{
    spending->len--;
    memmove(spending->tries, spending->tries + 1, spending->len * sizeof(spending->tries[0]));
}

static void spending_note_try(struct sched_spending *spending, uint32_t at_s, uint32_t calls)
{
    while (spending->len > 0 && spending->tries[0].at_s + HOUR_S <= at_s) {
        spending_drop_try(spending);
    }
    if (spending->len == SCHED_SPENDING_TRIES) { /* others asked for it: two count as one */
        spending->tries[1].calls += spending->tries[0].calls;
        spending_drop_try(spending);
    }
    spending->tries[spending->len++] = (struct sched_spending_try){ at_s, calls };
}

/* How many of the oldest tries have to be an hour old before the next one. */
static uint8_t spending_count_due(const struct sched_spending *spending)
{
    uint64_t sum = 0;
    uint32_t next = 0;
    uint8_t due = spending->len == SCHED_SPENDING_TRIES ? 1 : 0;

    for (uint8_t i = 0; i < spending->len; i++) {
        sum += spending->tries[i].calls;
        next = spending->tries[i].calls > next ? spending->tries[i].calls : next;
    }
    for (uint8_t i = 0; i < due; i++) {
        sum -= spending->tries[i].calls;
    }
    while (due < spending->len && sum + next > SCHED_SPENDING_HOUR) {
        sum -= spending->tries[due++].calls;
    }
    return due;
}

int64_t sched_spending_fail(struct sched_spending *spending, int64_t now_ms)
{
    const uint32_t calls = spending->open;

    if (!spending->failing) {
        spending->failing = true;
        spending->since_ms = now_ms;
    }
    spending->open = 0;

    const int64_t at_ms = now_ms - spending->since_ms;

    if (at_ms < HOUR_S * INT64_C(1000)) {
        return 0;
    }
    spending_note_try(spending, (uint32_t)((at_ms + 999) / 1000), calls);

    const uint8_t due = spending_count_due(spending);
    const int64_t dear_ms =
        calls <= SCHED_SPENDING_HOUR ? 0 : calls * INT64_C(1000) * HOUR_S / SCHED_SPENDING_HOUR;
    const int64_t most_ms = dear_ms < SCHED_SPENDING_MOST_MS ? dear_ms : SCHED_SPENDING_MOST_MS;
    const int64_t wait_ms =
        due == 0 ? 0 : (spending->tries[due - 1].at_s + HOUR_S) * INT64_C(1000) - at_ms;

    return wait_ms > most_ms ? wait_ms : most_ms;
}
