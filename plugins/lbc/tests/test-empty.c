/* Why nobody serves a port, cause by cause. */
#include "check.h"
#include "lbc/model/candidate.h"
#include "lbc/model/named.h"
#include "objects.h"
#include "util/cleanup.h"

#include <string.h>

#define READY    CCM_ENDPOINT_READY
#define STOPPING CCM_ENDPOINT_TERMINATING

struct empty_case {
    const char *title;
    const char *policy;
    const char *target;
    uint64_t flags[3]; /* of the endpoints; as many as there are nodes named */
    const char *on[3];
    bool other_port;   /* the slice has another port */
    const char *label; /* annotation backend-label */
    const char *why;   /* NULL = somebody serves it */
    bool no_ready;
};

#define NO_ENDPOINT                                                                                \
    "it has no endpoint: no pod matches the selector of the Service, or none has an address yet: " \
    "compare `kubectl get service web -n default -o jsonpath={.spec.selector}` with `kubectl get " \
    "pods -n default --show-labels`"
#define NO_LABELS                                                                                  \
    "none of 4 node(s) may take traffic: the labels [disk=fast] of annotation "                    \
    "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-backend-label are missing on plain, "   \
    "master, master2, notready: label the nodes, or correct the annotation"

static const struct empty_case cases[] = {
    { "served", "Cluster", "8080", { READY }, { "plain" }, false, "", NULL, false },
    { "served from one node", "Local", "8080", { READY }, { "plain" }, false, "", NULL, false },
    { "no endpoint", "Cluster", "8080", { 0 }, { NULL }, false, "", NO_ENDPOINT, true },
    { "not ready",
      "Cluster",
      "8080",
      { 0, 0, STOPPING },
      { "plain", "plain", "plain" },
      false,
      "",
      "no endpoint is ready: 2 not ready, 1 being stopped; see the readiness probes of the pods",
      true },
    { "stopping",
      "Local",
      "8080",
      { STOPPING | READY },
      { "plain" },
      false,
      "",
      "no endpoint is ready: 1 being stopped",
      true },
    { "named port",
      "Local",
      "web",
      { READY, READY },
      { "plain", "plain" },
      true,
      "",
      "none of its 2 endpoint(s) has the port \"web\": let a container of the pods name its port "
      "so, or give targetPort as a number",
      true },
    { "master",
      "Local",
      "8080",
      { READY, READY, READY },
      { "master", "master2", "notready" },
      false,
      "",
      "its ready endpoints are only on master nodes master, master2, nodes NotReady notready; let "
      "pods run on other nodes (evict these), or set externalTrafficPolicy to Cluster",
      false },
    { "unknown node",
      "Local",
      "8080",
      { READY },
      { "ghost" },
      false,
      "",
      "its ready endpoints are only on nodes that are not known ghost; let pods run on other nodes "
      "(evict these), or set externalTrafficPolicy to Cluster",
      false },
    { "label", "Cluster", "8080", { READY }, { "plain" }, false, "disk=fast", NO_LABELS, false },
    { "both",
      "Cluster",
      "8080",
      { 0 },
      { NULL },
      false,
      "disk=fast",
      NO_ENDPOINT "; and " NO_LABELS,
      true },
};

static void check_case(const struct empty_case *one)
{
    struct ccm_service *service = obj_service();
    struct ccm_endpoint_slice *slice = obj_slice("web-1");
    struct ccm_node *nodes[] = { obj_node("plain", "cn-hangzhou.i-1"),
                                 obj_node("master", "cn-hangzhou.i-2"),
                                 obj_node("master2", "cn-hangzhou.i-3"),
                                 obj_node("notready", "cn-hangzhou.i-4") };
    const struct ccm_object *objects[] = { &nodes[0]->meta, &nodes[1]->meta, &nodes[2]->meta,
                                           &nodes[3]->meta };
    const struct ccm_object *const slices[] = { &slice->meta };
    const struct lbc_node_rules rules = { .labels = one->label };
    CCM_CLEANUP(lbc_candidates_fini) struct lbc_candidates set = { 0 };
    struct lbc_node_table table = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;

    obj_label(&nodes[1]->meta, "node-role.kubernetes.io/master", "");
    obj_label(&nodes[2]->meta, "node-role.kubernetes.io/master", "");
    nodes[3]->ready = CCM_CONDITION_FALSE;
    service->external_traffic_policy = one->policy;
    obj_port(service, "http", "TCP", 80, one->target, 30080);
    obj_slice_port(slice, one->other_port ? "other" : "http", 8080);
    for (size_t i = 0; i < 3 && one->on[i] != NULL; i++) {
        char address[] = "10.1.0.0";

        address[7] = (char)('1' + i);
        obj_endpoint(slice, address, one->on[i], one->flags[i]);
    }
    assert_int_equal(lbc_node_table_init(&table, objects, 4, &rules), 0);

    const struct lbc_candidate_input in = {
        .service = service,
        .slices = slices,
        .slice_count = 1,
        .nodes = &table,
        .mode = lbc_backend_mode(service, false),
        .families = LBC_IPV4,
    };

    assert_int_equal(lbc_candidates_build(&in, service->ports[0], &set, &err), 0);
    if (one->why == NULL) {
        assert_null(set.why);
    } else {
        assert_string_equal(set.why, one->why);
    }
    assert_int_equal(set.no_ready, one->no_ready);
    lbc_node_table_fini(&table);
}

static void test_causes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_case(&cases[i]);
    }
}

static void test_named(void **state)
{
    CCM_CLEANUP(lbc_named_fini) struct lbc_named named = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 400 };
    char name[] = "n0";

    (void)state;
    lbc_named_format(&named, "; ", &text);
    assert_int_equal(text.len, 0);
    for (; name[1] < '7'; name[1]++) {
        lbc_named_add(&named, "nodes NotReady", name);
    }
    lbc_named_add(&named, "nodes deleted", "n0"); /* told already */
    lbc_named_add(&named, "nodes deleted", "x");
    lbc_named_add(&named, NULL, "y");
    lbc_named_format(&named, "; ", &text);
    assert_string_equal(ccm_buf_str(&text),
                        "nodes NotReady n0, n1, n2, n3, n4 and 2 more; nodes deleted x");
    assert_int_equal(named.count, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_causes, obj_end),
        cmocka_unit_test(test_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
