#include "util/leaving.h"

#include "util/lease_event.h"

#include <errno.h>
#include <stdlib.h>

int64_t ccm_leaving_due_ms(const struct ccm_removal_rule *rule, bool seen, int64_t since_ms,
                           int64_t server_since_ms, int64_t now_ms)
{
    return seen ? now_ms : ccm_removal_due_ms(rule, since_ms, server_since_ms);
}

int ccm_leaving_see(const struct ccm_strmap *before, struct ccm_strmap *seen, const char *key,
                    int64_t now_ms, int64_t *ret_first_ms)
{
    const int64_t *first = before == NULL ? NULL : (const int64_t *)ccm_strmap_get(before, key);
    int64_t *copy = malloc(sizeof(*copy));

    *ret_first_ms = first == NULL ? 0 : *first;
    if (copy == NULL) {
        return -ENOMEM;
    }
    *copy = first == NULL ? now_ms : *first;
    if (ccm_strmap_set(seen, key, copy) < 0) {
        free(copy);
        return -ENOMEM;
    }
    return 0;
}

/* Returns how many go by the budget. */
static size_t choose_those_that_go(struct ccm_leaving *cases, size_t count, size_t allowed,
                                   int64_t now_ms)
{
    size_t gone = 0;

    for (unsigned rank = 0; rank < CCM_LEAVING_RANKS; rank++) {
        for (size_t i = 0; i < count && gone < allowed; i++) {
            struct ccm_leaving *one = &cases[i];

            if (one->rank == rank && !one->proven && one->due_ms <= now_ms) {
                one->goes = true;
                gone++;
            }
        }
    }
    return gone;
}

int64_t ccm_leaving_decide(const struct ccm_removal_rule *rule, struct ccm_removal_budget *budget,
                           size_t size, int64_t now_ms, struct ccm_leaving *cases, size_t count)
{
    const size_t allowed = ccm_removal_allowed(budget, rule, size, now_ms);
    const bool released = rule->released_until_ms > now_ms;
    struct ccm_removal_budget after = *budget;
    int64_t again_ms = CCM_REMOVAL_NEVER;
    int64_t next_ms = CCM_REMOVAL_NEVER;
    size_t gone = 0;

    for (size_t i = 0; i < count; i++) {
        cases[i].goes = released || cases[i].proven;
        cases[i].asks = false;
    }
    if (released) {
        return CCM_REMOVAL_NEVER;
    }
    gone = choose_those_that_go(cases, count, allowed, now_ms);
    ccm_removal_record(&after, rule, size, gone, now_ms);
    next_ms = ccm_removal_next_ms(&after, rule, size - gone, now_ms);
    for (size_t i = 0; i < count; i++) {
        struct ccm_leaving *one = &cases[i];
        const bool due = one->due_ms <= now_ms;

        if (!one->goes) {
            one->asks = due && one->provable;
            one->again_ms = due ? next_ms : one->again_ms;
            again_ms = one->again_ms < again_ms ? one->again_ms : again_ms;
        }
    }
    return again_ms;
}

void ccm_leaving_publish(const struct ccm_host *host, const struct ccm_leaving_held *held,
                         uint64_t *reported)
{
    const bool over = held->count == 0;
    const struct ccm_lease_standing what = { .warning = true,
                                             .topic = held->topic,
                                             .reason = "RemovalsHeld",
                                             .message = over ? "" : held->text };

    if (held->object != NULL) {
        ccm_removal_record_held(host, held->object, held->count, held->reason);
    }
    if (over ? *reported == 0 : *reported != 0 && held->count < 2 * *reported) {
        return;
    }
    if (!over) {
        host->log(host, CCM_LEVEL_WARN, NULL, "%s", held->text);
    }
    ccm_lease_stand(host, held->component, &what);
    *reported = held->count;
}
