/* What is sent, and what is made of answers to batches. */
#include "alicloud/instance.h"
#include "build.h"
#include "check.h"
#include "route/api.h"
#include "support/fake_host.h"

#include <stdlib.h>
#include <string.h>

struct kit {
    struct fake_host *fake;
    struct ali_client *ali;
    struct route_call call;
    struct route_item items[3];
};

static int fixture_begin(void **state)
{
    static struct kit kit;
    struct ccm_error err = CCM_ERROR_INIT;
    const char *const nets[] = { "10.96.1.0/24", "10.96.2.0/24", "fd00:1::/64" };

    assert_int_equal(setenv("ACCESS_KEY_ID", "id", 1), 0);
    assert_int_equal(setenv("ACCESS_KEY_SECRET", "secret", 1), 0);
    memset(&kit, 0, sizeof(kit));
    kit.fake = fake_host_new();
    fake_host_option(kit.fake, "alicloud", "region", "cn-hangzhou");
    fake_host_option(kit.fake, "alicloud", "vpc_id", "vpc-1");
    fake_host_option(kit.fake, "alicloud", "cluster_id", "c1");
    assert_int_equal(ali_acquire(fake_host_table(kit.fake), &kit.ali, &err), 0);
    assert_int_equal(ali_start(kit.ali, fake_host_table(kit.fake), &err), 0);
    kit.call = (struct route_call){ .ali = kit.ali, .host = fake_host_table(kit.fake) };
    for (size_t i = 0; i < 3; i++) {
        kit.items[i].net = build_net(nets[i]);
        kit.items[i].instance = "i-1"; /* one instance, as with dual stack */
    }
    *state = &kit;
    return 0;
}

static int fixture_end(void **state)
{
    struct kit *kit = *state;

    assert_int_equal(fake_host_unexpected(kit->fake), 0);
    ali_release(kit->ali);
    fake_host_free(kit->fake);
    return 0;
}

static int batch(struct kit *kit, bool create, const char *answer)
{
    struct ccm_error err = CCM_ERROR_INIT;

    fake_host_answer(kit->fake, create ? "CreateRouteEntries" : "DeleteRouteEntries", 200, answer);
    return route_api_batch(&kit->call, create, "vtb-1", kit->items, 3, &err);
}

static void check_param(const struct kit *kit, const char *name, const char *wanted)
{
    const char *found = fake_request_param(fake_host_request(kit->fake, 0), name);

    if (wanted == NULL) {
        assert_null(found);
    } else {
        assert_non_null(found);
        assert_string_equal(found, wanted);
    }
}

static void test_sent(void **state)
{
    struct kit *kit = *state;

    assert_int_equal(batch(kit, true, "{\"SuccessCount\":3,\"FailedCount\":0}"), 0);
    check_param(kit, "RouteEntries.1.RouteTableId", "vtb-1");
    check_param(kit, "RouteEntries.1.DstCidrBlock", "10.96.1.0/24");
    check_param(kit, "RouteEntries.1.NextHop", "i-1");
    check_param(kit, "RouteEntries.1.NextHopType", "Instance");
    check_param(kit, "RouteEntries.1.IpVersion", NULL);
    check_param(kit, "RouteEntries.3.DstCidrBlock", "fd00:1::/64");
    check_param(kit, "RouteEntries.3.IpVersion", "6");
    check_param(kit, "RouteEntries.4.RouteTableId", NULL);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(kit->items[i].outcome, ROUTE_DONE);
    }
}

/* By next hop alone all three would have failed. */
static void test_failures_are_matched_by_both_names(void **state)
{
    struct kit *kit = *state;

    assert_int_equal(batch(kit, true,
                           "{\"RequestId\":\"R-7\",\"SuccessCount\":2,\"FailedCount\":1,"
                           "\"FailedRouteEntries\":[{\"NextHop\":\"i-1\",\"DstCidrBlock\":"
                           "\"10.96.2.0/24\",\"FailedCode\":\"QuotaExceeded\","
                           "\"FailedMessage\":\"no room\"}]}"),
                     0);
    assert_int_equal(kit->items[0].outcome, ROUTE_DONE);
    assert_int_equal(kit->items[1].outcome, ROUTE_FULL);
    assert_int_equal(kit->items[1].err.kind, CCM_ERROR_AUTH);
    assert_string_equal(kit->items[1].err.message,
                        "CreateRouteEntries: QuotaExceeded: no room (RequestId R-7)");
    assert_int_equal(kit->items[2].outcome, ROUTE_DONE);
}

/* A failure that names none of the entries may be that of any which is not named. */
static void test_unmatched_failure(void **state)
{
    struct kit *kit = *state;

    assert_int_equal(batch(kit, false,
                           "{\"SuccessCount\":1,\"FailedCount\":2,\"FailedRouteEntries\":["
                           "{\"NextHop\":\"i-1\",\"DstCidrBlock\":\"10.96.1.0/24\","
                           "\"FailedCode\":\"VPC_ROUTER_ENTRY_NOT_EXIST\"},"
                           "{\"NextHop\":\"i-2\",\"DstCidrBlock\":\"10.96.2.0/24\","
                           "\"FailedCode\":\"X\"}]}"),
                     0);
    assert_int_equal(kit->items[0].outcome, ROUTE_GONE);
    assert_int_equal(kit->items[1].outcome, ROUTE_UNSURE);
    assert_int_equal(kit->items[2].outcome, ROUTE_UNSURE);
}

static void test_codes(void **state)
{
    static const struct {
        const char *code;
        enum route_outcome create;
        enum route_outcome del;
    } rows[] = {
        { "VPC_ROUTE_ENTRY_CIDR_BLOCK_DUPLICATE", ROUTE_TAKEN, ROUTE_FAILED },
        { "InvalidCIDRBlock.Duplicate", ROUTE_TAKEN, ROUTE_FAILED },
        { "RouterEntryConflict.Duplicated", ROUTE_TAKEN, ROUTE_FAILED },
        { "VPC_ROUTE_ENTRY_STATUS_ERROR", ROUTE_MOVING, ROUTE_MOVING },
        { "IncorrcetRouteEntryStatus", ROUTE_MOVING, ROUTE_MOVING },
        { "VPC_ROUTER_ENTRY_NOT_EXIST", ROUTE_FAILED, ROUTE_GONE },
        { "InvalidRouteEntry.NotFound", ROUTE_FAILED, ROUTE_GONE },
        { "QuotaExceeded", ROUTE_FULL, ROUTE_FAILED },
        { "VPC_ROUTE_ENTRY_QUOTA_EXCEEDED", ROUTE_FULL, ROUTE_FAILED },
        { "IllegalParam.NextHopId", ROUTE_FAILED, ROUTE_FAILED },
        { "Never.Heard.Of", ROUTE_FAILED, ROUTE_FAILED },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(route_outcome_of(rows[i].code, "", true), rows[i].create);
        assert_int_equal(route_outcome_of(rows[i].code, "", false), rows[i].del);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sent, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_failures_are_matched_by_both_names, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_unmatched_failure, fixture_begin, fixture_end),
        cmocka_unit_test(test_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
