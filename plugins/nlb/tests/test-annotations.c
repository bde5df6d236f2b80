/* Annotations that need one another, and lists: what is refused, in which words. */
#include "lbc/tests/check.h"

#include "alilb/class.h"
#include "lbc/tests/objects.h"
#include "lbc/tests/refused.h"
#include "nlb/annotation_text.h"
#include "nlb/annotations.h"
#include "nlb/lint.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int check_service(const struct ccm_service *service, struct ccm_error *err)
{
    const int r = refused_by(&nlb_rules, service, err);

    return r < 0 ? r : nlb_check_source_ranges(service, err);
}

struct set {
    const char *name;
    const char *value;
};

static void annotate(struct ccm_service *service, const struct set *sets, size_t count)
{
    for (size_t i = 0; i < count && sets[i].name != NULL; i++) {
        char key[128];

        ccm_text_printf(key, sizeof(key), P "%s", sets[i].name);
        obj_annotate(&service->meta, key, sets[i].value);
    }
}

/* Ports 80/TCP, 443/TCP and, when told so, 53/UDP. */
static struct ccm_service *web(bool udp)
{
    struct ccm_service *service = obj_service();

    service->load_balancer_class = ALILB_CLASS_NLB;
    obj_port(service, "http", "TCP", 80, "8080", 30080);
    obj_port(service, "https", "TCP", 443, "8443", 30443);
    if (udp) {
        obj_port(service, "dns", "UDP", 53, "53", 30053);
    }
    obj_annotate(&service->meta, P "zone-maps", "z-0:v-0");
    return service;
}

/* What one annotation needs of others. */
static const struct {
    struct set sets[4];
    bool udp;
    const char *complaint; /* NULL = fine */
} together[] = {
    { { { 0 } }, true, NULL },
    { { { "zone-maps", NULL } },
      false,
      "ParameterMissing, zone mappings are required: set annotation " P "zone-maps to" },
    { { { "zone-maps", NULL }, { "id", "nlb-1" } }, false, NULL },
    { { { "zone-maps", "a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1,j:1" } }, false, NULL },
    { { { "zone-maps", "a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1,j:1,k:1" } },
      false,
      "zone-maps must be a list of at most 10 zones, got [" },
    { { { "protocol-port", "http:80" } },
      false,
      "port protocol format must be either [TCP|UDP|TCPSSL], protocol not supported with "
      "[http]" },
    { { { "protocol-port", "tcp:80,quic:443" } }, false, "not supported with [quic]" },
    { { { "protocol-port", "tcp80" } },
      false,
      "port and protocol format must be like 'https:443' with colon separated. got=[[tcp80]]" },
    { { { "listener-port-range", "0-5:80" } }, false, "port range [0-5] is invalid" },
    { { { "listener-port-range", "1-65536:80" } }, false, "port range [1-65536] is invalid" },
    { { { "listener-port-range", "10:80" } }, false, "port range [10] is invalid" },
    { { { "listener-port-range", "1-2-3:80" } }, false, "port range [1-2-3] is invalid" },
    { { { "listener-port-range", "a-b:80" } }, false, "port range [a-b] is invalid" },
    { { { "listener-port-range", "6-6:80" } },
      false,
      "start port should be smaller than end port for port range [6-6]" },
    { { { "listener-port-range", "1-9:80,7-6:9" } },
      false,
      "start port should be smaller than end port for port range [7-6]" },
    { { { "listener-port-range", "1000-2000" } },
      false,
      "listener port range must be like 1000-2000:80 with colon separated. got [1000-2000]" },
    { { { "vgroup-port", "sgp-1:80,sgp-2" } }, false, NULL }, /* does not count */
    { { { "id", "nlb-1" }, { "vgroup-port", "sgp-1:80,sgp-2" } },
      false,
      "server group id and protocol format must be like'sgp-xxx:443' with colon separated. "
      "got=[[sgp-2]]" },
    { { { "idle-timeout", "900" } }, false, NULL },
    { { { "idle-timeout", "900" } }, true, "must be at most 90 where a port is UDP" },
    { { { "idle-timeout", "90" } }, true, NULL },
    { { { "idle-timeout", "901" } },
      false,
      "parse IdleTimeout error: [901] value out of range, range is [10,900]" },
    { { { "idle-timeout", "ten" } },
      false,
      "parse IdleTimeout error: [ten] invalid syntax, range is [10,900]" },
    { { { "cps", "x" } }, false, "parse Mss error: [x] invalid syntax" },
    { { { "connection-drain", "on" }, { "connection-drain-timeout", "x" } },
      false,
      "ConnectionDrainTimeout parse error: [x] invalid syntax" },
    { { { "connection-drain", "on" }, { "connection-drain-timeout", "901" } },
      false,
      "ConnectionDrainTimeout must be integer in range [0,900] , got [901]" },
    { { { "default-weight", "abc" } }, false, "default weight parse error: [abc] invalid syntax" },
    { { { "default-weight", "-5" } },
      false,
      "default weight must be integer in range [0,100] , got [-5]" },
    { { { "weight", "200" } }, false, NULL }, /* does not count */
    { { { "weight", "200" }, { "id", "nlb-1" }, { "vgroup-port", "sgp-1:80" } },
      false,
      "weight must be integer in range [0, 100], got [200]" },
    { { { "cross-zone-enabled", "true" } },
      false,
      "ParameterInvalid, cross zone enabled flag error: invalid flag \"true\", should be "
      "\"on\" or \"off\"" },
    { { { "health-check-flag", "on" }, { "health-check-type", "udp" } }, true, NULL },
    { { { "health-check-type", "udp" } }, true, NULL }, /* does not count */
    { { { "health-check-flag", "on" },
        { "health-check-type", "udp" },
        { "protocol-port", "udp:80,udp:443" } },
      true,
      NULL },
    { { { "health-check-flag", "on" },
        { "protocol-port", "udp:80,udp:443" },
        { "health-check-interval", "300" } },
      true,
      NULL },
    { { { "health-check-flag", "on" }, { "health-check-interval", "51" } },
      false,
      "health-check-interval must be at most 50 unless health-check-type is udp, got [51]" },
    { { { "health-check-flag", "on" },
        { "protocol-port", "udp:80,udp:443" },
        { "health-check-interval", "10" },
        { "health-check-connect-timeout", "11" } },
      true,
      "health-check-interval must be not less than health-check-connect-timeout" },
    { { { "server-group-type", "pod" } },
      false,
      "unsupport server ServerGroupType [pod]: annotation " },
    { { { "backend-label", "a=b,c" } }, false, "parse backend label: c, [k1=v1,k2=v2]" },
    { { { "resource-group-id", "rg-1" }, { "tls-cipher-policy", "anything" } }, false, NULL },
};

static void test_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(together); i++) {
        struct ccm_service *service = web(together[i].udp);
        struct ccm_error err = CCM_ERROR_INIT;
        int r;

        annotate(service, together[i].sets, CCM_ARRAY_LEN(together[i].sets));
        r = check_service(service, &err);
        if ((r == 0) != (together[i].complaint == NULL) ||
            (r < 0 && strstr(err.message, together[i].complaint) == NULL)) {
            fail_msg("case %zu: %d %s", i, r, err.message);
        }
        assert_true(r == 0 || err.kind == CCM_ERROR_TERMINAL);
    }
}

static void test_name_length(void **state)
{
    char name[140];

    (void)state;
    memset(name, 'a', sizeof(name));
    for (size_t len = 128; len <= 129; len++) {
        struct ccm_service *service = web(false);
        struct ccm_error err = CCM_ERROR_INIT;

        name[len] = '\0';
        obj_annotate(&service->meta, P "name", name);
        assert_true((check_service(service, &err) == 0) == (len == 128));
        name[len] = 'a';
    }
}

/* spec.loadBalancerSourceRanges: checked where it is served, and it needs a security group. */
static void test_source_ranges(void **state)
{
    static const struct {
        const char *range;
        const char *groups;
        const char *id;
        const char *complaint;
    } cases[] = {
        { "10.0.0.0/8", "a,b,c", "", NULL },
        { "10.0.0.0/8", "a,b,c,d", "",
          "must be a list of at most 3 groups beside spec.loadBalancerSourceRanges" },
        { "10.0.0.0/8", "a,b,c,d", "nlb-1", NULL },
        { " 2001:db8::/32 ", "", "", NULL },
        { "10.0.0.0/33", "", "",
          "spec.loadBalancerSourceRanges: [10.0.0.0/33] is no address block" },
        { "everybody", "", "", "spec.loadBalancerSourceRanges: [everybody] is no address block" },
        { "everybody", "", "nlb-1", NULL },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = web(false);
        struct ccm_error err = CCM_ERROR_INIT;
        int r;

        obj_range(service, cases[i].range);
        obj_annotate(&service->meta, P "security-group-ids", cases[i].groups);
        obj_annotate(&service->meta, P "id", cases[i].id);
        r = check_service(service, &err);
        if ((r == 0) != (cases[i].complaint == NULL) ||
            (r < 0 && strstr(err.message, cases[i].complaint) == NULL)) {
            fail_msg("case %zu: %d %s", i, r, err.message);
        }
    }
}

/* Scenario 11, and W46: TCP and TCPSSL share their ports. */
static void test_overlap(void **state)
{
    static const struct {
        const char *protocols; /* of ports 80 and 443 */
        const char *ranges;
        const char *complaint;
    } cases[] = {
        { "", "", NULL },
        { "", "1-79:80", NULL },
        { "", "1-442:80,443-500:443", NULL },
        { "", "1-100:80,100-200:443",
          "port of listener [100-200/TCP] overlaps with listener [1-100/TCP]" },
        { "", "1-100:80,50-80:443",
          "port of listener [50-80/TCP] overlaps with listener [1-100/TCP]" },
        { "", "50-80:80,1-102:443",
          "port of listener [1-102/TCP] overlaps with listener [50-80/TCP]" },
        { "", "80-443:80", "port of listener [443/TCP] overlaps with listener [80-443/TCP]" },
        { "", "1-80:443", "port of listener [1-80/TCP] overlaps with listener [80/TCP]" },
        { "udp:443", "80-443:80", NULL },
        { "tcpssl:443", "80-443:80",
          "port of listener [443/TCPSSL] overlaps with listener [80-443/TCP]" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = web(false);
        struct ccm_error err = CCM_ERROR_INIT;
        int r;

        obj_annotate(&service->meta, P "protocol-port", cases[i].protocols);
        obj_annotate(&service->meta, P "listener-port-range", cases[i].ranges);
        assert_int_equal(nlb_check_overlap(service, 0, 0, &err), 0);
        r = nlb_check_overlap(service, 1, 1, &err);
        if ((r == 0) != (cases[i].complaint == NULL) ||
            (r < 0 && strcmp(err.message, cases[i].complaint) != 0)) {
            fail_msg("case %zu: %d %s", i, r, err.message);
        }
    }
}

static void test_same_port(void **state)
{
    struct ccm_service *service = obj_service();
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    obj_port(service, "a", "TCP", 53, "53", 30053);
    obj_port(service, "b", "UDP", 53, "53", 30054);
    obj_port(service, "c", "TCP", 53, "54", 30055);
    assert_int_equal(nlb_check_overlap(service, 1, 1, &err), 0);
    assert_int_equal(nlb_check_overlap(service, 2, 2, &err), -EINVAL);
    assert_string_equal(err.message, "port of listener [53/TCP] overlaps with listener [53/TCP]");
}

/* The port's own protocol, what the annotation makes of it, and what no listener speaks. */
static void test_protocol(void **state)
{
    struct ccm_service *service = web(true);
    struct ccm_error err = CCM_ERROR_INIT;
    enum lbc_protocol protocol = LBC_OTHER;

    (void)state;
    obj_annotate(&service->meta, P "protocol-port", " TcpSsl : 443 , udp:8");
    assert_int_equal(
        lbc_setting_protocol(service, service->ports[0], &nlb_protocols, &protocol, &err), 0);
    assert_int_equal(protocol, LBC_TCP);
    assert_int_equal(
        lbc_setting_protocol(service, service->ports[1], &nlb_protocols, &protocol, &err), 0);
    assert_int_equal(protocol, LBC_TCPSSL);
    assert_int_equal(
        lbc_setting_protocol(service, service->ports[2], &nlb_protocols, &protocol, &err), 0);
    assert_int_equal(protocol, LBC_UDP);
    obj_port(service, "sctp", "SCTP", 9, "9", 30009);
    assert_int_equal(
        lbc_setting_protocol(service, service->ports[3], &nlb_protocols, &protocol, &err), -EINVAL);
    assert_string_equal(
        err.message,
        "SCTP protocol is not supported (port 9 of the Service: TCP and UDP are). Move "
        "the port to a Service of type ClusterIP or NodePort: until then no load "
        "balancer is made for this one, and one that is there serves the other "
        "ports");
    assert_int_equal(check_service(service, &err), -EINVAL);
}

/* Which annotations are whose: neither kind claims those of the other, and slips get a hint. */
static void test_unknown(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };
    struct ccm_service *service = web(false);

    (void)state;
    obj_annotate(&service->meta, P "type", "nlb");
    lbc_anno_unknown(&nlb_annotations, &service->meta, &text);
    assert_string_equal(ccm_buf_str(&text), "");
    obj_annotate(&service->meta, P "acl-id", "acl-1");
    lbc_anno_unknown(&nlb_annotations, &service->meta, &text);
    assert_string_equal(ccm_buf_str(&text),
                        "annotation " P "acl-id has no effect: NLB load balancers do not "
                        "have it, so it keeps nobody out. To restrict access set "
                        "spec.loadBalancerSourceRanges or annotation " P
                        "security-group-ids, and take this one away");
    obj_annotate(&service->meta, P "acl-id", NULL);
    obj_annotate(&service->meta, P "zone-map", "z:v");
    ccm_buf_reset(&text);
    lbc_anno_unknown(&nlb_annotations, &service->meta, &text);
    assert_string_equal(ccm_buf_str(&text),
                        "annotation " P "zone-map is unknown and has no effect, did you mean " P
                        "zone-maps?");
}

/* The annotation `type` decides nothing, the class does. */
static void test_type(void **state)
{
    struct ccm_service *service = web(false);
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    obj_annotate(&service->meta, P "type", "clb");
    assert_int_equal(check_service(service, &err), 0);
    assert_true(lbc_class_is(service, ALILB_CLASS_NLB));
    service->load_balancer_class = "";
    obj_annotate(&service->meta, P "type", "nlb");
    assert_false(lbc_class_is(service, ALILB_CLASS_NLB));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_together, obj_end),
        cmocka_unit_test_teardown(test_name_length, obj_end),
        cmocka_unit_test_teardown(test_source_ranges, obj_end),
        cmocka_unit_test_teardown(test_overlap, obj_end),
        cmocka_unit_test_teardown(test_same_port, obj_end),
        cmocka_unit_test_teardown(test_protocol, obj_end),
        cmocka_unit_test_teardown(test_unknown, obj_end),
        cmocka_unit_test_teardown(test_type, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
