#include "lbc/model/freeze.h"

#include "util/array.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

#define AGAIN_MIN_MS 1000 /* to a look at a server that is not consistent yet */

/* --- what went --- */

void lbc_freeze_past_fini(struct lbc_freeze_past *past)
{
    for (size_t i = 0; i < past->len; i++) {
        free(past->items[i].server);
    }
    free(past->items);
    memset(past, 0, sizeof(*past));
}

void lbc_freeze_past_record(struct lbc_freeze_past *past, const struct lbc_backend *one,
                            size_t size, int64_t now_ms)
{
    const size_t server = strlen(one->server_id) + 1;
    const size_t address = strlen(one->server_ip) + 1;
    char *block = malloc(server + address);

    if (block == NULL ||
        ccm_array_grow(&past->items, &past->cap, past->len + 1, sizeof(*past->items)) < 0) {
        free(block);
        return;
    }
    memcpy(block, one->server_id, server);
    memcpy(block + server, one->server_ip, address);
    past->items[past->len++] = (struct lbc_freeze_gone){
        .server = block,
        .address = block + server,
        .port = one->port,
        .type = one->type,
        .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
        .at_ms = now_ms,
    };
}

static bool gone_counts(const struct lbc_freeze_gone *gone, const struct ccm_removal_rule *rule,
                        const struct lbc_backends *have, const struct lbc_backends *want,
                        int64_t now_ms)
{
    const struct lbc_backend backend = {
        .server_id = gone->server,
        .server_ip = gone->address,
        .port = gone->port,
        .type = gone->type,
    };

    return now_ms - gone->at_ms < rule->window_ms && lbc_backends_find(have, &backend) == NULL &&
           lbc_backends_find(want, &backend) == NULL;
}

void lbc_freeze_past_prune(struct lbc_freeze_past *past, const struct ccm_removal_rule *rule,
                           const struct lbc_backends *have, const struct lbc_backends *want,
                           int64_t now_ms)
{
    size_t kept = 0;

    for (size_t i = 0; i < past->len; i++) {
        if (gone_counts(&past->items[i], rule, have, want, now_ms)) {
            past->items[kept++] = past->items[i];
        } else {
            free(past->items[i].server);
        }
    }
    past->len = kept;
}

/* --- the rule --- */

static struct ccm_removal_budget budget_of(const struct lbc_freeze_input *in)
{
    struct ccm_removal_budget budget = { .len = 0 };

    for (size_t i = 0; i < in->past->len; i++) {
        ccm_removal_record(&budget, in->rule, in->past->items[i].size, 1, in->past->items[i].at_ms);
    }
    return budget;
}

/* When it may go as far as time is concerned; CCM_REMOVAL_NEVER: nobody can say. */
static int64_t due_of(const struct lbc_freeze_input *in, const struct lbc_freeze_case *one)
{
    if (one->cause == LBC_FREEZE_RULE) {
        return CCM_REMOVAL_NEVER;
    }
    if (one->cause == LBC_FREEZE_NOT_READY) {
        return in->staying > 0 ? in->now_ms : CCM_REMOVAL_NEVER;
    }
    return one->seen ? in->now_ms
                     : ccm_removal_due_ms(in->rule, one->since_ms, in->server_since_ms);
}

/* Who goes first: what is most certainly gone. */
static unsigned rank_of(const struct lbc_freeze_case *one)
{
    switch (one->cause) {
    case LBC_FREEZE_NODE:
        return one->seen ? 0 : 1;
    case LBC_FREEZE_SLICE:
        return 2;
    default:
        return 3;
    }
}

static size_t freeze_release_cases(const struct lbc_freeze_input *in, struct lbc_freeze_case *cases,
                                   size_t count, size_t allowed)
{
    size_t gone = 0;

    for (unsigned rank = 0; rank <= 3; rank++) {
        for (size_t i = 0; i < count && gone < allowed; i++) {
            if (rank_of(&cases[i]) == rank && due_of(in, &cases[i]) <= in->now_ms) {
                cases[i].goes = true;
                gone++;
            }
        }
    }
    return gone;
}

/* Of a server that is not consistent now nothing can be due before this. */
static int64_t again_of(const struct lbc_freeze_input *in, const struct lbc_freeze_case *one)
{
    const int64_t due = due_of(in, one);
    const int64_t wait = in->rule->missing_wait_ms;

    if (due != CCM_REMOVAL_NEVER || one->cause == LBC_FREEZE_NOT_READY ||
        one->cause == LBC_FREEZE_RULE) {
        return due;
    }
    return in->now_ms + (wait < AGAIN_MIN_MS ? AGAIN_MIN_MS : wait);
}

int64_t lbc_freeze_decide(const struct lbc_freeze_input *in, struct lbc_freeze_case *cases,
                          size_t count)
{
    struct ccm_removal_budget budget = budget_of(in);
    const bool released = in->rule->released_until_ms > in->now_ms;
    const size_t allowed = ccm_removal_allowed(&budget, in->rule, in->size, in->now_ms);
    int64_t again = CCM_REMOVAL_NEVER;
    size_t gone = 0;

    for (size_t i = 0; i < count; i++) {
        cases[i].goes = released;
        cases[i].asks = false;
    }
    if (released) {
        return CCM_REMOVAL_NEVER;
    }
    gone = freeze_release_cases(in, cases, count, allowed);
    ccm_removal_record(&budget, in->rule, in->size, gone, in->now_ms);

    const int64_t next = ccm_removal_next_ms(&budget, in->rule, in->size - gone, in->now_ms);

    for (size_t i = 0; i < count; i++) {
        const bool due = due_of(in, &cases[i]) <= in->now_ms;
        const int64_t when = due ? next : again_of(in, &cases[i]);

        if (cases[i].goes) {
            continue;
        }
        cases[i].asks = due && cases[i].cause == LBC_FREEZE_NODE;
        again = when < again ? when : again;
    }
    return again;
}
