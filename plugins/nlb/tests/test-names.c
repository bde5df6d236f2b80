/* Ownership keys: written, recognised, shortened. */
#include "lbc/tests/check.h"

#include "lbc/tests/objects.h"
#include "nlb/nlb.h"
#include "nlb/owner_key.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

#define CLUSTER "c0123456789abcdef0123456789abcdef"
#define LONG    "a234567890-234567890-234567890-234567890-234567890-234567890-23" /* 63 */

/* default/web unless told otherwise */
static const struct ccm_object *named(const char *name, const char *space)
{
    struct ccm_service *service = obj_service();

    service->meta.name = name;
    service->meta.namespace_ = space;
    return &service->meta;
}

static enum lbc_owner owner_of(const char *text, bool as_listener, const struct ccm_object *service,
                               const char *cluster_id)
{
    enum lbc_owner owner = LBC_OWNER_NONE;

    assert_int_equal(nlb_name_parse(text, as_listener, service, cluster_id, &owner), 0);
    return owner;
}

static void expect(const char *key, enum lbc_protocol protocol, const char *text)
{
    CCM_CLEANUP(ccm_freep)
    char *got = nlb_name_format(key, protocol, named("web", "default"), "c1", NLB_NAME_MAX);

    assert_string_equal(got, text);
}

static void test_format(void **state)
{
    (void)state;
    expect("80", LBC_TCP, "k8s.80.TCP.web.default.c1");
    expect("100_200", LBC_UDP, "k8s.100_200.UDP.web.default.c1");
    expect("http", LBC_TCPSSL, "k8s.http.TCPSSL.web.default.c1");
}

static void test_guard(void **state)
{
    CCM_CLEANUP(ccm_freep) char *name = nlb_security_group_name(named("web", "default"));
    CCM_CLEANUP(ccm_freep)
    char *text = nlb_security_group_description(named("web", "default"), "c1");

    (void)state;
    assert_string_equal(name, "k8s-nlb-a5e4dbfc9c2ae4642b0335607860aef6");
    assert_string_equal(text, "k8s.default.web.c1");
}

static void test_parse(void **state)
{
    static const struct {
        const char *text;
        enum lbc_owner as_group;
        enum lbc_owner as_listener;
    } cases[] = {
        { "k8s.80.TCP.web.default.c1", LBC_OWNER_OURS, LBC_OWNER_OURS },
        { "k8s.1_99.TCP.web.default.c1", LBC_OWNER_OURS, LBC_OWNER_OURS },
        { "k8s.http.TCP.web.default.c1", LBC_OWNER_OURS, LBC_OWNER_NONE },
        { "k8s.1_.TCP.web.default.c1", LBC_OWNER_OURS, LBC_OWNER_NONE },
        { "k8s._9.TCP.web.default.c1", LBC_OWNER_OURS, LBC_OWNER_NONE },
        { "k8s.1_2_3.TCP.web.default.c1", LBC_OWNER_OURS, LBC_OWNER_NONE },
        { "k8s.80x.TCP.web.default.c1", LBC_OWNER_OURS, LBC_OWNER_NONE },
        { "k8s..TCP.web.default.c1", LBC_OWNER_OURS, LBC_OWNER_NONE },
        { "k8s.80.TCP.web.default.c2", LBC_OWNER_OTHER, LBC_OWNER_OTHER },
        { "k8s.80.TCP.web.other.c1", LBC_OWNER_OTHER, LBC_OWNER_OTHER },
        { "k8s.80.TCP.we.default.c1", LBC_OWNER_OTHER, LBC_OWNER_OTHER },
        { "k8s.80.TCP.web.default", LBC_OWNER_NONE, LBC_OWNER_NONE },
        { "k8s.80.TCP.web.default.c1.x", LBC_OWNER_NONE, LBC_OWNER_NONE },
        { "K8s.80.TCP.web.default.c1", LBC_OWNER_NONE, LBC_OWNER_NONE },
        { "k8s/80/web/default/c1", LBC_OWNER_NONE, LBC_OWNER_NONE },
        { "", LBC_OWNER_NONE, LBC_OWNER_NONE },
        { NULL, LBC_OWNER_NONE, LBC_OWNER_NONE },
    };
    const struct ccm_object *service = named("web", "default");

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        const bool key = cases[i].as_group != LBC_OWNER_NONE;

        if (owner_of(cases[i].text, false, service, "c1") != cases[i].as_group ||
            owner_of(cases[i].text, true, service, "c1") != cases[i].as_listener ||
            nlb_name_is_key(cases[i].text) != key) {
            fail_msg("%s", cases[i].text);
        }
    }
}

/* A name that the cloud would refuse: short, recognised, and no other Service's. */
static void test_short(void **state)
{
    static const struct {
        const char *name;
        const char *space;
        const char *cluster;
        size_t len; /* 0 = at most */
    } cases[] = {
        { LONG, LONG, CLUSTER, NLB_NAME_MAX },
        { LONG, "ns", CLUSTER, 0 },
        { "web", LONG, CLUSTER, 0 },
        { LONG, "a-namespace-of-thirty-letters", CLUSTER, NLB_NAME_MAX },
        { "web", "default", LONG LONG, 0 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        const struct ccm_object *service = named(cases[i].name, cases[i].space);
        CCM_CLEANUP(ccm_freep)
        char *got = nlb_name_format("65535", LBC_TCPSSL, service, cases[i].cluster, NLB_NAME_MAX);

        assert_non_null(got);
        if (strlen(got) > NLB_NAME_MAX || (cases[i].len != 0 && strlen(got) != cases[i].len)) {
            fail_msg("case %zu: %zu bytes: %s", i, strlen(got), got);
        }
        assert_true(nlb_name_is_key(got));
        if (owner_of(got, true, service, cases[i].cluster) != LBC_OWNER_OURS) {
            fail_msg("case %zu is not recognised: %s", i, got);
        }
        if (strlen(got) == NLB_NAME_MAX) {
            assert_int_equal(owner_of(got, true, service, "c1"), LBC_OWNER_OTHER);
            assert_int_equal(owner_of(got, true, named(cases[i].name, "x"), cases[i].cluster),
                             LBC_OWNER_OTHER);
        }
    }
}

/* Names that differ only where they are cut are different groups. */
static void test_short_differ(void **state)
{
    CCM_CLEANUP(ccm_freep)
    char *a = nlb_name_format("80", LBC_TCP, named(LONG, LONG), CLUSTER "1", NLB_NAME_MAX);
    CCM_CLEANUP(ccm_freep)
    char *b = nlb_name_format("80", LBC_TCP, named(LONG, LONG), CLUSTER "2", NLB_NAME_MAX);
    CCM_CLEANUP(ccm_freep)
    char *whole = nlb_name_format("80", LBC_TCP, named(LONG, LONG), CLUSTER, NLB_TEXT_MAX);

    (void)state;
    assert_string_not_equal(a, b);
    assert_string_equal(whole, "k8s.80.TCP." LONG "." LONG "." CLUSTER);
}

/* Groups in the cloud have this name. */
static void test_short_stays(void **state)
{
    CCM_CLEANUP(ccm_freep)
    char *got = nlb_name_format("80", LBC_TCP, named(LONG, LONG), CLUSTER, NLB_NAME_MAX);

    (void)state;
    assert_string_equal(got, "k8s.80.TCP.a234567890-234567890-234567890-234567890-2."
                             "a234567890-234567890-234567890-234567890-."
                             "5ccdf44ffa9c4738e3c4e167cba586c5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_format, obj_end),
        cmocka_unit_test_teardown(test_guard, obj_end),
        cmocka_unit_test_teardown(test_parse, obj_end),
        cmocka_unit_test_teardown(test_short, obj_end),
        cmocka_unit_test_teardown(test_short_differ, obj_end),
        cmocka_unit_test_teardown(test_short_stays, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
