/* Answers of the cloud: the first byte is the status, the rest the body. What it means, then what
 * the readers of load balancers make of it. */
#include "fuzz.h"

#include "alicloud/ali.h"
#include "clb/read.h"
#include "util/cleanup.h"

static void read_items(const cJSON *json)
{
    const cJSON *item = NULL;

    cJSON_ArrayForEach(item, json)
    {
        struct clb_lb lb = { 0 };

        FUZZ_REQUIRE(clb_read_take_lb(item, &lb) <= 0);
        clb_lb_fini(&lb);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const headers[] = { "date: Fri, 20 Nov 2026 16:36:07 GMT", NULL };
    static const uint64_t statuses[] = { 200, 400, 403, 404, 429, 500, 503, 204 };
    static const struct ccm_ali_call call = { .product = CCM_ALI_SLB, .action = "DescribeX" };
    static const struct ccm_ali_try attempt = { .string_hash = "00" };
    CCM_CLEANUP(ccm_freep) char *text = size == 0 ? NULL : fuzz_text(data + 1, size - 1);
    struct ccm_ali_answer answer = { 0 };
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

    ccm_ali_answer_read(&call, &response, &attempt, 1795192567000, &answer, &err);
    if (answer.row == NULL) {
        read_items(answer.json);
        cJSON_Delete(answer.json);
    } else {
        FUZZ_REQUIRE(err.message[0] != '\0');
    }
    return 0;
}
