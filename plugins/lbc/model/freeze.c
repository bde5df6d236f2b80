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

/* When it may go as far as time is concerned; CCM_REMOVAL_NEVER: something has to change. */
static int64_t due_of(const struct lbc_freeze_input *in, const struct lbc_freeze_case *one)
{
    if (one->cause == LBC_FREEZE_RULE || (one->cause == LBC_FREEZE_NOT_READY && in->staying == 0)) {
        return CCM_REMOVAL_NEVER;
    }
    return ccm_leaving_due_ms(in->rule, one->seen || one->cause == LBC_FREEZE_NOT_READY,
                              one->since_ms, in->server_since_ms, in->now_ms);
}

/* On a server that is not consistent now nothing can be due before again_ms. */
static struct ccm_leaving leaving_of(const struct lbc_freeze_input *in,
                                     const struct lbc_freeze_case *one)
{
    const bool missing = one->cause == LBC_FREEZE_NODE || one->cause == LBC_FREEZE_SLICE;
    const int64_t wait_ms = in->rule->missing_wait_ms;
    struct ccm_leaving leaving = { .due_ms = due_of(in, one),
                                   .provable = one->cause == LBC_FREEZE_NODE };

    leaving.rank = leaving.provable ? (one->seen ? 0 : 1) : missing ? 2 : 3;
    leaving.again_ms = leaving.due_ms;
    if (missing && leaving.due_ms == CCM_REMOVAL_NEVER) {
        leaving.again_ms = in->now_ms + (wait_ms < AGAIN_MIN_MS ? AGAIN_MIN_MS : wait_ms);
    }
    return leaving;
}

int64_t lbc_freeze_decide(const struct lbc_freeze_input *in, const struct lbc_freeze_case *cases,
                          struct ccm_leaving *ret, size_t count)
{
    struct ccm_removal_budget budget = budget_of(in);

    for (size_t i = 0; i < count; i++) {
        ret[i] = leaving_of(in, &cases[i]);
    }
    return ccm_leaving_decide(in->rule, &budget, in->size, in->now_ms, ret, count);
}
