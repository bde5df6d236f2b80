/* What goes over the wire: place and spelling of parameters, headers, both signatures. */
#include "alicloud/client.h"
#include "alicloud/sign.h"
#include "ccm/version.h"
#include "setup.h"
#include "util/cleanup.h"
#include "util/text.h"

#include "alicloud/params.h"
#include "check.h"

#include <string.h>

#define OK_BODY "{\"RequestId\":\"req-ok\",\"LoadBalancerId\":\"lb-1\"}"

static void send_call(const struct setup *setup, const struct ali_call *call)
{
    const struct ccm_request req = setup_request(setup, 5000);
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    fake_host_answer(setup->fake, call->action, 200, OK_BODY);
    assert_int_equal(ali_call(&(const struct ali_caller){ setup->ali, setup->host, &req }, call,
                              &json, NULL, &err),
                     0);
    assert_string_equal(ccm_json_text(json, "LoadBalancerId"), "lb-1");
}

static void send_plain(const struct setup *setup)
{
    const struct ali_call request = { .product = ALI_SLB,
                                      .action = "CreateLoadBalancer",
                                      .priority = ALI_PRIO_NEW,
                                      .repeat = ALI_ONCE };

    send_call(setup, &request);
}

static void test_request_v3(void **state)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    struct setup setup;

    (void)state;
    setup_begin(&setup, NULL);
    ali_param_add(&params, "Name", "a b+*~/&=%\xC3\xA9");
    ali_param_add(&params, "Empty", "");

    const struct ali_call request = {
        .product = ALI_SLB, .action = "CreateLoadBalancer", .params = &params, .repeat = ALI_ONCE
    };

    send_call(&setup, &request);

    const struct fake_request *sent = fake_host_request(setup.fake, 0);

    assert_string_equal(sent->method, "POST");
    assert_string_equal(sent->url, "https://slb-vpc.cn-hangzhou.aliyuncs.com/");
    assert_string_equal(sent->body,
                        "Empty=&Name=a%20b%2B%2A~%2F%26%3D%25%C3%A9&RegionId=cn-hangzhou");
    assert_string_equal(fake_request_param(sent, "Name"), "a b+*~/&=%\xC3\xA9");
    assert_string_equal(fake_request_header(sent, "user-agent"),
                        "ccmd/" CCM_VERSION " ClusterId/c1");
    assert_string_equal(fake_request_header(sent, "x-acs-version"), "2014-05-15");
    assert_string_equal(fake_request_header(sent, "x-acs-date"), "2026-01-02T03:04:05Z");
    assert_string_equal(fake_request_header(sent, "x-acs-security-token"), TEST_TOKEN);
    assert_string_equal(fake_request_header(sent, "x-acs-accesskey-id"), TEST_KEY_ID);
    assert_int_equal(sent->timeout_ms, 5000);
    assert_true(sent->max_body_bytes > 0);
    assert_string_equal(sent->ca_file, "");
    assert_non_null(strstr(fake_host_log_text(setup.fake),
                           "debug : slb CreateLoadBalancer: ok, RequestId req-ok, 0 ms"));
    setup_end(&setup);
}

/* The lines of a sent request that its signature covers. */
static size_t sent_headers(const struct fake_request *sent, const char *host,
                           struct ali_sign_header headers[12])
{
    size_t count = 0;

    headers[count++] = (struct ali_sign_header){ "host", host };
    for (size_t i = 0; i < sent->header_count; i++) {
        const char *name = sent->headers[i].name;

        if (ccm_text_starts(name, "x-acs-") || strcmp(name, "content-type") == 0) {
            headers[count++] = (struct ali_sign_header){ name, sent->headers[i].value };
        }
    }
    return count;
}

/* The authorization of a sent request is the one that its own lines give. */
static void test_sent_signature_fits(void **state)
{
    struct setup setup;
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret secret = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf want = { 0 };
    struct ali_sign_header headers[12];

    (void)state;
    setup_begin(&setup, NULL);
    send_plain(&setup);

    const struct fake_request *sent = fake_host_request(setup.fake, 0);
    const size_t count = sent_headers(sent, "slb-vpc.cn-hangzhou.aliyuncs.com", headers);

    assert_int_equal(ccm_secret_set(&secret, TEST_SECRET), 0);

    const struct ali_sign_v3 in = {
        .query = "",
        .body = sent->body,
        .body_len = strlen(sent->body),
        .headers = headers,
        .header_count = count,
        .key_id = TEST_KEY_ID,
        .secret = &secret,
    };

    assert_int_equal(ali_sign_v3(&in, &want, NULL), 0);
    assert_string_equal(fake_request_header(sent, "authorization"), ccm_buf_str(&want));
    setup_end(&setup);
}

/* Query and body at once, as some actions have it. */
static void send_split(const struct setup *setup)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params query = { 0 };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    const struct ali_call request = { .product = ALI_NLB,
                                      .action = "ListServerGroups",
                                      .params = &params,
                                      .query = &query,
                                      .repeat = ALI_READ };

    ali_param_add(&query, "Tag.2.Key", "z");
    ali_param_tag(&query, 1, "k", "a b+*~/&=%\xC3\xA9");
    ali_param_add(&params, "NextToken", "");
    ali_param_i64(&params, "MaxResults", 100);
    send_call(setup, &request);
}

#define SPLIT_QUERY "?Tag.1.Key=k&Tag.1.Value=a%20b%2B%2A~%2F%26%3D%25%C3%A9&Tag.2.Key=z"

static void test_query_v3(void **state)
{
    struct setup setup;
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret secret = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf want = { 0 };
    struct ali_sign_header headers[12];

    (void)state;
    setup_begin(&setup, NULL);
    send_split(&setup);

    const struct fake_request *sent = fake_host_request(setup.fake, 0);
    const size_t count = sent_headers(sent, "nlb-vpc.cn-hangzhou.aliyuncs.com", headers);

    assert_string_equal(sent->url, "https://nlb-vpc.cn-hangzhou.aliyuncs.com/" SPLIT_QUERY);
    assert_string_equal(sent->body, "MaxResults=100&NextToken=");
    assert_int_equal(ccm_secret_set(&secret, TEST_SECRET), 0);

    const struct ali_sign_v3 in = {
        .query = &SPLIT_QUERY[1],
        .body = sent->body,
        .body_len = strlen(sent->body),
        .headers = headers,
        .header_count = count,
        .key_id = TEST_KEY_ID,
        .secret = &secret,
    };

    assert_int_equal(ali_sign_v3(&in, &want, NULL), 0);
    assert_string_equal(fake_request_header(sent, "authorization"), ccm_buf_str(&want));
    setup_end(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_v3),
        cmocka_unit_test(test_sent_signature_fits),
        cmocka_unit_test(test_query_v3),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
