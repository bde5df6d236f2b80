/* Lists and rules of listener annotations. */
#include "lbc/tests/check.h"

#include "clb/annotation_text.h"
#include "clb/annotations.h"
#include "clb/lint.h"
#include "clb/model_listeners.h"
#include "lbc/apply/compare.h"
#include "lbc/tests/needs.h"
#include "lbc/tests/objects.h"
#include "lbc/tests/refused.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

static int check_service(const struct ccm_service *service, struct ccm_error *err)
{
    return refused_by(&clb_rules, service, err);
}

/* Scenario 47. */
static void test_acl_ids(void **state)
{
    static const struct {
        const char *want;
        const char *have;
        bool equal;
    } cases[] = {
        { "a", NULL, false },       { "a", "a", true },    { "a,b", "b,a", true },
        { "a,b", "a,c", false },    { "a,b", "a", false }, { "a", "a,b", false },
        { " a , b ", "b,a", true },
    };
    const struct lbc_anno *id = clb_field_find("AclId");

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(clb_listener_fini) struct clb_listener want = { .lbc = { .id = NULL } };
        CCM_CLEANUP(clb_listener_fini) struct clb_listener have = { .lbc = { .id = NULL } };
        const struct lbc_compare compare =
            lbc_compare_listeners(&clb_annotations, &want.lbc, &have.lbc);

        assert_int_equal(lbc_attrs_set(&want.lbc.attrs, clb_field_find("AclStatus"), "on", true),
                         0);
        assert_int_equal(lbc_attrs_set(&want.lbc.attrs, id, cases[i].want, true), 0);
        assert_int_equal(
            cases[i].have == NULL ? 0 : lbc_attrs_set(&have.lbc.attrs, id, cases[i].have, false),
            0);
        if ((lbc_compare_target(&compare, id) == NULL) != cases[i].equal) {
            fail_msg("[%s] [%s]", cases[i].want, cases[i].have);
        }
    }
}

static struct ccm_service *web(const char *protocols)
{
    struct ccm_service *service = obj_service();

    obj_port(service, "http", "TCP", 80, "8080", 30080);
    obj_port(service, "https", "TCP", 443, "8443", 30443);
    obj_annotate(&service->meta, P "protocol-port", protocols);
    obj_annotate(&service->meta, P "cert-id", "cert-1");
    return service;
}

static void test_forward(void **state)
{
    static const struct {
        const char *value;
        uint16_t target;
        const char *message; /* of the check; NULL = fine */
    } cases[] = {
        { NULL, 0, NULL },
        { "", 0, NULL },
        { "80:443", 443, NULL },
        { " 80 : 443 ", 443, NULL },
        { "81:444,80:443", 443, NULL },
        { "81:444", 0, NULL },
        { "80:443,81", 443, NULL },
        { "80,443", 0,
          "Annotation ForwardPort error: forward port format error: 80,443, expect "
          "80:443,88:6443 " },
        { "80:443:1", 0, "Annotation ForwardPort error: forward port format error: 80:443:1" },
        { "80:https", 0, "Annotation ForwardPort error: forward port is not an integer, https" },
        { "80:0", 0, "Annotation ForwardPort error: forward port is not an integer, 0" },
        { "80:444", 444,
          "Annotation ForwardPort error: port 80 is to be forwarded to port 444, which is no https "
          "port of this Service (annotation " P "forward-port is [80:444]): add https:444 to "
          "annotation " P "protocol-port [http:80,https:443], and that port to the Service" },
        { "80:80", 80, "Annotation ForwardPort error: port 80 is to be forwarded to port 80" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = web("http:80,https:443");
        struct ccm_error err = CCM_ERROR_INIT;
        uint16_t target = 0;

        obj_annotate(&service->meta, P "forward-port", cases[i].value);
        const int r = clb_forward_of(service, 80, &target, &err);

        if (target != cases[i].target) {
            fail_msg("%s: %u %s", cases[i].value, target, err.message);
        }
        ccm_error_clear(&err);
        if (check_service(service, &err) == 0) {
            assert_int_equal(r, 0);
            assert_null(cases[i].message);
        } else if (cases[i].message == NULL || !ccm_text_starts(err.message, cases[i].message)) {
            fail_msg("%s: %s", cases[i].value, err.message);
        }
    }
}

static void test_forward_of_other_protocols(void **state)
{
    struct ccm_service *service = web("https:443");
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    obj_annotate(&service->meta, P "forward-port", "80,443");
    assert_int_equal(check_service(service, &err), 0);
}

static void test_certificate(void **state)
{
    struct ccm_service *service = web("https:443");
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    obj_annotate(&service->meta, P "cert-id", NULL);
    assert_true(check_service(service, &err) < 0);
    assert_non_null(strstr(err.message, P "cert-id is required for https ports"));
    obj_annotate(&service->meta, P "protocol-port", "https:444");
    ccm_error_clear(&err);
    assert_int_equal(check_service(service, &err), 0);
}

static void test_domains(void **state)
{
    static const struct {
        const char *value;
        size_t count;
        const char *message;
    } cases[] = {
        { NULL, 0, NULL },
        { "", 0, NULL },
        { "a.com:c1", 1, NULL },
        { " a.com:c1 , *.b.com : c2 ", 2, NULL },
        { "a.com:c1,a.com:c2", 1, NULL },
        { "a.com", 0, "parse DomainExtensions error: invalid domain extension a.com" },
        { "a.com:", 0, "parse DomainExtensions error: invalid domain extension a.com:" },
        { ":c1", 0, "parse DomainExtensions error: invalid domain extension :c1" },
        { "a.com:c1,b", 0, "parse DomainExtensions error: invalid domain extension b" },
        { "a.com:c1:x", 0, "parse DomainExtensions error: invalid domain extension a.com:c1:x" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(clb_domains_fini) struct clb_domains domains = { 0 };
        struct ccm_service *service = web("https:443");
        struct ccm_error err = CCM_ERROR_INIT;
        bool explicit = false;

        obj_annotate(&service->meta, P "domain-extensions", cases[i].value);
        const int r = check_service(service, &err);

        assert_true((r == 0) == (cases[i].message == NULL));
        if (r < 0) {
            assert_ptr_equal(strstr(err.message, cases[i].message), err.message);
            assert_non_null(strstr(err.message, "domain-extensions must be domain:certificate"));
            continue;
        }
        assert_int_equal(clb_domains_of(service, &domains, &explicit, &err), 0);
        assert_int_equal(domains.len, cases[i].count);
        assert_true(explicit == (cases[i].value != NULL));
    }
}

static void test_domain_values(void **state)
{
    CCM_CLEANUP(clb_domains_fini) struct clb_domains domains = { 0 };
    struct ccm_service *service = web("https:443");
    struct ccm_error err = CCM_ERROR_INIT;
    bool explicit = false;

    (void)state;
    obj_annotate(&service->meta,
                 "service.beta.kubernetes.io/alicloud-loadbalancer-domain-extensions",
                 "a.com: c1 ,b.com:c2");
    assert_int_equal(clb_domains_of(service, &domains, &explicit, &err), 0);
    assert_true(explicit);
    assert_string_equal(domains.items[0].name, "a.com");
    assert_string_equal(domains.items[0].cert, "c1");
    assert_string_equal(clb_domains_find(&domains, "b.com")->cert, "c2");
}

static int put_range(void *arg, const char *block, bool ipv6)
{
    (void)ipv6;
    return lbc_texts_put(arg, block);
}

static void test_ranges(void **state)
{
    static const struct {
        const char *range;
        bool ipv6;
        const char *entry; /* NULL = refused */
    } cases[] = {
        { "10.0.0.0/8", false, "10.0.0.0/8" },
        { " 10.1.2.3/32 ", false, "10.1.2.3/32" },
        { "10.1.2.3", false, "10.1.2.3/32" },
        { "10.0.0.0/33", false, NULL },
        { "10.0.0/8", false, NULL },
        { "2001:db8::/32", false, NULL },
        { "2001:DB8::/32", true, "2001:db8::/32" },
        { "10.0.0.0/8", true, NULL },
        { "", false, NULL },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(lbc_texts_fini) struct lbc_texts texts = { 0 };
        struct ccm_service *service = web("");
        struct ccm_error err = CCM_ERROR_INIT;

        obj_range(service, cases[i].range);
        const int r = lbc_setting_ranges(service, cases[i].ipv6 ? LBC_IPV6 : LBC_IPV4, put_range,
                                         &texts, &err);

        if (cases[i].entry == NULL) {
            assert_true(r < 0);
            assert_non_null(strstr(err.message, "spec.loadBalancerSourceRanges: ["));
        } else {
            assert_int_equal(r, 0);
            assert_string_equal(texts.items[0], cases[i].entry);
        }
    }
}

static void test_ranges_and_annotation(void **state)
{
    struct ccm_service *service = web("");
    struct clb_state want = { .acl = { .known = false } };
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    obj_range(service, "10.0.0.0/8");
    assert_int_equal(clb_model_acl(&want, service, 0, &err), 0);
    assert_false(want.acl.known);
    obj_annotate(&service->meta, P "acl-id", "acl-7");
    assert_true(clb_model_acl(&want, service, CLB_EXTRA_RANGES, &err) < 0);
    assert_non_null(strstr(err.message, "acl-id cannot be combined"));
    obj_annotate(&service->meta, P "acl-id", NULL);
    assert_int_equal(clb_model_acl(&want, service, CLB_EXTRA_RANGES, &err), 0);
    assert_true(want.acl.known);
    assert_int_equal(want.acl.entries.len, 1);
    clb_state_fini(&want);
}

/* Every row that needs a switch, on listeners of every protocol. */
static void test_needs(void **state)
{
    (void)state;
    needs_check(&clb_rules, "tcp|udp|http|https",
                "address-type id name resource-group-id additional-resource-tags~ "
                "delete-protection modification-protection preserve-lb-on-delete vswitch-id~ "
                "network-type charge-type~ bandwidth~ spec~ instance-charge-type "
                "master-zoneid slave-zoneid~ ip-version ip~ external-ip-type hostname "
                "force-override-listeners~ protocol-port~ scheduler cert-id "
                "tls-cipher-policy http2-enabled domain-extensions forward-port idle-timeout "
                "request-timeout sticky-session sticky-session-type:sticky-session "
                "cookie-timeout:sticky-session cookie:sticky-session xforwardedfor-proto "
                "xforwardedfor-slbport xforwardedfor-clientsrcport persistence-timeout "
                "established-timeout connection-drain "
                "connection-drain-timeout:connection-drain proxy-protocol acl-status "
                "acl-id!acl-status acl-type!acl-status health-check-switch health-check-flag "
                "health-check-type~ health-check-uri:health-check-flag "
                "health-check-domain:health-check-flag "
                "health-check-httpcode:health-check-flag "
                "health-check-method:health-check-flag "
                "health-check-connect-port:health-check-flag "
                "health-check-interval:health-check-flag healthy-threshold:health-check-flag "
                "unhealthy-threshold:health-check-flag health-check-connect-timeout~ "
                "health-check-timeout:health-check-flag backend-label~ "
                "remove-unscheduled-backend~ backend-ip-version vgroup-port~ weight~ "
                "default-weight~ ignore-weight-update "
                "service.beta.kubernetes.io/backend-type~ service.beta.kubernetes.io/class "
                "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-type~ "
                "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-tunnel-type ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_needs, obj_end),
        cmocka_unit_test(test_acl_ids),
        cmocka_unit_test_teardown(test_forward, obj_end),
        cmocka_unit_test_teardown(test_forward_of_other_protocols, obj_end),
        cmocka_unit_test_teardown(test_certificate, obj_end),
        cmocka_unit_test_teardown(test_domains, obj_end),
        cmocka_unit_test_teardown(test_domain_values, obj_end),
        cmocka_unit_test_teardown(test_ranges, obj_end),
        cmocka_unit_test_teardown(test_ranges_and_annotation, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
