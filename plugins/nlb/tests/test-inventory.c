/* What is read in bulk: how many calls it takes, whose part is whose, and what is left to each
 * Service when something is missing. */
#include "nlb/inventory.h"

#include "echo.h"
#include "lbc/tests/objects.h"
#include "nlb/controller.h"
#include "nlb/nlb.h"
#include "util/cleanup.h"

#include "alicloud/tests/check.h"

#include <errno.h>
#include <string.h>

#define NAME "a5e4dbfc9c2ae4642b0335607860aef6"

/* Everything of so many Services in a region, a page at a time. */
struct region {
    struct ccm_buf body;
    size_t services;
};

static const struct {
    const char *action;
    const char *list;
    size_t per_service;
} kinds[] = {
    { "ListLoadBalancers", "LoadBalancers", 1 },
    { "ListListeners", "Listeners", 2 },
    { "ListServerGroups", "ServerGroups", 2 },
    { "ListServerGroupServers", "Servers", 4 },
};

static void add_item(struct ccm_buf *body, size_t kind, size_t service, size_t part)
{
    switch (kind) {
    case 0:
        ccm_buf_addf(body,
                     "{\"LoadBalancerId\":\"nlb-%zu\",\"LoadBalancerStatus\":\"Active\",\"Tags\":"
                     "[{\"Key\":\"kubernetes.do.not.delete\",\"Value\":\"a%zu\"},{\"Key\":"
                     "\"ack.aliyun.com\",\"Value\":\"c1\"}]}",
                     service, service);
        break;
    case 1:
        ccm_buf_addf(body,
                     "{\"ListenerId\":\"lsn-%zu-%zu\",\"LoadBalancerId\":\"nlb-%zu\","
                     "\"ListenerPort\":%zu,\"ListenerProtocol\":\"TCP\",\"ServerGroupId\":"
                     "\"sgp-%zu-%zu\"}",
                     service, part, service, 80 + part, service, part);
        break;
    case 2:
        ccm_buf_addf(body,
                     "{\"ServerGroupId\":\"sgp-%zu-%zu\",\"ServerCount\":2,\"ServerGroupName\":"
                     "\"g\",\"Tags\":[{\"Key\":\"kubernetes.do.not.delete\",\"Value\":\"a%zu\"},"
                     "{\"Key\":\"ack.aliyun.com\",\"Value\":\"c1\"}]}",
                     service, part, service);
        break;
    default:
        ccm_buf_addf(body,
                     "{\"ServerGroupId\":\"sgp-%zu-%zu\",\"ServerId\":\"i-%zu\",\"ServerType\":"
                     "\"Ecs\",\"Port\":30080,\"Weight\":100,\"Description\":\"g\"}",
                     service, part / 2, part % 2);
        break;
    }
}

static bool answer(void *arg, const struct fake_request *request, struct fake_reply *ret)
{
    struct region *region = arg;
    const char *token = fake_request_param(request, "NextToken");
    const size_t from = token == NULL ? 0 : strlen(token) * 100; /* as many x as pages */
    size_t kind = 0;

    while (strcmp(kinds[kind].action, request->action) != 0) {
        if (++kind == CCM_ARRAY_LEN(kinds)) {
            return false;
        }
    }
    const size_t per = kinds[kind].per_service;
    const size_t all = region->services * per;
    const size_t to = from + 100 < all ? from + 100 : all;

    ccm_buf_reset(&region->body);
    ccm_buf_addf(&region->body, "{\"RequestId\":\"r\",\"%s\":[", kinds[kind].list);
    for (size_t i = from; i < to; i++) {
        ccm_buf_adds(&region->body, i == from ? "" : ",");
        add_item(&region->body, kind, i / per, i % per);
    }
    ccm_buf_addf(&region->body, "],\"NextToken\":\"");
    for (size_t i = 0; to < all && i < to / 100; i++) {
        ccm_buf_addc(&region->body, 'x');
    }
    ccm_buf_adds(&region->body, "\"}");
    ret->body = ccm_buf_str(&region->body);
    return true;
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

static const char *cluster_id(const void *account)
{
    (void)account;
    return "c1";
}

/* An instance that reads by the client of `echo`. */
static struct lbc_instance *instance_of(struct echo *echo)
{
    static struct lbc_cloud_ops cloud;
    static struct lbc_instance lbc;

    cloud = (struct lbc_cloud_ops){ .cluster_id = cluster_id };
    lbc = (struct lbc_instance){
        .host = echo->setup.host,
        .ops = &nlb_ops,
        .cloud = { &cloud, echo->setup.ali },
    };
    return &lbc;
}

/* What a pass does. */
static bool items_take_state(struct lbc_items *items, const struct ccm_service *service,
                             struct nlb_state *have)
{
    static const struct lbc_cloud_ops cloud = { .cluster_id = cluster_id };
    const struct lbc_instance lbc = { .cloud.ops = &cloud };
    const bool taken = lbc_items_take(items, service, &have->lbc);

    if (taken) {
        nlb_inventory_ops.settle(&lbc, service, &have->lbc);
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
    struct echo echo;
    struct region region = { .services = 500 };
    struct lbc_items *inventory = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *expected = names(500);

    (void)state;
    echo_begin(&echo);
    fake_host_on_http(echo.setup.fake, answer, &region);
    assert_int_equal(lbc_inventory_read(instance_of(&echo), NULL, expected, &inventory, &err), 0);
    assert_int_equal(fake_host_action_count(echo.setup.fake, "ListLoadBalancers"), 5);
    assert_int_equal(fake_host_action_count(echo.setup.fake, "ListListeners"), 10);
    assert_int_equal(fake_host_action_count(echo.setup.fake, "ListServerGroups"), 10);
    assert_int_equal(fake_host_action_count(echo.setup.fake, "ListServerGroupServers"), 20);
    assert_int_equal(fake_host_request_count(echo.setup.fake), 45);
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
    lbc_items_free(inventory);
    echo_end(&echo);
    ccm_buf_fini(&region.body);
}

/* --- single cases --- */

#define MARKS(owner, cluster)                                                                      \
    "[{'Key':'kubernetes.do.not.delete','Value':'" owner "'},{'Key':'ack.aliyun.com','Value':"     \
    "'" cluster "'}]"
#define LB(id, owner, cluster) "{'LoadBalancerId':'" id "','Tags':" MARKS(owner, cluster) "}"

static struct lbc_items *read_one(struct echo *echo, int want)
{
    struct lbc_items *inventory = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *expected = ccm_strmap_new(NULL);

    assert_int_equal(ccm_strmap_set(expected, NAME, NULL), 0);
    assert_int_equal(lbc_inventory_read(instance_of(echo), NULL, expected, &inventory, &err) < 0,
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
        struct echo echo;
        CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
        struct lbc_items *inventory = NULL;

        echo_begin(&echo);
        echo_answer(&echo, "ListLoadBalancers", answers[i]);
        inventory = read_one(&echo, 0);
        assert_false(items_take_state(inventory, obj_service(), &have));
        assert_null(have.lb.lbc.id);
        lbc_items_free(inventory);
        echo_end(&echo);
    }
}

/* The same one on two pages, because something was deleted in between, is one. */
static void test_shifted_page(void **state)
{
    struct echo echo;
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
    struct lbc_items *inventory = NULL;

    (void)state;
    echo_begin(&echo);
    echo_answer(&echo, "ListLoadBalancers",
                "{'RequestId':'r','NextToken':'t','LoadBalancers':[" LB("nlb-1", NAME, "c1") "]}");
    echo_answer(&echo, "ListLoadBalancers",
                "{'RequestId':'r','LoadBalancers':[" LB("nlb-1", NAME, "c1") "]}");
    inventory = read_one(&echo, 0);
    assert_true(items_take_state(inventory, obj_service(), &have));
    assert_string_equal(have.lb.lbc.id, "nlb-1");
    lbc_items_free(inventory);
    echo_end(&echo);
}

/* One of our listeners uses a group without tags: the Service looks for its groups itself. */
static void test_lost_tags(void **state)
{
    struct echo echo;
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
    struct lbc_items *inventory = NULL;

    (void)state;
    echo_begin(&echo);
    echo_answer(&echo, "ListLoadBalancers",
                "{'RequestId':'r','LoadBalancers':[" LB("nlb-1", NAME, "c1") "]}");
    echo_answer(&echo, "ListListeners",
                "{'RequestId':'r','Listeners':[{'ListenerId':'lsn-1','LoadBalancerId':'nlb-1',"
                "'ListenerPort':80,'ListenerProtocol':'TCP','ServerGroupId':'sgp-9',"
                "'ListenerDescription':'k8s.80.TCP.web.default.c1'},{'ListenerId':'lsn-2',"
                "'LoadBalancerId':'nlb-other','ListenerPort':80,'ListenerProtocol':'TCP'}]}");
    inventory = read_one(&echo, 0);
    assert_true(items_take_state(inventory, obj_service(), &have));
    assert_true(have.lbc.listeners_known);
    assert_int_equal(have.lbc.listener_count, 1);
    assert_false(have.lbc.groups_known);
    lbc_items_free(inventory);
    echo_end(&echo);
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
        struct echo echo;
        CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
        struct lbc_items *inventory = NULL;

        echo_begin(&echo);
        if (i > 0) {
            echo_answer(&echo, "ListLoadBalancers",
                        "{'RequestId':'r','LoadBalancers':[" LB("nlb-1", NAME, "c1") "]}");
        }
        if (i > 1) {
            echo_answer(&echo, "ListListeners",
                        "{'RequestId':'r','Listeners':[{'ListenerId':'lsn-1','LoadBalancerId':"
                        "'nlb-1','ListenerPort':80,'ListenerProtocol':'TCP'}]}");
        }
        if (i > 2) {
            echo_answer(&echo, "ListServerGroups",
                        "{'RequestId':'r','ServerGroups':[{'ServerGroupId':'sgp-1','Tags':" MARKS(
                            NAME, "c1") "}]}");
        }
        echo_rule(&echo,
                  &(struct echo_rule){ .action = cases[i].action, .code = "MissingParam.X" });
        inventory = read_one(&echo, 1);
        assert_int_equal(inventory != NULL, cases[i].taken);
        if (inventory != NULL) {
            assert_true(items_take_state(inventory, obj_service(), &have));
            assert_int_equal(have.lbc.listeners_known, cases[i].listeners);
            assert_int_equal(have.lbc.listener_count, cases[i].listeners ? 1 : 0);
            assert_false(have.lbc.groups_known);
            assert_int_equal(have.lbc.group_count, 0);
        }
        lbc_items_free(inventory);
        echo_end(&echo);
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
