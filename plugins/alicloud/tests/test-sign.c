/* Signatures and escaping, against fixed vectors of both styles. */
#include "alicloud/params.h"
#include "alicloud/sign.h"

#include "util/cleanup.h"
#include "util/text.h"

#include "check.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define FORM  "application/x-www-form-urlencoded"

struct v3_case {
    const char *name;
    const char *host;
    const char *action;
    const char *version;
    const char *date;
    const char *nonce;
    const char *key_id;
    const char *secret;
    const char *token;    /* "" = none */
    const char *provider; /* x-acs-credentials-provider, "" = none */
    const char *query;
    const char *body;
    const char *body_hash; /* NULL = not stated */
    const char *hash;      /* of the canonical request, NULL = not stated */
    const char *signature;
};

#define TEST_KEY .key_id = "testAccessKeyId", .secret = "testAccessKeySecret", .token = ""
#define TEST_TIME                                                                                  \
    .date = "2026-01-02T03:04:05Z", .nonce = "0123456789abcdef0123456789abcdef", .provider = ""
#define NLB   .host = "nlb.cn-hangzhou.aliyuncs.com", .version = "2022-04-30"
#define LOCAL .host = "127.0.0.1:18080", .version = "2022-04-30"

static const struct v3_case v3_cases[] = {
    { .name = "V1 query, no body",
      NLB,
      TEST_TIME,
      TEST_KEY,
      .action = "GetJobStatus",
      .query = "JobId=72dcd26b-f12d-4c27-b3af-18f6aed5%2A%2A%2A%2A",
      .body = "",
      .body_hash = EMPTY,
      .hash = "b1b8e39262d959f89aedcfeb21f3aab406c32ae1aeff2193a52f7da0a65f7ead",
      .signature = "b1a95f246714db75c16f49b4d0944c50246531fa04e82a431b54037b23992a4a" },
    { .name = "V2 form body",
      NLB,
      TEST_TIME,
      TEST_KEY,
      .action = "AddServersToServerGroup",
      .query = "",
      .body = "ServerGroupId=sgp-1&Servers.1.Description=k8s.80.TCP.web.default.c1&"
              "Servers.1.Port=80&Servers.1.ServerId=eni-1&Servers.1.ServerIp=10.0.0.5&"
              "Servers.1.ServerType=Eni&Servers.1.Weight=100",
      .body_hash = "e583e6339940b0020ef49d743922208b9658691cd2107190431a73a66df9b945",
      .hash = "3abf75bf69225cf477529da35cb113fae77d852937c4bb1b8f1c161c3c0fc7ba",
      .signature = "1e5ff90d5c5b5ceea749af64d77ca8ef7777163efb7b5443f930c43786eae9dd" },
    { .name = "V3 token, awkward characters",
      NLB,
      TEST_TIME,
      .key_id = "testAccessKeyId",
      .secret = "testAccessKeySecret",
      .token = "testSecurityToken",
      .action = "ListLoadBalancers",
      .query = "Tag.1.Key=kubernetes.do.not.delete&Tag.1.Value=a%20b%2A~%2F%C3%A9",
      .body = "",
      .body_hash = EMPTY,
      .hash = "8298ea65a1f198362137a9dae6c3f0b2501ba01bafb6c336669c02ab3117b415",
      .signature = "6ba498937ccd5e1c13d74ed37185fe00160a14fc63a47c3efe97be5b9d6ae681" },
    { .name = "V4 nested",
      NLB,
      TEST_TIME,
      TEST_KEY,
      .action = "CreateLoadBalancer",
      .query = "",
      .body = "AddressType=Internet&ClientToken=5f0c0a3e-0000-4000-8000-000000000001&"
              "DeletionProtectionConfig.Enabled=true&"
              "LoadBalancerName=a5e4dbfc9c2ae4642b0335607860aef6&"
              "ModificationProtectionConfig.Reason=managed.by.ack&"
              "ModificationProtectionConfig.Status=ConsoleProtection&"
              "Tag.1.Key=kubernetes.do.not.delete&Tag.1.Value=a5e4dbfc9c2ae4642b0335607860aef6&"
              "Tag.2.Key=ack.aliyun.com&Tag.2.Value=c1&VpcId=vpc-1&"
              "ZoneMappings.1.VSwitchId=vsw-1&ZoneMappings.1.ZoneId=cn-hangzhou-g&"
              "ZoneMappings.2.VSwitchId=vsw-2&ZoneMappings.2.ZoneId=cn-hangzhou-h",
      .body_hash = "7246d34e341444fa7144403703da00f38bd706be21560c579e8df939c6041825",
      .hash = "d97bc4f5a2387691a7c2de56ac6d70e084fc86f84803aa8674653ac93db6167c",
      .signature = "6ec44f068a85c8da25e217c12a328e531fa227a7388015270012b5cb08b64e0a" },
    { .name = "V5 another product",
      TEST_TIME,
      TEST_KEY,
      .host = "slb.aliyuncs.com",
      .version = "2014-05-15",
      .action = "DescribeLoadBalancers",
      .query = "RegionId=cn-hangzhou&Tags=%5B%7B%22TagKey%22%3A%22kubernetes.do.not.delete%22%2C"
               "%22TagValue%22%3A%22a5e4dbfc9c2ae4642b0335607860aef6%22%7D%5D",
      .body = "",
      .hash = "49461585ecf12db60abbee30594e4ab69dbb714d55fedd61b32f9f3db7d6cd8f",
      .signature = "c16b06167b1d521de525a0488d6d805b033df8be6bfc647bb3882be59433b54f" },
    { .name = "C1 port in the host, added header",
      LOCAL,
      .date = "2026-11-20T16:36:07Z",
      .nonce = "c649222ecc4aee39c6f1af8445517eea",
      .key_id = "testAK",
      .secret = "testSecret",
      .token = "",
      .provider = "static_ak",
      .action = "ListLoadBalancers",
      .query = "Tag.1.Key=kubernetes.do.not.delete&Tag.1.Value=a5e4dbfc9c2ae4642b0335607860aef6",
      .body = "",
      .signature = "95b3fa5de6cd694f9192122769eb1a23d63b1dfaa156800e9fad3e166ece45a8" },
    { .name = "C2 token, plus for blank",
      LOCAL,
      .date = "2026-11-20T16:36:22Z",
      .nonce = "ee937010713721b969faf16660a1dbf1",
      .key_id = "testAK",
      .secret = "testSecret",
      .token = "STSTOKEN",
      .provider = "static_sts",
      .action = "CreateLoadBalancer",
      .query = "",
      .body = "AddressIpVersion=ipv4&AddressType=internet&BandwidthPackageId=cbwp-1&"
              "ClientToken=5f0c0a3e-0000-4000-8000-000000000001&"
              "DeletionProtectionConfig.Enabled=true&LoadBalancerName=my+lb%2A~&"
              "ModificationProtectionConfig.Reason=managed.by.ack&"
              "ModificationProtectionConfig.Status=ConsoleProtection&ResourceGroupId=rg-1&"
              "Tag.1.Key=kubernetes.do.not.delete&Tag.1.Value=a5e4dbfc9c2ae4642b0335607860aef6&"
              "Tag.2.Key=ack.aliyun.com&Tag.2.Value=c1&Tag.3.Key=owner&"
              "Tag.3.Value=%E5%9B%A2%E9%98%9F+a%2Bb&VpcId=vpc-1&ZoneMappings.1.VSwitchId=vsw-1&"
              "ZoneMappings.1.ZoneId=cn-hangzhou-g&ZoneMappings.2.AllocationId=eip-1&"
              "ZoneMappings.2.PrivateIPv4Address=10.0.0.9&ZoneMappings.2.VSwitchId=vsw-2&"
              "ZoneMappings.2.ZoneId=cn-hangzhou-h",
      .body_hash = "510dfed78313fd71cf371e814a39b9ad6ee90b7ea2d1674edd6451da04874ceb",
      .signature = "6905049fcc2c8f380f66048fa826da403a1d17b96a6d59990d45f0d53d72bcee" },
    { .name = "C3 two servers",
      LOCAL,
      .date = "2026-11-20T16:36:07Z",
      .nonce = "f1935f156421551fcee6c5ae013005c4",
      .key_id = "testAK",
      .secret = "testSecret",
      .token = "",
      .provider = "static_ak",
      .action = "AddServersToServerGroup",
      .query = "",
      .body = "ServerGroupId=sgp-1&Servers.1.Description=k8s.30080.TCP.web.default.c1&"
              "Servers.1.Port=30080&Servers.1.ServerId=i-1&Servers.1.ServerType=Ecs&"
              "Servers.1.Weight=100&Servers.2.Description=k8s.80.TCP.web.default.c1&"
              "Servers.2.Port=80&Servers.2.ServerId=eni-1&Servers.2.ServerIp=10.0.0.5&"
              "Servers.2.ServerType=Eni&Servers.2.Weight=0",
      .body_hash = "f739ea7769d9613081cd0d2820575675562e2e6d0f0c83fe845caa239e856e0b",
      .signature = "68358c5f75d33b1bbcab58e21c15a694007096ab5f00cc67fb4ec3108557bff2" },
    { .name = "C4 job",
      LOCAL,
      .date = "2026-11-20T16:36:07Z",
      .nonce = "a9b9b7f948e169e924116fc43bbac814",
      .key_id = "testAK",
      .secret = "testSecret",
      .token = "",
      .provider = "static_ak",
      .action = "GetJobStatus",
      .query = "JobId=job-1",
      .body = "",
      .signature = "c0e966b59422f2d90da6ce067bbf99c3189f8e8a9030a4b7e73b17622e37013d" },
};

static void sign_v3_case(const struct v3_case *c, const char *extra, struct ccm_buf *ret,
                         char hash[CCM_DIGEST_HEX])
{
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret secret = { 0 };
    struct ali_sign_header headers[12];
    char body_hash[CCM_DIGEST_HEX];
    size_t count = 0;

    ccm_digest_sha256_hex(c->body, strlen(c->body), body_hash);
    if (c->body_hash != NULL) {
        assert_string_equal(body_hash, c->body_hash);
    }
    /* Neither sorted nor in the order they are sent. */
    headers[count++] = (struct ali_sign_header){ "x-acs-version", c->version };
    headers[count++] = (struct ali_sign_header){ "x-acs-signature-nonce", c->nonce };
    headers[count++] = (struct ali_sign_header){ "host", c->host };
    headers[count++] = (struct ali_sign_header){ "x-acs-date", c->date };
    headers[count++] = (struct ali_sign_header){ "x-acs-content-sha256", body_hash };
    headers[count++] = (struct ali_sign_header){ "x-acs-action", c->action };
    if (c->body[0] != '\0') {
        headers[count++] = (struct ali_sign_header){ "content-type", FORM };
    }
    if (c->token[0] != '\0') {
        headers[count++] = (struct ali_sign_header){ "x-acs-security-token", c->token };
        headers[count++] = (struct ali_sign_header){ "x-acs-accesskey-id", c->key_id };
    }
    if (c->provider[0] != '\0') {
        headers[count++] = (struct ali_sign_header){ "x-acs-credentials-provider", c->provider };
    }
    if (extra != NULL) {
        headers[count++] = (struct ali_sign_header){ "x-acs-extra", extra };
    }
    assert_int_equal(ccm_secret_set(&secret, c->secret), 0);

    const struct ali_sign_v3 in = {
        .query = c->query,
        .body = c->body,
        .body_len = strlen(c->body),
        .headers = headers,
        .header_count = count,
        .key_id = c->key_id,
        .secret = &secret,
    };

    assert_int_equal(ali_sign_v3(&in, ret, hash), 0);
}

static void test_v3_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(v3_cases); i++) {
        const struct v3_case *c = &v3_cases[i];
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf got = { 0 };
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf want = { 0 };
        char hash[CCM_DIGEST_HEX];

        print_message("%s\n", c->name);
        sign_v3_case(c, NULL, &got, hash);
        if (c->hash != NULL) {
            assert_string_equal(hash, c->hash);
        }
        ccm_buf_addf(&want,
                     "ACS3-HMAC-SHA256 Credential=%s,SignedHeaders=%shost;%sx-acs-action;"
                     "x-acs-content-sha256;%sx-acs-date;%sx-acs-signature-nonce;x-acs-version,"
                     "Signature=%s",
                     c->key_id, c->body[0] == '\0' ? "" : "content-type;",
                     c->token[0] == '\0' ? "" : "x-acs-accesskey-id;",
                     c->provider[0] == '\0' ? "" : "x-acs-credentials-provider;",
                     c->token[0] == '\0' ? "" : "x-acs-security-token;", c->signature);
        assert_string_equal(ccm_buf_str(&got), ccm_buf_str(&want));
    }
}

static void test_v3_covers_added_headers(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf got = { 0 };
    char hash[CCM_DIGEST_HEX];

    (void)state;
    sign_v3_case(&v3_cases[0], "1", &got, hash);
    assert_non_null(strstr(ccm_buf_str(&got), ";x-acs-extra;"));
    assert_string_not_equal(hash, v3_cases[0].hash);
}

static void test_order(void **state)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf got = { 0 };

    (void)state;
    ali_param_add(&params, "healthCheckInterval", "5");
    ali_param_tag(&params, 2, "b", "");
    ali_param_tag(&params, 10, "j", NULL);
    ali_param_opt(&params, "Left", "");
    ali_param_opt(&params, "Out", NULL);
    ali_param_i64(&params, "VServerGroupId", -7);
    assert_int_equal(ali_params_encode(&params, &got), 0);
    assert_string_equal(ccm_buf_str(&got), "Tag.10.Key=j&Tag.2.Key=b&Tag.2.Value=&"
                                           "VServerGroupId=-7&healthCheckInterval=5");
}

static void test_limits(void **state)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf got = { 0 };

    (void)state;
    for (int i = 0; i < 5000; i++) {
        ali_param_i64(&params, "N", i);
    }
    assert_int_equal(ali_params_encode(&params, &got), -E2BIG);

    CCM_CLEANUP(ali_params_fini) struct ali_params few = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf small = { .max = 8 };

    ali_param_add(&few, "Name", "longer than eight");
    assert_int_equal(ali_params_encode(&few, &small), -EMSGSIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v3_vectors),
        cmocka_unit_test(test_v3_covers_added_headers),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
