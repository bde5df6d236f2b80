/* Whole passes: what a change of the cluster makes of the cloud, and with how many calls. */
#include "world.h"

#include "lbc/model/candidate.h"
#include "util/attr.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define G80  "k8s/30080/web/default/" MINI_CLUSTER
#define G443 "k8s/30443/web/default/" MINI_CLUSTER
#define COMPLETE                                                                                   \
    "lb " LB_NAME " internet protected\n"                                                          \
    "group " G80 " i-1:30080=100 i-2:30080=100\n"                                                  \
    "group " G443 " i-1:30443=100 i-2:30443=100\n"                                                 \
    "tcp 80 running rr " G80 "\n"                                                                  \
    "tcp 443 running rr " G443 "\n"

#define ADD    "AddVServerGroupBackendServers"
#define REMOVE "RemoveVServerGroupBackendServers"
#define SET    "SetVServerGroupAttribute"

static void test_creation(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), COMPLETE);
    assert_string_equal(
        mini_log(), "DescribeLoadBalancers CreateLoadBalancer "
                    "CreateVServerGroup CreateLoadBalancerTCPListener StartLoadBalancerListener "
                    "CreateVServerGroup CreateLoadBalancerTCPListener StartLoadBalancerListener");
    assert_int_equal(fake_host_patch_count(world.fake), 2);
    assert_non_null(strstr(fake_host_patch(world.fake, 0)->body, CLB_FINALIZER));
    assert_int_equal(fake_host_patch(world.fake, 0)->type, CCM_PATCH_STRATEGIC);
    assert_string_equal(fake_host_patch(world.fake, 1)->subresource, "status");
    assert_non_null(strstr(fake_host_patch(world.fake, 1)->body, "\"ip\":\"" LB_IP "\""));
    assert_non_null(strstr(fake_host_patch(world.fake, 1)->body, "\"" LB_ID "\""));
    assert_string_equal(world_event(&world),
                        "EnsuredLoadBalancer: Ensured load balancer [" LB_ID "]");
    assert_null(world_event(&world));
    world_end(&world);
}

static void test_no_op(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);

    const size_t patches = fake_host_patch_count(world.fake);

    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "");
    assert_int_equal(fake_host_patch_count(world.fake), patches);
    assert_null(world_event(&world));
    world_end(&world);
}

static void test_restart_reads_only(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);

    const size_t patches = fake_host_patch_count(world.fake);

    world_restart(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(),
                        "DescribeLoadBalancers DescribeLoadBalancerListeners DescribeVServerGroups "
                        "DescribeVServerGroupAttribute DescribeVServerGroupAttribute");
    assert_int_equal(fake_host_patch_count(world.fake), patches);
    assert_null(world_event(&world));
    assert_string_equal(mini_dump(), COMPLETE);
    world_end(&world);
}

static void test_node_added(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    world_add_node(&world, "n3", "cn-hangzhou.i-3");
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), ADD " " ADD);
    assert_non_null(
        strstr(mini_dump(), "group " G443 " i-1:30443=100 i-2:30443=100 i-3:30443=100\n"));
    world_end(&world);
}

static void test_node_removed(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    world_delete_node(&world, "n2");
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), REMOVE " " REMOVE);
    world_end(&world);
}

static void test_weights(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.service->external_traffic_policy = "Local";
    world_steady(&world);
    assert_non_null(strstr(mini_dump(), "i-1:30080=1 i-2:30080=1\n"));
    obj_endpoint(world.slice, "10.1.0.3", "n2", READY);
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), SET " " SET);
    assert_non_null(strstr(mini_dump(), "i-1:30080=1 i-2:30080=2\n"));
    world_end(&world);
}

static void test_weights_left_alone(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    obj_annotate(&world.service->meta, P "ignore-weight-update", "ON");
    obj_annotate(&world.service->meta, P "default-weight", "50");
    world_steady(&world);
    assert_non_null(strstr(mini_dump(), "i-1:30080=50"));
    mini_set_weight("i-1", 7);
    world_restart(&world);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "i-1:30080=7 i-2:30080=50"));
    world_end(&world);
}

static void test_pod_replaced(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    obj_annotate(&world.service->meta, LBC_BACKEND_TYPE_KEY, "eni");
    world_steady(&world);
    assert_non_null(strstr(mini_dump(), "group k8s/8080/web/default/c1 "
                                        "eni-10.1.0.1/10.1.0.1:8080=100 "
                                        "eni-10.1.0.2/10.1.0.2:8080=100\n"));
    world.slice->endpoint_count = 1;
    obj_endpoint(world.slice, "10.1.0.9", "n2", READY);
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), ADD " " REMOVE " " ADD " " REMOVE);
    assert_null(strstr(mini_dump(), "10.1.0.2"));
    world_end(&world);
}

/* A pass looks up the nodes that it needs, also when a pod moves to another one. */
static void test_takes_no_list_of_nodes(void **state)
{
    static const char *const modes[] = { "Local", "eni" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(modes); i++) {
        struct world world;

        world_begin(&world);
        world_add_node(&world, "n3", "cn-hangzhou.i-3");
        if (i == 0) {
            world.service->external_traffic_policy = "Local";
        } else {
            obj_annotate(&world.service->meta, LBC_BACKEND_TYPE_KEY, modes[i]);
        }
        world_steady(&world);
        world.slice->endpoint_count = 1;
        obj_endpoint(world.slice, "10.1.0.9", "n3", READY);
        world_put(&world);
        assert_int_equal(world_run(&world), 0);
        assert_string_equal(mini_log(), ADD " " REMOVE " " ADD " " REMOVE);
        assert_null(strstr(mini_dump(), i == 0 ? " i-2:" : "10.1.0.2"));
        assert_int_equal(fake_host_listed_nodes(world.fake), 0);
        world_end(&world);
    }
}

/* The last pod of a node goes, and with it all its backends: it was sent away, and is not missing.
 * Of a node that is gone as well the same holds for what names it no more. */
static void test_node_without_pods(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.service->external_traffic_policy = "Local";
    world_steady(&world);
    world.slice->endpoint_count = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), REMOVE " " REMOVE);
    assert_null(fake_host_held(world.fake, "default/web"));
    world_end(&world);
}

static void test_invalid_eni(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    obj_annotate(&world.service->meta, LBC_BACKEND_TYPE_KEY, "eni");
    world_steady(&world);
    mini_eni_missing("10.1.0.8");
    mini_eni_foreign("192.168.0.1");
    world.slice->endpoint_count = 1;
    obj_endpoint(world.slice, "10.1.0.8", "n2", READY);
    obj_endpoint(world.slice, "192.168.0.1", "n2", READY);
    obj_endpoint(world.slice, "10.1.0.9", "n2", READY);
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_string_equal(world.err.message, "has invalid backend in vservergroups");
    assert_int_equal(world.err.kind, CCM_ERROR_TRANSIENT);
    assert_string_equal(mini_log(), ADD " " REMOVE " " ADD " " REMOVE);
    assert_null(strstr(mini_dump(), "10.1.0.2"));
    assert_non_null(strstr(world_event(&world), "Not sync pods [10.1.0.8] whose eni is invalid"));
    assert_non_null(strstr(world_event(&world), "Not sync pods [192.168.0.1] whose ip is not in"));
    (void)world_event(&world); /* EnsuredLoadBalancer */
    assert_string_equal(world_event(&world),
                        "BackendsRemoved: 1 backend(s) left load balancer [" LB_ID
                        "]: pods gone: 10.1.0.2");
    assert_true(world_run(&world) < 0);
    assert_null(world_event(&world));
    world_end(&world);
}

#define DELETIONS "ccm_slb_operation_result{type=\"CLBType\",verb=\"Deletion\",status=\"Success\"}"

static void test_delete(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "DescribeLoadBalancers "
                                    "SetLoadBalancerDeleteProtection DeleteLoadBalancer");
    assert_string_equal(mini_dump(), "");

    const struct fake_patch *last =
        fake_host_patch(world.fake, fake_host_patch_count(world.fake) - 1);

    assert_non_null(strstr(last->body, "$deleteFromPrimitiveList/finalizers"));
    assert_string_equal(world_event(&world), "CleanLoadBalancer: Clean load balancer");
    /* The caches show the object without finalizer until it is gone: nothing is done, reported or
     * counted twice. */
    world.service->ingress_count = 0;
    world.service->meta.finalizer_count = 0;
    world.service->meta.label_count = 0;
    world_put(&world);

    const size_t patches = fake_host_patch_count(world.fake);

    assert_int_equal(world_run(&world), 0);
    assert_int_equal(mini_calls(), 3);
    assert_null(world_event(&world));
    assert_int_equal(fake_host_patch_count(world.fake), patches);
    assert_non_null(strstr(fake_host_metrics(world.fake), DELETIONS " 1\n"));
    fake_host_remove(world.fake, CCM_KIND_SERVICE, "default/web");
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(mini_calls(), 3);
    world_end(&world);
}

static void test_delete_cold(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    world_restart(&world);
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(),
                        "DescribeLoadBalancers SetLoadBalancerDeleteProtection DeleteLoadBalancer");
    assert_string_equal(mini_dump(), "");
    world_end(&world);
}

static void test_delete_without_finalizer(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.service->type = "ClusterIP";
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "");
    assert_int_equal(fake_host_patch_count(world.fake), 0);
    world_end(&world);
}

static void test_type_change_and_back(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    world.service->type = "ClusterIP";
    world.service->ingress_count = 0;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), "");
    world_settle(&world);
    world.service->type = "LoadBalancer";
    world_put(&world);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), COMPLETE);
    assert_int_equal(mini_calls(), 8);
    world_end(&world);
}

static void test_class_annotation_releases(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    obj_annotate(&world.service->meta, "service.beta.kubernetes.io/class", "other");
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), "");
    world_end(&world);
}

struct change {
    const char *name;
    void (*change)(struct world *world);
    const char *log;
    const char *expect; /* part of the dump */
};

static void set_ports(struct world *world, const char *protocol, int64_t port, int64_t node_port)
{
    world->service->port_count = 1;
    obj_port(world->service, "https", protocol, port, "8443", node_port);
}

static void port_removed(struct world *world)
{
    world->service->port_count = 1;
}

static void port_added(struct world *world)
{
    obj_port(world->service, "dns", "UDP", 53, "53", 30053);
}

static void port_moved(struct world *world)
{
    set_ports(world, "TCP", 444, 30443);
}

static void port_to_udp(struct world *world)
{
    set_ports(world, "UDP", 443, 30443);
}

static void node_port_changed(struct world *world)
{
    set_ports(world, "TCP", 443, 31443);
}

static void protocol_by_annotation(struct world *world)
{
    obj_annotate(&world->service->meta, P "protocol-port", " udp:443 , tcp:80 ");
}

static void scheduler_changed(struct world *world)
{
    obj_annotate(&world->service->meta, P "scheduler", "wrr");
}

static void renamed(struct world *world)
{
    obj_annotate(&world->service->meta, P "name", "front");
}

static void to_eni(struct world *world)
{
    obj_annotate(&world->service->meta, LBC_BACKEND_TYPE_KEY, "eni");
}

static void test_changes(void **state)
{
    static const struct change changes[] = {
        { "port removed", port_removed, "DeleteLoadBalancerListener DeleteVServerGroup",
          "tcp 80 running rr " G80 "\n" },
        { "port added", port_added,
          "CreateVServerGroup CreateLoadBalancerUDPListener StartLoadBalancerListener",
          "udp 53 running rr k8s/30053/web/default/c1\n" },
        { "port moved", port_moved,
          "DeleteLoadBalancerListener CreateLoadBalancerTCPListener StartLoadBalancerListener",
          "tcp 444 running rr " G443 "\n" },
        { "tcp to udp", port_to_udp,
          "DeleteLoadBalancerListener CreateLoadBalancerUDPListener StartLoadBalancerListener",
          "udp 443 running rr " G443 "\n" },
        { "node port", node_port_changed,
          "CreateVServerGroup SetLoadBalancerTCPListenerAttribute DeleteVServerGroup",
          "tcp 443 running rr k8s/31443/web/default/c1\n" },
        { "protocol annotation", protocol_by_annotation,
          "DeleteLoadBalancerListener CreateLoadBalancerUDPListener StartLoadBalancerListener",
          "udp 443 running rr " G443 "\n" },
        { "scheduler", scheduler_changed,
          "SetLoadBalancerTCPListenerAttribute SetLoadBalancerTCPListenerAttribute",
          "tcp 443 running wrr " G443 "\n" },
        { "name", renamed, "SetLoadBalancerName", "lb front internet" },
        { "to eni", to_eni,
          "CreateVServerGroup SetLoadBalancerTCPListenerAttribute "
          "CreateVServerGroup SetLoadBalancerTCPListenerAttribute "
          "DeleteVServerGroup DeleteVServerGroup",
          "tcp 80 running rr k8s/8080/web/default/c1\n" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(changes); i++) {
        struct world world;

        world_begin(&world);
        world_steady(&world);
        changes[i].change(&world);
        world_put(&world);
        if (world_run(&world) != 0) {
            fail_msg("%s: %s", changes[i].name, world.err.message);
        }
        assert_string_equal(mini_writes(), changes[i].log);
        if (strstr(mini_dump(), changes[i].expect) == NULL) {
            fail_msg("%s:\n%s", changes[i].name, mini_dump());
        }
        world_settle(&world);
        mini_reset_log();
        assert_int_equal(world_run(&world), 0);
        assert_string_equal(mini_log(), "");
        world_end(&world);
    }
}

/* The process dies at call n, before or after the cloud has done it; another one takes over. */
static void crash_at(size_t n, bool executed, bool restart)
{
    const struct mini_fault fault = {
        .nth = n,
        .executed = executed,
        .uncertain = true,
        .code = "",
        .kind = CCM_ERROR_TRANSIENT,
        .times = restart ? 100 : 1, /* a dead process makes no further call either */
    };
    const struct mini_fault none = { .action = "none", .code = "" };
    struct world world;

    world_begin(&world);
    mini_fail(&fault);
    assert_true(world_run(&world) < 0);
    if (restart) {
        mini_fail(&none);
        world_restart(&world);
    }
    world_converge(&world);
    if (strstr(mini_dump(), "tcp 80 running") == NULL) {
        fail_msg("call %zu:\n%s", n, mini_dump());
    }
    world_settle(&world);
    mini_reset_log();
    world_restart(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(),
                        "DescribeLoadBalancers DescribeLoadBalancerListeners DescribeVServerGroups "
                        "DescribeVServerGroupAttribute DescribeVServerGroupAttribute");
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), "");
    world_end(&world);
}

static void test_crash_anywhere(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 8; n++) {
        crash_at(n, false, true);
        crash_at(n, false, false);
    }
}

/* The call is executed, then the answer and the process are lost. */
static void lose_answer_at(size_t n, bool restart)
{
    const struct mini_fault lost = {
        .nth = n, .executed = true, .uncertain = true, .code = "", .kind = CCM_ERROR_TRANSIENT
    };
    struct world world;

    world_begin(&world);
    mini_fail(&lost);
    assert_true(world_run(&world) < 0);
    if (restart) {
        world_restart(&world);
    }
    world_converge(&world);
    assert_non_null(strstr(mini_dump(), "tcp 80 running rr " G80));
    assert_non_null(strstr(mini_dump(), "tcp 443 running rr " G443));
    /* One load balancer, two groups. */
    assert_null(strstr(strstr(mini_dump(), "lb ") + 1, "\nlb "));
    world_settle(&world);
    world_restart(&world);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(mini_calls(), 5);
    world_end(&world);
}

static void test_lost_answers(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 8; n++) {
        lose_answer_at(n, true);
        lose_answer_at(n, false);
    }
}

static void test_behind_our_back(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    mini_stop_listener(80);
    mini_delete_listener(443);
    world_restart(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), COMPLETE);
    world_end(&world);
}

static void test_lb_lost(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    mini_delete_lb();
    world_add_node(&world, "n3", "cn-hangzhou.i-3");
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_CONFLICT);
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_TERMINAL);
    assert_non_null(strstr(world.err.message, "alicloud: can not find loadbalancer, but it's "
                                              "defined in service [" LB_IP "]"));
    assert_string_equal(mini_dump(), "");
    world.service->ingress_count = 0;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "tcp 443 running"));
    world_end(&world);
}

static void test_finalizer_fails(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    fake_host_patch_result(world.fake, -EIO, CCM_ERROR_TRANSIENT);
    assert_true(world_run(&world) < 0);
    assert_non_null(strstr(world_event(&world), "FailedAddFinalizer: Error adding finalizer"));
    fake_host_patch_result(world.fake, -ENOENT, CCM_ERROR_NOT_FOUND);
    assert_int_equal(world_run(&world), 0);
    assert_null(world_event(&world));
    assert_int_equal(mini_calls(), 0);
    world_end(&world);
}

/* The tag was taken away: the name still leads to it, and the tag comes back before anything else.
 */
static void test_tag_lost(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    mini_untag();
    world_restart(&world);
    obj_annotate(&world.service->meta, P "name", "front");
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_log(), " TagResources SetLoadBalancerName"));
    world_restart(&world);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_null(strstr(mini_log(), "TagResources"));
    assert_int_equal(mini_calls(), 5);
    world_end(&world);
}

/* The snapshot is older than our finalizer, but we know of a load balancer. */
static void test_release_before_the_cache_knows(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    assert_int_equal(world_run(&world), 0);
    world.service->type = "ClusterIP";
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), "");
    world_end(&world);
}

static void test_fields_without_effect(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.service->load_balancer_ip = "1.2.3.4";
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(world_event(&world), "UnsupportedField: spec.loadBalancerIP"));
    (void)world_event(&world); /* EnsuredLoadBalancer */
    assert_int_equal(world_run(&world), 0);
    assert_null(strstr(mini_log(), "Tag"));
    world_end(&world);
}

static void test_bad_annotation(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    obj_annotate(&world.service->meta, P "default-weight", "101");
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_TERMINAL);
    assert_int_equal(mini_calls(), 0);
    assert_int_equal(fake_host_patch_count(world.fake), 0);

    const char *event = world_event(&world);

    assert_non_null(strstr(event, "SyncLoadBalancerFailed: "));
    assert_non_null(strstr(event, "default weight must be integer in range [0,100] , got [101]"));
    assert_true(world_run(&world) < 0);
    assert_null(world_event(&world));
    world_end(&world);
}

static void test_unknown_annotation(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    obj_annotate(&world.service->meta, P "adress-type", "intranet");
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(world_event(&world), "did you mean " P "address-type?"));
    world_end(&world);
}

static void test_failed_read_is_not_empty(void **state)
{
    static const char *const reads[] = { "DescribeLoadBalancers", "DescribeLoadBalancerListeners",
                                         "DescribeVServerGroups", "DescribeVServerGroupAttribute" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(reads); i++) {
        const struct mini_fault fault = {
            .action = reads[i], .code = "InternalError", .kind = CCM_ERROR_TRANSIENT, .http = 500
        };
        struct world world;

        world_begin(&world);
        world_steady(&world);
        world_restart(&world);
        mini_fail(&fault);
        assert_true(world_run(&world) < 0);
        assert_null(strstr(mini_log(), "Create"));
        assert_null(strstr(mini_log(), ADD));
        assert_string_equal(mini_dump(), COMPLETE);
        world_end(&world);
    }
}

static void test_port_fails_alone(void **state)
{
    const struct mini_fault fault = { .action = "CreateLoadBalancerTCPListener",
                                      .code = "AclNotExist",
                                      .kind = CCM_ERROR_TERMINAL,
                                      .http = 400 };
    struct world world;

    (void)state;
    world_begin(&world);
    mini_fail(&fault);
    assert_true(world_run(&world) < 0);
    assert_null(strstr(mini_dump(), "tcp 80 "));
    assert_non_null(strstr(mini_dump(), "tcp 443 running"));

    const char *event = world_event(&world);

    assert_non_null(strstr(event,
                           "SyncLoadBalancerFailed: Error syncing load balancer [" LB_ID "]: "
                           "port 80/tcp: create listener: "));
    /* The working port is reachable: the address is shown, the hash is not written yet. */
    assert_non_null(strstr(fake_host_patch(world.fake, 1)->body, LB_IP));
    assert_null(strstr(fake_host_patch(world.fake, 1)->body, "kubernetes.io/hash"));
    world_converge(&world);
    assert_non_null(strstr(mini_dump(), "tcp 80 running"));
    world_end(&world);
}

static void test_broken_port_keeps_what_is_there(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    set_ports(&world, "TCP", 443, 0);
    world_add_node(&world, "n3", "cn-hangzhou.i-3");
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_TERMINAL);
    assert_string_equal(mini_writes(), ADD);
    assert_non_null(strstr(mini_dump(), "tcp 443 running rr " G443));
    assert_non_null(strstr(world_event(&world), "port 443/tcp: nodes as backends need node ports"));
    world_end(&world);
}

static void add_nodes(struct world *world, int first, int last)
{
    for (int i = first; i <= last; i++) {
        char name[16];
        char id[32];

        ccm_text_printf(name, sizeof(name), "n%d", i);
        (void)snprintf(id, sizeof(id), "cn-hangzhou.i-%d", i);
        world_add_node(world, name, id);
    }
}

static void test_failed_add_never_empties(void **state)
{
    const struct mini_fault fault = {
        .action = ADD, .code = "InternalError", .kind = CCM_ERROR_TRANSIENT, .http = 500
    };
    struct world world;

    (void)state;
    world_begin(&world);
    world.service->port_count = 1;
    world_steady(&world);
    mini_fail(&fault);
    world_allow_removals(&world);
    world_delete_node(&world, "n1");
    world_delete_node(&world, "n2");
    world_add_node(&world, "n3", "cn-hangzhou.i-3");
    assert_true(world_run(&world) < 0);
    assert_string_equal(mini_log(), ADD);
    assert_non_null(strstr(mini_dump(), "i-1:30080=100 i-2:30080=100"));
    world_converge(&world);
    assert_non_null(strstr(mini_dump(), "group " G80 " i-3:30080=100\n"));
    world_end(&world);
}

static void test_batches(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.service->port_count = 1;
    mini_limits(20, 0);
    add_nodes(&world, 3, 50);
    assert_int_equal(world_run(&world), 0);
    /* 20 with the group, 30 refused in one call, then 20 and 10. */
    assert_string_equal(mini_log(),
                        "DescribeLoadBalancers CreateLoadBalancer CreateVServerGroup " ADD " " ADD
                        " " ADD " CreateLoadBalancerTCPListener StartLoadBalancerListener");
    assert_int_equal(atomic_load(&world.lbc.batch), 20);
    assert_non_null(strstr(mini_dump(), "i-50:30080"));
    world_end(&world);
}

static void test_all_not_ready(void **state)
{
    struct world world;
    struct ccm_node *one = NULL;
    struct ccm_node *two = NULL;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    one = obj_node("n1", "cn-hangzhou.i-1");
    two = obj_node("n2", "cn-hangzhou.i-2");
    one->ready = CCM_CONDITION_UNKNOWN;
    two->ready = CCM_CONDITION_FALSE;
    fake_host_put(world.fake, &one->meta);
    fake_host_put(world.fake, &two->meta);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "");
    assert_string_equal(mini_dump(), COMPLETE);
    assert_non_null(strstr(world_event(&world), "BackendsFrozen: 4 backend(s) are kept as they are "
                                                "(nodes NotReady: n1, n2); until one of them"));
    assert_non_null(strstr(fake_host_held(world.fake, "default/web"), "4: nodes NotReady"));
    assert_int_equal(world_run(&world), 0);
    assert_null(world_event(&world));
    one->ready = CCM_CONDITION_TRUE;
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), REMOVE " " REMOVE);
    assert_non_null(strstr(world_event(&world), "BackendsReleased: "));
    assert_null(fake_host_held(world.fake, "default/web"));
    world_end(&world);
}

static void test_foreign_things_stay(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    mini_add_listener(8000, "made by hand");
    mini_add_backend("30443", "i-hand");
    world_restart(&world);
    world.service->port_count = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "tcp 8000 running"));
    assert_non_null(strstr(mini_dump(), "group " G443 " i-hand:1=1\n"));
    assert_null(strstr(mini_dump(), "tcp 443"));
    world_end(&world);
}

static void test_listener_of_another_service(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    mini_add_listener(53, "k8s/53/dns/default/" MINI_CLUSTER);
    world_restart(&world);
    obj_port(world.service, "dns", "TCP", 53, "53", 30053);
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_TERMINAL);
    assert_non_null(strstr(world.err.message, "port 53/tcp: the listener belongs to another"));
    assert_non_null(strstr(mini_dump(), "tcp 53 running - -\n"));
    world_end(&world);
}

static void test_immutable(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    obj_annotate(&world.service->meta, P "address-type", "intranet");
    world_add_node(&world, "n3", "cn-hangzhou.i-3");
    world_put(&world);
    assert_true(world_run(&world) < 0);
    assert_non_null(strstr(world.err.message, "alicloud: can not change LoadBalancer AddressType "
                                              "once created. delete and retry"));
    /* The backends follow all the same. */
    assert_string_equal(mini_writes(), ADD " " ADD);
    world_end(&world);
}

static void test_no_public(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.lbc.disable_public = true;
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_TERMINAL);
    assert_string_equal(mini_dump(), "");
    obj_annotate(&world.service->meta, P "address-type", "intranet");
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "intranet"));
    world_end(&world);
}

static void test_event_on_change_only(void **state)
{
    const struct mini_fault fault = { .action = "CreateLoadBalancer",
                                      .code = "OverQuota",
                                      .kind = CCM_ERROR_TERMINAL,
                                      .http = 400,
                                      .times = 3 };
    struct world world;

    (void)state;
    world_begin(&world);
    mini_fail(&fault);
    for (int i = 0; i < 3; i++) {
        assert_true(world_run(&world) < 0);
    }
    assert_non_null(strstr(world_event(&world), "SyncLoadBalancerFailed"));
    assert_null(world_event(&world)); /* the request id alone is no news */
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(world_event(&world), "EnsuredLoadBalancer"));
    world_end(&world);
}

static void test_cancelled(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    fake_host_cancel(world.fake, true);
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_CANCELLED);
    assert_string_equal(mini_dump(), "");
    assert_null(world_event(&world));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_creation),
        cmocka_unit_test(test_no_op),
        cmocka_unit_test(test_restart_reads_only),
        cmocka_unit_test(test_node_added),
        cmocka_unit_test(test_node_removed),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_weights_left_alone),
        cmocka_unit_test(test_pod_replaced),
        cmocka_unit_test(test_takes_no_list_of_nodes),
        cmocka_unit_test(test_node_without_pods),
        cmocka_unit_test(test_invalid_eni),
        cmocka_unit_test(test_delete),
        cmocka_unit_test(test_delete_cold),
        cmocka_unit_test(test_delete_without_finalizer),
        cmocka_unit_test(test_type_change_and_back),
        cmocka_unit_test(test_class_annotation_releases),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_crash_anywhere),
        cmocka_unit_test(test_lost_answers),
        cmocka_unit_test(test_behind_our_back),
        cmocka_unit_test(test_lb_lost),
        cmocka_unit_test(test_finalizer_fails),
        cmocka_unit_test(test_tag_lost),
        cmocka_unit_test(test_release_before_the_cache_knows),
        cmocka_unit_test(test_fields_without_effect),
        cmocka_unit_test(test_bad_annotation),
        cmocka_unit_test(test_unknown_annotation),
        cmocka_unit_test(test_failed_read_is_not_empty),
        cmocka_unit_test(test_port_fails_alone),
        cmocka_unit_test(test_broken_port_keeps_what_is_there),
        cmocka_unit_test(test_failed_add_never_empties),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_all_not_ready),
        cmocka_unit_test(test_foreign_things_stay),
        cmocka_unit_test(test_listener_of_another_service),
        cmocka_unit_test(test_immutable),
        cmocka_unit_test(test_no_public),
        cmocka_unit_test(test_event_on_change_only),
        cmocka_unit_test(test_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
