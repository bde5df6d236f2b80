/* Plans on their way into a cloud: creation, deletion, and what a failure stops. */
#include "bench.h"

#include "lbc/tests/objects.h"
#include "nlb/nlb.h"
#include "sim/cloud/nlb.h"
#include "util/text.h"

#include "lbc/tests/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- creation --- */

static void plan_creation(struct bench *bench)
{
    bench_create_lb(bench);
    for (uint16_t i = 0; i < 2; i++) {
        bench_group_step(bench, LBC_STEP_CREATE_GROUP, 1, i == 0 ? 80 : 443,
                         i == 0 ? "g80" : "g443");
    }
    for (uint16_t i = 0; i < 2; i++) {
        const uint16_t port = i == 0 ? 80 : 443;
        const char *group = i == 0 ? "g80" : "g443";

        bench_server_step(bench, LBC_STEP_ADD, 2, port, group, "i-11");
        bench_listener_step(bench, LBC_STEP_CREATE_LISTENER, 2, port, group);
    }
}

static void test_creation(void **state)
{
    struct bench bench;
    struct sim *sim = &bench.sim;
    const char *second = NULL; /* id of a group */

    (void)state;
    bench_begin(&bench);
    plan_creation(&bench);
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_string_equal(sim_log(sim),
                        "CreateLoadBalancer GetLoadBalancerAttribute CreateServerGroup "
                        "CreateServerGroup * AddServersToServerGroup CreateListener "
                        "AddServersToServerGroup CreateListener * ");
    assert_int_equal(bench.apply.lbc.writes, 7);
    assert_false(bench.apply.lbc.surprised);
    assert_int_equal(bench.apply.lbc.again_ms, 0);

    assert_int_equal(bench.have.lbc.group_count, 2);
    second = nlb_group_at(&bench.have, 1)->lbc.id;
    assert_non_null(ccm_nlb_group_get(sim->cloud, second));

    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "LoadBalancerName"), BENCH_NAME);
    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "AddressType"), "Internet");
    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "VpcId"), "vpc-1");
    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "DeletionProtectionConfig.Enabled"),
                        "true");
    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "ModificationProtectionConfig.Status"),
                        "ConsoleProtection");
    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "ModificationProtectionConfig.Reason"),
                        "managed.by.ack");
    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "ZoneMappings.2.AllocationId"),
                        "eip-1");
    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "ZoneMappings.2.PrivateIPv4Address"),
                        "172.16.2.9");
    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "ZoneMappings.1.AllocationId"), "");
    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "Tag.1.Key"), "ack.aliyun.com");
    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "Tag.2.Value"), BENCH_NAME);
    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "Tag.3.Key"), "team");
    assert_string_equal(sim_param(sim, "CreateLoadBalancer", "AddressIpVersion"), "");

    assert_string_equal(sim_param(sim, "CreateServerGroup", "ServerGroupName"), "g443");
    assert_string_equal(sim_param(sim, "CreateServerGroup", "Protocol"), "TCP");
    assert_string_equal(sim_param(sim, "CreateServerGroup", "Tag.2.Value"), BENCH_NAME);
    assert_string_equal(sim_param(sim, "AddServersToServerGroup", "ServerGroupId"), second);
    assert_string_equal(sim_param(sim, "AddServersToServerGroup", "Servers.1.Description"), "g443");
    assert_string_equal(sim_param(sim, "AddServersToServerGroup", "Servers.1.ServerType"), "Ecs");
    assert_string_equal(sim_param(sim, "AddServersToServerGroup", "Servers.1.ServerIp"), "");
    assert_string_equal(sim_param(sim, "CreateListener", "ServerGroupId"), second);
    assert_string_equal(sim_param(sim, "CreateListener", "LoadBalancerId"), "nlb-1");
    assert_string_equal(sim_param(sim, "CreateListener", "ListenerPort"), "443");
    assert_true(ccm_text_starts(sim_param(sim, "CreateListener", "ClientToken"), "ccm-"));

    assert_string_equal(bench.have.lb.lbc.id, "nlb-1");
    assert_string_equal(bench.have.lb.dns, "nlb-1.cn-hangzhou.nlb.aliyuncs.com");
    assert_string_equal(nlb_group_at(&bench.have, 0)->type, "Instance");
    assert_int_equal(nlb_group_at(&bench.have, 0)->lbc.backends.len, 1);
    assert_null(nlb_group_at(&bench.have, 0)->lbc.backends.items[0].description);
    assert_int_equal(bench.have.lbc.listener_count, 2);
    assert_string_equal(nlb_listener_at(&bench.have, 1)->lbc.group_id, second);
    assert_true(nlb_listener_at(&bench.have, 1)->lbc.certs_known);
    bench_end(&bench);
}

/* Nobody blocks until it is there; what failed for good is said. */
static void test_creation_takes_time(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "CreateLoadBalancer", .job = "Processing" });
    plan_creation(&bench);
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(sim_log(&bench.sim), "CreateLoadBalancer GetLoadBalancerAttribute ");
    assert_true(bench.apply.lbc.again_ms > 0);
    assert_int_equal(bench.problems.count, 0);
    assert_string_equal(bench.have.lb.status, "Provisioning");

    const int64_t waited = (int64_t)fake_host_waited_ms(bench.sim.setup.fake);

    assert_true(waited < 1000);
    /* A plan for one that is not ready goes nowhere. */
    bench_again(&bench);
    bench_group_step(&bench, LBC_STEP_CREATE_GROUP, 1, 80, "g80");
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(sim_log(&bench.sim), "");
    assert_true(bench.apply.lbc.again_ms > 0);
    bench_end(&bench);

    bench_begin(&bench);
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "CreateLoadBalancer", .job = "Failed" });
    plan_creation(&bench);
    assert_true(bench_run(&bench, false) < 0);
    assert_string_equal(sim_log(&bench.sim), "CreateLoadBalancer GetLoadBalancerAttribute ");
    assert_non_null(strstr(bench_told(&bench), "CreateFailed"));
    assert_true(bench.apply.lbc.surprised);
    bench_end(&bench);
}

/* A look that fails after the creation does not make it undone. */
static void test_creation_unseen(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    sim_rule(&bench.sim, &(struct sim_rule){
                             .action = "GetLoadBalancerAttribute", .code = "Oops", .http = 500 });
    plan_creation(&bench);
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(bench.have.lb.lbc.id, "nlb-1");
    assert_string_equal(bench.have.lb.status, "Provisioning");
    assert_true(bench.apply.lbc.again_ms > 0);
    bench_end(&bench);
}

/* The cloud repeated the answer of an earlier creation, and what that one made is gone. */
static void test_creation_of_what_is_gone(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "GetLoadBalancerAttribute",
                                             .code = "ResourceNotFound.loadBalancer",
                                             .http = 404 });
    plan_creation(&bench);
    assert_true(bench_run(&bench, false) < 0);
    assert_int_equal(bench.attempt, 1);
    assert_null(bench.have.lb.lbc.id);
    assert_true(bench.apply.lbc.surprised);
    assert_int_equal(bench.problems.worst.kind, CCM_ERROR_CONFLICT);
    assert_int_equal(bench.problems.worst.retry_after_ms, 2000); /* to be found by its tag */
    assert_non_null(strstr(bench_told(&bench), "load balancer nlb-1 of an earlier creation"));
    assert_string_equal(sim_log(&bench.sim), "CreateLoadBalancer GetLoadBalancerAttribute ");
    bench_end(&bench);
}

static void create_once(const char *zone, uint32_t attempt, char *ret, size_t size)
{
    struct bench bench;

    bench_begin(&bench);
    assert_int_equal(nlb_lb_put_zone(&bench_create_lb(&bench)->lb, "z-c", zone, NULL, NULL), 0);
    bench.attempt = attempt;
    assert_int_equal(bench_run(&bench, false), 0);
    ccm_text_copy(ret, size, sim_param(&bench.sim, "CreateLoadBalancer", "ClientToken"));
    bench_end(&bench);
}

/* W9: the same for a repetition, also after a restart and whatever is asked for by then; another
 * for another attempt. */
static void test_token(void **state)
{
    char first[80];
    char second[80];

    (void)state;
    create_once("vsw-3", 0, first, sizeof(first));
    create_once("vsw-3", 0, second, sizeof(second));
    assert_string_equal(first, second);
    create_once("vsw-4", 0, second, sizeof(second));
    assert_string_equal(first, second);
    create_once("vsw-3", 1, second, sizeof(second));
    assert_string_not_equal(first, second);
}

static void test_token_used(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "CreateLoadBalancer",
                                             .code = "IdempotenceSignatureMismatch" });
    plan_creation(&bench);
    assert_true(bench_run(&bench, false) < 0);
    assert_true(bench.apply.lbc.token_taken);
    assert_int_equal(bench.attempt, 0); /* the pass decides, see change.c */
    assert_int_equal(bench.problems.worst.kind, CCM_ERROR_TRANSIENT);
    assert_string_equal(sim_log(&bench.sim), "CreateLoadBalancer ");
    bench_end(&bench);
}

/* --- deletion --- */

static void plan_deletion(struct bench *bench)
{
    bench_put_present(bench, 80);
    bench_put_present(bench, 443);
    assert_int_equal(
        nlb_lb_set(&bench_step(bench, NLB_STEP_PROTECT, 0)->lb, NLB_LB_PROTECT, "false"), 0);
    bench_step(bench, LBC_STEP_DELETE_LB, 1)->lbc.last = true;
    for (uint16_t i = 0; i < 2; i++) {
        struct nlb_step *drop = bench_group_step(bench, LBC_STEP_DELETE_GROUP, 2, 0,
                                                 nlb_group_at(&bench->have, i)->lbc.name);

        bench_at(bench, drop, nlb_group_at(&bench->have, i)->lbc.id);
        drop->lbc.last = true;
    }
}

static void test_deletion(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    plan_deletion(&bench);
    assert_int_equal(bench_run(&bench, true), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_string_equal(sim_log(&bench.sim),
                        "UpdateLoadBalancerProtection DeleteLoadBalancer * DeleteServerGroup "
                        "DeleteServerGroup * ");
    assert_null(bench.have.lb.lbc.id);
    assert_int_equal(bench.have.lbc.listener_count, 0);
    assert_int_equal(bench.have.lbc.group_count, 0);
    bench_end(&bench);
}

static void test_deletion_of_nothing(void **state)
{
    static const char *const actions[] = { "UpdateLoadBalancerProtection", "DeleteLoadBalancer",
                                           "DeleteServerGroup" };
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    plan_deletion(&bench);
    for (size_t i = 0; i < CCM_ARRAY_LEN(actions); i++) {
        sim_rule(&bench.sim, &(struct sim_rule){ .action = actions[i],
                                                 .code = i < 2 ? "ResourceNotFound.loadBalancer"
                                                               : "ResourceNotFound.serverGroup",
                                                 .http = 404 });
    }
    assert_int_equal(bench_run(&bench, true), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_null(bench.have.lb.lbc.id);
    assert_int_equal(bench.have.lbc.group_count, 0);
    bench_end(&bench);
}

static void test_deletion_refused(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    plan_deletion(&bench);
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "UpdateLoadBalancerProtection",
                                             .code = "Forbidden.RAM",
                                             .http = 403 });
    assert_int_equal(bench_run(&bench, true), 0);
    assert_string_equal(sim_log(&bench.sim), "UpdateLoadBalancerProtection ");
    assert_int_equal(bench.problems.count, 1);
    assert_int_equal(bench.have.lbc.group_count, 2);
    assert_false(bench.apply.lbc.surprised);
    bench_end(&bench);
}

/* W34: nobody waits for minutes. */
static void test_deletion_takes_time(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    plan_deletion(&bench);
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "DeleteLoadBalancer", .job = "Processing" });
    assert_int_equal(bench_run(&bench, true), 0);
    assert_int_equal(bench.problems.count, 0);
    assert_true(bench.apply.lbc.again_ms > 0);
    assert_true(bench.apply.lbc.surprised);
    assert_null(strstr(sim_log(&bench.sim), "DeleteServerGroup"));
    assert_true(fake_host_waited_ms(bench.sim.setup.fake) <= 31000);

    /* As the next pass finds it. */
    bench_again(&bench);
    bench_set(&bench.have.lb.status, "Deleting");
    bench_step(&bench, LBC_STEP_DELETE_LB, 1);
    assert_int_equal(bench_run(&bench, true), 0);
    assert_string_equal(sim_log(&bench.sim), "");
    assert_true(bench.apply.lbc.again_ms > 0);
    bench_end(&bench);
}

/* What could not be made can still be deleted, but not unprotected. */
static void test_deletion_of_stillborn(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    plan_deletion(&bench);
    bench_set(&bench.have.lb.status, "CreateFailed");
    assert_int_equal(bench_run(&bench, true), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_true(ccm_text_starts(sim_log(&bench.sim), "DeleteLoadBalancer "));
    bench_end(&bench);
}

/* --- failures --- */

/* A port whose group cannot be made does not stop the other one. */
static void test_group_fails(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    plan_creation(&bench);
    bench_step(&bench, LBC_STEP_DELETE_GROUP, 3)->lbc.last = true;
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "CreateServerGroup",
                                             .code = "QuotaExceeded.QuotaInsufficient",
                                             .times = 1 });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(sim_log(&bench.sim),
                        "CreateLoadBalancer GetLoadBalancerAttribute CreateServerGroup "
                        "CreateServerGroup * AddServersToServerGroup CreateListener * ");
    assert_int_equal(bench.problems.count, 1);
    assert_non_null(strstr(bench_told(&bench), "port 80/TCP"));
    assert_non_null(
        strstr(bench_told(&bench), "CreateServerGroup: QuotaExceeded.QuotaInsufficient"));
    assert_non_null(strstr(bench_told(&bench), "(RequestId r-no)"));
    assert_non_null(strstr(bench_told(&bench), "quota"));
    assert_int_equal(bench.have.lbc.listener_count, 1);
    assert_int_equal(nlb_listener_at(&bench.have, 0)->lbc.port, 443);
    assert_false(bench.apply.lbc.surprised);
    bench_end(&bench);
}

/* W3, W11: a job that failed, or that nobody knows, is a failure. */
static void test_job_fails(void **state)
{
    static const struct {
        const char *status;
        const char *text;
    } cases[] = { { "Failed", "its job failed" },
                  { "", "does not know its job" },
                  { "Processing", "has not ended in time" } };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct bench bench;

        bench_begin(&bench);
        plan_creation(&bench);
        sim_rule(&bench.sim, &(struct sim_rule){ .action = "AddServersToServerGroup",
                                                 .job = cases[i].status,
                                                 .times = 1 });
        assert_int_equal(bench_run(&bench, false), 0);
        assert_int_equal(bench.problems.count, 1);
        assert_non_null(strstr(bench_told(&bench), "port 80/TCP"));
        assert_non_null(strstr(bench_told(&bench), cases[i].text));
        assert_non_null(strstr(bench_told(&bench), "(RequestId r-"));
        assert_non_null(strstr(bench_told(&bench), "console"));
        assert_int_equal(bench.problems.worst.kind, CCM_ERROR_TRANSIENT);
        assert_true(bench.apply.lbc.surprised);
        assert_int_equal(nlb_group_at(&bench.have, 0)->lbc.backends.len, 0);
        assert_int_equal(nlb_group_at(&bench.have, 1)->lbc.backends.len, 1);
        assert_int_equal(bench.have.lbc.listener_count, 2);
        bench_end(&bench);
    }
}

/* Nobody knows whether it was done: the next pass has to look. */
static void test_answer_lost(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    bench_server_step(&bench, LBC_STEP_ADD, 0, 80, "g80", "i-2");
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "AddServersToServerGroup", .lost = true });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_true(bench.apply.lbc.surprised);
    assert_int_equal(nlb_group_at(&bench.have, 0)->lbc.backends.len, 1);
    assert_int_equal(bench.problems.worst.kind, CCM_ERROR_TRANSIENT);
    bench_end(&bench);

    /* Once is no loss: the token makes the repetition safe. */
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    bench_server_step(&bench, LBC_STEP_ADD, 0, 80, "g80", "i-2");
    sim_rule(&bench.sim,
             &(struct sim_rule){ .action = "AddServersToServerGroup", .lost = true, .times = 1 });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_false(bench.apply.lbc.surprised);
    assert_int_equal(nlb_group_at(&bench.have, 0)->lbc.backends.len, 2);
    assert_string_equal(
        fake_request_param(fake_host_request(bench.sim.setup.fake, 0), "ClientToken"),
        fake_request_param(fake_host_request(bench.sim.setup.fake, 1), "ClientToken"));
    bench_end(&bench);
}

/* One run after the other, each when the first of its calls that were put off is due. */
static void run_until_done(struct bench *bench)
{
    for (int runs = 0; runs == 0 || lbc_problems_only_wait(&bench->problems); runs++) {
        assert_in_range(runs, 0, 9);
        fake_host_advance(bench->sim.setup.fake, (int64_t)bench->problems.wait_ms);
        lbc_problems_fini(&bench->problems);
        bench->problems = (struct lbc_problems)LBC_PROBLEMS_INIT;
        assert_int_equal(bench_run(bench, false), 0);
    }
}

/* W7: locks last seconds; the call is repeated, and that is all anybody notices. */
static void test_busy(void **state)
{
    static const char *const codes[] = {
        "Conflict.Lock",
        "IncorrectStatus.listener",
        "ResourceInConfiguring.loadbalancer",
        "ResourceInCreating.x",
        "SystemBusy",
        "OperationFailed.ResourceIsConfiguring",
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(codes); i++) {
        struct bench bench;

        bench_begin(&bench);
        bench_put_present(&bench, 80);
        bench_at(&bench, bench_listener_step(&bench, LBC_STEP_DELETE_LISTENER, 0, 80, "g80"),
                 "lsn-80@80");
        sim_rule(&bench.sim,
                 &(struct sim_rule){ .action = "DeleteListener", .code = codes[i], .times = 3 });
        const int64_t began = fake_host_now(bench.sim.setup.fake);

        run_until_done(&bench);
        assert_int_equal(bench.problems.count, 0);
        assert_int_equal(bench.have.lbc.listener_count, 0);
        assert_int_equal(fake_host_action_count(bench.sim.setup.fake, "DeleteListener"), 4);
        assert_true(fake_host_now(bench.sim.setup.fake) - began >= 3000);
        bench_end(&bench);
    }
}

static void test_lb_is_gone(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    bench_group_step(&bench, LBC_STEP_CREATE_GROUP, 0, 81, "g81");
    bench_server_step(&bench, LBC_STEP_ADD, 1, 81, "g81", "i-1");
    bench_listener_step(&bench, LBC_STEP_CREATE_LISTENER, 1, 81, "g81");
    bench_group_step(&bench, LBC_STEP_CREATE_GROUP, 2, 82, "g82");
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "CreateListener",
                                             .code = "ResourceNotFound.loadBalancer",
                                             .http = 404 });
    assert_true(bench_run(&bench, false) < 0);
    assert_true(bench.apply.lbc.surprised);
    assert_int_equal(bench.attempt, 1);
    assert_int_equal(bench.problems.worst.kind, CCM_ERROR_CONFLICT);
    assert_int_equal(fake_host_action_count(bench.sim.setup.fake, "CreateServerGroup"), 1);
    bench_end(&bench);
}

static void test_cancelled(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    bench_group_step(&bench, LBC_STEP_CREATE_GROUP, 0, 81, "g81");
    fake_host_cancel(bench.sim.setup.fake, true);
    assert_int_equal(bench_run(&bench, false), -ECANCELED);
    assert_int_equal(bench.problems.worst.kind, CCM_ERROR_CANCELLED);
    assert_string_equal(sim_log(&bench.sim), "");
    bench_end(&bench);
}

/* W10: a port is not taken while the listener that holds it could not be deleted. */
static void test_port_stays_taken(void **state)
{
    struct bench bench;
    struct nlb_step *one = NULL;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    bench_at(&bench, bench_listener_step(&bench, LBC_STEP_DELETE_LISTENER, 0, 80, "g80"),
             "lsn-80@80");
    one = bench_listener_step(&bench, LBC_STEP_CREATE_LISTENER, 1, 80, "g80");
    one->lbc.to->protocol = LBC_TCPSSL;
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "DeleteListener", .job = "Failed" });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(sim_log(&bench.sim), "DeleteListener * ");
    assert_int_equal(bench.problems.count, 1);
    assert_int_equal(bench.have.lbc.listener_count, 1);
    bench_end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_creation, obj_end),
        cmocka_unit_test_teardown(test_creation_takes_time, obj_end),
        cmocka_unit_test_teardown(test_creation_unseen, obj_end),
        cmocka_unit_test_teardown(test_creation_of_what_is_gone, obj_end),
        cmocka_unit_test_teardown(test_token, obj_end),
        cmocka_unit_test_teardown(test_token_used, obj_end),
        cmocka_unit_test_teardown(test_deletion, obj_end),
        cmocka_unit_test_teardown(test_deletion_of_nothing, obj_end),
        cmocka_unit_test_teardown(test_deletion_refused, obj_end),
        cmocka_unit_test_teardown(test_deletion_takes_time, obj_end),
        cmocka_unit_test_teardown(test_deletion_of_stillborn, obj_end),
        cmocka_unit_test_teardown(test_group_fails, obj_end),
        cmocka_unit_test_teardown(test_job_fails, obj_end),
        cmocka_unit_test_teardown(test_answer_lost, obj_end),
        cmocka_unit_test_teardown(test_busy, obj_end),
        cmocka_unit_test_teardown(test_lb_is_gone, obj_end),
        cmocka_unit_test_teardown(test_cancelled, obj_end),
        cmocka_unit_test_teardown(test_port_stays_taken, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
