#include "alloc.h"
#include "jx.h"
#include "schemas.h"
#include "service.h"
#include "util/attr.h"
#include "util/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static cJSON *parse(const char *text)
{
    cJSON *json = NULL;

    if (ccm_json_parse(text, strlen(text), &json) < 0) {
        fail_msg("not JSON: %s", text);
    }
    return json;
}

/* A Service as the path of a write makes it; faults are added to the list. */
static cJSON *write_service(struct ccm_ks_alloc *alloc, const char *spec, const cJSON *old,
                            cJSON *faults)
{
    CCM_CLEANUP(ccm_ks_decode_fini) struct ccm_ks_decode decode = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *in = cJSON_CreateObject();
    CCM_CLEANUP(ccm_json_freep) cJSON *object = NULL;

    ccm_ks_jx_set(in, "spec", parse(spec));
    object = ccm_ks_schema_decode(&ccm_ks_schema_service, in, &decode);
    assert_non_null(object);
    ccm_ks_service_defaults(object);

    struct ccm_ks_write write = { .object = object, .old = old, .alloc = alloc, .faults = faults };

    ccm_ks_service_prepare(&write);
    if (cJSON_GetArraySize(faults) == 0) {
        ccm_ks_service_validate(&write);
    }
    return CCM_STEAL(object);
}

/* The allocated values by placeholders, so that texts can be compared. */
static void mask(cJSON *service)
{
    cJSON *spec = ccm_ks_jx_get(service, "spec");
    cJSON *list = ccm_ks_jx_get(spec, "clusterIPs");
    cJSON *port;

    if (ccm_json_get(spec, "clusterIP") != NULL &&
        strcmp(ccm_json_text(spec, "clusterIP"), "None") != 0) {
        assert_string_equal(ccm_json_text(spec, "clusterIP"), list->child->valuestring);
        assert_int_equal(strncmp(ccm_json_text(spec, "clusterIP"), "10.", 3), 0);
        ccm_ks_jx_set_str(spec, "clusterIP", "IP");
        ccm_ks_jx_del(spec, "clusterIPs");
    }
    cJSON_ArrayForEach(port, ccm_ks_jx_get(spec, "ports"))
    {
        const int64_t number = ccm_json_i64(port, "nodePort", 0);

        if (number != 0) {
            assert_in_range(number, CCM_KS_PORT_MIN, CCM_KS_PORT_MAX);
            ccm_ks_jx_set_str(port, "nodePort", "P");
        }
    }
    if (ccm_json_i64(spec, "healthCheckNodePort", 0) != 0) {
        ccm_ks_jx_set_str(spec, "healthCheckNodePort", "P");
    }
}

static void alloc_freep(struct ccm_ks_alloc **alloc)
{
    ccm_ks_alloc_free(*alloc);
}

#define TAIL                                                                                       \
    "\"ipFamilies\":[\"IPv4\"],\"ipFamilyPolicy\":\"SingleStack\","                                \
    "\"internalTrafficPolicy\":\"Cluster\""

static void test_defaults(void **state)
{
    static const struct {
        const char *spec;
        const char *outcome;
    } rows[] = {
        { "{\"ports\":[{\"port\":80}]}",
          "{\"ports\":[{\"port\":80,\"protocol\":\"TCP\",\"targetPort\":80}],\"clusterIP\":\"IP\","
          "\"type\":\"ClusterIP\",\"sessionAffinity\":\"None\"," TAIL "}" },
        { "{\"type\":\"LoadBalancer\",\"ports\":[{\"port\":80,\"targetPort\":\"web\"}]}",
          "{\"ports\":[{\"port\":80,\"protocol\":\"TCP\",\"targetPort\":\"web\",\"nodePort\":\"P\"}"
          "],"
          "\"clusterIP\":\"IP\",\"type\":\"LoadBalancer\",\"sessionAffinity\":\"None\","
          "\"externalTrafficPolicy\":\"Cluster\",\"allocateLoadBalancerNodePorts\":true," TAIL
          "}" },
        { "{\"type\":\"LoadBalancer\",\"externalTrafficPolicy\":\"Local\","
          "\"allocateLoadBalancerNodePorts\":false,\"ports\":[{\"port\":53,\"protocol\":\"UDP\"}]}",
          "{\"ports\":[{\"protocol\":\"UDP\",\"port\":53,\"targetPort\":53}],\"clusterIP\":\"IP\","
          "\"type\":\"LoadBalancer\",\"sessionAffinity\":\"None\","
          "\"externalTrafficPolicy\":\"Local\",\"healthCheckNodePort\":\"P\","
          "\"allocateLoadBalancerNodePorts\":false," TAIL "}" },
        { "{\"type\":\"NodePort\",\"sessionAffinity\":\"ClientIP\",\"ports\":[{\"port\":80}]}",
          "{\"ports\":[{\"port\":80,\"protocol\":\"TCP\",\"targetPort\":80,\"nodePort\":\"P\"}],"
          "\"clusterIP\":\"IP\",\"type\":\"NodePort\",\"sessionAffinity\":\"ClientIP\","
          "\"externalTrafficPolicy\":\"Cluster\","
          "\"sessionAffinityConfig\":{\"clientIP\":{\"timeoutSeconds\":10800}}," TAIL "}" },
        { "{\"clusterIP\":\"None\",\"ports\":[{\"port\":80}]}",
          "{\"ports\":[{\"port\":80,\"protocol\":\"TCP\",\"targetPort\":80}],"
          "\"clusterIP\":\"None\",\"clusterIPs\":[\"None\"],\"type\":\"ClusterIP\","
          "\"sessionAffinity\":\"None\"," TAIL "}" },
        { "{\"type\":\"ExternalName\",\"externalName\":\"db.example.com\"}",
          "{\"type\":\"ExternalName\",\"sessionAffinity\":\"None\",\"externalName\":\"db.example."
          "com\"}" },
    };
    CCM_CLEANUP(alloc_freep) struct ccm_ks_alloc *alloc = ccm_ks_alloc_new();

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *faults = cJSON_CreateArray();
        CCM_CLEANUP(ccm_json_freep)
        cJSON *service = write_service(alloc, rows[i].spec, NULL, faults);
        CCM_CLEANUP(ccm_json_freep) cJSON *outcome = parse(rows[i].outcome);
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };

        assert_int_equal(cJSON_GetArraySize(faults), 0);
        mask(service);
        ccm_ks_jx_print(&text, ccm_json_get(service, "spec"));
        if (!ccm_ks_jx_equal(ccm_json_get(service, "spec"), outcome)) {
            fail_msg("%s\ngives   %s\nwanted  %s", rows[i].spec, ccm_buf_str(&text),
                     rows[i].outcome);
        }
    }
}

static void test_faults(void **state)
{
    static const struct {
        const char *spec;
        const char *fields; /* of all faults, in order */
    } rows[] = {
        { "{\"type\":\"LoadBalancer\"}", "spec.ports" },
        { "{\"ports\":[{\"port\":0}]}", "spec.ports[0].port spec.ports[0].targetPort" },
        { "{\"ports\":[{\"port\":80,\"protocol\":\"HTTP\"}]}", "spec.ports[0].protocol" },
        { "{\"ports\":[{\"name\":\"a\",\"port\":80},{\"name\":\"a\",\"port\":81},{\"port\":82}]}",
          "spec.ports[1].name spec.ports[2].name" },
        { "{\"type\":\"NodePort\",\"ports\":[{\"name\":\"a\",\"port\":80},{\"name\":\"b\",\"port\":"
          "80}]}",
          "spec.ports[1].nodePort spec.ports[1]" },
        { "{\"type\":\"NodePort\",\"ports\":[{\"port\":80,\"nodePort\":80}]}",
          "spec.ports[0].nodePort" },
        { "{\"type\":\"NodePort\",\"ports\":[{\"name\":\"a\",\"port\":80,\"nodePort\":30080},"
          "{\"name\":\"b\",\"port\":81,\"nodePort\":30080}]}",
          "spec.ports[1].nodePort" },
        { "{\"type\":\"Bogus\",\"sessionAffinity\":\"X\",\"ports\":[{\"port\":99999,"
          "\"targetPort\":\"UPPER_case\"}]}",
          "spec.ports[0].port spec.ports[0].targetPort spec.sessionAffinity spec.type" },
        { "{\"type\":\"LoadBalancer\",\"ports\":[{\"port\":80}],"
          "\"loadBalancerSourceRanges\":[\"10.0.0.0/33\",\" 10.0.0.0/8 \",\"10.0.0.1/8\",\"x\"]}",
          "spec.LoadBalancerSourceRanges[0] spec.LoadBalancerSourceRanges[2] "
          "spec.LoadBalancerSourceRanges[3]" },
        { "{\"ports\":[{\"port\":80}],\"loadBalancerClass\":\"example.com/x\"}",
          "spec.loadBalancerClass" },
        { "{\"type\":\"LoadBalancer\",\"ports\":[{\"port\":80}],\"loadBalancerClass\":\"a/b/c\"}",
          "spec.loadBalancerClass" },
        { "{\"ports\":[{\"port\":80}],\"externalTrafficPolicy\":\"Local\"}",
          "spec.externalTrafficPolicy" },
        { "{\"type\":\"LoadBalancer\",\"ports\":[{\"port\":80}],\"externalTrafficPolicy\":"
          "\"Near\"}",
          "spec.externalTrafficPolicy" },
        { "{\"type\":\"LoadBalancer\",\"clusterIP\":\"None\",\"ports\":[{\"port\":80}]}",
          "spec.clusterIPs[0]" },
        { "{\"clusterIP\":\"192.0.2.1\",\"ports\":[{\"port\":80}]}", "spec.clusterIPs" },
        { "{\"type\":\"ExternalName\"}", "spec.externalName" },
    };
    CCM_CLEANUP(alloc_freep) struct ccm_ks_alloc *alloc = ccm_ks_alloc_new();

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *faults = cJSON_CreateArray();
        CCM_CLEANUP(ccm_json_freep)
        cJSON *service = write_service(alloc, rows[i].spec, NULL, faults);
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
        const cJSON *fault;

        assert_non_null(service);
        cJSON_ArrayForEach(fault, faults)
        {
            ccm_buf_addf(&text, "%s%s", text.len == 0 ? "" : " ", ccm_json_text(fault, "field"));
        }
        if (strcmp(ccm_buf_str(&text), rows[i].fields) != 0) {
            fail_msg("%s: faults at %s", rows[i].spec, ccm_buf_str(&text));
        }
    }
}

#define LB_LOCAL                                                                                   \
    "{\"type\":\"LoadBalancer\",\"externalTrafficPolicy\":\"Local\",\"loadBalancerClass\":\"x.y/"  \
    "z\","                                                                                         \
    "\"ports\":[{\"name\":\"http\",\"port\":80},{\"name\":\"https\",\"port\":443}]"

/* A change of type takes along what belonged to the old type; node ports follow the name of the
 * port. */
static void test_type_change(void **state)
{
    CCM_CLEANUP(alloc_freep) struct ccm_ks_alloc *alloc = ccm_ks_alloc_new();
    CCM_CLEANUP(ccm_json_freep) cJSON *faults = cJSON_CreateArray();
    CCM_CLEANUP(ccm_json_freep) cJSON *old = write_service(alloc, LB_LOCAL "}", NULL, faults);
    CCM_CLEANUP(ccm_json_freep) cJSON *spec = ccm_ks_jx_dup(ccm_json_get(old, "spec"));
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    static const char *const gone[] = { "externalTrafficPolicy", "healthCheckNodePort",
                                        "loadBalancerClass", "allocateLoadBalancerNodePorts" };

    (void)state;
    assert_int_equal(cJSON_GetArraySize(faults), 0);
    ccm_ks_alloc_record(alloc, NULL, old);
    ccm_ks_jx_set(ccm_ks_jx_object(old, "status"), "loadBalancer",
                  parse("{\"ingress\":[{\"ip\":\"192.0.2.1\"}]}"));
    ccm_ks_jx_set_str(spec, "type", "ClusterIP");
    ccm_ks_jx_print(&text, spec);

    CCM_CLEANUP(ccm_json_freep) cJSON *now = write_service(alloc, ccm_buf_str(&text), old, faults);
    const cJSON *port;

    assert_int_equal(cJSON_GetArraySize(faults), 0);
    for (size_t i = 0; i < CCM_ARRAY_LEN(gone); i++) {
        assert_null(ccm_json_get(ccm_json_get(now, "spec"), gone[i]));
    }
    cJSON_ArrayForEach(port, ccm_json_path(now, "spec", "ports", NULL))
    {
        assert_null(ccm_json_get(port, "nodePort"));
    }
    assert_null(ccm_json_path(now, "status", "loadBalancer", "ingress", NULL));
    assert_string_equal(ccm_json_text(ccm_json_get(now, "spec"), "clusterIP"),
                        ccm_json_text(ccm_json_get(old, "spec"), "clusterIP"));
}

static void test_node_ports_follow_names(void **state)
{
    CCM_CLEANUP(alloc_freep) struct ccm_ks_alloc *alloc = ccm_ks_alloc_new();
    CCM_CLEANUP(ccm_json_freep) cJSON *faults = cJSON_CreateArray();
    CCM_CLEANUP(ccm_json_freep) cJSON *old = write_service(alloc, LB_LOCAL "}", NULL, faults);
    const cJSON *before = ccm_json_items(ccm_json_get(old, "spec"), "ports");

    (void)state;
    ccm_ks_alloc_record(alloc, NULL, old);

    CCM_CLEANUP(ccm_json_freep)
    cJSON *now = write_service(alloc,
                               "{\"type\":\"LoadBalancer\",\"externalTrafficPolicy\":\"Local\","
                               "\"loadBalancerClass\":\"x.y/z\","
                               "\"ports\":[{\"name\":\"http\",\"port\":81,\"protocol\":\"UDP\"},{"
                               "\"name\":\"web\",\"port\":443}]}",
                               old, faults);
    const cJSON *after = ccm_json_items(ccm_json_get(now, "spec"), "ports");

    assert_int_equal(cJSON_GetArraySize(faults), 0);
    assert_int_equal(ccm_json_i64(after, "nodePort", -1), ccm_json_i64(before, "nodePort", -2));
    assert_int_not_equal(ccm_json_i64(after->next, "nodePort", 0),
                         ccm_json_i64(before->next, "nodePort", 0));
    assert_int_equal(ccm_json_i64(ccm_json_get(now, "spec"), "healthCheckNodePort", -1),
                     ccm_json_i64(ccm_json_get(old, "spec"), "healthCheckNodePort", -2));
}

static void test_taken_values_are_refused(void **state)
{
    CCM_CLEANUP(alloc_freep) struct ccm_ks_alloc *alloc = ccm_ks_alloc_new();
    CCM_CLEANUP(ccm_json_freep) cJSON *faults = cJSON_CreateArray();
    CCM_CLEANUP(ccm_json_freep)
    cJSON *first = write_service(alloc,
                                 "{\"type\":\"NodePort\",\"clusterIP\":\"10.96.0.10\","
                                 "\"ports\":[{\"port\":53,\"nodePort\":30053}]}",
                                 NULL, faults);
    static const char *const wishes[] = {
        "{\"type\":\"NodePort\",\"ports\":[{\"port\":1,\"nodePort\":30053}]}",
        "{\"clusterIP\":\"10.96.0.10\",\"ports\":[{\"port\":1}]}",
    };

    (void)state;
    assert_int_equal(cJSON_GetArraySize(faults), 0);
    ccm_ks_alloc_record(alloc, NULL, first);
    for (size_t i = 0; i < CCM_ARRAY_LEN(wishes); i++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *found = cJSON_CreateArray();
        CCM_CLEANUP(ccm_json_freep) cJSON *second = write_service(alloc, wishes[i], NULL, found);

        assert_non_null(second);
        assert_int_equal(cJSON_GetArraySize(found), 1);
    }
    ccm_ks_alloc_record(alloc, first, NULL);

    CCM_CLEANUP(ccm_json_freep) cJSON *again = write_service(alloc, wishes[0], NULL, faults);

    assert_non_null(again);
    assert_int_equal(cJSON_GetArraySize(faults), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_type_change),
        cmocka_unit_test(test_node_ports_follow_names),
        cmocka_unit_test(test_taken_values_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
