/* What a group looks like on its way through a quota: every mixture of old, new and room. */
#include "check.h"

#include "lbc/apply/exchange.h"
#include "util/attr.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

/* A group in a cloud that takes so many backends. */
struct cloud {
    struct lbc_backends group;
    size_t foreign; /* backends of others, that count and serve nobody here */
    size_t quota;
    bool talks; /* refusals say how much is left */
    size_t refusals;
    size_t calls;
    size_t least; /* the fewest that served at any time */
};

static void put(struct lbc_backends *to, size_t number)
{
    char id[24];

    ccm_text_printf(id, sizeof(id), "i-%03zu", number);
    assert_int_equal(lbc_backends_put(to, &(struct lbc_backend){ .server_id = id, .port = 80 }), 0);
}

static bool cloud_add(struct cloud *cloud, const struct lbc_backends *part)
{
    cloud->calls++;
    if (cloud->foreign + cloud->group.len + part->len > cloud->quota) {
        cloud->refusals++;
        return false;
    }
    for (size_t i = 0; i < part->len; i++) {
        assert_null(lbc_backends_find(&cloud->group, &part->items[i]));
        assert_int_equal(lbc_backends_put(&cloud->group, &part->items[i]), 0);
    }
    return true;
}

static void cloud_remove(struct cloud *cloud, const struct lbc_backends *part)
{
    cloud->calls++;
    for (size_t i = 0; i < part->len; i++) {
        assert_non_null(lbc_backends_find(&cloud->group, &part->items[i]));
        lbc_backends_remove(&cloud->group, &part->items[i]);
    }
    cloud->least = cloud->group.len < cloud->least ? cloud->group.len : cloud->least;
}

static void run(struct cloud *cloud, struct lbc_exchange *exchange)
{
    for (;;) {
        CCM_CLEANUP(lbc_backends_fini) struct lbc_backends part = { 0 };
        enum lbc_exchange_move move;
        const struct lbc_usage usage = { cloud->foreign + cloud->group.len, cloud->quota };

        assert_int_equal(lbc_exchange_next(exchange, &move, &part), 0);
        if (move == LBC_EXCHANGE_END) {
            assert_int_equal(part.len, 0);
            return;
        }
        assert_in_range(part.len, 1, exchange->batch);
        if (move == LBC_EXCHANGE_ADD && !cloud_add(cloud, &part)) {
            lbc_exchange_refuse(exchange, &part, cloud->talks ? &usage : NULL);
            continue;
        }
        if (move == LBC_EXCHANGE_REMOVE) {
            cloud_remove(cloud, &part);
        }
        lbc_exchange_done(exchange, move, &part);
    }
}

struct mixture {
    size_t old;     /* backends 0 .. old-1 are there */
    size_t overlap; /* the last so many of them stay */
    size_t new;     /* so many are wanted, the overlap included */
    size_t foreign;
    size_t quota;
    size_t batch;
    bool talks;
};

static void exchange_begin(const struct mixture *mixture, struct cloud *cloud,
                           struct lbc_exchange *exchange)
{
    const size_t first = mixture->old - mixture->overlap;

    for (size_t i = 0; i < mixture->old; i++) {
        put(&cloud->group, i);
        if (i < first) {
            put(&exchange->remove, i);
        }
    }
    for (size_t i = mixture->overlap; i < mixture->new; i++) {
        put(&exchange->add, first + i);
    }
    cloud->foreign = mixture->foreign;
    cloud->quota = mixture->quota;
    cloud->talks = mixture->talks;
    cloud->least = mixture->old;
    exchange->stays = mixture->overlap;
    exchange->batch = mixture->batch;
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void mixture_check_end(const struct mixture *mixture)
{
    CCM_CLEANUP(lbc_exchange_fini) struct lbc_exchange exchange = { 0 };
    struct lbc_capacity capacity = { 0 };
    struct cloud cloud = { 0 };
    const size_t first = mixture->old - mixture->overlap;
    const size_t room = mixture->quota - mixture->foreign;
    const size_t fit = least_of(mixture->new, room > mixture->overlap ? room : mixture->overlap);
    char row[160];
    char oldest[24];

    ccm_text_printf(oldest, sizeof(oldest), "i-%03zu", first);
    exchange.capacity = &capacity;
    exchange_begin(mixture, &cloud, &exchange);
    run(&cloud, &exchange);
    (void)snprintf(row, sizeof(row),
                   "old %zu overlap %zu new %zu foreign %zu quota %zu batch %zu talks %d: %zu, "
                   "least %zu, %zu refusals",
                   mixture->old, mixture->overlap, mixture->new, mixture->foreign, mixture->quota,
                   mixture->batch, mixture->talks, cloud.group.len, cloud.least,
                   cloud.refusals); /* cut for people */
    /* As many as fit, and nobody who is not wanted. */
    if (cloud.group.len != fit || exchange.add.len != mixture->new - fit ||
        exchange.remove.len != 0) {
        fail_msg("not what fits: %s", row);
    }
    if (cloud.group.len > 0 && strcmp(cloud.group.items[0].server_id, oldest) < 0) {
        fail_msg("an old one is left: %s", row); /* they are in order */
    }
    /* Half of what served, or of what serves in the end, serves all the while. */
    if (cloud.least < least_of(mixture->old, fit) / 2 ||
        (cloud.least == 0 && mixture->old > 0 && fit > 1)) {
        fail_msg("too many were gone at once: %s", row);
    }
    if (cloud.refusals > (mixture->talks ? 1U : 3U)) {
        fail_msg("asked too often: %s", row);
    }
    lbc_backends_fini(&cloud.group);
}

#define MOST 9

static void test_every_mixture(void **state)
{
    static const size_t batches[] = { 1, 3, 40 };
    size_t count = 0;

    (void)state;
    for (struct mixture m = { 0 }; m.old <= MOST; m.old++) {
        for (m.new = 0; m.new <= MOST; m.new ++) {
            for (m.overlap = 0; m.overlap <= least_of(m.old, m.new); m.overlap++) {
                for (m.foreign = 0; m.foreign <= 2; m.foreign += 2) {
                    for (m.quota = m.old + m.foreign; m.quota <= m.foreign + 2 * MOST; m.quota++) {
                        for (size_t i = 0; i < 2 * CCM_ARRAY_LEN(batches); i++) {
                            m.batch = batches[i / 2];
                            m.talks = i % 2 == 1;
                            mixture_check_end(&m);
                            count++;
                        }
                    }
                }
            }
        }
    }
    assert_true(count > 30000);
}

/* The sizes of real groups, with portions of the size that calls have. */
static void test_large_groups(void **state)
{
    static const struct mixture rows[] = {
        { .old = 200, .new = 200, .quota = 200, .batch = 40 },
        { .old = 200, .new = 230, .quota = 200, .batch = 40 },
        { .old = 43, .overlap = 43, .new = 45, .quota = 43, .batch = 40 },
        { .old = 0, .new = 200, .quota = 177, .batch = 40 },
        { .old = 190, .overlap = 10, .new = 200, .foreign = 7, .quota = 200, .batch = 40 },
        { .old = 8, .overlap = 4, .new = 8, .quota = 8, .batch = 40 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct mixture one = rows[i];

        mixture_check_end(&one);
        one.talks = true;
        mixture_check_end(&one);
    }
}

static void begin_eight(struct lbc_exchange *exchange, struct cloud *cloud, size_t overlap)
{
    const struct mixture eight = {
        .old = 8, .overlap = overlap, .new = 8, .quota = 8, .batch = 40
    };

    exchange_begin(&eight, cloud, exchange);
}

static enum lbc_exchange_move exchange_take_next(const struct lbc_exchange *exchange,
                                                 struct lbc_backends *part)
{
    enum lbc_exchange_move move;

    lbc_backends_fini(part);
    assert_int_equal(lbc_exchange_next(exchange, &move, part), 0);
    return move;
}

/* The quota became smaller than what is there: what is not wanted goes, and what fits then comes.
 */
static void test_quota_became_smaller(void **state)
{
    (void)state;
    for (struct mixture m = { .batch = 40 }; m.old <= MOST; m.old++) {
        for (m.quota = 1; m.quota < m.old; m.quota++) {
            for (m.new = 1; m.new <= MOST; m.new ++) {
                CCM_CLEANUP(lbc_exchange_fini) struct lbc_exchange exchange = { 0 };
                struct lbc_capacity capacity = { 0 };
                struct cloud cloud = { 0 };

                m.talks = true;
                exchange.capacity = &capacity;
                exchange_begin(&m, &cloud, &exchange);
                run(&cloud, &exchange);
                assert_int_equal(exchange.remove.len, 0);
                assert_int_equal(cloud.group.len, least_of(m.new, m.quota));
                lbc_backends_fini(&cloud.group);
            }
        }
    }
}

/* Two quotas, of the group and of all groups together: the one that is told first may not be the
 * one that counts. */
static void test_two_quotas(void **state)
{
    CCM_CLEANUP(lbc_exchange_fini) struct lbc_exchange exchange = { 0 };
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends part = { 0 };
    struct lbc_capacity capacity = { 0 };
    struct cloud cloud = { 0 };

    (void)state;
    exchange.capacity = &capacity;
    begin_eight(&exchange, &cloud, 0);
    assert_int_equal(exchange_take_next(&exchange, &part), LBC_EXCHANGE_ADD);
    lbc_exchange_refuse(&exchange, &part, &(struct lbc_usage){ 8, 10 });
    assert_int_equal(exchange_take_next(&exchange, &part), LBC_EXCHANGE_ADD);
    assert_int_equal(part.len, 2);
    lbc_exchange_refuse(&exchange, &part, &(struct lbc_usage){ 24, 24 });
    run(&cloud, &exchange);
    assert_int_equal(exchange.add.len + exchange.remove.len, 0);
    assert_int_equal(cloud.group.len, 8);
    assert_int_equal(cloud.refusals, 0);
    lbc_backends_fini(&cloud.group);
}

/* The quota is smaller than what stays: nothing is added. */
static void test_quota_below_what_is_there(void **state)
{
    const struct mixture rows[] = {
        { .old = 6, .overlap = 5, .new = 8, .quota = 4, .batch = 40 },
        { .old = 6, .overlap = 5, .new = 8, .quota = 4, .batch = 40, .talks = true },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(lbc_exchange_fini) struct lbc_exchange exchange = { 0 };
        struct lbc_capacity capacity = { 0 };
        struct cloud cloud = { 0 };

        exchange.capacity = &capacity;
        exchange_begin(&rows[i], &cloud, &exchange);
        run(&cloud, &exchange);
        assert_int_equal(cloud.group.len, 5);
        assert_int_equal(exchange.add.len, 3);
        assert_in_range(cloud.refusals, 1, 3);
        lbc_backends_fini(&cloud.group);
    }
}

/* Additions that fail for another reason: what is not wanted goes, but not the last. */
static void test_other_failures(void **state)
{
    (void)state;
    for (size_t overlap = 0; overlap <= 1; overlap++) {
        CCM_CLEANUP(lbc_exchange_fini) struct lbc_exchange exchange = { 0 };
        CCM_CLEANUP(lbc_backends_fini) struct lbc_backends part = { 0 };
        struct lbc_capacity capacity = { 0 };
        struct cloud cloud = { 0 };

        exchange.capacity = &capacity;
        begin_eight(&exchange, &cloud, overlap);
        assert_int_equal(exchange_take_next(&exchange, &part), LBC_EXCHANGE_ADD);
        lbc_exchange_fail(&exchange, LBC_EXCHANGE_ADD);
        assert_int_equal(exchange_take_next(&exchange, &part),
                         overlap == 0 ? LBC_EXCHANGE_END : LBC_EXCHANGE_REMOVE);
        assert_int_equal(part.len, overlap == 0 ? 0 : 7);
        lbc_backends_fini(&cloud.group);
    }
}

/* A removal that fails makes no room: nothing more goes, and what fits beside is still found. */
static void test_removal_fails(void **state)
{
    CCM_CLEANUP(lbc_exchange_fini) struct lbc_exchange exchange = { 0 };
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends part = { 0 };
    struct lbc_capacity capacity = { 0 };
    struct cloud cloud = { 0 };

    (void)state;
    exchange.capacity = &capacity;
    begin_eight(&exchange, &cloud, 0);
    assert_int_equal(exchange_take_next(&exchange, &part), LBC_EXCHANGE_ADD);
    lbc_exchange_refuse(&exchange, &part, NULL);
    assert_int_equal(exchange_take_next(&exchange, &part), LBC_EXCHANGE_REMOVE);
    lbc_exchange_fail(&exchange, LBC_EXCHANGE_REMOVE);
    run(&cloud, &exchange);
    assert_int_equal(exchange.remove.len, 8);
    assert_int_equal(cloud.group.len, 8);
    lbc_backends_fini(&cloud.group);
}

/* Somebody else takes what our removal freed: we do not go on removing for them. */
static void test_robbed(void **state)
{
    CCM_CLEANUP(lbc_exchange_fini) struct lbc_exchange exchange = { 0 };
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends part = { 0 };
    struct lbc_capacity capacity = { 0 };
    struct cloud cloud = { 0 };

    (void)state;
    exchange.capacity = &capacity;
    begin_eight(&exchange, &cloud, 0);
    assert_int_equal(exchange_take_next(&exchange, &part), LBC_EXCHANGE_ADD);
    lbc_exchange_refuse(&exchange, &part, NULL);
    assert_int_equal(exchange_take_next(&exchange, &part), LBC_EXCHANGE_REMOVE);
    cloud_remove(&cloud, &part);
    lbc_exchange_done(&exchange, LBC_EXCHANGE_REMOVE, &part);
    assert_int_equal(exchange_take_next(&exchange, &part), LBC_EXCHANGE_ADD);
    lbc_exchange_refuse(&exchange, &part, NULL);
    assert_int_equal(exchange_take_next(&exchange, &part), LBC_EXCHANGE_END);
    assert_int_equal(cloud.group.len, 4);
    lbc_exchange_renew(&exchange);
    assert_int_equal(exchange_take_next(&exchange, &part), LBC_EXCHANGE_REMOVE);
    lbc_backends_fini(&cloud.group);
}

/* What nobody wants goes all the same, as long as somebody serves. */
static void test_robbed_and_served(void **state)
{
    CCM_CLEANUP(lbc_exchange_fini) struct lbc_exchange exchange = { 0 };
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends part = { 0 };
    struct lbc_capacity capacity = { 0 };
    struct cloud cloud = { 0 };

    (void)state;
    exchange.capacity = &capacity;
    begin_eight(&exchange, &cloud, 0);
    exchange.stays = 1;
    exchange.is_robbed = true;
    assert_int_equal(exchange_take_next(&exchange, &part), LBC_EXCHANGE_REMOVE);
    assert_int_equal(part.len, exchange.remove.len);
    lbc_exchange_done(&exchange, LBC_EXCHANGE_REMOVE, &part);
    assert_int_equal(exchange_take_next(&exchange, &part), LBC_EXCHANGE_END);
    lbc_backends_fini(&cloud.group);
}

/* Several groups share one quota: what one has learned spares the next one a call. */
static void test_shared_capacity(void **state)
{
    struct lbc_capacity capacity = { 0 };

    (void)state;
    assert_false(lbc_capacity_lacks(&capacity, 1000));
    lbc_capacity_free(&capacity, 3);
    assert_false(capacity.is_known);
    lbc_capacity_refuse(&capacity, 10);
    assert_true(lbc_capacity_lacks(&capacity, 10));
    assert_false(lbc_capacity_lacks(&capacity, 9));
    lbc_capacity_free(&capacity, 5);
    assert_int_equal(capacity.fits, 5);
    assert_false(lbc_capacity_lacks(&capacity, 14));
    lbc_capacity_use(&capacity, 7);
    assert_int_equal(capacity.fits, 0);
    assert_int_equal(capacity.below, 8);
    lbc_capacity_refuse(&capacity, 1);
    assert_true(lbc_capacity_lacks(&capacity, 1));
    lbc_capacity_use(&capacity, 1); /* as if somebody had removed one */
    assert_true(lbc_capacity_lacks(&capacity, 1));
}

static void test_messages(void **state)
{
    static const struct {
        const char *text;
        bool told;
        struct lbc_usage usage;
    } rows[] = {
        { "The quota of server_group_servers_num is exceeded, usage 398/400.", true, { 398, 400 } },
        { "The quota of x is exceeded, usage 8/8.", true, { 8, 8 } },
        { "usage 9/8", true, { 9, 8 } },
        { "usage 3/", false, { 0 } },
        { "usage /3", false, { 0 } },
        { "usage 3 of 5", false, { 0 } },
        { "usage 1/12345678901234567890", false, { 0 } },
        { "too many", false, { 0 } },
        { "", false, { 0 } },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct lbc_usage usage = { 0 };

        assert_int_equal(lbc_capacity_parse(rows[i].text, &usage), rows[i].told);
        if (rows[i].told) {
            assert_int_equal(usage.used, rows[i].usage.used);
            assert_int_equal(usage.most, rows[i].usage.most);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mixture),
        cmocka_unit_test(test_large_groups),
        cmocka_unit_test(test_quota_below_what_is_there),
        cmocka_unit_test(test_other_failures),
        cmocka_unit_test(test_removal_fails),
        cmocka_unit_test(test_robbed),
        cmocka_unit_test(test_robbed_and_served),
        cmocka_unit_test(test_shared_capacity),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_two_quotas),
        cmocka_unit_test(test_quota_became_smaller),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
