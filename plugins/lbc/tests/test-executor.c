/* What a failure means for the other steps of a plan, with jobs and without; the product is a toy.
 */
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
    struct lbc_unknown *unknown;
    struct lbc_left_out left_out;
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
        ret_gone[i] = telling && is_unknown(toy, ids[i]);
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
    [TOY_JOIN] = TOY(NULL, LBC_SECURES),
    [TOY_LEAVE] = TOY(NULL, 0),
};

static bool never_blocked(const struct lbc_apply *base, const struct lbc_step *step)
{
    (void)base;
    (void)step;
    return false;
}

static const struct lbc_refusal_row gone[] = { { .code = "Gone" }, { .code = NULL } };
static const struct lbc_refusal_row crowded[] = { { .code = "FullOfListeners" }, { .code = NULL } };
static const struct lbc_refusal_row full[] = { { .code = "FullOf*", .unless = "Listeners" },
                                               { .code = NULL } };

static const struct lbc_refusal_row bad_member[] = { { .code = "Unknown" },
                                                     { .code = "Elsewhere" },
                                                     { .code = NULL } };
static const struct lbc_refusal_row unknown_server[] = { { .code = "Unknown" }, { .code = NULL } };

static unsigned place_maker(const struct lbc_step *step, const struct ccm_error *err)
{
    return step->type == TOY_JOIN && strcmp(err->code, "Full") == 0 ? TOY_LEAVE : LBC_STEP_NONE;
}

static const struct lbc_apply_ops with_jobs = {
    .steps = step_ops,
    .state = &state_type,
    .backends_name = "backends",
    .is_blocked = never_blocked,
    .wait = toy_wait,
    .lb_gone = gone,
    .full_of_listeners = crowded,
    .full_of_backends = full,
    .bad_member = bad_member,
    .unknown_server = unknown_server,
    .lb_full = full,
    .place_maker = place_maker,
};

static const struct lbc_apply_ops without_jobs = {
    .steps = step_ops,
    .state = &state_type,
    .backends_name = "backends",
    .is_blocked = never_blocked,
    .lb_gone = gone,
    .full_of_listeners = crowded,
    .full_of_backends = full,
    .bad_member = bad_member,
    .unknown_server = unknown_server,
};

static const char *no_remedy(const struct ccm_error *err)
{
    (void)err;
    return NULL;
}

static bool is_wait(const struct ccm_error *err)
{
    return err->kind == CCM_ERROR_AUTH;
}

static const struct lbc_cloud_ops cloud_ops = { .remedy = no_remedy,
                                                .is_wait = is_wait,
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
                                   .left_out = &toy->left_out };
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

/* --- order --- */

static void test_stages(void **state)
{
    struct toy toy;

    (void)state;
    for (size_t jobs = 0; jobs < 2; jobs++) {
        toy_begin(&toy, jobs == 1 ? &with_jobs : &without_jobs);
        plan_step(&toy, 0, LBC_STEP_CREATE_GROUP, 80, 0, 0);
        plan_step(&toy, 0, LBC_STEP_CREATE_GROUP, 443, 0, 0);
        plan_step(&toy, 1, LBC_STEP_ADD, 80, 1, 3);
        plan_listener(&toy, 1, LBC_STEP_CREATE_LISTENER, 80);
        plan_listener(&toy, 2, LBC_STEP_UPDATE_LISTENER, 80);
        expect(&toy,
               jobs == 1 ? "group 80; group 443; * add 80 x3; listen 80; * change 80; * "
                         : "group 80; group 443; add 80 x3; listen 80; change 80; ",
               "");
    }
}

/* What was made is found by the steps that need it; what was not is missed, and not told twice. */
static void test_missing(void **state)
{
    struct toy toy;

    (void)state;
    toy_begin(&toy, &with_jobs);
    refuse_step(&toy, &(struct rule){ .type = LBC_STEP_CREATE_GROUP,
                                      .port = 80,
                                      .kind = CCM_ERROR_TRANSIENT,
                                      .code = "Oops" });
    plan_step(&toy, 0, LBC_STEP_CREATE_GROUP, 80, 0, 0);
    plan_step(&toy, 0, LBC_STEP_CREATE_GROUP, 443, 0, 0);
    for (uint16_t i = 0; i < 2; i++) {
        plan_step(&toy, 1, LBC_STEP_ADD, i == 0 ? 80 : 443, 1, 1);
        plan_listener(&toy, 1, LBC_STEP_CREATE_LISTENER, i == 0 ? 80 : 443);
    }
    plan_listener(&toy, 2, LBC_STEP_DELETE_LISTENER, 81);
    plan_step(&toy, 3, TOY_LEAVE, 0, 0, 0)->last = true;
    expect(&toy, "group 80; group 443; * add 443 x1; listen 443; * ", "port 80/tcp: group: Oops");
}

/* What became of jobs that a run has left, and what the next one does then. */
static void test_jobs_under_way(void **state)
{
    static const struct {
        enum lbc_job_state job;
        int64_t later_ms;
        size_t left;  /* jobs under way then */
        bool waits;   /* the next run is put off as well */
        bool goes_on; /* it sends what is left of the plan */
        const char *problems;
    } rows[] = {
        { LBC_JOB_RUNNING, 1000, 1, true, false, "" },
        { LBC_JOB_DONE, 1000, 0, false, true, "" },
        { LBC_JOB_DONE, 60000, 0, false, true, "" },
        { LBC_JOB_FAILED, 1000, 0, false, false,
          "port 80/tcp: add: accepted, but its job failed, the cloud does not say why (RequestId ) "
          "(look at the resource in the console of the cloud)" },
        { LBC_JOB_RUNNING, 31000, 0, false, false,
          "port 80/tcp: add: accepted, but its job has not ended in time (RequestId ) (look at the "
          "resource in the console of the cloud)" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct lbc_underway underway = { .len = 0 };
        struct toy toy;

        toy_begin(&toy, &with_jobs);
        toy.lbc.underway = &underway;
        present(&toy, 80, 1);
        refuse_step(&toy, &(struct rule){ .type = LBC_STEP_ADD, .port = 80, .times = 1 });
        plan_step(&toy, 0, LBC_STEP_ADD, 80, 7, 2);
        plan_step(&toy, 1, LBC_STEP_REMOVE, 80, 1, 1);
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        assert_string_equal(ccm_buf_str(&toy.log), "add 80 x2; * ");
        assert_true(lbc_problems_only_wait(&toy.problems));
        assert_int_equal(toy.lbc.again_ms, 2000);
        assert_false(toy.lbc.surprised);
        assert_int_equal(group_of(&toy.have, 80)->backends.len, 3); /* as if it were done */
        assert_int_equal(underway.len, 1);

        fake_host_advance(toy.fake, rows[i].later_ms);
        lbc_problems_fini(&toy.problems);
        toy.problems = (struct lbc_problems)LBC_PROBLEMS_INIT;
        toy.lbc.again_ms = 0;
        ccm_buf_reset(&toy.log);
        lbc_plan_fini(&toy.plan);
        toy.plan = (struct lbc_plan){ .table = &table };
        plan_step(&toy, 0, LBC_STEP_REMOVE, 80, 1, 1);
        refuse_step(&toy, &(struct rule){ .type = LBC_STEP_REMOVE, .job = LBC_JOB_DONE });
        underway.items[0].id[0] = (char)('0' + (int)rows[i].job);
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        assert_string_equal(ccm_buf_str(&toy.log), rows[i].goes_on ? "* remove 80 x1; * " : "* ");
        assert_string_equal(ccm_buf_str(&toy.problems.text), rows[i].problems);
        assert_int_equal(lbc_problems_only_wait(&toy.problems), rows[i].waits);
        assert_int_equal(underway.len, rows[i].left);
        assert_int_equal(toy.lbc.surprised, rows[i].problems[0] != '\0');
        lbc_underway_fini(&underway);
        toy_end(&toy);
    }
}

/* --- what depends on what --- */

static void test_starving(void **state)
{
    struct toy toy;

    (void)state;
    for (size_t left = 0; left < 2; left++) {
        toy_begin(&toy, &without_jobs);
        present(&toy, 80, 2);
        refuse_step(&toy, &(struct rule){ .type = LBC_STEP_ADD,
                                          .port = 80,
                                          .kind = CCM_ERROR_TERMINAL,
                                          .code = "Bad" });
        plan_step(&toy, 0, LBC_STEP_ADD, 80, 7, 1);
        plan_step(&toy, 1, LBC_STEP_REMOVE, 80, 1, 2 - left);
        plan_listener(&toy, 2, LBC_STEP_UPDATE_LISTENER, 80)->needs_backends = true;
        expect(&toy, left == 0 ? "add 80 x1; " : "add 80 x1; remove 80 x1; ",
               "port 80/tcp: add: Bad");
    }
}

/* --- one bad member --- */

static void expect_left_out(struct toy *toy, const char *names)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 400 };

    lbc_left_out_format(&toy->left_out, NULL, NULL, &text);
    assert_string_equal(ccm_buf_str(&text), names);
}

/* Which calls it takes to add all but the bad ones of eight. */
static void test_bad_members(void **state)
{
    static const struct {
        unsigned type;
        const char *unknown;
        bool asked;
        const char *log;
        const char *problems;
        const char *left_out;
        size_t backends;
    } rows[] = {
        { LBC_STEP_ADD, "", true, "add 80 x8; ", "", "", 9 },
        { LBC_STEP_ADD, "i-013", true, "add 80 x8; ask x8; add 80 x7; ", "", "i-013", 8 },
        { LBC_STEP_ADD, "i-010 i-013 i-017", true, "add 80 x8; ask x8; add 80 x5; ", "",
          "i-010, i-013, i-017", 6 },
        { LBC_STEP_ADD, "i-013", false, "add 80 x8; add 80 x4; add 80 x2; add 80 x1; add 80 x4; ",
          "", "i-013", 8 },
        { LBC_STEP_ADD, "i-010", false, "add 80 x8; add 80 x4; add 80 x2; add 80 x1; add 80 x7; ",
          "", "i-010", 8 },
        { LBC_STEP_ADD, "i-017", false, "add 80 x8; add 80 x4; add 80 x2; add 80 x1; ", "", "i-017",
          8 },
        { LBC_STEP_ADD, "i-010 i-011", false,
          "add 80 x8; add 80 x4; add 80 x2; add 80 x1; add 80 x7; add 80 x3; add 80 x1; "
          "add 80 x6; ",
          "", "i-010, i-011", 7 },
        { LBC_STEP_CREATE_GROUP, "i-013", true, "group 443 x8; ask x8; group 443 x7; ", "", "i-013",
          7 },
        { LBC_STEP_CREATE_GROUP, "i-013", false,
          "group 443 x8; group 443; add 443 x4; add 443 x2; add 443 x1; add 443 x4; ", "", "i-013",
          7 },
        { LBC_STEP_CREATE_GROUP, "i-010 i-011 i-012 i-013 i-014 i-015 i-016 i-017", true,
          "group 443 x8; ask x8; group 443; ",
          "port 443/tcp: group: left out, and there is no other backend: i-010, i-011, i-012, "
          "i-013, i-014 and 3 more: Unknown",
          "i-010, i-011, i-012, i-013, i-014 and 3 more", 0 },
        { LBC_STEP_REMOVE, "i-002", true,
          "remove 80 x3; remove 80 x1; remove 80 x1; remove 80 x1; ", "", "", 1 },
        { LBC_STEP_UPDATE, "i-002", true, "weigh 80 x3; weigh 80 x1; weigh 80 x1; weigh 80 x1; ",
          "port 80/tcp: weigh: left out: i-002: Unknown", "", 4 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const uint16_t port = rows[i].type == LBC_STEP_CREATE_GROUP ? 443 : 80;
        const bool adds = rows[i].type == LBC_STEP_ADD || rows[i].type == LBC_STEP_CREATE_GROUP;
        struct toy toy;

        toy_begin(&toy, &without_jobs);
        /* One that is there for certain, as no backend of the group is. */
        put(&make_group(&toy.have, 99)->backends, 90, 1);
        present(&toy, 80, adds ? 1 : 4);
        toy.unknown_ids = rows[i].unknown;
        toy.is_asked = rows[i].asked;
        plan_step(&toy, 0, rows[i].type, port, adds ? 10 : 1, adds ? 8 : 3);
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        assert_string_equal(ccm_buf_str(&toy.log), rows[i].log);
        assert_string_equal(ccm_buf_str(&toy.problems.text), rows[i].problems);
        assert_int_equal(group_of(&toy.have, port)->backends.len, rows[i].backends);
        expect_left_out(&toy, rows[i].left_out);
        toy_end(&toy);
    }
}

/* One group has heard of it, so the others of the pass and of all later ones do without it, for
 * some time. */
static void test_bad_member_is_remembered(void **state)
{
    struct toy toy;

    (void)state;
    toy_begin(&toy, &with_jobs);
    present(&toy, 80, 1);
    present(&toy, 443, 1);
    toy.unknown_ids = "i-008";
    plan_step(&toy, 0, LBC_STEP_ADD, 80, 7, 2);
    plan_step(&toy, 0, LBC_STEP_ADD, 443, 7, 2);
    plan_step(&toy, 1, LBC_STEP_REMOVE, 443, 1, 1);
    assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
    assert_string_equal(ccm_buf_str(&toy.log),
                        "add 80 x2; add 80 x1; * add 443 x1; * remove 443 x1; * ");
    assert_string_equal(ccm_buf_str(&toy.problems.text), "");
    assert_int_equal(toy.left_out.again_ms, 10000);
    assert_false(toy.lbc.surprised);
    for (size_t later = 0; later < 2; later++) {
        lbc_plan_fini(&toy.plan);
        toy.plan.table = &table;
        lbc_left_out_fini(&toy.left_out);
        ccm_buf_reset(&toy.log);
        fake_host_advance(toy.fake, 6000);
        plan_step(&toy, 0, LBC_STEP_ADD, 80, 8, 1);
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        assert_string_equal(ccm_buf_str(&toy.log), later == 0 ? "" : "add 80 x1; ");
        assert_int_equal(toy.left_out.again_ms, later == 0 ? 4000 : 20000);
        expect_left_out(&toy, "i-008");
    }
    toy_end(&toy);
}

/* What is unknown is so for all Services, what does not fit one load balancer only for its own. */
static void test_bad_member_of_one_service(void **state)
{
    (void)state;
    for (size_t fits = 0; fits < 2; fits++) {
        struct toy toy;

        toy_begin(&toy, &without_jobs);
        toy.is_asked = true;
        toy.code = fits == 0 ? "Unknown" : "Elsewhere";
        toy.unknown_ids = "i-008";
        present(&toy, 80, 1);
        plan_step(&toy, 0, LBC_STEP_ADD, 80, 7, 2);
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        assert_string_equal(ccm_buf_str(&toy.log), fits == 0 ? "add 80 x2; ask x2; add 80 x1; "
                                                             : "add 80 x2; add 80 x1; ");
        toy.service.meta.key = "default/other";
        lbc_left_out_fini(&toy.left_out);
        lbc_plan_fini(&toy.plan);
        toy.plan.table = &table;
        ccm_buf_reset(&toy.log);
        plan_step(&toy, 0, LBC_STEP_ADD, 80, 8, 1);
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        assert_string_equal(ccm_buf_str(&toy.log), fits == 0 ? "" : "add 80 x1; ");
        toy_end(&toy);
    }
}

/* The last backend of a group does not go for the sake of one that is left out, and nobody is sent
 * to a group that is empty because of it; with another backend all of that happens. */
static void test_bad_member_empties_nothing(void **state)
{
    (void)state;
    for (size_t good = 0; good < 2; good++) {
        struct toy toy;

        toy_begin(&toy, &with_jobs);
        present(&toy, 80, 1);
        present(&toy, 443, 0);
        toy.unknown_ids = "i-007";
        plan_step(&toy, 0, LBC_STEP_ADD, 80, 7, 1 + good);
        plan_step(&toy, 0, LBC_STEP_ADD, 443, 7, 1 + good);
        plan_step(&toy, 1, LBC_STEP_REMOVE, 80, 1, 1);
        plan_listener(&toy, 2, LBC_STEP_UPDATE_LISTENER, 443)->needs_backends = true;
        expect(
            &toy,
            good == 0
                ? "add 80 x1; "
                : "add 80 x2; add 80 x1; add 80 x1; * add 443 x1; * remove 80 x1; * change 443; * ",
            good == 0 ? "port 443/tcp: add: left out, and there is no other backend: i-007: "
                        "Unknown; port 80/tcp: remove: kept, because the cloud does not take "
                        "what replaces them: i-007: Unknown"
                      : "");
    }
}

/* A group without room for old and new ones does without it as well. */
static void test_bad_member_of_a_full_group(void **state)
{
    (void)state;
    for (size_t asked = 0; asked < 2; asked++) {
        struct toy toy;

        toy_begin(&toy, &without_jobs);
        toy.quota = 4;
        present(&toy, 80, 4);
        toy.is_asked = asked == 1;
        plan_step(&toy, 0, LBC_STEP_ADD, 80, 10, 4);
        plan_step(&toy, 1, LBC_STEP_REMOVE, 80, 1, 4);
        refuse_step(&toy, &(struct rule){ .type = LBC_STEP_ADD,
                                          .port = 80,
                                          .times = 1,
                                          .kind = CCM_ERROR_AUTH,
                                          .code = "FullOfBackends" });
        toy.unknown_ids = "i-011";
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        assert_string_equal(ccm_buf_str(&toy.problems.text), "");
        expect_left_out(&toy, "i-011");
        assert_int_equal(group_of(&toy.have, 80)->backends.len, 3);
        toy_end(&toy);
    }
}

/* Of very many bad ones a run finds some, the next one goes on. */
static void test_many_bad_members(void **state)
{
    struct toy toy;
    size_t runs = 0;

    (void)state;
    toy_begin(&toy, &without_jobs);
    toy.log.max = 65536;
    present(&toy, 80, 1);
    toy.unknown_ids = "i-010 i-011 i-012 i-013 i-014 i-015 i-016 i-017 i-018 i-019";
    do {
        lbc_plan_fini(&toy.plan);
        toy.plan.table = &table;
        plan_step(&toy, 0, LBC_STEP_ADD, 80, 10, 20);
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        assert_true(++runs < 10);
    } while (group_of(&toy.have, 80)->backends.len < 11);
    assert_int_equal(toy.left_out.parts[0].backends.len, 10);
    assert_int_equal(runs, 3);
    toy_end(&toy);
}

/* --- place --- */

/* A step that a quota refused waits for one that makes place, and only as long as nobody has to
 * know whether it went well. */
static void test_place(void **state)
{
    struct toy toy;

    (void)state;
    for (size_t times = 1; times <= 2; times++) {
        toy_begin(&toy, &with_jobs);
        present(&toy, 80, 1);
        refuse_step(&toy,
                    &(struct rule){
                        .type = TOY_JOIN, .times = times, .kind = CCM_ERROR_AUTH, .code = "Full" });
        plan_step(&toy, 0, TOY_JOIN, 0, 0, 0);
        plan_step(&toy, 1, TOY_LEAVE, 0, 0, 0)->needs_security = true;
        plan_listener(&toy, 2, LBC_STEP_CREATE_LISTENER, 81)->needs_security = true;
        toy.plan.steps[2]->group = toy.have.groups[0];
        expect(&toy,
               times == 1 ? "join 0; leave 0; * join 0; * listen 81; * "
                          : "join 0; leave 0; * join 0; ",
               times == 1 ? "" : "join: Full");
    }
}

static void test_no_place_for_listeners(void **state)
{
    struct toy toy;

    (void)state;
    toy_begin(&toy, &without_jobs);
    present(&toy, 80, 1);
    refuse_step(&toy, &(struct rule){ .type = LBC_STEP_CREATE_LISTENER,
                                      .port = 81,
                                      .kind = CCM_ERROR_AUTH,
                                      .code = "FullOfListeners" });
    for (uint16_t i = 1; i <= 3; i++) {
        plan_listener(&toy, i, LBC_STEP_CREATE_LISTENER, 80 + i)->group = toy.have.groups[0];
    }
    expect(&toy, "listen 81; ",
           "port 81/tcp: listen: FullOfListeners; "
           "listen: left out for the same lack of room: 82/tcp, 83/tcp");
}

static void test_gone(void **state)
{
    struct toy toy;

    (void)state;
    toy_begin(&toy, &with_jobs);
    present(&toy, 80, 1);
    refuse_step(
        &toy, &(struct rule){
                  .type = LBC_STEP_ADD, .port = 80, .kind = CCM_ERROR_NOT_FOUND, .code = "Gone" });
    plan_step(&toy, 0, LBC_STEP_ADD, 80, 7, 1);
    plan_step(&toy, 1, LBC_STEP_REMOVE, 80, 1, 1);
    assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), -EIO);
    assert_string_equal(ccm_buf_str(&toy.log), "add 80 x1; ");
    assert_true(toy.lbc.lb_gone && toy.lbc.surprised);
    assert_int_equal(toy.attempt, 1);
    assert_int_equal(toy.problems.worst.kind, CCM_ERROR_CONFLICT);
    toy_end(&toy);
}

/* --- jobs --- */

static void test_jobs_that_fail(void **state)
{
    static const struct {
        enum lbc_job_state job;
        const char *problem;
    } rows[] = {
        { LBC_JOB_FAILED, "accepted, but its job failed, the cloud does not say why" },
        { LBC_JOB_UNKNOWN, "accepted, but the cloud does not know its job" },
        { LBC_JOB_RUNNING, "accepted, but its job has not ended in time" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct toy toy;

        toy_begin(&toy, &with_jobs);
        present(&toy, 80, 1);
        refuse_step(&toy, &(struct rule){ .type = LBC_STEP_ADD, .port = 80, .job = rows[i].job });
        plan_step(&toy, 0, LBC_STEP_ADD, 80, 7, 1);
        plan_step(&toy, 1, LBC_STEP_REMOVE, 80, 1, 1);
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        assert_string_equal(ccm_buf_str(&toy.log), "add 80 x1; * ");
        assert_non_null(strstr(ccm_buf_str(&toy.problems.text), rows[i].problem));
        assert_int_equal(toy.have.groups[0]->backends.len, 1);
        assert_true(toy.lbc.surprised);
        toy_end(&toy);
    }
}

/* --- capacity --- */

/* All groups make place at the same time where there are jobs; one after the other without, and
 * then the second knows that it has to. */
static void test_exchange(void **state)
{
    (void)state;
    for (size_t jobs = 0; jobs < 2; jobs++) {
        struct toy toy;

        toy_begin(&toy, jobs == 1 ? &with_jobs : &without_jobs);
        toy.quota = 4;
        for (uint16_t i = 0; i < 2; i++) {
            const uint16_t port = i == 0 ? 80 : 443;

            present(&toy, port, 2);
            plan_step(&toy, jobs == 1 ? 0 : 2U * i, LBC_STEP_ADD, port, 7, 2);
            plan_step(&toy, jobs == 1 ? 1 : 2U * i + 1, LBC_STEP_REMOVE, port, 1, 2);
        }
        lbc_plan_sort(&toy.plan);
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        if (jobs == 0) {
            assert_string_equal(ccm_buf_str(&toy.log),
                                "add 80 x2; remove 80 x1; add 80 x1; remove 80 x1; add 80 x1; "
                                "remove 443 x1; add 443 x1; remove 443 x1; "
                                "add 443 x1; ");
        } else {
            assert_true(ccm_text_starts(
                ccm_buf_str(&toy.log),
                "add 80 x2; add 443 x2; remove 80 x1; remove 443 x1; * add 80 x1; add 443 x1; * "));
        }
        assert_string_equal(ccm_buf_str(&toy.problems.text), "");
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(toy.have.groups[i]->backends.len, 2);
            assert_string_equal(toy.have.groups[i]->backends.items[0].server_id, "i-007");
        }
        toy_end(&toy);
    }
}

/* A group that does not fit with its first backends is made without, and takes what is left. */
static void test_new_group(void **state)
{
    struct toy toy;

    (void)state;
    toy_begin(&toy, &without_jobs);
    toy.quota = 2;
    present(&toy, 80, 1);
    plan_step(&toy, 0, LBC_STEP_CREATE_GROUP, 443, 7, 2);
    expect(&toy, "group 443 x2; group 443; add 443 x1; ",
           "port 443/tcp: add: 1 of 2 backends fit: FullOfBackends");
}

/* Takes no change once it has a group, and says when to look again only where that is 443's; that
 * of 81 breaks it. */
static enum lbc_lb_ready ready_until_it_has_groups(const struct lbc_state *have, uint64_t *again_ms,
                                                   struct ccm_error *err)
{
    if (have->group_count == 0) {
        return LBC_LB_READY;
    }
    if (group_of(have, 81) != NULL) {
        return ccm_error_set(err, 0, CCM_ERROR_AUTH, "it is locked") == 0 ? LBC_LB_BROKEN
                                                                          : LBC_LB_READY;
    }
    *again_ms = group_of(have, 443) != NULL ? 3000 : *again_ms;
    return LBC_LB_MAKING;
}

/* A load balancer that a step makes busy, or breaks, gets no further one, and is read anew by the
 * next run, unless it is to go in any case. */
static void test_busy(void **state)
{
    static const struct lbc_model model = { .reused = false };
    static const struct {
        uint16_t port;
        bool releases;
        bool insists; /* it waits no longer */
        const char *log;
        uint64_t again_ms;
        const char *problems;
    } rows[] = {
        { 443, false, false, "group 443 x2; ", 3000, "" },
        { 80, false, false, "group 80 x2; ", 1000, "" },
        { 81, false, false, "group 81 x2; ", 0, "it is locked" },
        { 80, true, false, "group 80 x2; ", 1000, "" },
        { 80, true, true, "group 80 x2; group 8080 x2; ", 0, "" },
        { 81, true, false, "group 81 x2; group 8080 x2; ", 0, "" },
    };

    struct lbc_apply_ops ops = without_jobs;

    (void)state;
    ops.lb_ready = ready_until_it_has_groups;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct toy toy;

        toy_begin(&toy, &ops);
        toy.lbc.model = rows[i].releases ? NULL : &model;
        toy.lbc.insists = rows[i].insists;
        assert_int_equal(lbc_text_set(&toy.lb.id, "lb-1"), 0);
        plan_step(&toy, 0, LBC_STEP_CREATE_GROUP, rows[i].port, 7, 2);
        plan_step(&toy, 1, LBC_STEP_CREATE_GROUP, 8080, 7, 2);
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        assert_string_equal(ccm_buf_str(&toy.log), rows[i].log);
        assert_int_equal(toy.lbc.again_ms, rows[i].again_ms);
        assert_int_equal(toy.lbc.surprised, strstr(rows[i].log, "8080") == NULL);
        assert_string_equal(ccm_buf_str(&toy.problems.text), rows[i].problems);
        toy_end(&toy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs_under_way),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_starving),
        cmocka_unit_test(test_bad_members),
        cmocka_unit_test(test_bad_member_is_remembered),
        cmocka_unit_test(test_bad_member_of_one_service),
        cmocka_unit_test(test_bad_member_empties_nothing),
        cmocka_unit_test(test_bad_member_of_a_full_group),
        cmocka_unit_test(test_many_bad_members),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_no_place_for_listeners),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_jobs_that_fail),
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_new_group),
        cmocka_unit_test(test_busy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
