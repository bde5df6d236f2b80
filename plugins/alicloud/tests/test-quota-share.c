/* The share of a quota: falls fast, rises slowly, and two that meet come to even ones. */
#include "alicloud/quota/share.h"

#include "util/cleanup.h"

#include "check.h"

#define WINDOW 60000

/* One after the other, of a quota of 96. */
static void test_falls_and_rises(void **state)
{
    static const struct {
        char act; /* t: throttled, s: success, r: time passes */
        int64_t sent_ms;
        int64_t now_ms;
        int64_t hint_ms;
        int64_t allowed;
        int64_t hold_ms; /* 0: as before */
    } rows[] = {
        { 'r', 0, 60000, 0, 96, 0 }, /* full is full */
        { 't', 60100, 60200, 7000, 48, 67200 },
        { 't', 60150, 60250, 8000, 48, 68250 }, /* was under way together */
        { 't', 60150, 60300, 1000, 48, 68250 },
        { 't', 68300, 68400, 0, 48, 70274 }, /* tried again for the first time: twice the pause */
        { 't', 70300, 70400, 0, 48, 74148 },
        { 't', 75000, 76100, 0, 48, 83596 },
        { 's', 70000, 76200, 0, 48, 83596 }, /* was sent before */
        { 't', 91200, 91300, 500, 48, 91800 },
        { 's', 92000, 92100, 0, 48, 0 },
        { 't', 93000, 93100, INT64_MAX, 24, 153100 }, /* once more; nobody stops us for an hour */
        { 't', 160000, 160100, 1, 12, 160101 },       /* a window later is another time */
        { 't', 230000, 230100, 1, 6, 230101 },
        { 't', 300000, 300100, 1, 6, 300101 }, /* never less than a sixteenth */
        { 's', 300200, 300300, 0, 6, 0 },
        { 'r', 0, 360100, 0, 6, 0 },
        { 'r', 0, 360101, 0, 9, 0 }, /* a window after the pause */
        { 'r', 0, 420101, 0, 12, 0 },
        { 'r', 0, 600100, 0, 18, 0 },
        { 'r', 0, 9000000, 0, 96, 0 },
    };
    struct ali_quota_share share;

    (void)state;
    ali_quota_share_init(&share, 96, 0, WINDOW);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const int64_t held = share.hold_ms;

        switch (rows[i].act) {
        case 't':
            ali_quota_share_fall(&share, rows[i].sent_ms, rows[i].now_ms, WINDOW, rows[i].hint_ms);
            break;
        case 's':
            ali_quota_share_succeed(&share, rows[i].sent_ms);
            break;
        default:
            ali_quota_share_rise(&share, rows[i].now_ms, WINDOW);
        }
        if (share.allowed != rows[i].allowed) {
            fail_msg("row %zu: %d instead of %d", i, (int)share.allowed, (int)rows[i].allowed);
        }
        assert_int_equal(share.hold_ms, rows[i].hold_ms == 0 ? held : rows[i].hold_ms);
    }
}

/* Pauses without a hint: short at first, no longer than two windows. */
static void test_pauses_grow(void **state)
{
    static const int64_t pauses[] = { 937, 1874, 3748, 7496, 14992, 29984, 59968, 119936, 119936 };
    struct ali_quota_share share;
    int64_t now = 1000;

    (void)state;
    ali_quota_share_init(&share, 96, 0, WINDOW);
    for (size_t i = 0; i < CCM_ARRAY_LEN(pauses); i++) {
        ali_quota_share_fall(&share, now, now, WINDOW, 0);
        assert_int_equal(ali_quota_share_held_ms(&share, now, false), pauses[i]);
        now += pauses[i];
        assert_int_equal(ali_quota_share_held_ms(&share, now, false), 0);
    }
    ali_quota_share_succeed(&share, now);
    ali_quota_share_fall(&share, now + 1, now + 1, WINDOW, 0);
    assert_int_equal(ali_quota_share_held_ms(&share, now + 1, false), pauses[0]);
}

/* While nothing else is sent: one that cannot wait, and the next one when it was taken. */
static void test_probes(void **state)
{
    static const struct {
        int64_t now_ms;
        bool taken;
        bool may; /* another one afterwards */
    } rows[] = { { 2000, true, true }, { 3000, true, true }, { 4000, false, false } };
    struct ali_quota_share share;

    (void)state;
    ali_quota_share_init(&share, 96, 0, WINDOW);
    ali_quota_share_fall(&share, 1000, 1000, WINDOW, 30000);
    assert_int_equal(ali_quota_share_held_ms(&share, 1000, true), 937);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const int64_t now = rows[i].now_ms;

        assert_int_equal(ali_quota_share_held_ms(&share, now, true), 0);
        ali_quota_share_send(&share, now);
        assert_true(ali_quota_share_held_ms(&share, now, true) > 0);
        if (rows[i].taken) {
            ali_quota_share_succeed(&share, now);
        } else {
            ali_quota_share_fall(&share, now, now, WINDOW, 10000);
        }
        assert_int_equal(ali_quota_share_held_ms(&share, now, true) == 0, rows[i].may);
        assert_true(ali_quota_share_held_ms(&share, now, false) > 0);
    }
    assert_int_equal(ali_quota_share_held_ms(&share, 31000, true), 0); /* the pause is over */
    ali_quota_share_send(&share, 31000);
    ali_quota_share_fall(&share, 31000, 31000, WINDOW, 10000);
    assert_int_equal(ali_quota_share_held_ms(&share, 31001, true), 936);
}

static void test_small_quotas(void **state)
{
    struct ali_quota_share share;

    (void)state;
    ali_quota_share_init(&share, 2, 0, WINDOW);
    for (int64_t now = WINDOW; now < 20 * WINDOW; now += 2 * WINDOW) {
        ali_quota_share_fall(&share, now, now, WINDOW, 1);
        assert_int_equal(share.allowed, 1);
    }
    ali_quota_share_rise(&share, 40 * WINDOW, WINDOW);
    assert_int_equal(share.allowed, 2);
}

static void test_follows_the_quota(void **state)
{
    static const struct {
        bool fell;
        int64_t quota;
        int64_t allowed;
    } rows[] = { { false, 200, 200 }, { false, 50, 50 }, { true, 200, 48 }, { true, 20, 20 } };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct ali_quota_share share;

        ali_quota_share_init(&share, 96, 0, WINDOW);
        if (rows[i].fell) {
            ali_quota_share_fall(&share, 1, 2, WINDOW, 0);
        }
        ali_quota_share_follow(&share, rows[i].quota);
        assert_int_equal(share.allowed, rows[i].allowed);
    }
}

/* What callers of one account make of its quota, all of them busy for `windows`: each takes its
 * share of a window in turns, until the cloud has given out all of it. */
struct account {
    struct ali_quota_share shares[3];
    size_t count;
    int64_t quota;
    int64_t taken[3];
    int64_t throttled;
};

static void account_run_window(struct account *account, int64_t now)
{
    int64_t left = account->quota;
    int64_t used[3] = { 0 };
    bool anybody = true;

    for (size_t i = 0; i < account->count; i++) {
        ali_quota_share_rise(&account->shares[i], now, WINDOW);
    }
    while (anybody) {
        anybody = false;
        for (size_t i = 0; i < account->count; i++) {
            struct ali_quota_share *share = &account->shares[i];

            now++;
            if (used[i] >= share->allowed || share->hold_ms > now) {
                continue;
            }
            anybody = true;
            used[i]++;
            if (left > 0) {
                left--;
                account->taken[i]++;
                ali_quota_share_succeed(share, now);
            } else { /* two of them were under way */
                account->throttled += 2;
                ali_quota_share_fall(share, now, now, WINDOW, WINDOW - now % WINDOW);
            }
        }
    }
}

static void test_even_shares_of_one_account(void **state)
{
    static const struct {
        size_t count;
        int64_t first; /* what the first of them is at when the others begin */
        int64_t quota;
    } rows[] = { { 2, 90, 90 }, { 2, 10, 90 }, { 3, 90, 90 }, { 2, 200, 200 }, { 3, 100, 300 } };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct account account = { .count = rows[i].count, .quota = rows[i].quota };
        int64_t sum = 0;

        for (size_t n = 0; n < account.count; n++) {
            ali_quota_share_init(&account.shares[n], rows[i].quota, 0, WINDOW);
        }
        account.shares[0].allowed = rows[i].first;
        for (int64_t window = 1; window <= 400; window++) {
            account_run_window(&account, window * WINDOW);
        }
        for (size_t n = 0; n < account.count; n++) {
            sum += account.taken[n];
        }
        for (size_t n = 0; n < account.count; n++) { /* within a fifth of an even one */
            assert_in_range(account.taken[n] * (int64_t)account.count, sum * 4 / 5, sum * 6 / 5);
        }
        assert_true(sum >= 400 * rows[i].quota * 7 / 10);
        assert_true(account.throttled * 100 <= sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_falls_and_rises),
        cmocka_unit_test(test_pauses_grow),
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_small_quotas),
        cmocka_unit_test(test_follows_the_quota),
        cmocka_unit_test(test_even_shares_of_one_account),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
