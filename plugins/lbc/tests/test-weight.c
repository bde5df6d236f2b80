/* Weights by mode and rule. */
#include "check.h"
#include "lbc/model/weight.h"
#include "util/attr.h"

struct weight_case {
    struct lbc_weight_rule rule;
    uint32_t pods;
    uint32_t max_pods;
    uint32_t backends;
    uint32_t weight;
};

static void test_weights(void **state)
{
    static const struct weight_case cases[] = {
        { { .each = 100 }, 0, 0, 2, 100 },
        { { .each = 50 }, 0, 0, 2, 50 },
        { { .each = 0 }, 0, 0, 2, 0 },
        { { .has_total = true, .total = 60, .each = 100 }, 0, 0, 2, 30 },
        { { .has_total = true, .total = 60, .each = 100 }, 0, 0, 100, 1 },
        { { .has_total = true, .total = 0, .each = 100 }, 0, 0, 2, 0 },
        { { .has_total = true, .total = 80 }, 0, 0, 0, 80 },
        { { .each = 50, .local = true }, 2, 2, 3, 2 },
        { { .each = 50, .local = true }, 1, 2, 3, 1 },
        { { .each = 50, .local = true }, 0, 2, 3, 1 },
        { { .each = 50, .local = true }, 100, 100, 300, 100 },
        { { .each = 50, .local = true }, 200, 200, 300, 100 },
        { { .each = 50, .local = true }, 50, 200, 300, 25 },
        { { .each = 50, .local = true }, 1, 1000, 3000, 1 },
        { { .has_total = true, .total = 60, .local = true }, 2, 2, 3, 40 },
        { { .has_total = true, .total = 60, .local = true }, 1, 2, 3, 20 },
        { { .has_total = true, .total = 60, .local = true }, 0, 2, 200, 1 },
        { { .has_total = true, .total = 100, .local = true }, 5, 5, 5, 100 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        const uint32_t weight =
            lbc_weight_compute(&cases[i].rule, cases[i].pods, cases[i].max_pods, cases[i].backends);

        if (weight != cases[i].weight) {
            fail_msg("case %zu: %u instead of %u", i, weight, cases[i].weight);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_weights) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
