#include "util/removal_budget.h"

#include <stddef.h>

#define PARTS 16 /* of a window: what is closer together is one note */

const struct ccm_option ccm_removal_opt_share = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_INT,
    .flags = CCM_OPTION_LIVE,
    .name = "removal_share_percent",
    .fallback = "50",
    .min = 0,
    .max = 100,
    .help =
        "Largest share of the routes of a table, or of the backends of a group, that goes within "
        "removal_window_s because nodes are missing or not ready; the rest is held, and told. Of "
        "up to three one goes at a time. 100: nothing is held.",
};
const struct ccm_option ccm_removal_opt_window = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_INT,
    .flags = CCM_OPTION_LIVE,
    .name = "removal_window_s",
    .fallback = "300",
    .min = 1,
    .max = 86400,
    .help =
        "The time that removal_share_percent is about. `ccmd allow-removals` lets everything go "
        "for as long.",
};
const struct ccm_option ccm_removal_opt_wait = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_INT,
    .flags = CCM_OPTION_LIVE,
    .name = "missing_wait_s",
    .fallback = "300",
    .min = 0,
    .max = 86400,
    .help = "How long an object has to be missing, on an API server that answers consistently all "
            "the while, before it counts as deleted when no watch saw its deletion.",
};

static bool is_within(const struct ccm_removal_rule *rule, int64_t at_ms, int64_t now_ms)
{
    return at_ms + rule->window_ms > now_ms;
}

static bool moment_counts(const struct ccm_removal_moment *note,
                          const struct ccm_removal_rule *rule, int64_t now_ms)
{
    return is_within(rule, note->size_ms, now_ms) ||
           (note->gone > 0 && is_within(rule, note->gone_ms, now_ms));
}

/* What may go in a window of something that had this size. */
static size_t allowed_share(const struct ccm_removal_rule *rule, size_t base)
{
    if (rule->share_percent >= 100) {
        return base;
    }
    if (rule->share_percent == 0 || base == 0) {
        return 0;
    }

    const size_t share = base / 100 * rule->share_percent + base % 100 * rule->share_percent / 100;

    return base <= CCM_REMOVAL_SMALL || share == 0 ? 1 : share;
}

/* What may still go at that time, if nothing else happens until then. */
static size_t left_at(const struct ccm_removal_budget *budget, const struct ccm_removal_rule *rule,
                      size_t size, int64_t at_ms)
{
    size_t largest = size;
    size_t gone = 0;

    if (rule->released_until_ms > at_ms) {
        return size;
    }
    for (size_t i = 0; i < budget->len; i++) {
        const struct ccm_removal_moment *note = &budget->notes[i];

        if (is_within(rule, note->size_ms, at_ms) && note->size > largest) {
            largest = note->size;
        }
        if (is_within(rule, note->gone_ms, at_ms)) {
            gone += note->gone;
        }
    }

    const size_t share = allowed_share(rule, largest < size + gone ? largest : size + gone);
    const size_t left = share > gone ? share - gone : 0;

    return left < size ? left : size;
}

static uint32_t clip_to_u32(size_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void budget_drop_old_moments(struct ccm_removal_budget *budget,
                                    const struct ccm_removal_rule *rule, int64_t now_ms)
{
    size_t kept = 0;

    for (size_t i = 0; i < budget->len; i++) {
        if (moment_counts(&budget->notes[i], rule, now_ms)) {
            budget->notes[kept++] = budget->notes[i];
        }
    }
    budget->len = kept;
}

/* Another window may have been set since the others were made: then there may be no place, and the
 * last note takes it in. */
static void budget_add_moment(struct ccm_removal_budget *budget,
                              const struct ccm_removal_rule *rule, size_t size, size_t count,
                              int64_t now_ms)
{
    struct ccm_removal_moment *last = NULL;

    budget_drop_old_moments(budget, rule, now_ms);
    last = budget->len == 0 ? NULL : &budget->notes[budget->len - 1];
    if (last == NULL ||
        (now_ms - last->from_ms >= rule->window_ms / PARTS && budget->len < CCM_REMOVAL_MOMENTS)) {
        last = &budget->notes[budget->len++];
        *last = (struct ccm_removal_moment){ .from_ms = now_ms };
    }
    last->size_ms = now_ms;
    if (count > 0) {
        last->gone_ms = now_ms;
        last->gone = clip_to_u32((size_t)last->gone + count);
    }
    last->size = clip_to_u32(size) > last->size ? clip_to_u32(size) : last->size;
}

size_t ccm_removal_allowed(struct ccm_removal_budget *budget, const struct ccm_removal_rule *rule,
                           size_t size, int64_t now_ms)
{
    budget_add_moment(budget, rule, size, 0, now_ms);
    return left_at(budget, rule, size, now_ms);
}

void ccm_removal_record(struct ccm_removal_budget *budget, const struct ccm_removal_rule *rule,
                        size_t size, size_t count, int64_t now_ms)
{
    budget_add_moment(budget, rule, size, count, now_ms);
}

int64_t ccm_removal_next_ms(const struct ccm_removal_budget *budget,
                            const struct ccm_removal_rule *rule, size_t size, int64_t now_ms)
{
    if (left_at(budget, rule, size, now_ms) > 0) {
        return now_ms;
    }
    for (size_t i = 0; i < budget->len; i++) {
        const int64_t at_ms = budget->notes[i].gone_ms + rule->window_ms;

        if (at_ms > now_ms && left_at(budget, rule, size, at_ms) > 0) {
            return at_ms;
        }
    }
    return CCM_REMOVAL_NEVER;
}

bool ccm_removal_is_idle(const struct ccm_removal_budget *budget,
                         const struct ccm_removal_rule *rule, int64_t now_ms)
{
    for (size_t i = 0; i < budget->len; i++) {
        if (moment_counts(&budget->notes[i], rule, now_ms)) {
            return false;
        }
    }
    return true;
}

void ccm_removal_release(struct ccm_removal_rule *rule, int64_t now_ms)
{
    rule->released_until_ms = now_ms + rule->window_ms;
}

int64_t ccm_removal_due_ms(const struct ccm_removal_rule *rule, int64_t missing_since_ms,
                           int64_t server_since_ms)
{
    if (server_since_ms == 0) {
        return CCM_REMOVAL_NEVER;
    }
    return (missing_since_ms > server_since_ms ? missing_since_ms : server_since_ms) +
           rule->missing_wait_ms;
}

int64_t ccm_removal_server_since(const struct ccm_host *host)
{
    return host->struct_size > offsetof(struct ccm_host, server_since_ms)
               ? host->server_since_ms(host)
               : 1;
}

void ccm_removal_record_held(const struct ccm_host *host, const char *object, uint64_t count,
                             const char *reason)
{
    if (host->struct_size > offsetof(struct ccm_host, note_held)) {
        host->note_held(host, object, count, reason);
    }
}

void ccm_removal_rule_read(struct ccm_removal_rule *rule, const struct ccm_host *host)
{
    rule->share_percent =
        (uint32_t)host->option_int(host, NULL, ccm_removal_opt_share.name); /* 0 to 100 */
    rule->window_ms = host->option_int(host, NULL, ccm_removal_opt_window.name) * 1000;
    rule->missing_wait_ms = host->option_int(host, NULL, ccm_removal_opt_wait.name) * 1000;
}
