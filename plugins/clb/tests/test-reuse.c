/* Whole passes of Services that use somebody else's load balancer, alone and together. */
#include "world.h"

#include "lbc/instance.h"
#include "util/attr.h"
#include "util/text.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define KEY(port)  "k8s/" port "/web/default/" MINI_CLUSTER
#define API(port)  "k8s/" port "/api/default/" MINI_CLUSTER
#define REUSE_TAG  "kubernetes.reused.by.user"
#define READS_COLD "DescribeLoadBalancerAttribute"

static void annotate_service(struct ccm_service *service, const char *suffix, const char *value)
{
    char key[160];

    ccm_text_printf(key, sizeof(key), P "%s", suffix);
    obj_annotate(&service->meta, key, value);
}

static void fixture_begin(struct world *world, bool override)
{
    world_begin(world);
    mini_add_lb();
    world->lb_id = MINI_HAND;
    world->lb_ip = "47.9.9.9";
    annotate_service(world->service, "id", MINI_HAND);
    if (override) {
        annotate_service(world->service, "force-override-listeners", "true");
    }
    world_put(world);
}

static void delete (struct world *world)
{
    world->service->meta.deleted_ms = 1;
    world_put(world);
    mini_reset_log();
}

static const char *last_patch(struct world *world)
{
    return fake_host_patch(world->fake, fake_host_patch_count(world->fake) - 1)->body;
}

/* --- alone --- */

static void test_without_override(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, false);
    mini_show_all();
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), READS_COLD " DescribeLoadBalancerListeners "
                                               "DescribeVServerGroups TagResources "
                                               "CreateVServerGroup CreateVServerGroup");
    assert_non_null(strstr(mini_dump(), "tag " REUSE_TAG "=true\n"));
    assert_null(strstr(mini_dump(), "tcp 80"));
    assert_non_null(strstr(last_patch(&world), "47.9.9.9"));
    assert_non_null(strstr(last_patch(&world), MINI_HAND));
    world_settle(&world);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "");
    world_restart(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), READS_COLD " DescribeLoadBalancerListeners "
                                               "DescribeVServerGroups "
                                               "DescribeVServerGroupAttribute "
                                               "DescribeVServerGroupAttribute");
    world_end(&world);
}

static void test_with_override(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, true);
    mini_add_listener(8000, "made by hand");
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "tcp 80 running rr " KEY("30080")));
    assert_non_null(strstr(mini_dump(), "tcp 8000 running"));
    world_settle(&world);
    delete (&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), "lb by-hand internet open\ntcp 8000 running - -\n");
    assert_string_equal(mini_log(), "DescribeLoadBalancerListeners "
                                    "DeleteLoadBalancerListener DeleteLoadBalancerListener "
                                    "DeleteVServerGroup DeleteVServerGroup UntagResources");
    world_end(&world);
}

/* Attributes are managed on a reused load balancer too, its own tags are left alone. */
static void test_attributes(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, false);
    mini_show_all();
    mini_tag("cost", "center");
    annotate_service(world.service, "name", "front");
    annotate_service(world.service, "additional-resource-tags", "a=b," REUSE_TAG "=no");
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "lb front "));
    assert_non_null(strstr(mini_dump(), "tag a=b\ntag cost=center\ntag " REUSE_TAG "=true\n"));
    world_end(&world);
}

struct refusal_case {
    const char *name;
    void (*prepare)(struct world *world);
    const char *message;
};

static void made_by_us(struct world *world)
{
    (void)world; /* it is about the load balancer */
    mini_tag("ack.aliyun.com", "c-other");
}

static void bound_elsewhere(struct world *world)
{
    obj_ingress(world->service, "47.0.0.1", "");
}

static void named_elsewhere(struct world *world)
{
    obj_ingress(world->service, "", "a.example.com");
    obj_label(&world->service->meta, LBC_LIFE_LB_LABEL, "lb-other");
}

static void eip_elsewhere(struct world *world)
{
    annotate_service(world->service, "external-ip-type", "eip");
    obj_ingress(world->service, "8.8.8.8", "");
    obj_label(&world->service->meta, LBC_LIFE_LB_LABEL, "lb-other");
}

static void unknown(struct world *world)
{
    annotate_service(world->service, "id", "lb-none");
}

static void of_another_type(struct world *world)
{
    annotate_service(world->service, "address-type", "intranet");
}

static void test_refusals(void **state)
{
    static const struct refusal_case cases[] = {
        { "made by a controller", made_by_us,
          "alicloud: the loadbalancer lb-hand can not be reused, can not reuse loadbalancer "
          "created by kubernetes." },
        { "another address", bound_elsewhere,
          "alicloud: the loadbalancer lb-hand can not be reused, service has been associated with "
          "ip [47.0.0.1], cannot be bound to ip [47.9.9.9]" },
        { "another one behind a name", named_elsewhere,
          "alicloud: the loadbalancer lb-hand can not be reused, service has been associated with "
          "loadbalancer [lb-other]" },
        { "another one behind an elastic address", eip_elsewhere,
          "service has been associated with loadbalancer [lb-other]" },
        { "unknown", unknown, "[default/web] find loadbalancer by id error: " },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct world world;

        fixture_begin(&world, true);
        cases[i].prepare(&world);
        world_put(&world);
        assert_true(world_run(&world) < 0);
        if (strstr(world.err.message, cases[i].message) == NULL) {
            fail_msg("%s: %s", cases[i].name, world.err.message);
        }
        assert_string_equal(mini_log(), READS_COLD);
        assert_string_equal(mini_dump(), "lb by-hand internet open\n");
        /* The Service can be deleted all the same, and takes nothing with it. */
        obj_finalizer(&world.service->meta, CLB_FINALIZER);
        delete (&world);
        assert_int_equal(world_run(&world), 0);
        assert_string_equal(mini_dump(), "lb by-hand internet open\n");
        world_end(&world);
    }
}

static void test_type_must_match(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, false);
    of_another_type(&world);
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_non_null(strstr(world.err.message, "its address type is internet and the "
                                              "Service needs intranet"));
    assert_string_equal(mini_dump(), "lb by-hand internet open\n");
    world_end(&world);
}

/* From a load balancer of its own to somebody's: refused, and the own one is not forgotten. */
static void test_own_one_is_not_orphaned(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    annotate_service(world.service, "id", LB_ID);
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_non_null(strstr(world.err.message, "created by kubernetes."));
    annotate_service(world.service, "id", "lb-2");
    world.service->ingress_count = 0;
    world_put(&world);
    assert_true(world_run(&world) < 0);
    annotate_service(world.service, "id", "lb-2");
    delete (&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), "");
    world_end(&world);
}

static void test_ipv6_can_be_deleted(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, true);
    mini_set_attr("AddressIPVersion", "ipv6");
    annotate_service(world.service, "ip-version", "ipv6");
    world_put(&world);
    world_steady(&world);
    annotate_service(world.service, "ip-version", NULL);
    delete (&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), "lb by-hand internet open\n");
    world_end(&world);
}

static void test_delete_keeps_others(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, false);
    mini_add_group("rsp-user", "mine");
    annotate_service(world.service, "vgroup-port", "rsp-user:443");
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    mini_add_backend("mine", "i-hand");
    mini_add_backend("30080", "i-hand");
    world_settle(&world);
    world_restart(&world);
    delete (&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), "lb by-hand internet open\n"
                                     "group mine i-hand:1=1\n"
                                     "group " KEY("30080") " i-hand:1=1\n");
    world_end(&world);
}

/* --- chosen groups --- */

static void test_chosen_group(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, true);
    mini_add_group("rsp-a", "first");
    mini_add_group("rsp-b", "second");
    mini_add_backend("first", "i-hand");
    annotate_service(world.service, "vgroup-port", " rsp-a : 80 ");
    annotate_service(world.service, "weight", "60");
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "group first i-1:30080=30 i-2:30080=30 i-hand:1=1\n"));
    assert_non_null(strstr(mini_dump(), "tcp 80 running rr first\n"));
    assert_non_null(strstr(mini_dump(), "tcp 443 running rr " KEY("30443")));
    assert_string_equal(mini_last("AddVServerGroupBackendServers", "VServerGroupId"), "rsp-a");
    assert_non_null(strstr(mini_last("AddVServerGroupBackendServers", "BackendServers"),
                           "\"Description\":\"" KEY("30080") "\""));
    world_settle(&world);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "");
    /* Another one, after a restart: the first is found again by what is in it. */
    annotate_service(world.service, "vgroup-port", "rsp-b:80");
    world_put(&world);
    world_restart(&world);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "group first i-hand:1=1\n"));
    assert_non_null(strstr(mini_dump(), "group second i-1:30080=30 i-2:30080=30\n"));
    assert_non_null(strstr(mini_dump(), "tcp 80 running rr second\n"));
    /* And back to a group of our own. */
    world_settle(&world);
    annotate_service(world.service, "vgroup-port", NULL);
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "group second\n"));
    assert_non_null(strstr(mini_dump(), "tcp 80 running rr " KEY("30080")));
    world_end(&world);
}

static void test_two_ports_one_group(void **state)
{
    struct world world;

    (void)state;
    fixture_begin(&world, true);
    mini_add_group("rsp-a", "first");
    annotate_service(world.service, "vgroup-port", "rsp-a:80,rsp-a:443");
    world_put(&world);
    world_steady(&world);
    assert_non_null(strstr(
        mini_dump(), "group first i-1:30080=100 i-1:30443=100 i-2:30080=100 i-2:30443=100\n"));
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "");
    world_end(&world);
}

static void test_bad_chosen_group(void **state)
{
    static const struct {
        const char *value;
        const char *message;
    } cases[] = {
        { "rsp-none:443", "port 443/tcp: can not find vgroupId rsp-none in lb lb-hand" },
        { "rsp-ccm:443", "port 443/tcp: cannot reuse a ccm created vgroup rsp-ccm for slb" },
        { "rsp-a", "vgroupid and protocol format must be like 'vsp-xxx:443' with colon "
                   "separated. got=[[rsp-a]]" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct world world;

        fixture_begin(&world, true);
        world_steady(&world);
        mini_add_group("rsp-ccm", "k8s/1/x/y/z");
        world_restart(&world);
        annotate_service(world.service, "vgroup-port", cases[i].value);
        world_add_node(&world, "n3", "cn-hangzhou.i-3");
        world_put(&world);
        assert_true(world_run(&world) < 0);
        assert_int_equal(world.err.kind, CCM_ERROR_TERMINAL);
        if (strstr(world.err.message, cases[i].message) == NULL) {
            fail_msg("%s: %s", cases[i].value, world.err.message);
        }
        /* That port is as it was. */
        assert_non_null(strstr(mini_dump(), "tcp 443 running rr " KEY("30443")));
        assert_non_null(strstr(mini_dump(), "group " KEY("30443") " i-1:30443=100 i-2:30443=100"));
        /* The others follow. */
        assert_non_null(strstr(mini_dump(), "i-3:30080=100"));
        world_end(&world);
    }
}

/* --- together --- */

static struct ccm_service *add_api(struct world *world)
{
    struct ccm_service *api = obj_service();
    struct ccm_endpoint_slice *slice = obj_slice("api-1");

    api->meta.name = "api";
    api->meta.key = "default/api";
    api->meta.uid = "11111111-2222-3333-4444-555555555555";
    obj_port(api, "api", "TCP", 8080, "8080", 31080);
    annotate_service(api, "id", MINI_HAND);
    annotate_service(api, "force-override-listeners", "true");
    slice->service_name = "api";
    obj_endpoint(slice, "10.1.0.7", "n1", READY);
    obj_slice_port(slice, "api", 8080);
    fake_host_put(world->fake, &api->meta);
    fake_host_put(world->fake, &slice->meta);
    return api;
}

static void test_two_services(void **state)
{
    struct ccm_service *api = NULL;
    struct world world;

    (void)state;
    fixture_begin(&world, true);
    api = add_api(&world);
    assert_int_equal(world_run(&world), 0);
    mini_reset_log();
    assert_int_equal(world_run_key(&world, "default/api"), 0);
    /* One mirror: nothing is read twice. */
    assert_string_equal(mini_log(), "CreateVServerGroup CreateLoadBalancerTCPListener "
                                    "StartLoadBalancerListener");
    assert_non_null(strstr(mini_dump(), "tcp 80 running rr " KEY("30080")));
    assert_non_null(strstr(mini_dump(), "tcp 8080 running rr " API("31080")));
    /* A restart reads the load balancer once for both. */
    world_settle(&world);
    world_restart(&world);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(mini_calls(), 5);
    assert_int_equal(world_run_key(&world, "default/api"), 0);
    assert_int_equal(mini_calls(), 6);
    /* Deletion of one leaves the other alone, and the mark on the load balancer. */
    mini_show_all();
    delete (&world);
    assert_int_equal(world_run(&world), 0);
    assert_null(strstr(mini_dump(), "/web/"));
    assert_non_null(strstr(mini_dump(), "tcp 8080 running rr " API("31080")));
    assert_non_null(strstr(mini_dump(), "group " API("31080") " i-1:31080=100 i-2:31080=100"));
    assert_non_null(strstr(mini_dump(), "tag " REUSE_TAG));
    obj_finalizer(&api->meta, CLB_FINALIZER);
    api->meta.deleted_ms = 1;
    fake_host_put(world.fake, &api->meta);
    assert_int_equal(world_run_key(&world, "default/api"), 0);
    assert_null(strstr(mini_dump(), "k8s/"));
    assert_null(strstr(mini_dump(), "tag "));
    world_end(&world);
}

static void test_same_port(void **state)
{
    struct ccm_service *api = NULL;
    struct world world;

    (void)state;
    fixture_begin(&world, true);
    api = add_api(&world);
    obj_port(api, "clash", "TCP", 80, "8080", 31081);
    fake_host_put(world.fake, &api->meta);
    assert_int_equal(world_run(&world), 0);
    assert_true(world_run_key(&world, "default/api") < 0);
    assert_non_null(strstr(world.err.message, "port 80/tcp: the listener belongs to another"));
    assert_non_null(strstr(mini_dump(), "tcp 80 running rr " KEY("30080")));
    assert_non_null(strstr(mini_dump(), "tcp 8080 running rr " API("31080")));
    world_end(&world);
}

/* Both put backends into one chosen group: neither sees the other's as its own. */
static void test_shared_group(void **state)
{
    struct ccm_service *api = NULL;
    struct world world;

    (void)state;
    fixture_begin(&world, false);
    mini_add_group("rsp-a", "shared");
    world.service->port_count = 1;
    annotate_service(world.service, "vgroup-port", "rsp-a:80");
    world_put(&world);
    api = add_api(&world);
    annotate_service(api, "vgroup-port", "rsp-a:8080");
    annotate_service(api, "force-override-listeners", NULL);
    fake_host_put(world.fake, &api->meta);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(world_run_key(&world, "default/api"), 0);
    assert_non_null(strstr(mini_dump(), "group shared i-1:30080=100 i-1:31080=100 i-2:30080=100 "
                                        "i-2:31080=100\n"));
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(world_run_key(&world, "default/api"), 0);
    assert_string_equal(mini_log(), "");
    world_settle(&world);
    delete (&world);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "group shared i-1:31080=100 i-2:31080=100\n"));
    world_end(&world);
}

/* While one works on the load balancer, the other waits outside. */
static void test_busy(void **state)
{
    struct lbc_entry *entry = NULL;
    struct world world;

    (void)state;
    fixture_begin(&world, true);
    (void)add_api(&world);
    assert_int_equal(lbc_mirrors_acquire(world.lbc.mirrors, "default/api", "other", MINI_HAND,
                                         CCM_LANE_SPEC, &entry),
                     0);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(world.requeue_ms, 0);
    assert_int_equal(mini_calls(), 0);
    assert_int_equal(fake_host_enqueue_count(world.fake), 0);
    lbc_mirrors_release(world.lbc.mirrors, entry);
    assert_int_equal(fake_host_enqueue_count(world.fake), 1);
    assert_string_equal(fake_host_enqueued(world.fake, 0)->key, "default/web");
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "tcp 80 running"));
    world_end(&world);
}

struct runner {
    struct world *world;
    const char *key;
    int done;
};

static void *run_often(void *arg)
{
    struct runner *runner = arg;
    const char *const keys[] = { runner->key };

    while (runner->done < 50) {
        struct ccm_error err = CCM_ERROR_INIT;
        struct ccm_result result = { .struct_size = sizeof(result) };
        const struct ccm_request req = {
            .struct_size = sizeof(req),
            .keys = keys,
            .key_count = 1,
            .deadline_ms = INT64_MAX,
            .id = "1",
        };

        runner->done += lbc_reconcile(&runner->world->lbc, &req, &result, &err) == 0;
    }
    return NULL;
}

/* The mini cloud is not synchronised: it survives only if passes do not overlap. */
static void test_at_once(void **state)
{
    const struct mini_fault busy = { .action = "CreateVServerGroup",
                                     .code = "BackendServer.configuring",
                                     .kind = CCM_ERROR_CONFLICT,
                                     .http = 409,
                                     .nth = 2,
                                     .times = 3 };
    struct world world;
    pthread_t threads[2];
    struct runner runners[] = { { &world, "default/web", 0 }, { &world, "default/api", 0 } };

    (void)state;
    fixture_begin(&world, true);
    (void)add_api(&world);
    mini_fail(&busy);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, &runners[i]), 0);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    for (int i = 0; i < 12; i++) { /* those that queued when their thread ended, and faults left */
        assert_true(world_run_key(&world, runners[i % 2].key) == 0 || i < 10);
    }
    assert_non_null(strstr(mini_dump(), "tcp 80 running rr " KEY("30080")));
    assert_non_null(strstr(mini_dump(), "tcp 443 running rr " KEY("30443")));
    assert_non_null(strstr(mini_dump(), "tcp 8080 running rr " API("31080")));
    assert_non_null(strstr(mini_dump(), "group " API("31080") " i-1:31080=100 i-2:31080=100"));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_override),
        cmocka_unit_test(test_with_override),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_type_must_match),
        cmocka_unit_test(test_own_one_is_not_orphaned),
        cmocka_unit_test(test_ipv6_can_be_deleted),
        cmocka_unit_test(test_delete_keeps_others),
        cmocka_unit_test(test_chosen_group),
        cmocka_unit_test(test_two_ports_one_group),
        cmocka_unit_test(test_bad_chosen_group),
        cmocka_unit_test(test_two_services),
        cmocka_unit_test(test_same_port),
        cmocka_unit_test(test_shared_group),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
