/* Answers of the cloud: the first byte is the status, the rest the body. What it means, then what
 * the readers of the plugins make of it. */
#include "fuzz.h"

#include "alicloud/ali.h"
#include "clb/read.h"
#include "nlb/read.h"
#include "route/read.h"
#include "util/cleanup.h"

#define DEPTH_MAX 8

static void read_clb(const cJSON *json)
{
    struct clb_lb lb = { 0 };
    CCM_CLEANUP(clb_listener_fini) struct clb_listener listener = { 0 };

    FUZZ_REQUIRE(clb_read_parse_lb(json, &lb.lbc) <= 0);
    FUZZ_REQUIRE(clb_read_parse_listener(json, &listener.lbc) <= 0);
    clb_lb_fini(&lb);
}

static void read_nlb(const cJSON *json)
{
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { 0 };
    CCM_CLEANUP(nlb_listener_fini) struct nlb_listener listener = { 0 };
    CCM_CLEANUP(nlb_group_fini) struct nlb_group group = { 0 };
    CCM_CLEANUP(nlb_security_group_fini) struct nlb_security_group guard = { 0 };
    struct nlb_rule *rule = nlb_security_group_new_rule(&guard);

    FUZZ_REQUIRE(nlb_read_parse_lb(json, &lb) != 0 || lb.lbc.id != NULL);
    if (nlb_read_parse_listener(json, &listener.lbc) == 0) {
        FUZZ_REQUIRE(listener.lbc.id != NULL && listener.lbc.port <= listener.lbc.last_port);
    }
    FUZZ_REQUIRE(nlb_read_parse_group(json, &group) <= 0);
    FUZZ_REQUIRE(alilb_parse_backend(json, &group.lbc) <= 0);
    FUZZ_REQUIRE(rule == NULL || nlb_read_parse_rule(json, rule) <= 0);
}

static void read_routes(const cJSON *json)
{
    CCM_CLEANUP(route_table_fini) struct route_table table = { 0 };
    const char *token = NULL;

    if (route_read_page(&table, json, &token) == 0) {
        FUZZ_REQUIRE(token != NULL);
        route_table_sort(&table);
    }
}

/* Whatever is an object may be the one that a reader expects. */
static void read_objects(const cJSON *json, size_t depth)
{
    const cJSON *item = NULL;

    if (cJSON_IsObject(json)) {
        read_clb(json);
        read_nlb(json);
        read_routes(json);
    }
    if (depth < DEPTH_MAX) {
        cJSON_ArrayForEach(item, json)
        {
            read_objects(item, depth + 1);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const headers[] = { "date: Fri, 20 Nov 2026 16:36:07 GMT", NULL };
    static const uint64_t statuses[] = { 200, 400, 403, 404, 429, 500, 503, 204 };
    static const struct ali_call call = { .product = ALI_SLB, .action = "DescribeX" };
    static const struct ali_try attempt = { .call = &call, .string_hash = "00" };
    CCM_CLEANUP(ccm_freep) char *text = size == 0 ? NULL : fuzz_text(data + 1, size - 1);
    struct ali_answer answer = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;

    if (text == NULL) {
        return 0;
    }

    const struct ccm_http_response response = {
        .struct_size = sizeof(response),
        .status = statuses[data[0] % 8U],
        .body = text,
        .body_len = size - 1,
        .headers = headers,
    };

    ali_answer_read(&attempt, &response, 1795192567000, &answer, &err);
    if (answer.row == NULL) {
        read_objects(answer.json, 0);
        cJSON_Delete(answer.json);
    } else {
        FUZZ_REQUIRE(err.message[0] != '\0');
    }
    return 0;
}
