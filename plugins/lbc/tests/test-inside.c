/* Which ipMode is written, and what is said about access from inside of the cluster. */
#include "check.h"
#include "objects.h"

#include "lbc/keys.h"
#include "lbc/rules/inside.h"
#include "util/cleanup.h"

#include <stdio.h>
#include <string.h>

static const struct lbc_protocols protocols = { .known = 1U << LBC_TCP | 1U << LBC_UDP |
                                                         1U << LBC_HTTP | 1U << LBC_HTTPS |
                                                         1U << LBC_TCPSSL };
static const struct lbc_lint_rules by_address = { .protocols = &protocols, .shows_address = true };
static const struct lbc_lint_rules by_name = { .protocols = &protocols };

/* NULL: nothing of the kind. */
struct given {
    const char *protocols; /* annotation protocol-port */
    const char *proxy;     /* annotation proxy-protocol */
    const char *hostname;
    const char *policy;
    const char *shown;  /* ipMode of the address in the status */
    const char *option; /* status_ip_mode */
};

static void annotate_service(struct ccm_service *service, const char *suffix, const char *value)
{
    char key[128];

    if (value != NULL) {
        (void)snprintf(key, sizeof(key), LBC_ANNO_PREFIX "%s", suffix);
        obj_annotate(&service->meta, key, value);
    }
}

static struct ccm_service *service_of(const struct given *given)
{
    struct ccm_service *service = obj_service();

    obj_port(service, "a", "TCP", 80, "8080", 30080);
    annotate_service(service, "protocol-port", given->protocols);
    annotate_service(service, "proxy-protocol", given->proxy);
    annotate_service(service, "hostname", given->hostname);
    service->external_traffic_policy = given->policy == NULL ? "Cluster" : given->policy;
    if (given->shown != NULL) {
        obj_ingress(service, "1.2.3.4", "");
        ((struct ccm_ingress *)(uintptr_t)service->ingress[0])->ip_mode = given->shown;
    }
    return service;
}

static void test_cases(void **state)
{
    static const struct {
        struct given given;
        const char *mode;
        const char *said; /* part of it; NULL: nothing */
    } cases[] = {
        { { .option = "auto" }, NULL, NULL },
        { { .option = "auto", .protocols = "http:80" }, "Proxy", NULL },
        { { .option = "auto", .protocols = "https:80", .shown = "VIP" }, "Proxy", NULL },
        { { .option = "auto", .proxy = "on", .shown = "Proxy" }, "Proxy", NULL },
        { { .option = "auto", .proxy = "off" }, NULL, NULL },
        /* an older server */
        { { .option = "auto", .protocols = "http:80", .shown = "" }, NULL, "X-Forwarded-For" },
        { { .option = "auto", .proxy = "on", .shown = "" }, NULL, "no proxy protocol header" },
        { { .option = "auto", .proxy = "on", .shown = "", .hostname = "a.b" }, NULL, NULL },
        /* it is over */
        { { .option = "auto", .shown = "Proxy" }, "VIP", NULL },
        { { .option = "auto", .shown = "VIP" }, NULL, NULL },
        /* Local alone is a hint */
        { { .option = "auto", .policy = "Local" }, NULL, "without a pod of the Service" },
        { { .option = "auto", .policy = "Local", .protocols = "http:80" }, "Proxy", NULL },
        { { .option = "Proxy", .policy = "Local" }, "Proxy", NULL },
        /* what somebody asks for */
        { { .option = "VIP", .protocols = "http:80" }, "VIP", "X-Forwarded-For" },
        { { .option = "off", .protocols = "http:80" }, NULL, "X-Forwarded-For" },
        { { .option = "", .protocols = "http:80" }, NULL, "X-Forwarded-For" },
        { { .option = NULL, .protocols = "http:80" }, NULL, "X-Forwarded-For" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        const struct ccm_service *service = service_of(&cases[i].given);
        const char *mode = lbc_inside_ip_mode(&by_address, service, cases[i].given.option);
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf none = { .max = 900 };

        if (cases[i].mode == NULL) {
            assert_null(mode);
        } else {
            assert_string_equal(mode, cases[i].mode);
        }
        lbc_inside_describe(&by_address, service, mode, &text);
        assert_true((text.len > 0) == (cases[i].said != NULL));
        assert_true(cases[i].said == NULL || strstr(ccm_buf_str(&text), cases[i].said) != NULL);
        lbc_inside_describe(&by_name, service, NULL, &none);
        assert_int_equal(none.len, 0);
    }
}

static void test_tls(void **state)
{
    static const struct {
        const char *protocol;
        const char *target;
        bool said;
    } cases[] = {
        { "https:80", "8080", false },  { "https:80", "443", true }, { "https:80", "https", true },
        { "http:80", "443", false },    { "tcp:80", "443", false },  { "tcpssl:80", "443", true },
        { "tcpssl:80", "1883", false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };

        obj_port(service, "a", "TCP", 80, cases[i].target, 30080);
        annotate_service(service, "protocol-port", cases[i].protocol);
        lbc_inside_find_tls(&by_address, service, &text);
        assert_true((text.len > 0) == cases[i].said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_cases, obj_end),
        cmocka_unit_test_teardown(test_tls, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
