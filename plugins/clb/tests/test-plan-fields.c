/* What options had set on a listener for fields of the Service, and when it is put back. */
#include "lbc/tests/check.h"

#include "clb/model_listeners.h"
#include "clb/plan_parts.h"
#include "lbc/tests/objects.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

#define CHECKED(port)                                                                              \
    "HealthCheckSwitch=on HealthCheckType=http HealthCheckURI=/healthz HealthCheckHttpCode="       \
    "http_2xx HealthCheckConnectPort=" port
#define CHECKED7(port)                                                                             \
    "HealthCheck=on HealthCheckURI=/healthz HealthCheckHttpCode=http_2xx "                         \
    "HealthCheckConnectPort=" port
#define BACK "HealthCheckType=tcp HealthCheckURI=/ HealthCheckConnectPort=31080"

struct fields_case {
    const char *name;
    const char *want; /* attributes that annotations or fields decide about, "field=value"; "field"
                         alone: the annotation is refused */
    const char *have;
    const char *back;
    enum lbc_protocol protocol;
    bool off;      /* the options are */
    int client_ip; /* sessionAffinity ClientIP with so many s; 0 = None */
    bool rebuilt;
    bool empty;        /* the group of the listener has no backends */
    int node_port;     /* healthCheckNodePort */
    uint16_t ports[2]; /* of desired backends; 0 = none */
};

/* Backends have port 31080 now. */
#define SAME           .ports = { 31080 }
#define LEFT           .have = CHECKED("31500"), SAME
#define TIMED(seconds) .have = "PersistenceTimeout=" seconds, SAME
#define ELSE(type, path, codes, port)                                                              \
    .have = "HealthCheckSwitch=on HealthCheckType=" type " HealthCheckURI=" path                   \
            " HealthCheckHttpCode=" codes " HealthCheckConnectPort=" port,                         \
    SAME

static const struct fields_case cases[] = {
    /* --- health check --- */
    { "left Local", LEFT, .back = BACK },
    { "a port of another range", .have = CHECKED("20500"), SAME, .back = BACK },
    { "option off", LEFT, .back = BACK, .off = true, .node_port = 31500 },
    { "option off, a port of another range", .have = CHECKED("20500"), SAME, .back = BACK,
      .off = true, .node_port = 20500 },
    { "left Local, and option off", LEFT, .back = BACK, .off = true },
    { "nodes to pods", .have = CHECKED("31500"),
      .back = "HealthCheckType=tcp HealthCheckURI=/ HealthCheckConnectPort=8080",
      .node_port = 31500, .ports = { 8080, 8080 } },
    { "to pods with several ports", .have = CHECKED("31500"), .rebuilt = true, .node_port = 31500,
      .ports = { 8080, 9090 } },
    { "no backends so far", .have = CHECKED("31500"), .empty = true },
    { "new backends have the port of present ones", .have = CHECKED("31500"), .back = BACK },
    { "http has no check again", .protocol = LBC_HTTP, .have = CHECKED7("31500"), SAME,
      .back = "HealthCheck=off HealthCheckURI=/ HealthCheckConnectPort=-520" },
    { "http with a check by annotation", "HealthCheck=on HealthCheckURI=/up", .protocol = LBC_HTTP,
      .have = "HealthCheck=on HealthCheckURI=/up HealthCheckHttpCode=http_2xx "
              "HealthCheckConnectPort=31500",
      SAME, .back = "HealthCheckConnectPort=-520" },
    { "annotations stay", "HealthCheckType=http HealthCheckURI=/up",
      ELSE("http", "/up", "http_2xx", "31500"), .back = "HealthCheckConnectPort=31080" },
    { "the annotated port stays, and all with it", "HealthCheckConnectPort=31500", LEFT },
    { "what is refused stays", "HealthCheckConnectPort", LEFT },
    { "what is asked for stays", CHECKED("31500"), LEFT, .node_port = 31500 },
    { "option off: the check of kube-proxy", .have = CHECKED("10256"), SAME, .off = true },
    { "a path of a person", ELSE("http", "/up", "http_2xx", "31500") },
    { "a type of a person", ELSE("tcp", "/healthz", "http_2xx", "31500") },
    { "codes of a person", ELSE("http", "/healthz", "http_2xx,http_3xx", "31500") },
    { "the port that serves", ELSE("http", "/healthz", "http_2xx", "-520") },
    { "udp has no such check", .protocol = LBC_UDP,
      .have = "HealthCheckSwitch=on HealthCheckConnectPort=31500", SAME },
    { "it was put back", ELSE("tcp", "/", "http_2xx", "31080") },
    { "the port that serves becomes another",
      .have = "HealthCheckType=tcp HealthCheckConnectPort=31080", .ports = { 31081 },
      .back = "HealthCheckConnectPort=31081", .off = true },
    { "a check like the option's at a port that serves", .have = CHECKED("31080"),
      .ports = { 31080 }, .off = true },
    { "the same, the option is on", .have = CHECKED("31080"), .ports = { 31080 } },
    { "the same, http", .protocol = LBC_HTTP, .have = CHECKED7("31080"), .ports = { 31080 },
      .off = true },
    { "a node port without backends", .have = CHECKED7("30080"), .protocol = LBC_HTTP,
      .empty = true, .off = true },
    { "a port that never served stays", ELSE("tcp", "/", "http_2xx", "8000"), .off = true },
    /* --- persistence --- */
    { "ClientIP to None", TIMED("3600"), .back = "PersistenceTimeout=0" },
    { "ClientIP to None, another time", TIMED("77"), .back = "PersistenceTimeout=0" },
    { "ClientIP, option off", TIMED("600"), .back = "PersistenceTimeout=0", .off = true,
      .client_ip = 600 },
    { "ClientIP, option off, a time of a person", TIMED("900"), .off = true, .client_ip = 600 },
    { "ClientIP, option off, the default", TIMED("3600"), .off = true, .client_ip = 10800 },
    { "ClientIP, option off, the most", TIMED("3600"), .off = true, .client_ip = 3600 },
    { "option never on", TIMED("3600"), .off = true },
    { "an annotation stays", "PersistenceTimeout=600", TIMED("600") },
    { "a refused one, too", "PersistenceTimeout", TIMED("600") },
    { "there is none", TIMED("0") },
};

static void put_attrs(struct lbc_attrs *attrs, const char *text)
{
    char copy[512];
    char *next = copy;

    ccm_text_printf(copy, sizeof(copy), "%s", text);
    while (*next != '\0') {
        char *word = next;
        const size_t len = strcspn(word, " ");
        char *equals = NULL;

        next += word[len] == '\0' ? len : len + 1;
        word[len] = '\0';
        equals = strchr(word, '=');
        if (equals == NULL) {
            assert_int_equal(lbc_attrs_keep(attrs, clb_field_find(word)), 0);
            continue;
        }
        *equals = '\0';
        assert_int_equal(lbc_attrs_set(attrs, clb_field_find(word), equals + 1, true), 0);
    }
}

static struct lbc_group *put_group(struct clb_state *state, const char *id, const uint16_t *ports,
                                   size_t count)
{
    struct lbc_group *group = clb_state_new_group(state);

    assert_int_equal(lbc_text_set(&group->id, id), 0);
    assert_int_equal(lbc_text_set(&group->name, "group"), 0);
    for (size_t i = 0; i < count && ports[i] != 0; i++) {
        const struct lbc_backend one = { .server_id = (char *)(uintptr_t)(i == 0 ? "i-1" : "i-2"),
                                         .port = ports[i] };

        assert_int_equal(lbc_backends_put(&group->backends, &one), 0);
    }
    return group;
}

static struct clb_listener *put_listener(struct clb_state *state, const struct fields_case *one,
                                         const char *attrs)
{
    struct clb_listener *listener = clb_state_new_listener(state);

    listener->lbc.protocol = one->protocol;
    listener->lbc.port = 80;
    listener->lbc.last_port = 80;
    put_attrs(&listener->lbc.attrs, attrs);
    return listener;
}

static void run_case(const struct fields_case *one)
{
    CCM_CLEANUP(clb_model_fini) struct clb_model model = { .extras = one->off ? 0 : UINT32_MAX };
    CCM_CLEANUP(clb_state_fini) struct clb_state have = { .lb = { .lbc.id = NULL } };
    CCM_CLEANUP(lbc_attrs_fini) struct lbc_attrs back = { 0 };
    CCM_CLEANUP(lbc_attrs_fini) struct lbc_attrs expected = { 0 };
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
    struct ccm_service *service = obj_service();
    const struct lbc_plan_input in = { .model = &model.lbc, .have = &have.lbc, .service = service };

    obj_port(service, "web", "TCP", 80, "8080", 30080);
    service->health_check_node_port = one->node_port;
    const uint16_t served[] = { 31080 };

    service->session_affinity = one->client_ip > 0 ? "ClientIP" : "None";
    service->session_affinity_timeout_s = one->client_ip;
    model.lbc.type = &clb_state_type;
    model.lbc.want = &model.want.lbc;
    model.lbc.ops = &clb_model_ops;

    struct clb_listener *want = put_listener(&model.want, one, one->want == NULL ? "" : one->want);
    struct clb_listener *listener = put_listener(&have, one, one->have);

    want->lbc.group = put_group(&model.want, NULL, one->ports, 2);
    (void)put_group(&have, "rsp-1", served, one->empty ? 0 : 1);
    assert_int_equal(lbc_text_set(&listener->lbc.group_id, "rsp-1"), 0);
    put_attrs(&expected, one->back == NULL ? "" : one->back);

    const struct lbc_work work = lbc_work_begin(&plan, &clb_plan_ops, &in, NULL);

    assert_int_equal(clb_plan_take_back(&work, &want->lbc, &listener->lbc, &back), 0);
    for (size_t i = 0; i < expected.len; i++) {
        const char *field = expected.items[i].row->field;
        const char *value = lbc_attrs_get(&back, expected.items[i].row);

        if (!ccm_text_equal(value, expected.items[i].value)) {
            fail_msg("%s: %s is %s", one->name, field, value == NULL ? "not put back" : value);
        }
    }
    if (back.len != expected.len ||
        clb_plan_needs_rebuild(&work, &want->lbc, &listener->lbc) != one->rebuilt) {
        fail_msg("%s: %zu attributes", one->name, back.len);
    }
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        run_case(&cases[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_cases, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
