#include "lbc/model/weight.h"

static uint32_t weight_clamp_value(uint64_t value)
{
    if (value < 1) {
        return 1;
    }
    return value > LBC_WEIGHT_MAX ? LBC_WEIGHT_MAX : (uint32_t)value;
}

static uint32_t local_weight(uint32_t pods, uint32_t max_pods)
{
    if (pods == 0) {
        return 1;
    }
    if (max_pods <= LBC_WEIGHT_MAX) {
        return weight_clamp_value(pods);
    }
    return weight_clamp_value((uint64_t)pods * LBC_WEIGHT_MAX / max_pods);
}

uint32_t lbc_weight_compute(const struct lbc_weight_rule *rule, uint32_t pods, uint32_t max_pods,
                            uint32_t backends)
{
    if (!rule->has_total) {
        return rule->local ? local_weight(pods, max_pods) : rule->each;
    }
    if (rule->total == 0 || backends == 0) {
        return rule->total;
    }
    const uint64_t share = rule->local && pods > 0 ? pods : 1;

    return weight_clamp_value(rule->total * share / backends);
}
