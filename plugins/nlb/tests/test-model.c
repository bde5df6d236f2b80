/* From Services, nodes and slices to what is wanted. */
#include "lbc/tests/check.h"

#include "lbc/tests/objects.h"
#include "nlb/model.h"
#include "nlb/model_parts.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CLUSTER "c1"
#define READY   (CCM_ENDPOINT_READY | CCM_ENDPOINT_SERVING)
#define LEAVING (CCM_ENDPOINT_SERVING | CCM_ENDPOINT_TERMINATING)
#define TYPE    "service.beta.kubernetes.io/backend-type"

struct world {
    struct ccm_service *service;
    const struct ccm_object *nodes[4];
    size_t node_count;
    const struct ccm_object *slices[2];
    struct ccm_endpoint_slice *four;
    struct ccm_endpoint_slice *six;
    struct nlb_model model;
    struct lbc_problems problems;
    struct ccm_error err;
};

/* Nodes n1 with two pods and n2 with one; the pods have addresses of both families. */
static void fixture_begin(struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->problems = (struct lbc_problems)LBC_PROBLEMS_INIT;
    w->service = obj_service();
    w->nodes[w->node_count++] = &obj_node("n1", "cn-hangzhou.i-1")->meta;
    w->nodes[w->node_count++] = &obj_node("n2", "cn-hangzhou.i-2")->meta;
    w->four = obj_slice("web-4");
    w->six = obj_slice("web-6");
    w->six->address_type = "IPv6";
    obj_slice_port(w->four, "http", 8080);
    obj_slice_port(w->six, "http", 8080);
    obj_endpoint(w->four, "10.0.0.1", "n1", READY);
    obj_endpoint(w->four, "10.0.0.2", "n1", READY);
    obj_endpoint(w->four, "10.0.0.3", "n2", READY);
    obj_endpoint(w->six, "fd00::1", "n1", READY);
    w->slices[0] = &w->four->meta;
    w->slices[1] = &w->six->meta;
}

static int model_build(struct world *w)
{
    const struct lbc_model_input in = {
        .service = w->service,
        .nodes = w->nodes,
        .node_count = w->node_count,
        .slices = w->slices,
        .slice_count = 2,
        .cluster_id = CLUSTER,
        .resource_group = "rg-conf",
    };

    return lbc_model_build(&w->model.lbc, &nlb_model_ops, &in, &w->problems, &w->err);
}

static void fixture_end(struct world *w)
{
    nlb_model_fini(&w->model);
    lbc_problems_fini(&w->problems);
}

static void set(struct world *w, const char *name, const char *value)
{
    char key[128];

    ccm_text_printf(key, sizeof(key), P "%s", name);
    obj_annotate(&w->service->meta, key, value);
}

static void add_group(const struct world *w, size_t at, struct ccm_buf *text)
{
    const struct nlb_group *group = nlb_group_at(&w->model.want, at);
    const struct lbc_candidates *candidates = &w->model.lbc.sets[at];

    ccm_buf_addf(text, "%s%s%s%s", at == 0 ? "" : "; ", group->lbc.id == NULL ? "" : group->lbc.id,
                 group->lbc.id == NULL ? "" : " ", group->lbc.name);
    for (size_t i = 0; i < candidates->len; i++) {
        const struct lbc_candidate *one = &candidates->items[i];

        ccm_buf_addf(text, " %s%s:%u!%u%s", one->instance_id, one->address, one->port, one->weight,
                     one->leaving ? "-" : "");
    }
}

/* "[id ]name server:port!weight...; ..." */
static void expect_groups(struct world *w, const char *expected)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 4096 };

    assert_int_equal(model_build(w), 0);
    for (size_t i = 0; i < w->model.want.lbc.group_count; i++) {
        add_group(w, i, &text);
    }
    assert_string_equal(ccm_buf_str(&text), expected);
    fixture_end(w);
}

/* --- groups --- */

static void test_modes(void **state)
{
    struct world w;

    (void)state;
    fixture_begin(&w);
    obj_port(w.service, "http", "TCP", 80, "8080", 30080);
    expect_groups(&w, "k8s.30080.TCP.web.default.c1 i-1:30080!100 i-2:30080!100");
    w.service->external_traffic_policy = "Local";
    expect_groups(&w, "k8s.30080.TCP.web.default.c1 i-1:30080!2 i-2:30080!1");
    obj_annotate(&w.service->meta, TYPE, "eni");
    expect_groups(&w, "k8s.8080.TCP.web.default.c1 10.0.0.1:8080!100 10.0.0.2:8080!100 "
                      "10.0.0.3:8080!100");
    w.service->port_count = 0;
    obj_port(w.service, "http", "TCP", 80, "named", 30080);
    expect_groups(&w, "k8s.named.TCP.web.default.c1 10.0.0.1:8080!100 10.0.0.2:8080!100 "
                      "10.0.0.3:8080!100");
    set(&w, "protocol-port", "tcpssl:80");
    set(&w, "default-weight", "7");
    expect_groups(&w, "k8s.named.TCPSSL.web.default.c1 10.0.0.1:8080!7 10.0.0.2:8080!7 "
                      "10.0.0.3:8080!7");
}

/* Scenario 41: only slices that serve the port. */
static void test_missing_port(void **state)
{
    struct world w;

    (void)state;
    fixture_begin(&w);
    obj_annotate(&w.service->meta, TYPE, "eni");
    obj_port(w.service, "other", "TCP", 80, "other", 30080);
    expect_groups(&w, "k8s.other.TCP.web.default.c1");
}

/* Ports of one target share a group; another protocol is another group. */
static void test_shared_group(void **state)
{
    struct world w;

    (void)state;
    fixture_begin(&w);
    w.service->external_traffic_policy = "Local";
    obj_port(w.service, "http", "TCP", 80, "8080", 30080);
    obj_port(w.service, "http", "TCP", 81, "8080", 30080);
    obj_port(w.service, "http", "UDP", 80, "8080", 30080);
    expect_groups(&w, "k8s.30080.TCP.web.default.c1 i-1:30080!2 i-2:30080!1; "
                      "k8s.30080.UDP.web.default.c1 i-1:30080!2 i-2:30080!1");
    assert_int_equal(model_build(&w), 0);
    assert_int_equal(w.model.want.lbc.listener_count, 3);
    assert_string_equal(nlb_listener_at(&w.model.want, 1)->lbc.group->name,
                        "k8s.30080.TCP.web.default.c1");
    assert_int_equal(nlb_group_at(&w.model.want, 0)->lbc.port, 80);
    fixture_end(&w);
}

/* W5: nodes by address, each once. */
static void test_addresses(void **state)
{
    static const struct ccm_node_address one = { "InternalIP", "192.168.0.1" };
    static const struct ccm_node_address *const first[] = { &one };
    struct world w;

    (void)state;
    fixture_begin(&w);
    ((struct ccm_node *)(uintptr_t)w.nodes[0])->addresses = first;
    ((struct ccm_node *)(uintptr_t)w.nodes[0])->address_count = 1;
    w.service->external_traffic_policy = "Local";
    set(&w, "server-group-type", "ip");
    obj_port(w.service, "http", "TCP", 80, "8080", 30080);
    expect_groups(&w, "k8s.30080.TCP.web.default.c1 192.168.0.1:30080!2");
    obj_annotate(&w.service->meta, TYPE, "eni");
    assert_int_equal(model_build(&w), 0);
    assert_string_equal(nlb_group_at(&w.model.want, 0)->type, "Ip");
    assert_true(w.model.lbc.sets[0].by_address);
    fixture_end(&w);
}

/* 6.10 */
static void test_families(void **state)
{
    static const struct {
        const char *lb;
        const char *backends;
        const char *groups;
        const char *family;
        const char *affinity;
    } cases[] = {
        { "", "dualstack", " 10.0.0.1:8080!100", NULL, NULL },
        { "ipv4", "ipv6", " 10.0.0.1:8080!100", NULL, NULL },
        { "dualstack", "", " 10.0.0.1:8080!100", NULL, NULL },
        { "DualStack", "ipv4", " 10.0.0.1:8080!100", NULL, NULL },
        { "dualstack", "IPv6", " fd00::1:8080!100", "dualstack", "NonAffinity" },
        { "dualstack", "DualStack", " 10.0.0.1:8080!100 fd00::1:8080!100", "dualstack",
          "Affinity" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        const struct lbc_anno *affinity = nlb_group_field("IpVersionAffinityMode");
        char expected[128];
        struct world w;

        fixture_begin(&w);
        w.four->endpoint_count = 1;
        obj_annotate(&w.service->meta, TYPE, "eni");
        obj_port(w.service, "http", "TCP", 80, "8080", 30080);
        set(&w, "ip-version", cases[i].lb);
        set(&w, "backend-ip-version", cases[i].backends);
        ccm_text_printf(expected, sizeof(expected), "k8s.8080.TCP.web.default.c1%s",
                        cases[i].groups);
        expect_groups(&w, expected);
        assert_int_equal(model_build(&w), 0);
        assert_true(ccm_text_equal(nlb_group_at(&w.model.want, 0)->family, cases[i].family));
        assert_true(
            ccm_text_equal(lbc_attrs_get(&nlb_group_at(&w.model.want, 0)->lbc.attrs, affinity),
                           cases[i].affinity));
        assert_true(w.model.lbc.ipv6 == (cases[i].family != NULL));
        fixture_end(&w);
    }
}

/* Scenarios 14, and W42: the sum is for the groups that a person chose, the others keep theirs. */
static void test_weights(void **state)
{
    struct world w;

    (void)state;
    fixture_begin(&w);
    obj_port(w.service, "http", "TCP", 80, "8080", 30080);
    obj_port(w.service, "http", "TCP", 81, "8081", 30081);
    set(&w, "weight", "60");
    set(&w, "default-weight", "40");
    expect_groups(&w, "k8s.30080.TCP.web.default.c1 i-1:30080!40 i-2:30080!40; "
                      "k8s.30081.TCP.web.default.c1 i-1:30081!40 i-2:30081!40");
    set(&w, "vgroup-port", "sgp-1:80");
    expect_groups(&w, "k8s.30080.TCP.web.default.c1 i-1:30080!40 i-2:30080!40; "
                      "k8s.30081.TCP.web.default.c1 i-1:30081!40 i-2:30081!40");
    set(&w, "id", "nlb-1");
    expect_groups(&w, "sgp-1 k8s.30080.TCP.web.default.c1 i-1:30080!30 i-2:30080!30; "
                      "k8s.30081.TCP.web.default.c1 i-1:30081!40 i-2:30081!40");
    w.service->external_traffic_policy = "Local";
    expect_groups(&w, "sgp-1 k8s.30080.TCP.web.default.c1 i-1:30080!40 i-2:30080!20; "
                      "k8s.30081.TCP.web.default.c1 i-1:30081!2 i-2:30081!1");
    set(&w, "weight", "0");
    expect_groups(&w, "sgp-1 k8s.30080.TCP.web.default.c1 i-1:30080!0 i-2:30080!0; "
                      "k8s.30081.TCP.web.default.c1 i-1:30081!2 i-2:30081!1");
}

/* One name, two groups: the port that chose none keeps ours. */
static void test_chosen_beside_own(void **state)
{
    struct world w;

    (void)state;
    fixture_begin(&w);
    w.four->endpoint_count = 1;
    obj_annotate(&w.service->meta, TYPE, "eni");
    obj_port(w.service, "http", "TCP", 80, "8080", 30080);
    obj_port(w.service, "http", "TCP", 81, "8080", 30081);
    set(&w, "id", "nlb-1");
    set(&w, "vgroup-port", "sgp-1:80");
    expect_groups(&w, "sgp-1 k8s.8080.TCP.web.default.c1 10.0.0.1:8080!100; "
                      "k8s.8080.TCP.web.default.c1 10.0.0.1:8080!100");
    assert_int_equal(model_build(&w), 0);
    assert_string_equal(nlb_listener_at(&w.model.want, 0)->lbc.group_id, "sgp-1");
    assert_null(nlb_listener_at(&w.model.want, 1)->lbc.group_id);
    fixture_end(&w);
}

static void test_draining(void **state)
{
    struct world w;

    (void)state;
    fixture_begin(&w);
    w.four->endpoint_count = 1;
    obj_endpoint(w.four, "10.0.0.9", "n1", LEAVING);
    obj_annotate(&w.service->meta, TYPE, "eni");
    obj_port(w.service, "http", "TCP", 80, "8080", 30080);
    expect_groups(&w, "k8s.8080.TCP.web.default.c1 10.0.0.1:8080!100");
    set(&w, "connection-drain", "on");
    expect_groups(&w, "k8s.8080.TCP.web.default.c1 10.0.0.1:8080!100 10.0.0.9:8080!0-");
}

/* A range: any port, checked on the target port unless told otherwise. */
static void test_any_port(void **state)
{
    const struct lbc_anno *enabled = nlb_group_field("HealthCheckEnabled");
    const struct lbc_anno *port = nlb_group_field("HealthCheckConnectPort");
    struct world w;

    (void)state;
    fixture_begin(&w);
    w.four->endpoint_count = 1;
    obj_annotate(&w.service->meta, TYPE, "eni");
    obj_port(w.service, "http", "TCP", 80, "8080", 30080);
    set(&w, "listener-port-range", "100-200:80");
    expect_groups(&w, "k8s.100_200.TCP.web.default.c1 10.0.0.1:0!100");
    assert_int_equal(model_build(&w), 0);
    assert_true(nlb_group_at(&w.model.want, 0)->any_port);
    assert_string_equal(lbc_attrs_get(&nlb_group_at(&w.model.want, 0)->lbc.attrs, enabled), "true");
    assert_string_equal(lbc_attrs_get(&nlb_group_at(&w.model.want, 0)->lbc.attrs, port), "8080");
    assert_string_equal(nlb_listener_at(&w.model.want, 0)->lbc.description,
                        "k8s.100_200.TCP.web.default.c1");
    assert_int_equal(nlb_listener_at(&w.model.want, 0)->lbc.port, 100);
    assert_int_equal(nlb_listener_at(&w.model.want, 0)->lbc.last_port, 200);
    assert_true(nlb_listener_at(&w.model.want, 0)->lbc.is_range);
    fixture_end(&w);
    set(&w, "health-check-flag", "on");
    set(&w, "health-check-connect-port", "99");
    assert_int_equal(model_build(&w), 0);
    assert_string_equal(lbc_attrs_get(&nlb_group_at(&w.model.want, 0)->lbc.attrs, port), "99");
    fixture_end(&w);
    w.service->port_count = 0;
    obj_port(w.service, "http", "TCP", 80, "named", 30080);
    set(&w, "health-check-flag", NULL);
    assert_int_equal(model_build(&w), 0);
    assert_null(lbc_attrs_get(&nlb_group_at(&w.model.want, 0)->lbc.attrs, port));
    fixture_end(&w);
}

/* What counts only beside something else. */
static void test_beside(void **state)
{
    static const struct {
        const char *name;
        const char *value;
        const char *field;
        const char *beside;
        const char *beside_value;
    } cases[] = {
        { "connection-drain-timeout", "12", "ConnectionDrainTimeout", "connection-drain", "off" },
        { "healthy-threshold", "3", "HealthyThreshold", "health-check-flag", "on" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        const struct lbc_anno *field = nlb_group_field(cases[i].field);
        struct world w;

        fixture_begin(&w);
        obj_port(w.service, "http", "TCP", 80, "8080", 30080);
        set(&w, cases[i].name, cases[i].value);
        assert_int_equal(model_build(&w), 0);
        assert_null(lbc_attrs_get(&nlb_group_at(&w.model.want, 0)->lbc.attrs, field));
        fixture_end(&w);
        set(&w, cases[i].beside, cases[i].beside_value);
        assert_int_equal(model_build(&w), 0);
        assert_string_equal(lbc_attrs_get(&nlb_group_at(&w.model.want, 0)->lbc.attrs, field),
                            cases[i].value);
        fixture_end(&w);
    }
}

/* --- ports that fail --- */

static void test_failures(void **state)
{
    static const struct {
        const char *name;
        const char *value;
        int64_t node_port; /* of the second port */
        size_t listeners;
        const char *problem;
    } cases[] = {
        { "listener-port-range", "100-200:80", 30081, 2,
          "port 80/TCP: listener port range can only be used for eni backend type service" },
        { "protocol-port", "tcp:80,udp:81,x:82", 30081, 2, NULL },
        { "protocol-port", "tcp:80,x:81", 30081, 2,
          "port 81/TCP: port protocol format must be either [TCP|UDP|TCPSSL], protocol not "
          "supported with [x]" },
        { "scheduler", "rr", 0, 2,
          "port 81/TCP: nodes as backends need node ports, and the Service has none" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct world w;

        fixture_begin(&w);
        obj_port(w.service, "http", "TCP", 80, "8080", 30080);
        obj_port(w.service, "http", "TCP", 81, "8081", cases[i].node_port);
        set(&w, cases[i].name, cases[i].value);
        assert_int_equal(model_build(&w), 0);
        if (w.model.want.lbc.listener_count != cases[i].listeners ||
            w.model.lbc.incomplete != (cases[i].problem != NULL) ||
            (cases[i].problem != NULL &&
             strstr(ccm_buf_str(&w.problems.text), cases[i].problem) == NULL)) {
            fail_msg("case %zu: %zu %s", i, w.model.want.lbc.listener_count,
                     ccm_buf_str(&w.problems.text));
        }
        assert_true(nlb_listener_at(&w.model.want, 0)->lbc.broken == (i == 0));
        assert_true(nlb_listener_at(&w.model.want, 1)->lbc.broken == (cases[i].problem != NULL));
        assert_int_equal(nlb_listener_at(&w.model.want, 1)->lbc.port, 81);
        fixture_end(&w);
    }
}

/* Scenario 36: the second listener is the one that is refused. */
static void test_overlap(void **state)
{
    struct world w;

    (void)state;
    fixture_begin(&w);
    obj_annotate(&w.service->meta, TYPE, "eni");
    obj_port(w.service, "http", "TCP", 80, "8080", 30080);
    obj_port(w.service, "https", "TCP", 443, "8443", 30443);
    set(&w, "listener-port-range", "80-443:80");
    assert_int_equal(model_build(&w), 0);
    assert_int_equal(w.model.want.lbc.listener_count, 2);
    assert_false(nlb_listener_at(&w.model.want, 0)->lbc.broken);
    assert_true(nlb_listener_at(&w.model.want, 1)->lbc.broken); /* what serves there stays */
    assert_int_equal(nlb_listener_at(&w.model.want, 1)->lbc.last_port, 443);
    assert_true(w.model.lbc.incomplete);
    assert_string_equal(
        ccm_buf_str(&w.problems.text),
        "port 443/TCP: port of listener [443/TCP] overlaps with listener [80-443/TCP]");
    fixture_end(&w);
}

/* W33: endpoints without node name are passed over. */
static void test_nameless(void **state)
{
    struct world w;

    (void)state;
    fixture_begin(&w);
    obj_endpoint(w.four, "10.0.0.8", "", READY);
    obj_port(w.service, "http", "TCP", 80, "8080", 30080);
    expect_groups(&w, "k8s.30080.TCP.web.default.c1 i-1:30080!100 i-2:30080!100");
    w.service->external_traffic_policy = "Local";
    assert_int_equal(model_build(&w), 0);
    assert_string_equal(ccm_buf_str(&w.problems.text), "");
    fixture_end(&w);
}

/* --- chosen groups --- */

static void test_check_groups(void **state)
{
    static const struct {
        const char *name; /* NULL: there is none */
        const char *type;
        const char *explicit;
        const char *problem;
    } cases[] = {
        { "mine", "Instance", "", NULL },
        { "mine", "Ip", "Ip", NULL },
        { NULL, NULL, "", "port 80/TCP: cannot find server group id sgp-1 for nlb nlb-1" },
        { "k8s.80.TCP.a.b.c", "Instance", "",
          "cannot reuse a ccm created server group sgp-1 for nlb nlb-1" },
        { "mine", "Ip", "",
          "ServerGroupType of user managed server group sgp-1 should be [Instance], but [Ip]" },
        { "mine", "Instance", "ip",
          "ServerGroupType of user managed server group sgp-1 should be [Ip], but [Instance]" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lb = { .lbc.id = NULL } };
        struct world w;

        fixture_begin(&w);
        obj_port(w.service, "http", "TCP", 80, "8080", 30080);
        obj_port(w.service, "http", "TCP", 81, "8081", 30081);
        set(&w, "id", "nlb-1");
        set(&w, "vgroup-port", "sgp-1:80");
        set(&w, "server-group-type", cases[i].explicit);
        assert_int_equal(model_build(&w), 0);
        assert_int_equal(lbc_text_set(&have.lb.lbc.id, "nlb-1"), 0);
        if (cases[i].name != NULL) {
            struct nlb_group *group = nlb_state_new_group(&have);

            assert_int_equal(lbc_text_set(&group->lbc.id, "sgp-1"), 0);
            assert_int_equal(lbc_text_set(&group->lbc.name, cases[i].name), 0);
            assert_int_equal(lbc_text_set(&group->type, cases[i].type), 0);
        }
        lbc_model_check_groups(&w.model.lbc, &have.lbc, nlb_model_check_group, &w.problems);
        if ((cases[i].problem == NULL) != (w.problems.text.len == 0) ||
            (cases[i].problem != NULL &&
             strstr(ccm_buf_str(&w.problems.text), cases[i].problem) == NULL)) {
            fail_msg("case %zu: %s", i, ccm_buf_str(&w.problems.text));
        }
        assert_true(nlb_group_at(&w.model.want, 0)->lbc.broken == (cases[i].problem != NULL));
        assert_true(nlb_listener_at(&w.model.want, 0)->lbc.broken == (cases[i].problem != NULL));
        assert_false(nlb_listener_at(&w.model.want, 1)->lbc.broken);
        fixture_end(&w);
    }
}

/* --- the load balancer --- */

/* The configured resource group is a wish of creation only, the annotation is one for good. */
static void test_resource_group(void **state)
{
    const struct lbc_anno *field = nlb_group_field("ResourceGroupId");
    struct world w;

    (void)state;
    fixture_begin(&w);
    obj_port(w.service, "http", "TCP", 80, "8080", 30080);
    assert_int_equal(model_build(&w), 0);
    assert_string_equal(w.model.want.lb.lbc.texts[NLB_LB_GROUP], "rg-conf");
    assert_int_equal(w.model.lbc.explicit >> NLB_LB_GROUP & 1U, 0);
    assert_string_equal(lbc_attrs_get(&nlb_group_at(&w.model.want, 0)->lbc.attrs, field),
                        "rg-conf");
    fixture_end(&w);
    set(&w, "resource-group-id", "rg-1");
    assert_int_equal(model_build(&w), 0);
    assert_string_equal(w.model.want.lb.lbc.texts[NLB_LB_GROUP], "rg-1");
    assert_int_equal(w.model.lbc.explicit >> NLB_LB_GROUP & 1U, 1);
    assert_string_equal(lbc_attrs_get(&nlb_group_at(&w.model.want, 0)->lbc.attrs, field), "rg-1");
    fixture_end(&w);
}

/* Present but empty: none, which is something else than not there. */
static void test_empty(void **state)
{
    struct world w;

    (void)state;
    fixture_begin(&w);
    obj_port(w.service, "http", "TCP", 80, "8080", 30080);
    set(&w, "protocol-port", "tcpssl:80");
    assert_int_equal(model_build(&w), 0);
    assert_false(w.model.groups_explicit);
    assert_false(nlb_listener_at(&w.model.want, 0)->lbc.certs_known);
    assert_null(w.model.want.lb.lbc.texts[NLB_LB_PACKAGE]);
    fixture_end(&w);
    set(&w, "security-group-ids", "");
    set(&w, "additional-cert-ids", "");
    set(&w, "bandwidth-package-id", "");
    assert_int_equal(model_build(&w), 0);
    assert_true(w.model.groups_explicit);
    assert_int_equal(w.model.want.lb.security_groups.len, 0);
    assert_true(nlb_listener_at(&w.model.want, 0)->lbc.certs_known);
    assert_int_equal(nlb_listener_at(&w.model.want, 0)->certs.len, 0);
    assert_string_equal(w.model.want.lb.lbc.texts[NLB_LB_PACKAGE], "");
    assert_int_equal(w.model.lbc.explicit >> NLB_LB_PACKAGE & 1U, 1);
    fixture_end(&w);
}

/* Scenario 10 */
static void test_tags(void **state)
{
    struct world w;

    (void)state;
    fixture_begin(&w);
    set(&w, "additional-resource-tags",
        "a=1,acs:x=1,kubernetes.do.not.delete=1,ack.aliyun.com=1,kubernetes.reused.by.user=1");
    assert_int_equal(model_build(&w), 0);
    assert_int_equal(w.model.want.lb.lbc.tags.len, 2);
    assert_string_equal(lbc_tags_get(&w.model.want.lb.lbc.tags, "a"), "1");
    fixture_end(&w);
    set(&w, "id", "nlb-1");
    assert_int_equal(model_build(&w), 0);
    assert_int_equal(w.model.want.lb.lbc.tags.len, 1);
    fixture_end(&w);
}

static void test_whose(void **state)
{
    struct world w;

    (void)state;
    fixture_begin(&w);
    assert_int_equal(model_build(&w), 0);
    assert_true(lbc_model_has_listeners(&w.model.lbc));
    fixture_end(&w);
    set(&w, "id", "nlb-1");
    assert_int_equal(model_build(&w), 0);
    assert_true(w.model.lbc.reused);
    assert_string_equal(w.model.want.lb.lbc.id, "nlb-1");
    assert_false(lbc_model_has_listeners(&w.model.lbc));
    fixture_end(&w);
    set(&w, "force-override-listeners", "true");
    assert_int_equal(model_build(&w), 0);
    assert_true(lbc_model_has_listeners(&w.model.lbc));
    fixture_end(&w);
}

/* No bad value keeps a Service from being deleted. */
static void test_deletion(void **state)
{
    struct nlb_model model;
    struct world w;

    (void)state;
    fixture_begin(&w);
    set(&w, "zone-maps", "a:b,c");
    set(&w, "address-type", "nonsense");
    set(&w, "preserve-lb-on-delete", "true");
    assert_int_equal(lbc_model_build_lb(&model.lbc, &nlb_model_ops,
                                        &(const struct lbc_model_input){ .service = w.service }),
                     0);
    assert_true(model.lbc.preserve);
    assert_int_equal(model.want.lb.zone_count, 0);
    assert_string_equal(model.want.lb.lbc.texts[NLB_LB_ADDRESS_TYPE], "Internet");
    assert_int_equal(model.lbc.explicit, 0);
    nlb_model_fini(&model);
}

static void test_chosen_at_the_end(void **state)
{
    struct nlb_model model;
    struct world w;

    (void)state;
    fixture_begin(&w);
    set(&w, "vgroup-port", "sgp-1:80,sgp-2:81,bad,sgp-1:82");
    assert_int_equal(lbc_model_build_lb(&model.lbc, &nlb_model_ops,
                                        &(const struct lbc_model_input){ .service = w.service }),
                     0);
    assert_int_equal(nlb_model_chosen(&model, w.service), 0);
    assert_int_equal(model.want.lbc.group_count, 2);
    assert_string_equal(nlb_group_at(&model.want, 0)->lbc.id, "sgp-1");
    assert_string_equal(nlb_group_at(&model.want, 1)->lbc.id, "sgp-2");
    nlb_model_fini(&model);
}

/* --- the security group for source ranges; scenario 12 --- */

static void expect_guard(const struct ccm_service *service, const char *expected)
{
    CCM_CLEANUP(nlb_security_group_fini)
    struct nlb_security_group security_group = { .known = false };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1024 };
    struct ccm_error err = CCM_ERROR_INIT;

    assert_int_equal(nlb_model_security_group(&security_group, service, CLUSTER, &err), 0);
    assert_string_equal(security_group.name, "k8s-nlb-a5e4dbfc9c2ae4642b0335607860aef6");
    assert_string_equal(security_group.description, "k8s.default.web.c1");
    for (size_t i = 0; i < security_group.rule_count; i++) {
        const struct nlb_rule *rule = &security_group.rules[i];

        assert_string_equal(rule->protocol, "All");
        assert_string_equal(rule->port_range, "-1/-1");
        assert_string_equal(rule->description, "k8s.default.web.c1");
        assert_true(rule->ipv6 == (strchr(rule->cidr, ':') != NULL));
        ccm_buf_addf(&text, "%s%s %s %d", i == 0 ? "" : ", ", rule->drop ? "drop" : "accept",
                     rule->cidr, rule->priority);
    }
    assert_string_equal(ccm_buf_str(&text), expected);
}

static void test_guard(void **state)
{
    struct ccm_service *service = obj_service();

    (void)state;
    expect_guard(service, "drop 0.0.0.0/0 100");
    obj_range(service, "10.0.0.0/8");
    expect_guard(service, "accept 10.0.0.0/8 1, drop 0.0.0.0/0 100");
    obj_range(service, " 192.168.1.1/32");
    obj_range(service, "10.0.0.0/8");
    expect_guard(service, "accept 10.0.0.0/8 1, accept 192.168.1.1/32 1, drop 0.0.0.0/0 100");
    obj_range(service, "FD00:0::/8");
    expect_guard(service, "accept 10.0.0.0/8 1, accept 192.168.1.1/32 1, accept fd00::/8 1, "
                          "drop 0.0.0.0/0 100, drop ::/0 100");
}

/* A dual-stack load balancer is open to IPv6 unless somebody shuts that too. */
static void test_guard_dual_stack(void **state)
{
    struct ccm_service *service = obj_service();

    (void)state;
    obj_range(service, "10.0.0.0/8");
    obj_annotate(&service->meta, P "ip-version", "DualStack");
    expect_guard(service, "accept 10.0.0.0/8 1, drop 0.0.0.0/0 100, drop ::/0 100");
}

static void test_guard_wanted(void **state)
{
    struct world w;

    (void)state;
    fixture_begin(&w);
    assert_int_equal(model_build(&w), 0);
    assert_false(w.model.want.security_group.wanted);
    fixture_end(&w);
    obj_range(w.service, "10.0.0.0/8");
    assert_int_equal(model_build(&w), 0);
    assert_true(w.model.want.security_group.wanted);
    fixture_end(&w);
    set(&w, "id", "nlb-1");
    assert_int_equal(model_build(&w), 0);
    assert_false(w.model.want.security_group.wanted);
    fixture_end(&w);
    set(&w, "id", NULL);
    obj_range(w.service, "nonsense");
    assert_int_equal(model_build(&w), 0); /* what is there stays, see lbc/rules/refusal.h */
    assert_true(w.model.keep_security && !w.model.want.security_group.wanted);
    assert_int_equal(w.problems.count, 1);
    fixture_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_modes, obj_end),
        cmocka_unit_test_teardown(test_missing_port, obj_end),
        cmocka_unit_test_teardown(test_shared_group, obj_end),
        cmocka_unit_test_teardown(test_addresses, obj_end),
        cmocka_unit_test_teardown(test_families, obj_end),
        cmocka_unit_test_teardown(test_weights, obj_end),
        cmocka_unit_test_teardown(test_chosen_beside_own, obj_end),
        cmocka_unit_test_teardown(test_draining, obj_end),
        cmocka_unit_test_teardown(test_any_port, obj_end),
        cmocka_unit_test_teardown(test_beside, obj_end),
        cmocka_unit_test_teardown(test_failures, obj_end),
        cmocka_unit_test_teardown(test_overlap, obj_end),
        cmocka_unit_test_teardown(test_nameless, obj_end),
        cmocka_unit_test_teardown(test_check_groups, obj_end),
        cmocka_unit_test_teardown(test_resource_group, obj_end),
        cmocka_unit_test_teardown(test_empty, obj_end),
        cmocka_unit_test_teardown(test_tags, obj_end),
        cmocka_unit_test_teardown(test_whose, obj_end),
        cmocka_unit_test_teardown(test_deletion, obj_end),
        cmocka_unit_test_teardown(test_chosen_at_the_end, obj_end),
        cmocka_unit_test_teardown(test_guard, obj_end),
        cmocka_unit_test_teardown(test_guard_dual_stack, obj_end),
        cmocka_unit_test_teardown(test_guard_wanted, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
