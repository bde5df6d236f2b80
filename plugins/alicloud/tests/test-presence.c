/* Which instances the cloud has no more: what is asked, what is believed, what is remembered. */
#include "alicloud/error.h"
#include "alicloud/presence.h"

#include "setup.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include "check.h"

/* Has every instance of the question whose name does not begin with "gone". */
struct cloud {
    struct ccm_buf body;
    struct ccm_buf asked; /* of the last question */
    bool hides;           /* as for somebody without the right to see any */
    int64_t more;         /* TotalCount tells so many more */
};

static void add_instances(const struct cloud *cloud, const char *list, struct ccm_jsonw *w,
                          int64_t *ret_count)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *ids = NULL;

    assert_int_equal(ccm_json_parse(list, strlen(list), &ids), 0);
    for (const cJSON *id = ccm_json_elements(ids); id != NULL; id = id->next) {
        if (!cloud->hides && !ccm_text_starts(cJSON_GetStringValue(id), "gone")) {
            ccm_jsonw_open(w, NULL, '{');
            ccm_jsonw_str(w, "InstanceId", cJSON_GetStringValue(id));
            ccm_jsonw_close(w, '}');
            (*ret_count)++;
        }
    }
    assert_in_range(cJSON_GetArraySize(ids), 1, 100);
}

static bool answer(void *arg, const struct fake_request *request, struct fake_reply *ret)
{
    struct cloud *cloud = arg;
    const char *list = fake_request_param(request, "InstanceIds");
    int64_t count = 0;

    if (strcmp(request->action, "DescribeInstances") != 0) {
        return false;
    }
    assert_string_equal(fake_request_param(request, "RegionId"), "cn-hangzhou");
    assert_string_equal(fake_request_param(request, "MaxResults"), "100");
    ccm_buf_reset(&cloud->asked);
    ccm_buf_adds(&cloud->asked, list);
    ccm_buf_reset(&cloud->body);

    struct ccm_jsonw w = { .buf = &cloud->body };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_open(&w, "Instances", '{');
    ccm_jsonw_open(&w, "Instance", '[');
    add_instances(cloud, list, &w, &count);
    ccm_jsonw_close(&w, ']');
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_i64(&w, "TotalCount", count + cloud->more);
    ccm_jsonw_close(&w, '}');
    ret->body = ccm_buf_str(&cloud->body);
    return true;
}

static void cloud_begin(struct setup *setup, struct cloud *cloud)
{
    memset(cloud, 0, sizeof(*cloud));
    setup_begin(setup, NULL);
    fake_host_on_http(setup->fake, answer, cloud);
}

static void cloud_end(struct setup *setup, struct cloud *cloud)
{
    ccm_buf_fini(&cloud->body);
    ccm_buf_fini(&cloud->asked);
    setup_end(setup);
}

static int look_for(const struct setup *setup, const struct ali_inquiry *about, bool *ret_gone,
                    struct ccm_error *err)
{
    const struct ccm_request req = setup_request(setup, 600000);

    ccm_error_clear(err);
    return ali_find_gone_instances(&(const struct ali_caller){ setup->ali, setup->host, &req },
                                   about, ret_gone, err);
}

static int look(const struct setup *setup, const char *witness, const char *const *ids,
                size_t count, bool *ret_gone)
{
    struct ccm_error err = CCM_ERROR_INIT;

    return look_for(setup, &(const struct ali_inquiry){ ids, count, witness, NULL }, ret_gone,
                    &err);
}

static size_t calls(const struct setup *setup)
{
    return fake_host_action_count(setup->fake, "DescribeInstances");
}

static void test_answers(void **state)
{
    static const char *const ids[] = { "i-1", "gone-2", "i-3" };
    static const char *const more[] = { "gone-2", "gone-4" };
    struct setup setup;
    struct cloud cloud;
    bool gone[3];

    (void)state;
    cloud_begin(&setup, &cloud);
    assert_int_equal(look(&setup, "i-w", ids, 3, gone), 0);
    assert_true(!gone[0] && gone[1] && !gone[2]);
    assert_string_equal(ccm_buf_str(&cloud.asked), "[\"i-w\",\"i-1\",\"gone-2\",\"i-3\"]");
    /* What was heard is not asked again, for half a minute. */
    assert_int_equal(look(&setup, "i-w", ids, 3, gone), 0);
    assert_true(gone[1]);
    assert_int_equal(calls(&setup), 1);
    assert_int_equal(look(&setup, "i-w", more, 2, gone), 0);
    assert_true(gone[0] && gone[1]);
    assert_string_equal(ccm_buf_str(&cloud.asked), "[\"i-w\",\"gone-4\"]");
    fake_host_advance(setup.fake, 30000);
    assert_int_equal(look(&setup, "i-w", ids, 3, gone), 0);
    assert_int_equal(calls(&setup), 3);
    cloud_end(&setup, &cloud);
}

/* Nothing in the answer, not even what is there for certain: it says nothing. */
static void test_hidden(void **state)
{
    static const char *const ids[] = { "gone-1", "gone-2" };
    static const char *const some[] = { "gone-1", "i-2" };
    struct setup setup;
    struct cloud cloud;
    bool gone[2];

    (void)state;
    cloud_begin(&setup, &cloud);
    cloud.hides = true;
    assert_int_equal(look(&setup, "i-w", ids, 2, gone), 0);
    assert_true(!gone[0] && !gone[1]);
    /* Without a witness another one of the answer will do. */
    cloud.hides = false;
    fake_host_advance(setup.fake, 30000);
    assert_int_equal(look(&setup, "", ids, 2, gone), 0);
    assert_true(!gone[0] && !gone[1]);
    fake_host_advance(setup.fake, 30000);
    assert_int_equal(look(&setup, "", some, 2, gone), 0);
    assert_true(gone[0] && !gone[1]);
    cloud_end(&setup, &cloud);
}

static void test_many(void **state)
{
    char names[250][16];
    const char *ids[250];
    bool gone[250];
    struct setup setup;
    struct cloud cloud;

    (void)state;
    cloud_begin(&setup, &cloud);
    for (size_t i = 0; i < 250; i++) {
        ccm_text_printf(names[i], sizeof(names[i]), "%s-%zu", i % 2 == 0 ? "i" : "gone", i);
        ids[i] = names[i];
    }
    assert_int_equal(look(&setup, "i-w", ids, 250, gone), 0);
    for (size_t i = 0; i < 250; i++) {
        assert_int_equal(gone[i], i % 2);
    }
    assert_int_equal(calls(&setup), 3);
    cloud_end(&setup, &cloud);
}

/* A question that fails is no answer, and is not repeated at once for every Service. */
static void test_failures(void **state)
{
    static const char *const ids[] = { "gone-1" };
    struct setup setup;
    struct cloud cloud;
    bool gone[1];

    (void)state;
    cloud_begin(&setup, &cloud);
    fake_host_answer(setup.fake, "DescribeInstances", 403,
                     "{\"Code\":\"Forbidden.RAM\",\"Message\":\"no\",\"RequestId\":\"r\"}");
    assert_true(look(&setup, "i-w", ids, 1, gone) < 0);
    assert_false(gone[0]);
    assert_int_equal(look(&setup, "i-w", ids, 1, gone), -EBUSY);
    assert_int_equal(calls(&setup), 1);
    fake_host_advance(setup.fake, 5000);
    cloud.more = 1;
    assert_true(look(&setup, "i-w", ids, 1, gone) < 0);
    assert_false(gone[0]);
    cloud.more = 0;
    fake_host_advance(setup.fake, 5000);
    fake_host_answer(setup.fake, "DescribeInstances", 200, "{\"RequestId\":\"r\"}");
    assert_true(look(&setup, "i-w", ids, 1, gone) < 0);
    fake_host_advance(setup.fake, 5000);
    assert_int_equal(look(&setup, "i-w", ids, 1, gone), 0);
    assert_true(gone[0]);
    cloud_end(&setup, &cloud);
}

/* A question that has to wait for the quota is put off, which is no failure; others may ask. */
static void test_put_off(void **state)
{
    static const char *const ids[] = { "gone-a", "gone-b" };
    static const struct ali_inquiry abouts[] = { { &ids[0], 1, "i-w", "default/a" },
                                                 { &ids[1], 1, "i-w", "default/b" } };
    struct ccm_error err = CCM_ERROR_INIT;
    struct setup setup;
    struct cloud cloud;
    bool gone = false;
    size_t quota = 0;
    int r = 0;

    (void)state;
    cloud_begin(&setup, &cloud);
    while (r == 0) {
        char id[24];
        const char *one = id;

        ccm_text_printf(id, sizeof(id), "gone-%zu", quota);
        r = look_for(&setup, &(const struct ali_inquiry){ &one, 1, "i-w", "default/crowd" }, &gone,
                     &err);
        quota += r == 0 ? 1 : 0;
        assert_int_equal(fake_host_waited_ms(setup.fake), 0);
    }
    assert_true(ali_error_is_put_off(&err));
    for (size_t i = 0; i < CCM_ARRAY_LEN(abouts); i++) {
        assert_int_equal(look_for(&setup, &abouts[i], &gone, &err), -EAGAIN);
        assert_true(ali_error_is_put_off(&err) && !gone);
    }
    assert_int_equal(calls(&setup), quota);
    fake_host_advance(setup.fake, (int64_t)err.retry_after_ms);
    for (size_t i = 0; i < CCM_ARRAY_LEN(abouts); i++) {
        assert_int_equal(look_for(&setup, &abouts[i], &gone, &err), 0);
        assert_true(gone);
    }
    assert_int_equal(fake_host_waited_ms(setup.fake), 0);
    cloud_end(&setup, &cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers), cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_many),    cmocka_unit_test(test_failures),
        cmocka_unit_test(test_put_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
