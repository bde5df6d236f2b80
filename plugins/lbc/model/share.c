#include "lbc/model/share.h"

#include <stdbool.h>
#include <string.h>

/* What counts of a set. */
struct measure {
    uint64_t worth;
    uint64_t sum; /* of `inside` */
    uint32_t most;
};

/* All of them, and the largest sum of weights with which no server needs more than it may have. */
struct balance {
    struct measure of[LBC_SHARE_SETS];
    uint64_t worth;
    uint64_t total;
};

/* In this order, until the shares hold. */
enum fashion {
    SHARE_EVEN,   /* weights go by what a server is worth, each of them rounded; at least 1 */
    SHARE_ROUND,  /* only sums of sets are rounded; at least 1 */
    SHARE_SOME,   /* the same, with 0 for some servers, but not for a whole set */
    SHARE_STRICT, /* the same, whatever becomes of small sets */
    SHARE_FASHIONS
};

static void balance_init(struct balance *b, const struct lbc_share *sets, size_t count)
{
    memset(b, 0, sizeof(*b));
    for (size_t i = 0; i < count; i++) {
        struct measure *one = &b->of[i];

        if (sets[i].count == 0) {
            continue;
        }
        one->worth = sets[i].worth < LBC_SHARE_WORTH ? sets[i].worth : LBC_SHARE_WORTH;
        for (size_t j = 0; j < sets[i].count; j++) {
            one->sum += sets[i].inside[j];
            one->most = sets[i].inside[j] > one->most ? sets[i].inside[j] : one->most;
        }
        b->worth += one->worth;
    }
    b->total = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct measure *one = &b->of[i];

        if (one->worth > 0 && one->most > 0) {
            const uint64_t most = LBC_SHARE_MAX * one->sum * b->worth / (one->worth * one->most);

            b->total = most < b->total ? most : b->total;
        }
    }
}

static uint32_t share_clamp_weight(uint64_t weight, uint64_t least)
{
    if (weight < least) {
        return (uint32_t)least;
    }
    return weight > LBC_SHARE_MAX ? LBC_SHARE_MAX : (uint32_t)weight;
}

/* Each server by itself. Numbers: a weight of 1e6, 1e6 servers of 100 each, a sum of 2e9. */
static void share_set_even(const struct balance *b, const struct lbc_share *set,
                           const struct measure *one)
{
    /* Of the whole, in parts of it that are fine enough. */
    const uint64_t mine = b->total * one->worth;
    const uint64_t all = b->worth * one->sum;

    for (size_t i = 0; i < set->count; i++) {
        const uint64_t twice =
            2 * (mine / all) * set->inside[i] + 2 * (mine % all) * set->inside[i] / all;

        set->weights[i] = share_clamp_weight((twice + 1) / 2, 1);
    }
}

/* `sum` is laid out along the servers, and each gets what lies on it. */
static void share_set_sum(const struct lbc_share *set, const struct measure *one, uint64_t sum,
                          uint64_t least)
{
    uint64_t before = 0;
    uint64_t passed = 0;

    for (size_t i = 0; i < set->count; i++) {
        passed += set->inside[i];

        const uint64_t now = sum * passed / one->sum;

        set->weights[i] = share_clamp_weight(now - before, least);
        before = now;
    }
}

static void share_set_fashion(const struct balance *b, const struct lbc_share *sets, size_t count,
                              enum fashion fashion)
{
    uint64_t before = 0;
    uint64_t passed = 0;

    for (size_t i = 0; i < count; i++) {
        const struct measure *one = &b->of[i];

        if (one->worth == 0 || one->sum == 0) {
            continue;
        }
        passed += one->worth;

        const uint64_t now = b->total * passed / b->worth;
        const uint64_t sum = now - before;

        before = now;
        if (fashion == SHARE_EVEN) {
            share_set_even(b, &sets[i], one);
        } else {
            share_set_sum(&sets[i], one, fashion == SHARE_SOME && sum == 0 ? 1 : sum,
                          fashion == SHARE_ROUND ? 1 : 0);
        }
    }
}

/* Whether what each set gets is within 5 percent of the whole of what it should get. */
static bool share_holds(const struct balance *b, const struct lbc_share *sets, size_t count)
{
    uint64_t sums[LBC_SHARE_SETS] = { 0 };
    uint64_t all = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; b->of[i].worth > 0 && j < sets[i].count; j++) {
            sums[i] += sets[i].weights[j];
        }
        all += sums[i];
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t gets = sums[i] * b->worth;
        const uint64_t due = b->of[i].worth * all;

        if (20 * (gets > due ? gets - due : due - gets) > all * b->worth) {
            return false;
        }
    }
    return true;
}

void lbc_share_scale(const struct lbc_share *sets, size_t count)
{
    struct balance b;

    balance_init(&b, sets, count);
    for (size_t i = 0; i < count; i++) {
        if (sets[i].count > 0) {
            memset(sets[i].weights, 0, sets[i].count * sizeof(*sets[i].weights));
        }
    }
    for (unsigned fashion = SHARE_EVEN; b.worth > 0 && fashion < SHARE_FASHIONS; fashion++) {
        share_set_fashion(&b, sets, count, (enum fashion)fashion);
        if (share_holds(&b, sets, count)) {
            break;
        }
    }
}
