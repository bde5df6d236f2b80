/* Pod addresses: text forms, cache, chunks, what is missing and what is foreign. */
#include "alicloud/eni.h"

#include "alicloud/eni_cache.h"
#include "alicloud/error.h"
#include "setup.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include "check.h"

/* A small cloud: 10.0.x.y and 2408:: addresses have interfaces, unless x is 99. */
struct cloud {
    size_t page; /* interfaces per page; 0 = all */
    struct ccm_buf body;
};

static void add_interface(struct ccm_jsonw *w, const char *address, bool v6)
{
    CCM_CLEANUP(ccm_freep) char *id = ccm_text_format("eni-%s", address);

    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "NetworkInterfaceId", id);
    ccm_jsonw_open(w, v6 ? "Ipv6Sets" : "PrivateIpSets", '{');
    ccm_jsonw_open(w, v6 ? "Ipv6Set" : "PrivateIpSet", '[');
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, v6 ? "Ipv6Address" : "PrivateIpAddress", address);
    ccm_jsonw_close(w, '}');
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
    ccm_jsonw_close(w, '}');
}

static bool answer(void *arg, const struct fake_request *request, struct fake_reply *ret)
{
    struct cloud *cloud = arg;

    ccm_buf_reset(&cloud->body);

    struct ccm_jsonw w = { .buf = &cloud->body };
    const char *token = fake_request_param(request, "NextToken");
    const size_t first = token == NULL ? 0 : strlen(token);
    const size_t most = cloud->page == 0 ? SIZE_MAX : cloud->page;
    size_t seen = 0;

    if (strcmp(request->action, "DescribeNetworkInterfaces") != 0) {
        return false;
    }
    assert_string_equal(fake_request_param(request, "VpcId"), "vpc-1");
    assert_string_equal(fake_request_param(request, "Status"), "InUse");
    assert_string_equal(fake_request_param(request, "MaxResults"), "100");
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "RequestId", "r");
    ccm_jsonw_open(&w, "NetworkInterfaceSets", '{');
    ccm_jsonw_open(&w, "NetworkInterfaceSet", '[');
    for (size_t i = 0; i < request->param_count; i++) {
        const bool v6 = ccm_text_starts(request->params[i].name, "Ipv6Address.");
        const char *address = request->params[i].value;

        if (!v6 && !ccm_text_starts(request->params[i].name, "PrivateIpAddress.")) {
            continue;
        }
        if (!ccm_text_starts(address, "10.0.99.") &&
            (ccm_text_starts(address, "10.0.") || ccm_text_starts(address, "2408:"))) {
            if (seen >= first && seen - first < most) {
                add_interface(&w, address, v6);
            }
            seen++;
        }
    }
    ccm_jsonw_close(&w, ']');
    ccm_jsonw_close(&w, '}');
    if (seen > first && seen - first > most) {
        char next[256];

        memset(next, 'x', sizeof(next));
        next[first + most] = '\0';
        ccm_jsonw_str(&w, "NextToken", next);
    }
    ccm_jsonw_close(&w, '}');
    ret->body = ccm_buf_str(&cloud->body);
    return true;
}

#define VPC_BODY                                                                                   \
    "{\"RequestId\":\"r\",\"VpcId\":\"vpc-1\",\"CidrBlock\":\"10.0.0.0/16\","                      \
    "\"SecondaryCidrBlocks\":{\"SecondaryCidrBlock\":[\"172.16.0.0/12\"]},"                        \
    "\"Ipv6CidrBlock\":\"2408:1::/56\","                                                           \
    "\"Ipv6CidrBlocks\":{\"Ipv6CidrBlock\":[{\"Ipv6CidrBlock\":\"2409:2::/64\"}]}}"

static void fixture_begin(struct setup *setup, struct cloud *cloud)
{
    setup_begin(setup, NULL);
    fake_host_on_http(setup->fake, answer, cloud);
    fake_host_always(setup->fake, "DescribeVpcAttribute", 200, VPC_BODY);
}

static int resolve_for(struct setup *setup, const char *object, const char *const *addresses,
                       size_t count, struct ali_eni *ret, struct ccm_error *err)
{
    struct ccm_request req = setup_request(setup, 30000);

    req.keys = &object;
    req.key_count = object == NULL ? 0 : 1;
    ccm_error_clear(err);
    return ali_eni_resolve(&(const struct ali_caller){ setup->ali, setup->host, &req },
                           &(const struct ali_eni_addresses){ .items = addresses, .count = count },
                           ret, err);
}

static int resolve_addresses(struct setup *setup, const char *const *addresses, size_t count,
                             struct ali_eni *ret, struct ccm_error *err)
{
    return resolve_for(setup, NULL, addresses, count, ret, err);
}

static size_t reads(struct setup *setup)
{
    return fake_host_action_count(setup->fake, "DescribeNetworkInterfaces");
}

static void test_found_missing_foreign(void **state)
{
    static const struct {
        const char *address;
        enum ali_eni_state state;
        const char *id;
    } rows[] = {
        { "10.0.0.5", ALI_ENI_FOUND, "eni-10.0.0.5" },
        { "10.0.99.1", ALI_ENI_MISSING, "" },
        { "172.20.1.1", ALI_ENI_MISSING, "" }, /* secondary block */
        { "192.168.0.1", ALI_ENI_FOREIGN, "" },
        { "2408:0:0::1", ALI_ENI_FOUND, "eni-2408::1" },
        { "2408::0:1", ALI_ENI_FOUND, "eni-2408::1" }, /* the same in other letters */
        { "::ffff:10.0.0.5", ALI_ENI_FOUND, "eni-10.0.0.5" },
        { "2409:2::5", ALI_ENI_MISSING, "" },
        { "2001:db8::1", ALI_ENI_FOREIGN, "" },
        { "pod.example", ALI_ENI_FOREIGN, "" },
        { "", ALI_ENI_FOREIGN, "" },
        { "10.0.0.5", ALI_ENI_FOUND, "eni-10.0.0.5" },
    };
    struct cloud cloud = { 0 };
    struct setup setup;
    struct ccm_error err = CCM_ERROR_INIT;
    const char *addresses[CCM_ARRAY_LEN(rows)];
    struct ali_eni got[CCM_ARRAY_LEN(rows)];

    (void)state;
    fixture_begin(&setup, &cloud);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        addresses[i] = rows[i].address;
    }
    for (int round = 0; round < 2; round++) {
        assert_int_equal(resolve_addresses(&setup, addresses, CCM_ARRAY_LEN(rows), got, &err), 0);
        for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
            print_message("%s\n", rows[i].address);
            assert_int_equal(got[i].state, rows[i].state);
            assert_string_equal(got[i].id, rows[i].id);
        }
        /* The families of addresses cannot be asked for together; the second round is free. */
        assert_int_equal(fake_host_action_count(setup.fake, "DescribeVpcAttribute"), 1);
        assert_in_range(reads(&setup), 2, 3);
    }
    ccm_buf_fini(&cloud.body);
    setup_end(&setup);
}

static void test_life_of_entries(void **state)
{
    static const int64_t lives[] = { 4000, 8000, 16000, 30000, 30000 }; /* after 1000 and 2000 */
    static const char *const addresses[] = { "10.0.0.5", "10.0.99.1" };
    struct cloud cloud = { 0 };
    struct setup setup;
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_eni got[2];

    (void)state;
    fixture_begin(&setup, &cloud);
    assert_int_equal(resolve_addresses(&setup, addresses, 2, got, &err), 0);
    assert_int_equal(reads(&setup), 1);
    fake_host_advance(setup.fake, 999);
    assert_int_equal(resolve_addresses(&setup, addresses, 2, got, &err), 0);
    assert_int_equal(reads(&setup), 1);
    /* What was missing is asked for again, alone. */
    fake_host_advance(setup.fake, 1);
    assert_int_equal(resolve_addresses(&setup, addresses, 2, got, &err), 0);
    assert_int_equal(reads(&setup), 2);
    const struct fake_request *last =
        fake_host_request(setup.fake, fake_host_request_count(setup.fake) - 1);
    assert_string_equal(fake_request_param(last, "PrivateIpAddress.1"), "10.0.99.1");
    assert_null(fake_request_param(last, "PrivateIpAddress.2"));
    assert_int_equal(fake_host_action_count(setup.fake, "DescribeVpcAttribute"), 1);

    fake_host_advance(setup.fake, 598999);
    assert_int_equal(resolve_addresses(&setup, addresses, 1, got, &err), 0);
    assert_int_equal(reads(&setup), 2);
    fake_host_advance(setup.fake, 1);
    assert_int_equal(resolve_addresses(&setup, addresses, 1, got, &err), 0);
    assert_int_equal(reads(&setup), 3);

    /* ... seldom, when it stays away. */
    for (size_t i = 0; i < CCM_ARRAY_LEN(lives); i++) {
        const size_t before = reads(&setup);

        assert_int_equal(resolve_addresses(&setup, addresses + 1, 1, got, &err), 0);
        assert_int_equal(reads(&setup), before + 1);
        fake_host_advance(setup.fake, lives[i] - 1);
        assert_int_equal(resolve_addresses(&setup, addresses + 1, 1, got, &err), 0);
        assert_int_equal(reads(&setup), before + 1);
        fake_host_advance(setup.fake, 1);
    }
    const size_t before = reads(&setup);

    ali_eni_forget(setup.ali, "::ffff:10.0.0.5");
    ali_eni_forget(setup.ali, "10.0.0.77");
    ali_eni_forget(setup.ali, "no address");
    assert_int_equal(resolve_addresses(&setup, addresses, 1, got, &err), 0);
    assert_int_equal(reads(&setup), before + 1);
    assert_int_equal(resolve_addresses(&setup, NULL, 0, NULL, &err), 0);
    assert_int_equal(reads(&setup), before + 1);
    ccm_buf_fini(&cloud.body);
    setup_end(&setup);
}

#define MANY 250

static void test_chunks_and_pages(void **state)
{
    static const size_t pages[] = { 0, 40 };

    (void)state;
    for (size_t p = 0; p < CCM_ARRAY_LEN(pages); p++) {
        struct cloud cloud = { .page = pages[p] };
        struct setup setup;
        struct ccm_error err = CCM_ERROR_INIT;
        char *addresses[MANY];
        struct ali_eni got[MANY];

        fixture_begin(&setup, &cloud);
        for (int i = 0; i < MANY; i++) {
            addresses[i] = ccm_text_format("10.0.%d.%d", i % 3, i);
        }
        assert_int_equal(resolve_addresses(&setup, (const char *const *)addresses, MANY, got, &err),
                         0);
        for (int i = 0; i < MANY; i++) {
            assert_int_equal(got[i].state, ALI_ENI_FOUND);
            assert_string_equal(got[i].id + 4, addresses[i]);
            free(addresses[i]);
        }
        assert_int_equal(reads(&setup), pages[p] == 0 ? 3 : 3 + 3 + 2);
        ccm_buf_fini(&cloud.body);
        setup_end(&setup);
    }
}

static void test_failed_read_is_an_error(void **state)
{
    static const struct {
        const char *action;
        uint64_t status;
        const char *body;
    } rows[] = {
        { "DescribeNetworkInterfaces", 500, "" },
        { "DescribeNetworkInterfaces", 403,
          "{\"Code\":\"Forbidden.RAM\",\"Message\":\"m\",\"RequestId\":\"r\"}" },
        { "DescribeNetworkInterfaces", 200, "{\"RequestId\":\"r\"}" },
        { "DescribeNetworkInterfaces", 200,
          "{\"RequestId\":\"r\",\"NetworkInterfaceSets\":{\"NetworkInterfaceSet\":{}}}" },
        { "DescribeVpcAttribute", 500, "" },
        { "DescribeVpcAttribute", 200, "{\"RequestId\":\"r\"}" },
        { "DescribeVpcAttribute", 200, "{\"RequestId\":\"r\",\"CidrBlock\":\"10.0.0.0/99\"}" },
    };
    static const char *const addresses[] = { "10.0.99.1", "10.0.0.5" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct cloud cloud = { 0 };
        struct setup setup;
        struct ccm_error err = CCM_ERROR_INIT;
        struct ali_eni got[2];

        setup_begin(&setup, NULL);
        fake_host_on_http(setup.fake, answer, &cloud);
        fake_host_always(setup.fake, rows[i].action, rows[i].status, rows[i].body);
        assert_true(resolve_addresses(&setup, addresses, 2, got, &err) < 0);
        assert_true(err.kind != CCM_ERROR_NONE && err.kind != CCM_ERROR_NOT_FOUND);
        assert_true(ccm_text_starts(err.message, rows[i].action));

        /* Nothing of the failed read is remembered. */
        fake_host_clear_replies(setup.fake);
        fake_host_always(setup.fake, "DescribeVpcAttribute", 200, VPC_BODY);
        fake_host_advance(setup.fake, 60000);
        assert_int_equal(resolve_addresses(&setup, addresses, 2, got, &err), 0);
        assert_int_equal(got[0].state, ALI_ENI_MISSING);
        assert_int_equal(got[1].state, ALI_ENI_FOUND);
        ccm_buf_fini(&cloud.body);
        setup_end(&setup);
    }
}

static void test_endless_list(void **state)
{
    static const char *const addresses[] = { "10.0.0.5" };
    struct setup setup;
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_eni got[1];

    (void)state;
    setup_begin(&setup, NULL);
    fake_host_always(setup.fake, "DescribeNetworkInterfaces", 200,
                     "{\"RequestId\":\"r\",\"NextToken\":\"again\",\"NetworkInterfaceSets\":"
                     "{\"NetworkInterfaceSet\":[]}}");
    assert_true(resolve_addresses(&setup, addresses, 1, got, &err) < 0);
    assert_non_null(strstr(err.message, "does not end"));
    assert_int_equal(reads(&setup), 50);
    setup_end(&setup);
}

/* --- blocks --- */

static void test_cidr(void **state)
{
    static const struct {
        const char *cidr;
        const char *ip;
        int contains; /* -1: the block is refused */
    } rows[] = {
        { "10.0.0.0/8", "10.255.0.1", 1 },
        { "10.0.0.0/8", "11.0.0.1", 0 },
        { "10.1.2.3/8", "10.9.9.9", 1 }, /* host bits */
        { "10.0.0.128/25", "10.0.0.127", 0 },
        { "10.0.0.128/25", "10.0.0.128", 1 },
        { "10.0.0.1", "10.0.0.1", 1 },
        { "10.0.0.1/32", "10.0.0.2", 0 },
        { "0.0.0.0/0", "1.2.3.4", 1 },
        { "0.0.0.0/0", "2408::1", 0 },
        { "::/0", "1.2.3.4", 0 },
        { "::/0", "2408::1", 1 },
        { "2408::/33", "2408:0:7fff::1", 1 },
        { "2408::/33", "2408:0:8000::1", 0 },
        { "10.0.0.0/33", "10.0.0.1", -1 },
        { "10.0.0.0/", "10.0.0.1", -1 },
        { "10.0.0.0/-1", "10.0.0.1", -1 },
        { "10.0.0/8", "10.0.0.1", -1 },
        { "2408::/129", "2408::1", -1 },
        { "::ffff:10.0.0.0/104", "10.255.0.1", 1 },
        { "::ffff:10.0.0.0/95", "10.0.0.1", -1 },
        { "", "10.0.0.1", -1 },
        { "0000000000000000000000000000000000000000000000000000000/8", "10.0.0.1", -1 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct ccm_cidr cidr;
        struct ccm_ip ip;

        print_message("%s %s\n", rows[i].cidr, rows[i].ip);
        assert_int_equal(ccm_ip_parse(rows[i].ip, &ip), 0);
        assert_int_equal(ccm_cidr_parse(rows[i].cidr, &cidr), rows[i].contains < 0 ? -EINVAL : 0);
        if (rows[i].contains >= 0) {
            assert_int_equal(ccm_cidr_contains(&cidr, &ip), rows[i].contains);
        }
    }
}

/* --- cache --- */

static struct ccm_ip address_of(uint32_t n)
{
    struct ccm_ip ip = { { 0 } };

    for (size_t i = 0; i < 4; i++) {
        ip.bytes[12 + i] = (uint8_t)(n >> (24 - 8 * i));
    }
    return ip;
}

static void test_cache_is_bounded(void **state)
{
    struct ali_eni_cache *cache = ali_eni_cache_new(1000);
    const struct ali_eni found = { .state = ALI_ENI_FOUND, .id = "eni-1" };
    struct ali_eni got;

    (void)state;
    for (uint32_t n = 0; n < 5000; n++) {
        const struct ccm_ip ip = address_of(n);

        ali_eni_cache_put(cache, &ip, 0, &found, 0, 1000);
        assert_true(ali_eni_cache_get(cache, &ip, 0, 0, &got));
        assert_in_range(ali_eni_cache_len(cache), 1, 1000);
    }
    ali_eni_cache_free(cache);
}

/* What is known of an address holds for its owner at that time. */
static void test_cache_knows_owners(void **state)
{
    static const struct {
        uint64_t read; /* for whom it was */
        uint64_t asked;
        bool known;
    } cases[] = {
        { 0, 0, true },
        { 7, 7, true },
        { 7, 8, false },
        { 7, 0, true },  /* the caller does not know the owner */
        { 0, 7, false }, /* who asked before did not */
        { UINT64_C(7) << 32, UINT64_C(7) << 32, true },
        { UINT64_C(7) << 32 | 7, UINT64_C(7) << 32 | 7, true }, /* halves that are alike */
        { 0, UINT64_C(7) << 32 | 7, false },
    };
    const struct ali_eni found = { .state = ALI_ENI_FOUND, .id = "eni-1" };
    const struct ali_eni missing = { .state = ALI_ENI_MISSING };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ali_eni_cache *cache = ali_eni_cache_new(1000);
        const struct ccm_ip ip = address_of(1);
        struct ali_eni got;

        ali_eni_cache_put(cache, &ip, cases[i].read, &found, 0, 1000);
        if (ali_eni_cache_get(cache, &ip, cases[i].asked, 0, &got) != cases[i].known) {
            fail_msg("case %zu", i);
        }
        ali_eni_cache_put(cache, &ip, cases[i].read, &missing, 0, 1000);
        ali_eni_cache_put(cache, &ip, cases[i].read, &missing, 0, 1000);
        assert_int_equal(ali_eni_cache_misses(cache, &ip, cases[i].asked), cases[i].known ? 2 : 0);
        ali_eni_cache_free(cache);
    }
}

/* The cloud is asked for another owner, and when `anew` is set. */
static void test_owners(void **state)
{
    static const char *const address[] = { "10.0.0.5" };
    static const struct {
        uint64_t owner;
        bool anew;
        size_t reads;
    } rounds[] = { { 1, false, 1 }, { 1, false, 1 }, { 0, false, 1 }, { 2, false, 2 },
                   { 2, false, 2 }, { 2, true, 3 },  { 2, false, 3 }, { 1, false, 4 } };
    struct cloud cloud = { .body = { .max = 65536 } };
    struct setup setup;

    (void)state;
    fixture_begin(&setup, &cloud);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rounds); i++) {
        struct ccm_request req = setup_request(&setup, 30000);
        const struct ali_eni_addresses query = { address, &rounds[i].owner, 1, rounds[i].anew };
        struct ccm_error err = CCM_ERROR_INIT;
        struct ali_eni got;

        assert_int_equal(ali_eni_resolve(&(const struct ali_caller){ setup.ali, setup.host, &req },
                                         &query, &got, &err),
                         0);
        if (got.state != ALI_ENI_FOUND || reads(&setup) != rounds[i].reads) {
            fail_msg("round %zu: %zu", i, reads(&setup));
        }
    }
    ccm_buf_fini(&cloud.body);
    setup_end(&setup);
}

/* Coming and going must not fill the table with graves: probing would never end. */
static void test_cache_churn(void **state)
{
    struct ali_eni_cache *cache = ali_eni_cache_new(1000);
    const struct ali_eni found = { .state = ALI_ENI_FOUND, .id = "eni-1" };
    struct ali_eni got;

    (void)state;
    for (uint32_t n = 0; n < 20000; n++) {
        const struct ccm_ip ip = address_of(n * 7919);

        ali_eni_cache_put(cache, &ip, 0, &found, 0, 1000);
        ali_eni_cache_del(cache, &ip);
        ali_eni_cache_del(cache, &ip);
        assert_false(ali_eni_cache_get(cache, &ip, 0, 0, &got));
    }
    assert_int_equal(ali_eni_cache_len(cache), 0);
    /* Expired entries make room before live ones have to go. */
    for (uint32_t n = 0; n < 1000; n++) {
        const struct ccm_ip ip = address_of(n);

        ali_eni_cache_put(cache, &ip, 0, &found, 0, n < 500 ? 10 : 1000);
    }
    const struct ccm_ip more = address_of(5000);
    const struct ccm_ip live = address_of(700);

    ali_eni_cache_put(cache, &more, 0, &found, 20, 1000);
    assert_int_equal(ali_eni_cache_len(cache), 501);
    assert_true(ali_eni_cache_get(cache, &live, 0, 20, &got));
    assert_string_equal(got.id, "eni-1");
    ali_eni_cache_free(cache);
}

/* A look-up for one key does not wait for what its action has to; another one does. */
static void test_put_off(void **state)
{
    static const char *const address[] = { "10.0.99.1" };
    static const char *const actions[] = { "DescribeNetworkInterfaces", "DescribeVpcAttribute" };
    static const char *const objects[] = { "default/web", NULL };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(actions) * CCM_ARRAY_LEN(objects); i++) {
        const char *object = objects[i % CCM_ARRAY_LEN(objects)];
        const struct fake_reply slow = {
            .match = actions[i / CCM_ARRAY_LEN(objects)],
            .status = 400,
            .body = "{\"Code\":\"Throttling.User\",\"Message\":\"m\",\"RequestId\":\"r\"}",
            .headers = { "x-acs-retry-after: 7" },
        };
        struct cloud cloud = { 0 };
        struct setup setup;
        struct ccm_error err = CCM_ERROR_INIT;
        struct ali_eni got;

        setup_begin(&setup, NULL);
        fake_host_reply(setup.fake, &slow);
        fake_host_always(setup.fake, "DescribeVpcAttribute", 200, VPC_BODY);
        fake_host_on_http(setup.fake, answer, &cloud);
        const int r = resolve_for(&setup, object, address, 1, &got, &err);

        assert_int_equal(r, object == NULL ? 0 : -EAGAIN);
        assert_int_equal(ali_error_is_put_off(&err), object != NULL);
        assert_int_equal(fake_host_waited_ms(setup.fake) >= 7000, object == NULL);
        if (object != NULL) {
            assert_int_equal(err.retry_after_ms, 7000);
            assert_int_equal(fake_host_waited_ms(setup.fake), 0);
            fake_host_advance(setup.fake, 7000);
            assert_int_equal(resolve_for(&setup, object, address, 1, &got, &err), 0);
        }
        assert_int_equal(got.state, ALI_ENI_MISSING);
        ccm_buf_fini(&cloud.body);
        setup_end(&setup);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_missing_foreign),
        cmocka_unit_test(test_life_of_entries),
        cmocka_unit_test(test_chunks_and_pages),
        cmocka_unit_test(test_failed_read_is_an_error),
        cmocka_unit_test(test_endless_list),
        cmocka_unit_test(test_put_off),
        cmocka_unit_test(test_cidr),
        cmocka_unit_test(test_cache_is_bounded),
        cmocka_unit_test(test_cache_churn),
        cmocka_unit_test(test_cache_knows_owners),
        cmocka_unit_test(test_owners),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
