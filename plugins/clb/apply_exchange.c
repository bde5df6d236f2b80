#include "apply_exchange.h"

#include "apply_group.h"
#include "apply_parts.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct clb_exchange {
    const struct clb_step *step; /* borrowed: which group, how its backends are described */
    struct lbc_exchange way;
};

void clb_exchanges_fini(struct clb_exchanges *exchanges)
{
    for (size_t i = 0; i < exchanges->len; i++) {
        lbc_exchange_fini(&exchanges->items[i].way);
    }
    free(exchanges->items);
}

static bool exchange_is_full(const struct ccm_error *err)
{
    return strcmp(err->code, "InstanceBackendServerNumberOverLimit") == 0 ||
           strstr(err->message, "backend server number has reached to the quota limit") != NULL;
}

/* Of a step that goes out in several portions, the one that was refused has as many as a call. */
static size_t exchange_count_asked(struct clb_apply *apply, const struct clb_step *step)
{
    const struct lbc_group *group = clb_apply_group(apply, step);
    const size_t batch = atomic_load(&apply->clb->batch);
    size_t missing = 0;

    for (size_t i = 0; i < step->backends.len; i++) {
        missing +=
            group == NULL || lbc_backends_find(&group->backends, &step->backends.items[i]) == NULL;
    }
    return missing < batch ? missing : batch;
}

bool clb_exchange_record_full(struct clb_apply *apply, const struct clb_step *step,
                              struct clb_exchanges *exchanges, const struct ccm_error *err)
{
    struct lbc_usage usage = { 0 };

    if ((step->type != CLB_STEP_ADD && step->type != CLB_STEP_CREATE_GROUP) ||
        step->backends.len == 0 || !exchange_is_full(err)) {
        return false;
    }
    if (lbc_capacity_parse(err->message, &usage)) {
        lbc_capacity_set(&apply->capacity, &usage);
    } else {
        lbc_capacity_refuse(&apply->capacity, exchange_count_asked(apply, step));
    }
    ccm_error_copy(&exchanges->why, err);
    return true;
}

bool clb_exchange_is_due(const struct clb_apply *apply, const struct clb_step *step)
{
    return (step->type == CLB_STEP_ADD || step->type == CLB_STEP_CREATE_GROUP) &&
           step->backends.len > 0 && lbc_capacity_lacks(&apply->capacity, step->backends.len);
}

/* --- what is to be done --- */

static bool exchange_is_same_group(const struct clb_step *a, const struct clb_step *b)
{
    return ccm_text_equal(a->group_id, b->group_id) &&
           ccm_text_equal(a->group_name, b->group_name) &&
           ccm_text_equal(a->description, b->description);
}

/* What the step adds or removes and has not been so far. */
static int exchange_collect_step(const struct lbc_group *group, const struct clb_step *step,
                                 struct lbc_exchange *to)
{
    const bool removes = step->type == CLB_STEP_REMOVE;
    int r = 0;

    for (size_t i = 0; r == 0 && i < step->backends.len; i++) {
        const struct lbc_backend *one = &step->backends.items[i];

        if (removes == (lbc_backends_find(&group->backends, one) != NULL)) {
            r = lbc_backends_put(removes ? &to->remove : &to->add, one);
        }
    }
    return r;
}

/* Steps of one group stand together. */
static int exchange_collect(const struct lbc_group *group, const struct clb_plan *plan,
                            size_t *index, struct lbc_exchange *to)
{
    const struct clb_step *first = &plan->steps[*index];
    int r = exchange_collect_step(group, first, to);

    while (r == 0 && *index + 1 < plan->len) {
        const struct clb_step *step = &plan->steps[*index + 1];

        if ((step->type != CLB_STEP_ADD && step->type != CLB_STEP_REMOVE) ||
            !exchange_is_same_group(first, step)) {
            break;
        }
        r = exchange_collect_step(group, step, to);
        (*index)++;
    }
    to->stays = group->backends.len - to->remove.len;
    return r;
}

/* --- doing it --- */

static int exchange_fail_memory(struct clb_apply *apply, const struct clb_step *step)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = ccm_error_nomem(&err);

    return clb_apply_fail(apply, step, r, &err);
}

/* A call failed. Negative when the rest of the plan makes no sense. */
static int exchange_record_failure(struct clb_apply *apply, struct clb_exchange *exchange,
                                   const struct clb_step *step, const struct lbc_backends *part,
                                   int r, struct clb_exchanges *exchanges, struct ccm_error *err)
{
    struct lbc_exchange *way = &exchange->way;
    const bool adds = step->type == CLB_STEP_ADD;
    struct lbc_usage usage = { 0 };

    if (clb_apply_shrink_batch(apply, part->len, err)) {
        way->batch = atomic_load(&apply->clb->batch);
        return 0;
    }
    if (adds && exchange_is_full(err)) {
        const bool has_usage = lbc_capacity_parse(err->message, &usage);

        lbc_exchange_refuse(way, part, has_usage ? &usage : NULL);
        ccm_error_copy(&exchanges->why, err);
        return 0;
    }
    lbc_exchange_fail(way, adds ? LBC_EXCHANGE_ADD : LBC_EXCHANGE_REMOVE);
    return clb_apply_fail(apply, step, r, err);
}

static int exchange_move(struct clb_apply *apply, struct clb_exchange *exchange,
                         enum lbc_exchange_move move, const struct lbc_backends *part,
                         struct clb_exchanges *exchanges)
{
    const enum lbc_priority priority = apply->call.priority;
    struct ccm_error err = CCM_ERROR_INIT;
    struct clb_step step = *exchange->step; /* borrows */
    int r;

    step.type = move == LBC_EXCHANGE_ADD ? CLB_STEP_ADD : CLB_STEP_REMOVE;
    step.backends = *part; /* borrowed, for messages */
    if (move == LBC_EXCHANGE_REMOVE) {
        apply->call.priority = LBC_PRIO_REMOVE;
    }
    r = clb_apply_backends(apply, &step, part, &err);
    apply->call.priority = priority;
    if (r < 0) {
        return exchange_record_failure(apply, exchange, &step, part, r, exchanges, &err);
    }
    apply->writes++;
    lbc_exchange_done(&exchange->way, move, part);
    return 0;
}

static int exchange_run_moves(struct clb_apply *apply, struct clb_exchange *exchange,
                              struct clb_exchanges *exchanges)
{
    int r = 0;

    while (r == 0) {
        CCM_CLEANUP(lbc_backends_fini) struct lbc_backends part = { 0 };
        enum lbc_exchange_move move;

        if (lbc_exchange_next(&exchange->way, &move, &part) < 0) {
            return exchange_fail_memory(apply, exchange->step);
        }
        if (move == LBC_EXCHANGE_END) {
            break;
        }
        r = clb_apply_check_cancelled(apply);
        if (r == 0) {
            r = exchange_move(apply, exchange, move, &part, exchanges);
        }
    }
    return r;
}

/* A group is made without backends: an earlier one may have to go before they fit. */
static int exchange_make_group(struct clb_apply *apply, const struct clb_step *step)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = clb_apply_empty_group(apply, step, &err);

    if (r < 0) {
        return clb_apply_fail(apply, step, r, &err);
    }
    apply->writes++;
    return 0;
}

int clb_exchange_run(struct clb_apply *apply, const struct clb_plan *plan, size_t *index,
                     struct clb_exchanges *exchanges)
{
    const struct clb_step *step = &plan->steps[*index];
    const struct lbc_group *group = NULL;
    struct clb_exchange *exchange = NULL;
    int r = step->type == CLB_STEP_CREATE_GROUP ? exchange_make_group(apply, step) : 0;

    group = r < 0 ? NULL : clb_apply_group(apply, step);
    if (group == NULL) {
        return r; /* told above */
    }
    if (ccm_array_grow(&exchanges->items, &exchanges->cap, exchanges->len + 1,
                       sizeof(*exchanges->items)) < 0) {
        return exchange_fail_memory(apply, step);
    }
    exchange = &exchanges->items[exchanges->len++];
    *exchange = (struct clb_exchange){
        .step = step,
        .way = { .capacity = &apply->capacity, .batch = atomic_load(&apply->clb->batch) },
    };
    r = exchange_collect(group, plan, index, &exchange->way);
    return r < 0 ? exchange_fail_memory(apply, step)
                 : exchange_run_moves(apply, exchange, exchanges);
}

/* --- in the end --- */

static int exchange_report_rest(struct clb_apply *apply, const struct clb_exchange *exchange,
                                const struct ccm_error *why)
{
    const struct lbc_exchange *way = &exchange->way;
    struct ccm_error err;
    struct clb_step step = *exchange->step; /* borrows */

    ccm_error_copy(&err, why);
    step.type = CLB_STEP_ADD;
    apply->call.uncertain = false;
    return clb_apply_fail(apply, &step,
                          ccm_error_wrap(&err, -ENOSPC, "%zu of %zu backends fit", way->stays,
                                         way->stays + way->add.len),
                          &err);
}

int clb_exchanges_finish(struct clb_apply *apply, struct clb_exchanges *exchanges)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < exchanges->len; i++) {
        struct clb_exchange *exchange = &exchanges->items[i];
        struct lbc_exchange *way = &exchange->way;

        if (way->is_failed || way->add.len == 0) {
            continue; /* told, or complete */
        }
        if (!lbc_capacity_lacks(&apply->capacity, 1)) {
            lbc_exchange_renew(way);
            r = exchange_run_moves(apply, exchange, exchanges);
        }
        if (r == 0 && way->add.len > 0 && !way->is_failed) {
            r = exchange_report_rest(apply, exchange, &exchanges->why);
        }
    }
    return r;
}
