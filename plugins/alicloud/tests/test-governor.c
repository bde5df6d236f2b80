/* Token buckets: budget, order of service, throttling. */
#include "alicloud/governor.h"

#include "support/fake_host.h"
#include "util/cleanup.h"
#include "util/text.h"

#include "check.h"

static const struct ali_governor_quota quotas[] = {
    [ALI_SLB] = { .write = 90, .read = 3000 },
};

static void governor_freep(struct ali_governor **governor)
{
    ali_governor_free(*governor);
}

static int64_t ask(struct ali_governor *governor, const char *action, int64_t now)
{
    struct ali_governor_ticket ticket;

    assert_int_equal(ali_governor_enter(governor, ALI_SLB, action, ALI_PRIO_SPEC, now, &ticket), 0);

    const int64_t wait = ali_governor_poll(governor, &ticket, now);

    ali_governor_leave(governor, &ticket);
    return wait;
}

static void test_budgets(void **state)
{
    CCM_CLEANUP(governor_freep)
    struct ali_governor *governor = ali_governor_new(quotas, CCM_ARRAY_LEN(quotas));

    (void)state;
    assert_int_equal(ali_governor_budget(governor, ALI_SLB, "CreateVServerGroup"), 90);
    assert_int_equal(ali_governor_budget(governor, ALI_SLB, "DescribeVServerGroups"), 3000);
    assert_int_equal(ali_governor_budget(governor, ALI_SLB, "ListTagResources"), 3000);
    assert_int_equal(
        ali_governor_budget(governor, ALI_SLB, "SetLoadBalancerModificationProtection"), 400);
    assert_int_equal(ali_governor_budget(governor, ALI_NLB, "CreateListener"), 200);
    assert_int_equal(ali_governor_budget(governor, ALI_NLB, "UpdateLoadBalancerProtection"), 300);
    assert_int_equal(ali_governor_budget(governor, ALI_NLB, "GetJobStatus"), 1200);
}

/* However calls are spread: no 60 s window sees more than the quota. */
static void test_no_window_exceeds_the_quota(void **state)
{
    static const int64_t steps[] = { 1, 17, 250, 1000, 7000 };

    (void)state;
    for (size_t s = 0; s < CCM_ARRAY_LEN(steps); s++) {
        CCM_CLEANUP(governor_freep)
        struct ali_governor *governor = ali_governor_new(quotas, CCM_ARRAY_LEN(quotas));
        int64_t granted[1000];
        size_t count = 0;
        size_t first = 0;

        for (int64_t now = 5000; now < 5000 + 300000 && count < CCM_ARRAY_LEN(granted);
             now += steps[s]) {
            while (ask(governor, "CreateVServerGroup", now) == 0) {
                granted[count++] = now;
                while (granted[first] <= now - 60000) {
                    first++;
                }
                assert_in_range(count - first, 1, 90);
            }
        }
        assert_true(count >= 200); /* it goes on, too */
    }
}

static void test_actions_do_not_share(void **state)
{
    CCM_CLEANUP(governor_freep)
    struct ali_governor *governor = ali_governor_new(quotas, CCM_ARRAY_LEN(quotas));

    (void)state;
    for (int i = 0; i < 30; i++) {
        assert_int_equal(ask(governor, "CreateVServerGroup", 0), 0);
    }
    assert_int_equal(ask(governor, "CreateVServerGroup", 0), 1000);
    assert_int_equal(ask(governor, "DeleteVServerGroup", 0), 0);
    assert_int_equal(ask(governor, "CreateVServerGroup", 999), 1);
    assert_int_equal(ask(governor, "CreateVServerGroup", 1000), 0);
}

static void test_priority_and_order(void **state)
{
    static const struct {
        enum ali_priority priority;
        int64_t turn; /* which of them is served */
    } waiters[] = {
        { ALI_PRIO_AUDIT, 6 }, { ALI_PRIO_BULK, 4 },   { ALI_PRIO_NEW, 2 },
        { ALI_PRIO_BULK, 5 },  { ALI_PRIO_REMOVE, 1 }, { ALI_PRIO_SPEC, 3 },
    };
    CCM_CLEANUP(governor_freep)
    struct ali_governor *governor = ali_governor_new(quotas, CCM_ARRAY_LEN(quotas));
    struct ali_governor_ticket tickets[CCM_ARRAY_LEN(waiters)];

    (void)state;
    while (ask(governor, "CreateVServerGroup", 0) == 0) {
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(waiters); i++) {
        assert_int_equal(ali_governor_enter(governor, ALI_SLB, "CreateVServerGroup",
                                            waiters[i].priority, 0, &tickets[i]),
                         0);
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(waiters); i++) {
        assert_int_equal(ali_governor_poll(governor, &tickets[i], 0), waiters[i].turn * 1000);
    }
    /* The first leaves without its turn: everybody moves up. */
    ali_governor_leave(governor, &tickets[4]);
    assert_int_equal(ali_governor_poll(governor, &tickets[2], 0), 1000);
    /* Those that ask at the wrong time get nothing, also when a token is there. */
    assert_int_equal(ali_governor_poll(governor, &tickets[1], 1000), 2000);
    assert_int_equal(ali_governor_poll(governor, &tickets[2], 1000), 0);
    assert_int_equal(ali_governor_poll(governor, &tickets[5], 2000), 0);
    /* Two tokens: the second in line need not wait until the first has looked. */
    assert_int_equal(ali_governor_poll(governor, &tickets[3], 4000), 0);
    assert_int_equal(ali_governor_poll(governor, &tickets[1], 4000), 0);
    ali_governor_leave(governor, &tickets[1]);
    ali_governor_leave(governor, &tickets[0]);
}

static void test_throttling_slows_down(void **state)
{
    CCM_CLEANUP(governor_freep)
    struct ali_governor *governor = ali_governor_new(quotas, CCM_ARRAY_LEN(quotas));

    (void)state;
    assert_int_equal(ask(governor, "CreateVServerGroup", 0), 0);
    ali_governor_throttled(governor, ALI_SLB, "CreateVServerGroup", 0, 0);
    /* Empty, and half the rate. */
    assert_int_equal(ask(governor, "CreateVServerGroup", 0), 2000);
    /* What is throttled within the same second is the same event. */
    ali_governor_throttled(governor, ALI_SLB, "CreateVServerGroup", 500, 0);
    assert_int_equal(ask(governor, "CreateVServerGroup", 500), 2000);
    ali_governor_throttled(governor, ALI_SLB, "CreateVServerGroup", 2000, 0);
    assert_int_equal(ask(governor, "CreateVServerGroup", 2000), 4000);
    /* Others are not slowed down. */
    assert_int_equal(ask(governor, "DeleteVServerGroup", 2000), 0);
    /* It never stops altogether. */
    for (int64_t now = 4000; now < 40000; now += 2000) {
        ali_governor_throttled(governor, ALI_SLB, "CreateVServerGroup", now, 0);
    }
    assert_int_equal(ask(governor, "CreateVServerGroup", 38000), 60000 / (60 / 16));
    /* Quiet half minutes bring the rate back. */
    ali_governor_throttled(governor, ALI_SLB, "DeleteVServerGroup", 2000, 0);
    assert_int_equal(ask(governor, "DeleteVServerGroup", 2000), 2000);
    while (ask(governor, "DeleteVServerGroup", 40000) == 0) {
    }
    assert_in_range(ask(governor, "DeleteVServerGroup", 40000), 1, 1000);
}

static void test_hint(void **state)
{
    CCM_CLEANUP(governor_freep)
    struct ali_governor *governor = ali_governor_new(quotas, CCM_ARRAY_LEN(quotas));

    (void)state;
    ali_governor_throttled(governor, ALI_SLB, "CreateVServerGroup", 0, 7000);
    assert_int_equal(ask(governor, "CreateVServerGroup", 0), 7000);
    assert_int_equal(ask(governor, "CreateVServerGroup", 6999), 1);
    assert_int_equal(ask(governor, "CreateVServerGroup", 7000), 0);
    /* A hostile hint does not stop us for ever. */
    ali_governor_throttled(governor, ALI_SLB, "CreateVServerGroup", 10000, INT64_MAX);
    assert_int_equal(ask(governor, "CreateVServerGroup", 10000), 60000);
}

static const struct ali_call create_call = {
    .product = ALI_SLB,
    .action = "CreateVServerGroup",
    .priority = ALI_PRIO_SPEC,
};

static void test_acquire_waits(void **state)
{
    CCM_CLEANUP(governor_freep)
    struct ali_governor *governor = ali_governor_new(quotas, CCM_ARRAY_LEN(quotas));
    struct fake_host *fake = fake_host_new();
    const struct ccm_host *host = fake_host_table(fake);
    struct ccm_error err = CCM_ERROR_INIT;
    const int64_t start = fake_host_now(fake);

    (void)state;
    for (int i = 0; i < 33; i++) {
        assert_int_equal(
            ali_governor_acquire(governor, host, NULL, start + 60000, &create_call, &err), 0);
    }
    assert_int_equal(fake_host_now(fake) - start, 3000);
    fake_host_free(fake);
}

static void test_acquire_refuses_early(void **state)
{
    CCM_CLEANUP(governor_freep)
    struct ali_governor *governor = ali_governor_new(quotas, CCM_ARRAY_LEN(quotas));
    struct fake_host *fake = fake_host_new();
    const struct ccm_host *host = fake_host_table(fake);
    struct ccm_error err = CCM_ERROR_INIT;
    const int64_t start = fake_host_now(fake);

    (void)state;
    for (int i = 0; i < 30; i++) {
        assert_int_equal(
            ali_governor_acquire(governor, host, NULL, start + 500, &create_call, &err), 0);
    }
    /* The turn comes after 1 s, the deadline after 0.5 s: no time is lost with waiting. */
    assert_int_equal(ali_governor_acquire(governor, host, NULL, start + 500, &create_call, &err),
                     -EAGAIN);
    assert_int_equal(err.kind, CCM_ERROR_THROTTLED);
    assert_int_equal(err.retry_after_ms, 1000);
    assert_int_equal(fake_host_now(fake), start);

    fake_host_cancel(fake, true);
    assert_int_equal(ali_governor_acquire(governor, host, NULL, start + 5000, &create_call, &err),
                     -ECANCELED);
    assert_int_equal(err.kind, CCM_ERROR_CANCELLED);
    fake_host_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budgets),
        cmocka_unit_test(test_no_window_exceeds_the_quota),
        cmocka_unit_test(test_actions_do_not_share),
        cmocka_unit_test(test_priority_and_order),
        cmocka_unit_test(test_throttling_slows_down),
        cmocka_unit_test(test_hint),
        cmocka_unit_test(test_acquire_waits),
        cmocka_unit_test(test_acquire_refuses_early),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
