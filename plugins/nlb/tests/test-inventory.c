/* What is read in bulk: how many calls it takes, whose part is whose, and what is left to each
 * Service when something is missing. */
#include "nlb/read.h"

#include "alilb/tests/sim_cloud.h"
#include "lbc/tests/objects.h"
#include "nlb/controller.h"
#include "nlb/nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include "lbc/tests/check.h"

#include <errno.h>
#include <string.h>

#define NAME "a5e4dbfc9c2ae4642b0335607860aef6"

/* Everything that Service a{number} has: two ports, two servers each. */
static void put_service(struct sim *sim, size_t number)
{
    char owner[16];
    char lb[16];

    ccm_text_printf(owner, sizeof(owner), "a%zu", number);
    ccm_text_printf(lb, sizeof(lb), "nlb-%zu", number);
    SIM_DO(sim, CCM_CLOUD_NLB, lb, "CreateLoadBalancer", "AddressType", "Intranet", "VpcId",
           "vpc-9", "ZoneMappings.1.ZoneId", "z-a", "ZoneMappings.1.VSwitchId", "vsw-a",
           "ZoneMappings.2.ZoneId", "z-b", "ZoneMappings.2.VSwitchId", "vsw-b", "Tag.1.Key",
           LBC_TAG_OWNER, "Tag.1.Value", owner, "Tag.2.Key", LBC_TAG_CLUSTER, "Tag.2.Value", "c1");
    for (size_t part = 0; part < 2; part++) {
        char group[24];

        ccm_text_printf(group, sizeof(group), "sgp-%zu-%zu", number, part);
        SIM_DO(sim, CCM_CLOUD_NLB, group, "CreateServerGroup", "ServerGroupName", "group", "VpcId",
               "vpc-9", "Tag.1.Key", LBC_TAG_OWNER, "Tag.1.Value", owner, "Tag.2.Key",
               LBC_TAG_CLUSTER, "Tag.2.Value", "c1");
        SIM_DO(sim, CCM_CLOUD_NLB, NULL, "AddServersToServerGroup", "ServerGroupId", group,
               "Servers.1.ServerId", "i-1", "Servers.1.ServerType", "Ecs", "Servers.1.Port",
               "30080", "Servers.1.Description", "group", "Servers.2.ServerId", "i-2",
               "Servers.2.ServerType", "Ecs", "Servers.2.Port", "30080", "Servers.2.Description",
               "group");
        SIM_DO(sim, CCM_CLOUD_NLB, NULL, "CreateListener", "LoadBalancerId", lb, "ServerGroupId",
               group, "ListenerProtocol", "TCP", "ListenerPort", part == 0 ? "80" : "81");
    }
}

static struct ccm_strmap *names(size_t services)
{
    struct ccm_strmap *map = ccm_strmap_new(NULL);
    char name[32];

    assert_non_null(map);
    for (size_t i = 0; i < services; i++) {
        (void)snprintf(name, sizeof(name), "a%zu", i);
        assert_int_equal(ccm_strmap_set(map, name, NULL), 0);
    }
    return map;
}

static void account_read_site(const void *account, struct lbc_site *ret)
{
    (void)account;
    ret->cluster_id = "c1";
}

/* An instance that reads by the client of `sim`. */
static struct lbc_instance *instance_of(struct sim *sim)
{
    static struct lbc_cloud_ops cloud;
    static struct lbc_instance lbc;

    cloud = (struct lbc_cloud_ops){ .site = account_read_site };
    lbc = (struct lbc_instance){
        .host = sim->setup.host,
        .ops = &nlb_ops,
        .cloud = { &cloud, sim->setup.ali },
    };
    return &lbc;
}

/* What a pass does. */
static bool items_take_state(struct lbc_survey *items, const struct ccm_service *service,
                             struct nlb_state *have)
{
    static const struct lbc_cloud_ops cloud = { .site = account_read_site };
    const struct lbc_instance lbc = { .ops = &nlb_ops, .cloud.ops = &cloud };
    const bool taken = lbc_survey_take(items, service, &have->lbc);

    if (taken) {
        lbc_inventory_settle(&lbc, service, &have->lbc);
    }
    return taken;
}

/* A Service whose load balancer is called a0, a1, ... */
static const struct ccm_service *service_of(size_t number)
{
    static char uid[16];
    struct ccm_service *service = obj_service();

    (void)snprintf(uid, sizeof(uid), "%zu", number);
    service->meta.uid = uid;
    return service;
}

/* One page per 100 objects of each kind. */
static void test_500(void **state)
{
    struct sim sim;
    struct lbc_survey *inventory = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *expected = names(500);

    (void)state;
    sim_begin(&sim);
    sim.cloud->limits.nlb_load_balancers = 500;
    sim.cloud->limits.nlb_server_groups = sim.cloud->limits.nlb_server_uses = 1000;
    for (size_t i = 0; i < 500; i++) {
        put_service(&sim, i);
    }
    assert_int_equal(lbc_inventory_read(instance_of(&sim), NULL, expected, &inventory, &err), 0);
    assert_int_equal(fake_host_action_count(sim.setup.fake, "ListLoadBalancers"), 5);
    assert_int_equal(fake_host_action_count(sim.setup.fake, "ListListeners"), 10);
    assert_int_equal(fake_host_action_count(sim.setup.fake, "ListServerGroups"), 10);
    assert_int_equal(fake_host_action_count(sim.setup.fake, "ListServerGroupServers"), 20);
    assert_int_equal(fake_host_request_count(sim.setup.fake), 45);
    for (size_t i = 0; i < 500; i += 499) {
        CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
        const struct ccm_service *service = service_of(i);

        assert_true(items_take_state(inventory, service, &have));
        assert_true(have.lbc.listeners_known);
        assert_true(have.lbc.groups_known);
        assert_int_equal(have.lbc.listener_count, 2);
        assert_int_equal(have.lbc.group_count, 2);
        assert_false(nlb_group_at(&have, 1)->lbc.unread);
        assert_int_equal(nlb_group_at(&have, 1)->lbc.backends.len, 2);
        assert_null(nlb_group_at(&have, 1)->lbc.backends.items[0].description);
        assert_false(items_take_state(inventory, service, &have)); /* once */
    }
    lbc_survey_free(inventory);
    sim_end(&sim);
}

/* --- single cases --- */

#define MARKS(owner, cluster)                                                                      \
    "[{'Key':'kubernetes.do.not.delete','Value':'" owner "'},{'Key':'ack.aliyun.com','Value':"     \
    "'" cluster "'}]"
#define LB(id, owner, cluster) "{'LoadBalancerId':'" id "','Tags':" MARKS(owner, cluster) "}"

static struct lbc_survey *read_one(struct sim *sim, int want)
{
    struct lbc_survey *inventory = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *expected = ccm_strmap_new(NULL);

    assert_int_equal(ccm_strmap_set(expected, NAME, NULL), 0);
    assert_int_equal(lbc_inventory_read(instance_of(sim), NULL, expected, &inventory, &err) < 0,
                     want);
    return inventory;
}

/* Neither one of two, nor another cluster's, nor a stranger's. */
static void test_whose(void **state)
{
    static const char *const answers[] = {
        "{'RequestId':'r','LoadBalancers':[" LB("nlb-1", NAME, "c1") "," LB("nlb-2", NAME,
                                                                            "c1") "]}",
        "{'RequestId':'r','LoadBalancers':[" LB("nlb-1", NAME, "c2") "]}",
        "{'RequestId':'r','LoadBalancers':[" LB("nlb-1", "other", "c1") "]}",
        "{'RequestId':'r','LoadBalancers':[]}",
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(answers); i++) {
        struct sim sim;
        CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
        struct lbc_survey *inventory = NULL;

        sim_begin(&sim);
        sim_answer(&sim, "ListLoadBalancers", answers[i]);
        inventory = read_one(&sim, 0);
        assert_false(items_take_state(inventory, obj_service(), &have));
        assert_null(have.lb.lbc.id);
        lbc_survey_free(inventory);
        sim_end(&sim);
    }
}

/* The same one on two pages, because something was deleted in between, is one. */
static void test_shifted_page(void **state)
{
    struct sim sim;
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
    struct lbc_survey *inventory = NULL;

    (void)state;
    sim_begin(&sim);
    sim_answer(&sim, "ListLoadBalancers",
               "{'RequestId':'r','NextToken':'t','LoadBalancers':[" LB("nlb-1", NAME, "c1") "]}");
    sim_answer(&sim, "ListLoadBalancers",
               "{'RequestId':'r','LoadBalancers':[" LB("nlb-1", NAME, "c1") "]}");
    inventory = read_one(&sim, 0);
    assert_true(items_take_state(inventory, obj_service(), &have));
    assert_string_equal(have.lb.lbc.id, "nlb-1");
    lbc_survey_free(inventory);
    sim_end(&sim);
}

/* One of our listeners uses a group without tags: the Service looks for its groups itself. */
static void test_lost_tags(void **state)
{
    struct sim sim;
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
    struct lbc_survey *inventory = NULL;

    (void)state;
    sim_begin(&sim);
    sim_answer(&sim, "ListLoadBalancers",
               "{'RequestId':'r','LoadBalancers':[" LB("nlb-1", NAME, "c1") "]}");
    sim_answer(&sim, "ListListeners",
               "{'RequestId':'r','Listeners':[{'ListenerId':'lsn-1','LoadBalancerId':'nlb-1',"
               "'ListenerPort':80,'ListenerProtocol':'TCP','ServerGroupId':'sgp-9',"
               "'ListenerDescription':'k8s.80.TCP.web.default.c1'},{'ListenerId':'lsn-2',"
               "'LoadBalancerId':'nlb-other','ListenerPort':80,'ListenerProtocol':'TCP'}]}");
    inventory = read_one(&sim, 0);
    assert_true(items_take_state(inventory, obj_service(), &have));
    assert_true(have.lbc.listeners_known);
    assert_int_equal(have.lbc.listener_count, 1);
    assert_false(have.lbc.groups_known);
    lbc_survey_free(inventory);
    sim_end(&sim);
}

/* What could not be read is not known; what is not known for certain is nothing. */
static void test_failures(void **state)
{
    static const struct {
        const char *action;
        bool taken;
        bool listeners;
    } cases[] = {
        { "ListLoadBalancers", false, false },
        { "ListListeners", true, false },
        { "ListServerGroups", true, true },
        { "ListServerGroupServers", true, true },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct sim sim;
        CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
        struct lbc_survey *inventory = NULL;

        sim_begin(&sim);
        if (i > 0) {
            sim_answer(&sim, "ListLoadBalancers",
                       "{'RequestId':'r','LoadBalancers':[" LB("nlb-1", NAME, "c1") "]}");
        }
        if (i > 1) {
            sim_answer(&sim, "ListListeners",
                       "{'RequestId':'r','Listeners':[{'ListenerId':'lsn-1','LoadBalancerId':"
                       "'nlb-1','ListenerPort':80,'ListenerProtocol':'TCP'}]}");
        }
        if (i > 2) {
            sim_answer(&sim, "ListServerGroups",
                       "{'RequestId':'r','ServerGroups':[{'ServerGroupId':'sgp-1','Tags':" MARKS(
                           NAME, "c1") "}]}");
        }
        sim_rule(&sim, &(struct sim_rule){ .action = cases[i].action, .code = "MissingParam.X" });
        inventory = read_one(&sim, 1);
        assert_int_equal(inventory != NULL, cases[i].taken);
        if (inventory != NULL) {
            assert_true(items_take_state(inventory, obj_service(), &have));
            assert_int_equal(have.lbc.listeners_known, cases[i].listeners);
            assert_int_equal(have.lbc.listener_count, cases[i].listeners ? 1 : 0);
            assert_false(have.lbc.groups_known);
            assert_int_equal(have.lbc.group_count, 0);
        }
        lbc_survey_free(inventory);
        sim_end(&sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_500, obj_end),
        cmocka_unit_test_teardown(test_whose, obj_end),
        cmocka_unit_test_teardown(test_shifted_page, obj_end),
        cmocka_unit_test_teardown(test_lost_tags, obj_end),
        cmocka_unit_test_teardown(test_failures, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
