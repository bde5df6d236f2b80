/*
 * Every listener annotation, one row each: what creation sends without it and with it, which values
 * are refused and how, what a change and a removal do to a listener that is there, the older
 * prefix, and protocols that do not know it.
 */
#include "lbc/tests/check.h"

#include "clb/annotation_text.h"
#include "clb/annotations.h"
#include "clb/lint.h"
#include "clb/model_listeners.h"
#include "clb/plan.h"
#include "lbc/apply/compare.h"
#include "lbc/tests/objects.h"
#include "lbc/tests/refused.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

static int check_service(const struct ccm_service *service, struct ccm_error *err)
{
    return refused_by(&clb_rules, service, err);
}

#define LEGACY "service.beta.kubernetes.io/alicloud-loadbalancer-"

#define TCP  (1U << LBC_TCP)
#define UDP  (1U << LBC_UDP)
#define HTTP (1U << LBC_HTTP)
#define TLS  (1U << LBC_HTTPS)
#define L4   (TCP | UDP)
#define L7   (HTTP | TLS)
#define ALL  (L4 | L7)

/* Set beside the annotation under test, so that it means something. */
struct beside {
    const char *name;
    const char *value;
};

struct row {
    const char *name;
    const char *field;
    unsigned protocols;
    const char *fallback;  /* what creation sends without it; NULL = nothing */
    const char *good;      /* "annotation=parameter" or "value" (both), separated by blanks */
    const char *bad;       /* values separated by '|' */
    const char *complaint; /* part of what is said about each bad value, beside the value */
    struct beside beside[3];
};

#define INTEGER(label) "Annotation " label " must be integer, but got ["

static const struct row rows[] = {
    { "scheduler",
      "Scheduler",
      ALL,
      "rr",
      "rr wrr wlc sch tch qch",
      "RR|random|rr ",
      "scheduler must be one of [rr|wrr|wlc|sch|tch|qch], got [",
      { { 0 } } },
    { "cert-id", "ServerCertificateId", TLS, "cert-0", "cert-1 123_abc", NULL, NULL, { { 0 } } },
    { "tls-cipher-policy",
      "TLSCipherPolicy",
      TLS,
      NULL,
      "tls_cipher_policy_1_0 tls_cipher_policy_1_1 tls_cipher_policy_1_2 "
      "tls_cipher_policy_1_2_strict tls_cipher_policy_1_2_strict_with_1_3",
      "1_2|tls_cipher_policy_1_3",
      "tls-cipher-policy must be one of [",
      { { 0 } } },
    { "http2-enabled",
      "EnableHttp2",
      TLS,
      NULL,
      "on off",
      "true|ON",
      "must be one of [on|off]",
      { { 0 } } },
    { "idle-timeout",
      "IdleTimeout",
      L7,
      NULL,
      "1 60 010=10 0=",
      "61|-1",
      "idle-timeout must be in range [1,60], got [",
      { { 0 } } },
    { "request-timeout",
      "RequestTimeout",
      L7,
      NULL,
      "1 180 0=",
      "181|-5",
      "request-timeout must be in range [1,180], got [",
      { { 0 } } },
    { "sticky-session",
      "StickySession",
      L7,
      "off",
      "on off",
      "yes|On",
      "must be one of [on|off]",
      { { "sticky-session-type", "insert" }, { "cookie-timeout", "10" } } },
    { "sticky-session-type",
      "StickySessionType",
      L7,
      NULL,
      "insert server",
      "rewrite",
      "must be one of [insert|server]",
      { { 0 } } },
    { "cookie-timeout",
      "CookieTimeout",
      L7,
      NULL,
      "1 86400 0=",
      "86401|-1",
      "cookie-timeout must be in range [1,86400], got [",
      { { 0 } } },
    { "cookie",
      "Cookie",
      L7,
      NULL,
      "A JSESSIONID",
      "a;b|$x|a,b",
      "cookie must be 1 to 200",
      { { 0 } } },
    { "xforwardedfor-proto",
      "XForwardedFor_proto",
      L7,
      NULL,
      "on off",
      "1",
      "must be one of [on|off]",
      { { 0 } } },
    { "xforwardedfor-slbport",
      "XForwardedFor_SLBPORT",
      L7,
      NULL,
      "on off",
      "1",
      "must be one of [on|off]",
      { { 0 } } },
    { "xforwardedfor-clientsrcport",
      "XForwardedFor_ClientSrcPort",
      L7,
      NULL,
      "on off",
      "1",
      "must be one of [on|off]",
      { { 0 } } },
    { "persistence-timeout",
      "PersistenceTimeout",
      TCP,
      NULL,
      "0 1 3600",
      "3601|-1",
      "persistence-timeout must be in range [0,3600], got [",
      { { 0 } } },
    { "established-timeout",
      "EstablishedTimeout",
      TCP,
      NULL,
      "10 900 0=",
      "9|901",
      "established-timeout must be in range [10,900], got [",
      { { 0 } } },
    { "connection-drain",
      "ConnectionDrain",
      L4,
      NULL,
      "on off",
      "true",
      "must be one of [on|off]",
      { { 0 } } },
    { "connection-drain-timeout",
      "ConnectionDrainTimeout",
      L4,
      NULL,
      "10 900 0=",
      "9|901",
      "connection-drain-timeout must be in range [10,900], got [",
      { { "connection-drain", "on" } } },
    { "proxy-protocol",
      "ProxyProtocolV2Enabled",
      L4,
      NULL,
      "on=true off=false else=false",
      NULL,
      NULL,
      { { 0 } } },
    { "acl-status",
      "AclStatus",
      ALL,
      NULL,
      "on off",
      "enabled",
      "must be one of [on|off]",
      { { "acl-id", "acl-1" }, { "acl-type", "white" } } },
    { "acl-id",
      "AclId",
      ALL,
      NULL,
      "acl-1 acl-1,acl-2",
      NULL,
      NULL,
      { { "acl-status", "on" }, { "acl-type", "white" } } },
    { "acl-type",
      "AclType",
      ALL,
      NULL,
      "white black",
      "grey",
      "must be one of [white|black]",
      { { "acl-status", "on" }, { "acl-id", "acl-1" } } },
    { "health-check-switch",
      "HealthCheckSwitch",
      L4,
      NULL,
      "on off",
      "true",
      "must be one of [on|off]",
      { { 0 } } },
    { "health-check-flag",
      "HealthCheck",
      L7,
      "off",
      "on off",
      "true",
      "must be one of [on|off]",
      { { 0 } } },
    { "health-check-type",
      "HealthCheckType",
      TCP,
      NULL,
      "tcp http",
      "https|TCP",
      "must be one of [tcp|http]",
      { { 0 } } },
    { "health-check-uri",
      "HealthCheckURI",
      TCP | L7,
      NULL,
      "/ /a/b?c=d=/a/b?c=d",
      "a|http://x/",
      "health-check-uri must be a path",
      { { 0 } } },
    { "health-check-domain",
      "HealthCheckDomain",
      TCP | L7,
      NULL,
      "$_ip www.a-b.com",
      "a_b|a b|$ip",
      "health-check-domain must be $_ip or",
      { { 0 } } },
    { "health-check-httpcode",
      "HealthCheckHttpCode",
      TCP | L7,
      NULL,
      "http_2xx http_2xx,http_3xx http_4xx,http_5xx",
      "200|http_2xx,|http_2xx;http_3xx",
      "health-check-httpcode must be a list of",
      { { 0 } } },
    { "health-check-method",
      "HealthCheckMethod",
      L7,
      NULL,
      "head get",
      "post|GET",
      "must be one of [head|get]",
      { { 0 } } },
    { "health-check-connect-port",
      "HealthCheckConnectPort",
      ALL,
      NULL,
      "1 65535 0=",
      "65536|-521|-1",
      "health-check-connect-port must be",
      { { 0 } } },
    { "health-check-interval",
      "HealthCheckInterval",
      ALL,
      NULL,
      "1 50 0=",
      "51|-1",
      "health-check-interval must be in range [1,50], got [",
      { { 0 } } },
    { "healthy-threshold",
      "HealthyThreshold",
      ALL,
      NULL,
      "2 10 0=",
      "1|11",
      "healthy-threshold must be in range [2,10], got [",
      { { 0 } } },
    { "unhealthy-threshold",
      "UnhealthyThreshold",
      ALL,
      NULL,
      "2 10 0=",
      "1|11",
      "unhealthy-threshold must be in range [2,10], got [",
      { { 0 } } },
    { "health-check-connect-timeout",
      "HealthCheckConnectTimeout",
      L4,
      NULL,
      "1 300 0=",
      "301|-1",
      "health-check-connect-timeout must be in range [1,300], got [",
      { { 0 } } },
    { "health-check-timeout",
      "HealthCheckTimeout",
      L7,
      NULL,
      "1 300 0=",
      "301|-1",
      "health-check-timeout must be in range [1,300], got [",
      { { 0 } } },
};

/* Lists across ports, see test-annotation-text.c and test-annotations.c. */
static const char *const lists[] = { "protocol-port", "domain-extensions", "forward-port" };

static const char *const labels[][2] = {
    { "persistence-timeout", "persistence timeout" },
    { "established-timeout", "EstablishedTimeout" },
    { "idle-timeout", "IdleTimeout" },
    { "request-timeout", "RequestTimeout" },
    { "connection-drain-timeout", "ConnectionDrainTimeout" },
    { "cookie-timeout", "CookieTimeout" },
    { "healthy-threshold", "HealthyThreshold" },
    { "unhealthy-threshold", "UnhealthyThreshold" },
    { "health-check-connect-timeout", "HealthCheckConnectTimeout" },
    { "health-check-connect-port", "HealthCheckConnectPort" },
    { "health-check-interval", "HealthCheckInterval" },
    { "health-check-timeout", "HealthCheckTimeout" },
};

/* A Service with one port of each protocol. */
static struct ccm_service *service_of(const struct row *row, const char *prefix, const char *value)
{
    struct ccm_service *service = obj_service();
    char key[256];

    obj_port(service, "a", "TCP", 1, "1", 30001);
    obj_port(service, "b", "UDP", 2, "2", 30002);
    obj_port(service, "c", "TCP", 3, "3", 30003);
    obj_port(service, "d", "TCP", 4, "4", 30004);
    obj_annotate(&service->meta, P "protocol-port", "http:3,https:4");
    obj_annotate(&service->meta, P "cert-id", "cert-0");
    for (size_t i = 0; i < CCM_ARRAY_LEN(row->beside) && row->beside[i].name != NULL; i++) {
        ccm_text_printf(key, sizeof(key), "%s%s", P, row->beside[i].name);
        obj_annotate(&service->meta, key, row->beside[i].value);
    }
    if (prefix != NULL && strcmp(row->name, "cert-id") == 0) {
        obj_annotate(&service->meta, P "cert-id", NULL);
    }
    if (prefix != NULL) {
        ccm_text_printf(key, sizeof(key), "%s%s", prefix, row->name);
        obj_annotate(&service->meta, key, value);
    }
    return service;
}

static void listeners_of(const struct ccm_service *service, struct clb_state *ret)
{
    struct ccm_error err = CCM_ERROR_INIT;

    for (uint64_t i = 0; i < service->port_count; i++) {
        enum lbc_protocol protocol = LBC_OTHER;

        assert_int_equal(
            lbc_setting_protocol(service, service->ports[i], &clb_protocols, &protocol, &err), 0);
        const struct lbc_model_input in = { .service = service, .cluster_id = "c1" };
        struct clb_model model = { .lbc = { .type = &clb_state_type, .want = &ret->lbc } };
        struct lbc_builder b = { .ops = &clb_model_ops, .model = &model.lbc, .in = &in };
        const struct lbc_desired_port want = { .port = service->ports[i], .protocol = protocol };

        assert_int_equal(clb_model_listener(&b, &want, &err), 0);
    }
}

static const struct lbc_attr *attr_of(const struct clb_state *state, enum lbc_protocol protocol,
                                      const char *field)
{
    for (size_t i = 0; i < state->lbc.listener_count; i++) {
        const struct clb_listener *one = clb_listener_at(state, i);

        for (size_t a = 0; one->lbc.protocol == protocol && a < one->lbc.attrs.len; a++) {
            if (strcmp(one->lbc.attrs.items[a].row->field, field) == 0) {
                return &one->lbc.attrs.items[a];
            }
        }
    }
    return NULL;
}

/* What creation sends on each protocol; `sent` "" or NULL = nothing. */
static void expect_sent(const struct row *row, const struct ccm_service *service, const char *sent,
                        bool explicit, const char *what)
{
    CCM_CLEANUP(clb_state_fini) struct clb_state state = { .lb = { .lbc.id = NULL } };

    listeners_of(service, &state);
    for (enum lbc_protocol p = LBC_TCP; p <= LBC_HTTPS; p++) {
        const struct lbc_attr *attr = attr_of(&state, p, row->field);
        const bool applies = (row->protocols >> p & 1U) != 0;
        const char *got = attr == NULL ? "" : attr->value;

        if (strcmp(got, applies && sent != NULL ? sent : "") != 0 ||
            (attr != NULL && applies && attr->explicit != explicit)) {
            fail_msg("%s, %s, %s: got [%s]", row->name, what, lbc_protocol_lower(p), got);
        }
    }
}

/* A good value and what it becomes. */
static bool next_good(const char **cursor, char *value, char *sent, size_t size)
{
    const size_t len = strcspn(*cursor, " ");
    char *equals;

    if (len == 0) {
        return false;
    }
    ccm_text_printf(value, size, "%.*s", (int)len, *cursor);
    *cursor += (*cursor)[len] == '\0' ? len : len + 1;
    equals = value[0] == '/' ? strstr(value, "=/") : strrchr(value, '=');
    ccm_text_printf(sent, size, "%s", equals == NULL ? value : equals + 1);
    if (equals != NULL) {
        *equals = '\0';
    }
    return true;
}

static void test_default(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const bool certificate = strcmp(rows[i].name, "cert-id") == 0;

        expect_sent(&rows[i], service_of(&rows[i], NULL, NULL), rows[i].fallback, certificate,
                    "default");
        if (!certificate) {
            expect_sent(&rows[i], service_of(&rows[i], P, ""), rows[i].fallback, false, "empty");
        }
    }
}

/* With either prefix, wherever it applies and nowhere else. */
static void test_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const char *cursor = rows[i].good;
        char value[256];
        char sent[256];

        while (next_good(&cursor, value, sent, sizeof(value))) {
            const struct ccm_service *now = service_of(&rows[i], P, value);
            const struct ccm_service *before = service_of(&rows[i], LEGACY, value);
            struct ccm_error err = CCM_ERROR_INIT;

            if (check_service(now, &err) < 0 || check_service(before, &err) < 0) {
                fail_msg("%s=%s: %s", rows[i].name, value, err.message);
            }
            expect_sent(&rows[i], now, sent, sent[0] != '\0', value);
            expect_sent(&rows[i], before, sent, sent[0] != '\0', value);
        }
    }
}

/* The key of today hides the older one, also when it is empty. */
static void test_legacy_hidden(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const char *cursor = rows[i].good;
        struct ccm_service *service;
        char key[256];
        char value[256];
        char sent[256];

        if (strcmp(rows[i].name, "cert-id") == 0) {
            continue;
        }
        assert_true(next_good(&cursor, value, sent, sizeof(value)));
        service = service_of(&rows[i], LEGACY, value);
        ccm_text_printf(key, sizeof(key), "%s%s", P, rows[i].name);
        obj_annotate(&service->meta, key, "");
        expect_sent(&rows[i], service, rows[i].fallback, false, "hidden");
    }
}

static void expect_refused(const struct row *row, const char *value, const char *complaint)
{
    struct ccm_error err = CCM_ERROR_INIT;

    if (check_service(service_of(row, P, value), &err) == 0) {
        fail_msg("%s=[%s] was accepted", row->name, value);
    }
    assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
    if (strstr(err.message, complaint) == NULL || strstr(err.message, value) == NULL) {
        fail_msg("%s=[%s]: %s", row->name, value, err.message);
    }
}

static void test_invalid(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const char *cursor = rows[i].bad;

        while (cursor != NULL) {
            const size_t len = strcspn(cursor, "|");
            char value[128];

            ccm_text_printf(value, sizeof(value), "%.*s", (int)len, cursor);
            expect_refused(&rows[i], value, rows[i].complaint);
            cursor = cursor[len] == '\0' ? NULL : cursor + len + 1;
        }
    }
}

static const struct row *row_of(const char *name)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

/* Scenario 18: the texts that people search for. */
static void test_no_integer(void **state)
{
    static const char *const values[] = { "abc", "1.5", "10s", "0x10" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(labels); i++) {
        for (size_t v = 0; v < CCM_ARRAY_LEN(values); v++) {
            char complaint[128];

            ccm_text_printf(complaint, sizeof(complaint), INTEGER("%s") "%s]. message=[",
                            labels[i][1], values[v]);
            expect_refused(row_of(labels[i][0]), values[v], complaint);
        }
    }
}

static bool attr_differs(const struct clb_listener *want, const struct lbc_attr *attr,
                         const struct clb_listener *have)
{
    const struct lbc_compare compare =
        lbc_compare_listeners(&clb_annotations, &want->lbc, &have->lbc);

    return lbc_compare_target(&compare, attr->row) != NULL;
}

/* Whether a listener that is as `have` gets an update for a Service, and what with. */
static void expect_update(const struct row *row, const struct ccm_service *before,
                          const struct ccm_service *after, const char *sent, const char *what)
{
    CCM_CLEANUP(clb_state_fini) struct clb_state have = { .lb = { .lbc.id = NULL } };
    CCM_CLEANUP(clb_state_fini) struct clb_state want = { .lb = { .lbc.id = NULL } };

    listeners_of(before, &have);
    listeners_of(after, &want);
    for (enum lbc_protocol p = LBC_TCP; p <= LBC_HTTPS; p++) {
        const struct lbc_attr *attr = attr_of(&want, p, row->field);
        const bool applies = (row->protocols >> p & 1U) != 0;
        const bool differs = attr != NULL && attr_differs(clb_listener_at(&want, p), attr,
                                                          clb_listener_at(&have, p));
        const bool expected = applies && sent != NULL;

        if (differs != expected || (expected && differs && strcmp(attr->value, sent) != 0)) {
            fail_msg("%s, %s, %s: %s", row->name, what, lbc_protocol_lower(p),
                     differs ? attr->value : "no update");
        }
    }
}

/* From each good value to the next: one field changes. To the same: nothing. Removed: it stays. */
static void test_change(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        const char *cursor = row->good;
        char last[256] = "";
        char last_sent[256] = "";
        char value[256];
        char sent[256];

        while (next_good(&cursor, value, sent, sizeof(value))) {
            const struct ccm_service *now = service_of(row, P, value);

            expect_update(row, now, now, NULL, "same");
            if (last[0] != '\0' && strcmp(sent, last_sent) != 0) {
                expect_update(row, service_of(row, P, last), now, sent[0] == '\0' ? NULL : sent,
                              value);
            }
            if (strcmp(row->name, "cert-id") != 0) {
                expect_update(row, now, service_of(row, NULL, NULL), NULL, "removed");
            }
            ccm_text_printf(last, sizeof(last), "%s", value);
            ccm_text_printf(last_sent, sizeof(last_sent), "%s", sent);
        }
    }
}

/* Values that mean something only beside "on", and those that the cloud does not tell. */
static void test_comparison(void **state)
{
    static const struct {
        const char *field;
        enum lbc_protocol protocol;
        const char *gate; /* field that is "off" */
        const char *want;
        const char *have; /* NULL = not told */
        bool differs;
    } cases[] = {
        { "AclId", LBC_TCP, "AclStatus", "a", "b", false },
        { "AclType", LBC_TCP, "AclStatus", "white", "black", false },
        { "AclId", LBC_TCP, NULL, "a", "b", false },
        { "ConnectionDrainTimeout", LBC_UDP, "ConnectionDrain", "10", "20", false },
        { "PersistenceTimeout", LBC_TCP, NULL, "10", NULL, false },
        { "PersistenceTimeout", LBC_TCP, NULL, "10", "0", true },
        { "PersistenceTimeout", LBC_TCP, NULL, "0", "10", true },
        { "ProxyProtocolV2Enabled", LBC_TCP, NULL, "false", NULL, false },
        { "ProxyProtocolV2Enabled", LBC_TCP, NULL, "true", NULL, true },
        { "IdleTimeout", LBC_HTTP, NULL, "10", NULL, true },
        { "ForwardPort", LBC_HTTP, NULL, "443", "444", false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(clb_listener_fini)
        struct clb_listener want = { .lbc.protocol = cases[i].protocol };
        CCM_CLEANUP(clb_listener_fini)
        struct clb_listener have = { .lbc.protocol = cases[i].protocol };
        const struct lbc_anno *field = clb_field_find(cases[i].field);

        assert_int_equal(lbc_attrs_set(&want.lbc.attrs, field, cases[i].want, true), 0);
        if (cases[i].gate != NULL) {
            assert_int_equal(
                lbc_attrs_set(&want.lbc.attrs, clb_field_find(cases[i].gate), "off", true), 0);
        }
        if (cases[i].have != NULL) {
            assert_int_equal(lbc_attrs_set(&have.lbc.attrs, field, cases[i].have, false), 0);
        }
        if (attr_differs(&want, &want.lbc.attrs.items[0], &have) != cases[i].differs) {
            fail_msg("%s: %s %s", cases[i].field, cases[i].want, cases[i].have);
        }
    }
}

/* -520, the backend's port: a value of http and https, the absence of one for tcp and udp. */
static void test_backend_port(void **state)
{
    CCM_CLEANUP(clb_state_fini) struct clb_state made = { .lb = { .lbc.id = NULL } };
    const struct row *row = row_of("health-check-connect-port");
    const struct ccm_service *service = service_of(row, P, "-520");
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    assert_int_equal(check_service(service, &err), 0);
    listeners_of(service, &made);
    assert_null(attr_of(&made, LBC_TCP, row->field));
    assert_null(attr_of(&made, LBC_UDP, row->field));
    assert_string_equal(attr_of(&made, LBC_HTTP, row->field)->value, "-520");
    assert_string_equal(attr_of(&made, LBC_HTTPS, row->field)->value, "-520");
}

/* Scenarios 46, 51: what one value needs of another. */
static void test_needed(void **state)
{
    static const struct {
        struct beside set[3];
        const char *complaint; /* NULL = fine */
    } cases[] = {
        { { { "sticky-session", "on" } },
          "sticky-session-type is required with annotation " P
          "sticky-session on: set it to insert (the load balancer sets the cookie) or server (the "
          "backends do)" },
        { { { "sticky-session", "on" }, { "sticky-session-type", "insert" } },
          "cookie-timeout is required with annotation " P
          "sticky-session-type insert: set it to 1 to 86400 (seconds)" },
        { { { "sticky-session", "on" }, { "sticky-session-type", "server" } },
          "cookie is required with annotation " P
          "sticky-session-type server: set it to the name of the cookie that the backends set" },
        { { { "sticky-session", "on" }, { "sticky-session-type", "server" }, { "cookie", "A" } },
          NULL },
        { { { "acl-status", "on" } }, "acl-id is required" },
        { { { "acl-status", "on" }, { "acl-id", "acl-1" } }, "acl-type is required" },
        { { { "acl-status", "off" } }, NULL },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        const struct row row = { .beside = { cases[i].set[0], cases[i].set[1], cases[i].set[2] } };
        struct ccm_error err = CCM_ERROR_INIT;
        const int r = check_service(service_of(&row, NULL, NULL), &err);

        assert_true((r == 0) == (cases[i].complaint == NULL));
        if (r < 0 && strstr(err.message, cases[i].complaint) == NULL) {
            fail_msg("%s", err.message);
        }
    }
}

/* No annotation of listeners without a row here. */
static void test_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < clb_annotations.count; i++) {
        const struct lbc_anno *one = &clb_annotations.rows[i];
        bool listed = row_of(one->name) != NULL;

        for (size_t l = 0; l < CCM_ARRAY_LEN(lists); l++) {
            listed = listed || strcmp(lists[l], one->name) == 0;
        }
        if (listed != (one->group == LBC_ANNO_LISTENER)) {
            fail_msg("%s", one->name);
        }
    }
}

/* Options of the plugin; annotations go first. */
static void test_extras(void **state)
{
    static const struct {
        unsigned extras;
        bool by_node;
        const char *annotation; /* persistence-timeout */
        const char *expect;     /* "field=value" of the tcp listener, NULL = not sent */
        const char *field;
        int64_t seconds;
    } cases[] = {
        { 0, true, NULL, NULL, "PersistenceTimeout", 600 },
        { CLB_EXTRA_AFFINITY, true, NULL, "600", "PersistenceTimeout", 600 },
        { CLB_EXTRA_AFFINITY, true, NULL, "3600", "PersistenceTimeout", 10800 },
        { CLB_EXTRA_AFFINITY, true, NULL, "3600", "PersistenceTimeout", 0 },
        { CLB_EXTRA_AFFINITY, true, "0", "0", "PersistenceTimeout", 0 },
        { 0, true, NULL, NULL, "HealthCheckURI", 0 },
        { CLB_EXTRA_HEALTH, true, NULL, "/healthz", "HealthCheckURI", 0 },
        { CLB_EXTRA_HEALTH, true, NULL, "32000", "HealthCheckConnectPort", 0 },
        { CLB_EXTRA_HEALTH, true, NULL, "http", "HealthCheckType", 0 },
        { CLB_EXTRA_HEALTH, false, NULL, NULL, "HealthCheckURI", 0 },
        { 0, true, NULL, NULL, "AclStatus", 0 },
        { CLB_EXTRA_RANGES, true, NULL, "on", "AclStatus", 0 },
        { CLB_EXTRA_RANGES, true, NULL, "white", "AclType", 0 },
    };
    static const struct row none = { .name = NULL };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(clb_state_fini) struct clb_state made = { .lb = { .lbc.id = NULL } };
        struct ccm_service *service = service_of(&none, NULL, NULL);
        struct ccm_error err = CCM_ERROR_INIT;
        const struct lbc_model_input in = { .service = service,
                                            .cluster_id = "c1",
                                            .extras = cases[i].extras };
        struct clb_model model = { .lbc = { .type = &clb_state_type, .want = &made.lbc } };
        struct lbc_builder b = { .ops = &clb_model_ops,
                                 .model = &model.lbc,
                                 .in = &in,
                                 .mode = cases[i].by_node ? LBC_MODE_LOCAL : LBC_MODE_PODS };
        const struct lbc_desired_port want = { .port = service->ports[0], .protocol = LBC_TCP };

        service->session_affinity = "ClientIP";
        service->session_affinity_timeout_s = cases[i].seconds;
        service->external_traffic_policy = "Local";
        service->health_check_node_port = 32000;
        obj_range(service, "10.0.0.0/8");
        obj_annotate(&service->meta, P "persistence-timeout", cases[i].annotation);
        assert_int_equal(clb_model_listener(&b, &want, &err), 0);

        const struct lbc_attr *attr = attr_of(&made, LBC_TCP, cases[i].field);

        if (!ccm_text_equal(attr == NULL ? NULL : attr->value, cases[i].expect)) {
            fail_msg("case %zu: %s", i, attr == NULL ? "nothing" : attr->value);
        }
        assert_true(clb_listener_at(&made, 0)->lbc.ranges ==
                    ((cases[i].extras & CLB_EXTRA_RANGES) != 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_default, obj_end),
        cmocka_unit_test_teardown(test_valid, obj_end),
        cmocka_unit_test_teardown(test_legacy_hidden, obj_end),
        cmocka_unit_test_teardown(test_invalid, obj_end),
        cmocka_unit_test_teardown(test_no_integer, obj_end),
        cmocka_unit_test_teardown(test_change, obj_end),
        cmocka_unit_test(test_comparison),
        cmocka_unit_test_teardown(test_backend_port, obj_end),
        cmocka_unit_test_teardown(test_needed, obj_end),
        cmocka_unit_test(test_complete),
        cmocka_unit_test_teardown(test_extras, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
