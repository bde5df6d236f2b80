/* Where parameters go: query string or form body, as the cloud has it per action. */
#include "alilb/tests/sim_cloud.h"
#include "nlb/api.h"
#include "util/cleanup.h"

#include "lbc/tests/check.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

#define URL "https://nlb-vpc.cn-hangzhou.aliyuncs.com/"

static int ignore(void *arg, const cJSON *item, struct ccm_error *err)
{
    (void)arg;
    (void)item;
    (void)err;
    return 0;
}

/* What was sent last, without the token. */
static void expect_sent(const struct sim *sim, const char *url, const char *body)
{
    const size_t count = fake_host_request_count(sim->setup.fake);
    const struct fake_request *sent = fake_host_request(sim->setup.fake, count - 1);

    assert_string_equal(sent->url, url);
    assert_string_equal(sent->body, body);
}

static void test_lists(void **state)
{
    struct sim sim;
    struct ccm_error err = CCM_ERROR_INIT;
    struct alilb_call *call = &sim.call;
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    (void)state;
    sim_begin(&sim);
    sim_put_nlb(&sim);
    sim_put_nlb_port(&sim, "TCPSSL", 443);
    assert_int_equal(alilb_list(call, &nlb_api_lbs, ALILB_TEXTS("k", "a b"), ignore, NULL, &err),
                     0);
    expect_sent(&sim, URL "?MaxResults=100&Tag.1.Key=k&Tag.1.Value=a%20b", "");
    assert_int_equal(
        alilb_list(call, &nlb_api_lbs, ALILB_TEXTS(NULL, NULL, "a5"), ignore, NULL, &err), 0);
    expect_sent(&sim, URL "?LoadBalancerNames.1=a5&MaxResults=100", "");
    assert_int_equal(alilb_send(call, &nlb_api_lb, ALILB_TEXTS("nlb-1"), &json, &err), 0);
    expect_sent(&sim, URL "?LoadBalancerId=nlb-1", "");
    assert_int_equal(alilb_list(call, &nlb_api_listeners, ALILB_TEXTS("nlb-1"), ignore, NULL, &err),
                     0);
    expect_sent(&sim, URL "?LoadBalancerIds.1=nlb-1&MaxResults=100", "");
    assert_int_equal(
        alilb_list(call, &nlb_api_certs, ALILB_TEXTS("lsn-443@443"), ignore, NULL, &err), 0);
    expect_sent(&sim, URL, "ListenerId=lsn-443%40443&MaxResults=50");
    assert_int_equal(alilb_list(call, &nlb_api_groups, ALILB_TEXTS("k", "a5"), ignore, NULL, &err),
                     0);
    expect_sent(&sim, URL "?Tag.1.Key=k&Tag.1.Value=a5", "MaxResults=100");
    assert_int_equal(alilb_list(call, &nlb_api_servers, ALILB_TEXTS("sgp-443"), ignore, NULL, &err),
                     0);
    expect_sent(&sim, URL, "MaxResults=100&ServerGroupId=sgp-443");
    sim_end(&sim);
}

/* Twenty ids are taken at a time. */
static void test_many_groups(void **state)
{
    struct sim sim;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts ids = { 0 };
    const struct fake_request *sent = NULL;

    (void)state;
    sim_begin(&sim);
    for (unsigned i = 0; i < 45; i++) {
        char id[16];

        ccm_text_printf(id, sizeof(id), "sgp-%02u", i);
        assert_int_equal(lbc_texts_put(&ids, id), 0);
    }
    assert_int_equal(
        alilb_list(&sim.call, &nlb_api_groups, ALILB_LIST(&ids, NULL), ignore, NULL, &err), 0);
    assert_string_equal(sim_log(&sim), "ListServerGroups ListServerGroups ListServerGroups ");
    sent = fake_host_request(sim.setup.fake, 0);
    assert_string_equal(sent->url, URL);
    assert_string_equal(fake_request_param(sent, "ServerGroupIds.20"), "sgp-19");
    assert_null(fake_request_param(sent, "ServerGroupIds.21"));
    sent = fake_host_request(sim.setup.fake, 2);
    assert_string_equal(fake_request_param(sent, "ServerGroupIds.5"), "sgp-44");
    assert_null(fake_request_param(sent, "ServerGroupIds.6"));
    sim_end(&sim);
}

/* Tags of a change are part of the body. */
static void test_writes(void **state)
{
    struct sim sim;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(lbc_sent_fini) struct lbc_sent sent = { .made_id = NULL };
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    const struct alilb_tagging tagging = { .type = "loadbalancer", .id = "nlb-1", .tags = &tags };

    (void)state;
    sim_begin(&sim);
    sim_put_nlb(&sim);
    assert_int_equal(lbc_tags_put(&tags, "k1", "v1"), 0);
    assert_int_equal(alilb_change_tags(&sim.call, ALI_NLB, &tagging, &sent, &err), 0);

    const struct fake_request *request = fake_host_request(sim.setup.fake, 0);

    assert_string_equal(request->url, URL);
    assert_non_null(strstr(request->body, "ResourceId.1=nlb-1&ResourceType=loadbalancer&"
                                          "Tag.1.Key=k1&Tag.1.Value=v1"));
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_many_groups),
        cmocka_unit_test(test_writes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
