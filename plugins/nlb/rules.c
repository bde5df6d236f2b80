#include "rules.h"

#include "util/cidr.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void cidr_clear_host_bits(struct ccm_cidr *cidr)
{
    for (size_t i = 0; i < sizeof(cidr->ip.bytes); i++) {
        const size_t bit = i * 8;

        if (bit + 8 > cidr->bits) {
            const unsigned keep = bit >= cidr->bits ? 0U : cidr->bits - (unsigned)bit;

            cidr->ip.bytes[i] = (uint8_t)(cidr->ip.bytes[i] & (0xff00U >> keep));
        }
    }
}

static bool is_same_block(const char *a, const char *b)
{
    struct ccm_cidr one;
    struct ccm_cidr other;

    if (a == NULL || b == NULL || ccm_cidr_parse(a, &one) < 0 || ccm_cidr_parse(b, &other) < 0) {
        return a != NULL && ccm_text_equal(a, b);
    }
    cidr_clear_host_bits(&one);
    cidr_clear_host_bits(&other);
    return one.bits == other.bits && memcmp(&one.ip, &other.ip, sizeof(one.ip)) == 0;
}

bool nlb_rule_is_twin(const struct nlb_rule *a, const struct nlb_rule *b)
{
    return a->ipv6 == b->ipv6 && a->drop == b->drop && is_same_block(a->cidr, b->cidr);
}

bool nlb_rule_is_equal(const struct nlb_rule *a, const struct nlb_rule *b)
{
    return a->priority == b->priority && ccm_text_equal_case(a->protocol, b->protocol) &&
           ccm_text_equal(a->port_range, b->port_range) &&
           ccm_text_equal(a->description, b->description);
}

/* The best of the present rules that no other wanted one has taken: an equal one, else one of ours,
 * else any twin. */
static size_t find_twin(const struct nlb_rule *want, const struct nlb_security_group *have,
                        const bool *taken)
{
    size_t best = have->rule_count;

    for (size_t i = 0; i < have->rule_count; i++) {
        const struct nlb_rule *one = &have->rules[i];

        if (taken[i] || !nlb_rule_is_twin(want, one)) {
            continue;
        }
        if (nlb_rule_is_equal(want, one)) {
            return i;
        }
        if (best == have->rule_count ||
            (ccm_text_equal(one->description, want->description) &&
             !ccm_text_equal(have->rules[best].description, want->description))) {
            best = i;
        }
    }
    return best;
}

static int rules_put_copy(struct nlb_security_group *list, const struct nlb_rule *rule,
                          const char *id)
{
    struct nlb_rule *copy = nlb_security_group_new_rule(list);

    return copy == NULL || nlb_rule_copy(copy, rule) < 0 || lbc_text_set(&copy->id, id) < 0
               ? -ENOMEM
               : 0;
}

/* Wanted rules of one policy. */
static int rules_match_policy(const struct nlb_security_group *want,
                              const struct nlb_security_group *have, bool drop, bool *taken,
                              struct nlb_rule_diff *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < want->rule_count; i++) {
        const struct nlb_rule *rule = &want->rules[i];

        if (rule->drop != drop) {
            continue;
        }
        const size_t at = find_twin(rule, have, taken);

        if (at == have->rule_count) {
            r = rules_put_copy(&ret->add, rule, NULL);
            continue;
        }
        taken[at] = true;
        if (!nlb_rule_is_equal(rule, &have->rules[at])) {
            r = rules_put_copy(&ret->modify, rule, have->rules[at].id);
        }
    }
    return r;
}

static int match_all(const struct nlb_security_group *want, const struct nlb_security_group *have,
                     bool *taken, struct nlb_rule_diff *ret)
{
    int r = rules_match_policy(want, have, true, taken, ret);

    if (r == 0) {
        r = rules_match_policy(want, have, false, taken, ret);
    }
    for (size_t i = 0; r == 0 && i < have->rule_count; i++) {
        const struct nlb_rule *one = &have->rules[i];

        if (!taken[i] && want->description != NULL &&
            ccm_text_equal(one->description, want->description)) {
            r = rules_put_copy(&ret->remove, one, one->id);
        }
    }
    return r;
}

int nlb_rules_diff(const struct nlb_security_group *want, const struct nlb_security_group *have,
                   struct nlb_rule_diff *ret)
{
    bool *taken = calloc(have->rule_count + 1, sizeof(*taken));
    const int r = taken == NULL ? -ENOMEM : match_all(want, have, taken, ret);

    free(taken);
    return r;
}

void nlb_rule_diff_fini(struct nlb_rule_diff *diff)
{
    nlb_security_group_fini(&diff->add);
    nlb_security_group_fini(&diff->modify);
    nlb_security_group_fini(&diff->remove);
}
