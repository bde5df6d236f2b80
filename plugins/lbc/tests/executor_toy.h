/* A product that is a toy: its cloud, its mirror, and a plan of its steps, for tests of the
 * executor. */
#ifndef CCM_LBC_TESTS_EXECUTOR_TOY_H
#define CCM_LBC_TESTS_EXECUTOR_TOY_H

#include "check.h"

#include "lbc/apply/executor.h"
#include "lbc/apply/model.h"
#include "support/fake_host.h"
#include "util/attr.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOY_JOIN = LBC_STEP_OWN, TOY_LEAVE, TOY_TYPES };

static const struct lbc_step_row step_rows[] = {
    [LBC_STEP_CREATE_LB] = { .name = "make" },
    [LBC_STEP_DELETE_LB] = { .name = "drop" },
    [LBC_STEP_CREATE_GROUP] = { .name = "group" },
    [LBC_STEP_DELETE_GROUP] = { .name = "ungroup" },
    [LBC_STEP_ADD] = { .name = "add" },
    [LBC_STEP_REMOVE] = { .name = "remove" },
    [LBC_STEP_UPDATE] = { .name = "weigh" },
    [LBC_STEP_CREATE_LISTENER] = { .name = "listen" },
    [LBC_STEP_UPDATE_LISTENER] = { .name = "change" },
    [LBC_STEP_RESTORE_LISTENER] = { .name = "restore" },
    [LBC_STEP_DELETE_LISTENER] = { .name = "unlisten" },
    [TOY_JOIN] = { .name = "join" },
    [TOY_LEAVE] = { .name = "leave" },
};

static const struct lbc_state_type state_type = { .size = sizeof(struct lbc_state) +
                                                          sizeof(struct lbc_lb),
                                                  .lb_size = sizeof(struct lbc_lb),
                                                  .group_size = sizeof(struct lbc_group),
                                                  .listener_size = sizeof(struct lbc_listener),
                                                  .protocol_name = lbc_protocol_lower };

static const struct lbc_step_table table = { .size = sizeof(struct lbc_step),
                                             .state = &state_type,
                                             .rows = step_rows };

/* An answer that is no yes. */
struct rule {
    unsigned type;
    uint16_t port;
    size_t times; /* 0 = always */
    uint64_t kind;
    const char *code;
    enum lbc_job_state job; /* without a kind: what becomes of its job */
};

struct toy {
    struct lbc_apply lbc; /* first */
    struct fake_host *fake;
    struct lbc_cloud cloud;
    struct ccm_service service;
    struct lbc_plan plan;
    struct lbc_state have;
    struct lbc_lb lb; /* of `have` */
    struct lbc_state desired;
    struct lbc_lb desired_lb;
    struct lbc_problems problems;
    enum lbc_priority priority;
    bool uncertain;
    uint32_t attempt;
    struct rule rules[8];
    size_t rule_count;
    size_t quota;            /* of backends; 0 = none */
    const char *code;        /* of the refusal of what the cloud does not take */
    const char *unknown_ids; /* "i-003 i-007": backends that the cloud does not know; NULL = none */
    bool is_asked;           /* and says so */
    bool exists;             /* says find_gone_instances(), of all */
    size_t calls;
    int64_t call_ms; /* so long takes each */
    struct lbc_unknown *unknown;
    struct lbc_left_out left_out;
    bool sifting;
    struct ccm_buf log;
};

/* --- its cloud --- */

static struct rule *find_rule(struct toy *toy, const struct lbc_step *step)
{
    for (size_t i = 0; i < toy->rule_count; i++) {
        struct rule *rule = &toy->rules[i];

        if (rule->type == step->type && rule->port == step->port && rule->times != SIZE_MAX) {
            rule->times = rule->times == 1 ? SIZE_MAX : rule->times == 0 ? 0 : rule->times - 1;
            return rule;
        }
    }
    return NULL;
}

static size_t count_backends(const struct toy *toy)
{
    size_t count = 0;

    for (size_t i = 0; i < toy->have.group_count; i++) {
        count += toy->have.groups[i]->backends.len;
    }
    return count;
}

static bool is_unknown(const struct toy *toy, const char *id)
{
    return toy->unknown_ids != NULL && strstr(toy->unknown_ids, id) != NULL;
}

static bool has_unknown(const struct toy *toy, const struct lbc_backends *set)
{
    bool any = false;

    for (size_t i = 0; i < set->len; i++) {
        any = any || is_unknown(toy, set->items[i].server_id);
    }
    return any;
}

/* Believes none that is asked about without one that is there. */
static int toy_find_gone(const struct lbc_cloud_caller *by, const char *witness,
                         const char *const *ids, size_t count, bool *ret_gone,
                         struct ccm_error *err)
{
    struct toy *toy = by->account;
    bool telling = witness[0] != '\0' && !is_unknown(toy, witness);

    if (!toy->is_asked) {
        return ccm_error_set(err, -EAGAIN, CCM_ERROR_TRANSIENT, "somebody asks");
    }
    ccm_buf_addf(&toy->log, "ask x%zu; ", count);
    for (size_t i = 0; i < count; i++) {
        telling = telling || !is_unknown(toy, ids[i]);
    }
    for (size_t i = 0; i < count; i++) {
        ret_gone[i] = telling && !toy->exists && is_unknown(toy, ids[i]);
    }
    return 0;
}

static int refuse(struct ccm_error *err, uint64_t kind, const char *code)
{
    (void)ccm_error_set(err, -EIO, kind, "%s", code); /* the result is known */
    ccm_text_copy(err->code, sizeof(err->code), code);
    return -EIO;
}

static int toy_send(struct lbc_apply *base, struct lbc_step *step, struct ccm_error *err)
{
    struct toy *toy = (struct toy *)base;
    const struct rule *rule = find_rule(toy, step);
    const bool adds = step->type == LBC_STEP_ADD || step->type == LBC_STEP_CREATE_GROUP;

    toy->calls++;
    fake_host_advance(toy->fake, toy->call_ms);
    ccm_buf_addf(&toy->log, "%s %u", step_rows[step->type].name, step->port);
    if (step->backends.len > 0) {
        ccm_buf_addf(&toy->log, " x%zu", step->backends.len);
    }
    ccm_buf_adds(&toy->log, "; ");
    if (rule != NULL && rule->kind != CCM_ERROR_NONE) {
        return refuse(err, rule->kind, rule->code);
    }
    if (has_unknown(toy, &step->backends)) {
        return refuse(err, step->type == LBC_STEP_REMOVE ? CCM_ERROR_NOT_FOUND : CCM_ERROR_CONFLICT,
                      toy->code);
    }
    if (adds && toy->quota > 0 && count_backends(toy) + step->backends.len > toy->quota) {
        return refuse(err, CCM_ERROR_AUTH, "FullOfBackends");
    }
    if (step->type == LBC_STEP_CREATE_GROUP) {
        assert_int_equal(lbc_text_set(&step->sent.made_id, "sgp"), 0);
    }
    if (base->ops->wait != NULL) {
        (void)snprintf(step->sent.job, sizeof(step->sent.job), "%d",
                       rule == NULL ? LBC_JOB_DONE : (int)rule->job); /* one digit */
    }
    return 0;
}

static int toy_wait(struct lbc_apply *base, struct lbc_job *jobs, size_t count, int64_t timeout_ms,
                    struct ccm_error *err)
{
    int r = 0;

    (void)timeout_ms;
    ccm_buf_adds(&((struct toy *)base)->log, "* ");
    for (size_t i = 0; i < count; i++) {
        jobs[i].state = (enum lbc_job_state)(jobs[i].id[0] - '0');
        r = jobs[i].state == LBC_JOB_RUNNING
                ? ccm_error_set(err, -ETIMEDOUT, CCM_ERROR_TRANSIENT, "late")
                : r;
    }
    if (r < 0 && base->underway != NULL) {
        r = ccm_error_set(err, -EAGAIN, CCM_ERROR_THROTTLED, "still runs");
        err->retry_after_ms = 2000;
    }
    return r;
}

/* --- its mirror --- */

static int group_done(struct lbc_apply *base, struct lbc_step *step)
{
    step->group = lbc_state_new_group(base->have, &state_type);
    assert_non_null(step->group);
    assert_int_equal(lbc_text_set(&step->group->name, step->want->name), 0);
    step->group->id = CCM_STEAL(step->sent.made_id);
    for (size_t i = 0; i < step->backends.len; i++) {
        assert_int_equal(lbc_backends_put(&step->group->backends, &step->backends.items[i]), 0);
    }
    return 0;
}

#define TOY(done, flags)                                                                           \
    {                                                                                              \
        toy_send, done, flags                                                                      \
    }

static const struct lbc_step_ops step_ops[TOY_TYPES] = {
    [LBC_STEP_CREATE_LB] = TOY(NULL, LBC_ENDS_PLAN),
    [LBC_STEP_DELETE_LB] = TOY(NULL, 0),
    [LBC_STEP_CREATE_GROUP] = TOY(group_done, LBC_SIFTS),
    [LBC_STEP_DELETE_GROUP] = TOY(NULL, LBC_NEEDS_GROUP),
    [LBC_STEP_ADD] = TOY(NULL, LBC_NEEDS_GROUP | LBC_SIFTS),
    [LBC_STEP_REMOVE] = TOY(NULL, LBC_NEEDS_GROUP | LBC_SIFTS | LBC_TAKES_AWAY),
    [LBC_STEP_UPDATE] = TOY(NULL, LBC_NEEDS_GROUP | LBC_SIFTS),
    [LBC_STEP_CREATE_LISTENER] = TOY(NULL, LBC_NEEDS_GROUP),
    [LBC_STEP_UPDATE_LISTENER] = TOY(NULL, LBC_NEEDS_GROUP | LBC_NEEDS_LISTENER),
    [LBC_STEP_RESTORE_LISTENER] = TOY(NULL, LBC_NEEDS_LISTENER),
    [LBC_STEP_DELETE_LISTENER] = TOY(NULL, LBC_NEEDS_LISTENER),
    [TOY_JOIN] = { toy_send, NULL, LBC_SECURES, TOY_LEAVE },
    [TOY_LEAVE] = TOY(NULL, 0),
};

static bool never_blocked(const struct lbc_apply *base, const struct lbc_step *step)
{
    (void)base;
    (void)step;
    return false;
}

#define TOY_REFUSALS                                                                               \
    { "Gone", .means = LBC_REFUSAL_LB_GONE }, { "Full", .means = LBC_REFUSAL_NO_ROOM },            \
        { "FullOfListeners", .means = LBC_REFUSAL_LISTENERS_FULL },                                \
        { "FullOf*", .unless = "Listeners", .means = LBC_REFUSAL_GROUP_FULL },                     \
        { "Unknown", .means = LBC_REFUSAL_MEMBER | LBC_REFUSAL_SERVER },                           \
    {                                                                                              \
        "Elsewhere", .means = LBC_REFUSAL_MEMBER                                                   \
    }

static const struct lbc_refusal_row refusals[] = { TOY_REFUSALS, { .means = 0 } };
static const struct lbc_refusal_row refusals_of_groups[] = {
    TOY_REFUSALS,
    { "FullOf*", .unless = "Listeners", .means = LBC_REFUSAL_LB_FULL },
    { .means = 0 },
};

static const struct lbc_apply_ops with_jobs = {
    .steps = step_ops,
    .backends_name = "backends",
    .is_blocked = never_blocked,
    .wait = toy_wait,
    .refusals = refusals_of_groups,
};

static const struct lbc_apply_ops without_jobs = {
    .steps = step_ops,
    .backends_name = "backends",
    .is_blocked = never_blocked,
    .refusals = refusals,
};

static void toy_explain_failure(const struct ccm_error *err, struct lbc_failure *ret)
{
    ret->is_wait = err->kind == CCM_ERROR_AUTH;
}

static void forget_nothing(void *account, const char *address)
{
    (void)account;
    (void)address;
}

static const struct lbc_cloud_ops cloud_ops = { .explain = toy_explain_failure,
                                                .forget_interface = forget_nothing,
                                                .find_gone_instances = toy_find_gone };

/* --- a test --- */

static void toy_begin(struct toy *toy, const struct lbc_apply_ops *ops)
{
    memset(toy, 0, sizeof(*toy));
    toy->fake = fake_host_new();
    toy->cloud = (struct lbc_cloud){ .ops = &cloud_ops, .account = toy };
    toy->unknown = lbc_unknown_new(fake_host_table(toy->fake));
    assert_non_null(toy->unknown);
    toy->plan.table = &table;
    toy->problems = (struct lbc_problems)LBC_PROBLEMS_INIT;
    toy->priority = LBC_PRIO_SPEC;
    toy->log.max = 4096;
    toy->code = "Unknown";
    toy->service.meta.key = "default/web";
    toy->lbc = (struct lbc_apply){ .ops = ops,
                                   .cloud = &toy->cloud,
                                   .host = fake_host_table(toy->fake),
                                   .service = &toy->service,
                                   .priority = &toy->priority,
                                   .uncertain = &toy->uncertain,
                                   .have = &toy->have,
                                   .problems = &toy->problems,
                                   .attempt = &toy->attempt,
                                   .unknown = toy->unknown,
                                   .left_out = &toy->left_out,
                                   .sifting = &toy->sifting };
}

static void toy_end(struct toy *toy)
{
    lbc_plan_fini(&toy->plan);
    lbc_state_fini(&toy->have, &state_type);
    lbc_state_fini(&toy->desired, &state_type);
    lbc_problems_fini(&toy->problems);
    ccm_buf_fini(&toy->log);
    lbc_unknown_free(toy->unknown);
    lbc_left_out_fini(&toy->left_out);
    fake_host_free(toy->fake);
}

static void put(struct lbc_backends *to, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        char id[24];

        (void)snprintf(id, sizeof(id), "i-%03zu", i); /* short */
        assert_int_equal(lbc_backends_put(to, &(struct lbc_backend){ .server_id = id, .port = 80 }),
                         0);
    }
}

static struct lbc_group *group_of(const struct lbc_state *state, uint16_t port)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "g%u", port); /* short */
    for (size_t i = 0; i < state->group_count; i++) {
        if (strcmp(state->groups[i]->name, name) == 0) {
            return state->groups[i];
        }
    }
    return NULL;
}

static struct lbc_group *make_group(struct lbc_state *state, uint16_t port)
{
    struct lbc_group *group = lbc_state_new_group(state, &state_type);
    char name[16];

    (void)snprintf(name, sizeof(name), "g%u", port); /* short */
    assert_non_null(group);
    assert_int_equal(lbc_text_set(&group->name, name), 0);
    return group;
}

/* Backends `first`... of a step about the group that is called after the port. */
static struct lbc_step *plan_step(struct toy *toy, unsigned stage, unsigned type, uint16_t port,
                                  size_t first, size_t count)
{
    struct lbc_step *step = lbc_plan_new_step(&toy->plan, type, stage);
    struct lbc_group *want = group_of(&toy->desired, port);

    assert_non_null(step);
    step->port = port;
    step->protocol = LBC_TCP;
    step->want = want != NULL ? want : make_group(&toy->desired, port);
    step->group = group_of(&toy->have, port);
    put(&step->backends, first, count);
    return step;
}

static struct lbc_step *plan_listener(struct toy *toy, unsigned stage, unsigned type, uint16_t port)
{
    struct lbc_step *step = plan_step(toy, stage, type, port, 0, 0);

    step->to = calloc(1, sizeof(*step->to));
    assert_non_null(step->to);
    *step->to = (struct lbc_listener){ .protocol = LBC_TCP, .port = port, .last_port = port };
    step->listener = lbc_state_listener_like(&toy->have, step->to);
    return step;
}

static void present(struct toy *toy, uint16_t port, size_t backends)
{
    struct lbc_listener *listener = lbc_state_new_listener(&toy->have, &state_type);

    put(&make_group(&toy->have, port)->backends, 1, backends);
    assert_non_null(listener);
    listener->port = listener->last_port = port;
}

static void refuse_step(struct toy *toy, const struct rule *rule)
{
    toy->rules[toy->rule_count++] = *rule;
}

static void expect(struct toy *toy, const char *log, const char *problems)
{
    assert_int_equal(lbc_apply_run(&toy->lbc, &toy->plan), 0);
    assert_string_equal(ccm_buf_str(&toy->log), log);
    assert_string_equal(ccm_buf_str(&toy->problems.text), problems);
    toy_end(toy);
}

#endif
