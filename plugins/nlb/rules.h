/*
 * Rules of the security group for source ranges: which of those that are there serve where one is
 * wanted, and what has to be added, changed and taken out. Pure. Every thread.
 */
#ifndef CCM_NLB_RULES_H
#define CCM_NLB_RULES_H

#include "state.h"

/* Whether they are about the same addresses, with the same policy. */
bool nlb_rule_is_twin(const struct nlb_rule *a, const struct nlb_rule *b);
/* Whether twins agree in all the rest but the id. */
bool nlb_rule_is_equal(const struct nlb_rule *a, const struct nlb_rule *b);

struct nlb_rule_diff {
    struct nlb_security_group add;    /* rules only; those that let nobody in come first */
    struct nlb_security_group modify; /* as they shall be, with their ids */
    struct nlb_security_group remove; /* with their ids */
};

/* Rules that carry another description than `want` does are not taken out. 0 or -ENOMEM; the caller
 * finishes *ret in any case. */
CCM_NODISCARD int nlb_rules_diff(const struct nlb_security_group *want,
                                 const struct nlb_security_group *have, struct nlb_rule_diff *ret);
void nlb_rule_diff_fini(struct nlb_rule_diff *diff);

#endif
