/* What calls leave behind in the metrics of the host. */
#include "check.h"
#include "setup.h"

#include <errno.h>

#define SLOW_BODY "{\"RequestId\":\"r\",\"Code\":\"Throttling.User\",\"Message\":\"slow\"}"
#define OK_BODY   "{\"RequestId\":\"r\",\"LoadBalancerId\":\"lb-1\"}"
#define CREATE    "product=\"slb\",request=\"CreateLoadBalancer\""
#define API       "cloudprovider_alicloud_"

static int call(struct setup *setup, int64_t deadline_ms)
{
    const struct ali_call call = {
        .product = ALI_SLB,
        .action = "CreateLoadBalancer",
        .priority = ALI_PRIO_NEW,
        .repeat = ALI_IDEMPOTENT,
    };
    const struct ccm_request req = setup_request(setup, deadline_ms);
    struct ccm_error err = CCM_ERROR_INIT;

    return ali_call(&(const struct ali_caller){ setup->ali, setup->host, &req }, &call, NULL, NULL,
                    &err);
}

static void expect(struct setup *setup, const char *line)
{
    const char *text = fake_host_metrics(setup->fake);

    if (strstr(text, line) == NULL) {
        print_error("%s\nis not in\n%s", line, text);
        fail();
    }
}

static void expect_nothing(struct setup *setup, const char *name)
{
    assert_null(strstr(fake_host_metrics(setup->fake), name));
}

static void test_tries(void **state)
{
    struct setup setup;

    (void)state;
    setup_begin(&setup, NULL);
    fake_host_answer(setup.fake, "CreateLoadBalancer", 400, SLOW_BODY);
    fake_host_answer(setup.fake, "CreateLoadBalancer", 502, "<html>");
    fake_host_reply(
        setup.fake,
        &(struct fake_reply){ .match = "CreateLoadBalancer", .body = OK_BODY, .takes_ms = 70 });
    assert_int_equal(call(&setup, 60000), 0);
    expect(&setup, API "api_request_duration_seconds_count{" CREATE "} 3\n");
    expect(&setup, API "api_request_duration_seconds_sum{" CREATE "} 0.07\n");
    expect(&setup, API "api_request_duration_seconds_bucket{" CREATE ",le=\"0.1\"} 3\n");
    expect(&setup, API "api_request_duration_seconds_bucket{" CREATE ",le=\"0.05\"} 2\n");
    expect(&setup, API "api_request_errors{" CREATE ",code=\"Throttling.User\"} 1\n");
    expect(&setup, API "api_request_errors{" CREATE ",code=\"none\"} 1\n");
    expect(&setup, API "api_request_throttled_total{" CREATE "} 1\n");
    expect(&setup, API "governor_wait_seconds_count{product=\"slb\",priority=\"new\"} 3\n");
    setup_end(&setup);
}

/* What never left is no request. */
static void test_not_sent(void **state)
{
    struct setup setup;

    (void)state;
    setup_begin(&setup, NULL);
    fake_host_reply(setup.fake, &(struct fake_reply){ .match = "CreateLoadBalancer",
                                                      .times = FAKE_ALWAYS,
                                                      .result = -ECONNREFUSED,
                                                      .phase = CCM_HTTP_NOT_SENT });
    assert_true(call(&setup, 60000) < 0);
    expect_nothing(&setup, API "api_request");
    setup_end(&setup);
}

static void test_held_back(void **state)
{
    struct setup setup;

    (void)state;
    setup_begin(&setup, NULL);
    fake_host_always(setup.fake, "CreateLoadBalancer", 200, OK_BODY);
    for (int i = 0; i < 86; i++) { /* of one namespace, all at once */
        assert_int_equal(call(&setup, 60000), 0);
    }
    expect(&setup, API "governor_wait_seconds_sum{product=\"slb\",priority=\"new\"} 0\n");
    expect_nothing(&setup, "governor_refused");
    assert_true(call(&setup, 100) < 0);
    expect(&setup, API "governor_refused_total{product=\"slb\",priority=\"new\"} 1\n");
    assert_int_equal(call(&setup, 90000), 0);
    expect(&setup, API "governor_wait_seconds_sum{product=\"slb\",priority=\"new\"} 61\n");
    expect_nothing(&setup, "governor_share");
    setup_end(&setup);
}

static void test_credential(void **state)
{
    struct setup setup;

    (void)state;
    setup_begin(&setup, NULL);
    fake_host_answer(setup.fake, "CreateLoadBalancer", 200, OK_BODY);
    assert_int_equal(call(&setup, 60000), 0);
    expect(&setup, API "credential_expiry_timestamp_seconds 0\n");
    expect(&setup, API "credential_refresh_timestamp_seconds 1767323045\n");
    expect_nothing(&setup, "refresh_failures");
    setup_end(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tries),
        cmocka_unit_test(test_not_sent),
        cmocka_unit_test(test_held_back),
        cmocka_unit_test(test_credential),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
