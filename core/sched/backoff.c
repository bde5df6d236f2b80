#include "sched/backoff.h"

#include <stddef.h>

/* Of a wait: with more, an unlucky key would come twice as often as others. */
#define SPREAD_MAX_MS 300000

const struct sched_backoff_policy sched_backoff_default = {
    .rules = {
        [CCM_ERROR_TRANSIENT] = { 1500, 1200 * 1000, 0 },
        [CCM_ERROR_THROTTLED] = { 4000, 120 * 1000, 0 },
        [CCM_ERROR_CONFLICT] = { 4000, 1200 * 1000, 100 },
        [CCM_ERROR_NOT_FOUND] = { 1500, 1200 * 1000, 0 },
        [CCM_ERROR_AUTH] = { 30 * 1000, 1200 * 1000, 0 },
        [CCM_ERROR_TERMINAL] = { 600 * 1000, 3600 * 1000, 0 },
        [CCM_ERROR_CANCELLED] = { 0, 0, 0 },
        [CCM_ERROR_BUG] = { 600 * 1000, 3600 * 1000, 0 },
    },
};

static size_t row_of(uint64_t kind)
{
    return kind == CCM_ERROR_NONE || kind >= SCHED_BACKOFF_KINDS ? CCM_ERROR_TRANSIENT
                                                                 : (size_t)kind;
}

/* Evenly in [low, low + span]; span stays far below 2^32, so the product fits. */
static uint64_t backoff_pick_random(uint64_t low, uint64_t span, uint32_t random)
{
    return low + (((span + 1) * random) >> 32);
}

static uint64_t backoff_double_delay(const struct sched_backoff_rule *rule, uint8_t failures)
{
    uint64_t delay = rule->base_ms;

    if (rule->first_ms > 0 && failures == 0) {
        return rule->first_ms;
    }
    for (uint8_t i = rule->first_ms > 0 ? 1 : 0; i < failures && delay < rule->max_ms; i++) {
        delay *= 2;
    }
    return delay < rule->max_ms ? delay : rule->max_ms;
}

int64_t sched_backoff_next_ms(struct sched_backoff *state,
                              const struct sched_backoff_policy *policy,
                              const struct ccm_error *err, uint32_t random)
{
    const size_t row = row_of(err->kind);
    const struct sched_backoff_rule *rule = &policy->rules[row];
    const uint64_t hint = err->retry_after_ms < SCHED_BACKOFF_HINT_MAX_MS
                              ? err->retry_after_ms
                              : SCHED_BACKOFF_HINT_MAX_MS;

    if (rule->base_ms == 0) {
        return 0;
    }

    const uint8_t counted = state->failures[row];
    const uint8_t before = state->early && counted > 0 ? counted - 1 : counted;
    const uint64_t delay = backoff_double_delay(rule, before);

    state->failures[row] = before < UINT8_MAX ? before + 1 : before;
    state->early = false;
    if (row == CCM_ERROR_THROTTLED && hint > 0) {
        return (int64_t)backoff_pick_random(hint, hint / 2, random);
    }

    const uint64_t spread = delay / 2 < SPREAD_MAX_MS ? delay / 2 : SPREAD_MAX_MS;
    const uint64_t wait = backoff_pick_random(delay - spread, spread, random);

    /* Keys with the same hint do not all come in the same moment. */
    return (int64_t)(wait > hint ? wait : backoff_pick_random(hint, hint / 2, random));
}

int64_t sched_backoff_peek_ms(const struct sched_backoff *state,
                              const struct sched_backoff_policy *policy,
                              const struct ccm_error *err, int64_t *ret_most_ms)
{
    struct sched_backoff copy = *state;
    const int64_t next_ms = sched_backoff_next_ms(&copy, policy, err, UINT32_MAX);
    const int64_t most_ms = policy->rules[row_of(err->kind)].max_ms;

    *ret_most_ms = most_ms > next_ms ? most_ms : next_ms;
    return next_ms;
}

void sched_backoff_forget(struct sched_backoff *state)
{
    *state = (struct sched_backoff){ 0 };
}

uint32_t sched_backoff_failures(const struct sched_backoff *state)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < SCHED_BACKOFF_KINDS; i++) {
        sum += state->failures[i];
    }
    return sum;
}

uint32_t sched_backoff_random(uint64_t *state)
{
    /* A Weyl sequence, mixed by two multiply-xor rounds (the splitmix64 construction). */
    *state += UINT64_C(0x9e3779b97f4a7c15);

    uint64_t mixed = *state;

    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((mixed ^ (mixed >> 31)) >> 32);
}
