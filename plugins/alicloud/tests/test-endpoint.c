/* Host names by region, network, option and environment. */
#include "alicloud/endpoint.h"

#include "alicloud/instance.h"
#include "support/fake_host.h"

#include "util/text.h"

#include "check.h"

#include <stdlib.h>

static const char *const variables[] = { "SLB_ENDPOINT", "NLB_ENDPOINT", "VPC_ENDPOINT",
                                         "ECS_ENDPOINT", "STS_ENDPOINT", "ALICLOUD_CLIENT_SCHEME" };

static int clear_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(variables); i++) {
        assert_int_equal(unsetenv(variables[i]), 0);
    }
    return 0;
}

static const struct {
    enum ali_product product;
    const char *region;
    const char *network;
    const char *override;
    const char *host; /* NULL = refused */
    bool plain_http;
} cases[] = {
    { ALI_SLB, "cn-hangzhou", "vpc", "", "slb-vpc.cn-hangzhou.aliyuncs.com", false },
    { ALI_NLB, "cn-hangzhou", "vpc", "", "nlb-vpc.cn-hangzhou.aliyuncs.com", false },
    { ALI_ECS, "cn-hangzhou", "vpc", "", "ecs-vpc.cn-hangzhou.aliyuncs.com", false },
    { ALI_VPC, "cn-hangzhou", "vpc", "", "vpc-vpc.cn-hangzhou.aliyuncs.com", false },
    { ALI_STS, "cn-hangzhou", "vpc", "", "sts-vpc.cn-hangzhou.aliyuncs.com", false },
    { ALI_EFLO, "cn-beijing", "vpc", "", "eflo-controller-vpc.cn-beijing.aliyuncs.com", false },
    { ALI_CAS, "cn-hangzhou", "vpc", "", "cas.aliyuncs.com", false },
    { ALI_CAS, "eu-central-1", "public", "", "cas.aliyuncs.com", false },
    { ALI_CAS, "cn-hangzhou", "vpc", "http://127.0.0.1:18080", "127.0.0.1:18080", true },
    { ALI_SLB, "cn-hangzhou", "public", "", "slb.aliyuncs.com", false },
    { ALI_NLB, "cn-hangzhou", "public", "", "nlb.cn-hangzhou.aliyuncs.com", false },
    { ALI_ECS, "cn-hangzhou", "public", "", "ecs-cn-hangzhou.aliyuncs.com", false },
    { ALI_VPC, "cn-hangzhou", "public", "", "vpc.aliyuncs.com", false },
    { ALI_SLB, "us-east-1", "public", "", "slb.aliyuncs.com", false },
    { ALI_SLB, "eu-central-1", "public", "", "slb.eu-central-1.aliyuncs.com", false },
    { ALI_ECS, "cn-beijing-gov-1", "public", "", "ecs.aliyuncs.com", false },
    { ALI_ECS, "cn-beijing", "public", "", "ecs.cn-beijing.aliyuncs.com", false },
    { ALI_VPC, "cn-beijing", "public", "", "vpc.cn-beijing.aliyuncs.com", false },
    { ALI_STS, "ap-south-1", "public", "", "sts.aliyuncs.com", false },
    /* Part of a mapped name is no mapped name. */
    { ALI_SLB, "cn-hang", "public", "", "slb.cn-hang.aliyuncs.com", false },
    { ALI_SLB, "", "vpc", "", NULL, false },
    { ALI_SLB, "evil.example/", "vpc", "", NULL, false },
    { ALI_SLB, "a b", "public", "", NULL, false },
    /* Options. */
    { ALI_SLB, "x", "vpc", "http://127.0.0.1:18080", "127.0.0.1:18080", true },
    { ALI_SLB, "x", "vpc", "http://127.0.0.1:18080/", "127.0.0.1:18080", true },
    { ALI_SLB, "", "vpc", "127.0.0.1:18080", "127.0.0.1:18080", false },
    { ALI_SLB, "x", "vpc", "https://slb.example:443", "slb.example", false },
    { ALI_SLB, "x", "vpc", "http://slb.example:80", "slb.example", true },
    { ALI_SLB, "x", "vpc", "http://slb.example:443", "slb.example:443", true },
    { ALI_SLB, "x", "vpc", "http://[::1]:9000", "[::1]:9000", true },
    { ALI_SLB, "x", "vpc", "http://slb.example/api", NULL, false },
    { ALI_SLB, "x", "vpc", "ftp://slb.example", NULL, false },
    { ALI_SLB, "x", "vpc", "slb.example:0", NULL, false },
    { ALI_SLB, "x", "vpc", "slb.example:65536", NULL, false },
    { ALI_SLB, "x", "vpc", "slb.example:", NULL, false },
    { ALI_SLB, "x", "vpc", "http://", NULL, false },
    { ALI_SLB, "x", "vpc", "user@slb.example", NULL, false },
    { ALI_SLB, "x", "vpc", "slb.example\r\nx: y", NULL, false },
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ali_endpoint got = { .host = "untouched" };
        struct ccm_error err = CCM_ERROR_INIT;
        const int r = ali_endpoint_find(cases[i].product, cases[i].region, cases[i].network,
                                        cases[i].override, &got, &err);

        print_message("%zu %s %s\n", i, cases[i].region, cases[i].override);
        if (cases[i].host == NULL) {
            assert_int_equal(r, -EINVAL);
            assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
            assert_non_null(strstr(err.message, "alicloud."));
            assert_string_equal(got.host, "untouched");
        } else {
            assert_int_equal(r, 0);
            assert_string_equal(got.host, cases[i].host);
            assert_int_equal(got.plain_http, cases[i].plain_http);
        }
    }
}

static void test_environment(void **state)
{
    static const struct {
        const char *value;
        const char *scheme;
        const char *host; /* NULL = refused */
        bool plain_http;
    } rows[] = {
        { "slb.example", NULL, "slb.example", false },
        { "slb.example:8443", NULL, "slb.example:8443", false },
        /* The scheme in the variable says nothing, ALICLOUD_CLIENT_SCHEME does. */
        { "http://slb.example:8080", NULL, "slb.example:8080", false },
        { "https://slb.example:8080/some/path", "HTTP", "slb.example:8080", true },
        { "slb.example", "http", "slb.example", false },
        { "slb.example:99999", NULL, NULL, false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct ali_endpoint got = { 0 };
        struct ccm_error err = CCM_ERROR_INIT;

        assert_int_equal(setenv("SLB_ENDPOINT", rows[i].value, 1), 0);
        assert_int_equal(rows[i].scheme == NULL
                             ? unsetenv("ALICLOUD_CLIENT_SCHEME")
                             : setenv("ALICLOUD_CLIENT_SCHEME", rows[i].scheme, 1),
                         0);

        const int r =
            ali_endpoint_find(ALI_SLB, "cn-hangzhou", "vpc", "http://other:1", &got, &err);

        if (rows[i].host == NULL) {
            assert_int_equal(r, -EINVAL);
            assert_non_null(strstr(err.message, "SLB_ENDPOINT"));
        } else {
            assert_int_equal(r, 0);
            assert_string_equal(got.host, rows[i].host);
            assert_int_equal(got.plain_http, rows[i].plain_http);
        }
        /* Other products are not touched by it. */
        assert_int_equal(
            ali_endpoint_find(ALI_NLB, "cn-hangzhou", "vpc", "http://other:1", &got, &err), 0);
        assert_string_equal(got.host, "other:1");
        assert_true(got.plain_http);
    }
}

/* An endpoint without TLS takes an explicit word, wherever it comes from. */
static void test_plain_http(void **state)
{
    static const struct {
        const char *option; /* or NULL */
        const char *variable;
        const char *value;
        const char *words; /* NULL: taken without a word */
    } rows[] = {
        { "endpoints.slb", NULL, "http://slb.example", "alicloud.endpoints.slb: http://slb" },
        { "endpoints.sts", NULL, "http://127.0.0.1:9", "alicloud.endpoints.sts: http://127" },
        { "endpoints.slb", NULL, "https://slb.example", NULL },
        { "endpoints.slb", NULL, "slb.example:8443", NULL },
        { "endpoints.metadata", NULL, "http://10.0.0.1", "alicloud.endpoints.metadata: http://10" },
        { "endpoints.metadata", NULL, "169.254.example", "alicloud.endpoints.metadata" },
        { "endpoints.metadata", NULL, "100.100.100.2000", "alicloud.endpoints.metadata" },
        { "endpoints.metadata", NULL, "http://169.254.169.254:80", NULL },
        { "endpoints.metadata", NULL, "https://metadata.example", NULL },
        { NULL, "METADATA_ENDPOINT", "http://10.0.0.1/latest", "METADATA_ENDPOINT: http://10" },
        { NULL, "METADATA_ENDPOINT", "http://100.100.100.200", NULL },
        { NULL, "ALICLOUD_CLIENT_SCHEME", "HTTP", "ALICLOUD_CLIENT_SCHEME: http://slb" },
        { NULL, "ALICLOUD_CLIENT_SCHEME", "HTTPS", NULL },
        { NULL, "SLB_ENDPOINT", "http://slb.example", NULL }, /* its scheme never counted */
    };

    (void)state;
    for (size_t i = 0; i < 2 * CCM_ARRAY_LEN(rows); i++) {
        const bool allowed = i % 2 == 1;
        struct fake_host *fake = fake_host_new();
        struct ccm_error err = CCM_ERROR_INIT;
        struct ali_client *ali = NULL;

        fake_host_option(fake, "alicloud", "region", "cn-hangzhou");
        fake_host_option(fake, "alicloud", "plain_http", allowed ? "true" : "false");
        if (rows[i / 2].option != NULL) {
            fake_host_option(fake, "alicloud", rows[i / 2].option, rows[i / 2].value);
        } else {
            assert_int_equal(setenv(rows[i / 2].variable, rows[i / 2].value, 1), 0);
        }

        const int r = ali_acquire(fake_host_table(fake), &ali, &err);

        print_message("%s: %s\n", rows[i / 2].value, err.message);
        if (allowed || rows[i / 2].words == NULL) {
            assert_int_equal(r, 0);
        } else {
            assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
            assert_non_null(strstr(err.message, rows[i / 2].words));
            assert_non_null(strstr(err.message, "'plain_http = true'"));
        }
        ali_release(ali);
        if (rows[i / 2].option == NULL) {
            assert_int_equal(unsetenv(rows[i / 2].variable), 0);
        }
        fake_host_free(fake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_table, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(test_environment, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(test_plain_http, clear_environment, clear_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
