/* What a refusal means: for security groups, for tokens, for servers that take their time. */
#include "bench.h"

#include "lbc/tests/objects.h"
#include "util/text.h"

#include "lbc/tests/check.h"

#include <stdio.h>
#include <string.h>

/* --- security groups --- */

static void plan_groups(struct bench *bench, unsigned type, const char *first, const char *second)
{
    struct nlb_step *one = bench_step(bench, type, 0);

    assert_int_equal(lbc_texts_put(&one->lbc.texts, first), 0);
    if (second != NULL) {
        assert_int_equal(lbc_texts_put(&one->lbc.texts, second), 0);
    }
    sim_rule(&bench->sim,
             &(struct sim_rule){ .action = type == NLB_STEP_JOIN ? "LoadBalancerJoinSecurityGroup"
                                                                 : "LoadBalancerLeaveSecurityGroup",
                                 .code = "ResourceNotFound.SecurityGroup",
                                 .http = 404 });
}

/* The refusal is for all that were named: those that are there are still joined. */
static void test_leave_of_absent(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 2; count++) {
        struct bench bench;

        bench_begin(&bench);
        bench_put_present(&bench, 80);
        assert_int_equal(lbc_texts_put(&bench.have.lb.security_groups, "sg-1"), 0);
        assert_int_equal(lbc_texts_put(&bench.have.lb.security_groups, "sg-2"), 0);
        plan_groups(&bench, NLB_STEP_LEAVE, "sg-1", count == 2 ? "sg-2" : NULL);
        assert_int_equal(bench_run(&bench, false), 0);
        assert_int_equal(bench.problems.count, count - 1);
        assert_int_equal(bench.apply.lbc.surprised, count == 2);
        assert_int_equal(bench.have.lb.security_groups.len, count);
        if (count == 2) { /* looked at again, then only what is joined is left */
            assert_int_equal(bench.problems.worst.kind, CCM_ERROR_CONFLICT);
        }
        bench_end(&bench);
    }
}

/* An id in an annotation that does not exist is not there a moment later either. */
static void test_join_of_absent(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    plan_groups(&bench, NLB_STEP_JOIN, "sg-typo", NULL);
    assert_int_equal(bench_run(&bench, false), 0);
    assert_int_equal(bench.problems.worst.kind, CCM_ERROR_TERMINAL);
    assert_non_null(strstr(bench_told(&bench), "security-group-ids annotation"));
    bench_end(&bench);

    /* Our own one may have been deleted. */
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    bench_set(&bench.have.security_group.id, "sg-own");
    bench_step(&bench, NLB_STEP_JOIN, 0)->with_security_group = true;
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "LoadBalancerJoinSecurityGroup",
                                             .code = "ResourceNotFound.SecurityGroup",
                                             .http = 404 });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_int_equal(bench.problems.worst.kind, CCM_ERROR_CONFLICT);
    assert_true(bench.apply.lbc.surprised);
    bench_end(&bench);
}

/* --- the token of our security group --- */

static void plan_creation(struct bench *bench)
{
    struct nlb_step *one = bench_step(bench, NLB_STEP_CREATE_SECURITY_GROUP, 0);
    struct nlb_rule *rule = NULL;

    bench_set(&one->security_group.name, "k8s-nlb-x");
    bench_set(&one->security_group.description, "k8s.default.web.c1");
    rule = nlb_security_group_new_rule(&bench_step(bench, NLB_STEP_ADD_RULES, 1)->security_group);
    bench_set(&rule->cidr, "10.0.0.0/8");
}

/* What the next creation is sent with. */
static void next_token(struct bench *bench, char *ret, size_t size)
{
    bench_again(bench);
    nlb_security_group_fini(&bench->have.security_group);
    plan_creation(bench);
    assert_int_equal(bench_run(bench, false), 0);
    ccm_text_copy(ret, size, sim_param(&bench->sim, "CreateSecurityGroup", "ClientToken"));
    assert_true(ccm_text_starts(ret, "ccm-"));
}

/* A creation whose answer got lost is repeated by a later pass: there must not be a second group.
 */
static void test_token(void **state)
{
    struct bench bench;
    char first[80];
    char second[80];

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    next_token(&bench, first, sizeof(first));
    next_token(&bench, second, sizeof(second));
    assert_string_equal(first, second);

    /* After a deletion another one is asked for. */
    bench_again(&bench);
    bench_step(&bench, NLB_STEP_DELETE_SECURITY_GROUP, 0);
    assert_int_equal(bench_run(&bench, false), 0);
    next_token(&bench, second, sizeof(second));
    assert_string_not_equal(first, second);
    bench_end(&bench);
}

/* The answer may be that of a group of long ago, or the token stand for another one. */
static void test_token_used(void **state)
{
    static const struct {
        const char *action;
        const char *code;
        uint64_t kind;
    } cases[] = {
        { "AuthorizeSecurityGroup", "InvalidSecurityGroupId.NotFound", CCM_ERROR_CONFLICT },
        { "CreateSecurityGroup", "IdempotentParameterMismatch", CCM_ERROR_TRANSIENT },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct bench bench;
        char first[80];
        char second[80];

        bench_begin(&bench);
        bench_put_present(&bench, 80);
        next_token(&bench, first, sizeof(first));
        bench_again(&bench);
        nlb_security_group_fini(&bench.have.security_group);
        sim_rule(&bench.sim, &(struct sim_rule){
                                 .action = cases[i].action, .code = cases[i].code, .http = 404 });
        plan_creation(&bench);
        assert_int_equal(bench_run(&bench, false), 0);
        assert_int_equal(bench.problems.worst.kind, cases[i].kind);
        next_token(&bench, second, sizeof(second));
        assert_string_not_equal(first, second);
        bench_end(&bench);
    }
}

/* --- servers that are drained --- */

/* Their connections may last: no failure, but somebody has to look again. */
static void test_draining_takes_time(void **state)
{
    (void)state;
    for (size_t draining = 0; draining < 2; draining++) {
        struct bench bench;

        bench_begin(&bench);
        bench_put_present(&bench, 80);
        if (draining == 1) {
            assert_int_equal(lbc_attrs_set(&nlb_group_at(&bench.have, 0)->lbc.attrs,
                                           nlb_group_field("ConnectionDrainEnabled"), "true",
                                           false),
                             0);
        }
        bench_at(&bench, bench_server_step(&bench, LBC_STEP_REMOVE, 0, 80, "g80", "i-1"), "sgp-80");
        sim_rule(&bench.sim, &(struct sim_rule){ .action = "RemoveServersFromServerGroup",
                                                 .job = "Processing" });
        assert_int_equal(bench_run(&bench, false), 0);
        assert_int_equal(bench.problems.count, 1 - draining);
        assert_int_equal(bench.apply.lbc.surprised, draining == 0);
        assert_int_equal(nlb_group_at(&bench.have, 0)->lbc.unread, draining == 1);
        assert_int_equal(bench.apply.lbc.again_ms > 0, draining == 1);
        bench_end(&bench);
    }
}

/* --- a load balancer that takes no further listener --- */

static void refuse_listeners(struct bench *bench, const char *message, size_t skip)
{
    sim_rule(&bench->sim, &(struct sim_rule){ .action = "CreateListener",
                                              .code = "QuotaExceeded.Listeners",
                                              .message = message,
                                              .skip = skip });
}

/* One listener per port; group, server and all else is there. */
static void plan_listener(struct bench *bench, unsigned stage, uint16_t port)
{
    bench_listener_step(bench, LBC_STEP_CREATE_LISTENER, stage, port, "g80");
}

/* One refusal stands for all that would follow: told with their names, and not asked for. */
static void test_no_room_for_listeners(void **state)
{
    struct bench bench;
    struct nlb_step *range;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    for (uint16_t port = 81; port <= 84; port++) {
        plan_listener(&bench, port < 84 ? 0 : 1, port);
    }
    range = bench_listener_step(&bench, LBC_STEP_CREATE_LISTENER, 1, 0, "g80");
    range->lbc.to->port = 100;
    range->lbc.to->last_port = 200;
    refuse_listeners(&bench, "loadbalancer_listeners_num: 50 of 50", 1);
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(sim_log(&bench.sim), "CreateListener CreateListener * ");
    assert_int_equal(bench.problems.count, 2);
    assert_int_equal(bench.problems.worst.kind, CCM_ERROR_AUTH);
    assert_non_null(strstr(bench_told(&bench), "port 82/TCP: create listener: "));
    assert_non_null(strstr(bench_told(&bench), "create listener: left out for the same lack of "
                                               "room: 83/TCP, 84/TCP, 100-200/TCP"));
    assert_non_null(strstr(bench_told(&bench), "Spread the ports over several Services"));
    assert_int_equal(bench.have.lbc.listener_count, 2);
    assert_false(bench.apply.lbc.surprised);
    bench_end(&bench);
}

/* A listener whose group could not be made waits for that, not for room. */
static void test_other_reasons_than_room(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    plan_listener(&bench, 0, 81);
    bench_listener_step(&bench, LBC_STEP_CREATE_LISTENER, 1, 82, "g82");
    plan_listener(&bench, 1, 83);
    refuse_listeners(&bench, "loadbalancer_listeners_num: 50 of 50", 0);
    assert_int_equal(bench_run(&bench, false), 0);
    assert_non_null(strstr(bench_told(&bench), "lack of room: 83/TCP"));
    assert_null(strstr(bench_told(&bench), "82/TCP"));
    bench_end(&bench);
}

/* A listener that goes makes room for one; another quota says nothing about the other ports. */
static void test_room_for_listeners_again(void **state)
{
    static const struct {
        const char *message;
        const char *log;
    } rows[] = {
        { "loadbalancer_listeners_num: 50 of 50",
          "CreateListener DeleteListener * CreateListener CreateListener * " },
        { "server_group_listeners_num: 50 of 50",
          "CreateListener CreateListener DeleteListener * CreateListener CreateListener * " },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct bench bench;

        bench_begin(&bench);
        bench_put_present(&bench, 80);
        plan_listener(&bench, 0, 81);
        plan_listener(&bench, 0, 82);
        bench_at(&bench, bench_listener_step(&bench, LBC_STEP_DELETE_LISTENER, 0, 80, "g80"),
                 "lsn-80@80");
        plan_listener(&bench, 1, 83);
        plan_listener(&bench, 1, 84);
        sim_rule(&bench.sim, &(struct sim_rule){ .action = "CreateListener",
                                                 .code = "QuotaExceeded.Listeners",
                                                 .message = rows[i].message,
                                                 .times = 1 + i });
        assert_int_equal(bench_run(&bench, false), 0);
        assert_string_equal(sim_log(&bench.sim), rows[i].log);
        assert_int_equal(strstr(bench_told(&bench), "left out") != NULL, i == 0);
        assert_int_equal(bench.have.lbc.listener_count, 2);
        bench_end(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_leave_of_absent, obj_end),
        cmocka_unit_test_teardown(test_join_of_absent, obj_end),
        cmocka_unit_test_teardown(test_token, obj_end),
        cmocka_unit_test_teardown(test_token_used, obj_end),
        cmocka_unit_test_teardown(test_draining_takes_time, obj_end),
        cmocka_unit_test_teardown(test_no_room_for_listeners, obj_end),
        cmocka_unit_test_teardown(test_other_reasons_than_room, obj_end),
        cmocka_unit_test_teardown(test_room_for_listeners_again, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
