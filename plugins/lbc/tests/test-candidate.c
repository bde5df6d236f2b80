/* Nodes and endpoints to candidates, per mode. */
#include "check.h"
#include "lbc/model/candidate.h"
#include "objects.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

#define READY        CCM_ENDPOINT_READY
#define NODE_ADDRESS "10.9.9.9"

/* A cluster with one node of each kind; nodes are named by what they are. */
struct cluster {
    const struct ccm_object *nodes[16];
    size_t node_count;
    const struct ccm_object *slices[4];
    size_t slice_count;
    struct ccm_service *service;
    struct ccm_endpoint_slice *slice;
    struct lbc_node_rules rules;
    enum lbc_families families;
    bool any_port;
    bool by_address;
    bool draining;
    bool pods_only;
    struct lbc_weight_rule weight;
    struct ccm_error err;
    char text[1024];
};

static struct ccm_node *add_node(struct cluster *cluster, const char *name, const char *id)
{
    struct ccm_node *node = obj_node(name, id);

    cluster->nodes[cluster->node_count++] = &node->meta;
    return node;
}

static void all_kinds_of_nodes(struct cluster *cluster)
{
    struct ccm_node *node = NULL;

    add_node(cluster, "plain", "alicloud://cn-hangzhou.i-plain");
    node = add_node(cluster, "cordoned", "cn-hangzhou.i-cordoned");
    node->unschedulable = 1;
    node = add_node(cluster, "notready", "cn-hangzhou.i-notready");
    node->ready = CCM_CONDITION_FALSE;
    node = add_node(cluster, "silent", "cn-hangzhou.i-silent");
    node->has_conditions = 0;
    node->ready = CCM_CONDITION_ABSENT;
    node = add_node(cluster, "master", "cn-hangzhou.i-master");
    obj_label(&node->meta, "node-role.kubernetes.io/master", "");
    node = add_node(cluster, "control", "cn-hangzhou.i-control");
    obj_label(&node->meta, "node-role.kubernetes.io/control-plane", "");
    node = add_node(cluster, "leaving", "cn-hangzhou.i-leaving");
    obj_taint(node, "ToBeDeletedByClusterAutoscaler");
    node = add_node(cluster, "excluded", "cn-hangzhou.i-excluded");
    obj_label(&node->meta, "node.kubernetes.io/exclude-from-external-load-balancers", "");
    node = add_node(cluster, "excluded2", "cn-hangzhou.i-excluded2");
    obj_label(&node->meta, "service.alibabacloud.com/exclude-node", "true");
    add_node(cluster, "hybrid", "ack-hybrid://cn-hangzhou.x");
    add_node(cluster, "nameless", "nonsense");
    node = add_node(cluster, "virtual", "");
    node->has_conditions = 0;
    obj_label(&node->meta, "type", "virtual-kubelet");
    obj_label(&node->meta, "service.beta.kubernetes.io/exclude-node", "true");
    for (size_t i = 0; i < cluster->node_count; i++) {
        char address[40];

        ccm_text_printf(address, sizeof(address), "10.0.0.%zu", i);
        obj_endpoint(cluster->slice, address, cluster->nodes[i]->name, READY);
    }
}

static void fixture_begin(struct cluster *cluster)
{
    memset(cluster, 0, sizeof(*cluster));
    cluster->rules.labels = "";
    cluster->weight.each = 100;
    cluster->families = LBC_IPV4;
    cluster->service = obj_service();
    obj_port(cluster->service, "http", "TCP", 80, "8080", 30080);
    cluster->slice = obj_slice("web-1");
    obj_slice_port(cluster->slice, "http", 8080);
    cluster->slices[cluster->slice_count++] = &cluster->slice->meta;
}

/* An lbc_judge_fn: the address of a node is no backend. */
static int judge_address(void *self, const struct lbc_endpoint_ref *ref)
{
    return strcmp(ref->endpoint->address, self) == 0 ? LBC_OWN_RULE_NODE_ADDRESS
                                                     : LBC_OWN_RULE_NONE;
}

/* "server:port=weight ..." in order, "-" behind those that leave, then "!" and what a rule is
 * against; "error" when it failed, " hold" and " without ADDRESS" at the end. */
static const char *cluster_build_set(struct cluster *cluster, enum lbc_backend_mode mode)
{
    CCM_CLEANUP(lbc_candidates_fini) struct lbc_candidates set = { 0 };
    CCM_CLEANUP(lbc_node_table_fini) struct lbc_node_table table = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = sizeof(cluster->text) - 1 };
    struct lbc_candidate_input in = { .service = cluster->service,
                                      .slices = cluster->slices,
                                      .slice_count = cluster->slice_count,
                                      .nodes = &table,
                                      .mode = mode,
                                      .families = cluster->families,
                                      .any_port = cluster->any_port,
                                      .by_address = cluster->by_address,
                                      .draining = cluster->draining,
                                      .pods_only = cluster->pods_only,
                                      .judge = judge_address,
                                      .judge_self = (void *)(uintptr_t)NODE_ADDRESS,
                                      .weight = cluster->weight };

    assert_int_equal(
        lbc_node_table_init(&table, cluster->nodes, cluster->node_count, &cluster->rules), 0);
    ccm_error_clear(&cluster->err);
    if (lbc_candidates_build(&in, cluster->service->ports[0], &set, &cluster->err) < 0) {
        return "error";
    }
    for (size_t i = 0; i < set.len; i++) {
        ccm_buf_addf(&text, "%s%s%s:%u=%u%s", i == 0 ? "" : " ", set.items[i].instance_id,
                     set.items[i].address, set.items[i].port, set.items[i].weight,
                     set.items[i].leaving ? "-" : "");
    }
    for (size_t i = 0; i < set.ruled_len; i++) {
        ccm_buf_addf(&text, "%s!%c%s:%u", text.len == 0 ? "" : " ", "-NUAFL"[set.ruled[i].rule],
                     set.ruled[i].address, set.ruled[i].port);
    }
    ccm_buf_adds(&text, set.frozen_by ? " hold" : "");
    ccm_buf_addf(&text, "%s%s", set.nameless == NULL ? "" : " without ",
                 set.nameless == NULL ? "" : set.nameless);
    ccm_buf_addf(&text, "%s%s", set.podless == NULL ? "" : " no pod ",
                 set.podless == NULL ? "" : set.podless);
    ccm_text_printf(cluster->text, sizeof(cluster->text), "%s", ccm_buf_str(&text));
    return cluster->text;
}

static void test_cluster(void **state)
{
    struct cluster cluster;

    (void)state;
    fixture_begin(&cluster);
    all_kinds_of_nodes(&cluster);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER),
                        "i-plain:30080=100 i-cordoned:30080=100 i-control:30080=100 "
                        "10.0.0.11:8080=100");
    cluster.rules.drop_unschedulable = true;
    cluster.weight.each = 50;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER),
                        "i-plain:30080=50 i-control:30080=50 10.0.0.11:8080=50");
}

static void test_local(void **state)
{
    struct cluster cluster;

    (void)state;
    fixture_begin(&cluster);
    all_kinds_of_nodes(&cluster);
    obj_endpoint(cluster.slice, "10.0.1.1", "plain", READY);
    obj_endpoint(cluster.slice, "10.0.1.2", "nowhere", READY);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_LOCAL),
                        "i-plain:30080=2 i-cordoned:30080=1 i-control:30080=1 10.0.0.11:8080=1");
    cluster.weight = (struct lbc_weight_rule){ .has_total = true, .total = 80 };
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_LOCAL),
                        "i-plain:30080=32 i-cordoned:30080=16 i-control:30080=16 "
                        "10.0.0.11:8080=16");
}

static void test_eni(void **state)
{
    struct cluster cluster;

    (void)state;
    fixture_begin(&cluster);
    obj_endpoint(cluster.slice, "10.0.0.1", "", READY);
    obj_endpoint(cluster.slice, "10.0.0.2", "n", 0);
    obj_endpoint(cluster.slice, "10.0.0.3", "n", READY | CCM_ENDPOINT_TERMINATING);
    obj_endpoint(cluster.slice, "10.0.0.1", "n", READY);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "10.0.0.1:8080=100");
}

/* What is no pod of the namespace is left out where an operator asks for it, and nodes are not. */
static void test_pods_only(void **state)
{
    struct cluster cluster;

    (void)state;
    fixture_begin(&cluster);
    add_node(&cluster, "plain", "cn-hangzhou.i-plain");
    obj_endpoint(cluster.slice, "10.0.0.1", "plain", READY);
    obj_endpoint(cluster.slice, "10.0.0.2", "plain", READY);
    ((struct ccm_endpoint *)(uintptr_t)cluster.slice->endpoints[cluster.slice->endpoint_count - 1])
        ->pod_name = "web-2";
    cluster.pods_only = true;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS),
                        "10.0.0.2:8080=100 no pod 10.0.0.1");
    assert_non_null(strstr(cluster_build_set(&cluster, LBC_MODE_CLUSTER), "i-plain:30080=100"));
}

static void test_labels(void **state)
{
    struct cluster cluster;
    struct ccm_node *node = NULL;

    (void)state;
    fixture_begin(&cluster);
    add_node(&cluster, "a", "r.i-a");
    node = add_node(&cluster, "b", "r.i-b");
    obj_label(&node->meta, "pool", "front");
    obj_label(&node->meta, "disk", "");
    cluster.rules.labels = "pool=front, disk=";
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER), "i-b:30080=100");
    cluster.rules.labels = "pool=back";
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER), "");
}

static void test_label_syntax(void **state)
{
    static const char *const good[] = { "", "a=b", "a=,c=d", " a=b , c=d ", "a=b=c" };
    static const char *const bad[] = { "a", "=b", "a=b,", "," };
    const char *entry = NULL;
    size_t len = 0;

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(good); i++) {
        assert_int_equal(lbc_node_check_labels(good[i], &entry, &len), 0);
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(bad); i++) {
        if (lbc_node_check_labels(bad[i], &entry, &len) == 0) {
            fail_msg("'%s' is accepted", bad[i]);
        }
    }
}

static void test_ports(void **state)
{
    struct cluster cluster;
    struct ccm_endpoint_slice *other = NULL;

    (void)state;
    fixture_begin(&cluster);
    cluster.service->port_count = 0;
    obj_port(cluster.service, "http", "TCP", 80, "web", 30080);
    obj_endpoint(cluster.slice, "10.0.0.1", "", READY);
    /* The slice's port of the same name is what counts ... */
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "10.0.0.1:8080=100");
    other = obj_slice("web-2");
    obj_slice_port(other, "metrics", 9090);
    obj_endpoint(other, "10.0.0.2", "", READY);
    cluster.slices[cluster.slice_count++] = &other->meta;
    /* ... and a slice without it does not serve a named target port ... */
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "10.0.0.1:8080=100");
    cluster.service->port_count = 0;
    obj_port(cluster.service, "http", "TCP", 80, "8081", 30080);
    /* ... but a number will do. */
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS),
                        "10.0.0.1:8080=100 10.0.0.2:8081=100");
}

static void test_families(void **state)
{
    struct cluster cluster;
    struct ccm_endpoint_slice *other = NULL;

    (void)state;
    fixture_begin(&cluster);
    obj_endpoint(cluster.slice, "10.0.0.1", "", READY);
    other = obj_slice("web-6");
    other->address_type = "IPv6";
    obj_slice_port(other, "http", 8080);
    obj_endpoint(other, "fd00::1", "", READY);
    cluster.slices[cluster.slice_count++] = &other->meta;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "10.0.0.1:8080=100");
    cluster.families = LBC_IPV6;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "fd00::1:8080=100");
    cluster.families = LBC_DUAL_STACK;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS),
                        "10.0.0.1:8080=100 fd00::1:8080=100");
}

/* A group for all ports takes every slice, whatever ports it lists. */
static void test_any_port(void **state)
{
    struct cluster cluster;

    (void)state;
    fixture_begin(&cluster);
    obj_endpoint(cluster.slice, "10.0.0.1", "", READY);
    cluster.service->port_count = 0;
    obj_port(cluster.service, "other", "TCP", 81, "named", 30080);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "");
    cluster.any_port = true;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "10.0.0.1:0=100");
}

/* Pods that are being stopped keep their place without weight, and do not count. */
static void test_draining(void **state)
{
    const uint64_t leaving = CCM_ENDPOINT_SERVING | CCM_ENDPOINT_TERMINATING;
    struct cluster cluster;

    (void)state;
    fixture_begin(&cluster);
    add_node(&cluster, "a", "r.i-a");
    add_node(&cluster, "b", "r.i-b");
    obj_endpoint(cluster.slice, "10.0.0.1", "a", leaving);
    obj_endpoint(cluster.slice, "10.0.0.2", "a", READY | CCM_ENDPOINT_SERVING);
    obj_endpoint(cluster.slice, "10.0.0.3", "b", leaving);
    obj_endpoint(cluster.slice, "10.0.0.4", "b", CCM_ENDPOINT_TERMINATING);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "10.0.0.2:8080=100");
    cluster.draining = true;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS),
                        "10.0.0.2:8080=100 10.0.0.1:8080=0- 10.0.0.3:8080=0-");
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_LOCAL), "i-a:30080=1 i-b:30080=0-");
    cluster.weight.has_total = true;
    cluster.weight.total = 60;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS),
                        "10.0.0.2:8080=60 10.0.0.1:8080=0- 10.0.0.3:8080=0-");
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_LOCAL), "i-a:30080=60 i-b:30080=0-");
}

/* Nodes by their IPv4 InternalIP, once each, by number of pods; without address they wait. */
static void test_by_address(void **state)
{
    static const struct ccm_node_address six = { "InternalIP", "fd00::a" };
    static const struct ccm_node_address name = { "Hostname", "a" };
    static const struct ccm_node_address four = { "InternalIP", "192.168.0.1" };
    static const struct ccm_node_address *const addresses[] = { &name, &six, &four };
    struct cluster cluster;
    struct ccm_node *node;

    (void)state;
    fixture_begin(&cluster);
    node = add_node(&cluster, "a", "r.i-a");
    node->addresses = addresses;
    node->address_count = 3;
    node = add_node(&cluster, "b", "r.i-b");
    node->addresses = addresses;
    node->address_count = 2;
    obj_endpoint(cluster.slice, "10.0.0.1", "a", READY);
    obj_endpoint(cluster.slice, "10.0.0.2", "a", READY);
    obj_endpoint(cluster.slice, "10.0.0.3", "b", READY);
    cluster.by_address = true;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_LOCAL), "192.168.0.1:30080=2");
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER), "192.168.0.1:30080=100");
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS),
                        "10.0.0.1:8080=100 10.0.0.2:8080=100 10.0.0.3:8080=100");
}

/* An endpoint without a node name is passed over, in every mode with nodes; the others are served.
 * Where it is the only one, nobody is sent away for it. */
static void test_nameless(void **state)
{
    struct cluster cluster;

    (void)state;
    fixture_begin(&cluster);
    add_node(&cluster, "a", "r.i-a");
    obj_endpoint(cluster.slice, "10.0.0.1", "", READY);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER),
                        "i-a:30080=100 !L10.0.0.1:8080 without 10.0.0.1");
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_LOCAL),
                        "!L10.0.0.1:8080 without 10.0.0.1");
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "10.0.0.1:8080=100");
    obj_endpoint(cluster.slice, "10.0.0.2", "a", READY);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_LOCAL),
                        "i-a:30080=1 !L10.0.0.1:8080 without 10.0.0.1");
    cluster.weight = (struct lbc_weight_rule){ .has_total = true, .total = 80 };
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER),
                        "i-a:30080=80 !L10.0.0.1:8080 without 10.0.0.1");
}

/* What a rule is against is no backend, but takes its share where it is one: the weights of the
 * others do not change. What is not ready or leaves is as if it were not there. */
static void test_own_rules(void **state)
{
    struct cluster cluster;

    (void)state;
    fixture_begin(&cluster);
    add_node(&cluster, "a", "r.i-a");
    obj_endpoint(cluster.slice, "10.0.0.1", "a", READY);
    obj_endpoint(cluster.slice, NODE_ADDRESS, "a", READY);
    obj_further(cluster.slice, "10.0.0.2");
    obj_endpoint(cluster.slice, "10.0.0.3", "a", 0);
    obj_further(cluster.slice, "10.0.0.4");
    obj_endpoint(cluster.slice, "10.0.0.5", "a", CCM_ENDPOINT_SERVING | CCM_ENDPOINT_TERMINATING);
    obj_further(cluster.slice, "10.0.0.6");
    obj_further(cluster.slice, "10.0.0.1"); /* it is the first one of another */
    cluster.draining = true;
    cluster.weight = (struct lbc_weight_rule){ .has_total = true, .total = 90 };
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS),
                        "10.0.0.1:8080=30 10.0.0.5:8080=0- !N" NODE_ADDRESS
                        ":8080 !F10.0.0.2:8080");
    cluster.weight = (struct lbc_weight_rule){ .each = 100 };
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_LOCAL), "i-a:30080=3");
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER), "i-a:30080=100");
    obj_label(&((struct ccm_node *)(uintptr_t)cluster.nodes[0])->meta, "type", "virtual-kubelet");
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER),
                        "10.0.0.1:8080=100 10.0.0.5:8080=0- !N" NODE_ADDRESS
                        ":8080 !F10.0.0.2:8080");
}

static void test_errors(void **state)
{
    struct cluster cluster;

    (void)state;
    fixture_begin(&cluster);
    add_node(&cluster, "a", "r.i-a");
    obj_endpoint(cluster.slice, "10.0.0.1", "a", READY);
    cluster.service->port_count = 0;
    obj_port(cluster.service, "http", "TCP", 80, "8080", 0);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER), "error");
    assert_int_equal(cluster.err.kind, CCM_ERROR_TERMINAL);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "10.0.0.1:8080=100");
}

/* Whether what is there stays without a ready node is not for the candidates to say. */
static void test_no_node_is_ready(void **state)
{
    struct cluster cluster;
    struct ccm_node *a = NULL;
    struct ccm_node *master = NULL;

    (void)state;
    fixture_begin(&cluster);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER), "");
    a = add_node(&cluster, "a", "r.i-a");
    master = add_node(&cluster, "m", "r.i-m");
    obj_label(&master->meta, "node-role.kubernetes.io/master", "");
    a->ready = CCM_CONDITION_UNKNOWN;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER), "");
    add_node(&cluster, "b", "r.i-b");
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER), "i-b:30080=100");
}

/* Slices of the wanted family are missing altogether while the pods are there: no reason to empty a
 * group. Without pods it is. */
static void test_hold_of_family(void **state)
{
    const char *families[] = { "IPv6", "IPv4" };
    struct cluster cluster;
    struct ccm_endpoint_slice *six = NULL;

    (void)state;
    fixture_begin(&cluster);
    cluster.slice_count = 0;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "");
    six = obj_slice("web-6");
    six->address_type = "IPv6";
    obj_slice_port(six, "http", 8080);
    cluster.slices[cluster.slice_count++] = &six->meta;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "");
    obj_endpoint(six, "fd00::1", "a", 0);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "");
    obj_endpoint(six, "fd00::2", "a", READY);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), " hold");
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER),
                        ""); /* what is missing is nodes */
    cluster.service->ip_families = families;
    cluster.service->ip_family_count = 2;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), " hold");
    cluster.service->ip_family_count = 1; /* it is not to have IPv4 any more */
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "");
    families[0] = "IPv4";
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), " hold");
    add_node(&cluster, "a", "r.i-a");
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_LOCAL), " hold");
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_CLUSTER),
                        "i-a:30080=100"); /* nodes serve */
    cluster.service->ip_family_count = 0;
    cluster.families = LBC_IPV6;
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "fd00::2:8080=100");
    cluster.families = LBC_IPV4;
    cluster.slices[cluster.slice_count++] = &cluster.slice->meta; /* scaled down, not missing */
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "");
    cluster.slice->address_type = "FQDN";
    cluster.slice_count = 1;
    cluster.slices[0] = &cluster.slice->meta;
    obj_endpoint(cluster.slice, "web.example.com", "a", READY);
    assert_string_equal(cluster_build_set(&cluster, LBC_MODE_PODS), "");
}

static void test_instance_id(void **state)
{
    static const struct {
        const char *provider;
        const char *instance;
        bool elsewhere; /* than in cn-hangzhou */
    } rows[] = {
        { "cn-hangzhou.i-1", "i-1", false },
        { "alicloud://cn-hangzhou.i-1", "i-1", false },
        { "cn-beijing.i-1", "i-1", true },
        { "alicloud://cn-beijing.i-1", "i-1", true },
        { "cn-hangzhou-finance.i-1", "i-1", true },
        { "cn-hang.i-1", "i-1", true },
        { "", NULL, false },
        { "i-1", NULL, false },
        { "cn-beijing.", NULL, false },
        { ".i-1", NULL, false },
        { "a.b.c", NULL, false },
        { "alicloud://", NULL, false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct ccm_node *node = obj_node("n", rows[i].provider);
        const char *id = lbc_node_instance_id(node);

        if ((id == NULL) != (rows[i].instance == NULL) ||
            (id != NULL && strcmp(id, rows[i].instance) != 0)) {
            fail_msg("%s: %s", rows[i].provider, id);
        }
        assert_int_equal(lbc_node_is_elsewhere(node, "cn-hangzhou"), rows[i].elsewhere);
    }
}

static void test_mode(void **state)
{
    struct ccm_service *service = obj_service();

    (void)state;
    assert_int_equal(lbc_backend_mode(service, false), LBC_MODE_CLUSTER);
    assert_int_equal(lbc_backend_mode(service, true), LBC_MODE_PODS);
    service->external_traffic_policy = "Local";
    assert_int_equal(lbc_backend_mode(service, false), LBC_MODE_LOCAL);
    obj_annotate(&service->meta, LBC_BACKEND_TYPE_KEY, "ecs");
    assert_int_equal(lbc_backend_mode(service, true), LBC_MODE_LOCAL);
    obj_annotate(&service->meta, LBC_BACKEND_TYPE_KEY, "eni");
    assert_int_equal(lbc_backend_mode(service, false), LBC_MODE_PODS);
    obj_annotate(&service->meta, LBC_BACKEND_TYPE_KEY, "");
    assert_int_equal(lbc_backend_mode(service, true), LBC_MODE_PODS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_cluster, obj_end),
        cmocka_unit_test_teardown(test_local, obj_end),
        cmocka_unit_test_teardown(test_eni, obj_end),
        cmocka_unit_test_teardown(test_pods_only, obj_end),
        cmocka_unit_test_teardown(test_labels, obj_end),
        cmocka_unit_test(test_label_syntax),
        cmocka_unit_test_teardown(test_ports, obj_end),
        cmocka_unit_test_teardown(test_families, obj_end),
        cmocka_unit_test_teardown(test_any_port, obj_end),
        cmocka_unit_test_teardown(test_draining, obj_end),
        cmocka_unit_test_teardown(test_by_address, obj_end),
        cmocka_unit_test_teardown(test_nameless, obj_end),
        cmocka_unit_test_teardown(test_own_rules, obj_end),
        cmocka_unit_test_teardown(test_errors, obj_end),
        cmocka_unit_test_teardown(test_no_node_is_ready, obj_end),
        cmocka_unit_test_teardown(test_hold_of_family, obj_end),
        cmocka_unit_test_teardown(test_instance_id, obj_end),
        cmocka_unit_test_teardown(test_mode, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
