/* Plans on their way into a cloud: what is sent for each kind of step, and what the mirror says
 * afterwards. */
#include "bench.h"

#include "lbc/tests/objects.h"
#include "nlb/nlb.h"
#include "util/text.h"

#include "lbc/tests/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- servers --- */

static void test_servers(void **state)
{
    struct bench bench;
    struct nlb_step *one = NULL;
    const struct lbc_backend pod = { .server_id = (char *)(uintptr_t) "eni-7",
                                     .server_ip = (char *)(uintptr_t) "10.1.0.7",
                                     .port = 80,
                                     .weight = 0,
                                     .type = LBC_BACKEND_INTERFACE };
    const struct lbc_backend other = { .server_id = (char *)(uintptr_t) "eni-8",
                                       .server_ip = (char *)(uintptr_t) "10.1.0.8",
                                       .port = 81,
                                       .weight = 1,
                                       .type = LBC_BACKEND_INTERFACE };

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    one = bench_group_step(&bench, LBC_STEP_ADD, 0, 80, "g80");
    bench_at(&bench, one, "sgp-80");
    assert_int_equal(lbc_backends_put(&one->lbc.backends, &pod), 0);
    assert_int_equal(lbc_backends_put(&one->lbc.backends, &other), 0);
    one = bench_server_step(&bench, LBC_STEP_REMOVE, 1, 80, "g80", "i-1");
    bench_at(&bench, one, "sgp-80");
    one = bench_group_step(&bench, LBC_STEP_UPDATE, 2, 80, "another-name");
    bench_at(&bench, one, "sgp-80");
    assert_int_equal(lbc_backends_put(&one->lbc.backends, &pod), 0);
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_string_equal(sim_log(&bench.sim),
                        "AddServersToServerGroup * RemoveServersFromServerGroup * "
                        "UpdateServerGroupServersAttribute * ");
    assert_string_equal(sim_param(&bench.sim, "AddServersToServerGroup", "Servers.1.ServerType"),
                        "Eni");
    assert_string_equal(sim_param(&bench.sim, "AddServersToServerGroup", "Servers.1.ServerIp"),
                        "10.1.0.7");
    assert_string_equal(sim_param(&bench.sim, "AddServersToServerGroup", "Servers.1.Weight"), "0");
    assert_string_equal(sim_param(&bench.sim, "AddServersToServerGroup", "Servers.2.ServerIp"),
                        "10.1.0.8");
    assert_string_equal(sim_param(&bench.sim, "RemoveServersFromServerGroup", "Servers.1.ServerId"),
                        "i-1");
    assert_string_equal(sim_param(&bench.sim, "RemoveServersFromServerGroup", "Servers.1.Weight"),
                        "");
    assert_int_equal(nlb_group_at(&bench.have, 0)->lbc.backends.len, 2);
    assert_string_equal(
        lbc_backends_find(&nlb_group_at(&bench.have, 0)->lbc.backends, &pod)->description,
        "another-name");
    bench_end(&bench);
}

/* Addresses, in a group of their own kind. */
static void test_addresses(void **state)
{
    struct bench bench;
    struct nlb_group *group = NULL;
    struct nlb_step *one = NULL;
    const struct lbc_backend address = { .server_id = (char *)(uintptr_t) "10.1.0.8",
                                         .server_ip = (char *)(uintptr_t) "10.1.0.8",
                                         .port = 81,
                                         .weight = 1,
                                         .type = LBC_BACKEND_IP };

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    SIM_DO(&bench.sim, CCM_CLOUD_NLB, "sgp-ip", "CreateServerGroup", "ServerGroupName", "ip",
           "VpcId", "vpc-9", "ServerGroupType", "Ip");
    group = nlb_state_new_group(&bench.have);
    bench_set(&group->lbc.id, "sgp-ip");
    bench_set(&group->lbc.name, "ip");
    one = bench_group_step(&bench, LBC_STEP_ADD, 0, 80, "ip");
    bench_at(&bench, one, "sgp-ip");
    assert_int_equal(lbc_backends_put(&one->lbc.backends, &address), 0);
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_string_equal(sim_log(&bench.sim), "AddServersToServerGroup * ");
    assert_string_equal(sim_param(&bench.sim, "AddServersToServerGroup", "Servers.1.ServerType"),
                        "Ip");
    assert_string_equal(sim_param(&bench.sim, "AddServersToServerGroup", "Servers.1.ServerIp"),
                        "10.1.0.8");
    assert_int_equal(group->lbc.backends.len, 1);
    bench_end(&bench);
}

/* No group is emptied, and no listener sent to a group, when what should be there did not arrive.
 */
static void test_starving(void **state)
{
    struct bench bench;
    struct nlb_step *move = NULL;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    bench_put_present(&bench, 443);
    bench_at(&bench, bench_server_step(&bench, LBC_STEP_ADD, 0, 80, "g80", "i-2"), "sgp-80");
    bench_at(&bench, bench_server_step(&bench, LBC_STEP_REMOVE, 1, 80, "g80", "i-1"), "sgp-80");
    move = bench_listener_step(&bench, LBC_STEP_UPDATE_LISTENER, 1, 443, "g80");
    bench_at(&bench, move, "lsn-443@443");
    move->lbc.needs_backends = true;
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "AddServersToServerGroup",
                                             .code = "ResourceNotFound.Ecs" });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(sim_log(&bench.sim), "AddServersToServerGroup ");
    assert_int_equal(bench.problems.count, 1);
    assert_int_equal(nlb_group_at(&bench.have, 0)->lbc.backends.len, 1);
    assert_string_equal(nlb_listener_at(&bench.have, 1)->lbc.group_id, "sgp-443");
    bench_end(&bench);
}

/* A group that takes no more: the old server makes room for the new one, which then comes. */
static void test_full_group(void **state)
{
    struct bench bench;

    (void)state;
    for (size_t times = 1; times <= 2; times++) {
        bench_begin(&bench);
        bench_put_present(&bench, 80);
        bench_at(&bench, bench_server_step(&bench, LBC_STEP_ADD, 0, 80, "g80", "i-2"), "sgp-80");
        bench_at(&bench, bench_server_step(&bench, LBC_STEP_REMOVE, 1, 80, "g80", "i-1"), "sgp-80");
        sim_rule(&bench.sim, &(struct sim_rule){ .action = "AddServersToServerGroup",
                                                 .code = "QuotaExceeded.QuotaInsufficient",
                                                 .times = times });
        assert_int_equal(bench_run(&bench, false), 0);
        assert_string_equal(sim_log(&bench.sim),
                            times == 1 ? "AddServersToServerGroup RemoveServersFromServerGroup * "
                                         "AddServersToServerGroup * "
                                       : "AddServersToServerGroup RemoveServersFromServerGroup * "
                                         "AddServersToServerGroup ");
        assert_int_equal(bench.problems.count, times - 1);
        assert_int_equal(nlb_group_at(&bench.have, 0)->lbc.backends.len, 2 - times);
        if (times == 2) {
            assert_non_null(strstr(bench_told(&bench), "add servers: 0 of 1 servers fit: "));
            assert_int_equal(bench.problems.worst.kind, CCM_ERROR_AUTH);
        }
        assert_false(bench.apply.lbc.surprised);
        bench_end(&bench);
    }
}

/* Servers of a group that drains take up room until their connections have ended: at most half of
 * them at a time, and somebody looks again. */
static void test_full_group_drains(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    bench_put_server(&nlb_group_at(&bench.have, 0)->lbc.backends, "i-3", 30080);
    assert_int_equal(lbc_attrs_set(&nlb_group_at(&bench.have, 0)->lbc.attrs,
                                   nlb_group_field("ConnectionDrainEnabled"), "true", false),
                     0);
    bench_at(&bench, bench_server_step(&bench, LBC_STEP_ADD, 0, 80, "g80", "i-2"), "sgp-80");
    bench_at(&bench, bench_server_step(&bench, LBC_STEP_REMOVE, 1, 80, "g80", "i-1"), "sgp-80");
    bench_put_server(&bench.plan.steps[1]->backends, "i-3", 30080);
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "AddServersToServerGroup",
                                             .code = "QuotaExceeded.QuotaInsufficient" });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_int_equal(bench.problems.count, 0);
    assert_int_equal(nlb_group_at(&bench.have, 0)->lbc.backends.len, 1);
    assert_true(nlb_group_at(&bench.have, 0)->lbc.unread);
    assert_true(bench.apply.lbc.again_ms > 0);

    /* The next pass finds one on its way out, and waits for it. */
    bench_again(&bench);
    nlb_group_at(&bench.have, 0)->lbc.unread = false;
    bench_put_server(&nlb_group_at(&bench.have, 0)->lbc.backends, "i-1", 30080);
    nlb_group_at(&bench.have, 0)->lbc.backends.items[0].leaving = true;
    bench_at(&bench, bench_server_step(&bench, LBC_STEP_ADD, 0, 80, "g80", "i-2"), "sgp-80");
    bench_at(&bench, bench_server_step(&bench, LBC_STEP_REMOVE, 1, 80, "g80", "i-3"), "sgp-80");
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "AddServersToServerGroup",
                                             .code = "QuotaExceeded.QuotaInsufficient" });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(sim_log(&bench.sim), "AddServersToServerGroup ");
    assert_int_equal(bench.problems.count, 0);
    assert_true(bench.apply.lbc.again_ms > 0);
    bench_end(&bench);
}

static void test_remove_of_absent(void **state)
{
    struct bench bench;
    struct nlb_step *two = NULL;

    (void)state;
    /* The only one: that is what was wanted. */
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    bench_at(&bench, bench_server_step(&bench, LBC_STEP_REMOVE, 0, 80, "g80", "i-1"), "sgp-80");
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "RemoveServersFromServerGroup",
                                             .code = "ResourceNotFound.BackendServer",
                                             .http = 404 });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_int_equal(bench.problems.count, 0);
    assert_int_equal(nlb_group_at(&bench.have, 0)->lbc.backends.len, 0);
    bench_end(&bench);

    /* One of two fails: the other one is removed all the same. */
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    two = bench_server_step(&bench, LBC_STEP_REMOVE, 0, 80, "g80", "i-1");
    bench_at(&bench, two, "sgp-80");
    bench_put_server(&two->lbc.backends, "i-9", 30080);
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "RemoveServersFromServerGroup",
                                             .code = "ResourceNotFound.BackendServer",
                                             .http = 404,
                                             .times = 1 });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_int_equal(bench.problems.count, 0);
    assert_false(bench.apply.lbc.surprised);
    assert_int_equal(nlb_group_at(&bench.have, 0)->lbc.backends.len, 0);
    assert_string_equal(sim_log(&bench.sim),
                        "RemoveServersFromServerGroup RemoveServersFromServerGroup * "
                        "RemoveServersFromServerGroup ");
    bench_end(&bench);
}

/* --- attributes --- */

static void tell(struct lbc_attrs *attrs, const struct lbc_anno *field, const char *value)
{
    assert_int_equal(lbc_attrs_set(attrs, field, value, true), 0);
}

static void test_listener_attributes(void **state)
{
    struct bench bench;
    struct nlb_step *one = NULL;
    const char *const action = "UpdateListenerAttribute";

    (void)state;
    bench_begin(&bench);
    bench_put_present_of(&bench, LBC_TCPSSL, 443);
    bench_want(&bench, "g443", 443)->lbc.protocol = LBC_TCPSSL;
    one = bench_listener_step(&bench, LBC_STEP_UPDATE_LISTENER, 0, 443, "g443");
    bench_at(&bench, one, "lsn-443@443");
    one->lbc.to->protocol = LBC_TCPSSL;
    tell(&one->lbc.to->attrs, nlb_listener_field("CertificateIds"), "c-1");
    tell(&one->lbc.to->attrs, nlb_listener_field("Ppv2VpcIdEnabled"), "true");
    tell(&one->lbc.to->attrs, nlb_listener_field("Ppv2PrivateLinkEpIdEnabled"), "false");
    tell(&one->lbc.to->attrs, nlb_listener_field("Cps"), "0");
    one = bench_step(&bench, NLB_STEP_ADD_CERTS, 1);
    one->lbc.to->protocol = LBC_TCPSSL;
    one->lbc.to->port = one->lbc.to->last_port = 443;
    assert_int_equal(lbc_texts_split(&one->lbc.texts, "x,y"), 0);
    one = bench_step(&bench, NLB_STEP_REMOVE_CERTS, 2);
    bench_at(&bench, one, "lsn-443@443");
    assert_int_equal(lbc_texts_split(&one->lbc.texts, "x"), 0);
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_string_equal(sim_param(&bench.sim, action, "CertificateIds.1"), "c-1");
    assert_string_equal(sim_param(&bench.sim, action, "Cps"), "0");
    assert_string_equal(sim_param(&bench.sim, action, "ProxyProtocolV2Config"),
                        "{\"Ppv2VpcIdEnabled\":true,\"Ppv2PrivateLinkEpIdEnabled\":false}");
    assert_string_equal(sim_param(&bench.sim, "AssociateAdditionalCertificatesWithListener",
                                  "AdditionalCertificateIds.2"),
                        "y");
    assert_int_equal(nlb_listener_at(&bench.have, 0)->certs.len, 1);
    assert_true(nlb_listener_at(&bench.have, 0)->lbc.attrs.items[0].explicit);
    assert_string_equal(lbc_attrs_get(&nlb_listener_at(&bench.have, 0)->lbc.attrs,
                                      nlb_listener_field("CertificateIds")),
                        "c-1");
    bench_end(&bench);
}

static void test_range_listener(void **state)
{
    struct bench bench;
    struct nlb_group *group = NULL;
    struct nlb_step *one = NULL;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    SIM_DO(&bench.sim, CCM_CLOUD_NLB, "sgp-any", "CreateServerGroup", "ServerGroupName", "any",
           "VpcId", "vpc-9", "AnyPortEnabled", "true", "HealthCheckConfig.HealthCheckEnabled",
           "false");
    group = nlb_state_new_group(&bench.have);
    bench_set(&group->lbc.id, "sgp-any");
    bench_set(&group->lbc.name, "any");
    group->lbc.protocol = LBC_TCP;
    group->any_port = bench_want(&bench, "any", 100)->any_port = true;
    one = bench_listener_step(&bench, LBC_STEP_CREATE_LISTENER, 0, 100, "any");
    one->lbc.group = &group->lbc;
    one->lbc.to->is_range = true;
    one->lbc.to->last_port = 200;
    tell(&one->lbc.to->attrs, nlb_listener_field("CertificateIds"), "not for TCP");
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_string_equal(sim_param(&bench.sim, "CreateListener", "ListenerPort"), "0");
    assert_string_equal(sim_param(&bench.sim, "CreateListener", "StartPort"), "100");
    assert_string_equal(sim_param(&bench.sim, "CreateListener", "EndPort"), "200");
    assert_string_equal(sim_param(&bench.sim, "CreateListener", "CertificateIds.1"), "");
    bench_end(&bench);
}

static void test_group_attributes(void **state)
{
    struct bench bench;
    struct nlb_step *one = NULL;
    const char *const action = "UpdateServerGroupAttribute";

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    one = bench_group_step(&bench, LBC_STEP_UPDATE_GROUP, 0, 80, "g80");
    bench_at(&bench, one, "sgp-80");
    tell(&one->lbc.attrs, nlb_group_field("Scheduler"), "rr");
    tell(&one->lbc.attrs, nlb_group_field("ResourceGroupId"), "rg-1");
    tell(&one->lbc.attrs, nlb_group_field("HealthCheckEnabled"), "true");
    tell(&one->lbc.attrs, nlb_group_field("HealthCheckHttpCode"), "http_2xx,http_3xx");
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(sim_param(&bench.sim, action, "Scheduler"), "rr");
    assert_string_equal(sim_param(&bench.sim, action, "ResourceGroupId"), "");
    assert_string_equal(sim_param(&bench.sim, action, "HealthCheckConfig.HealthCheckEnabled"),
                        "true");
    assert_string_equal(sim_param(&bench.sim, action, "HealthCheckConfig.HealthCheckHttpCode.2"),
                        "http_3xx");
    assert_string_equal(
        lbc_attrs_get(&nlb_group_at(&bench.have, 0)->lbc.attrs, nlb_group_field("Scheduler")),
        "rr");
    bench_end(&bench);
}

static void test_lb_attributes(void **state)
{
    struct bench bench;
    struct nlb_step *one = NULL;
    struct nlb_lb *lb = &bench.have.lb;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    assert_int_equal(nlb_lb_put_zone(lb, "z-a", "vsw-a", "10.0.0.1", NULL), 0);
    assert_int_equal(nlb_lb_put_zone(lb, "z-b", "vsw-b", "10.0.0.2", NULL), 0);
    lb->lbc.untagged = true;
    one = bench_step(&bench, LBC_STEP_TAG, 0);
    assert_int_equal(lbc_tags_put(&one->lbc.tags, LBC_TAG_OWNER, BENCH_NAME), 0);
    one = bench_step(&bench, NLB_STEP_ADDRESS_TYPE, 1);
    bench_set(&one->lbc.value, "Internet");
    assert_int_equal(nlb_lb_put_zone(&one->lb, "z-a", "vsw-a", NULL, "eip-7"), 0);
    one = bench_step(&bench, NLB_STEP_ZONES, 2);
    assert_int_equal(nlb_lb_put_zone(&one->lb, "z-a", "vsw-a", NULL, NULL), 0);
    assert_int_equal(nlb_lb_put_zone(&one->lb, "z-c", "vsw-c", "10.3.0.3", NULL), 0);
    bench_set(&bench_step(&bench, NLB_STEP_IPV6, 3)->lbc.value, "Internet");
    one = bench_step(&bench, NLB_STEP_ATTRIBUTE, 4);
    assert_int_equal(nlb_lb_set(&one->lb, NLB_LB_CROSS_ZONE, "false"), 0);
    bench_set(&bench_step(&bench, NLB_STEP_DETACH, 5)->lbc.value, "cbwp-1");
    bench_set(&bench_step(&bench, NLB_STEP_ATTACH, 6)->lbc.value, "cbwp-2");
    one = bench_step(&bench, NLB_STEP_PROTECT, 7);
    assert_int_equal(nlb_lb_set(&one->lb, NLB_LB_MODIFICATION, "ConsoleProtection"), 0);
    one = bench_step(&bench, LBC_STEP_UNTAG, 8);
    assert_int_equal(lbc_tags_put(&one->lbc.tags, LBC_TAG_OWNER, BENCH_NAME), 0);
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_string_equal(
        sim_param(&bench.sim, "UpdateLoadBalancerAddressTypeConfig", "ZoneMappings.1.AllocationId"),
        "eip-7");
    assert_string_equal(sim_param(&bench.sim, "UpdateLoadBalancerZones", "ZoneMappings.2.ZoneId"),
                        "z-c");
    assert_string_equal(sim_param(&bench.sim, "UpdateLoadBalancerAttribute", "LoadBalancerName"),
                        "");
    assert_string_equal(sim_param(&bench.sim, "UpdateLoadBalancerAttribute", "CrossZoneEnabled"),
                        "false");
    assert_string_equal(
        sim_param(&bench.sim, "UpdateLoadBalancerProtection", "DeletionProtectionEnabled"), "");
    assert_string_equal(
        sim_param(&bench.sim, "UpdateLoadBalancerProtection", "ModificationProtectionReason"),
        "managed.by.ack");
    assert_string_equal(sim_param(&bench.sim, "UntagResources", "TagKey.1"), LBC_TAG_OWNER);
    assert_int_equal(fake_host_action_count(bench.sim.setup.fake, "EnableLoadBalancerIpv6Internet"),
                     1);
    assert_false(lb->lbc.untagged);
    assert_int_equal(lb->lbc.tags.len, 0);
    assert_string_equal(lb->lbc.texts[NLB_LB_ADDRESS_TYPE], "Internet");
    assert_string_equal(lb->lbc.texts[NLB_LB_CROSS_ZONE], "false");
    assert_string_equal(lb->lbc.texts[NLB_LB_PACKAGE], "cbwp-2");
    assert_int_equal(lb->zone_count, 2);
    assert_string_equal(lb->zones[0].address, "10.0.0.1");
    assert_string_equal(lb->zones[0].eip, "eip-7");
    assert_string_equal(lb->zones[1].zone_id, "z-c");
    bench_end(&bench);
}

/* --- the security group --- */

static void put_rule(struct nlb_security_group *security_group, const char *id, const char *cidr,
                     bool drop)
{
    struct nlb_rule *rule = nlb_security_group_new_rule(security_group);

    assert_non_null(rule);
    bench_set(&rule->id, id);
    bench_set(&rule->cidr, cidr);
    bench_set(&rule->protocol, "All");
    bench_set(&rule->port_range, "-1/-1");
    bench_set(&rule->description, "k8s.default.web.c1");
    rule->drop = drop;
    rule->priority = drop ? 100 : 1;
    rule->ipv6 = strchr(cidr, ':') != NULL;
}

static void plan_guard(struct bench *bench)
{
    struct nlb_step *one = bench_step(bench, NLB_STEP_CREATE_SECURITY_GROUP, 0);

    bench_set(&one->security_group.name, "k8s-nlb-x");
    bench_set(&one->security_group.description, "k8s.default.web.c1");
    one = bench_step(bench, NLB_STEP_ADD_RULES, 1);
    put_rule(&one->security_group, NULL, "10.0.0.0/8", false);
    put_rule(&one->security_group, NULL, "fd00::/8", false);
    put_rule(&one->security_group, NULL, "0.0.0.0/0", true);
    one = bench_step(bench, NLB_STEP_JOIN, 2);
    one->with_security_group = one->lbc.needs_security = true;
    one = bench_listener_step(bench, LBC_STEP_CREATE_LISTENER, 3, 81, "g80");
    one->lbc.needs_security = true;
}

static void test_guard(void **state)
{
    struct bench bench;
    struct nlb_step *one = NULL;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    plan_guard(&bench);
    sim_next_id(&bench.sim, "sg-1");
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_string_equal(sim_log(&bench.sim),
                        "CreateSecurityGroup AuthorizeSecurityGroup LoadBalancerJoinSecurityGroup "
                        "* CreateListener * ");
    assert_string_equal(sim_param(&bench.sim, "CreateSecurityGroup", "VpcId"), "vpc-9");
    assert_string_equal(sim_param(&bench.sim, "CreateSecurityGroup", "SecurityGroupType"),
                        "enterprise");
    assert_string_equal(
        sim_param(&bench.sim, "AuthorizeSecurityGroup", "Permissions.2.Ipv6SourceCidrIp"),
        "fd00::/8");
    assert_string_equal(sim_param(&bench.sim, "AuthorizeSecurityGroup", "Permissions.3.Policy"),
                        "drop");
    assert_string_equal(
        sim_param(&bench.sim, "LoadBalancerJoinSecurityGroup", "SecurityGroupIds.1"), "sg-1");
    assert_string_equal(bench.have.security_group.id, "sg-1");
    assert_int_equal(bench.have.security_group.rule_count, 3);
    assert_true(lbc_texts_has(&bench.have.lb.security_groups, "sg-1"));

    /* Ids of rules are looked up when one of them has to change. */
    bench_again(&bench);
    put_rule(&bench_step(&bench, NLB_STEP_MODIFY_RULE, 0)->security_group, NULL, "10.0.0.0/8",
             false);
    put_rule(&bench_step(&bench, NLB_STEP_REMOVE_RULES, 1)->security_group, NULL, "fd00::/8",
             false);
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_string_equal(sim_param(&bench.sim, "ModifySecurityGroupRule", "SecurityGroupRuleId"),
                        bench.have.security_group.rules[0].id);
    assert_int_equal(bench.have.security_group.rule_count, 2);
    assert_string_equal(bench.have.security_group.rules[0].cidr, "10.0.0.0/8");

    bench_again(&bench);
    one = bench_step(&bench, NLB_STEP_LEAVE, 0);
    one->with_security_group = one->lbc.needs_security = true;
    bench_step(&bench, NLB_STEP_DELETE_SECURITY_GROUP, 1)->lbc.last = true;
    assert_int_equal(bench_run(&bench, false), 0);
    assert_null(bench.have.security_group.id);
    assert_int_equal(bench.have.lb.security_groups.len, 0);
    bench_end(&bench);
}

/* W2: without the security group nobody is let in. */
static void test_guard_fails(void **state)
{
    static const char *const actions[] = { "CreateSecurityGroup", "AuthorizeSecurityGroup",
                                           "LoadBalancerJoinSecurityGroup" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(actions); i++) {
        struct bench bench;

        bench_begin(&bench);
        bench_put_present(&bench, 80);
        plan_guard(&bench);
        sim_rule(&bench.sim,
                 &(struct sim_rule){ .action = actions[i], .code = "Forbidden.RAM", .http = 403 });
        assert_int_equal(bench_run(&bench, false), 0);
        assert_int_equal(bench.problems.count, 1);
        assert_int_equal(fake_host_action_count(bench.sim.setup.fake, "CreateListener"), 0);
        assert_int_equal(
            fake_host_action_count(bench.sim.setup.fake, "LoadBalancerJoinSecurityGroup"), i == 2);
        bench_end(&bench);
    }
}

/* Full: what has to go makes room first. */
static void test_join_needs_room(void **state)
{
    struct bench bench;
    struct nlb_step *one = NULL;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    SIM_DO(&bench.sim, CCM_CLOUD_NLB, NULL, "LoadBalancerJoinSecurityGroup", "LoadBalancerId",
           "nlb-1", "SecurityGroupIds.1", "sg-old");
    assert_int_equal(lbc_texts_put(&bench.have.lb.security_groups, "sg-old"), 0);
    assert_int_equal(lbc_texts_put(&bench_step(&bench, NLB_STEP_JOIN, 0)->lbc.texts, "sg-new"), 0);
    one = bench_step(&bench, NLB_STEP_LEAVE, 1);
    one->lbc.needs_security = true;
    assert_int_equal(lbc_texts_put(&one->lbc.texts, "sg-old"), 0);
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "LoadBalancerJoinSecurityGroup",
                                             .code = "QuotaExceeded.QuotaInsufficient",
                                             .times = 1 });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_string_equal(sim_log(&bench.sim),
                        "LoadBalancerJoinSecurityGroup LoadBalancerLeaveSecurityGroup * "
                        "LoadBalancerJoinSecurityGroup * ");
    assert_int_equal(bench.have.lb.security_groups.len, 1);
    assert_true(lbc_texts_has(&bench.have.lb.security_groups, "sg-new"));
    bench_end(&bench);

    /* Nothing leaves: the refusal counts. */
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    assert_int_equal(lbc_texts_put(&bench_step(&bench, NLB_STEP_JOIN, 0)->lbc.texts, "sg-new"), 0);
    one = bench_step(&bench, NLB_STEP_LEAVE, 1);
    assert_int_equal(lbc_texts_put(&one->lbc.texts, "sg-old"), 0);
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "LoadBalancerJoinSecurityGroup",
                                             .code = "QuotaExceeded.QuotaInsufficient" });
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "LoadBalancerLeaveSecurityGroup",
                                             .code = "Forbidden.RAM",
                                             .http = 403 });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_int_equal(bench.problems.count, 2);
    bench_end(&bench);
}

static void test_rules_need_room(void **state)
{
    struct bench bench;

    (void)state;
    bench_begin(&bench);
    bench_put_present(&bench, 80);
    SIM_DO(&bench.sim, CCM_CLOUD_ECS, "sg-1", "CreateSecurityGroup", "VpcId", "vpc-9",
           "SecurityGroupType", "enterprise");
    SIM_DO(&bench.sim, CCM_CLOUD_ECS, "sgr-1", "AuthorizeSecurityGroup", "SecurityGroupId", "sg-1",
           "Permissions.1.IpProtocol", "All", "Permissions.1.PortRange", "-1/-1",
           "Permissions.1.SourceCidrIp", "10.0.0.0/8");
    bench_set(&bench.have.security_group.id, "sg-1");
    put_rule(&bench.have.security_group, "sgr-1", "10.0.0.0/8", false);
    put_rule(&bench_step(&bench, NLB_STEP_ADD_RULES, 0)->security_group, NULL, "10.1.0.0/16",
             false);
    put_rule(&bench_step(&bench, NLB_STEP_REMOVE_RULES, 1)->security_group, "sgr-1", "10.0.0.0/8",
             false);
    sim_rule(&bench.sim, &(struct sim_rule){ .action = "AuthorizeSecurityGroup",
                                             .code = "AuthorizationLimitExceed",
                                             .http = 403,
                                             .times = 1 });
    assert_int_equal(bench_run(&bench, false), 0);
    assert_string_equal(bench_told(&bench), "");
    assert_string_equal(sim_log(&bench.sim),
                        "AuthorizeSecurityGroup RevokeSecurityGroup AuthorizeSecurityGroup ");
    assert_int_equal(bench.have.security_group.rule_count, 1);
    assert_string_equal(bench.have.security_group.rules[0].cidr, "10.1.0.0/16");
    bench_end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_servers, obj_end),
        cmocka_unit_test_teardown(test_addresses, obj_end),
        cmocka_unit_test_teardown(test_starving, obj_end),
        cmocka_unit_test_teardown(test_full_group, obj_end),
        cmocka_unit_test_teardown(test_full_group_drains, obj_end),
        cmocka_unit_test_teardown(test_remove_of_absent, obj_end),
        cmocka_unit_test_teardown(test_listener_attributes, obj_end),
        cmocka_unit_test_teardown(test_range_listener, obj_end),
        cmocka_unit_test_teardown(test_group_attributes, obj_end),
        cmocka_unit_test_teardown(test_lb_attributes, obj_end),
        cmocka_unit_test_teardown(test_guard, obj_end),
        cmocka_unit_test_teardown(test_guard_fails, obj_end),
        cmocka_unit_test_teardown(test_join_needs_room, obj_end),
        cmocka_unit_test_teardown(test_rules_need_room, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
