/* The published quotas, and what of them is kept. */
#include "alicloud/quota/rate.h"

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
        const struct ali_rate rate = ali_quota_rate(&quota, rows[i].product, rows[i].action);

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
        { { 180, 60 }, ALI_SLB, "SetLoadBalancerModificationProtection", 800, 60000 },
        { { 180, 60 }, ALI_SLB, "DescribeRegions", 60, 60000 },
        { { 2, 30 }, ALI_NLB, "ListListeners", 1, 1000 }, /* never nothing */
        { { 2, 2400 }, ALI_NLB, "ListListeners", 40, 1000 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct ali_rate rate =
            ali_quota_rate(&rows[i].quota, rows[i].product, rows[i].action);

        assert_int_equal(rate.count, rows[i].count);
        assert_int_equal(rate.window_ms, rows[i].window_ms);
    }
}

static void test_kept(void **state)
{
    static const struct {
        const char *action;
        int64_t count;
        int64_t removal; /* what a removal leaves, */
        int64_t other;   /* and what others leave, that are not first calls */
        int64_t first;   /* the same of a first call; removals leave nothing */
        int64_t retry;   /* what those get that have failed again and again */
        enum ali_priority aged;
    } rows[] = {
        { "DeleteLoadBalancerListener", 90, 4, 8, 4, 9, ALI_PRIO_REMOVE },
        { "RemoveVServerGroupBackendServers", 90, 4, 8, 4, 9, ALI_PRIO_REMOVE },
        { "SetVServerGroupAttribute", 90, 4, 8, 4, 9, ALI_PRIO_SPEC },
        { "DescribeLoadBalancers", 3000, 150, 300, 150, 300, ALI_PRIO_SPEC },
        { "CreateLoadBalancer", 90, 4, 4, 0, 9, ALI_PRIO_SPEC },
        { "CreateVServerGroup", 90, 4, 4, 0, 9, ALI_PRIO_SPEC },
        { "StartLoadBalancerListener", 90, 4, 4, 0, 9, ALI_PRIO_SPEC },
        { "AddVServerGroupBackendServers", 90, 4, 4, 0, 9, ALI_PRIO_SPEC },
        { "CreateListener", 200, 10, 10, 0, 20, ALI_PRIO_SPEC },
        { "SetVServerGroupAttribute", 19, 0, 0, 0, 1, ALI_PRIO_SPEC },
        { "SetVServerGroupAttribute", 5, 0, 0, 0, 1, ALI_PRIO_SPEC },
        { "SetVServerGroupAttribute", 1, 0, 0, 0, 1, ALI_PRIO_SPEC }, /* never nothing */
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const char *action = rows[i].action;
        const int64_t count = rows[i].count;

        assert_int_equal(ali_quota_kept(action, ALI_PRIO_REMOVE, false, count), rows[i].removal);
        assert_int_equal(ali_quota_kept(action, ALI_PRIO_REMOVE, true, count), 0);
        for (int rank = ALI_PRIO_NEW; rank <= ALI_PRIO_AUDIT; rank++) {
            const enum ali_priority priority = (enum ali_priority)rank;

            assert_int_equal(ali_quota_kept(action, priority, false, count), rows[i].other);
            assert_int_equal(ali_quota_kept(action, priority, true, count), rows[i].first);
        }
        assert_true(rows[i].other * 10 <= count);
        assert_int_equal(count - ali_quota_kept(action, ALI_PRIO_RETRY, true, count),
                         rows[i].retry);
        assert_int_equal(ali_quota_retries(count), rows[i].retry);
        assert_int_equal(ali_quota_aged(action), rows[i].aged);
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
