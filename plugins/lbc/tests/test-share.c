/* Shares of sets of servers as whole weights. */
#include "lbc/model/share.h"

#include "util/attr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SERVERS 300

static struct {
    struct lbc_share sets[16];
    uint32_t inside[16][SERVERS];
    uint32_t weights[16][SERVERS];
    size_t count;
} world;

static void set_begin(void)
{
    memset(&world, 0, sizeof(world));
}

static void set_add(uint64_t worth, size_t servers, uint32_t inside)
{
    const size_t at = world.count++;

    for (size_t i = 0; i < servers; i++) {
        world.inside[at][i] = inside;
        world.weights[at][i] = 777;
    }
    world.sets[at] = (struct lbc_share){ worth, world.inside[at], world.weights[at], servers };
}

static uint64_t sum_of(size_t at)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < world.sets[at].count; i++) {
        assert_true(world.weights[at][i] <= LBC_SHARE_MAX);
        sum += world.weights[at][i];
    }
    return sum;
}

/* Largest difference from a share, in percent of the whole. */
static double worst_of(void)
{
    uint64_t worth = 0;
    uint64_t all = 0;
    double worst = 0;

    for (size_t i = 0; i < world.count; i++) {
        worth += world.sets[i].count > 0 ? world.sets[i].worth : 0;
        all += sum_of(i);
    }
    for (size_t i = 0; worth > 0 && i < world.count; i++) {
        const double due =
            world.sets[i].count == 0 ? 0 : 100.0 * (double)world.sets[i].worth / (double)worth;
        const double off = due - 100.0 * (double)sum_of(i) / (double)all;

        worst = off > worst ? off : worst;
        worst = -off > worst ? -off : worst;
    }
    return worst;
}

static void test_what_people_write(void **state)
{
    static const struct {
        uint64_t worth[2];
        size_t servers[2];
        uint32_t weights[2];
    } cases[] = {
        { { 1, 1 }, { 1, 1 }, { 100, 100 } },     { { 90, 10 }, { 3, 3 }, { 100, 11 } },
        { { 90, 10 }, { 1, 1 }, { 100, 11 } },    { { 50, 50 }, { 1, 4 }, { 100, 25 } },
        { { 99, 1 }, { 2, 1 }, { 100, 2 } },      { { 1, 0 }, { 2, 2 }, { 100, 0 } },
        { { 1, 3 }, { 0, 2 }, { 777, 100 } },     { { 0, 0 }, { 1, 1 }, { 0, 0 } },
        { { 1000000, 1 }, { 1, 1 }, { 100, 1 } }, { { 80, 20 }, { 2, 6 }, { 100, 8 } },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        set_begin();
        for (size_t j = 0; j < 2; j++) {
            set_add(cases[i].worth[j], cases[i].servers[j], 1);
        }
        lbc_share_scale(world.sets, world.count);
        for (size_t j = 0; j < 2; j++) {
            for (size_t k = 0; k < cases[i].servers[j]; k++) {
                assert_int_equal(world.weights[j][k], cases[i].weights[j]);
            }
        }
    }
}

/* A set of many servers that is worth little: most of them get nothing, so that it gets no more. */
static void test_small_share_of_many(void **state)
{
    size_t idle = 0;

    (void)state;
    set_begin();
    set_add(99, 1, 1);
    set_add(1, 200, 1);
    lbc_share_scale(world.sets, world.count);
    assert_true(worst_of() <= 5.0);
    for (size_t i = 0; i < 200; i++) {
        idle += world.weights[1][i] == 0 ? 1 : 0;
    }
    assert_true(idle > 0 && idle < 200);
}

/* Fifteen that are worth nothing to speak of would take 13 percent together if each got something.
 */
static void test_next_to_nothing(void **state)
{
    (void)state;
    set_begin();
    set_add(1000000, 1, 1);
    for (size_t i = 0; i < 15; i++) {
        set_add(1, 1, 1);
    }
    lbc_share_scale(world.sets, world.count);
    assert_true(worst_of() <= 5.0);
}

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

static void random_fill_world(uint32_t *seed)
{
    static const uint64_t scales[] = { 2, 10, 100, 1000001, 2147483647 };
    const size_t sets = 1 + random_next(seed) % 16;
    const uint64_t scale = scales[random_next(seed) % CCM_ARRAY_LEN(scales)];

    set_begin();
    for (size_t i = 0; i < sets; i++) {
        const uint64_t worth = random_next(seed) % scale;
        const size_t servers = random_next(seed) % (random_next(seed) % 4 == 0 ? SERVERS : 5);

        set_add(worth < LBC_SHARE_WORTH ? worth : LBC_SHARE_WORTH, servers, 1);
        for (size_t j = 0; j < servers && random_next(seed) % 2 == 0; j++) {
            world.inside[i][j] = 1 + random_next(seed) % 100;
        }
    }
}

/* Whatever the sets are: each gets its share within 5 percent of the whole. */
static void test_shares_hold(void **state)
{
    uint32_t seed = 20260131;

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        random_fill_world(&seed);
        lbc_share_scale(world.sets, world.count);
        if (worst_of() > 5.0) {
            print_error("world %u: %f\n", i, worst_of());
            fail();
        }
    }
}

/* The same sets get the same weights, and servers that are worth the same differ by one at most. */
static void test_servers_of_a_set_are_alike(void **state)
{
    uint32_t seed = 7;

    (void)state;
    for (unsigned i = 0; i < 5000; i++) {
        set_begin();
        for (size_t j = 1 + random_next(&seed) % 4; j > 0; j--) {
            set_add(random_next(&seed) % 100, random_next(&seed) % 20, 1);
        }
        lbc_share_scale(world.sets, world.count);
        for (size_t j = 0; j < world.count; j++) {
            for (size_t k = 1; k < world.sets[j].count; k++) {
                assert_in_range(world.weights[j][k] + 1, world.weights[j][0],
                                world.weights[j][0] + 2);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_people_write),
        cmocka_unit_test(test_small_share_of_many),
        cmocka_unit_test(test_next_to_nothing),
        cmocka_unit_test(test_shares_hold),
        cmocka_unit_test(test_servers_of_a_set_are_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
