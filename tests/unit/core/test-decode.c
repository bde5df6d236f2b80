#include "kube/object/decode.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What two plugins watch. */
static const char *const node_annotations[] = { "example.com/kept", NULL };
static const char *const service_keys[] = { "service.example/", NULL };
static const char *const node_keys[] = { "node.example/", NULL };
static const struct ccm_watch watch_service = { .kind = CCM_KIND_SERVICE, .keys = service_keys };
static const struct ccm_watch watch_node = { .kind = CCM_KIND_NODE,
                                             .annotations = node_annotations,
                                             .keys = node_keys };
static const struct ccm_watch watch_pod = { .kind = CCM_KIND_POD };
static const struct ccm_watch *const watches[] = { &watch_pod, &watch_service, &watch_node, NULL };

static const struct kube_decode_kind service_kind = { .kind = CCM_KIND_SERVICE,
                                                      .watches = watches };
static const struct kube_decode_kind slice_kind = { .kind = CCM_KIND_ENDPOINT_SLICE };
static const struct kube_decode_kind node_kind = { .kind = CCM_KIND_NODE, .watches = watches };
static const struct kube_decode_kind pod_kind = { .kind = CCM_KIND_POD };
static const struct kube_decode_kind raw_kind = { .kind = CCM_KIND_RAW,
                                                  .api_version = "apps/v1",
                                                  .kind_name = "Deployment" };

static struct kube_builder *builder;

static int fixture_begin(void **state)
{
    (void)state;
    builder = kube_builder_new();
    return builder == NULL ? -1 : 0;
}

static int fixture_end(void **state)
{
    (void)state;
    kube_builder_free(builder);
    return 0;
}

static const struct ccm_object *decode_text(const struct kube_decode_kind *kind, const char *text)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ccm_object *object = NULL;

    if (kube_decode(builder, kind, text, strlen(text), &object, &err) < 0) {
        print_error("%s\n", err.message);
        fail();
    }
    return object;
}

static const char service_json[] =
    "{\"kind\":\"Service\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\",\"namespace\":"
    "\"demo\","
    "\"uid\":\"u-1\",\"resourceVersion\":\"0042x\",\"generation\":3,"
    "\"creationTimestamp\":\"1970-01-01T00:00:02Z\",\"deletionTimestamp\":\"1970-01-01T00:01:00Z\","
    "\"labels\":{\"tier\":\"web\",\"app\":\"shop\",\"Upper\":\"x\"},"
    "\"annotations\":{\"b\":\"2\",\"a\":\" \",\"blank\":\"\\t a,\\n b "
    "\\r\\n\",\"kubectl.kubernetes.io/"
    "last-applied-configuration\":\"{}\\n\"},"
    "\"finalizers\":[\"service.k8s/resources\",\"other\"],"
    "\"managedFields\":[{\"manager\":\"kubectl\",\"fieldsV1\":{\"f:spec\":{}}}]},"
    "\"spec\":{\"type\":\"LoadBalancer\",\"loadBalancerClass\":\"c\",\"externalTrafficPolicy\":"
    "\"Local\","
    "\"loadBalancerIP\":\"1.2.3.4\",\"sessionAffinity\":\"ClientIP\",\"sessionAffinityConfig\":{"
    "\"clientIP\":{\"timeoutSeconds\":600}},\"clusterIP\":\"10.0.0.1\","
    "\"healthCheckNodePort\":31000,\"allocateLoadBalancerNodePorts\":false,"
    "\"publishNotReadyAddresses\":true,\"loadBalancerSourceRanges\":[\"10.0.0.0/8\",\"::/0\"],"
    "\"ipFamilies\":[\"IPv4\",\"IPv6\"],\"ports\":["
    "{\"name\":\"http\",\"protocol\":\"TCP\",\"port\":80,\"targetPort\":8080,\"nodePort\":30080,"
    "\"appProtocol\":\"http\"},"
    "{\"name\":\"dns\",\"protocol\":\"UDP\",\"port\":53,\"targetPort\":\"dns\"},{\"port\":443}]},"
    "\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"47.0.0.1\",\"ipMode\":\"VIP\"},"
    "{\"hostname\":\"lb.example\"}]},\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\","
    "\"reason\":\"Quota\",\"message\":\"m\",\"observedGeneration\":3},{\"type\":\"X\"}]}}";

static void test_service_in_full(void **state)
{
    const struct ccm_object *o = decode_text(&service_kind, service_json);
    const struct ccm_service *s = (const struct ccm_service *)(const void *)o;

    (void)state;
    assert_int_equal(o->struct_size, sizeof(struct ccm_service));
    assert_int_equal(o->kind, CCM_KIND_SERVICE);
    assert_string_equal(o->key, "demo/web");
    assert_string_equal(o->namespace_, "demo");
    assert_string_equal(o->name, "web");
    assert_string_equal(o->uid, "u-1");
    assert_string_equal(o->resource_version, "0042x");
    assert_int_equal(o->generation, 3);
    assert_int_equal(o->created_ms, 2000);
    assert_int_equal(o->deleted_ms, 60000);
    assert_int_equal(o->label_count, 3);
    assert_string_equal(o->labels[0]->key, "Upper");
    assert_string_equal(o->labels[1]->key, "app");
    assert_string_equal(o->labels[2]->value, "web");
    assert_int_equal(o->annotation_count, 4);
    assert_string_equal(o->annotations[0]->value, "");
    assert_string_equal(o->annotations[1]->value, "2");
    assert_string_equal(o->annotations[2]->value, "a,\n b");
    assert_string_equal(o->annotations[3]->value, "{}");
    assert_int_equal(o->finalizer_count, 2);
    assert_string_equal(o->finalizers[1], "other");
    assert_string_equal(s->type, "LoadBalancer");
    assert_string_equal(s->load_balancer_class, "c");
    assert_string_equal(s->external_traffic_policy, "Local");
    assert_string_equal(s->load_balancer_ip, "1.2.3.4");
    assert_string_equal(s->session_affinity, "ClientIP");
    assert_int_equal(s->session_affinity_timeout_s, 600);
    assert_string_equal(s->cluster_ip, "10.0.0.1");
    assert_int_equal(s->health_check_node_port, 31000);
    assert_int_equal(s->allocate_node_ports, 0);
    assert_int_equal(s->publish_not_ready_addresses, 1);
    assert_int_equal(s->source_range_count, 2);
    assert_string_equal(s->source_ranges[1], "::/0");
    assert_int_equal(s->ip_family_count, 2);
    assert_string_equal(s->ip_families[0], "IPv4");
    assert_int_equal(s->port_count, 3);
    assert_string_equal(s->ports[0]->app_protocol, "http");
    assert_int_equal(s->ports[0]->target_port, 8080);
    assert_int_equal(s->ports[0]->node_port, 30080);
    assert_string_equal(s->ports[0]->target_port_name, "");
    assert_string_equal(s->ports[1]->target_port_name, "dns");
    assert_int_equal(s->ports[1]->target_port, 0);
    assert_string_equal(s->ports[2]->protocol, "TCP");
    assert_int_equal(s->ports[2]->target_port, 443);
    assert_int_equal(s->ingress_count, 2);
    assert_string_equal(s->ingress[0]->ip, "47.0.0.1");
    assert_string_equal(s->ingress[0]->ip_mode, "VIP");
    assert_string_equal(s->ingress[1]->hostname, "lb.example");
    assert_string_equal(s->ingress[1]->ip, "");
    assert_int_equal(s->condition_count, 2);
    assert_string_equal(s->conditions[0]->type, "Ready");
    assert_string_equal(s->conditions[0]->status, "False");
    assert_string_equal(s->conditions[0]->reason, "Quota");
    assert_string_equal(s->conditions[0]->message, "m");
    assert_int_equal(s->conditions[0]->observed_generation, 3);
    assert_string_equal(s->conditions[1]->type, "X");
    assert_string_equal(s->conditions[1]->status, "");
    assert_int_equal(s->conditions[1]->observed_generation, 0);
    kube_object_unref(o);
}

static void test_unset_means_empty(void **state)
{
    static const char *const texts[] = {
        "{\"metadata\":{\"name\":\"n\"}}",
        "{\"metadata\":{\"name\":\"n\",\"labels\":null,\"annotations\":null,\"finalizers\":null,"
        "\"generation\":null},\"spec\":null,\"status\":null,\"endpoints\":null,\"ports\":null}",
        "{\"metadata\":{\"name\":\"n\",\"uid\":7,\"labels\":{\"a\":1},\"generation\":\"x\","
        "\"creationTimestamp\":\"soon\"},\"spec\":{\"type\":5,\"ports\":[],\"taints\":null}}",
    };
    static const struct kube_decode_kind *const kinds[] = { &service_kind, &slice_kind, &node_kind,
                                                            &pod_kind };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(texts); i++) {
        for (size_t k = 0; k < CCM_ARRAY_LEN(kinds); k++) {
            const struct ccm_object *o = decode_text(kinds[k], texts[i]);

            assert_string_equal(o->key, "n");
            assert_string_equal(o->namespace_, "");
            assert_string_equal(o->uid, "");
            assert_int_equal(o->label_count, 0);
            assert_int_equal(o->annotation_count, 0);
            assert_int_equal(o->finalizer_count, 0);
            assert_int_equal(o->generation, 0);
            assert_int_equal(o->created_ms, 0);
            assert_int_equal(o->deleted_ms, 0);
            if (kinds[k] == &service_kind) {
                const struct ccm_service *s = (const struct ccm_service *)(const void *)o;

                assert_string_equal(s->type, "");
                assert_int_equal(s->port_count, 0);
                assert_int_equal(s->allocate_node_ports, 1);
                assert_int_equal(s->ingress_count, 0);
                assert_int_equal(s->condition_count, 0);
            }
            if (kinds[k] == &pod_kind) {
                const struct ccm_pod *p = (const struct ccm_pod *)(const void *)o;

                assert_string_equal(p->ip, "");
                assert_int_equal(p->condition_count, 0);
                assert_int_equal(p->readiness_gate_count, 0);
            }
            kube_object_unref(o);
        }
    }
}

/* A deletion must not be overlooked because its time cannot be read. */
static void test_unreadable_deletion_time(void **state)
{
    const struct ccm_object *o = decode_text(
        &service_kind, "{\"metadata\":{\"name\":\"n\",\"deletionTimestamp\":\"whenever\"}}");

    (void)state;
    assert_int_not_equal(o->deleted_ms, 0);
    kube_object_unref(o);
}

static const char slice_json[] =
    "{\"metadata\":{\"name\":\"web-x\",\"namespace\":\"demo\",\"resourceVersion\":\"9\","
    "\"labels\":{\"kubernetes.io/service-name\":\"web\"},"
    "\"annotations\":{\"endpoints.kubernetes.io/last-change-trigger-time\":\"t\"}},"
    "\"addressType\":\"IPv4\",\"endpoints\":["
    "{\"addresses\":[\"10.1.0.5\",\"10.1.0.6\"],\"conditions\":{\"ready\":true,\"serving\":true,"
    "\"terminating\":false},\"nodeName\":\"n1\",\"targetRef\":{\"kind\":\"Pod\",\"name\":\"web-1\","
    "\"uid\":\"u-1\"}},"
    "{\"addresses\":[\"10.1.0.7\"],\"conditions\":{}},"
    "{\"addresses\":[\"10.1.0.8\"]},"
    "{\"addresses\":[\"10.1.0.9\"],\"conditions\":{\"ready\":null},"
    "\"targetRef\":{\"kind\":\"VM\",\"name\":\"v\",\"uid\":\"u-2\"}},"
    "{\"addresses\":[\"10.1.0.10\"],\"conditions\":{\"ready\":false,\"serving\":true,"
    "\"terminating\":true},\"nodeName\":\"n1\"},"
    "{\"addresses\":[\"10.1.0.11\",\"10.1.0.12\"],\"conditions\":{\"ready\":false}}],"
    "\"ports\":[{\"name\":\"http\",\"protocol\":\"TCP\",\"port\":8080},{\"port\":70000},{}]}";

static void test_slice(void **state)
{
    static const uint64_t flags[] = {
        CCM_ENDPOINT_READY | CCM_ENDPOINT_SERVING,       CCM_ENDPOINT_READY | CCM_ENDPOINT_SERVING,
        CCM_ENDPOINT_READY | CCM_ENDPOINT_SERVING,       CCM_ENDPOINT_READY | CCM_ENDPOINT_SERVING,
        CCM_ENDPOINT_SERVING | CCM_ENDPOINT_TERMINATING, 0,
    };
    const struct ccm_object *o = decode_text(&slice_kind, slice_json);
    const struct ccm_endpoint_slice *s = (const struct ccm_endpoint_slice *)(const void *)o;

    (void)state;
    assert_string_equal(s->service_name, "web");
    assert_string_equal(s->address_type, "IPv4");
    assert_int_equal(o->annotation_count, 0);
    assert_int_equal(s->endpoint_count, CCM_ARRAY_LEN(flags));
    for (size_t i = 0; i < CCM_ARRAY_LEN(flags); i++) {
        /* Only the first one is a pod with a uid. */
        assert_true((i == 0 ? s->endpoints[i]->flags & ~CCM_ENDPOINT_POD_MARK
                            : s->endpoints[i]->flags) == flags[i]);
    }
    assert_string_equal(s->endpoints[0]->address, "10.1.0.5");
    assert_string_equal(s->endpoints[0]->node_name, "n1");
    assert_string_equal(s->endpoints[0]->pod_name, "web-1");
    assert_string_equal(s->endpoints[1]->node_name, "");
    assert_string_equal(s->endpoints[3]->pod_name, "");
    assert_true((s->endpoints[0]->flags & CCM_ENDPOINT_POD_MARK) != 0);
    /* Equal texts of one object lie in one place. */
    assert_ptr_equal(s->endpoints[0]->node_name, s->endpoints[4]->node_name);
    assert_int_equal(s->further_count, 2);
    assert_string_equal(s->further[0]->address, "10.1.0.6");
    assert_string_equal(s->further[0]->pod_name, "web-1");
    assert_true(s->further[0]->flags == s->endpoints[0]->flags);
    assert_ptr_equal(s->further[0]->node_name, s->endpoints[0]->node_name);
    assert_string_equal(s->further[1]->address, "10.1.0.12");
    assert_int_equal(s->further[1]->flags, flags[5]);
    assert_int_equal(s->port_count, 3);
    assert_int_equal(s->ports[0]->port, 8080);
    assert_int_equal(s->ports[1]->port, 70000);
    assert_string_equal(s->ports[2]->protocol, "TCP");
    assert_int_equal(s->ports[2]->port, 0);
    kube_object_unref(o);
}

static void test_node(void **state)
{
    const struct ccm_object *o = decode_text(
        &node_kind,
        "{\"metadata\":{\"name\":\"cn.10.0.0.1\",\"labels\":{\"os\":\"linux\"},\"annotations\":{"
        "\"alpha.kubernetes.io/provided-node-ip\":\"10.0.0.1\",\"volumes.kubernetes.io/"
        "x\":\"true\",\"example.com/kept\":\"1:1\",\"example.com/kept-not\":\"\"}},"
        "\"spec\":{\"providerID\":\"cn.i-1\",\"podCIDR\":\"10.244.1.0/24\","
        "\"podCIDRs\":[\"10.244.1.0/24\",\"fd00::/64\"],\"unschedulable\":true,"
        "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]},"
        "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},"
        "{\"type\":\"NetworkUnavailable\",\"status\":\"False\"}],"
        "\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"10.0.0.1\"}],"
        "\"images\":[{\"names\":[\"big\"]}]}}");
    const struct ccm_node *n = (const struct ccm_node *)(const void *)o;

    (void)state;
    assert_string_equal(o->key, "cn.10.0.0.1");
    assert_int_equal(o->annotation_count, 2);
    assert_string_equal(o->annotations[0]->value, "10.0.0.1");
    assert_string_equal(o->annotations[1]->value, "1:1");
    assert_string_equal(n->provider_id, "cn.i-1");
    assert_int_equal(n->pod_cidr_count, 2);
    assert_string_equal(n->pod_cidrs[1], "fd00::/64");
    assert_int_equal(n->unschedulable, 1);
    assert_int_equal(n->has_conditions, 1);
    assert_int_equal(n->ready, CCM_CONDITION_TRUE);
    assert_int_equal(n->network_unavailable, CCM_CONDITION_FALSE);
    assert_int_equal(n->taint_count, 1);
    assert_string_equal(n->taints[0]->effect, "NoSchedule");
    assert_string_equal(n->taints[0]->value, "");
    assert_int_equal(n->address_count, 1);
    assert_string_equal(n->addresses[0]->type, "InternalIP");
    kube_object_unref(o);
}

static void test_node_conditions(void **state)
{
    static const struct {
        const char *status;
        uint64_t has;
        uint64_t ready;
    } table[] = {
        { "{}", 0, CCM_CONDITION_ABSENT },
        { "{\"conditions\":[]}", 0, CCM_CONDITION_ABSENT },
        { "{\"conditions\":[{\"type\":\"DiskPressure\",\"status\":\"False\"}]}", 1,
          CCM_CONDITION_ABSENT },
        { "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}", 1, CCM_CONDITION_FALSE },
        { "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"}]}", 1,
          CCM_CONDITION_UNKNOWN },
        { "{\"conditions\":[{\"type\":\"Ready\"}]}", 1, CCM_CONDITION_UNKNOWN },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        char *text = ccm_text_format(
            "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"podCIDR\":\"10.0.0.0/24\"},\"status\":%s}",
            table[i].status);
        const struct ccm_object *o = decode_text(&node_kind, text);
        const struct ccm_node *n = (const struct ccm_node *)(const void *)o;

        assert_int_equal(n->has_conditions, table[i].has);
        assert_int_equal(n->ready, table[i].ready);
        assert_int_equal(n->network_unavailable, CCM_CONDITION_ABSENT);
        assert_int_equal(n->pod_cidr_count, 1); /* the older field alone counts too */
        kube_object_unref(o);
        free(text);
    }
}

#define INFO                                                                                       \
    "{\"metadata\":{\"name\":\"n\"},\"status\":{\"capacity\":{\"memory\":\"8148204Ki\",\"cpu\":"   \
    "\"4\"},"                                                                                      \
    "\"allocatable\":{\"cpu\":\"3920m\"},\"nodeInfo\":{\"osImage\":\"Linux 3\",\"architecture\":"  \
    "\"amd64\",\"swap\":{\"capacity\":1}}}}"

/* Only where somebody asks for it. */
static void test_node_info(void **state)
{
    static const struct kube_decode_kind kind = { .kind = CCM_KIND_NODE, .node_info = true };
    const struct ccm_object *without = decode_text(&node_kind, INFO);
    const struct ccm_object *with = decode_text(&kind, INFO);
    const struct ccm_object *bare = decode_text(&kind, "{\"metadata\":{\"name\":\"n\"}}");
    const struct ccm_node_info *info = ((const struct ccm_node *)(const void *)with)->info;
    const struct ccm_node_info *none = ((const struct ccm_node *)(const void *)bare)->info;

    (void)state;
    assert_null(((const struct ccm_node *)(const void *)without)->info);
    assert_true(kube_object_bytes(without) + sizeof(*info) < kube_object_bytes(with));
    assert_int_equal(info->struct_size, sizeof(*info));
    assert_int_equal(info->capacity_count, 2);
    assert_string_equal(info->capacity[0]->key, "cpu");
    assert_string_equal(info->capacity[0]->value, "4");
    assert_string_equal(info->capacity[1]->value, "8148204Ki");
    assert_int_equal(info->allocatable_count, 1);
    assert_string_equal(info->allocatable[0]->value, "3920m");
    assert_int_equal(info->system_count, 2);
    assert_string_equal(info->system[0]->key, "architecture");
    assert_string_equal(info->system[1]->value, "Linux 3");
    assert_int_equal(none->capacity_count + none->allocatable_count + none->system_count, 0);
    kube_object_unref(without);
    kube_object_unref(with);
    kube_object_unref(bare);
}

static void test_node_traits(void **state)
{
    static const struct {
        const char *annotations;
        uint64_t traits;
    } table[] = {
        { "{}", 0 },
        { "{\"k8s.aliyun.com/max-available-ip\":\"27\"}", CCM_NODE_VPC_PODS },
        { "{\"k8s.aliyun.com/max-available-ip\":\"0\"}", 0 },
        { "{\"k8s.aliyun.com/max-available-ip\":\"\"}", 0 },
        { "{\"k8s.aliyun.com/max-available-ip\":27}", 0 },
        { "{\"flannel.alpha.coreos.com/backend-type\":\"alloc\"}", 0 },
        { "{\"projectcalico.org/IPv4Address\":\"10.0.0.1/24\"}", 0 },
        { "{\"network.cilium.io/ipv4-pod-cidr\":\"10.1.0.0/24\"}", 0 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        CCM_CLEANUP(ccm_freep)
        char *text = ccm_text_format("{\"metadata\":{\"name\":\"n\",\"annotations\":%s}}",
                                     table[i].annotations);
        const struct ccm_object *o = decode_text(&node_kind, text);

        assert_int_equal(o->traits, table[i].traits);
        assert_int_equal(o->annotation_count, 0);
        kube_object_unref(o);
    }
}

static void test_pod(void **state)
{
    const struct ccm_object *o = decode_text(
        &pod_kind,
        "{\"metadata\":{\"name\":\"web-1\",\"namespace\":\"demo\",\"uid\":\"u\",\"annotations\":{"
        "\"a\":\"b\"}},\"spec\":{\"nodeName\":\"n1\",\"hostNetwork\":true,\"readinessGates\":[{"
        "\"conditionType\":"
        "\"example.com/lb-ready\"},{}]},\"status\":{\"phase\":\"Running\",\"podIP\":\"10.0.0.9\","
        "\"podIPs\":[{\"ip\":\"10.0.0.9\"},{\"ip\":\"fd00::9\"}],"
        "\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":"
        "\"ReadinessGatesNotReady\","
        "\"message\":\"waits\",\"lastProbeTime\":null},{\"type\":\"example.com/"
        "lb-ready\",\"status\":"
        "\"True\"}]}}");
    const struct ccm_pod *p = (const struct ccm_pod *)(const void *)o;

    (void)state;
    assert_int_equal(o->struct_size, sizeof(struct ccm_pod));
    assert_int_equal(o->kind, CCM_KIND_POD);
    assert_string_equal(o->key, "demo/web-1");
    assert_int_equal(o->annotation_count, 1);
    assert_string_equal(p->node_name, "n1");
    assert_string_equal(p->phase, "Running");
    assert_string_equal(p->ip, "10.0.0.9");
    assert_int_equal(p->host_network, 1);
    assert_int_equal(p->ip_count, 2);
    assert_string_equal(p->ips[1], "fd00::9");
    assert_int_equal(p->readiness_gate_count, 2);
    assert_string_equal(p->readiness_gates[0], "example.com/lb-ready");
    assert_string_equal(p->readiness_gates[1], "");
    assert_int_equal(p->condition_count, 2);
    assert_string_equal(p->conditions[0]->reason, "ReadinessGatesNotReady");
    assert_string_equal(p->conditions[0]->message, "waits");
    assert_string_equal(p->conditions[1]->type, "example.com/lb-ready");
    assert_string_equal(p->conditions[1]->status, "True");
    kube_object_unref(o);
}

static void test_raw(void **state)
{
    static const char text[] =
        "{\"metadata\":{\"name\":\"d\",\"namespace\":\"ns\"},\"spec\":{\"big\":9007199254740993}}";
    const struct ccm_object *o = decode_text(&raw_kind, text);
    const struct ccm_raw *raw = (const struct ccm_raw *)(const void *)o;

    (void)state;
    assert_string_equal(o->key, "ns/d");
    assert_string_equal(raw->json, text);
    assert_string_equal(raw->api_version, "apps/v1");
    assert_string_equal(raw->kind_name, "Deployment");
    kube_object_unref(o);
    o = decode_text(&raw_kind,
                    "{\"kind\":\"K\",\"apiVersion\":\"v2\",\"metadata\":{\"name\":\"d\"}}");
    raw = (const struct ccm_raw *)(const void *)o;
    assert_string_equal(raw->api_version, "v2");
    assert_string_equal(raw->kind_name, "K");
    kube_object_unref(o);
}

struct bad_case {
    const struct kube_decode_kind *kind;
    const char *text;
    int result;
    const char *key;  /* what is known of it */
    const char *says; /* part of the message */
};

static void test_hostile(void **state)
{
#define META "\"metadata\":{\"name\":\"n\",\"namespace\":\"d\"}"
    static const struct bad_case table[] = {
        { &service_kind, "", -EBADMSG, "", "JSON" },
        { &service_kind, "null", -EBADMSG, "", "JSON" },
        { &service_kind, "[]", -EBADMSG, "", "JSON" },
        { &service_kind, "{\"metadata\":{\"name\":\"n\"}", -EBADMSG, "", "JSON" },
        { &service_kind, "{}", -EBADMSG, "", "metadata.name" },
        { &service_kind, "{\"metadata\":[]}", -EBADMSG, "", "metadata" },
        { &service_kind, "{\"metadata\":{\"name\":7}}", -EBADMSG, "", "metadata.name" },
        { &service_kind, "{\"metadata\":{\"name\":\"a/b\"}}", -EBADMSG, "", "metadata.name" },
        { &service_kind, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"b/c\"}}", -EBADMSG, "",
          "name" },
        { &service_kind, "{\"metadata\":{\"name\":\"n\",\"labels\":[]}}", -EBADMSG, "n", "labels" },
        { &service_kind, "{\"metadata\":{\"name\":\"n\",\"annotations\":\"x\"}}", -EBADMSG, "n",
          "annotations" },
        { &service_kind, "{\"metadata\":{\"name\":\"n\",\"finalizers\":{}}}", -EBADMSG, "n",
          "finalizers" },
        { &service_kind, "{\"metadata\":{\"name\":\"n\",\"finalizers\":[1]}}", -EBADMSG, "n",
          "finalizers" },
        { &service_kind, "{" META ",\"spec\":[]}", -EBADMSG, "d/n", "spec" },
        { &service_kind, "{" META ",\"spec\":{\"ports\":{}}}", -EBADMSG, "d/n", "ports" },
        { &service_kind, "{" META ",\"spec\":{\"ports\":[80]}}", -EBADMSG, "d/n", "ports" },
        { &service_kind, "{" META ",\"spec\":{\"ports\":[null]}}", -EBADMSG, "d/n", "ports" },
        { &service_kind, "{" META ",\"spec\":{\"ipFamilies\":[{}]}}", -EBADMSG, "d/n",
          "ipFamilies" },
        { &service_kind, "{" META ",\"status\":\"x\"}", -EBADMSG, "d/n", "status" },
        { &service_kind, "{" META ",\"status\":{\"loadBalancer\":{\"ingress\":[\"x\"]}}}", -EBADMSG,
          "d/n", "ingress" },
        { &slice_kind, "{" META ",\"endpoints\":{}}", -EBADMSG, "d/n", "endpoints" },
        { &slice_kind, "{" META ",\"endpoints\":[{}]}", -EBADMSG, "d/n", "endpoints[0]" },
        { &slice_kind, "{" META ",\"endpoints\":[{\"addresses\":[\"a\"]},{\"addresses\":\"b\"}]}",
          -EBADMSG, "d/n", "endpoints[1]: addresses" },
        { &slice_kind, "{" META ",\"endpoints\":[{\"addresses\":[\"a\"],\"conditions\":[]}]}",
          -EBADMSG, "d/n", "conditions" },
        { &slice_kind, "{" META ",\"ports\":[[]]}", -EBADMSG, "d/n", "ports" },
        { &node_kind, "{" META ",\"spec\":{\"podCIDRs\":\"10.0.0.0/24\"}}", -EBADMSG, "d/n",
          "podCIDRs" },
        { &node_kind, "{" META ",\"status\":{\"conditions\":{\"Ready\":true}}}", -EBADMSG, "d/n",
          "conditions" },
        { &node_kind, "{" META ",\"spec\":{\"taints\":[\"x\"]}}", -EBADMSG, "d/n", "taints" },
        { &service_kind, "{" META ",\"status\":{\"conditions\":[\"x\"]}}", -EBADMSG, "d/n",
          "conditions" },
        { &pod_kind, "{" META ",\"status\":{\"conditions\":{}}}", -EBADMSG, "d/n", "conditions" },
        { &pod_kind, "{" META ",\"spec\":{\"readinessGates\":[7]}}", -EBADMSG, "d/n",
          "readinessGates" },
        { &pod_kind, "{" META ",\"spec\":[]}", -EBADMSG, "d/n", "spec" },
    };
#undef META

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf key = { .max = 0 };
        struct ccm_error err = CCM_ERROR_INIT;
        const struct ccm_object *object = NULL;
        CCM_CLEANUP(kube_decode_text_fini) struct kube_decode_text text = { 0 };
        int r = kube_decode_parse(table[i].text, strlen(table[i].text), &text, &err);

        if (r == 0) {
            r = kube_decode_parsed(builder, table[i].kind, &text, &object, &key, &err);
        }
        assert_int_equal(r, table[i].result);
        assert_null(object);
        assert_string_equal(ccm_buf_str(&key), table[i].key);
        assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
        assert_non_null(strstr(err.message, table[i].says));
    }
}

/* "{...<prefix><element,element,...><suffix>" */
static char *repeat(const char *prefix, const char *element, size_t count, const char *suffix)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 0 };
    char *result = NULL;

    ccm_buf_adds(&text, prefix);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            ccm_buf_addc(&text, ',');
        }

        /* '#' stands for the number */
        const char *mark = strchr(element, '#');

        if (mark == NULL) {
            ccm_buf_adds(&text, element);
        } else {
            ccm_buf_add(&text, element, (size_t)(mark - element));
            ccm_buf_addf(&text, "%zu%s", i, mark + 1);
        }
    }
    ccm_buf_adds(&text, suffix);
    assert_int_equal(ccm_buf_take(&text, &result), 0);
    return result;
}

static int try_decode(const struct kube_decode_kind *kind, const char *text)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ccm_object *object = NULL;
    const int r = kube_decode(builder, kind, text, strlen(text), &object, &err);

    kube_object_unref(object);
    return r;
}

/* Of what the object has too much; NULL: it is whole. */
static const char *decode_problem(const struct kube_decode_kind *kind, const char *text)
{
    static char problem[256];
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ccm_object *object = NULL;

    assert_int_equal(kube_decode(builder, kind, text, strlen(text), &object, &err), 0);
    (void)snprintf(problem, sizeof(problem), "%s",
                   object->too_large == NULL ? "" : object->too_large); /* cut is fine */
    kube_object_unref(object);
    return problem[0] == '\0' ? NULL : problem;
}

static void test_counts_are_limited(void **state)
{
    static const struct {
        const struct kube_decode_kind *kind;
        const char *prefix;
        const char *element;
        const char *suffix;
        size_t max;
        const char *problem;
    } table[] = {
        { &service_kind,
          "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"type\":\"LoadBalancer\",\"ports\":[",
          "{\"port\":#}", "]}}", KUBE_DECODE_MAX_PORTS, "ports: more than 1000 elements" },
        { &pod_kind, "{\"metadata\":{\"name\":\"n\",\"annotations\":{", "\"a#\":\"\"", "}}}",
          KUBE_DECODE_MAX_PAIRS, "annotations: more than 4096 entries" },
        { &service_kind, "{\"metadata\":{\"name\":\"n\",\"finalizers\":[", "\"f#\"", "]}}",
          KUBE_DECODE_MAX_FINALIZERS, "finalizers: more than 256 elements" },
        { &slice_kind, "{\"metadata\":{\"name\":\"n\"},\"endpoints\":[", "{\"addresses\":[\"#\"]}",
          "]}", KUBE_DECODE_MAX_ENDPOINTS, "endpoints: more than 10000 elements" },
        { &node_kind, "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"taints\":[", "{\"key\":\"#\"}",
          "]}}", KUBE_DECODE_MAX_LIST, "taints: more than 1000 elements" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        char *most = repeat(table[i].prefix, table[i].element, table[i].max, table[i].suffix);
        char *more = repeat(table[i].prefix, table[i].element, table[i].max + 1, table[i].suffix);

        assert_null(decode_problem(table[i].kind, most));
        assert_non_null(strstr(decode_problem(table[i].kind, more), table[i].problem));
        free(most);
        free(more);
    }
}

/* One with more than can be held is a Node all the same. */
static void test_too_much_node_info(void **state)
{
    static const struct kube_decode_kind kind = { .kind = CCM_KIND_NODE, .node_info = true };
    char *text =
        repeat("{\"metadata\":{\"name\":\"n\"},\"spec\":{\"providerID\":\"i\"},\"status\":{"
               "\"capacity\":{",
               "\"a#\":\"1\"", KUBE_DECODE_MAX_PAIRS + 1, "}}}");
    const struct ccm_object *o = decode_text(&kind, text);
    const struct ccm_node *node = (const struct ccm_node *)(const void *)o;

    (void)state;
    assert_non_null(strstr(o->too_large, "capacity: more than 4096 entries"));
    assert_string_equal(node->provider_id, "i");
    assert_int_equal(node->info->capacity_count, 0);
    kube_object_unref(o);
    free(text);
}

/* What controllers need to release the Service, whatever there is too much of. */
static void test_what_stays_of_a_large_service(void **state)
{
    static const char *const parts[][3] = {
        { "\"annotations\":{\"service.beta.kubernetes.io/x\":\"y\",", "\"a#\":\"\"", "}," },
        { "\"labels\":{\"service.example/l\":\"y\",\"node.example/l\":\"y\",", "\"l#\":\"\"",
          "}," },
        { "\"annotations\":{\"service.example/x\":\"y\",", "\"service.example/#\":\"\"", "}," },
        { "\"finalizers\":[\"service.example/f\",\"other.example/f\",", "\"f#\"", "]," },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(parts); i++) {
        char prefix[512];
        struct ccm_error err = CCM_ERROR_INIT;
        const struct ccm_object *object = NULL;

        ccm_text_printf(prefix, sizeof(prefix),
                        "{\"spec\":{\"type\":\"LoadBalancer\",\"loadBalancerClass\":\"c\"},"
                        "\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"1.2.3.4\"}]}},"
                        "\"metadata\":{%s",
                        parts[i][0]);
        const char *suffix = parts[i][2][0] == '}'
                                 ? "},\"name\":\"n\",\"uid\":\"u\",\"deletionTimestamp\":\"x\"}}"
                                 : "],\"name\":\"n\",\"uid\":\"u\",\"deletionTimestamp\":\"x\"}}";
        char *text = repeat(prefix, parts[i][1], 5000, suffix);

        assert_int_equal(kube_decode(builder, &service_kind, text, strlen(text), &object, &err), 0);

        const struct ccm_service *service = (const struct ccm_service *)(const void *)object;

        assert_int_equal(object->too_large != NULL, i >= 2); /* not because of keys of others */
        assert_string_equal(object->uid, "u");
        assert_true(object->deleted_ms != 0);
        assert_string_equal(service->type, "LoadBalancer");
        assert_string_equal(service->load_balancer_class, "c");
        assert_int_equal(service->ingress_count, 1);
        assert_int_equal(object->label_count, i == 1);
        assert_int_equal(object->finalizer_count, i == 3);
        assert_true(i == 2 ? object->annotation_count > 2000
                           : object->annotation_count == (i == 0));
        assert_int_equal(ccm_object_annotation(object, "service.example/x") != NULL, i == 2);
        kube_object_unref(object);
        free(text);
    }
}

/* Many small things are as large as a long one. */
static void test_large_services_that_nobody_serves(void **state)
{
    static const char *const parts[][3] = {
        { "{\"metadata\":{\"name\":\"n\",\"annotations\":{\"kubernetes.io/x\":\"\",", "\"a#\":\"\"",
          "}}}" },
        { "{\"metadata\":{\"name\":\"n\",\"labels\":{", "\"l#\":\"\"", "}}}" },
        { "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"type\":\"NodePort\",\"ports\":[",
          "{\"port\":#}", "]}}" },
        { "{\"metadata\":{\"name\":\"n\"},\"status\":{\"loadBalancer\":{\"ingress\":[",
          "{\"hostname\":\"h#\"}", "]}}}" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(parts); i++) {
        char *text = repeat(parts[i][0], parts[i][1], 900, parts[i][2]);
        struct ccm_error err = CCM_ERROR_INIT;
        const struct ccm_object *object = NULL;

        assert_int_equal(kube_decode(builder, &service_kind, text, strlen(text), &object, &err), 0);

        const struct ccm_service *service = (const struct ccm_service *)(const void *)object;

        assert_non_null(object->too_large);
        assert_int_equal(object->annotation_count + object->label_count, 0);
        assert_int_equal(service->port_count + service->ingress_count, 0);
        kube_object_unref(object);
        free(text);
    }
}

static void test_sizes_are_limited(void **state)
{
    static const char head[] = "{\"spec\":{\"type\":\"LoadBalancer\"},\"metadata\":{\"name\":\"n\","
                               "\"annotations\":{\"a\":\"";
    const size_t sizes[] = { 1000000, KUBE_DECODE_MAX_OBJECT, KUBE_DECODE_MAX_TEXT };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(sizes); i++) {
        char *text = malloc(sizeof(head) + sizes[i] + 5);

        assert_non_null(text);
        memcpy(text, head, sizeof(head) - 1);
        memset(text + sizeof(head) - 1, 'x', sizes[i]);
        memcpy(text + sizeof(head) - 1 + sizes[i], "\"}}}", 5);
        assert_int_equal(try_decode(&service_kind, text), i < 2 ? 0 : -EMSGSIZE);
        free(text);
    }
}

static void test_deep_nesting(void **state)
{
    char *text =
        repeat("{\"metadata\":{\"name\":\"n\"},\"spec\":", "[[[[[[[[[[[[[[[[[[[[", 1000, "");

    (void)state;
    assert_int_equal(try_decode(&service_kind, text), -EBADMSG);
    free(text);
}

static void test_every_cut_of_an_object_is_refused(void **state)
{
    static const struct {
        const struct kube_decode_kind *kind;
        const char *text;
    } table[] = { { &service_kind, service_json }, { &slice_kind, slice_json } };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        for (size_t len = 0; len < strlen(table[i].text); len++) {
            struct ccm_error err = CCM_ERROR_INIT;
            const struct ccm_object *object = NULL;

            assert_int_equal(kube_decode(builder, table[i].kind, table[i].text, len, &object, &err),
                             -EBADMSG);
        }
    }
}

/* One byte changed at a time: an object or an error, never a crash; under sanitizers this means
 * something. */
static void test_mutations(void **state)
{
    static const char bytes[] = "{}[]\",:0n\\";
    static const struct {
        const struct kube_decode_kind *kind;
        const char *text;
    } table[] = { { &service_kind, service_json },
                  { &slice_kind, slice_json },
                  { &raw_kind, slice_json } };
    size_t objects = 0;
    size_t errors = 0;

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        const size_t len = strlen(table[i].text);
        char *text = ccm_text_format("%s", table[i].text);

        assert_non_null(text);
        for (size_t at = 0; at < len; at++) {
            for (size_t b = 0; b < sizeof(bytes) - 1; b++) {
                text[at] = bytes[b];

                const int r = try_decode(table[i].kind, text);

                assert_true(r == 0 || r == -EBADMSG);
                objects += r == 0;
                errors += r < 0;
            }
            text[at] = table[i].text[at];
        }
        free(text);
    }
    assert_true(objects > 1000);
    assert_true(errors > 1000);
}

/* The budget of an endpoint: 128 bytes all in, of which a mirror at rest needs 28 at most
 * (plugins/lbc/tests/test-backend.c), and the allocator a few. */
static void test_memory_of_endpoints(void **state)
{
    static const char head[] = "{\"metadata\":{\"name\":\"n\"},\"endpoints\":[";
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf one = { .max = 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf many = { .max = 0 };

    (void)state;
    ccm_buf_adds(&one, head);
    ccm_buf_adds(&many, head);
    for (int i = 0; i < 100; i++) {
        struct ccm_buf *target = i == 0 ? &one : &many;

        ccm_buf_addf(target,
                     "%s{\"addresses\":[\"10.244.12.%d\"],\"conditions\":{\"ready\":true},"
                     "\"nodeName\":\"cn-hangzhou.192.168.100.%d\","
                     "\"targetRef\":{\"kind\":\"Pod\",\"name\":\"frontend-7d9c8b6f5d-x%d\"}}",
                     i < 2 ? "" : ",", 100 + i, 100 + i, 1000 + i);
    }
    ccm_buf_adds(&one, "]}");
    ccm_buf_adds(&many, "]}");

    const struct ccm_object *small = decode_text(&slice_kind, ccm_buf_str(&one));
    const struct ccm_object *large = decode_text(&slice_kind, ccm_buf_str(&many));

    assert_true((kube_object_bytes(large) - kube_object_bytes(small)) / 98 <= 84);
    kube_object_unref(small);
    kube_object_unref(large);
}

static void test_references(void **state)
{
    const struct ccm_object *o = decode_text(&slice_kind, slice_json);

    (void)state;
    assert_ptr_equal(kube_object_ref(o), o);
    kube_object_unref(o);
    assert_string_equal(o->name, "web-x"); /* still ours */
    kube_object_unref(o);
    kube_object_unref(NULL);
}

/* A description that changes between the two runs must not write past the block. */
static int unsteady(struct kube_builder *b, const void *source, struct ccm_error *err)
{
    int *runs = (int *)(uintptr_t)source;
    struct ccm_raw raw = { .meta = { .struct_size = sizeof(raw) } };

    (void)err;
    raw.json = kube_builder_text(b, *runs == 0 ? "a" : "a much longer text");
    raw.meta.finalizers = kube_builder_list(b, *runs == 0 ? 1 : 1000);
    (*runs)++;
    kube_builder_root(b, &raw, sizeof(raw));
    return 0;
}

static void test_unsteady_description(void **state)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ccm_object *object = NULL;
    int runs = 0;

    (void)state;
    assert_int_equal(kube_object_build(builder, unsteady, &runs, 10000, &object, &err), -EIO);
    assert_int_equal(err.kind, CCM_ERROR_BUG);
    assert_int_equal(runs, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_service_in_full),
        cmocka_unit_test(test_unset_means_empty),
        cmocka_unit_test(test_unreadable_deletion_time),
        cmocka_unit_test(test_slice),
        cmocka_unit_test(test_node),
        cmocka_unit_test(test_node_conditions),
        cmocka_unit_test(test_node_info),
        cmocka_unit_test(test_too_much_node_info),
        cmocka_unit_test(test_node_traits),
        cmocka_unit_test(test_pod),
        cmocka_unit_test(test_raw),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_counts_are_limited),
        cmocka_unit_test(test_what_stays_of_a_large_service),
        cmocka_unit_test(test_large_services_that_nobody_serves),
        cmocka_unit_test(test_sizes_are_limited),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_every_cut_of_an_object_is_refused),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_memory_of_endpoints),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_unsteady_description),
    };

    return cmocka_run_group_tests(tests, fixture_begin, fixture_end);
}
