/* What is told about a Service before it reaches a cluster; whole manifests are in
 * tests/integration/lint. */
#include "lbc/tests/check.h"

#include "alilb/class.h"
#include "lbc/tests/needs.h"
#include "lbc/tests/objects.h"
#include "nlb/lint.h"
#include "util/buf.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

#define TYPE "service.beta.kubernetes.io/backend-type"

static struct ccm_buf heard = { .max = 4096 };

static void finding(const struct ccm_lint_sink *sink, uint64_t level, const char *place,
                    const char *message)
{
    (void)sink;
    ccm_buf_addf(&heard, "%s %s: %s\n", level == CCM_LEVEL_ERROR ? "error" : "warning",
                 ccm_text_starts(place, P) ? place + strlen(P) : place, message);
}

static const char *no_text(const struct ccm_lint_sink *sink, const char *group, const char *name)
{
    (void)sink;
    (void)group;
    (void)name;
    return NULL;
}

static int64_t no_number(const struct ccm_lint_sink *sink, const char *group, const char *name)
{
    (void)sink;
    (void)group;
    (void)name;
    return 0;
}

struct set {
    const char *name;
    const char *value;
};

static void expect(const char *lb_class, const struct set *sets, size_t count, const char *expected)
{
    const struct ccm_lint_sink sink = { .struct_size = sizeof(sink),
                                        .finding = finding,
                                        .option_string = no_text,
                                        .option_int = no_number };
    struct ccm_service *service = obj_service();

    service->load_balancer_class = lb_class;
    obj_port(service, "http", "TCP", 80, "8080", 30080);
    for (size_t i = 0; i < count && sets[i].name != NULL; i++) {
        char key[128];

        ccm_text_printf(key, sizeof(key), "%s%s", strchr(sets[i].name, '/') == NULL ? P : "",
                        sets[i].name);
        obj_annotate(&service->meta, key, sets[i].value);
    }
    ccm_buf_reset(&heard);
    lbc_lint_service(&nlb_rules, service, &sink);
    assert_string_equal(ccm_buf_str(&heard), expected);
}

/* Nor is anything else said: no listener is made. */
#define NOBODY_LISTENS                                                                             \
    "warning id: no listener is made on a load balancer that a person made, unless annotation "    \
    "force-override-listeners is \"true\"; with \"false\" somebody makes them by hand\n"

static void test_cases(void **state)
{
    static const struct {
        struct set sets[4];
        const char *expected;
    } cases[] = {
        { { { "zone-maps", "a:b" } }, "" },
        { { { "id", "nlb-1" } }, NOBODY_LISTENS },
        { { { "id", "nlb-1" }, { "force-override-listeners", "false" } }, "" },
        { { { "id", "nlb-1" }, { "vgroup-port", "sgp-1:80" } }, "" },
        { { { 0 } },
          "error zone-maps: ParameterMissing, zone mappings are required: set annotation " P
          "zone-maps to zone:vSwitch of at least two zones of the region, separated by commas, "
          "such "
          "as cn-hangzhou-h:vsw-1,cn-hangzhou-i:vsw-2\n" },
        { { { "zone-maps", "a:b" }, { "protocol-port", "tcpssl:80" } },
          "error cert-id: annotation " P
          "cert-id is required for TCPSSL ports: give the id of a server certificate\n" },
        { { { "id", "nlb-1" }, { "protocol-port", "tcpssl:80" } }, NOBODY_LISTENS },
        { { { "id", "nlb-1" },
            { "protocol-port", "tcpssl:80" },
            { "force-override-listeners", "true" },
            { "cert-id", "c" } },
          "" },
        { { { "zone-maps", "a:b" }, { "listener-port-range", "1-9:80" } },
          "warning listener-port-range: listener port range can only be used for eni backend type "
          "service: set annotation " TYPE " to eni, unless option default_backend_type is that\n" },
        { { { "zone-maps", "a:b" }, { "listener-port-range", "1-9:80" }, { TYPE, "eni" } }, "" },
        { { { "zone-maps", "a:b" }, { "listener-port-range", "1-9:80" }, { TYPE, "ecs" } },
          "error listener-port-range: listener port range can only be used for eni backend type "
          "service: set annotation " TYPE " to eni\n" },
        { { { "zone-maps", "a:b" }, { "alpn", "on" }, { "protocol-port", "udp:80" } },
          "warning alpn: annotation " P
          "alpn has no effect: it is for tcpssl listeners, and there are "
          "none\nwarning protocol-port: annotation " P
          "protocol-port makes a TCP listener of a UDP port or the other "
          "way round, and nodes do not answer it (an entry counts for every port of that "
          "number)\n" },
        { { { "zone-maps", "a:b" }, { "weight", "0" }, { "vgroup-port", "sgp-1:80" } },
          "warning vgroup-port: annotation " P "vgroup-port has no effect without annotation id\n"
          "warning weight: annotation " P
          "weight has no effect without annotations id and vgroup-port\n" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        expect(ALILB_CLASS_NLB, cases[i].sets, CCM_ARRAY_LEN(cases[i].sets), cases[i].expected);
    }
    ccm_buf_fini(&heard);
}

static void test_class(void **state)
{
    static const struct set bad = { "address-type", "nonsense" };

    (void)state;
    expect("", &bad, 1, "");
    expect("example.com/other", &bad, 1, "");
    ccm_buf_fini(&heard);
}

/* Every row that needs a switch, on listeners of every protocol. */
static void test_needs(void **state)
{
    (void)state;
    needs_check(&nlb_rules, "TCP|UDP|TCPSSL",
                "id zone-maps address-type ip-version ipv6-address-type~ name "
                "resource-group-id additional-resource-tags~ security-group-ids "
                "bandwidth-package-id cross-zone-enabled delete-protection "
                "modification-protection preserve-lb-on-delete force-override-listeners~ "
                "protocol-port~ listener-port-range idle-timeout cps proxy-protocol "
                "ppv2-pvl-ep-id-enabled:proxy-protocol "
                "ppv2-pvl-eps-id-enabled:proxy-protocol "
                "ppv2-pvl-vpc-id-enabled:proxy-protocol tls-cipher-policy cert-id "
                "cacert-id!cacert cacert~ alpn alpn-policy:alpn additional-cert-ids "
                "server-group-type scheduler connection-drain "
                "connection-drain-timeout:connection-drain preserve-client-ip "
                "health-check-flag health-check-type:health-check-flag "
                "health-check-connect-port:health-check-flag "
                "healthy-threshold:health-check-flag unhealthy-threshold:health-check-flag "
                "health-check-connect-timeout:health-check-flag "
                "health-check-interval:health-check-flag "
                "health-check-domain:health-check-flag health-check-uri:health-check-flag "
                "health-check-method:health-check-flag "
                "health-check-httpcode:health-check-flag vgroup-port~ weight~ "
                "default-weight~ ignore-weight-update backend-label~ "
                "remove-unscheduled-backend~ backend-ip-version~ "
                "service.beta.kubernetes.io/backend-type~ "
                "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-type ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_cases, obj_end),
        cmocka_unit_test_teardown(test_class, obj_end),
        cmocka_unit_test_teardown(test_needs, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
