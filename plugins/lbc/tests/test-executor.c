/* What a failure means for the other steps of a plan, with jobs and without. */
#include "executor_toy.h"

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

/* --- very many bad members in front of good ones --- */

struct crowd {
    size_t bad;   /* in front of five good ones */
    size_t batch; /* of an addition */
    bool pods;
    size_t runs;  /* until all good ones are backends, */
    size_t calls; /* so many calls */
};

static void plan_crowd(struct toy *toy, const struct crowd *row)
{
    const size_t end = 100 + row->bad + 5;

    for (size_t at = 100; at < end; at += row->batch) {
        const size_t count = end - at < row->batch ? end - at : row->batch;
        const unsigned stage = (unsigned)(at / row->batch);
        struct lbc_backends *set = &plan_step(toy, stage, LBC_STEP_ADD, 80, at, count)->backends;

        for (size_t i = 0; row->pods && i < count; i++) {
            set->items[i].type = LBC_BACKEND_INTERFACE;
            set->items[i].server_ip = set->items[i].server_id; /* of the same block */
        }
    }
}

/* What a pass begins with. */
static void next_run(struct toy *toy)
{
    lbc_plan_fini(&toy->plan);
    toy->plan.table = &table;
    lbc_left_out_fini(&toy->left_out);
    lbc_problems_fini(&toy->problems);
    toy->problems = (struct lbc_problems)LBC_PROBLEMS_INIT;
    ccm_buf_reset(&toy->log);
    toy->lbc.failed = 0;
}

static void run_crowd(const struct crowd *row)
{
    struct lbc_group *group = NULL;
    struct toy toy;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf unknown = { .max = 4096 };
    size_t runs = 0;

    toy_begin(&toy, &without_jobs);
    toy.log.max = 65536;
    toy.code = "Elsewhere";
    toy.call_ms = 100;
    for (size_t i = 0; i < row->bad; i++) {
        ccm_buf_addf(&unknown, "i-%03zu ", 100 + i);
    }
    toy.unknown_ids = ccm_buf_str(&unknown);
    present(&toy, 80, 0);
    group = group_of(&toy.have, 80);
    while (group->backends.len < 5 && runs < 20) {
        next_run(&toy);
        plan_crowd(&toy, row);
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        runs++;
        assert_int_equal(toy.problems.count, toy.problems.waits); /* no failure, and no backoff */
        fake_host_advance(toy.fake, (int64_t)toy.problems.wait_ms);
    }
    assert_int_equal(group->backends.len, 5);
    assert_int_equal(runs, row->runs);
    assert_int_equal(toy.calls, row->calls);
    toy_end(&toy);
}

/* A cluster with nodes in another network, pods whose interfaces are gone: however many there are,
 * the good ones behind them are added, by little more than a call for each bad one, though what is
 * remembered of the first ones ends before the last ones are found. */
static void test_many_bad_members(void **state)
{
    static const struct crowd rows[] = {
        { 1, 20, false, 1, 4 },    { 3, 20, false, 1, 13 },     { 40, 20, true, 1, 54 },
        { 40, 45, true, 1, 58 },   { 50, 20, false, 1, 67 },    { 190, 20, false, 4, 258 },
        { 190, 20, true, 4, 258 }, { 250, 255, false, 6, 372 }, { 250, 255, true, 6, 372 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        run_crowd(&rows[i]);
    }
}

/* The cloud says that the instance exists: it does not fit this load balancer, and may fit others.
 */
static void test_refusal_of_what_exists(void **state)
{
    struct toy toy;

    (void)state;
    toy_begin(&toy, &without_jobs);
    toy.is_asked = true;
    toy.exists = true;
    toy.unknown_ids = "i-008";
    present(&toy, 80, 1);
    plan_step(&toy, 0, LBC_STEP_ADD, 80, 7, 2);
    assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
    assert_string_equal(ccm_buf_str(&toy.log), "add 80 x2; ask x2; add 80 x1; ");
    toy.service.meta.key = "default/other";
    toy.unknown_ids = "";
    next_run(&toy);
    plan_step(&toy, 0, LBC_STEP_ADD, 80, 8, 1);
    assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
    assert_string_equal(ccm_buf_str(&toy.log), "add 80 x1; ");
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

/* A group whose creation was accepted is known by its id, although a later step ended the plan
 * before its job was asked for. A group that was sent for deletion stays known. */
static void test_end_keeps_created(void **state)
{
    struct toy toy;

    (void)state;
    toy_begin(&toy, &with_jobs);
    present(&toy, 81, 1);
    refuse_step(&toy, &(struct rule){ .type = LBC_STEP_CREATE_GROUP,
                                      .port = 443,
                                      .kind = CCM_ERROR_CANCELLED,
                                      .code = "End" });
    plan_step(&toy, 0, LBC_STEP_DELETE_GROUP, 81, 0, 0);
    plan_step(&toy, 0, LBC_STEP_CREATE_GROUP, 80, 0, 0);
    plan_step(&toy, 0, LBC_STEP_CREATE_GROUP, 443, 0, 0);
    assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), -EIO);
    assert_string_equal(ccm_buf_str(&toy.log), "ungroup 81; group 80; group 443; ");
    assert_string_equal(group_of(&toy.have, 80)->id, "sgp");
    assert_non_null(group_of(&toy.have, 81));
    assert_null(group_of(&toy.have, 443));
    assert_true(toy.lbc.surprised);
    toy_end(&toy);
}

/* A first one ends its stage without a word; a repeated one is a failure like others. */
static void test_conflict(void **state)
{
    static const struct {
        bool hides;
        const char *log;
        const char *problems;
        uint64_t again_ms;
    } rows[] = {
        { true, "add 80 x1; add 443 x1; ", "", 500 },
        { false, "add 80 x1; add 443 x1; add 8080 x1; group 81; ", "port 443/tcp: add: Busy", 0 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct toy toy;

        toy_begin(&toy, &without_jobs);
        toy.lbc.hides_conflict = rows[i].hides;
        for (size_t port = 0; port < 3; port++) {
            const uint16_t ports[] = { 80, 443, 8080 };

            present(&toy, ports[port], 1);
            plan_step(&toy, 0, LBC_STEP_ADD, ports[port], 7, 1);
        }
        plan_step(&toy, 1, LBC_STEP_CREATE_GROUP, 81, 0, 0);
        refuse_step(&toy, &(struct rule){ .type = LBC_STEP_ADD,
                                          .port = 443,
                                          .kind = CCM_ERROR_CONFLICT,
                                          .code = "Busy" });
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        assert_string_equal(ccm_buf_str(&toy.log), rows[i].log);
        assert_string_equal(ccm_buf_str(&toy.problems.text), rows[i].problems);
        assert_int_equal(toy.lbc.again_ms, rows[i].again_ms);
        assert_true(toy.lbc.conflicted && toy.lbc.surprised);
        assert_int_equal(group_of(&toy.have, 80)->backends.len, 2); /* that one was done */
        toy_end(&toy);
    }
}

/* --- jobs --- */

static void test_jobs_that_fail(void **state)
{
    static const struct {
        enum lbc_job_state job;
        const char *problem;
        bool exists; /* what it creates may exist: its id is kept */
    } rows[] = {
        { LBC_JOB_FAILED, "accepted, but its job failed, the cloud does not say why", false },
        { LBC_JOB_UNKNOWN, "accepted, but the cloud does not know its job", true },
        { LBC_JOB_RUNNING, "accepted, but its job has not ended in time", true },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct toy toy;

        toy_begin(&toy, &with_jobs);
        present(&toy, 80, 1);
        refuse_step(&toy, &(struct rule){ .type = LBC_STEP_ADD, .port = 80, .job = rows[i].job });
        refuse_step(
            &toy, &(struct rule){ .type = LBC_STEP_CREATE_GROUP, .port = 443, .job = rows[i].job });
        plan_step(&toy, 0, LBC_STEP_ADD, 80, 7, 1);
        plan_step(&toy, 0, LBC_STEP_CREATE_GROUP, 443, 0, 0);
        plan_step(&toy, 1, LBC_STEP_ADD, 443, 1, 1);
        plan_step(&toy, 1, LBC_STEP_REMOVE, 80, 1, 1);
        assert_int_equal(lbc_apply_run(&toy.lbc, &toy.plan), 0);
        assert_string_equal(ccm_buf_str(&toy.log), "add 80 x1; group 443; * ");
        assert_int_equal(group_of(&toy.have, 443) != NULL, rows[i].exists);
        assert_non_null(strstr(ccm_buf_str(&toy.problems.text), rows[i].problem));
        assert_int_equal(toy.have.groups[0]->backends.len, 1);
        assert_true(toy.lbc.surprised);
        assert_int_equal(toy.lbc.lost, rows[i].exists);
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
        cmocka_unit_test(test_refusal_of_what_exists),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_no_place_for_listeners),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_end_keeps_created),
        cmocka_unit_test(test_conflict),
        cmocka_unit_test(test_jobs_that_fail),
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_new_group),
        cmocka_unit_test(test_busy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
