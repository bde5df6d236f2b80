/* The published quotas, and what of them is kept. */
#include "alicloud/quota.h"

#include "util/cleanup.h"

#include "check.h"

static void test_rates(void **state)
{
    static const struct {
        enum ali_product product;
        const char *action;
        int64_t count;
        int64_t window_ms;
    } rows[] = {
        { ALI_SLB, "CreateVServerGroup", 90, 60000 },
        { ALI_SLB, "DescribeVServerGroups", 3000, 60000 },
        { ALI_SLB, "ListTagResources", 3000, 60000 },
        { ALI_SLB, "SetLoadBalancerModificationProtection", 400, 60000 },
        { ALI_NLB, "CreateListener", 200, 60000 },
        { ALI_NLB, "UpdateLoadBalancerProtection", 300, 60000 },
        { ALI_NLB, "GetJobStatus", 20, 1000 },
        { ALI_NLB, "GetListenerHealthStatus", 10, 1000 },
        { ALI_VPC, "CreateRouteEntries", 300, 60000 },
        { ALI_ECS, "DescribeNetworkInterfaces", 300, 60000 },
        { ALI_STS, "AssumeRole", 10, 1000 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct ali_quota quota = ali_quota_default(rows[i].product);
        const struct ali_rate rate =
            ali_quota_rate(&quota, ALI_QUOTA_WINDOW_MS, rows[i].product, rows[i].action);

        assert_int_equal(rate.count, rows[i].count);
        assert_int_equal(rate.window_ms, rows[i].window_ms);
    }
}

static void test_configured_quotas_move_all(void **state)
{
    static const struct {
        struct ali_quota quota;
        enum ali_product product;
        const char *action;
        int64_t count;
        int64_t window_ms;
    } rows[] = {
        { { 180, 60 }, ALI_SLB, "SetLoadBalancerModificationProtection", 800, 10000 },
        { { 180, 60 }, ALI_SLB, "DescribeRegions", 60, 10000 },
        { { 2, 30 }, ALI_NLB, "ListListeners", 1, 166 }, /* never nothing */
        { { 2, 2400 }, ALI_NLB, "ListListeners", 40, 166 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct ali_rate rate =
            ali_quota_rate(&rows[i].quota, 10000, rows[i].product, rows[i].action);

        assert_int_equal(rate.count, rows[i].count);
        assert_int_equal(rate.window_ms, rows[i].window_ms);
    }
}

static void test_kept(void **state)
{
    static const struct {
        const char *action;
        int64_t count;
        int64_t kept[ALI_PRIO_AUDIT + 1]; /* by priority: remove, new, spec, bulk, audit */
        int64_t retry;                    /* what those get that have failed again and again */
    } rows[] = {
        { "DeleteLoadBalancerListener", 90, { 0, 4, 8, 8, 8 }, 9 },
        { "SetVServerGroupAttribute", 90, { 0, 4, 8, 8, 8 }, 9 },
        { "DescribeLoadBalancers", 3000, { 0, 150, 300, 300, 300 }, 300 },
        { "CreateLoadBalancer", 90, { 0, 0, 4, 4, 4 }, 9 },
        { "CreateVServerGroup", 90, { 0, 0, 4, 4, 4 }, 9 },
        { "StartLoadBalancerListener", 90, { 0, 0, 4, 4, 4 }, 9 },
        { "AddVServerGroupBackendServers", 90, { 0, 0, 0, 0, 0 }, 9 },
        { "SetVServerGroupAttribute", 19, { 0, 0, 0, 0, 0 }, 1 },
        { "SetVServerGroupAttribute", 5, { 0, 0, 0, 0, 0 }, 1 },
        { "SetVServerGroupAttribute", 1, { 0, 0, 0, 0, 0 }, 1 }, /* never nothing */
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        for (int priority = ALI_PRIO_REMOVE; priority <= ALI_PRIO_AUDIT; priority++) {
            const int64_t kept =
                ali_quota_kept(rows[i].action, (enum ali_priority)priority, rows[i].count);

            assert_int_equal(kept, rows[i].kept[priority]);
            assert_true(kept * 10 <= rows[i].count);
        }
        assert_int_equal(rows[i].count -
                             ali_quota_kept(rows[i].action, ALI_PRIO_RETRY, rows[i].count),
                         rows[i].retry);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_configured_quotas_move_all),
        cmocka_unit_test(test_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
